"""No import circles and no arrow upwards, with imports inside functions and by name counted."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Container, Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src"


def name_of(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def named_in(tree: ast.AST, modules: Container[str]) -> Iterator[str]:
    """The modules that import statements name, and those that a text names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            assert not node.level, "imports are absolute here"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in modules else node.module or ""
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


@cache
def imports() -> dict[str, set[str]]:
    """The modules that each module names."""
    trees = {name_of(p): ast.parse(p.read_text("utf-8")) for p in SOURCE.rglob("*.py")}
    return {
        module: {name for name in named_in(tree, trees) if name in trees and name != module}
        for module, tree in trees.items()
    }


def test_the_graph_sees_imports_inside_functions_and_by_name() -> None:
    assert "clinqa.reading.scan_compiled" in imports()["clinqa.reading.scan"]
    assert "clinqa.models.remote.openai" in imports()["clinqa.models.registry"]


def test_no_modules_import_each_other_in_a_circle() -> None:
    try:
        list(TopologicalSorter(imports()).static_order())
    except CycleError as error:
        raise AssertionError(" -> ".join(reversed(error.args[1]))) from None


def test_rooms_import_only_rooms_below_them() -> None:
    config = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contracts = config["tool"]["importlinter"]["contracts"]
    (contract,) = (one for one in contracts if one["type"] == "layers")
    layers = [[room.strip() for room in layer.split("|")] for layer in contract["layers"]]
    height = {room: at for at, layer in enumerate(layers) for room in layer}

    def room_of(module: str) -> str:
        return ".".join(module.split(".")[:2])

    wrong = [
        f"{module} imports {other}"
        for module, others in sorted(imports().items())
        for other in sorted(others)
        if (here := room_of(module)) != (there := room_of(other))
        and here in height
        and there in height
        and height[there] <= height[here]
    ]
    assert not wrong
