"""The file of attestations: complete and right, or an error."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clinqa.core.errors import ConfigError
from clinqa.privacy.attestation import load_attestations

GOOD = {
    "host": "Models.Example.",
    "who": "A. Steward",
    "purpose": "evaluation",
    "retention": "none",
    "until": "2027-01-31",
}


def written(tmp_path: Path, data: object) -> Path:
    path = tmp_path / "attestations.yaml"
    path.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
    path.chmod(0o600)
    return path


def test_json_and_yaml_bare_or_named_are_read_alike(tmp_path: Path) -> None:
    yaml = "- host: models.example\n  who: A. Steward\n  purpose: evaluation\n"
    yaml += "  retention: none\n  until: 2027-01-31\n"
    read = [
        load_attestations(written(tmp_path, data))
        for data in ([GOOD], {"attestations": [GOOD]}, yaml)
    ]
    assert read[0] == read[1] == read[2]
    assert read[0][0].host == "models.example"


def test_none_given_is_none() -> None:
    assert load_attestations(None) == ()


@pytest.mark.parametrize(
    "fault",
    [
        {"who": ""},
        {"who": None},
        {"until": "soon"},
        {"until": None},
        {"host": "models.example:0"},
        {"host": "*"},
        {"host": "*.example"},
        {"host": "https://models.example/v1"},
        {"host": "me:pw@models.example"},
        {"purpose": " "},
        {"retention": ""},
        {"plain_http": "yes please"},
        {"plain_http": 1},
        {"unknown": 1},
    ],
)
def test_an_incomplete_or_odd_attestation_is_an_error_with_its_number(
    tmp_path: Path, fault: dict[str, object]
) -> None:
    entry = {name: value for name, value in (GOOD | fault).items() if value is not None}
    with pytest.raises(ConfigError, match="attestation 2") as wrong:
        load_attestations(written(tmp_path, [GOOD, entry]))
    assert "pw" not in str(wrong.value)


@pytest.mark.parametrize("text", ["", "a: b", "[", "- 1", "!!python/object:os.system x", "\x00"])
def test_what_is_no_list_of_attestations_is_an_error(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError):
        load_attestations(written(tmp_path, text))


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        load_attestations(tmp_path / "none.yaml")
    with pytest.raises(ConfigError, match="a file"):
        load_attestations(tmp_path)


def test_an_attestation_without_an_end_holds(tmp_path: Path) -> None:
    held = load_attestations(written(tmp_path, [GOOD | {"until": "9999-12-31"}]))
    assert held[0].expires == float("inf")
