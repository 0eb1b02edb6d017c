"""The cache of converted weights."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from clinqa.core.errors import ConfigError
from clinqa.models import weights
from clinqa.models.weights import folder_sha256, working_folder


def test_what_a_killed_conversion_left_goes_and_a_running_one_stays(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CLINQA_CACHE", str(tmp_path))
    old, running = working_folder(), working_folder()
    long_ago = time.time() - 24 * 3600
    os.utime(old, (long_ago, long_ago))
    working_folder()
    assert not old.exists() and running.exists()


def test_a_cache_that_cannot_be_written_is_one_clear_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("CLINQA_CACHE", str(tmp_path / "file"))
    with pytest.raises(ConfigError, match="CLINQA_CACHE"):
        working_folder()


def test_the_hash_of_a_folder_follows_its_weights(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"one")
    first = folder_sha256(tmp_path)
    (tmp_path / "notes.md").write_text("not read by the model")
    assert folder_sha256(tmp_path) == first
    (tmp_path / "model.safetensors").write_bytes(b"two")
    assert folder_sha256(tmp_path) != first


def test_converted_weights_that_were_changed_are_not_taken(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CLINQA_CACHE", str(tmp_path))
    digest = "ab" * 32
    folder = weights._place(digest)
    for told in (True, False):  # with its hash, and as those before it had been written
        folder.mkdir(parents=True)
        (folder / "model.safetensors").write_bytes(b"one")
        source = {"folder_sha256": folder_sha256(folder)} if told else {}
        (folder / "source.json").write_text(json.dumps(source))
        assert weights.known(digest) == (folder if told else None)
        if told:
            (folder / "model.safetensors").write_bytes(b"two")
            assert weights.known(digest) is None and not folder.exists()
