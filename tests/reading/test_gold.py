"""The labels of reports and statements that independent readers labelled.

The files in tests/data/echo were written and labelled by readers who did not know the engine. They
have since been used to mend it, so they guard against falling back; they measure nothing new.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from made_notes import built

HERE = Path(__file__).parents[1] / "data" / "echo"
SHARED = Path(__file__).parents[3] / "shared" / "data" / "echo"
WHOLE = ("", "(full text)")

needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="../shared/data is not here")


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def as_report(case: dict[str, Any]) -> str:
    """A case as a report: its section's header before it, unless it is a report of its own."""
    section = case.get("section", "")
    return case["text"] if section in WHOLE else f"{section}: {case['text']}"


def labels_of_all(texts: list[str]) -> list[dict[str, int]]:
    """The baseline labels of each text, all read in one batch."""
    tables = built([(str(i), str(i), text) for i, text in enumerate(texts)]).tables
    found: list[dict[str, int]] = [{} for _ in texts]
    for row in tables.labels.to_pylist():
        if row["phase"] == "baseline":
            found[int(row["study_id"].split("#")[0])][row["abnormality"]] = row["level"]
    return found


def wrong_cases(path: Path) -> list[str]:
    cases = lines_of(path)
    found = labels_of_all([as_report(case) for case in cases])
    return [c["id"] for c, labels in zip(cases, found, strict=True) if labels != c["expected"]]


def score(path: Path) -> tuple[float, float, list[str]]:
    reports = lines_of(path)
    found = labels_of_all([report["text"] for report in reports])
    hits, extra, missed, wrong = [], [], [], []
    for report, labels in zip(reports, found, strict=True):
        out = set(report.get("disputed") or ())
        want = {k: v for k, v in report["labels"].items() if k not in out}
        got = {k: v for k, v in labels.items() if k not in out}
        right = len(want.items() & got.items())
        hits.append(right)
        extra.append(len(got) - right)
        missed.append(len(want) - right)
        if want != got:
            wrong.append(report["id"])
    right = sum(hits)
    return right / (right + sum(extra)), right / (right + sum(missed)), wrong


@pytest.mark.parametrize(
    "name",
    ["cases_a", "cases_b", "cases_f", "statements_a", "statements_d", "statements_e"],
    ids=lambda name: name,
)
def test_every_case_of_our_own_is_right(name: str) -> None:
    assert wrong_cases(HERE / f"{name}.jsonl") == []


@pytest.mark.parametrize("name", [f"reports_{x}" for x in "abcdef"])
def test_whole_reports_of_our_own_keep_their_labels(name: str) -> None:
    precision, recall, wrong = score(HERE / f"{name}.jsonl")
    assert precision >= 0.98 and recall >= 0.98, wrong


@needs_shared
def test_every_shared_case_is_right() -> None:
    assert wrong_cases(SHARED / "cases.jsonl") == []


@needs_shared
@pytest.mark.parametrize("name", ["reports_gold", "mimic_like_gold"])
def test_shared_reports_are_right_to_two_in_a_hundred(name: str) -> None:
    precision, recall, wrong = score(SHARED / f"{name}.jsonl")
    assert precision >= 0.98 and recall >= 0.98, wrong


@needs_shared
def test_every_shared_statement_has_the_level_named() -> None:
    headers = {"LA": "LEFT ATRIUM", "RA": "RIGHT ATRIUM", "LV": "LEFT VENTRICLE", "RV":
               "RIGHT VENTRICLE", "MV": "MITRAL VALVE", "AV": "AORTIC VALVE", "TV":
               "TRICUSPID VALVE"}  # fmt: skip
    with (SHARED / "statements.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    found = labels_of_all([f"{headers[row['structure']]}: {row['statement']}" for row in rows])
    wrong = [
        row["statement"]
        for row, labels in zip(rows, found, strict=True)
        if labels.get(row["abnormality"]) != int(row["level"])
    ]
    assert wrong == []
