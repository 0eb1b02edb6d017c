"""A verb's flags come from its options."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typer

from clinqa.cli.commands import Out, command
from clinqa.cli.outcome import Outcome
from clinqa.core.errors import ConfigError
from clinqa.core.options import OutputOptions, option
from clinqa.core.records import DataClass
from clinqa.kinds.registry import ItemKind, refuse_unused


@dataclass(frozen=True, kw_only=True)
class Some(OutputOptions):
    words: Sequence[str] = option((), flags="--word")
    crossed: Sequence[Sequence[str]] = option((), split=",")
    kind: str | None = option(None, choices=("a", "b"))
    both: bool | None = option(None, flags="--both/--not-both")
    secret: int = option(3, shown=False)
    columns: int = option(1, needs="columns", help="how many.")


def verb(out: Out, options: Some) -> Outcome:
    """Do it."""
    return Outcome("do", out, {"options": options})


def call(*arguments: str) -> Any:
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command("do")(command(verb))
    made = typer.main.get_command(app)
    with made.make_context("do", ["--out", "x", *arguments]) as context:
        outcome = made.invoke(context)
    assert outcome.out == Path("x")
    return outcome.counts["options"]


def test_what_is_not_given_is_the_default() -> None:
    assert call() == Some()


def test_flags_become_the_fields_in_their_own_types() -> None:
    told = call(
        "--word", "a", "--word", "b", "--crossed", "age, sex", "--kind", "b", "--not-both",
        "--data-class", "phi", "--limit", "3", "--dry-run", "--json",
    )  # fmt: skip
    assert told == Some(
        words=("a", "b"), crossed=(("age", "sex"),), kind="b", both=False,
        data_class=DataClass.PHI, limit=3, dry_run=True,
    )  # fmt: skip
    assert type(told.kind) is str


@pytest.mark.parametrize("wrong", [["--kind", "c"], ["--limit", "0"], ["--secret", "4"]])
def test_what_typer_can_refuse_it_refuses(wrong: list[str]) -> None:
    with pytest.raises(Exception, match=r".") as refused:
        call(*wrong)
    assert wrong[0] in refused.value.format_message()  # type: ignore[attr-defined]


def test_an_option_that_a_kind_cannot_use_is_refused_by_one_rule() -> None:
    kind = ItemKind("number", "numbers", "nowhere", frozenset())
    refuse_unused(Some(), kind)
    with pytest.raises(ConfigError, match=r"--columns is for .*long_form.* items, not number"):
        refuse_unused(Some(columns=2), kind)
