"""The stages from pages to pairs, each a plain function; `pipeline` is the life of a build.

    pages -> drafts -> verified -> merged -> paired -> deduplicated -> chosen forms

Nothing here knows of files. What is lost at a stage is a `Reject` with its reason, and each stage
says what became of all that it read.

Drafts of one page, from its text and from its transcript, without doubles.

Two drafts are doubles if they say the same words, or if they are made of the same piece of the
page. The one from the page's own text stays, then the one that stands first.

Of pairs with nearly the same source text one stays; those that are alike stay together.

Two source texts of nearly the same words that differ in a number, a denial or a word that has an
opposite ("left axis", "right axis") are not the same: both stay, in one cluster.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from clinqa.builders.references.abbreviations import explained
from clinqa.builders.references.asking import Asker, Drafted
from clinqa.builders.references.balance import (
    Candidates,
    choose,
    over_cap,
    without_needless_denials,
)
from clinqa.builders.references.check import check_item, counterparts, form_from, page_index
from clinqa.builders.references.clauses import read_clause
from clinqa.builders.references.drafts import Draft, LostDraft, Page, PagePart
from clinqa.builders.references.evidence import Evidence, tokens_of
from clinqa.builders.references.forms import PairForm, has_negation
from clinqa.builders.references.numbers import quantities
from clinqa.builders.references.pack_words import Words
from clinqa.builders.references.rules import glean
from clinqa.core.ids import SEPARATOR
from clinqa.core.manifest import StageCounts
from clinqa.core.records import Reason, Reject
from clinqa.dataset.near_duplicates import clusters, near_duplicates, stay

__all__ = [
    "DUPLICATE",
    "RELATED",
    "Pair",
    "Staged",
    "deduplicate",
    "differ",
    "drafts_by_model",
    "drafts_by_rules",
    "merged",
    "pair_id",
    "to_pairs",
]

_SHARED = 0.5


def merged(drafts: Sequence[Draft]) -> tuple[list[Draft], list[Draft]]:
    """The drafts of one page that stay, and the doubles."""
    kept: list[Draft] = []
    doubles: list[Draft] = []
    said: set[tuple[str, ...]] = set()
    heard: set[tuple[str, ...]] = set()
    for draft in sorted(drafts, key=_order):
        words = tuple(t.text for t in tokens_of(draft.statement))
        source = tuple(t.text for t in tokens_of(draft.source_text))
        double = words in said or source in heard or any(_overlap(draft, one) for one in kept)
        (doubles if double else kept).append(draft)
        said.add(words)
        heard.add(source)
    return kept, doubles


def _order(draft: Draft) -> tuple[bool, int, int, str]:
    return draft.part is not PagePart.PAGE, draft.start, -draft.end, draft.statement


def _overlap(one: Draft, other: Draft) -> bool:
    if one.part is not other.part:
        return False
    shared = min(one.end, other.end) - max(one.start, other.start)
    return shared > _SHARED * min(one.end - one.start, other.end - other.start)


DUPLICATE, RELATED = 0.90, 0.80


def deduplicate(
    sources: Sequence[str], ids: Sequence[str], words: Words
) -> tuple[list[int], list[int]]:
    """For each source text: which one stays in its place (-1: itself), and the first of its
    cluster (-1 for a text that does not stay). Of what is the same the lowest id stays."""
    alike = near_duplicates(list(sources), RELATED)
    rank_of = {own: rank for rank, own in enumerate(sorted(ids))}
    ranks = [rank_of[own] for own in ids]
    instead = stay(
        alike, ranks, DUPLICATE, lambda one, other: differ(sources[one], sources[other], words)
    ).tolist()
    staying = [i for i, other in enumerate(instead) if other < 0]
    return instead, clusters(alike, staying).tolist()


def differ(one: str, other: str, words: Words) -> bool:
    """Whether two texts of nearly the same words say different things."""
    return _telling(one, words) != _telling(other, words)


def _telling(text: str, words: Words) -> Counter[str]:
    return Counter(
        token.text
        for token in tokens_of(text)
        if token.kind == "number" or token.text in words.fixed or token.text in words.negating
    )


NOT_ACCEPTED = "from_a_picture"
"""Drafts from a page's transcript, which a person has to accept."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two statements with opposite labels from one source text."""

    id: str
    draft: Draft
    form: PairForm
    cluster: str


@dataclass(slots=True)
class Staged:
    """What the stages so far gave, and what each lost."""

    drafts: list[Draft] = field(default_factory=list)
    rejects: list[Reject] = field(default_factory=list)
    counts: dict[str, StageCounts] = field(default_factory=dict)
    funnel: dict[str, int] = field(default_factory=dict)


def pair_id(draft: Draft) -> str:
    """The identity of a pair: the place of its source text."""
    parts = (draft.md5, draft.part.value, str(draft.page), str(draft.start), str(draft.end))
    return hashlib.sha256(SEPARATOR.join(("pair", *parts)).encode()).hexdigest()[:16]


def drafts_by_rules(pages: Sequence[Page], words: Words) -> Staged:
    """The drafts that the rules glean, checked like any other."""
    staged = Staged()
    passed: Counter[str] = Counter()
    read = 0
    texts: dict[str, list[str]] = defaultdict(list)
    for page in pages:
        texts[page.md5].append(page.text)
    meanings = {md5: explained(own) for md5, own in texts.items()}
    for page in pages:
        gleaned = glean(page, words, meanings[page.md5])
        read += gleaned.read
        passed.update(gleaned.passed)
        index = page_index(page, words)
        found: list[Draft | LostDraft] = []
        for draft in gleaned.drafts:
            place = index.find(draft.source_text)
            if isinstance(place, Evidence):
                found.append(draft)
            else:
                found.append(LostDraft(place, page.md5, page.page, page.part, f"at {draft.start}"))
        _settle(staged, found)
    drafted = read - sum(passed.values())
    staged.counts["sentences"] = StageCounts(
        read=read,
        kept=drafted,
        out_of_scope=sum(passed.values()),
        out_of_scope_by_reason=dict(passed),
    )
    return staged


def drafts_by_model(drafted: Iterable[Drafted], words: Words) -> Staged:
    """A model's items, each verified by rules; what cannot be read or verified is a reject."""
    staged = Staged()
    for one in drafted:
        page = one.page
        found: list[Draft | LostDraft] = []
        if one.failed:
            found.append(LostDraft(Reason.MODEL_FAILED, page.md5, page.page, page.part, one.failed))
        found += [
            LostDraft(Reason.MALFORMED_REPLY, page.md5, page.page, page.part)
            for _ in range(one.reply.malformed)
        ]
        index = page_index(page, words)
        found += [check_item(item, page, index, words) for item in one.reply.items]
        _settle(staged, found)
    return staged


def _settle(staged: Staged, found: Sequence[Draft | LostDraft]) -> None:
    staged.funnel["drafts"] = staged.funnel.get("drafts", 0) + len(found)
    for one in found:
        if isinstance(one, Draft):
            staged.drafts.append(one)
        else:
            place = (one.md5, one.part.value, one.page, None)
            staged.rejects.append(Reject("drafts", one.reason, *place, one.detail))


def _reject_draft(stage: str, reason: Reason, draft: Draft, detail: str = "") -> Reject:
    return Reject(stage, reason, draft.md5, draft.part.value, draft.page, draft.start, detail)


def merge(staged: Staged, accept_vision: bool) -> None:
    """One set of drafts a page; those from pictures wait for a person unless they are accepted."""
    by_page: dict[tuple[str, int], list[Draft]] = defaultdict(list)
    waiting = 0
    verified = len(staged.drafts)
    for draft in staged.drafts:
        if draft.part is PagePart.TRANSCRIPT and not accept_vision:
            waiting += 1
        else:
            by_page[draft.md5, draft.page].append(draft)
    kept: list[Draft] = []
    doubles = 0
    for key in sorted(by_page):
        own, twice = merged(by_page[key])
        kept += own
        doubles += len(twice)
    drafts = staged.funnel.get("drafts", 0)
    by_reason = Counter(r.reason.value for r in staged.rejects if r.stage == "drafts")
    staged.drafts = kept
    staged.funnel |= {"verified": verified, "merged": len(kept)}
    staged.counts["drafts"] = StageCounts(
        read=drafts,
        kept=len(kept),
        rejected=sum(by_reason.values()),
        duplicates=doubles,
        out_of_scope=waiting,
        rejected_by_reason=dict(by_reason),
        out_of_scope_by_reason={NOT_ACCEPTED: waiting} if waiting else {},
    )


def to_pairs(
    staged: Staged,
    words: Words,
    *,
    seed: int,
    negation_cap: float,
    asker: Asker | None = None,
    judge: bool = False,
) -> list[Pair]:
    """The pairs of all drafts: with a counterpart, without near-duplicates, no label given away."""
    drafts = sorted(staged.drafts, key=pair_id)
    met = _numbers_met(drafts, words)
    forms = [counterparts(draft, words, met) for draft in drafts]
    if asker is not None:
        _ask_for_missing(drafts, forms, asker, words)
    lost: list[Reject] = []
    paired = []
    for draft, own in zip(drafts, forms, strict=True):
        if own:
            paired.append((draft, own))
        else:
            lost.append(_reject_draft("pairs", Reason.NO_COUNTERPART, draft))
    staged.funnel["paired"] = len(paired)
    ids = [pair_id(draft) for draft, _ in paired]
    instead, clusters_of = deduplicate([draft.source_text for draft, _ in paired], ids, words)
    unique = []
    for i, ((draft, own), other) in enumerate(zip(paired, instead, strict=True)):
        if other >= 0:
            lost.append(
                _reject_draft("pairs", Reason.NEAR_DUPLICATE, draft, f"of pair {ids[other]}")
            )
        else:
            unique.append((ids[i], draft, own, ids[clusters_of[i]]))
    staged.funnel["deduplicated"] = len(unique)
    candidates = [Candidates(name, own) for name, _, own, _ in unique]
    over = over_cap(candidates, negation_cap)
    chosen = choose(
        [
            Candidates(one.key, without_needless_denials(one.forms))
            for one in candidates
            if one.key not in over
        ],
        seed,
    )
    pairs = []
    for name, draft, _, cluster in unique:
        if name in over:
            lost.append(_reject_draft("pairs", Reason.NEGATION_CAP, draft))
        else:
            pairs.append(Pair(name, draft, chosen[name], cluster))
    if judge and asker is not None:
        pairs = _judged(pairs, asker, lost)
    staged.rejects += lost
    by_reason = Counter(reject.reason.value for reject in lost)
    staged.counts["pairs"] = StageCounts(
        read=len(drafts),
        kept=len(pairs),
        rejected=len(lost),
        rejected_by_reason=dict(by_reason),
    )
    staged.funnel["pairs"] = len(pairs)
    return pairs


def _ask_for_missing(
    drafts: Sequence[Draft], forms: list[tuple[PairForm, ...]], asker: Asker, words: Words
) -> None:
    """Counterparts by the model where the rules found none; they count if rules confirm them."""
    missing = [i for i, own in enumerate(forms) if not own]
    for i, statement in zip(missing, asker.counterparts([drafts[i] for i in missing]), strict=True):
        form = form_from(drafts[i], statement, words) if statement else None
        if form is not None:
            forms[i] = (form,)


def _judged(pairs: Sequence[Pair], asker: Asker, lost: list[Reject]) -> list[Pair]:
    """The pairs of which the model says that both statements hold.

    One that it rejects is lost as that; one on which it gave no verdict is lost too, with why: a
    judge that fails lets nothing in.
    """
    asked = [
        (statement, label, pair.draft.source_text)
        for pair in pairs
        for statement, label in ((pair.form.true, True), (pair.form.false, False))
    ]
    verdicts = asker.verdicts_on(asked)
    kept = []
    for pair, own in zip(pairs, zip(verdicts[::2], verdicts[1::2], strict=True), strict=True):
        if any(verdict.holds is False for verdict in own):
            lost.append(_reject_draft("pairs", Reason.JUDGED_WRONG, pair.draft))
        elif silent := [verdict.why for verdict in own if verdict.holds is None]:
            why = ", ".join(dict.fromkeys(silent))
            lost.append(_reject_draft("pairs", Reason.NO_VERDICT, pair.draft, why))
        else:
            kept.append(pair)
    return kept


def _numbers_met(drafts: Sequence[Draft], words: Words) -> dict[str, tuple[float, ...]]:
    """The numbers of each unit in all drafts: a changed one looks like those of the documents."""
    met: dict[str, set[float]] = defaultdict(set)
    for draft in drafts:
        clause = read_clause(draft.statement, words)
        for quantity in quantities(clause, words) if clause else ():
            met[quantity.unit].update(quantity.values)
    return {unit: tuple(sorted(values)) for unit, values in met.items()}


def denial_shares(pairs: Sequence[Pair], words: Words) -> Mapping[str, float]:
    """The share of True and of False statements that hold a word that denies."""
    true = sum(has_negation(pair.form.true, words) for pair in pairs)
    false = sum(has_negation(pair.form.false, words) for pair in pairs)
    many = max(1, len(pairs))
    return {"true": round(true / many, 6), "false": round(false / many, 6)}
