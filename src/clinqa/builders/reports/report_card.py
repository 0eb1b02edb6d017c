"""What the card of a dataset of reports says: how labels, questions and splits were made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from clinqa.builders.reports.report_options import BuildOptions
from clinqa.builders.reports.writer import SplitCounts, WriteResult
from clinqa.core.records import Level, Reason
from clinqa.dataset.card import Card, bullets, share_of, tabled
from clinqa.dataset.splits import DEFAULT_CUTS
from clinqa.packs.loader import Pack
from clinqa.privacy.screen import DISCLAIMER

__all__ = ["NO_PATIENT", "card_of", "two_valued"]

NO_PATIENT = "no patient column"  # the card says so in its own words

_NO_SUBJECTS = (
    "The input names no patient. Each study is its own group, so studies of one patient may stand "
    "in different splits; scores on test may be too good."
)
_LEVELS = {
    Level.CONFLICT: "statements that contradict each other (in labels.parquet only)",
    Level.INADEQUATE: "the study is inadequate to assess it",
    Level.UNSPECIFIED: "abnormal, severity not stated",
    Level.LOW: "hyperdynamic, or small",
    Level.NORMAL: "adequate, no abnormality",
    Level.MILD: "mild",
    Level.MODERATE: "moderate",
    Level.SEVERE: "severe",
}
_REASONS = {
    Reason.NO_FINDINGS: 'no statement names one of the abnormalities ("Normal study." names none)',
    Reason.EMPTY_TEXT: "the text is empty",
    Reason.TEXT_TOO_LONG: "the text is longer than --max-chars",
    Reason.NO_STUDY_ID: "the row names no study",
    Reason.CONFLICTING_STUDY_ID: "the study id stands over different texts or patients",
    Reason.BROKEN_ROW: "the row cannot be split into columns",
    Reason.BROKEN_FILE: "the file, or the rest of it, cannot be read",
    Reason.CONFLICTING_LEVELS: "one label of a kept study: its statements contradict each other",
}
_PROFILES = {
    "default": "Each distinct statement was read once: looked up in a curated lexicon, and where "
    "that does not hold it, read by a grammar of findings, degrees, negation and structures "
    "(column `method`). Findings that name an abnormality win over those that follow from a "
    "structure called normal or not seen. Of several severities the highest counts; statements "
    "that cannot stand together give -50 and no item. What nobody mentions has no label.",
    "strict": "As the default profile, and normal beside a severity is a contradiction (-50).",
    "published": "The published lineage with its order made deterministic: exact statements of a "
    "curated lexicon only, Findings sections only, no difference between findings that name an "
    "abnormality and those that follow from a structure.",
}
_COLUMNS = {
    "id": "hash of kind, source, part, page, question and answer; the same on every rebuild",
    "kind": "long_form: an open question, answered in the report's words or a canonical phrase",
    "group": "the patient as given, or the study where no patient is named; never in two splits",
    "question": "what is asked",
    "context": "text of the report to answer from",
    "answer": "the deciding sentence as written, unwrapped; a canonical answer for other types",
    "category": "the abnormality",
    "source_id": "the study as given; #1, #2 for several reports in one note",
    "spans": "where the deciding sentence stands: characters of the original text",
    "method": "what read the deciding sentence: lexicon or grammar; rules where none decided",
    "structure": "the organ part the abnormality belongs to",
    "level": "see above; null where the report does not mention the abnormality",
    "question_type": "finding, adequacy, presence, severity, unmentioned",
    "statement_seen": "does the deciding sentence also decide an item of train, case, numbers, "
    "units and spelling aside? Always true within train; null where no sentence decided",
    "nearest_in_train": "how like it is to the nearest such sentence of train, 0 to 1: the share "
    "of letters in the same order; 1 where it is seen",
}


def card_of(
    pack: Pack,
    options: BuildOptions,
    result: WriteResult,
    warnings: Sequence[str],
    *,
    subjects_known: bool,
    identifiers: Mapping[str, int],
) -> Card:
    """The card of one build."""
    levels = {level for spec in pack.abnormalities.values() for level in spec.levels}
    named = {int(level): text for level, text in _LEVELS.items() if level in levels}
    without = two_valued(pack)
    who = "patients" if subjects_known else "groups"
    splits = result.splits.values()
    told = [text for text in warnings if not text.startswith(NO_PATIENT)]
    return Card(
        title=f"Questions on {pack.spec.document} reports",
        summary=f"Each item asks what a report says of one of {len(pack.abnormalities)} "
        "abnormalities, and is answered by the sentence of the report that decided its level. "
        f"Source: {pack.spec.title.lower()}.",
        owner="the source of the text",
        items={name: split.items for name, split in result.splits.items()},
        glance=[
            ("studies", f"{sum(split.studies for split in splits):,}"),
            (
                who if subjects_known else "groups (one a study)",
                f"{sum(split.groups for split in splits):,}",
            ),
        ],
        sections=[
            ("How it was made", "\n\n".join(_method(options)) + "\n"),
            ("Splits", splits_section(result.splits, who)),
            ("Levels", levels_section(named, without)),
            ("How the text is read", bullets(pack.spec.conventions)),
            ("Items by category and level", counts_section(result.levels, without)),
            ("Identifier screen", identifiers_section(identifiers)),
        ],
        rejects=result.rejects,
        reasons={reason.value: text for reason, text in _REASONS.items()},
        columns=_COLUMNS,
        limits=["Labels say what the report states, which is not always what the patient had."],
        checked="that items, labels and statements agree, and that each deciding sentence stands "
        "in its context; with `--source INPUT` also that the input is what was read and every "
        "span its text",
        warnings=told if subjects_known else [_NO_SUBJECTS, *told],
        tags=("medical", "clinical", pack.spec.id),
    )


def splits_section(splits: Mapping[str, SplitCounts], who: str) -> str:
    """How the splits were drawn, and how much of each is known by heart from train."""
    train, validation = (Fraction(str(cut)) for cut in DEFAULT_CUTS)
    parts = (train, validation - train, 1 - validation)
    shares = " / ".join(f"{float(100 * share):.4g}" for share in parts)
    rows = [
        (name, s.groups, s.studies, s.items, s.seen, share_of(s.seen, s.items))
        for name, s in splits.items()
    ]
    head = ("split", who, "studies", "items", "statement also in train", "share")
    return (
        f"Drawn by {who[:-1]}: all items of one are in one split. {shares} % of the {who} go to "
        f"train, validation and test; few {who} give uneven numbers of items. *Statement also in "
        "train* counts items whose deciding statement also decides an item of train (case, numbers,"
        " units and spelling aside), in train therefore all that a statement decided: a model may "
        "know it by heart. Report scores on the others too (`statement_seen`; how near their "
        "nearest is: `nearest_in_train`).\n\n"
    ) + tabled(head, rows)


def levels_section(levels: Mapping[int, str], without: Sequence[str]) -> str:
    """What each level means; `without` are the categories that have no degrees."""
    if not levels:
        return ""
    present = "; present, where there are no degrees" if without else ""
    rows = [(f"{n}", text + (present if n == 1 else "")) for n, text in sorted(levels.items())]
    table = tabled(("level", "meaning"), rows)
    named = ", ".join(f"`{name}`" for name in without)
    note = f"\nWithout degrees, so that 1 means present and never mild: {named}.\n"
    return table + (note if without else "")


def counts_section(counts: Mapping[tuple[str, int], int], without: Sequence[str]) -> str:
    """Items by category and level, with sums."""
    levels = sorted({level for _, level in counts})
    categories = sorted({category for category, _ in counts})
    if not categories:
        return "None.\n"
    rows: list[tuple[str | int, ...]] = []
    for category in categories:
        row = [counts.get((category, level), 0) for level in levels]
        mark = " \\*" if category in without else ""
        rows.append((f"`{category}`{mark}", *row, sum(row)))
    sums = [sum(counts.get((c, level), 0) for c in categories) for level in levels]
    rows.append(("all", *sums, sum(sums)))
    note = "\n\\* 1 means present: there are no degrees.\n" if without else ""
    return tabled(("category", *map(str, levels), "all"), rows) + note


def identifiers_section(hits: Mapping[str, int]) -> str:
    """What the screen found; it never claims that nothing is left."""
    table = tabled(("kind", "hits"), sorted(hits.items())) if hits else "No hits.\n"
    return f"{DISCLAIMER.strip()}\n\n{table}"


def two_valued(pack: Pack) -> list[str]:
    """The abnormalities without degrees: of them 1 says that they are there, and not mild."""
    return [name for name, spec in pack.abnormalities.items() if spec.binary]


def _method(options: BuildOptions) -> list[str]:
    asked = (
        "One question a labelled study and abnormality. The answer is the deciding sentence: of "
        "those of the resolved level the one that names the fewest abnormalities, then the "
        "longest, then the first in the alphabet. Nothing hangs on the order of sentences."
    )
    if options.questions == "full":
        asked += (
            " Beside it: whether the study is adequate, whether the abnormality is there, and, "
            "where it is, how severe, with canonical answers; and questions on abnormalities that "
            "no statement of the report speaks of, not even by a number or an earlier value, whose "
            f"right answer is that the report does not say ({options.unmentioned or 0:.0%} of all "
            "items in expectation)."
        )
    context = (
        "The context holds the sections of the abnormality's structure and those in which a "
        "deciding sentence stands."
        if options.context == "section"
        else "The context is the report without the sections that describe no finding "
        "(indication, history, measurements, prior studies)."
    )
    context += (
        " Sections on what was found after an intervention are left out: labels are the baseline's."
    )
    return [_PROFILES[options.profile], asked, context]
