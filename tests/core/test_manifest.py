"""The manifest: identity, redaction, sums."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clinqa.core.errors import CheckFailed, ConfigError
from clinqa.core.hashing import sha256_file
from clinqa.core.manifest import (
    AcceptedChange,
    FileRecord,
    Manifest,
    StageCounts,
    differences,
    fingerprint,
    identity_of,
    library_versions,
    seal_of,
)
from clinqa.core.redaction import redact, redact_command


def test_what_is_not_identity_leaves_the_fingerprint_alone() -> None:
    one = {"seed": 1, "inputs": {"path": "/a", "sha256": "x"}, "workers": 1, "out": "d1"}
    other = {"seed": 1, "inputs": {"path": "/b", "sha256": "x"}, "workers": 8, "engine": "numba"}
    assert fingerprint(identity_of(one)) == fingerprint(identity_of(other))
    assert identity_of(one) == {"seed": 1, "inputs": {"sha256": "x"}}


def test_differences_go_into_nested_keys_and_shorten_hashes() -> None:
    there = {"a": {"b": 1}, "hash": "0" * 64}
    now = {"a": {"b": 2}, "hash": "1" * 64}
    assert differences(there, now) == [
        "a.b (1 there, 2 now)",
        'hash ("00000000000…" there, "11111111111…" now)',
    ]
    assert differences(there, there) == []


def test_counts_that_do_not_add_up_fail() -> None:
    StageCounts(4, 1, 1, 1, 1, {"no_findings": 1}, {"not_sampled": 1}).check("studies")
    with pytest.raises(CheckFailed, match="5 read = 1 kept"):
        StageCounts(5, 1, 1, 1, 1, {"no_findings": 1}, {"not_sampled": 1}).check("studies")
    with pytest.raises(CheckFailed, match="reasons add up to 0, not 1"):
        StageCounts(1, 0, 1).check("studies")


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        (["x", "--token", "abc"], ["x", "--token", "***"]),
        (["x", "--api-key=abc"], ["x", "--api-key=***"]),
        (["x", "pg://me:pw@host/db"], ["x", "pg://***@host/db"]),
        (["x", "--base-url=http://u:p@h/v1"], ["x", "--base-url=http://***@h/v1"]),
        (["x", "https://h/a?key=abc&b=1"], ["x", "https://h/a?key=***&b=1"]),
        (["x", "--max-tokens", "50"], ["x", "--max-tokens", "50"]),
        (["x", "--text-col", "TEXT"], ["x", "--text-col", "TEXT"]),
    ],
)
def test_a_command_shows_no_secret(command: list[str], shown: list[str]) -> None:
    assert redact_command(command) == shown


def test_configuration_shows_no_secret_at_any_depth() -> None:
    assert redact({"a": [{"password": "x"}], "url": "http://u:p@h"}) == {
        "a": [{"password": "***"}],
        "url": "http://***@h",
    }


def test_a_manifest_is_read_as_it_was_written(tmp_path: Path) -> None:
    made = Manifest(
        verb="build echo",
        data_class="restricted",
        identity={"seed": 1},
        clinqa="0.1",
        command=["clinqa", "build"],
        configuration={"profile": "default"},
        seeds={"seed": 1},
        inputs=[FileRecord("a.csv", "00", 5, 2)],
        outputs=[],
        counts={"studies": StageCounts(2, 1, 1, rejected_by_reason={"no_findings": 1})},
        started="2026-01-01T00:00:00Z",
        finished="2026-01-01T00:00:01Z",
        seconds=1.0,
        versions=library_versions(),
        warnings=["w"],
        accepted=[AcceptedChange("set", "a.parquet", "00", "11")],
    )
    path = tmp_path / "manifest.json"
    path.write_text(made.to_json())
    assert Manifest.read(path) == made
    body = json.loads(path.read_text())
    assert body["counts"]["studies"]["sum"].startswith("2 read = 1 kept + 1 rejected")
    assert body["fingerprint"] == fingerprint({"seed": 1})
    assert "workers" in body["not_identity"]
    assert {"python", "pyarrow", "numpy"} <= body["versions"].keys()


@pytest.mark.parametrize("text", ["", "[]", "{", '{"tool": "clinqa"}', "\xff"])
def test_what_is_no_manifest_is_a_clear_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "manifest.json"
    path.write_text(text, encoding="latin-1")
    with pytest.raises(ConfigError):
        Manifest.read(path)


def test_the_hash_of_a_file_is_that_of_its_bytes(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"abc")
    assert sha256_file(tmp_path / "f").startswith("ba7816bf")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("counts", {"studies": {"read": 1, "kept": "x"}}),
        ("counts", {"studies": {"read": 1, "kept": 1, "rejected_by_reason": {"a": "x"}}}),
        ("counts", {"studies": []}),
        ("identity", []),
        ("warnings", [1]),
        ("command", "clinqa"),
        ("outputs", [{"name": 1, "sha256": "", "bytes": 1}]),
        ("outputs", [{"name": "a", "sha256": "", "bytes": "1"}]),
        ("outputs", [{}]),
    ],
)
def test_a_garbled_part_is_an_error_when_it_is_read(
    tmp_path: Path, key: str, value: object
) -> None:
    made = Manifest(verb="v", data_class="public", identity={}, clinqa="0").to_json()
    body = {**json.loads(made), key: value}
    (tmp_path / "m.json").write_text(json.dumps({**body, "seal": seal_of(body)}))
    with pytest.raises(ConfigError, match="lacks or garbles"):
        Manifest.read(tmp_path / "m.json")


def test_a_manifest_of_brackets_or_of_another_version_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "m.json").write_text("[" * 200_000)
    with pytest.raises(ConfigError, match="damaged"):
        Manifest.read(tmp_path / "m.json")
    (tmp_path / "m.json").write_text('{"tool": "clinqa", "format": "clinqa-manifest/9"}')
    with pytest.raises(ConfigError, match="another version made the folder"):
        Manifest.read(tmp_path / "m.json")
