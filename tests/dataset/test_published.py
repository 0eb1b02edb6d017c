"""What a stranger gets: the card, the Croissant file, and a folder that `datasets` loads."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from clinqa.builders.reports.report_card import card_of, counts_section, identifiers_section
from clinqa.builders.reports.report_options import BuildOptions
from clinqa.builders.reports.writer import SplitCounts, WriteResult
from clinqa.core.errors import CheckFailed, ConfigError
from clinqa.core.manifest import Manifest, StageCounts
from clinqa.dataset.card import Card, render_card
from clinqa.dataset.reader import open_dataset
from clinqa.kinds.long_form.columns import LONG_FORM
from clinqa.packs.loader import load_pack, pack_folder
from clinqa.privacy.screen import DISCLAIMER
from made_reports import REPORTS, build

CARD = Card(
    title="A set: of | things",
    summary="Items.",
    owner="the source of the text",
    items={"train": 1208, "validation": 0, "test": 0},
    glance=[("studies", "4")],
    sections=[("How it was made", "One.\n\nTwo.\n"), ("Levels", "")],
    rejects={"no_findings": 2},
    reasons={},
    columns={},
    limits=[],
    checked="that all of it agrees",
)
MANIFEST = Manifest(
    verb="build echo",
    data_class="public",
    identity={},
    clinqa="0.1",
    seeds={"seed": 7},
    counts={"studies": StageCounts(6, 4, 2, rejected_by_reason={"no_findings": 2})},
)


def card_of_class(data_class: str) -> str:
    return render_card(CARD, replace(MANIFEST, data_class=data_class))


def front_matter(card: str) -> dict[str, object]:
    loaded = yaml.safe_load(card.split("---\n")[1])
    assert isinstance(loaded, dict)
    return loaded


def test_the_front_matter_names_only_splits_that_can_be_loaded() -> None:
    front = front_matter(card_of_class("public"))
    assert front["license"] == "other" and front["license_name"] == "as-of-the-source"
    assert front["configs"] == [
        {
            "config_name": "default",
            "data_files": [{"split": "train", "path": "data/train-*.parquet"}],
        }
    ]
    assert front["pretty_name"] == "A set: of | things"
    assert front["size_categories"] == ["1K<n<10K"]


def test_the_card_counts_by_category_and_level_with_sums() -> None:
    table = counts_section({("wall", 0): 1200, ("wall", 1): 3, ("valve", 0): 5}, ())
    assert "| category | 0 | 1 | all |" in table
    assert "| `wall` | 1,200 | 3 | 1,203 |" in table
    assert "| all | 1,205 | 3 | 1,208 |" in table
    card = card_of_class("public")
    assert "6 read = 4 kept + 2 rejected + 0 duplicates + 0 out_of_scope" in card
    assert "| `no_findings` | 2 |" in card
    assert "## How it was made" in card and "## Levels" not in card


@pytest.mark.parametrize(
    ("data_class", "banner"),
    [("public", False), ("licensed", False), ("restricted", True), ("phi", True)],
)
def test_restricted_and_phi_cards_open_with_a_banner(data_class: str, banner: bool) -> None:
    card = card_of_class(data_class)
    assert (f"> **{data_class.upper()}.**" in card) == banner
    assert f"data-class:{data_class}" in card


def card_of_reports(*, subjects_known: bool) -> str:
    splits = {name: SplitCounts(0, 0, 0, 0) for name in ("train", "validation", "test")}
    result = WriteResult({}, splits, {}, {}, {})
    card = card_of(
        load_pack(pack_folder("echo")), BuildOptions(), result, [], subjects_known=subjects_known,
        identifiers={"date": 1234},
    )  # fmt: skip
    return render_card(card, MANIFEST)


def test_a_missing_subject_column_is_a_warning() -> None:
    card = card_of_reports(subjects_known=False)
    assert "names no patient" in card.split("## At a glance")[0]
    assert "names no patient" not in card_of_reports(subjects_known=True)


def test_the_identifier_screen_never_claims_de_identification() -> None:
    card = card_of_reports(subjects_known=True)
    assert "| date | 1,234 |" in card
    assert DISCLAIMER in card and "nor a zero count means the text is de-identified" in card
    assert "No hits." in identifiers_section({})
    assert "Identifier screen" not in card_of_class("public")


def test_neither_card_nor_croissant_nor_manifest_holds_text_of_a_record(tmp_path: Path) -> None:
    build(tmp_path / "out")
    for name in ("README.md", "croissant.json", "manifest.json"):
        text = (tmp_path / "out" / name).read_text()
        assert not [s for r in REPORTS for s in r[2] if s in text], name


def test_a_reader_gives_items_labels_and_batches(tmp_path: Path) -> None:
    build(tmp_path / "out")
    dataset = open_dataset(tmp_path / "out")
    counts = dataset.manifest.counts["items"]
    assert sum(dataset.items(s).num_rows for s in ("train", "validation", "test")) == counts.kept
    assert dataset.items("test").schema.equals(LONG_FORM)
    batch = next(dataset.batches("train", ["id", "context"]))
    assert batch.column_names == ["id", "context"]
    rows = {
        name: table.num_rows
        for name in ("labels", "rejects", "statements")
        if (table := dataset.table(f"{name}.parquet")) is not None
    }
    assert rows == {"labels": 120, "rejects": 0, "statements": 47}
    assert dataset.table("pages.parquet") is None and dataset.kind.name == "long_form"
    with pytest.raises(ConfigError, match="no split"):
        dataset.items("dev")
    (tmp_path / "out/labels.parquet").write_bytes(b"x")
    with pytest.raises(CheckFailed, match=r"labels\.parquet: changed since it was made"):
        dataset.table("labels.parquet")


def test_an_unfinished_folder_is_not_opened(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no manifest\.json"):
        open_dataset(tmp_path)


LOAD = """
import json, sys
from datasets import load_dataset
data = load_dataset(sys.argv[1])
features = data["train"].features
print(json.dumps({
    "rows": {name: len(split) for name, split in data.items()},
    "strings": [n for n, f in features.items() if getattr(f, "dtype", "") == "string"],
    "first": data["train"][0]["spans"][0]["part"],
}))
"""


def load(folder: Path, cache: Path) -> dict[str, object]:
    environment = {
        **os.environ,
        "HF_HOME": str(cache),
        "HF_HUB_OFFLINE": "1",
        "HF_DATASETS_OFFLINE": "1",
    }
    done = subprocess.run(
        [sys.executable, "-c", LOAD, str(folder)], capture_output=True, env=environment, check=True
    )
    loaded = json.loads(done.stdout)
    assert isinstance(loaded, dict)
    return loaded


@pytest.mark.parametrize("reports", [40, 4])
def test_datasets_loads_the_folder_as_it_is(tmp_path: Path, reports: int) -> None:
    pytest.importorskip("datasets")
    build(tmp_path / "out", REPORTS[:reports])
    loaded = load(tmp_path / "out", tmp_path / "cache")
    rows = open_dataset(tmp_path / "out").manifest.outputs
    expected = {f.name.split("/")[1].split("-")[0]: f.rows for f in rows if "data/" in f.name}
    assert loaded["rows"] == {name: n for name, n in expected.items() if n}
    assert loaded["strings"] == [f.name for f in LONG_FORM if f.type == "string"]
    assert loaded["first"] == "text"


def test_the_croissant_file_validates_and_gives_records(tmp_path: Path) -> None:
    mlcroissant = pytest.importorskip("mlcroissant")
    build(tmp_path / "out")
    dataset = mlcroissant.Dataset(jsonld=str(tmp_path / "out/croissant.json"))
    issues = dataset.metadata.issues
    assert not issues.errors, issues.report()
    assert not issues.warnings, issues.report()
    record = next(iter(dataset.records("train")))
    assert len(record["train/id"]) == 16
    span = record["train/spans"][0]
    assert span["train/spans/text"] == record["train/answer"]
    assert span["train/spans/start"] >= 0 and span["train/spans/page"] is None
    named = {node.name for node in dataset.metadata.distribution}
    assert "data/test-00000-of-00001.parquet" in named and "labels.parquet" in named
