"""Outputs with what they commit to: a JSONL file of the user's, or the bundled, made ones.

    {"question": "…", "options": ["…", "…"], "output": "…", "letter": "B"}

`options` in the order in which the model saw them (or an object by letter), `letter` null where the
output commits to none. Questions decide the folds: what is learnt from answers to a question never
judges others to it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clinqa.core.errors import ConfigError, SourceError
from clinqa.core.ids import stable_hash
from clinqa.kinds.multiple_choice.choices import LETTERS
from clinqa.simulate.phrasings import made_outputs

__all__ = ["FEWEST", "Annotated", "bundled_outputs", "read_annotated"]

_MAX_BYTES = 256 << 20
FEWEST = 20
"""Questions that are needed at least."""
_FORM = '{"question": text, "options": [texts], "output": text, "letter": "B" or null}'


@dataclass(frozen=True, slots=True)
class Annotated:
    """One output. `question` is a hash: the texts of questions are not learnt from."""

    question: int
    options: tuple[str, ...]
    output: str
    place: int | None  # of the option it commits to


def bundled_outputs() -> list[Annotated]:
    """The made outputs that come with clinqa."""
    return [
        Annotated(
            stable_hash(one.question),
            one.options,
            one.output,
            None if one.letter is None else LETTERS.index(one.letter),
        )
        for one in made_outputs()
    ]


def read_annotated(path: Path) -> list[Annotated]:
    """The outputs of a file; what is wrong with it is told by line, never by its text."""
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise SourceError(f"--annotated {path}: over {_MAX_BYTES >> 20} MB")
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(f"--annotated {path}: cannot be read ({type(error).__name__})") from error
    rows = [_row(path, n, line) for n, line in enumerate(lines, 1) if line.strip()]
    _check(f"--annotated {path}", rows)
    return rows


def _row(path: Path, number: int, line: str) -> Annotated:
    try:
        given: dict[str, Any] = json.loads(line)
        options = given["options"]
        if isinstance(options, dict):
            options = [options[letter] for letter in sorted(options)]
        question, output, letter = given["question"], given["output"], given["letter"]
        texts = [question, output, *options]
        if not isinstance(options, list) or not all(isinstance(text, str) for text in texts):
            raise TypeError
        for text in texts:
            text.encode()  # half of a pair of code units, which JSON can name, is no text
        if not 2 <= len(options) <= len(LETTERS):
            raise ValueError
        place = None if letter is None else LETTERS[: len(options)].index(letter)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise SourceError(
            f"--annotated {path}:{number}: a line is {_FORM}, the letter one of its options'"
        ) from error
    return Annotated(stable_hash(question), tuple(options), output, place)


def _check(where: str, rows: Sequence[Annotated]) -> None:
    questions = {row.question for row in rows}
    if len(questions) < FEWEST:
        raise ConfigError(
            f"{where}: outputs to {len(questions):,} questions; a matcher is trained on "
            f"{FEWEST} or more, so that it can be tested on others"
        )
    committed = sum(row.place is not None for row in rows)
    if not committed:
        raise ConfigError(f"{where}: no output commits to an option")
