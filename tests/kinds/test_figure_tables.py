"""The one place that makes columns: figures of other items stand with their n, and unranked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from clinqa.core.figures import Figure, PairedTest
from clinqa.kinds.facets.figure_tables import best_sentences, marked_rows, metric_columns
from clinqa.kinds.facets.pages import SIZES, Grid, GridColumn, GridRow, sized_row, spanned_figure
from clinqa.kinds.facets.shows import Evaluation, ShownRun
from clinqa.present.csv_latex import csv_of, latex_of


def figure(run: str, value: float, n: int) -> Figure:
    return Figure(run, run, 0, "accuracy", value, value - 0.1, value + 0.1, n, n, "accuracy|x", {})


def evaluation(figures: Sequence[Figure], tests: Sequence[PairedTest] = ()) -> Evaluation:
    return Evaluation(
        runs=tuple(ShownRun(one.run, at, one.run) for at, one in enumerate(figures, 1)),
        figures={(one.run, "accuracy", ()): (one,) for one in figures},
        tests=tuple(tests), dataset={}, meta={}, metas=({},), manifests=(), data_class="public",
        items=None,
    )  # fmt: skip


def told_apart(a: str, b: str) -> PairedTest:
    return PairedTest(a, b, "accuracy", 0.2, 0.1, 0.3, 0.001, p_holm=0.001)


def grid(figures: Sequence[Figure]) -> Grid:
    rows = tuple(GridRow(one.run, (spanned_figure(one),)) for one in figures)
    return Grid("x", "", "Run", (GridColumn("accuracy", "Accuracy", figures=True),), rows)


def test_figures_of_one_size_need_no_n() -> None:
    same = grid([figure("a", 0.8, 50), figure("b", 0.6, 50)])
    assert [same.told_n(row, 0) for row in same.rows] == [None, None]
    assert "n 50" not in latex_of(same)


def test_figures_of_other_items_say_their_n_on_the_page_in_latex_and_in_csv() -> None:
    other = grid([figure("a", 0.8, 626), figure("b", 0.6, 976)])
    assert [other.told_n(row, 0) for row in other.rows] == [626, 976]
    assert "n 626" in latex_of(other) and "n 976" in latex_of(other)
    head, *rows = csv_of(other).splitlines()
    assert head == "run,accuracy,accuracy_low,accuracy_high,accuracy_n"
    assert [row.split(",")[-1] for row in rows] == ["626", "976"]


def test_a_column_of_sizes_says_it_for_its_row() -> None:
    own = [
        [figure("a", 0.8, 626), figure("b", 0.6, 626)],
        [figure("a", 0.5, 9), figure("b", 0.4, 8)],
    ]
    columns = (SIZES, *(GridColumn(name, name, figures=True) for name in "ab"))
    table = Grid(
        "x", "", "Part", columns, tuple(sized_row(str(at), two) for at, two in enumerate(own))
    )
    assert [cell.text for cell in (row.cells[0] for row in table.rows)] == ["626", "8–9"]
    assert [table.told_n(table.rows[0], at) for at in (1, 2)] == [None, None]
    assert [table.told_n(table.rows[1], at) for at in (1, 2)] == [9, 8]


def test_no_run_is_marked_among_figures_of_other_items() -> None:
    for n, marks in ((50, ["best", ""]), (40, ["", ""])):
        held = evaluation([figure("a", 0.8, 50), figure("b", 0.6, n)], [told_apart("a", "b")])
        columns, _ = metric_columns(held, ["accuracy"])
        assert [row.cells[0].mark for row in marked_rows(held, columns)] == marks


def test_runs_over_other_items_share_no_sentence() -> None:
    figures = [figure("a", 0.8, 50), figure("b", 0.6, 50), figure("c", 0.9, 40)]
    said = best_sentences("accuracy", evaluation(figures, [told_apart("a", "b")]), figures)
    assert said == [
        "Highest accuracy over 50 items: a, 0.800; by the declared tests it differs from every "
        "other run.",
        "Accuracy over 40 items: c, 0.900.",
        "Runs over different items are not comparable by these figures.",
    ]


def test_of_equal_runs_none_is_called_the_highest_alone() -> None:
    figures = [figure("b", 0.8, 50), figure("a", 0.8, 50), figure("c", 0.6, 50)]
    (said,) = best_sentences("accuracy", evaluation(figures, [told_apart("a", "c")]), figures)
    assert said == (
        "Highest accuracy: a, b, 0.800 each; by the declared tests they differ from every other "
        "run."
    )
    figures = figures[:2]
    (said,) = best_sentences("accuracy", evaluation(figures), figures)
    assert said == "Highest accuracy: a, b, 0.800 each."


def test_one_run_alone_is_not_the_highest() -> None:
    only = [figure("a", 0.8, 50)]
    assert best_sentences("accuracy", evaluation(only), only) == ["Accuracy: a, 0.800."]


def test_an_exploratory_test_of_the_same_pair_hides_no_declared_one() -> None:
    figures = [figure("a", 0.8, 50), figure("b", 0.6, 50)]
    other = PairedTest("a", "b", "accuracy", 0.2, 0.1, 0.3, 0.5, signature="another reading")
    held = evaluation(figures, [told_apart("a", "b"), other])
    (said,) = best_sentences("accuracy", held, figures)
    assert said.endswith("by the declared tests it differs from every other run.")
    columns, _ = metric_columns(held, ["accuracy"])
    assert [row.cells[0].mark for row in marked_rows(held, columns)] == ["best", ""]


def test_figures_made_in_two_ways_are_not_ranked_together() -> None:
    one, two = figure("a", 0.8, 50), replace(figure("b", 0.6, 50), signature="accuracy|y")
    said = best_sentences("accuracy", evaluation([one, two]), [one, two])
    assert said == [
        "Accuracy (x): a, 0.800.",
        "Accuracy (y): b, 0.600.",
        "Runs asked in different ways are not comparable by these figures.",
    ]
