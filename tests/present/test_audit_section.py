"""The section on fairness: what it says, what it never says, and what it refuses."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from clinqa.core.errors import CheckFailed, ConfigError
from clinqa.core.figures import GapPair
from clinqa.core.hashing import sha256_file
from clinqa.core.manifest import FileRecord, Manifest
from clinqa.kinds.facets.pages import Fold, Warned
from clinqa.present.audit.least import least_biased, marks_of
from clinqa.present.audit.read import GAP, AuditedMetric, read_audit
from clinqa.present.audit.says import sentences
from clinqa.present.audit.section import audit_section
from clinqa.present.folders import read_folders
from clinqa.present.page_options import PageOptions
from clinqa.present.report import write_report
from present.made_scores import write_scores
from present.pages import render, tables_of

RUN_ABOUT = ("m1-00000000", "m2-00000000")


def gap(run: str, dimension: str, measure: str, value: float, **more: Any) -> dict[str, Any]:
    blank = dict.fromkeys(("expected", "excess", "null_low", "null_high", "p", "p_max", "low",
                           "high", "sd"))  # fmt: skip
    return {
        "run": run, "model": "m", "shots": 0, "dimension": dimension, "metric": "token_f1",
        "measure": measure, "value": value, "n": 100, "clusters": 40, "groups": 2, "units": 40,
        "signature": f"gap|{measure}|made", "repeats": [], **blank, **more,
    }  # fmt: skip


def score(run: str, group: str, value: float | None, metric: str = "token_f1") -> dict[str, Any]:
    low, high = (None, None) if value is None else (value - 0.05, value + 0.05)
    return {
        "run": run, "model": "m", "shots": 0, "metric": metric, "value": value, "low": low,
        "high": high, "n": 0 if value is None else 50, "clusters": 0 if value is None else 20,
        "signature": "token_f1|made", "subset": {"dimension": "in<come", "group": group},
    }  # fmt: skip


def write_audit(folder: Path, scores: Path, *, widest: float = 0.2) -> Path:
    """An AUDIT of one dimension: a run with a gap that is told from chance, one without."""
    dataset = json.loads((scores / "scores.json").read_text())["meta"]["dataset"]
    figures, gaps = [], []
    for run, sure in zip(RUN_ABOUT, (True, False), strict=True):
        value, expected, p = (0.1, 0.02, 0.001) if sure else (0.03, 0.02, 0.41)
        nulls = {
            "expected": expected, "excess": value - expected, "null_low": 0.005,
            "null_high": 0.04, "p": p, "p_max": p if sure else 0.7,
        }  # fmt: skip
        gaps += [
            gap(run, "in<come", "equality_difference", value, **nulls),
            gap(run, "in<come", "equality_difference_standardised", value, **nulls),
            gap(run, "in<come", "max_min_gap", widest, **nulls),
            gap(run, "in<come", "ratio", 0.8),
        ]
        figures += [score(run, "low", 0.5), score(run, "high", 0.7), score(run, "few", None)]
        figures += [score(run, "low", -0.1, "token_f1_deviation")]
        figures += [score(run, "low", 0.5, "token_f1_worst_group")]
    group = {"range": "", "patients": 20, "withheld": False}
    meta = {
        "dataset": dataset,
        "runs": [{"run": run, "name": run[:2], "model": run[:2], "shots": 0} for run in RUN_ABOUT],
        "metrics": [{"metric": "token_f1", "signature": "token_f1|made", "lower": False}],
        "dimensions": [
            {"name": "in<come", "unit": "tract", "kind": "categories", "cuts": [], "missing": 0,
             "note": "", "groups": [{"name": "low", **group}, {"name": "high", **group},
                {"name": "few", "range": "", "patients": None, "withheld": True}]},
        ],
        "excluded": [{"name": "race", "reason": "all patients have the same value"}],
        "settings": {"quantiles_over": "patients", "min_patients": 10, "permutations": 1000,
                     "resamples": 1000, "level": 0.95, "seed": 0, "family": "1 × 2", "tracts": 9,
                     "patients": 40},
        "rows": {},
        "pareto": [
            {"run": run, "dimension": "in<come", "metric": "token_f1", "performance": 0.6,
             "bias": bias, "front": bias < 0.05}
            for run, bias in zip(RUN_ABOUT, (0.08, 0.01), strict=True)
        ],
        "warnings": ["in<come: something to know"],
    }  # fmt: skip
    folder.mkdir()
    path = folder / "audit.json"
    path.write_text(json.dumps({"figures": figures, "gaps": gaps, "meta": meta}))
    record = FileRecord(path.name, sha256_file(path), path.stat().st_size)
    manifest = Manifest("audit", "phi", {"made": str(folder)}, "0", outputs=[record])
    (folder / "manifest.json").write_text(manifest.to_json())
    return folder


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_scores(tmp_path_factory.mktemp("fair") / "scores")


@pytest.fixture(scope="module")
def audit(scores: Path) -> Path:
    return write_audit(scores.parent / "audit", scores)


def test_the_page_tells_a_gap_never_without_what_chance_gives(scores: Path, audit: Path) -> None:
    html = render(scores, audit, examples=False)
    assert '<h2 id="fairness">' in html and '<a href="#fairness">' in html
    assert "arise by chance in 4 of 10 such samples" in html
    assert "1 gap is larger than chance explains" in html
    assert "in&lt;come" in html and "in<come" not in html
    tables = tables_of(scores, audit)
    for kind in ("gaps", "more", "groups"):
        assert tables[f"fairness-{kind}-token-f1"].footnotes, "a figure without its signature"
    columns = [column.key for column in tables["fairness-gaps-token-f1"].columns]
    assert columns[:3] == ["gap", "by_chance", "excess"]
    assert '"gaps":[{"run":"m1' in html.replace("\\u003c", "<")


def test_without_an_audit_the_page_has_no_such_section(scores: Path) -> None:
    html = render(scores, examples=False)
    assert "fairness" not in html.split("<body>")[1].split("clinqa-figures")[0]


def test_the_page_is_as_private_as_the_audit(scores: Path, audit: Path) -> None:
    assert read_folders([scores, audit])[0].data_class == "phi"


def test_what_was_found_is_said_with_its_size_its_chance_and_who_fares_worst(
    audit: Path,
) -> None:
    read = read_audit(audit)
    said = sentences(AuditedMetric(read, "token_f1", "F1", read.labels(), {}))
    assert "m1, 0-shot, in<come: groups lie 0.100 from the whole" in said[1]
    assert "chance alone gives 0.020" in said[1] and "“low”: 0.500, −0.100" in said[1]
    assert "It stays when the groups are compared on the same mix" in said[1]
    assert "does not mean that there is no gap" in said[-1] and "0.040" in said[-1]


def test_withheld_groups_and_excluded_columns_are_said(scores: Path, audit: Path) -> None:
    tables = tables_of(scores, audit)
    few = [row for row in tables["fairness-groups-token-f1"].rows if row.head == "few"]
    assert all("fewer than 10 patients" in cell.reason for cell in few[0].cells[1:])
    assert "race: left out: all patients have the same value." in (
        tables["fairness-dimensions"].notes
    )


def test_scores_pasted_among_gaps_are_refused(scores: Path, tmp_path: Path) -> None:
    # Table 4 as published holds the F1 of three models as their gaps: wider than any two groups lie
    folder = write_audit(tmp_path / "audit", scores, widest=0.05)
    with pytest.raises(CheckFailed, match="it is no gap"):
        read_folders([scores, folder])
    path = folder / "audit.json"
    data = json.loads(path.read_text())
    data["gaps"][0]["signature"] = "token_f1|made"
    path.write_text(json.dumps(data))
    with pytest.raises(CheckFailed, match="changed since it was made"):
        read_folders([scores, folder])
    manifest = Manifest.read(folder / "manifest.json")
    record = FileRecord(path.name, sha256_file(path), path.stat().st_size)
    sealed = replace(manifest, outputs=[record]).to_json()
    (folder / "manifest.json").write_text(sealed)
    with pytest.raises(CheckFailed, match="no gap stands among the gaps"):
        read_folders([scores, folder])


def test_an_audit_alone_or_of_another_dataset_makes_no_page(scores: Path, audit: Path,
                                                           tmp_path: Path) -> None:  # fmt: skip
    with pytest.raises(ConfigError, match="beside scores of its runs"):
        read_folders([audit])
    with pytest.raises(ConfigError, match="one audit"):
        read_folders([scores, audit, audit])
    folder = write_audit(tmp_path / "audit", scores)
    path = folder / "audit.json"
    data = json.loads(path.read_text())
    data["meta"]["dataset"]["fingerprint"] = "other"
    path.write_text(json.dumps(data))
    manifest = Manifest.read(folder / "manifest.json")
    record = FileRecord(path.name, sha256_file(path), path.stat().st_size)
    (folder / "manifest.json").write_text(replace(manifest, outputs=[record]).to_json())
    with pytest.raises(ConfigError, match="another dataset"):
        read_folders([scores, folder])


def test_figures_for_a_paper_are_drawn_the_same_each_time(
    scores: Path, audit: Path, tmp_path: Path
) -> None:
    pytest.importorskip("matplotlib")
    for name in ("a", "b"):
        write_report(
            [scores, audit], tmp_path / f"{name}.html", PageOptions(figures=tmp_path / name)
        )
    drawn = sorted(path.name for path in (tmp_path / "a/figures").glob("fairness-*.svg"))
    assert drawn == [f"fairness-{kind}-token-f1.svg" for kind in ("front", "gaps", "groups")]
    for name in drawn:
        one, two = ((tmp_path / side / "figures" / name).read_bytes() for side in "ab")
        assert one == two


@pytest.mark.parametrize(
    ("p_max", "marks"),
    [
        ((0.01, 0.01, 0.01), {"r1": "best", "r2": "second"}),
        ((0.01, 0.01, 0.30), {"r1": "best"}),
        ((0.30, 0.01, 0.01), {}),  # not told from the second: neither is marked
        ((None, None, None), {}),
    ],
)
def test_least_and_second_least_gap_are_marked_where_tests_tell_them_from_all_others(
    audit: Path, p_max: tuple[float | None, ...], marks: dict[str, str]
) -> None:
    whole = read_audit(audit)
    shape = replace(whole.gaps[0], dimension="age", metric="token_f1", measure=GAP)
    runs = ("r1", "r2", "r3")
    pairs = [("r1", "r2"), ("r1", "r3"), ("r2", "r3")]
    found = replace(
        whole,
        meta={**whole.meta, "dimensions": [{"name": "age"}], "runs": [{"run": r} for r in runs]},
        gaps=tuple(replace(shape, run=r, value=n / 10) for n, r in enumerate(runs)),
        gap_pairs=tuple(
            GapPair(a, b, "age", "token_f1", -0.1, p, p, "gap|made")
            for (a, b), p in zip(pairs, p_max, strict=True)
        ),
    )  # fmt: skip
    of = AuditedMetric(found, "token_f1", "token F1", dict(zip(runs, runs, strict=True)), {})
    assert marks_of(of, {"name": "age"}) == marks
    table = least_biased(of)
    assert table is not None
    assert [row.cells[0].mark for row in table.rows] == [marks.get(run, "") for run in runs]
    assert ("which is least is not known" in table.notes[0]) is (not marks)


def test_a_join_that_lost_much_stands_on_top_of_the_section(scores: Path, audit: Path) -> None:
    whole = read_audit(audit)
    line = "t.csv: 46 of 114 patients of the split (40%) have no row"
    lost = replace(whole, meta={**whole.meta, "headlines": [line], "warnings": [line, "another"]})
    evaluation, _, _ = read_folders([scores, audit])
    section, _ = audit_section(lost, evaluation)
    first, *rest = section.blocks
    assert isinstance(first, Warned) and first.lines == [line]
    assert line not in str([block for block in rest if isinstance(block, Fold)])
