"""A whole study with a tiny model of random weights: stopped in the middle, and gone on with."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

pytest.importorskip("trl", reason="the extra `train` is not installed")

from clinqa.core.errors import ClinqaError, ConfigError
from clinqa.studying import whole_study as module
from clinqa.studying.study_options import StudyOptions
from clinqa.studying.whole_study import run_study
from studying.made_bank import made_bank, study_file
from tiny_model import make_tiny

pytestmark = pytest.mark.full

SETTINGS = (
    "settings: {epochs: 2, best_by: none, precision: f32, quantization: none, lora_rank: 4, "
    "batch_size: 2, learning_rate: 0.005}",
    "arms: [matched]",
    "reading: letters",
    "specialties: [Neurology, Pediatrics]",
    "draws: 200",
    "dtype: float32",
)

ON_CPU = StudyOptions(device="cpu", threads=1)


def test_a_study_stopped_in_the_middle_goes_on_and_trains_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = make_tiny(tmp_path / "base")
    made_bank(tmp_path)
    file = study_file(tmp_path, *SETTINGS, model=f"hf:{base}")
    asked: list[str] = []
    ask = module._Work._ask

    def stopping(self: object, training: object, adapter: Path | None) -> Path:
        if len(asked) == 3:
            raise KeyboardInterrupt
        asked.append(training.name)  # type: ignore[attr-defined]
        return ask(self, training, adapter)  # type: ignore[arg-type]

    monkeypatch.setattr(module._Work, "_ask", stopping)
    with pytest.raises(KeyboardInterrupt):
        run_study(file, tmp_path / "out", ON_CPU)
    monkeypatch.setattr(module._Work, "_ask", ask)
    begun = {
        path: path.stat().st_mtime_ns
        for path in (tmp_path / "out/.partial/adapters").glob("*/adapter_model.safetensors")
    }
    assert len(begun) == 3
    for name in ("runs/*/predictions.parquet", "adapters/*/adapter_config.json"):
        changed = next((tmp_path / "out/.partial").glob(name))
        body = changed.read_bytes()
        changed.write_bytes(body + b" ")
        with pytest.raises(ClinqaError, match=changed.name):
            run_study(file, tmp_path / "out", ON_CPU)
        changed.write_bytes(body)
    found = run_study(file, tmp_path / "out", ON_CPU)
    # three items of Neurology, all of Pediatrics, three of both: three seeds each
    assert found.counts == {"trainings": 9, "cells": 8, "tests": 6}
    out = tmp_path / "out"
    for path, when in begun.items():
        assert (out / path.relative_to(out / ".partial")).stat().st_mtime_ns == when
    right = pl.read_parquet(out / "right.parquet")
    assert right["arm"].unique().sort().to_list() == ["", "matched"]
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["counts"]["questions of matched"]["kept"] == 5
    names = {record["name"] for record in manifest["outputs"]}
    assert {"matrix.csv", "matrix.parquet", "tests.csv", "study.json", "matrix.svg"} <= names
    assert sum(name.endswith("/manifest.json") for name in names) == 9 + 10
    again = run_study(file, out, ON_CPU)
    assert "already done" in again.lines[0]
    with pytest.raises(ConfigError, match="orders"):
        run_study(study_file(tmp_path, *SETTINGS, "orders: 3", model=f"hf:{base}"), out, ON_CPU)
