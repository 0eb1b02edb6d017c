"""`clinqa build bank-tf`: banks of questions in, pairs of statements about one topic out.

All of it is the split `test`: these are sets to be measured on that others made, and nothing here
is to be trained on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from clinqa.builders.banks.bank_options import BankTfOptions
from clinqa.builders.banks.gather import Gathered, alikes, gather
from clinqa.builders.banks.truefalse.card import card_of
from clinqa.builders.banks.truefalse.statements import pair_of
from clinqa.builders.pairs import PairRow, PairsWritten, write_pairs
from clinqa.core.manifest import FileRecord, Manifest, StageCounts
from clinqa.core.records import Reason, Reject
from clinqa.core.stage import (
    Known,
    Made,
    Progress,
    Stage,
    StageResult,
    Workplace,
    run_stage,
    silent,
)
from clinqa.core.visible import visible
from clinqa.dataset.publish import write_card
from clinqa.kinds.true_false.columns import COLUMNS
from clinqa.kinds.true_false.probe import probe
from clinqa.packs.references import builtin_reference_pack
from clinqa.packs.topics import Topic, load_topic
from clinqa.sources.banks import BankFile, BankItem, BankOptions, open_banks

__all__ = ["VERB", "build_bank_tf"]

VERB = "build bank-tf"
_ALL_TEST = (0.0, 0.0)
#: Of a question that names the recording and says no more of it.
OTHER = "other"


def build_bank_tf(
    banks: Sequence[Path],
    out: Path,
    options: BankTfOptions | None = None,
    progress: Progress = silent,
) -> StageResult:
    """Build the dataset in `out`, or say that it is there already."""
    options = options or BankTfOptions()
    topic = load_topic(options.topic)
    files, problems = open_banks(banks, BankOptions(options.answer_base, options.limit))
    return run_stage(
        Stage(
            verb=VERB,
            holds="this build",
            out=out,
            options=options,
            data_class=options.data_class,
            plan=partial(_dry_run, files, topic, options, out),
            known=partial(_known, files, topic, options),
            work=partial(_build, files, problems, topic, options, progress),
            told=_told,
            seeds={"seed": options.seed},
            libraries=("pyarrow", "numpy", "scikit-learn"),
        )
    )


def _known(files: Sequence[BankFile], topic: Topic, options: BankTfOptions) -> Known:
    inputs = [FileRecord.of(file.path) for file in files]
    own = [record.sha256 for record in inputs]
    return Known(
        {
            "topic": options.topic,
            "answer_base": options.answer_base,
            "limit": options.limit,
            "seed": options.seed,
        },
        inputs,
        {
            "topic_fingerprint": topic.fingerprint,
            # without a limit the order of banks decides nothing
            "banks": own if options.limit is not None else sorted(own),
        },
    )


def _build(
    files: Sequence[BankFile],
    problems: Sequence[str],
    topic: Topic,
    options: BankTfOptions,
    progress: Progress,
    place: Workplace,
) -> Made:
    progress("reading", 0, 1)
    gathered = gather(files, options.limit)
    chosen = [item for item in gathered.items if topic.of(item.question, item.options)]
    pairs, rejects = _pairs(chosen, topic, options.seed)
    progress("writing", 0, 1)
    written = write_pairs(
        place.partial, pairs, [*gathered.rejects, *rejects], seed=options.seed,
        private=place.private, cuts=_ALL_TEST,
    )  # fmt: skip
    found = probe(
        [text for pair in pairs for text in (pair.true, pair.false)],
        [label for _ in pairs for label in (True, False)],
        [pair.id for pair in pairs for _ in "tf"],
    )
    banks = Counter(pair.source_id.partition(":")[0] for pair in pairs)
    return Made(
        counts={**_counts(gathered, chosen, pairs, rejects), **written.counts},
        rows=written.rows,
        warnings=_warnings(gathered, problems, pairs),
        details={
            "pairs": len(pairs),
            "topic": topic.title,
            "banks": dict(sorted(banks.items())),
            "answers": {f.path.name: _answers(f) for f in files},
            "probe": found.as_json(),
            "topics": {
                **{n: t.name for n, t in builtin_reference_pack().spec.topics.items()},
                OTHER: "None of these",
            },
            "by_topic": dict(sorted(Counter(pair.category for pair in pairs).items())),
        },
        describe=partial(_describe, place, written),
    )


def _pairs(
    items: Sequence[BankItem], topic: Topic, seed: int
) -> tuple[list[PairRow], list[Reject]]:
    """Pairs, near-duplicate questions in one group; and the questions that give none."""
    clusters = alikes(items).cluster
    first: dict[int, str] = {}
    for item, own in zip(items, clusters, strict=True):
        first[own] = min(item.source_id, first.get(own, item.source_id))
    pairs: list[PairRow] = []
    rejects: list[Reject] = []
    for item, own in zip(items, clusters, strict=True):
        category = topic.part_of(item.question, item.answer, item.options) or OTHER
        made = pair_of(item, first[own], category, seed)
        if isinstance(made, Reject):
            rejects.append(made)
        else:
            pairs.append(made)
    return pairs, rejects


def _counts(
    gathered: Gathered,
    chosen: Sequence[BankItem],
    pairs: Sequence[PairRow],
    rejects: Sequence[Reject],
) -> dict[str, StageCounts]:
    return {
        "questions": gathered.counts(off_topic=len(gathered.items) - len(chosen)),
        "pairs": StageCounts(
            read=len(chosen),
            kept=len(pairs),
            rejected=len(rejects),
            rejected_by_reason=dict(Counter(one.reason.value for one in rejects)),
        ),
    }


def _answers(file: BankFile) -> str:
    """How a file's answers were read: their kind, and where numbers begin."""
    answers = file.answers
    return f"{answers.kind}, from {answers.base}" if answers.kind == "number" else answers.kind


def _warnings(gathered: Gathered, problems: Sequence[str], pairs: Sequence[PairRow]) -> list[str]:
    none = "no question gave a pair: the dataset is empty; rejects.parquet says why"
    return [
        *(f"a file was not read: {problem}" for problem in problems),
        *(f"a file broke off: {broken}" for broken in gathered.broken),
        *([] if pairs else [none]),
    ]


def _describe(place: Workplace, written: PairsWritten, manifest: Manifest) -> None:
    """Card and Croissant."""
    write_card(place, card_of(written, manifest), COLUMNS, manifest, written.rows)


def _dry_run(
    files: Sequence[BankFile], topic: Topic, options: BankTfOptions, out: Path
) -> list[str]:
    gathered = gather(files, options.limit)
    chosen = sum(topic.of(item.question, item.options) for item in gathered.items)
    lines = [f"would read {f.path.name}: {f.records:,} records, answers as {_answers(f)}"
             for f in files]  # fmt: skip
    lines.append(f"{chosen:,} of {len(gathered.items):,} questions are about {topic.title.lower()}")
    lines.append(f"would write a dataset ({options.data_class.value}) to {visible(str(out))}")
    return [*lines, "would send nothing anywhere"]


def _told(manifest: Manifest) -> dict[str, int]:
    questions, pairs = manifest.counts["questions"], manifest.counts["pairs"]
    return {
        "questions": questions.read,
        "on_topic": questions.kept,
        "left_out": pairs.rejected_by_reason.get(Reason.OPTIONS_REFER.value, 0),
        "rejects": questions.rejected + pairs.rejected,
        "pairs": pairs.kept,
        "items": manifest.counts["items"].kept,
    }
