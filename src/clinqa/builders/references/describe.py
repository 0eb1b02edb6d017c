"""What the card of a dataset of statement pairs says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from clinqa.builders.references.options import ReferenceOptions
from clinqa.builders.references.stages import Pair
from clinqa.core.manifest import Manifest, StageCounts
from clinqa.core.records import Reason, Reject
from clinqa.dataset.pair_card import PairCardFacts
from clinqa.dataset.pairs import PairsWritten
from clinqa.packs.references import ReferencePack

__all__ = ["COLUMNS", "REASONS", "card_facts"]

REASONS: Mapping[Reason, str] = {
    Reason.MALFORMED_REPLY: "a piece of a model's reply that is no item",
    Reason.MODEL_FAILED: "the model gave no answer for this page",
    Reason.BAD_LABEL: "the label is neither True nor False",
    Reason.QUOTE_TOO_SHORT: "fewer than 12 characters of evidence",
    Reason.QUOTE_NOT_FOUND: "the source text does not stand on the page",
    Reason.QUOTE_SPANS_PAGES: "the source text runs over two pages",
    Reason.QUOTE_CUTS_NEGATION: "the source text leaves out the word that denies it",
    Reason.IMAGE_REFERENCE: "it hangs on a picture",
    Reason.NOT_WELL_FORMED: "not one plain declarative sentence",
    Reason.OFF_TOPIC: "about none of the topics",
    Reason.NOT_IN_SOURCE: "it says something that its source text does not say for certain",
    Reason.NO_COUNTERPART: "no small edit contradicts it for certain",
    Reason.NOT_CONTRADICTING: "the counterpart does not contradict it",
    Reason.JUDGED_WRONG: "the judge rejected one of its statements",
    Reason.NEAR_DUPLICATE: "another pair has nearly the same source text (Jaccard 0.90 or more)",
    Reason.NEGATION_CAP: "only a denial contradicts it, and enough pairs rest on one",
}

COLUMNS: Mapping[str, str] = {
    "id": "hash of kind, source, part, page, question and answer; the same on every rebuild",
    "kind": "true_false",
    "group": "cluster of like source texts, or the document; never in two splits",
    "question": "the statement",
    "context": "empty: the statement is judged by itself",
    "answer": "True or False",
    "category": "the topic",
    "source_id": "the document: MD5 of its bytes (its name stands in documents.parquet alone)",
    "spans": "where the source text stands: characters of the page's text in pages.parquet",
    "method": "what wrote the statement: rules or llm",
    "label": "the same as answer",
    "pair_id": "the two statements of a pair share it: one edit apart, opposite labels",
    "mode": "what the page was read with: text, both or vision",
    "source_text": "what decides the label; the same for both statements of a pair",
}


def card_facts(
    pack: ReferencePack,
    options: ReferenceOptions,
    manifest: Manifest,
    written: PairsWritten,
    pairs: Sequence[Pair],
    rejects: Sequence[Reject],
    stages: Mapping[str, StageCounts],
) -> PairCardFacts:
    """The facts of the card of one build."""
    details = manifest.details
    topics = pack.spec.topics
    return PairCardFacts(
        title=f"{pack.spec.title}: true and false statements in pairs",
        summary=f"Each item is a statement from an {pack.spec.document} and whether it is true. "
        "Statements come in pairs from one source text: one true, one false, one small edit apart "
        "(a value, a direction, an anatomical or temporal term, a denial).",
        data_class=manifest.data_class,
        method=_method(options),
        splits=written.splits,
        topics=Counter(topics[pair.draft.topic].name for pair in pairs),
        edits=Counter(pair.form.edit.value for pair in pairs),
        denials=details["denials"],
        probe=details["probe"],
        across=details["across_splits"],
        funnel=details["funnel"],
        stages=stages,
        rejects=Counter(reject.reason.value for reject in rejects),
        reason_meaning={reason.value: text for reason, text in REASONS.items()},
        columns=COLUMNS,
        fingerprint=manifest.fingerprint,
        clinqa=manifest.clinqa,
        seed=options.seed,
        split_by=options.split_by,
        warnings=manifest.warnings,
        limits=_limits(options),
        tags=("medical", "clinical", pack.spec.id),
    )


def _method(options: ReferenceOptions) -> list[str]:
    told = [
        "Pages were read as text where they have enough of it. A statement counts only if its "
        "source text stands on the page: words aligned typography aside, every number, unit, sign "
        "and denial exact, at least 12 characters, nothing that hangs on a picture."
    ]
    if options.generator == "rules":
        told.append(
            "No model took part. Declarative sentences on the topics were picked and rewritten by "
            "rules: those that point outside themselves, are weakened by a doubt, belong to one "
            "paper's own work or are not of the plainest build were passed over."
        )
    else:
        told.append(
            f"Drafts were written by {options.model}, page by page; it saw the page's text and no "
            "title. What it wrote counts only where rules confirm it: the words of the source in "
            "the source's order, its numbers, opposites, denials and doubts all there."
        )
    told.append(
        "The counterpart contradicts for certain: a changed number leaves what is stated, a word "
        "stands against its opposite where the sentence says one thing of its subject, or the verb "
        "is denied. Which edit a pair takes was chosen over all pairs together, so that each word "
        "is about as often true as false."
    )
    return told


def _limits(options: ReferenceOptions) -> list[str]:
    limits = [
        "A label says what the document states, which may be outdated or wrong.",
        "It is for research on language models, not for decisions about patients.",
    ]
    if options.accept_vision:
        limits.append(
            "Pages without text were transcribed by a model; what it misread is not found."
        )
    return limits
