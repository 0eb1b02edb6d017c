"""The worst answers of each run, beside question, reference and the report's sentence.

One of each kind of failing first, the gravest kind first, so that three examples of a run show
three ways to fail; ties are broken by overlap with the reference and then by the item's id.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clinqa.core.wording import decimals
from clinqa.kinds.facets.pages import Case, Styled, Words
from clinqa.kinds.facets.shows import Evaluation, ShownRun
from clinqa.kinds.long_form.levels import level_words, plain_name
from clinqa.kinds.long_form.metric_names import DANGER_KINDS, ERROR_KINDS, NO_ANSWER

__all__ = ["name_of", "worst"]

PER_RUN = 3
IN_ALL = 24
_UNREAD = "none could be read"
_LONGEST = 1_200  # characters of one text on the page
_KIND_NAMES = {kind.key.removeprefix("error_"): kind.name for kind in ERROR_KINDS}
_DANGER_NAMES = {kind.key.removeprefix("error_dangerous_"): kind.name for kind in DANGER_KINDS}
_NONE = NO_ANSWER.key
_KIND_NAMES[_NONE] = NO_ANSWER.name
_GRAVITY = [kind.key.removeprefix("error_") for kind in reversed(ERROR_KINDS)]
_COLUMNS = (
    "run",
    "item_id",
    "repeat",
    "category",
    "question",
    "reference",
    "answer",
    "source",
    "class",
    "read_class",
    "error_kind",
    "dangers",
    "answer_status",
    "token_f1",
)


def worst(evaluation: Evaluation, per_run: int = PER_RUN) -> list[tuple[ShownRun, list[Case]]]:
    """The examples of each run; runs without a failing have none. They are text of records."""
    table = evaluation.items
    if table is None or "run" not in table.column_names:
        return []
    there = [name for name in _COLUMNS if name in table.column_names]
    by_run: dict[str, list[dict[str, Any]]] = {}
    for batch in table.select(there).to_batches(max_chunksize=65_536):
        for row in batch.to_pylist():
            if row.get("dangers") or (row.get("error_kind") or _NONE) != "right":
                by_run.setdefault(str(row["run"]), []).append(row)
    failing = [run for run in evaluation.runs if run.id in by_run]
    share = max(1, min(per_run, IN_ALL // max(len(failing), 1)))
    return [
        (run, [_example(evaluation, run, row) for row in _chosen(by_run[run.id], share)])
        for run in failing[:IN_ALL]
    ]


def _chosen(rows: list[dict[str, Any]], wanted: int) -> list[dict[str, Any]]:
    """One of each kind in turn; an item stands once, whatever its repeats."""
    kinds: dict[tuple[int, int, str], list[dict[str, Any]]] = {}
    for row in sorted(rows, key=_rank):
        kinds.setdefault(_kind(row), []).append(row)
    chosen: list[dict[str, Any]] = []
    taken: set[str] = set()
    queues = [kinds[kind] for kind in sorted(kinds)]
    while queues and len(chosen) < wanted:
        for queue in queues:
            left = [row for row in queue if row["item_id"] not in taken]
            if left and len(chosen) < wanted:
                taken.add(left[0]["item_id"])
                chosen.append(left[0])
        queues = [[r for r in queue if r["item_id"] not in taken] for queue in queues]
        queues = [queue for queue in queues if queue]
    return chosen


def _kind(row: Mapping[str, Any]) -> tuple[int, int, str]:
    order = list(_DANGER_NAMES)
    dangers = sorted(order.index(d) if d in order else len(order) for d in row.get("dangers") or ())
    if dangers:
        return dangers[0], 0, ""
    kind = str(row.get("error_kind") or _NONE)
    return len(order) + 1, _GRAVITY.index(kind) if kind in _GRAVITY else len(_GRAVITY), kind


def _rank(row: Mapping[str, Any]) -> tuple[float, str, int]:
    overlap = row.get("token_f1")
    return (1.0 if overlap is None else overlap), str(row["item_id"]), int(row.get("repeat") or 0)


def _example(evaluation: Evaluation, run: ShownRun, row: Mapping[str, Any]) -> Case:
    status = str(row.get("answer_status") or "")
    kind = str(row.get("error_kind") or _NONE)
    named = _KIND_NAMES.get(kind, kind.replace("_", " "))
    about = name_of(evaluation, str(row.get("category") or ""))
    danger = ", ".join(_DANGER_NAMES[d] for d in row.get("dangers") or () if d in _DANGER_NAMES)
    source, reference, answer = (_shown(row.get(k)) for k in ("source", "reference", "answer"))
    nothing = Styled("nothing: the report does not mention it", "none")
    said: list[tuple[str, Words]] = [
        ("Report says", source or (nothing,)),
        ("Reference", reference),
    ]
    if source == reference:
        said = [("Report, reference", reference)]
    ended = "" if status in ("", "answered") else f" ({status})"
    expected, read = _class(row.get("class"), "none"), _class(row.get("read_class"), _UNREAD)
    return Case(
        about,
        f"{about}, {run.label}",
        [*([(f"dangerous: {danger}", True)] if danger else []), (named, False)],
        [
            ("Question", _shown(row.get("question"))),
            *said,
            ("Answer", (answer or Styled("no text", "none"), Styled(ended, "none"))),
            ("Level", f"expected {expected}; read from the answer: {read}"),
            ("Token F1, item", (f"{decimals(row.get('token_f1'))}, ",
                                Styled(str(row["item_id"]), "hash"))),
        ],
    )  # fmt: skip


def _shown(text: Any) -> str:
    written = str(text or "")
    return written if len(written) <= _LONGEST else f"{written[:_LONGEST]} […]"


def _class(name: Any, otherwise: str) -> str:
    """A level, or what else an item can ask for, in words."""
    try:
        return level_words(int(name)) if name else otherwise
    except ValueError:
        return str(name).replace("_", " ")


def name_of(evaluation: Evaluation, abnormality: str) -> str:
    """What the pack calls an abnormality."""
    names = evaluation.meta.get("names") or {}
    return str(names.get(abnormality) or plain_name(abnormality))
