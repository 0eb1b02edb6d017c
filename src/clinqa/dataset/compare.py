"""Two builds of the same studies: which labels move between profiles or packs, and how many.

Studies are matched by id. A study counts as shared when both builds kept it. A kept study may have
no label at all and then stands in no file; it is known to be kept where both builds read the same
inputs with the same sample and it is not among the rejects.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import polars as pl

from clinqa.core.comparison import AbnormalityChange, Comparison
from clinqa.core.errors import ConfigError
from clinqa.core.manifest import Manifest
from clinqa.dataset.summary import baseline_labels, read_manifest, wider_class, written_in

__all__ = ["changed_labels", "cohen_kappa", "compare"]

_KEY = ["study_id", "abnormality"]


def compare(a: Path, b: Path) -> Comparison:
    """The labels of B against those of A, over the studies that both hold."""
    manifests = read_manifest(a), read_manifest(b)
    try:
        same_reads = _same_reads(*manifests)
        joined, studies = _joined(a, b, same_reads)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise ConfigError(
            f"{a} or {b}: a Parquet file is damaged or lacks a column ({type(error).__name__}); "
            "run `clinqa verify` on both folders"
        ) from error
    shared = int(studies["shared"].sum())
    counted = joined.group_by("abnormality", "before", "after").len().sort(pl.all())
    matrices: dict[str, list[tuple[int | None, int | None, int]]] = {}
    for abnormality, before, after, n in counted.iter_rows():
        matrices.setdefault(abnormality, []).append((before, after, int(n)))
    warnings = []
    if not same_reads:
        warnings.append(
            "the two builds did not read the same inputs with the same sample; "
            "a study without any label counts as absent"
        )
    return Comparison(
        a=str(a),
        b=str(b),
        profile_a=written_in(manifests[0], "profile"),
        profile_b=written_in(manifests[1], "profile"),
        data_class=wider_class(*(one.data_class for one in manifests)),
        shared=shared,
        only_a=int(studies["only_a"].sum()),
        only_b=int(studies["only_b"].sum()),
        abnormalities=tuple(_change(name, cells, shared) for name, cells in matrices.items()),
        warnings=tuple(warnings),
    )


def changed_labels(a: Path, b: Path) -> pl.DataFrame:
    """Every label that moves: study_id, abnormality, before, after; null where there is none."""
    joined, _ = _joined(a, b, _same_reads(read_manifest(a), read_manifest(b)))
    return joined.filter(pl.col("before").ne_missing(pl.col("after"))).sort(_KEY)


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


def _joined(a: Path, b: Path, same_reads: bool) -> tuple[pl.DataFrame, pl.DataFrame]:
    """(study, abnormality, before, after) over the shared studies, and who holds which study."""
    left, right = (
        baseline_labels(folder)
        .group_by(_KEY)
        .agg(pl.col("level").min().cast(pl.Int32))
        .collect(engine="streaming")
        for folder in (a, b)
    )
    studies = (
        left.select("study_id")
        .unique()
        .with_columns(in_a=True)
        .join(
            right.select("study_id").unique().with_columns(in_b=True),
            on="study_id",
            how="full",
            coalesce=True,
        )
        .with_columns(pl.col("in_a", "in_b").fill_null(False))
    )
    if same_reads:
        studies = studies.with_columns(
            in_a=pl.col("in_a") | ~pl.col("study_id").is_in(_rejected(a).implode()),
            in_b=pl.col("in_b") | ~pl.col("study_id").is_in(_rejected(b).implode()),
        )
    studies = studies.with_columns(
        shared=pl.col("in_a") & pl.col("in_b"),
        only_a=pl.col("in_a") & ~pl.col("in_b"),
        only_b=pl.col("in_b") & ~pl.col("in_a"),
    )
    both = studies.filter("shared").select("study_id")
    joined = (
        left.join(both, on="study_id", how="semi")
        .rename({"level": "before"})
        .join(
            right.join(both, on="study_id", how="semi").rename({"level": "after"}),
            on=_KEY,
            how="full",
            coalesce=True,
        )
        .select(*_KEY, "before", "after")
    )
    return joined, studies


def _rejected(folder: Path) -> pl.Series:
    return pl.read_parquet(folder / "rejects.parquet", columns=["source_id"], glob=False)[
        "source_id"
    ].unique()


def _same_reads(a: Manifest, b: Manifest) -> bool:
    """Whether two builds read the same files and kept the same sample of them."""
    hashes = [sorted(one.sha256 for one in manifest.inputs) for manifest in (a, b)]
    if not hashes[0] or hashes[0] != hashes[1]:
        return False
    samples = [[written_in(one, key) for key in ("sample_subjects", "limit")] for one in (a, b)]
    if samples[0] != samples[1]:
        return False
    return not samples[0][0] or a.seeds == b.seeds


def _change(
    name: str, cells: list[tuple[int | None, int | None, int]], shared: int
) -> AbnormalityChange:
    labelled = [cell for cell in cells if cell[0] is not None and cell[1] is not None]
    same = sum(n for before, after, n in labelled if before == after)
    both = sum(n for _, _, n in labelled)
    added = sum(n for before, _, n in cells if before is None)
    removed = sum(n for _, after, n in cells if after is None)
    unlabelled = shared - both - added - removed
    everyone = [*cells, (None, None, unlabelled)] if unlabelled else cells
    return AbnormalityChange(
        abnormality=name,
        same=same,
        moved=both - same,
        added=added,
        removed=removed,
        agreement=(same + unlabelled) / shared if shared else None,
        kappa=cohen_kappa(everyone),
        agreement_labelled=same / both if both else None,
        kappa_labelled=cohen_kappa(labelled),
        matrix=tuple(everyone),
    )
