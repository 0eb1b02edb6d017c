from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest

from clinqa.core.errors import ConfigError
from clinqa.kinds.registry import FACETS, can, kind_named, kinds


def test_each_folder_is_a_kind() -> None:
    assert [kind.name for kind in kinds()] == ["long_form", "multiple_choice", "true_false"]


def test_an_unknown_kind_is_an_error_that_names_those_there_are() -> None:
    with pytest.raises(ConfigError, match="long_form, multiple_choice, true_false"):
        kind_named("essay")


def test_what_a_kind_cannot_do_is_a_clear_error() -> None:
    kind = replace(kind_named("true_false"), facets=frozenset({"columns"}))
    missing = next(name for name in FACETS if not kind.has(name))
    with pytest.raises(ConfigError, match=r"items of kind true_false cannot be .*kinds that can: "):
        kind.facet(missing)


def test_who_can_is_told_by_name() -> None:
    assert can("columns") == "long_form, multiple_choice, true_false"


def test_the_records_of_kinds_load_nothing_heavy() -> None:
    code = (
        "import sys; from clinqa.kinds.registry import kinds; kinds(); "
        "print([m for m in ('numpy', 'pyarrow', 'yaml', 'scipy') if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
