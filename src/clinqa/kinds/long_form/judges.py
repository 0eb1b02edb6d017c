"""A run's answers, each judged alone: a row an answer, and a row of statistics an item."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from clinqa.core.answers import STATUSES
from clinqa.core.arrays import Floats, Ints
from clinqa.core.errors import ConfigError
from clinqa.core.manifest import Manifest
from clinqa.core.predictions import FinishedRun
from clinqa.kinds.facets.judges import (
    JudgedAnswers,
    JudgedRun,
    JudgeOptions,
    Judges,
    OpenJudge,
    SplitItems,
    averaged,
    of_split,
)
from clinqa.kinds.long_form.answer_reader import AnswerReader, AskedAbout, answer_text
from clinqa.kinds.long_form.answer_words import words_fingerprint
from clinqa.kinds.long_form.clinical import (
    KINDS,
    NO_ANSWER,
    ClinicalScorer,
    Verdict,
    class_of,
)
from clinqa.kinds.long_form.consequences import DANGERS
from clinqa.kinds.long_form.text import STATISTICS, TextMetrics
from clinqa.kinds.outputs import is_refusal
from clinqa.packs.loader import Pack, builtin_pack, load_pack

__all__ = ["CLASSES", "COLUMNS", "JUDGES", "ClinicalJudge", "JudgedWith"]

SAME_LABELLER = (
    "the labeller that reads the answers also made the reference labels: an error they share goes "
    "unseen. A sample judged by people (--human) corrects level accuracy"
)
#: What may be the class of a reference; an answer may be none of them ("nothing", "conflict").
CLASSES = (
    *("-3", "-2", "-1", "0", "1", "2", "3", "unmentioned"),
    *("adequate", "inadequate", "present", "absent"),
)
_OTHER = len(CLASSES)

#: The columns of an item's statistics: those of the text metrics, then ours. `is:` and `at:` of a
#: danger are how often it happened and could have, of what is answered; `c:` are the cells of the
#: table of reference class (row) by read class (column, the last for anything else).
COLUMNS = (
    *STATISTICS,
    *(f"kind:{kind}" for kind in KINDS),
    "level_right",
    *(f"is:{name}" for name in DANGERS),
    *(f"at:{name}" for name in DANGERS),
    "is:any",
    "is:abstained",
    "at:abstained",
    *(f"status:{status}" for status in STATUSES),
    *(f"c:{row}:{column}" for row in range(_OTHER) for column in range(_OTHER + 1)),
)
_PLACE = {name: place for place, name in enumerate(COLUMNS)}

#: `items.parquet`: a row an item, run and repeat.
ROWS = pa.schema(
    [
        ("run", pa.string()),
        ("model", pa.string()),
        ("shots", pa.int32()),
        ("repeat", pa.int32()),
        ("item_id", pa.string()),
        ("group", pa.string()),
        ("source_id", pa.string()),
        ("category", pa.string()),
        ("question_type", pa.string()),
        ("nearest_in_train", pa.float32()),
        ("seen", pa.bool_()),  # does the deciding statement also decide an item of train?
        ("question", pa.string()),
        ("reference", pa.string()),
        ("source", pa.string()),  # the words of the report that decided the reference
        ("answer", pa.string()),
        ("answer_status", pa.string()),
        ("level", pa.int8()),
        ("read_level", pa.int8()),
        ("class", pa.string()),
        ("read_class", pa.string()),
        ("level_right", pa.bool_()),
        ("error_kind", pa.string()),  # "right" is one; what is no answer says nothing: "irrelevant"
        ("dangerous", pa.string()),  # the gravest of `dangers`, or nothing
        ("dangers", pa.list_(pa.string())),
        ("at_risk", pa.list_(pa.string())),  # those it could have run into; no answer into none
        ("input_tokens", pa.int32()),
        ("output_tokens", pa.int32()),
        ("seconds", pa.float64()),
    ]
)


@dataclass(frozen=True, slots=True)
class JudgedWith:
    """What a run was judged with, and what is known of its texts.

    `labeller` says who read the answers, for signatures: the pack and the words of answers."""

    pack: Pack
    labeller: str
    signatures: Mapping[str, str]
    short_references: float


@dataclass(frozen=True, slots=True)
class _Texts:
    """Every answer of a run beside its reference, judged."""

    predictions: pa.Table
    judged: JudgedAnswers
    text: TextMetrics
    answers: list[str | None]
    statuses: list[str]
    verdicts: list[Verdict]
    at_risk: list[tuple[str, ...]]
    unknown: int


class ClinicalJudge(OpenJudge):
    """Judges answers by text metrics, and as a clinician would, with the pack's own labeller."""

    def __init__(self, pack: Pack) -> None:
        self._pack = pack
        words = words_fingerprint(pack)
        self._labeller = f"pack:{pack.spec.id}@{pack.fingerprint[:8]}+{words[:8]}"
        self.configuration = {"pack": pack.spec.id}
        self.decides = {"pack_fingerprint": pack.fingerprint, "words_fingerprint": words}
        self.about = {
            "names": {name: spec.name for name, spec in pack.abnormalities.items()},
            "labeller": {
                "pack": pack.spec.id,
                "fingerprint": pack.fingerprint,
                "made_the_references": True,
                "note": SAME_LABELLER,
            },
        }

    @cached_property
    def _clinical(self) -> ClinicalScorer:
        return ClinicalScorer(AnswerReader(self._pack))

    def runs(self, run: FinishedRun, items: SplitItems) -> Iterator[tuple[JudgedRun, pa.Table]]:
        """The run, averaged over its repeats, and its rows of `items.parquet`."""
        made = self._judged(run, items)
        judged, counted = made.judged, Counter(made.statuses)
        asked, statistics = averaged(judged)
        repeats = np.unique(judged.repeat)
        totals = np.zeros((len(repeats), len(COLUMNS)))
        for at, number in enumerate(repeats):
            own = judged.statistics[judged.repeat == number]
            totals[at, judged.columns] = own.sum(axis=0)
        yield (
            JudgedRun(
                id=run.id,
                name=run.name,
                model=run.model,
                shots=run.shots,
                items=asked,
                layout=COLUMNS,
                columns=judged.columns,
                statistics=statistics,
                statuses={status: counted[status] for status in STATUSES if counted[status]},
                repeats=len(repeats),
                unknown=made.unknown,
                run=run,
                totals=totals,
                of_kind=judged.of_kind,
            ),
            _rows(run, items, made),
        )

    def answers(self, run: FinishedRun, items: SplitItems) -> JudgedAnswers:
        """Every answer judged alone."""
        return self._judged(run, items).judged

    def _judged(self, run: FinishedRun, items: SplitItems) -> _Texts:
        predictions, found, unknown = of_split(run, run.predictions(), items)
        answers, statuses = _answers(predictions)
        references = items.table["answer"].take(pa.array(found)).to_pylist()
        text = TextMetrics(references, [answer or "" for answer in answers])
        columns, clinical, verdicts, risks = _judged(
            items, found, answers, statuses, self._clinical
        )
        judged = JudgedAnswers(
            found,
            predictions["repeat"].to_numpy().astype(np.int64),
            columns,
            np.concatenate([text.statistics, clinical], axis=1),
            JudgedWith(self._pack, self._labeller, text.signatures, text.short_references),
        )
        return _Texts(predictions, judged, text, answers, statuses, verdicts, risks, unknown)


def _answers(predictions: pa.Table) -> tuple[list[str | None], list[str]]:
    """The answers without reasoning, and their statuses; only what is answered has a text."""
    answers: list[str | None] = []
    statuses: list[str] = []
    said = predictions["answer"].to_pylist()
    for answer, status in zip(said, predictions["answer_status"].to_pylist(), strict=True):
        text = answer_text(answer) if answer is not None and status == "answered" else None
        if status == "answered" and text is None:
            status = "unreadable" if answer else "empty"
        answers.append(text)
        statuses.append(status if status in STATUSES else "unreadable")
    return answers, statuses


def _judged(
    items: SplitItems,
    found: Ints,
    answers: list[str | None],
    statuses: list[str],
    scorer: ClinicalScorer,
) -> tuple[Ints, Floats, list[Verdict], list[tuple[str, ...]]]:
    """The columns that hold anything, their values by answer, the verdicts, and what each answer
    could have run into. The statuses of what is in words no answer are changed.

    Different rows are few: a level and a kind of question, a status, a verdict and what it could
    run into make one.
    """
    verdicts: list[Verdict] = []
    risks: list[tuple[str, ...]] = []
    known: dict[tuple[int | None, str, str, Verdict, tuple[str, ...]], int] = {}
    codes = np.empty(len(found), np.int64)
    categories, structures = items.column("category"), items.column("structure")
    types, levels = items.column("question_type"), items.column("level")
    references, sources = items.column("answer"), _sources(items)
    for row, (item, answer, status) in enumerate(
        zip(found.tolist(), answers, statuses, strict=True)
    ):
        level, kind, verdict = levels[item], types[item], NO_ANSWER
        risk: tuple[str, ...] = ()
        if answer is not None:
            asked = AskedAbout(categories[item], structures[item], kind)
            verdict = scorer.judge(asked, level, references[item], answer, sources[item])
            if not verdict.says:
                status = statuses[row] = "refused" if is_refusal(answer) else "unreadable"
            else:
                risk = scorer.at_risk(asked, level)
        verdicts.append(verdict)
        risks.append(risk)
        codes[row] = known.setdefault((level, kind, status, verdict, risk), len(known))
    distinct = np.stack([_statistics(*key) for key in known])
    used = np.flatnonzero(distinct.any(axis=0))
    columns = np.append(np.arange(len(STATISTICS)), used)
    return columns, distinct[:, used][codes], verdicts, risks


def _sources(items: SplitItems) -> list[str]:
    """The words of the report that decided each item."""
    return [" ".join(span["text"] for span in spans or ()) for spans in items.column("spans")]


def _statistics(
    level: int | None,
    question_type: str,
    status: str,
    verdict: Verdict,
    at_risk: tuple[str, ...],
) -> Floats:
    """The columns of one answer; those of the text metrics are left 0."""
    read = CLASSES.index(verdict.read) if verdict.read in CLASSES else _OTHER
    names = [f"kind:{verdict.kind}", f"status:{status}"]
    names += [f"c:{CLASSES.index(class_of(level, question_type))}:{read}"]
    names += [f"at:{name}" for name in at_risk]
    names += [f"is:{name}" for name in verdict.dangers]
    if verdict.level_right:
        names.append("level_right")
    if verdict.dangers:
        names.append("is:any")
    if level is not None and status == "answered":
        names.append("at:abstained")
        if verdict.read == "unmentioned":
            names.append("is:abstained")
    cells = np.zeros(len(COLUMNS))
    cells[[_PLACE[name] for name in names]] = 1
    return cells


def _rows(run: FinishedRun, items: SplitItems, made: _Texts) -> pa.Table:
    """The rows of `items.parquet`: ROWS, and a column for each text metric."""
    found, predictions, verdicts = made.judged.item, made.predictions, made.verdicts
    size = len(found)
    asked = items.table.take(pa.array(found))
    sources = _sources(items)
    types, levels = items.column("question_type"), items.column("level")
    classes = [class_of(level, kind) for level, kind in zip(levels, types, strict=True)]
    columns = {
        "run": [run.id] * size,
        "model": [run.model] * size,
        "shots": [run.shots] * size,
        "repeat": predictions["repeat"],
        "item_id": asked["id"],
        "group": asked["group"],
        "source_id": asked["source_id"],
        "category": asked["category"],
        "question_type": asked["question_type"],
        "seen": asked["statement_seen"],
        "nearest_in_train": asked["nearest_in_train"],
        "question": asked["question"],
        "reference": asked["answer"],
        "source": pa.array(sources, pa.string()).take(pa.array(found)),
        # what is no answer is shown as it came, or as far as it came
        "answer": [
            answer if answer is not None else output
            for answer, output in zip(made.answers, predictions["output"].to_pylist(), strict=True)
        ],
        "answer_status": made.statuses,
        "level": asked["level"],
        "read_level": [verdict.read_level for verdict in verdicts],
        "class": pa.array(classes, pa.string()).take(pa.array(found)),
        "read_class": [verdict.read for verdict in verdicts],
        "level_right": [verdict.level_right for verdict in verdicts],
        "error_kind": [verdict.kind for verdict in verdicts],
        "dangerous": [verdict.gravest for verdict in verdicts],
        "dangers": [list(verdict.dangers) for verdict in verdicts],
        "at_risk": [list(risk) for risk in made.at_risk],
        "input_tokens": predictions["input_tokens"],
        "output_tokens": predictions["output_tokens"],
        "seconds": predictions["seconds"],
    }
    table = pa.table({name: columns[name] for name in ROWS.names}).cast(ROWS)
    each = made.text.per_item()
    for name in made.text.names[1:]:  # the first is of whole sets only
        table = table.append_column(name, each[name])
    return table


def load_questions(table: pa.Table, _: Path) -> SplitItems:
    """The questions, by patient."""
    groups = table["group"].combine_chunks().dictionary_encode()
    codes = groups.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return SplitItems(table, {"patient": codes})


def _open(folder: Path, manifest: Manifest, _: Any, options: JudgeOptions) -> ClinicalJudge:
    """With the pack the dataset was built with."""
    if options.pack_dir is not None:
        return ClinicalJudge(load_pack(options.pack_dir))
    name = manifest.configuration.get("pack")
    if not isinstance(name, str):
        raise ConfigError(
            f"{folder}: its manifest names no pack; give the one it was built with (--pack-dir)"
        )
    return ClinicalJudge(builtin_pack(name))


JUDGES = Judges(
    columns=(
        *("question", "answer", "spans", "structure", "level", "question_type"),
        *("statement_seen", "nearest_in_train"),
    ),
    load=load_questions,
    open=_open,
)
