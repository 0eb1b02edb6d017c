"""Outside its own rooms no code, YAML or template names a kind or asks for its columns."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import clinqa
from clinqa.kinds.registry import kinds

HOME = Path(clinqa.__file__).parent
THEIRS = ("kinds", "builders", "simulate")
"""Rooms that make items of a kind, or are one."""
NAMES = re.compile("|".join(re.escape(kind.name) for kind in kinds()), re.I)
COLUMNS = frozenset(
    (
        "pair_id",
        "source_text",
        "statement_seen",
        "answer_index",
        "needs_image",
        "garbled",
        "question_type",
    )
)
"""Columns that only one kind has and whose names are no everyday word."""


def _files(*endings: str) -> list[Path]:
    found = (path for ending in endings for path in HOME.rglob(f"*{ending}"))
    return sorted(p for p in found if p.relative_to(HOME).parts[0] not in THEIRS)


def _words(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Names and texts of a module, but for its docstrings."""
    told = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told:
            yield node.lineno, node.value
        elif isinstance(node, ast.Attribute):
            yield node.lineno, node.attr
        elif isinstance(node, ast.Name):
            yield node.lineno, node.id
        elif isinstance(node, ast.ImportFrom):
            yield node.lineno, node.module or ""
            yield from ((node.lineno, alias.name) for alias in node.names)


def _named(path: Path) -> list[str]:
    found = []
    where = path.relative_to(HOME)
    # readers of banks know how others call their columns
    columns = frozenset() if where.parts[:2] == ("sources", "banks") else COLUMNS
    for line, word in _words(ast.parse(path.read_text("utf-8"))):
        if NAMES.search(word) or word in columns:
            found.append(f"{where}:{line}: {word[:60]}")
    return found


def test_no_code_outside_the_kinds_names_one() -> None:
    found = [line for path in _files(".py") for line in _named(path)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("ending", [".yaml", ".j2", ".css"])
def test_no_data_or_template_outside_the_kinds_names_one(ending: str) -> None:
    found = [path.name for path in _files(ending) if NAMES.search(path.read_text("utf-8"))]
    assert not found, found


def test_no_kind_imports_another() -> None:
    found = []
    for kind in kinds():
        others = [f"clinqa.kinds.{other.name}" for other in kinds() if other is not kind]
        for path in sorted((HOME / "kinds" / kind.name).rglob("*.py")):
            for line, word in _words(ast.parse(path.read_text("utf-8"))):
                if word.startswith(tuple(others)):
                    found.append(f"{path.relative_to(HOME)}:{line}: {word}")
    assert not found, "\n".join(found)
