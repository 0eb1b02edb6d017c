"""What the repeats of a run vary; repeats that would vary nothing are not paid for."""

from __future__ import annotations

from dataclasses import dataclass

from clinqa.asking.predict_options import PredictOptions
from clinqa.core.errors import ConfigError
from clinqa.models.protocol import Model
from clinqa.models.registry import kind_of

__all__ = ["Repeats", "check_repeats", "plan_repeats"]


@dataclass(frozen=True, slots=True)
class Repeats:
    """How often each item is asked.

    `vary` is what differs between repeats, and so what their spread means: sampling, shots or
    training-seed; "deterministic" where repeats were asked for and could only say the same again;
    "none" where one was asked for.
    """

    asked: int
    run: int
    vary: str
    note: str = ""

    def draw(self, repeat: int) -> int:
        """Which draw of shots a repeat uses; all the same unless it is the shots that vary."""
        return repeat if self.vary == "shots" else 0


def check_repeats(options: PredictOptions) -> None:
    """Raise ConfigError for shots or repeats that cannot be, before anything is opened."""
    if options.shots and not kind_of(options.model).takes_shots:
        raise ConfigError(f"--shots {options.shots}: {options.model} reads no shots; use --shots 0")
    if options.vary == "training-seed":
        given = len(options.adapters)
        if not given:
            raise ConfigError("--vary training-seed needs an --adapter for each repeat")
        if options.repeats not in (1, given):
            raise ConfigError(f"--repeats {options.repeats} but {given} --adapter; one a repeat")
    if options.vary == "shots" and not options.shots:
        raise ConfigError("--vary shots needs --shots of 1 or more")


def plan_repeats(options: PredictOptions, model: Model) -> Repeats:
    """How many repeats there will be and what they vary.

    Unless `--vary` says so: sampling where there is a temperature, else the shots where there are
    any. Greedy decoding of one prompt runs once; a service, which may answer otherwise all the
    same, is asked again only where `--vary sampling` stands.
    """
    check_repeats(options)
    if options.vary == "training-seed":
        given = len(options.adapters)
        return Repeats(given, given, "training-seed")
    repeats = options.repeats
    if repeats == 1:
        return Repeats(1, 1, "none")
    vary = options.vary or ("shots" if options.shots and not options.temperature else "sampling")
    # a baseline has nothing to sample
    samples = options.temperature > 0 and kind_of(options.model).takes_shots
    if vary == "sampling" and not samples and (model.deterministic or not options.vary):
        note = (
            f"greedy decoding of one prompt by {options.model}: each item is asked once, not "
            f"{repeats} times, and the spread is deterministic"
        )
        if not model.deterministic:
            note += " (a service may still answer otherwise: --vary sampling asks it again)"
        return Repeats(repeats, 1, "deterministic", note)
    return Repeats(repeats, repeats, vary)
