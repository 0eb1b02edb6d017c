"""From a table of answers to matrix, tests and marks; and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from clinqa.core.errors import SourceError
from clinqa.stats.crossed import gap
from clinqa.studying.analyse import FAMILIES, GAP, INTERACTION, Result, analyse, arms_of
from clinqa.studying.answers import read_table
from studying.made_study import NAMES, made_table


def results(table: pl.DataFrame, draws: int = 200) -> list[Result]:
    return [analyse(arm, model="m", seed=1) for arm in arms_of(table, seed=1, draws=draws)]


def test_the_matrix_is_the_mean_over_seeds_questions_and_orders() -> None:
    table = made_table(3, effect=0.5)
    (found,) = results(table)
    for cell in found.cells:
        own = table.filter(
            (pl.col("trained_on") == cell.trained_on) & (pl.col("specialty") == cell.tested_on)
        )
        assert cell.figure.value == pytest.approx(own["right"].mean())
        assert cell.figure.low < cell.figure.value < cell.figure.high
        assert (cell.figure.n, cell.figure.clusters) == (30, 30)
    assert [cell.trained_on for cell in found.cells[::3]] == [*NAMES[:3], "all", "none"]
    assert found.arm.seeds == [3, 3, 3, 3, 1]


def test_marks_are_the_own_cells_and_the_best_of_each_column() -> None:
    (found,) = results(made_table(3, effect=3.0, questions=60))
    assert sum(cell.own for cell in found.cells) == 3
    for name in NAMES[:3]:
        column = [cell for cell in found.cells if cell.tested_on == name]
        best = max(column, key=lambda cell: cell.figure.value)
        assert [cell for cell in column if cell.best] == [best]
        assert best.own


def test_the_interactions_are_those_of_the_square_part() -> None:
    (found,) = results(made_table(3, effect=1.0))
    square = found.arm.crossed.matrix[:3]
    figures = {
        (one.metric, one.subset.get("specialty", "")): one.value for one in found.interactions
    }
    assert figures[GAP, ""] == pytest.approx(gap(square))
    assert figures[INTERACTION, ""] == pytest.approx(2 / 3 * gap(square))
    assert {name for metric, name in figures if name} == set(NAMES[:3])


def test_a_planted_effect_is_found_and_none_is_not() -> None:
    (planted,) = results(made_table(3, effect=1.0, questions=80))
    (none,) = results(made_table(3, questions=80, seed=3))
    assert planted.p < 0.01 < none.p
    assert planted.interactions[0].low > 0 > none.interactions[0].low


def test_three_specialties_have_no_permutation_test_and_six_have() -> None:
    (three,) = results(made_table(3))
    assert three.permuted is None
    assert any("p cannot be below 1/6" in note for note in three.notes)
    (six,) = results(made_table(6, effect=2.0, questions=40))
    assert (six.permuted.arrangements, six.permuted.p) == (720, 1 / 720)
    assert six.notes == []


def test_two_seeds_have_no_interaction_and_one_says_of_what_its_tests_speak() -> None:
    (two,) = results(made_table(3, seeds=2))
    assert (list(two.interactions), two.p) == ([], None)
    assert any("needs 3 training seeds" in note for note in two.notes)
    (one,) = results(made_table(3, seeds=1))
    assert any("speak of these models" in note for note in one.notes)
    assert len(one.tests) == 12


def test_families_are_named_and_corrected_apart() -> None:
    (found,) = results(made_table(3, effect=0.8, questions=60))
    by_family = {name: [t for t in found.tests if t.family == name] for name in FAMILIES}
    assert {name: len(tests) for name, tests in by_family.items()} == {
        FAMILIES[0]: 6,
        FAMILIES[1]: 3,
        FAMILIES[2]: 3,
    }
    for tests in by_family.values():
        least = min(tests, key=lambda one: one.test.p)
        assert least.test.p_holm == pytest.approx(min(1, len(tests) * least.test.p))
        assert all(one.test.p_holm >= one.test.p for one in tests)
        assert all(one.test.a == one.tested_on for one in tests)


def test_two_arms_share_the_model_that_was_not_trained() -> None:
    full, matched = results(made_table(3, arms=("full", "matched")))
    assert (full.arm.name, matched.arm.name) == ("full", "matched")
    assert full.arm.rows[-1] == matched.arm.rows[-1] == "none"
    values = [[c.figure.value for c in one.cells if c.trained_on == "none"]
              for one in (full, matched)]  # fmt: skip
    assert values[0] == values[1]


def test_the_order_of_rows_changes_nothing() -> None:
    table = made_table(3)
    one, two = results(table), results(table.sample(fraction=1, shuffle=True, seed=5))
    assert one[0].cells == two[0].cells
    assert one[0].tests == two[0].tests
    assert one[0].interactions == two[0].interactions


def test_a_question_that_one_model_lacks_is_left_out_for_all_and_counted() -> None:
    table = made_table(3)
    first = table["item_id"][0]
    cut = table.with_columns(
        pl.when(
            (pl.col("item_id") == first) & (pl.col("trained_on") == "all") & (pl.col("seed") == 1)
            & (pl.col("order") == 2)
        )
        .then(None)
        .otherwise(pl.col("right"))
        .alias("right")
    )  # fmt: skip
    (found,) = results(cut)
    assert found.arm.counts.sum.startswith("90 read = 89 kept + 1 rejected")
    assert found.arm.counts.rejected_by_reason == {"incomplete": 1}
    gone = table.filter(~((pl.col("item_id") == first) & (pl.col("trained_on") == "none")))
    assert results(gone)[0].arm.counts.rejected == 1


def test_questions_asked_in_fewer_orders_by_all_are_kept() -> None:
    """Options that speak of others are asked once, unshuffled."""
    table = made_table(3)
    first = table["item_id"][0]
    once = table.filter((pl.col("item_id") != first) | (pl.col("order") == 0))
    (found,) = results(once)
    assert found.arm.counts.kept == 90
    assert found.arm.orders == (1, 3)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda t: pl.concat([t, t.head(2)]), "2 rows of a model"),
        (lambda t: t.filter(pl.col("trained_on") == "none"), "trained on anything"),
        (
            lambda t: t.with_columns(
                pl.when(pl.int_range(pl.len()) == 0)
                .then(pl.lit("Urology"))
                .otherwise(pl.col("specialty"))
                .alias("specialty")
            ),
            "two specialties",
        ),
        (lambda t: t.with_columns(pl.lit(None, pl.Boolean).alias("right")), "no question was"),
    ],
)
def test_tables_that_cannot_be_crossed_are_refused(change: object, said: str) -> None:
    with pytest.raises(SourceError, match=said):
        results(change(made_table(3)))  # type: ignore[operator]


def test_csv_and_parquet_give_the_same_table(tmp_path: Path) -> None:
    table = made_table(3, questions=5)
    table.write_csv(tmp_path / "t.csv")
    table.write_parquet(tmp_path / "t.parquet")
    one, two = read_table(tmp_path / "t.csv"), read_table(tmp_path / "t.parquet")
    assert results(one)[0].cells == results(two)[0].cells
    assert one["seed"].null_count() > 0


def test_what_may_be_left_out_is_filled_in(tmp_path: Path) -> None:
    table = made_table(3, questions=8).drop("group", "arm", "train_items")
    table.with_columns(pl.col("right").cast(pl.Int8)).write_csv(tmp_path / "t.csv")
    (found,) = results(read_table(tmp_path / "t.csv"))
    assert found.arm.name == "full"
    assert found.cells[0].figure.clusters == 8


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b\n1,2\n", "lacks the column trained_on"),
        ("trained_on,seed,item_id,specialty,order,right\n", "holds no rows"),
        ("trained_on,seed,item_id,specialty,order,right\nA,0,q,A,0,maybe\n", "neither true nor"),
        ("trained_on,seed,item_id,specialty,order,right\nA,x,q,A,0,1\n", "whole numbers"),
        ("trained_on,seed,item_id,specialty,order,right\nA,0,q,,0,1\n", "empty cells"),
    ],
)
def test_a_file_that_is_no_such_table_says_what_it_lacks(
    tmp_path: Path, text: str, said: str
) -> None:
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(SourceError, match=said) as caught:
        read_table(tmp_path / "t.csv")
    assert "maybe" not in str(caught.value)


def test_rows_of_what_is_not_tested_stand_in_the_matrix_and_not_in_the_square() -> None:
    table = made_table(3).with_columns(
        pl.col("trained_on").replace(NAMES[2], "Urology").alias("trained_on")
    )
    (found,) = results(table)
    assert found.arm.square == list(NAMES[:2])
    assert "Urology" in found.arm.rows
    assert {one.tested_on for one in found.tests} == set(NAMES[:2])
    assert np.isfinite([one.value for one in found.interactions]).all()


def test_a_table_of_answers_is_read_in_any_case_delimiter_and_encoding(tmp_path: Path) -> None:
    made_table().write_csv(tmp_path / "t.csv")
    whole = read_table(tmp_path / "t.csv")
    head, _, rows = (tmp_path / "t.csv").read_text("utf-8").partition("\n")
    for name, mark, encoding in (("a", ";", "utf-16"), ("b", "\t", "utf-8-sig")):
        text = f"{head.upper()}\n{rows}".replace(",", mark)
        (tmp_path / f"{name}.csv").write_bytes(text.encode(encoding))
        assert read_table(tmp_path / f"{name}.csv").equals(whole)


def test_a_table_that_pandas_wrote_is_read(tmp_path: Path) -> None:
    table = made_table().with_columns(
        pl.col("seed").cast(pl.Float64),
        pl.col("right").cast(pl.Float64),
        pl.col("specialty") + " ",
    )
    table.write_csv(tmp_path / "a.csv")
    table.write_parquet(tmp_path / "a.parquet")
    for name in ("a.csv", "a.parquet"):
        assert read_table(tmp_path / name).equals(_read(made_table(), tmp_path / "whole.csv"))


def _read(table: pl.DataFrame, path: Path) -> pl.DataFrame:
    table.write_csv(path)
    return read_table(path)


def test_what_would_be_taken_for_something_else_is_refused(tmp_path: Path) -> None:
    table = made_table().with_columns(pl.col("specialty").replace("Cardiology", "all"))
    with pytest.raises(SourceError, match="specialty all"):
        arms_of(table, seed=0, draws=100)
    made_table().with_columns(item_id=pl.lit([1, 2])).write_parquet(tmp_path / "a.parquet")
    with pytest.raises(SourceError, match="lists in the column item_id"):
        read_table(tmp_path / "a.parquet")
