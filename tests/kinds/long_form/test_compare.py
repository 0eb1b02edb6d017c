from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinqa.core.manifest import StageCounts
from clinqa.dataset.reader import open_dataset
from clinqa.kinds.long_form import moves
from clinqa.kinds.long_form.moves import changed, cohen_kappa
from made_folder import Label, write_folder

A = [
    Label("s1", "mitral_regurgitation", 1),
    Label("s2", "mitral_regurgitation", 0),
    Label("s3", "mitral_regurgitation", 2),
    Label("s3", "la_cavity", 1),
    Label("gone", "la_cavity", 1),
]
B = [
    Label("s1", "mitral_regurgitation", -50),
    Label("s2", "mitral_regurgitation", 0),
    Label("s2", "la_cavity", 0),
    Label("s3", "mitral_regurgitation", 2),
    Label("s3", "mitral_regurgitation", 0, phase="post"),
    Label("new", "la_cavity", 3),
]


def compare(a: Path, b: Path) -> dict[str, Any]:
    return moves.compare(open_dataset(a), open_dataset(b))[0]


def changed_labels(a: Path, b: Path) -> pl.DataFrame:
    return moves.compare(open_dataset(a), open_dataset(b))[1]


def test_moved_added_and_removed_labels_are_counted_over_the_shared_studies(
    tmp_path: Path,
) -> None:
    found = compare(
        write_folder(tmp_path / "a", A), write_folder(tmp_path / "b", B, inputs="1" * 64)
    )
    rows = {row["abnormality"]: row for row in found["abnormalities"]}
    assert (found["shared"], found["only_a"], found["only_b"]) == (3, 1, 1)
    regurgitation, cavity = rows["mitral_regurgitation"], rows["la_cavity"]
    assert (regurgitation["same"], regurgitation["moved"], changed(regurgitation)) == (2, 1, 1)
    assert (1, -50, 1) in regurgitation["matrix"]
    assert (cavity["added"], cavity["removed"]) == (1, 1)
    assert (None, None, 1) in cavity["matrix"]
    assert cavity["agreement"] == pytest.approx(1 / 3)
    assert cavity["agreement_labelled"] is None
    assert all(sum(cell[2] for cell in row["matrix"]) == found["shared"] for row in rows.values())


def test_every_label_that_moves_is_listed(tmp_path: Path) -> None:
    rows = changed_labels(
        write_folder(tmp_path / "a", A), write_folder(tmp_path / "b", B, inputs="1" * 64)
    )
    assert rows.rows() == [
        ("s1", "mitral_regurgitation", 1, -50),
        ("s2", "la_cavity", None, 0),
        ("s3", "la_cavity", 1, None),
    ]


def test_a_study_that_lost_all_its_labels_is_shared_unless_it_was_rejected(
    tmp_path: Path,
) -> None:
    a = write_folder(tmp_path / "a", A)
    kept = write_folder(tmp_path / "b", B, counts=StageCounts(read=9, kept=9))
    assert (compare(a, kept)["shared"], compare(a, kept)["only_a"]) == (5, 0)
    rejected = write_folder(tmp_path / "c", B, rejects=[("read", "no_findings", "gone")])
    assert (compare(a, rejected)["shared"], compare(a, rejected)["only_a"]) == (4, 1)
    assert compare(a, rejected)["warnings"] == []


def test_a_build_agrees_with_itself(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "a", A)
    found = compare(folder, folder)
    assert found["changed"] == 0
    assert {row["agreement"] for row in found["abnormalities"]} == {1.0}
    assert changed_labels(folder, folder).is_empty()


def test_two_empty_builds_compare(tmp_path: Path) -> None:
    found = compare(write_folder(tmp_path / "a", []), write_folder(tmp_path / "b", []))
    assert (found["shared"], found["abnormalities"]) == (0, [])


def test_kappa_is_undefined_where_one_level_fills_both_sides() -> None:
    assert cohen_kappa([(0, 0, 9)]) is None
    assert cohen_kappa([]) is None


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(1, 9)), max_size=9))
def test_kappa_is_symmetric_and_at_most_one(cells: list[tuple[int, int, int]]) -> None:
    kappa = cohen_kappa(cells)
    assert kappa == cohen_kappa([(b, a, n) for a, b, n in reversed(cells)])
    assert kappa is None or -1 <= kappa <= 1
