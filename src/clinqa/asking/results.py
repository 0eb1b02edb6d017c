"""From the journal to `predictions.parquet`: a row for each item and repeat, whatever came back;
and the prompts beside them."""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import reduce
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from clinqa.asking.prompter import KeyedPrompt, key_of
from clinqa.core.closing import Closing
from clinqa.core.errors import CheckFailed, ConfigError
from clinqa.core.journal import read_journal
from clinqa.core.outfolder import create_file
from clinqa.core.schema import PREDICTIONS
from clinqa.kinds.facets.asks import Beside, Forms
from clinqa.kinds.facets.reads import Reads
from clinqa.kinds.outputs import is_refusal
from clinqa.models.protocol import ERROR_KINDS, FINISH_REASONS, Message, Output

__all__ = [
    "TRANSIENT",
    "PromptKeeper",
    "Tally",
    "is_amount",
    "is_whole",
    "read_prompts",
    "record_of",
    "write_predictions",
]

TRANSIENT = frozenset({"rate_limit", "timeout", "server", "network", "bad_output"})
"""Errors of the moment: asked again by a later pass or run; the others would come back."""

_BLOCK = 2_000
_PLACE = ("item_id", "repeat", "variant")
_ERRORS = frozenset({"", *ERROR_KINDS})
_MOST = 2**31 - 1


@dataclass(slots=True)
class Tally:
    """What became of every item and repeat; the statuses add up to all of them."""

    statuses: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0
    cached: int = 0  # answers that nobody was asked for
    refusals: int = 0  # in words, of kinds whose answer is the whole text

    @property
    def total(self) -> int:
        """Rows in all."""
        return self.statuses.total()

    def check(self, expected: int) -> None:
        """Raise CheckFailed if the statuses do not add up to all rows."""
        if self.total != expected:
            raise CheckFailed(
                f"predictions do not reconcile: {self.total} of {expected}, "
                f"{' + '.join(f'{n} {status}' for status, n in self.statuses.items())}"
            )


def record_of(asked: KeyedPrompt, output: Output) -> dict[str, Any]:
    """What the journal keeps of one answer."""
    return {
        "key": asked.key,
        "item_id": asked.prompt.item_id,
        "repeat": asked.prompt.repeat,
        "prompt_sha256": asked.sha256,
        "output": output.text,
        "finish_reason": output.finish_reason,
        "input_tokens": output.input_tokens,
        "output_tokens": output.output_tokens,
        "seconds": round(output.seconds, 6),
        "error": output.error or ("bad_output" if output.finish_reason == "error" else ""),
        **({"cached": True} if output.cached else {}),
        **({"variant": asked.prompt.variant} if asked.prompt.variant else {}),
        **({"weighed": list(output.weighed)} if output.weighed else {}),
    }


def is_whole(record: Mapping[str, Any]) -> bool:
    """Does a journal's record hold all it should, and does its key say what its fields say?

    One that does not is as none: what it was is asked again.
    """
    variant = record.get("variant", 0)
    if not _is_count(variant) or not all(fits(record.get(name)) for name, fits in _FITS.items()):
        return False
    named = key_of(record["item_id"], record["repeat"], record["prompt_sha256"], variant)
    return bool(record["key"] == named)


def is_amount(value: object) -> bool:
    """Is this a number of seconds or of money?"""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return 0 <= value <= _MOST and math.isfinite(value)


def _are_weights(value: object) -> bool:
    """Log-probabilities of the answers that were weighed?"""
    return (
        isinstance(value, list)
        and len(value) > 1
        and all(isinstance(one, float) and math.isfinite(one) for one in value)
    )


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _or_none(fits: Callable[[object], bool]) -> Callable[[object], bool]:
    return lambda value: value is None or fits(value)


_FITS: dict[str, Callable[[object], bool]] = {
    **dict.fromkeys(("item_id", "prompt_sha256", "output"), _is_text),
    "finish_reason": lambda value: _is_text(value) and value in FINISH_REASONS,
    "error": lambda value: _is_text(value) and value in _ERRORS,
    "repeat": _is_count,
    "seconds": is_amount,
    **dict.fromkeys(("input_tokens", "output_tokens"), _or_none(_is_count)),
    "cost": _or_none(is_amount),
    "weighed": _or_none(_are_weights),
}
"""What a field of a journal's record may be."""


def write_predictions(
    journal: Path,
    path: Path,
    model: str,
    shots: int,
    private: bool,
    expected: Collection[str],
    reads: Reads,
    forms: Forms | None = None,
    beside: Beside | None = None,
) -> Tally:
    """Write a row for each item, repeat and variant, in that order.

    `expected` holds the key of each: CheckFailed if one has no record. Of several records of one
    the last counts; records of nothing that was asked are left out. A kind with a file of its own
    `beside` the predictions has a row of it for each prompt.
    """
    tables, more = [], []
    tally = Tally(Counter(dict.fromkeys(reads.statuses, 0)))
    last: dict[str, int] = {}
    for place, record in enumerate(read_journal(journal)):
        if record["key"] in expected and is_whole(record):
            last[record["key"]] = place
    if len(last) != len(expected):
        raise CheckFailed(
            f"predictions do not reconcile: {len(expected) - len(last):,} of {len(expected):,} "
            "items and repeats have no record"
        )
    kept = (
        record
        for place, record in enumerate(read_journal(journal))
        if last.get(record["key"]) == place
    )
    while block := list(islice(kept, _BLOCK)):
        rows = [_row(record, model, shots, tally, reads, forms) for record in block]
        columns = {name: [row[name] for row in rows] for name in PREDICTIONS.names}
        tables.append(pa.table(columns, schema=PREDICTIONS))
        if forms is not None and beside is not None:
            more.append(pa.Table.from_pylist([*map(forms.row, block)], schema=beside.schema))
    _write(path, [*tables, PREDICTIONS.empty_table()], private)
    if beside is not None:
        _write(path.with_name(beside.name), [*more, beside.schema.empty_table()], private)
    return tally


def _write(path: Path, tables: Iterable[pa.Table], private: bool) -> None:
    table = pa.concat_tables(tables).sort_by([(name, "ascending") for name in _PLACE])
    _check_distinct(table)
    with open(create_file(path, private=private), "wb") as file:
        pq.write_table(table, file, compression="zstd")


def _check_distinct(table: pa.Table) -> None:
    """Raise CheckFailed if an item and repeat stands twice in the sorted table."""
    if table.num_rows > 1:
        same = [
            pc.equal(table[name].slice(0, table.num_rows - 1), table[name].slice(1))
            for name in _PLACE
        ]
        if pc.any(reduce(pc.and_, same)).as_py():
            raise CheckFailed("predictions: an item was asked and recorded twice in one repeat")


def _row(
    record: Mapping[str, Any],
    model: str,
    shots: int,
    tally: Tally,
    reads: Reads,
    forms: Forms | None,
) -> dict[str, Any]:
    """The row of one record, which is counted."""
    output, error = _storable(record["output"]), record["error"]
    variant = record.get("variant", 0)
    own = forms.shown(record["item_id"], variant) if forms else None
    said = reads.said(output, record["finish_reason"], error, own)
    tally.statuses[said.status] += 1
    if said.status == "error":
        tally.errors[error] += 1
    if reads.whole and said.answer is not None:
        tally.refusals += is_refusal(said.answer)
    tally.input_tokens += record["input_tokens"] or 0
    tally.output_tokens += record["output_tokens"] or 0
    tally.seconds += record["seconds"]
    tally.cached += record.get("cached") is True
    given = ("item_id", "repeat", "prompt_sha256", "finish_reason", "input_tokens",
             "output_tokens", "seconds", "error")  # fmt: skip
    return {
        **{name: record[name] for name in given},
        "model": model,
        "shots": shots,
        "variant": variant,
        "output": output,
        "answer": said.answer,
        "answer_status": said.status,
    }


def _storable(text: str) -> str:
    """The text as Parquet can hold it: half a surrogate pair is no character."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


class PromptKeeper(Closing):
    """Writes `prompts.jsonl`: every prompt as it is made, exactly, and each beginning once.

        {"prefix": "p1", "messages": [["system", "…"], …]}
        {"prompt_sha256": "…", "prefix": "p1", "messages": [["user", "…"]]}

    A prompt is the messages of its prefix and then its own.
    """

    def __init__(self, path: Path, *, private: bool) -> None:
        self._file = os.fdopen(create_file(path, private=private), "w", encoding="ascii")
        self._prefixes: dict[int, tuple[str, tuple[Message, ...]]] = {}

    def keep(self, asked: KeyedPrompt) -> None:
        """Write a prompt."""
        # the tuple is held, or another could come to have its id
        name, _ = self._prefixes.get(id(asked.prefix)) or self._add(asked.prefix)
        # ASCII JSON: a lone surrogate in a context comes back as it was
        self._file.write(
            f'{{"prompt_sha256":"{asked.sha256}","prefix":"{name}","messages":[{asked.own}]}}\n'
        )

    def close(self) -> None:
        """Flush and let go of the file."""
        self._file.close()

    def _add(self, prefix: tuple[Message, ...]) -> tuple[str, tuple[Message, ...]]:
        named = (f"p{len(self._prefixes) + 1}", prefix)
        self._prefixes[id(prefix)] = named
        turns = [[message.role, message.text] for message in prefix]
        self._file.write(json.dumps({"prefix": named[0], "messages": turns}) + "\n")
        return named


def read_prompts(path: Path) -> Iterator[tuple[str, tuple[Message, ...]]]:
    """(prompt_sha256, messages) of each prompt of a run, exactly as it was asked.

    Repeats with the same shots stand here once. Two items can have the same prompt.
    """
    prefixes: dict[str, tuple[Message, ...]] = {}
    try:
        with path.open(encoding="utf-8") as file:
            for line in file:
                record = json.loads(line)
                messages = tuple(Message(role, text) for role, text in record["messages"])
                if "prompt_sha256" in record:
                    yield record["prompt_sha256"], prefixes[record["prefix"]] + messages
                else:
                    prefixes[record["prefix"]] = messages
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigError(
            f"{path}: cannot be read as prompts of a run ({type(error).__name__})"
        ) from error
