"""Annotated outputs for training and testing a reader of multiple-choice answers.

Each is an answer to a question of the bundled bank in one of some ninety phrasings (data), with the
letter it commits to. They are made up: no model wrote them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from random import Random
from typing import Any

import yaml

from clinqa.core.ids import rng

__all__ = ["MadeOutput", "made_outputs", "phrasings"]

_LETTERS = "ABCDEFGHIJ"
_SLOTS = ("L", "T", "S", "O", "U", "P", "V", "N", "W")


@dataclass(frozen=True, slots=True)
class MadeOutput:
    """An output and what it commits to. `phrasing` names the wording it was made with."""

    question: str
    options: tuple[str, ...]
    output: str
    letter: str | None
    phrasing: str


def phrasings() -> Mapping[str, Sequence[str]]:
    """The wordings, by whether they commit to an option."""
    file = resources.files("clinqa.simulate").joinpath("data/phrasings.yaml")
    data: dict[str, list[str]] = yaml.safe_load(file.read_text(encoding="utf-8"))
    return data


def made_outputs(seed: int = 0, each: int = 12) -> list[MadeOutput]:
    """So many outputs to each question of the bundled bank, options in a drawn order.

    >>> len(made_outputs(each=1)) == len({one.question for one in made_outputs(each=1)})
    True
    """
    wordings = [
        (f"{kind} {number}", text)
        for kind, found in phrasings().items()
        for number, text in enumerate(found)
    ]
    made = []
    for item in _bank():
        draw = rng(seed, "phrasings", item["id"])
        for name, text in draw.sample(wordings, min(each, len(wordings))):
            made.append(_output(item, name, text, draw))
    return made


def _output(item: Mapping[str, Any], name: str, text: str, draw: Random) -> MadeOutput:
    options = list(item["options"].values())
    draw.shuffle(options)
    # what is meant is no better known than what is right: any option will do
    places = draw.sample(range(len(options)), len(options))
    meant, other, third = places[:3] if len(places) > 2 else (*places, places[-1])
    fourth = places[3] if len(places) > 3 else third
    words = options[meant].split()
    short = " ".join(words[: max(1, (len(words) + 1) // 2)]) if len(words) > 2 else options[meant]
    filled = dict(
        zip(
            _SLOTS,
            (
                *(_LETTERS[meant], _styled(options[meant], draw), short),
                *(_LETTERS[other], _styled(options[other], draw)),
                *(_LETTERS[third], _styled(options[third], draw)),
                *(_LETTERS[fourth], _styled(options[fourth], draw)),
            ),
            strict=True,
        )
    )
    letter = None if name.startswith("none") else _LETTERS[meant]
    return MadeOutput(item["question"], tuple(options), text.format(**filled), letter, name)


def _styled(option: str, draw: Random) -> str:
    """The text of an option as a sentence might hold it."""
    plain = option.rstrip(".")
    if draw.random() < 0.5 and plain[1:2].islower():
        return plain[0].lower() + plain[1:]
    return plain


def _bank() -> list[dict[str, Any]]:
    file = resources.files("clinqa.packs").joinpath("specialty/bank.jsonl")
    lines = file.read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]
