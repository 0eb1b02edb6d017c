"""Two builds of the same studies: which labels move between profiles or packs, and how many.

Studies are matched by id. A study counts as shared when both builds kept it. A kept study may have
no label at all and then stands in no file; it is known to be kept where both builds read the same
inputs with the same sample and it is not among the rejects.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import polars as pl

from clinqa.core.manifest import Manifest
from clinqa.core.origin import origin_of, with_origin
from clinqa.core.records import strictest
from clinqa.kinds.facets.describes import Holding
from clinqa.kinds.long_form.summary import Values, baseline_labels

__all__ = ["changed", "cohen_kappa", "compare"]


def compare(held: Holding, other: Holding) -> tuple[dict[str, Any], pl.DataFrame]:
    """The labels of another build (B) against those of one (A), over the studies that both hold.

    `only_a` and `only_b` are studies that the other does not hold; `changed` counts the labels
    that moved, came or went. Beside it every label that moves: study_id, abnormality, before,
    after; null where there is none. Each build is read once.
    """
    manifests = held.manifest, other.manifest
    same_reads = _same_reads(*manifests)
    names = sorted({*_names(held), *_names(other)})
    both, only_a, only_b = _side_by_side(held, other, names, same_reads)
    unlike = (
        "the two builds did not read the same inputs with the same sample; "
        "a study without any label counts as absent"
    )
    rows = [_change(name, _matrix(both, name)) for name in names]
    moves = {
        "a": str(held.folder),
        "b": str(other.folder),
        "profile_a": manifests[0].told("profile"),
        "profile_b": manifests[1].told("profile"),
        "data_class": strictest([held.data_class, other.data_class]).value,
        **with_origin(origin_of(manifests)),
        "shared": both.height,
        "only_a": only_a,
        "only_b": only_b,
        "abnormalities": rows,
        "warnings": [] if same_reads else [unlike],
        "changed": sum(map(changed, rows)),
    }
    moved = pl.concat(_changes(both, name) for name in ["", *names])
    return moves, moved.sort("study_id", "abnormality")


def changed(row: Values) -> int:
    """Studies whose label of an abnormality moved, came or went."""
    return int(row["moved"] + row["added"] + row["removed"])


def cohen_kappa(cells: Iterable[tuple[object, object, int]]) -> float | None:
    """Cohen's kappa of a matrix of (first, second, count); None where it is undefined.

    >>> cohen_kappa([(0, 0, 20), (0, 1, 5), (1, 0, 10), (1, 1, 15)])
    0.4
    """
    rows: dict[object, int] = {}
    columns: dict[object, int] = {}
    total = same = 0
    for first, second, n in cells:
        rows[first] = rows.get(first, 0) + n
        columns[second] = columns.get(second, 0) + n
        total += n
        same += n if first == second else 0
    # integers until the last step, so that the figure does not depend on the order of the cells
    chance = sum(n * columns.get(level, 0) for level, n in rows.items())
    if total == 0 or chance == total * total:
        return None
    return (same * total - chance) / (total * total - chance)


def _names(held: Holding) -> list[str]:
    found = baseline_labels(held).select("abnormality").unique().collect(engine="streaming")
    return [str(name) for name in found["abnormality"]]


def _wide(held: Holding, names: list[str], side: str) -> pl.DataFrame:
    """One row a study and one small column an abnormality: little memory, and one join for all."""
    level = pl.col("level").cast(pl.Int8)
    columns = [
        pl.when(pl.col("abnormality") == name).then(level).min().alias(f"{side}:{name}")
        for name in names
    ]
    wide = baseline_labels(held).group_by("study_id").agg(*columns)
    return wide.collect(engine="streaming").with_columns(pl.lit(True).alias(side))


def _side_by_side(
    a: Holding, b: Holding, names: list[str], same_reads: bool
) -> tuple[pl.DataFrame, int, int]:
    """The shared studies with the labels of both builds, and how many only one holds."""
    studies = (
        _wide(a, names, "a")
        .join(_wide(b, names, "b"), on="study_id", how="full", coalesce=True)
        .with_columns(pl.col("a", "b").fill_null(False))
    )
    if same_reads:
        studies = studies.with_columns(
            pl.col(side) | ~pl.col("study_id").is_in(_rejected(held).implode())
            for side, held in (("a", a), ("b", b))
        )
    only_a = studies.filter(pl.col("a") & ~pl.col("b")).height
    only_b = studies.filter(pl.col("b") & ~pl.col("a")).height
    return studies.filter(pl.col("a") & pl.col("b")), only_a, only_b


def _matrix(both: pl.DataFrame, name: str) -> list[tuple[int | None, int | None, int]]:
    """How many studies went from which level to which; None is no label."""
    pair = [f"a:{name}", f"b:{name}"]
    return [
        (before, after, int(n)) for before, after, n in both.group_by(pair).len().sort(pair).rows()
    ]


def _changes(both: pl.DataFrame, name: str) -> pl.DataFrame:
    """The studies whose label of one abnormality moves; no name gives the empty table."""
    before, after = (pl.col(f"{side}:{name}") if name else pl.lit(None) for side in "ab")
    moved = both.filter(before.ne_missing(after)) if name else both.clear()
    return moved.select(
        "study_id",
        abnormality=pl.lit(name, dtype=pl.String),
        before=before.cast(pl.Int8),
        after=after.cast(pl.Int8),
    )


def _rejected(held: Holding) -> pl.Series:
    found = held.scan("rejects.parquet").select("source_id").collect()
    return found["source_id"].unique()


def _same_reads(a: Manifest, b: Manifest) -> bool:
    """Whether two builds read the same files and kept the same sample of them."""
    hashes = [sorted(one.sha256 for one in manifest.inputs) for manifest in (a, b)]
    if not hashes[0] or hashes[0] != hashes[1]:
        return False
    samples = [[one.told(key) for key in ("sample_subjects", "limit")] for one in (a, b)]
    if samples[0] != samples[1]:
        return False
    return not samples[0][0] or a.seeds == b.seeds


def _change(name: str, matrix: list[tuple[int | None, int | None, int]]) -> dict[str, Any]:
    """One abnormality over the shared studies; `matrix` is (before, after, studies).

    `agreement` and `kappa` take "no label" (None) for a level of its own; the `_labelled` pair
    looks at the studies that both builds label. Kappa is None where one level fills both sides:
    chance agreement is then complete and kappa undefined.
    """
    labelled = [cell for cell in matrix if cell[0] is not None and cell[1] is not None]
    same = sum(n for before, after, n in labelled if before == after)
    both = sum(n for _, _, n in labelled)
    shared = sum(n for _, _, n in matrix)
    unlabelled = sum(n for before, after, n in matrix if before is None and after is None)
    return {
        "abnormality": name,
        "same": same,
        "moved": both - same,
        "added": sum(n for before, after, n in matrix if before is None and after is not None),
        "removed": sum(n for before, after, n in matrix if before is not None and after is None),
        "agreement": (same + unlabelled) / shared if shared else None,
        "kappa": cohen_kappa(matrix),
        "agreement_labelled": same / both if both else None,
        "kappa_labelled": cohen_kappa(labelled),
        "matrix": matrix,
    }
