"""From a bank to a page by the command line, with a baseline."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clinqa.cli import main

BUILD = ["build", "specialty", "bundled", "--annotator", "metadata", "--sets", "none"]


def test_the_whole_line_of_multiple_choice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([*BUILD, "--out", "bank"]) == 0
    for model in ("longest", "prior"):
        told = ["--model", f"baseline:{model}", "--orders", "4", "--order-design", "cyclic"]
        assert main(["predict", "bank", *told, "--out", f"runs/{model}"]) == 0
    capsys.readouterr()
    runs = ["runs/longest", "runs/prior"]
    assert main(["score", "bank", *runs, "--resamples", "100", "--out", "scores"]) == 0
    out = capsys.readouterr().out
    assert "all_orders_right" in out and "matcher" in out
    assert main(["report", "scores", "-o", "page.html"]) == 0
    assert (tmp_path / "page.html").stat().st_size > 20_000
    capsys.readouterr()
    assert main(["score", "bank", *runs, "--dry-run", "--out", "other", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["ok"]
    assert not (tmp_path / "other").exists()


def test_what_is_no_order_is_wrong_usage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([*BUILD, "--out", "bank"]) == 0
    ask = ["predict", "bank", "--model", "baseline:longest", "--out", "run"]
    assert main([*ask, "--orders", "0"]) == 2
    assert main([*ask, "--order-design", "latin"]) == 2
    assert main([*ask, "--first-token"]) == 2
    assert "Traceback" not in capsys.readouterr().err
