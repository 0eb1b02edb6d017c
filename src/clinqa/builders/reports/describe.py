"""What the card of a dataset of reports says: how labels, questions and splits were made."""

from __future__ import annotations

from collections.abc import Mapping

from clinqa.builders.reports.options import BuildOptions
from clinqa.core.manifest import Manifest
from clinqa.core.records import Level, Reason
from clinqa.dataset.card import CardFacts
from clinqa.dataset.writer import WriteResult
from clinqa.packs.loader import Pack
from clinqa.privacy.screen import DISCLAIMER

__all__ = ["NO_PATIENT", "card_facts", "two_valued"]

NO_PATIENT = "no patient column"  # the card says so in its own words

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
    "statement_seen": "does the deciding sentence also decide an item of train? Always true within "
    "train; null where no sentence decided",
}


def card_facts(
    pack: Pack,
    options: BuildOptions,
    result: WriteResult,
    manifest: Manifest,
    *,
    subjects_known: bool,
    identifiers: Mapping[str, int],
) -> CardFacts:
    """The facts of the card of one build."""
    levels = {level for spec in pack.abnormalities.values() for level in spec.levels}
    return CardFacts(
        title=f"Questions on {pack.spec.document} reports",
        summary=f"Each item asks what a report says of one of {len(pack.abnormalities)} "
        "abnormalities, and is answered by the sentence of the report that decided its level. "
        f"Source: {pack.spec.title.lower()}.",
        data_class=manifest.data_class,
        method=[*_method(options)],
        levels={int(level): text for level, text in _LEVELS.items() if level in levels},
        two_valued=two_valued(pack),
        conventions=pack.spec.conventions,
        counts=result.levels,
        splits=result.splits,
        stages=result.counts,
        rejects=result.rejects,
        fingerprint=manifest.fingerprint,
        clinqa=manifest.clinqa,
        seed=options.seed,
        subjects_known=subjects_known,
        reason_meaning={reason.value: text for reason, text in _REASONS.items()},
        identifier_hits=identifiers,
        identifier_note=DISCLAIMER,
        warnings=[text for text in manifest.warnings if not text.startswith(NO_PATIENT)],
        columns=_COLUMNS,
        languages=("en",),
        tags=("medical", "clinical", pack.spec.id),
    )


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
            f"right answer is that the report does not say ({options.unmentioned_share:.0%} of all "
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
