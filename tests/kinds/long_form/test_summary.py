from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clinqa.core.errors import CheckFailed, ConfigError
from clinqa.core.manifest import StageCounts
from clinqa.dataset.reader import open_dataset
from clinqa.dataset.shown import described
from clinqa.kinds.long_form.summary import reconciles
from clinqa.kinds.long_form.summary import summarise as counted
from made_folder import Label, Statement, write_folder

LABELS = [
    Label("s1", "mitral_regurgitation", 1, hedged=True),
    Label("s1", "la_cavity", -50),
    Label("s2", "mitral_regurgitation", 3, method="grammar", prosthesis=True),
    Label("s2", "mitral_regurgitation", 0, phase="post"),
    Label("s3", "la_cavity", 0, explicit=False),
]
COUNTS = StageCounts(
    read=10,
    kept=3,
    rejected=2,
    duplicates=1,
    out_of_scope=4,
    rejected_by_reason={"no_findings": 2},
    out_of_scope_by_reason={"category": 3, "iserror": 1},
)


def summarise(folder: Path) -> dict[str, Any]:
    return counted(open_dataset(folder))


def made(folder: Path) -> Path:
    return write_folder(
        folder,
        LABELS,
        statements=[
            Statement("Mild MR.", (("mitral_regurgitation", 1),), 5, "lexicon"),
            Statement("Image quality was fair.", (), 3, "none"),
        ],
        splits={"s1": "train", "s2": "test", "s3": "validation"},
        rejects=[("read", "no_findings", "s8"), ("read", "no_findings", "s9")],
        counts=COUNTS,
    )


def test_the_flow_counts_from_notes_to_items(tmp_path: Path) -> None:
    flow = summarise(made(tmp_path / "d"))["flow"]
    told = ("read", "out_of_scope", "duplicates", "rejected", "kept")
    assert [flow[name] for name in told] == [10, 4, 1, 2, 3]
    assert (flow["statements"], flow["occurrences"], flow["labels"], flow["items"]) == (2, 8, 4, 3)
    assert reconciles(flow) is True
    assert list(flow["out_of_scope_by_reason"]) == ["category", "iserror"]


def test_a_contradiction_is_counted_among_the_levels_and_not_among_the_items(
    tmp_path: Path,
) -> None:
    rows = {row["abnormality"]: row for row in summarise(made(tmp_path / "d"))["abnormalities"]}
    assert rows["la_cavity"]["levels"][-50] == 1
    assert sum(rows["la_cavity"]["items"].values()) == 1
    assert rows["la_cavity"]["inferred"] == 1


def test_findings_after_a_procedure_do_not_enter_the_levels(tmp_path: Path) -> None:
    summary = summarise(made(tmp_path / "d"))
    rows = {row["abnormality"]: row for row in summary["abnormalities"]}
    assert rows["mitral_regurgitation"]["levels"][0] == 0
    assert rows["mitral_regurgitation"]["studies"] == 2
    assert summary["phases"] == {"baseline": 4, "post": 1}


def test_coverage_is_a_share_of_the_studies_kept(tmp_path: Path) -> None:
    rows = {row["abnormality"]: row for row in summarise(made(tmp_path / "d"))["abnormalities"]}
    assert rows["mitral_regurgitation"]["coverage"] == pytest.approx(2 / 3)
    assert rows["mitral_regurgitation"]["methods"] == {"lexicon": 1, "grammar": 1}
    assert (rows["mitral_regurgitation"]["hedged"], rows["mitral_regurgitation"]["prosthesis"]) == (
        1,
        1,
    )


def test_splits_count_patients_studies_items_and_seen_statements(tmp_path: Path) -> None:
    splits = {row["name"]: row for row in summarise(made(tmp_path / "d"))["splits"]}
    assert list(splits) == ["train", "validation", "test"]
    test = splits["test"]
    assert (test["patients"], test["studies"], test["items"], test["seen"]) == (1, 1, 1, 0)
    assert splits["validation"]["seen"] == 1


def test_an_empty_dataset_is_summed_too(tmp_path: Path) -> None:
    summary = summarise(write_folder(tmp_path / "d", []))
    assert summary["flow"]["items"] == 0 and summary["abnormalities"] == []


def test_the_summary_is_one_json_object(tmp_path: Path) -> None:
    value = json.loads(json.dumps(summarise(made(tmp_path / "d"))))
    assert value["reconciles"] is True
    assert value["abnormalities"][0]["levels"]["-50"] == 1


def test_a_folder_without_a_manifest_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"manifest\.json"):
        summarise(tmp_path)
    with pytest.raises(ConfigError, match="no such folder"):
        summarise(tmp_path / "absent")


def test_a_damaged_file_is_an_error_that_holds_no_text_of_it(tmp_path: Path) -> None:
    folder = made(tmp_path / "d")
    (folder / "labels.parquet").write_bytes(b"Okafor, seen today")
    with pytest.raises(CheckFailed) as caught:
        described(folder)
    assert "Okafor" not in str(caught.value)
