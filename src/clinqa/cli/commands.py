"""Typer commands from functions and the options dataclasses that they take.

A verb is a function of its arguments and, if it has options, of `options: SomeOptions`:

    def score(dataset: DatasetArgument, runs: RunsArgument, out: Out, options: ScoreOptions)

`command` gives typer a function with a flag for each field of `SomeOptions` (see
`clinqa.core.options`) and `--json`, and calls the verb with the dataclass.

The arguments that verbs share, worded once. Their options are dataclasses of their rooms.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer

from clinqa.cli.outcome import Outcome
from clinqa.core.options import Option, Options, options_of
from clinqa.kinds.registry import kinds

__all__ = [
    "BuildArgument",
    "DatasetArgument",
    "DirectoryArgument",
    "DryRun",
    "Json",
    "Limit",
    "Out",
    "RunsArgument",
    "Seed",
    "command",
    "group",
]

Out = Annotated[
    Path,
    typer.Option("--out", metavar="DIR", help="Folder of the results: absent, empty, or ours."),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Say what would be read and written, and stop.")
]
Limit = Annotated[
    int | None, typer.Option("--limit", min=1, metavar="N", help="Read the first N only.")
]
Json = Annotated[
    bool, typer.Option("--json", help="Write one JSON object to stdout, also on errors.")
]
Seed = Annotated[int, typer.Option("--seed", metavar="N", help="Seed of every random choice.")]
DatasetArgument = Annotated[Path, typer.Argument(metavar="DATASET", help="The folder of a build.")]
BuildArgument = Annotated[Path, typer.Argument(metavar="DATASET", help="Folder made by a build.")]
RunsArgument = Annotated[
    list[Path], typer.Argument(metavar="RUN...", help="Folders made by clinqa predict on it.")
]
DirectoryArgument = Annotated[
    Path, typer.Argument(metavar="DIR", help="A finished dataset folder.")
]


def command(verb: Callable[..., Outcome]) -> Callable[..., Outcome]:
    """What typer registers for this verb; the verb itself stays a plain function."""
    given = dict(inspect.signature(verb, eval_str=True).parameters)
    taken = given.pop("options", None)
    options: type[Options] = taken.annotation if taken else Options
    fields = [one for one in options_of(options) if one.shown]
    hints = get_type_hints(options)
    flags = [_parameter(one, hints[one.name]) for one in fields]
    json = [] if "json" in given else [_keyword("json", Json, False)]
    own = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in given.values()]

    def called(**values: Any) -> Outcome:
        told = {one.name: _value(one, values[one.name]) for one in fields}
        told = {name: value for name, value in told.items() if value is not None}
        arguments = {name: values[name] for name in given}
        return verb(**arguments, options=options(**told)) if taken else verb(**arguments)

    called.__name__, called.__doc__ = verb.__name__, verb.__doc__
    parameters = [*own, *flags, *json]
    called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {one.name: one.annotation for one in parameters}
    return called


def group(name: str, told: str, verbs: Mapping[str, Callable[..., Outcome]]) -> typer.Typer:
    """Several verbs under one name."""
    made = typer.Typer(name=name, help=told, add_completion=False, rich_markup_mode=None)
    for own, verb in verbs.items():
        made.command(own)(command(verb))
    return made


_choice: Any = StrEnum  # made anew for each option


def _keyword(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
    )


def _parameter(one: Option, hint: Any) -> inspect.Parameter:
    """The flag of a field. Bounds that are not allowed themselves are left to `check`."""
    several = get_origin(hint) in (Sequence, tuple)
    inner: Any = get_args(hint)[0] if several else hint
    default = inspect.Parameter.empty if one.required else one.default
    if (several and not one.required) or default == "":
        default = None
    if one.choices:
        choice = _choice(one.name, [(name, name) for name in one.choices])
        inner = choice | None if type(None) in get_args(inner) else choice
        default = choice(default) if default in one.choices else default
    elif one.split:
        inner = str
    kind = list.__class_getitem__(inner) if several else inner
    kind = kind if default is not None else kind | None
    low, high = (None, None) if one.above or one.below else (one.low, one.high)
    said = typer.Option(*one.flags, help=_help(one), metavar=one.metavar, min=low, max=high)
    return _keyword(one.name, Annotated[kind, said], default)


def _help(one: Option) -> str:
    """What the flag does, after the kinds of items that it is for."""
    titles = [kind.title for kind in kinds() if one.needs and kind.has(one.needs)]
    if not titles:
        return one.help
    told = f"{' or '.join(titles)}: {one.help}"
    return told[0].upper() + told[1:]


def _value(one: Option, value: Any) -> Any:
    """What the field gets; None leaves it its default."""
    if isinstance(value, list):
        parts = [_value(one, each) for each in value]
        return tuple(parts)
    if one.split and isinstance(value, str):
        return tuple(part.strip() for part in value.split(one.split))
    return value.value if one.choices and isinstance(value, StrEnum) else value
