"""The options of a verb, told once: a frozen dataclass whose fields say all there is to say.

The command line, a study file and Python read the same fields: type, default, bounds, choices,
help, how the flag is called, and which facet or ability a kind of item must have for it.

    @dataclass(frozen=True, kw_only=True)
    class ScoreOptions(OutputOptions):
        draws: int = option(1000, flags="--resamples", low=100, metavar="N", help="Samples drawn.")

A field without a default must be given. A sequence is a flag that may be given again.
"""

from __future__ import annotations

import dataclasses
import difflib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeVar

from clinqa.core.errors import ConfigError
from clinqa.core.records import DataClass

__all__ = [
    "BadOption",
    "DrawingOptions",
    "LocalOptions",
    "Option",
    "Options",
    "OutputOptions",
    "PayingOptions",
    "ReadingOptions",
    "SamplingOptions",
    "SendingOptions",
    "SourceOptions",
    "option",
    "options_of",
    "varied",
]

SENT_FIELDS = ("temperature", "top_p", "stop", "seed", "system", "max_tokens", "stream", "store")
"""What `--leave-out` can name; how each is left out is for `models.remote.refusals`."""
_KEY = "clinqa"
_LARGEST = 2**63 - 1


class BadOption(ConfigError):
    """An option by its name, and what is wrong with it."""

    def __init__(self, name: str, said: str) -> None:
        super().__init__(f"{name}: {said}")
        self.name = name


@dataclass(frozen=True, slots=True)
class Option:
    """What one field of the options says of itself.

    One whose `default` is `...` must be given. `low` and `high` bound a number and are allowed
    themselves unless `above` or `below` says that they are not. `needs` is a facet or an ability
    of kinds (`clinqa.kinds.registry`). `split` is what parts a value into several. One that is not
    `shown` is for Python alone.
    """

    name: str = ""
    default: Any = ...
    help: str = ""
    metavar: str | None = None
    flags: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    above: bool = False
    below: bool = False
    choices: tuple[str, ...] = ()
    needs: str = ""
    split: str = ""
    shown: bool = True

    @property
    def flag(self) -> str:
        """What it is called on the command line: the first of its flags."""
        return self.flags[0].partition("/")[0]

    @property
    def required(self) -> bool:
        """Must it be given?"""
        return self.default is ...

    def fault(self, value: Any) -> str:
        """What is wrong with a value out of bounds or choices; None is no value.

        >>> Option(low=1).fault(0), Option(choices=("a", "b")).fault("a")
        ('must be at least 1', '')
        """
        if value is None:
            return ""
        several = value if isinstance(value, tuple | list) else (value,)
        if any(isinstance(one, int) and abs(one) > _LARGEST for one in several):
            return "is too large a number"
        if self.choices and not set(several) <= set(self.choices):
            return f"must be one of {', '.join(self.choices)}"
        return "" if self._within(value) else f"must be {self.bounds}"

    @property
    def bounds(self) -> str:
        """The bounds in words.

        >>> Option(low=0, high=1, above=True).bounds, Option(low=1).bounds
        ('above 0 and at most 1', 'at least 1')
        """
        if not (self.above or self.below or self.low is None or self.high is None):
            return f"{self.low:,g} to {self.high:,g}"
        low = "" if self.low is None else f"{'above' if self.above else 'at least'} {self.low:,g}"
        high = "" if self.high is None else f"{'below' if self.below else 'at most'} {self.high:,g}"
        if isinstance(self.low, float) and not high:
            return f"a number {low if self.above else f'of {low}'}"
        return " and ".join(filter(None, (low, high)))

    def _within(self, value: Any) -> bool:
        if self.low is None and self.high is None:
            return True
        low = -math.inf if self.low is None else self.low
        high = math.inf if self.high is None else self.high
        if not (low <= value <= high and math.isfinite(value)):  # a NaN is not at least anything
            return False
        return not (self.above and value == low) and not (self.below and value == high)


def option(default: Any = ..., *, flags: str = "", **said: Any) -> Any:
    """A field of options; `said` is what an `Option` takes, `flags` its names parted by blanks.

    `--name` after the field's own name unless given; `--name/--no-name` for what can be denied.
    """
    return _field(Option(default=default, flags=tuple(flags.split()), **said))


def varied(group: type[Options], name: str, default: Any = ..., **said: Any) -> Any:
    """The field of a shared group with another default, help or bound."""
    told = next(one for one in options_of(group) if one.name == name)
    default = told.default if default is ... else default
    return _field(dataclasses.replace(told, default=default, **said))


def _field(told: Option) -> Any:
    default = dataclasses.MISSING if told.required else told.default
    return dataclasses.field(default=default, metadata={_KEY: told})


OPTIONS = TypeVar("OPTIONS", bound="Options")


@dataclass(frozen=True)
class Options:
    """Base of the options of every verb."""

    def check(self) -> None:
        """Raise ConfigError for a value that means nothing."""
        for one in options_of(type(self)):
            if fault := one.fault(getattr(self, one.name)):
                raise ConfigError(f"{one.flag} {fault}")

    @classmethod
    def from_mapping(cls, given: Mapping[str, Any]) -> Self:
        """The options of a file's mapping, checked.

        BadOption for a key that is none (it names the nearest), for one that is missing or stands
        there without a value, and for a value of another type or out of bounds.
        """
        known = {one.name: one for one in options_of(cls)}
        for key, value in given.items():
            if not isinstance(key, str):  # of 7 or null no name is near
                raise BadOption(str(key), "a key is a name, and this is none")
            if key not in known:
                near = difflib.get_close_matches(key, known, n=1, cutoff=0.0)
                raise BadOption(key, f"no such option; did you mean {near[0]}?")
            if value is None:
                raise BadOption(key, "has no value; give one, or leave the key out")
        for one in known.values():
            if one.required and one.name not in given:
                raise BadOption(one.name, "must be given")
        made = _typed(cls, given)
        for name in given:
            if fault := known[name].fault(getattr(made, name)):
                raise BadOption(name, fault)
        made.check()
        return made


def _typed(options: type[OPTIONS], given: Mapping[str, Any]) -> OPTIONS:
    """The values in the types of their fields; BadOption where one is of another."""
    from pydantic import TypeAdapter, ValidationError  # not for every call of the command line

    try:
        return TypeAdapter(options).validate_python(dict(given))
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        raise BadOption(str(first["loc"][0]), first["msg"]) from None


def options_of(options: type[Options]) -> Iterator[Option]:
    """What each field says: a class's own fields first, then those of its groups in turn."""
    fields = {one.name: one for one in dataclasses.fields(options)}
    own = (name for part in options.__mro__ for name in vars(part).get("__annotations__", ()))
    for name in dict.fromkeys(own):
        told = fields[name].metadata.get(_KEY)
        if told is not None:
            flags = told.flags or (f"--{name.replace('_', '-')}",)
            yield dataclasses.replace(told, name=name, flags=flags)


@dataclass(frozen=True, kw_only=True)
class OutputOptions(Options):
    """What every verb that makes a folder can be told."""

    data_class: DataClass | None = option(
        None, help="That of what is read, unless it is raised here."
    )
    seed: int = option(0, metavar="N", help="Seed of every random choice.")
    limit: int | None = option(None, low=1, metavar="N", help="Read the first N only.")
    dry_run: bool = option(False, help="Say what would be read and written, and stop.")
    fresh: bool = option(False, help="Delete our own results in the output folder and start again.")


@dataclass(frozen=True, kw_only=True)
class ReadingOptions(Options):
    """What every verb that reads finished folders can be told."""

    accept_changed: bool = option(
        False,
        help="Go on with files that are not as their folder's manifest says; noted in the results"
        " and in every figure's signature.",
    )


@dataclass(frozen=True, kw_only=True)
class SourceOptions(OutputOptions):
    """What every verb that reads what no dataset is made of yet can be told."""

    data_class: DataClass = option(
        DataClass.PUBLIC, help="How far the text may travel; results inherit it."
    )


@dataclass(frozen=True, kw_only=True)
class DrawingOptions(ReadingOptions, OutputOptions):
    """What every verb that gives intervals can be told."""

    seed: int = varied(OutputOptions, "seed", low=0)
    draws: int = option(
        1000,
        flags="--resamples",
        low=100,
        metavar="N",
        help="Samples drawn, where an interval is made from samples.",
    )


@dataclass(frozen=True, kw_only=True)
class SamplingOptions(Options):
    """How a model decodes."""

    temperature: float = option(0.0, low=0.0, metavar="X", help="0: greedy.")
    top_p: float = option(1.0, low=0.0, high=1.0, above=True, metavar="X", help="Nucleus sampling.")
    max_tokens: int = option(128, low=1, metavar="N", help="Longest answer.")
    stop: Sequence[str] = option((), metavar="TEXT", help="Ends an answer; repeatable.")


@dataclass(frozen=True, kw_only=True)
class SendingOptions(Options):
    """How a model behind a server is reached, and what may be sent to it."""

    base_url: str | None = option(None, metavar="URL", help="Where a remote model is served.")
    api_key_env: str | None = option(
        None, metavar="NAME", help="Environment variable with the key."
    )
    max_parallel: int = option(32, low=1, metavar="N", help="Requests at once.")
    timeout: float = option(120.0, low=0.1, metavar="SECONDS", help="For one request.")
    leave_out: Sequence[str] = option(
        (),
        choices=SENT_FIELDS,
        help="A field of requests that the server refuses; repeatable. Else it is found out.",
    )
    attestations: Path | None = option(
        None, metavar="FILE", help="Which hosts may see restricted text, and why."
    )


@dataclass(frozen=True, kw_only=True)
class PayingOptions(SendingOptions):
    """The same where it costs money."""

    price_file: Path | None = option(
        None, flags="--prices", metavar="FILE", help="Prices for a million tokens, YAML."
    )
    max_cost: float | None = option(
        None, low=0.0, above=True, metavar="X", help="Stop, resumable, before more is spent."
    )


@dataclass(frozen=True, kw_only=True)
class LocalOptions(Options):
    """How a model on this machine is run."""

    dtype: str | None = option(None, metavar="T", help="Of a local model.")
    device: str | None = option(None, metavar="D", help="Of a local model.")
    threads: int | None = option(None, low=1, metavar="N", help="Of a local model.")
    batch_size: int | None = option(None, low=1, metavar="N", help="Of a local model.")
