"""What a manifest's JSON may not hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from clinqa.core.errors import ConfigError
from clinqa.core.finished import DATASET, open_finished
from clinqa.core.strict_json import strict_json
from scoring.binary.made_statements import dataset


@pytest.mark.parametrize("text", ['{"a": 1, "a": 2}', '{"a": NaN}', '{"a": -Infinity}', "{"])
def test_a_key_twice_and_numbers_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(ValueError):
        strict_json(text)


@pytest.mark.parametrize(
    "line",
    ["- data-class:phi", "- data-class: PHI", '- "data-class:phi"', "data_class: phi # mine",
     "data-class: phi", "| data class | phi (patients) |"],
)  # fmt: skip
def test_the_class_on_a_card_is_read_in_any_spelling(tmp_path: Path, line: str) -> None:
    dataset(tmp_path / "set", 4)
    (tmp_path / "set/README.md").write_text(f"---\n{line}\n---\n")
    assert open_finished(tmp_path / "set", DATASET).data_class.value == "phi"
    (tmp_path / "set/README.md").write_text("---\n- data-class:secret-ish\n---\n")
    with pytest.raises(ConfigError, match="no such data class"):
        print(open_finished(tmp_path / "set", DATASET).data_class)
