"""Small YAML files: read within a limit, without code, and no key may stand twice.

What is wrong is said with the file and the line.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from clinqa.core.errors import ConfigError

__all__ = ["Strict", "line_of", "parse_yaml", "read_bytes", "validated"]

SPEC = TypeVar("SPEC", bound=BaseModel)


class Strict(BaseModel):
    """A part of a file. Unknown keys are errors: a misspelt key must not be silently nothing."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


def read_bytes(path: Path, most: int) -> bytes:
    """The bytes of a regular file of at most `most` bytes, a byte order mark left out."""
    try:
        found = os.stat(path)
        if not stat.S_ISREG(found.st_mode):  # a pipe would wait for ever
            raise ConfigError(f"{path}: not a file")
        if found.st_size > most:
            raise ConfigError(f"{path}: larger than {most:,} bytes, which no such file needs")
        return path.read_bytes().removeprefix(b"\xef\xbb\xbf")
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror})") from error


def validated(path: Path, data: bytes, model: type[SPEC]) -> SPEC:
    """The mapping in `data` as `model` has it; ConfigError names the line of the first fault."""
    raw, tree = parse_yaml(path, data)
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        # a misspelt key is also a missing one: the one that stands in the file has the line
        first = min(error.errors(), key=lambda one: one["type"] != "extra_forbidden")
        where = ".".join(str(part) for part in first["loc"]) or "it"
        line = line_of(tree, first["loc"])
        raise ConfigError(f"{path}:{line}: {where}: {first['msg']}") from None


def parse_yaml(path: Path, data: bytes, *, mapping: bool = True) -> tuple[Any, yaml.Node]:
    """What stands in a YAML file and its tree, for lines; a key that stands twice is an error.

    Unless `mapping` is False it has to be a mapping.
    """
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(data)
    try:
        tree = loader.get_single_node()
        if tree is None or (mapping and not isinstance(tree, yaml.MappingNode)):
            raise ConfigError(f"{path}:1: {'a mapping is expected' if mapping else 'it is empty'}")
        _refuse_twice(path, tree)
        raw = loader.construct_document(tree)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 0
        raise ConfigError(f"{path}:{line}: not valid YAML: {error.problem}") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # ValueError: a 99th of May
        raise ConfigError(f"{path}: not valid YAML") from error
    finally:
        loader.dispose()
    return raw, tree


def _refuse_twice(path: Path, tree: yaml.Node) -> None:
    """YAML's parser lets the last of two equal keys win; the other would be lost in silence."""
    waiting, seen = [tree], set[int]()
    while waiting:
        node = waiting.pop()
        if id(node) in seen:  # an alias: the same node again
            continue
        seen.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            waiting += node.value
        elif isinstance(node, yaml.MappingNode):
            lines: dict[tuple[str, str], int] = {}
            for key, value in node.value:
                waiting += [key, value]
                if not isinstance(key, yaml.ScalarNode):
                    continue
                line, name = key.start_mark.line + 1, (key.tag, key.value)
                if name in lines:
                    raise ConfigError(
                        f"{path}:{line}: the key {key.value!r} stands on line {lines[name]} already"
                    )
                lines[name] = line


def line_of(tree: yaml.Node, loc: Iterable[int | str]) -> int:
    """The line where the value at `loc` stands, as far as the file goes along with it."""
    node: Any = tree
    line = 1
    for part in loc:
        found = None
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                if key.value == str(part):
                    line, found = key.start_mark.line + 1, value
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int):
            if part < len(node.value):
                found = node.value[part]
                line = found.start_mark.line + 1
        if found is None:
            return line
        node = found
    return line
