"""The tree of verbs."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from clinqa import __version__

__all__ = ["invoke", "verb_named_by"]

VERBS = {
    "demo": "Made reports to a page: a checked dataset, two baselines asked, their answers scored.",
    "build": "Make a dataset from clinical text.",
    "verify": "Check a dataset: does all that it claims hold?",
    "show": "Show a dataset: flow, splits, items by abnormality or specialty, rejects; pairs: a "
    "funnel.",
    "train": "Fine-tune a model on a dataset's train split; resumable. Or merge an adapter.",
    "predict": "Ask a model every question of a split; resumable item by item.",
    "score": "Score runs: text metrics, clinical reading, intervals, paired tests.",
    "audit": "Audit runs for fairness: scores by group, gaps beside what chance alone gives.",
    "report": "Make a page of scores: one file that fetches nothing and runs nothing.",
    "export": "Write a dataset for another tool.",
    "study": "Whole studies: train, ask, compare, draw.",
    "lexicon": "Curate the statements a pack knows.",
    "terms": "Clinical terms: find them, compare models on them.",
    "simulate": "Write made reports whose truth is known.",
}
"""What `clinqa --help` tells of each verb, in the order in which a newcomer needs them.

A verb is loaded when it is named: the file of its name in this package holds it.
"""


class Verbs(typer.core.TyperGroup):
    """The verbs, each made from its file when it is asked for."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        told = typer.core.TyperCommand
        self.commands = {name: told(name, help=text) for name, text in VERBS.items()}

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of this name, with its options; None where there is none."""
        return loaded(cmd_name) if cmd_name in VERBS else None

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the verbs without loading them."""
        typer.core.TyperGroup(commands=dict(self.commands)).format_commands(ctx, formatter)


def loaded(name: str) -> Any:
    """A verb as a command: a function, or a group of several that `group` made."""
    from clinqa.cli.commands import command

    verb = getattr(importlib.import_module(f"clinqa.cli.{name}"), name)
    if isinstance(verb, typer.Typer):
        return typer.main.get_command(verb)
    alone = typer.Typer(add_completion=False, rich_markup_mode=None)
    alone.command(name)(command(verb))
    return typer.main.get_command(alone)


# no pretty tracebacks: they print local variables, and those hold record text; plain help: it
# reads the same in a pipe, takes no markup from anywhere and loads no rich
app = typer.Typer(
    name="clinqa",
    cls=Verbs,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"clinqa {__version__}")
        raise typer.Exit


@app.callback()
def clinqa(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Clinical text to question-answering datasets people can trust."""


def invoke(arguments: Sequence[str]) -> object:
    """What the named verb returns; exceptions pass.

    Not through the app's own main: that turns a closed pipe or an interrupt into an exit before
    anyone can say which of the two it was.
    """
    command = typer.main.get_command(app)
    try:
        with command.make_context("clinqa", list(arguments)) as context:
            return command.invoke(context)
    except typer.Exit as end:
        return end.exit_code


def verb_named_by(arguments: Sequence[str]) -> str:
    """The verb a command line means, as far as it can be told: `build echo`, or `` for none."""
    names: list[str] = []
    commands: Any = VERBS
    for argument in arguments:
        if argument not in commands:  # what follows an option may be its value
            break
        commands = getattr(commands[argument] if names else loaded(argument), "commands", {})
        names.append(argument)
    return " ".join(names)
