"""Small YAML files: what is wrong is said with its line, and nothing is lost in silence."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from pydantic import BaseModel

from clinqa.core.errors import ConfigError
from clinqa.core.yamlfile import parse_yaml, read_bytes, validated


class Spec(BaseModel):
    sizes: dict[str, int]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("sizes:\n  a: 1\n  a: 2\n", ":3: the key 'a' stands on line 2 already"),
        ("sizes:\n  a: 1\n  b: many\n", ":3: sizes.b: "),
        ("- 1\n", ":1: a mapping is expected"),
        ("", ":1: a mapping is expected"),
        ("sizes: [1\n", ": not valid YAML"),
        ("sizes: !!python/object:os.system {}\n", "not valid YAML"),
    ],
)
def test_a_mistake_is_named_with_its_line(text: str, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        validated(Path("spec.yaml"), text.encode(), Spec)
    assert words in str(caught.value)


def test_a_list_is_read_where_one_may_stand() -> None:
    assert parse_yaml(Path("list.yaml"), b"- 1\n- 2\n", mapping=False)[0] == [1, 2]
    with pytest.raises(ConfigError, match="empty"):
        parse_yaml(Path("list.yaml"), b"# nothing\n", mapping=False)


def test_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(b"\xef\xbb\xbfsizes: {a: 1}")
    read = validated(tmp_path / "a.yaml", read_bytes(tmp_path / "a.yaml", 99), Spec)
    assert read.sizes == {"a": 1}


def test_pipes_folders_and_large_files_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "large").write_bytes(b"x" * 100)
    for name in ("pipe", ".", "large", "absent"):
        with pytest.raises(ConfigError):
            read_bytes(tmp_path / name, 99)
