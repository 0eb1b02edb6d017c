"""The tree of verbs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from clinqa import __version__
from clinqa.cli.audit import audit
from clinqa.cli.build import build
from clinqa.cli.demo import demo
from clinqa.cli.export import export
from clinqa.cli.lexicon import lexicon
from clinqa.cli.predict import predict
from clinqa.cli.report import report
from clinqa.cli.score import score
from clinqa.cli.show import show
from clinqa.cli.simulate import simulate
from clinqa.cli.study import study
from clinqa.cli.terms import terms
from clinqa.cli.train import train
from clinqa.cli.verify import verify

__all__ = ["invoke", "verb_named_by"]

ORDER = (
    "demo", "build", "verify", "show", "train", "predict", "score", "audit", "report", "export",
    "study", "lexicon", "terms", "simulate",
)  # fmt: skip


class Verbs(typer.core.TyperGroup):
    """The verbs in the order in which a newcomer needs them."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Names of the verbs; one that ORDER forgot comes last."""
        names = super().list_commands(ctx)
        return sorted(names, key=lambda name: ORDER.index(name) if name in ORDER else len(ORDER))


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
app.command("demo")(demo)
app.add_typer(build)
app.command("verify")(verify)
app.command("export")(export)
app.command("show")(show)
app.command("train")(train)
app.command("predict")(predict)
app.command("score")(score)
app.command("audit")(audit)
app.command("report")(report)
app.add_typer(study)
app.add_typer(lexicon)
app.add_typer(terms)
app.add_typer(simulate)


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
    commands = getattr(typer.main.get_command(app), "commands", {})
    names: list[str] = []
    for argument in arguments:
        if argument not in commands:  # what follows an option may be its value
            break
        names.append(argument)
        commands = getattr(commands[argument], "commands", {})
    return " ".join(names)
