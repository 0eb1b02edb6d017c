from __future__ import annotations

from clinqa.core.figures import Figure, PairedTest
from clinqa.stats.verdicts import Verdicts, ranked


def figure(run: str, value: float | None) -> Figure:
    return Figure(run, run, 0, "token_f1", value, None, None, 10, 5, "s")


def test_of(a: str, b: str, p: float | None, difference: float = 0.1) -> PairedTest:
    return PairedTest(a, b, "token_f1", difference, difference - 0.1, difference + 0.1, 0.01, p)


test_of.__test__ = False  # type: ignore[attr-defined]  # a builder, no test

ABC = [figure("a", 0.9), figure("b", 0.8), figure("c", 0.7)]


def test_best_and_second_are_marked_where_every_test_tells_them_apart() -> None:
    tests = [test_of("a", "b", 0.01), test_of("a", "c", 0.01), test_of("c", "b", 0.02, -0.1)]
    assert Verdicts(tests).marks(ABC) == {"a": "best", "b": "second"}


def test_the_highest_is_no_winner_where_the_test_does_not_say_so() -> None:
    tests = [test_of("a", "b", 0.3), test_of("a", "c", 0.01), test_of("b", "c", 0.01)]
    assert Verdicts(tests).marks(ABC) == {"a": "tie", "b": "tie"}


def test_a_test_that_was_not_adjusted_marks_nothing() -> None:
    assert Verdicts([test_of("a", "b", None), test_of("a", "c", None)]).marks(ABC) == {}


def test_an_untested_rival_leaves_the_highest_without_a_mark() -> None:
    assert Verdicts([test_of("a", "b", 0.01)]).marks(ABC) == {}


def test_a_difference_the_other_way_round_does_not_make_a_winner() -> None:
    tests = [test_of("a", "b", 0.01, -0.1), test_of("a", "c", 0.01)]
    assert Verdicts(tests).marks(ABC) == {"a": "tie", "b": "tie"}


def test_a_run_alone_in_its_group_and_missing_figures_have_no_mark() -> None:
    assert Verdicts([]).marks([figure("a", 0.9)]) == {}
    assert Verdicts([]).marks([figure("a", 0.9), figure("b", None)]) == {}


def test_of_an_error_the_lowest_is_the_best() -> None:
    tests = [test_of("a", "b", 0.01), test_of("a", "c", 0.01), test_of("b", "c", 0.02)]
    told = Verdicts(tests, lower=["token_f1"])
    assert told.marks(ABC) == {"c": "best", "b": "second"}
    assert told.better("c", "a", "token_f1") and not told.better("a", "c", "token_f1")
    assert [one.run for one in ranked(ABC, ["token_f1"])] == ["c", "b", "a"]


def test_a_declared_test_is_hidden_by_no_exploratory_one_of_the_same_pair() -> None:
    declared = PairedTest("a", "b", "f1", 0.1, 0.05, 0.15, 0.01, 0.02)
    explored = PairedTest("b", "a", "f1", -0.1, -0.15, 0.05, 0.4)
    for tests in ([declared, explored], [explored, declared]):
        told = Verdicts(tests)
        assert told.better("a", "b", "f1") and told.test("b", "a", "f1") is declared
