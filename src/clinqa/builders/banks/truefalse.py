"""`clinqa build bank-tf`: banks of questions in, pairs of statements about one topic out.

All of it is the split `test`: these are sets to be measured on that others made, and nothing here
is to be trained on.

What the card of statements made from question banks says.

A question with its official key as two statements: the right option, and a seeded wrong one.

The question is not reworded: whether an option is the answer is what the key decides, also where
a question asks for the exception. Options that speak of one another ("both A and B", "all of the
above") mean nothing alone, so such questions are left out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from clinqa.builders.banks.bank_options import BankTfOptions
from clinqa.builders.banks.flags import is_garbled, needs_image
from clinqa.builders.banks.gather import Gathered, alikes, gather
from clinqa.builders.pairs import (
    PAIR_TASKS,
    PAIRS_CHECKED,
    PairRow,
    PairsWritten,
    probe_section,
    write_pairs,
)
from clinqa.core.ids import SEPARATOR, rng, stable_hash
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
from clinqa.dataset.card import Card, bullets, tabled
from clinqa.dataset.publish import write_card
from clinqa.kinds.true_false.columns import COLUMNS
from clinqa.kinds.true_false.pairs import probe
from clinqa.packs.references import builtin_reference_pack
from clinqa.packs.topics import Topic, load_topic
from clinqa.sources.banks import BankFile, BankItem, BankOptions, open_banks

__all__ = ["STAGE", "VERB", "build_bank_tf", "card_of", "pair_of", "refers", "statement"]

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
        *gathered.alike,
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


def card_of(written: PairsWritten, manifest: Manifest) -> Card:
    """The card of one build."""
    details = manifest.details
    topics = [(details["topics"].get(name, name), n) for name, n in details["by_topic"].items()]
    answers = (f"`{name}`: {how}" for name, how in details["answers"].items())
    rejects = Counter[str]()
    for counts in manifest.counts.values():
        rejects.update(counts.rejected_by_reason)
    return Card(
        title=f"{details['topic']}: true and false statements from question banks",
        summary="Each question gave one pair: that its official key is the right answer (True), "
        "and that another of its options, drawn by the seed, is (False). Questions are not "
        "reworded. The set is for measuring: all of it is the split `test`.",
        description="Multiple-choice questions of published banks as pairs of statements.",
        owner="the banks",
        items={name: split["items"] for name, split in written.splits.items()},
        glance=[("pairs", f"{details['pairs']:,}")],
        sections=[
            ("Banks", _counted("bank", [*details["banks"].items()])),
            ("Topics", _counted("topic", topics)),
            ("How answers were read", bullets(answers)),
            ("Shortcut probe", probe_section(details["probe"])),
        ],
        rejects=rejects,
        reasons={},
        columns=COLUMNS.meanings,
        limits=[
            "An option that the key does not name may still be right: banks have errors, and some "
            "questions ask for the best of several.",
            "Questions whose options speak of one another, need an image or are garbled are left "
            "out (`rejects.parquet`).",
        ],
        checked=PAIRS_CHECKED,
        warnings=manifest.warnings,
        tasks=PAIR_TASKS,
        keywords=("medical", "true-false"),
    )


def _counted(what: str, rows: list[tuple[str, int]]) -> str:
    return tabled((what, "pairs"), rows) if rows else "None.\n"


STAGE = "statements"
_LETTER = r"\(?[A-Ea-e]\)?"
_ROMAN, _DIGIT = r"\(?[ivx]+\)?", r"\(?[1-9]\)?"
_JOIN = r"\s*(?:,|&|\+|/|\b(?:and|or|nor)\b)\s*"
_NAMED = r"(?:(?:only|option|choice|answer|statement)s?\s+)*"
#: What is said of them: "only", "both", "are correct"
_SAID = r"\W*(?:(?:only|both|all|together|alone)|(?:are|is)\b.*)?"
_OTHERS = r"(?:above|below|these|following|options?|choices?|answers?|statements?|others?|them)"
_JUDGED = r"(?:true|false|correct|incorrect|right|wrong)"


def _list_of(one: str, join: str = _JOIN) -> str:
    more = rf"(?:{join}(?:and\s+|or\s+)?{_NAMED}{one})+"
    return rf"(?:both|either|neither)?\s*{_NAMED}{one}{more}{_SAID}"


_REFERS = re.compile(
    rf"^\W*(?:[A-E]\W+)?(?:both\b.*"
    rf"|(?:all|none|any|neither|either|some|two|three|more\s+than\s+\w+|everything|nothing)\s+"
    rf"(?:of\s+)?(?:the\s+|these\s+)*{_OTHERS}\b.*"
    rf"|(?:all|none|any|both|neither)\W*"
    rf"|(?:all|none|both|neither|everything)\s+(?:of\s+them\s+)?(?:is|are)\s+{_JUDGED}\W*"
    rf"|{_list_of(_LETTER)}|{_list_of(_ROMAN)}|{_list_of(_DIGIT, _JOIN.replace('/|', ''))}"
    rf"|(?:only|not|all\s+(?:except|but)|none\s+but)\s+{_NAMED}{_LETTER}{_SAID}"
    rf"|(?:options?|choices?|answers?|statements?)\s+(?:{_LETTER}|{_ROMAN}|{_DIGIT}){_SAID}"
    r"|(?:the\s+)?(?:first|second|third|former|latter)\s+(?:and|or)\s+(?:the\s+)?"
    r"(?:second|third|fourth|latter)\W*"
    r"|(?:same|as)\s+(?:as\s+)?(?:the\s+)?(?:above|option|in)\b.*"
    rf"|.*\b(?:of the above|of these options|the above options?|the aforementioned)\b.*)$",
    re.I | re.S,
)
#: Leads I, II and III stand beside others that are no numbers.
_LEADS = re.compile(r"\b(?:leads?|aV[RLF]|V[1-9])\b", re.I)


def refers(option: str) -> bool:
    """Does an option speak of other options?

    >>> refers("Both A and B"), refers("None of the above"), refers("a & c"), refers("1, 2 and 3")
    (True, True, True, True)
    >>> refers("Both ventricles contract"), refers("Atrial flutter"), refers("Leads II, III, aVF")
    (True, False, False)
    """
    return _LEADS.search(option) is None and _REFERS.match(option.strip()) is not None


def statement(question: str, option: str) -> str:
    """What is judged.

    >>> statement("Which lead  is it? ", "V1.")
    'To the question "Which lead is it?" the right answer is: V1'
    """
    asked, said = " ".join(question.split()), " ".join(option.split()).rstrip(".")
    return f'To the question "{asked}" the right answer is: {said}'


def pair_of(item: BankItem, group: str, category: str, seed: int) -> PairRow | Reject:
    """The two statements of a question, or why there are none."""
    if any(refers(option) for option in item.options):
        return _reject(item, Reason.OPTIONS_REFER)
    if needs_image(item.question):
        return _reject(item, Reason.IMAGE_REFERENCE)
    if is_garbled(item.question) or any(map(is_garbled, item.options)):
        return _reject(item, Reason.NOT_WELL_FORMED)
    wrong = _wrong(item.options, item.answer)
    if not wrong or not item.answer.strip():
        return _reject(item, Reason.TOO_FEW_OPTIONS)
    # from the options' content, so that their order decides nothing
    chosen = rng(seed, "bank-tf", item.source_id).choice(wrong)
    key = stable_hash(item.source_id, item.question, item.answer, SEPARATOR.join(wrong))
    return PairRow(
        id=f"{key:016x}",
        group=group,
        source_id=item.source_id,
        part="question",
        page=None,
        start=0,
        end=len(item.question),
        source_text=item.question,
        category=category,
        mode="text",
        method="metadata",
        true=statement(item.question, item.answer),
        false=statement(item.question, chosen),
    )


def _wrong(options: Sequence[str], right: str) -> list[str]:
    same = " ".join(right.casefold().split()).rstrip(".")
    found = {" ".join(o.casefold().split()).rstrip("."): o for o in sorted(options) if o.strip()}
    return [option for plain, option in sorted(found.items()) if plain != same]


def _reject(item: BankItem, reason: Reason) -> Reject:
    return Reject(STAGE, reason, item.source_id, row=item.row)
