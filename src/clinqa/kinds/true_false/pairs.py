"""Whether a dataset of statement pairs is what it claims: pairs, texts, counts, the probe.

The shortcut probe: can the label be told from the statement's wording alone?

A bag-of-words classifier sees the statement and nothing else: neither its source nor its twin. It
is cross-validated by pair, so that no twin is among what it learned from. At chance (0.5) the
wording gives nothing away; published baselines of this kind reach 86 to 96 % on generated data.
Well below chance is no shortcut either: where every word is exactly as often true as false, what
is left after one pair is taken out leans the other way.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from clinqa.core.arrays import Bools, Ints
from clinqa.core.ids import stable_hash
from clinqa.core.manifest import Manifest
from clinqa.core.problems import Findings, Problem
from clinqa.core.records import SPLITS
from clinqa.kinds.facets.columns import Checked
from clinqa.stats.estimates import Estimate, estimate

__all__ = [
    "FEWEST_PAIRS",
    "Probe",
    "pair_problems",
    "probe",
    "probed",
]

FEWEST_PAIRS = 20
"""Of fewer pairs nothing can be learned and nothing said."""

_FOLDS = 10
_MOST_PAIRS = 20_000
_WORD = r"[^\W_]+|[^\w\s]"
_SIGNATURE = "probe|words+neighbours|logistic|C=1|10-fold by pair|v1"


@dataclass(frozen=True, slots=True)
class Probe:
    """The accuracy of the classifier with its interval over pairs; None where there are too few."""

    accuracy: Estimate | None
    pairs: int
    folds: int = _FOLDS

    def as_json(self) -> dict[str, object]:
        """For a manifest."""
        found = self.accuracy
        return {
            "accuracy": None if found is None else round(found.value, 6),
            "low": None if found is None else round(found.low, 6),
            "high": None if found is None else round(found.high, 6),
            "n": 0 if found is None else found.n,
            "clusters": 0 if found is None else found.clusters,
            "signature": _SIGNATURE,
        }


def probe(statements: Sequence[str], labels: Sequence[bool], pairs: Sequence[str]) -> Probe:
    """Cross-validated accuracy on the statements alone; the same in whatever order they come."""
    rows = sorted(zip(pairs, labels, statements, strict=True))
    names = sorted({pair for pair, _, _ in rows}, key=lambda name: stable_hash("probe", name))
    count = len(names)
    if count < FEWEST_PAIRS:
        return Probe(None, count)
    chosen = set(names[:_MOST_PAIRS])
    rows = [row for row in rows if row[0] in chosen]
    fold = {name: number % _FOLDS for number, name in enumerate(names[:_MOST_PAIRS])}
    folds = np.array([fold[pair] for pair, _, _ in rows])
    right = _answers(
        [text for _, _, text in rows], np.array([label for _, label, _ in rows]), folds
    )
    groups = [pair for pair, _, _ in rows]
    return Probe(replace(estimate(right, groups), signature=_SIGNATURE), count)


def _answers(texts: Sequence[str], labels: Bools, folds: Ints) -> Bools:
    """Whether each statement was told right by a classifier that did not see its fold."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression

    right = np.zeros(len(texts), dtype=bool)
    for number in range(_FOLDS):
        held = folds == number
        if not held.any():
            continue
        words = CountVectorizer(token_pattern=_WORD, ngram_range=(1, 2), lowercase=True)
        seen = words.fit_transform([t for t, h in zip(texts, held, strict=True) if not h])
        model = LogisticRegression(C=1.0, max_iter=500, solver="liblinear", random_state=0)
        model.fit(seen, labels[~held])
        asked = words.transform([t for t, h in zip(texts, held, strict=True) if h])
        right[held] = model.predict(asked) == labels[held]
    return right


PAGES = "pages.parquet"
_COLUMNS = (
    *("id", "group", "question", "answer", "source_id", "spans", "label", "pair_id"),
    "source_text",
)
_FUNNEL = ("drafts", "verified", "merged", "paired", "deduplicated", "pairs")


def pair_problems(checked: Checked) -> Iterator[Problem]:
    """Everything in which the pairs contradict themselves, their pages or the manifest."""
    items = _items(checked)
    yield from _pairs(items)
    yield from _counts(checked.manifest)
    if PAGES in checked.readable:
        yield from _spans(checked, items)
    written = checked.manifest.details.get("probe")
    found = _probe(items).as_json()
    if isinstance(written, dict) and any(
        written.get(name) != found[name] for name in ("accuracy", "n", "clusters")
    ):
        yield Problem("probe", "the manifest's shortcut probe", "not what the statements give")


def probed(checked: Checked) -> tuple[Mapping[str, object], str]:
    """The shortcut probe, run again, as values and as a line."""
    found = _probe(_items(checked))
    if found.accuracy is None:
        return {"probe": None}, f"shortcut probe: too few pairs ({found.pairs:,}) to say anything"
    one = found.accuracy
    return {"probe": found.as_json()}, (
        f"shortcut probe: labels told from the wording alone with accuracy {one.value:.3f} "
        f"({one.low:.3f} to {one.high:.3f}; {one.clusters:,} pairs; chance is 0.5)"
    )


def _probe(items: Mapping[str, list[dict[str, Any]]]) -> Probe:
    rows = [row for own in items.values() for row in own]
    return probe(
        [str(row["question"]) for row in rows],
        [bool(row["label"]) for row in rows],
        [str(row["pair_id"]) for row in rows],
    )


def _items(checked: Checked) -> dict[str, list[dict[str, Any]]]:
    return {
        split: [row for table in checked.items(split, _COLUMNS) for row in table.to_pylist()]
        for split in SPLITS
    }


def _pairs(items: Mapping[str, list[dict[str, Any]]]) -> list[Problem]:
    """Each pair: two items, one label each, one source text, one group, one split."""
    whole = Findings("pairs", "data", "pair without exactly one True and one False item")
    source = Findings("pairs", "data", "pair of two source texts")
    apart = Findings("pairs", "data", "pair whose two statements are one")
    label = Findings("pairs", "data", "label that is not the answer, item")
    problems = []
    where: dict[str, set[str]] = defaultdict(set)
    for split, own in items.items():
        pairs: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for row in own:
            pairs[str(row["pair_id"])].append(row)
            where[str(row["pair_id"])].add(split)
            if str(row["label"]) != row["answer"]:
                label.add(str(row["id"]))
        for name, rows in sorted(pairs.items()):
            if sorted(str(row["label"]) for row in rows) != ["False", "True"]:
                whole.add(name)
                continue
            one, other = rows
            same = ("source_text", "group", "source_id", "spans")
            if any(one.get(column) != other.get(column) for column in same):
                source.add(name)
            if one["question"] == other["question"]:
                apart.add(name)
        true = sum(bool(row["label"]) for row in own)
        if 2 * true != len(own):
            text = f"{true} of {len(own)} items are True, not half"
            problems.append(Problem("pairs", f"data/{split}", text))
    divided = Findings("groups", "data", "pair in two splits")
    for name, splits in sorted(where.items()):
        if len(splits) > 1:
            divided.add(name)
    for findings in (whole, source, apart, label, divided):
        problems += findings.problems()
    return problems


def _spans(checked: Checked, items: Mapping[str, list[dict[str, Any]]]) -> list[Problem]:
    """Every source text stands on its page, at the place that is told."""
    texts = {
        (part, row["md5"], row["page"]): row["text"]
        for name, part in ((PAGES, "page"), ("transcripts.parquet", "transcript"))
        for row in checked.rows(name, ["md5", "page", "text"])
    }
    wrong = Findings("spans", "data", "source text is not the page's text there, item")
    for own in items.values():
        for row in own:
            spans = row["spans"] or []
            said = str(row["source_text"]).split()
            fits = len(spans) == 1 and _stands(texts, row["source_id"], spans[0], said)
            if not fits:
                wrong.add(str(row["id"]))
    return wrong.problems()


def _stands(
    texts: Mapping[tuple[str, str, int], str],
    source: str,
    span: Mapping[str, object],
    said: list[str],
) -> bool:
    page, start, end = span["page"], span["start"], span["end"]
    if not (isinstance(page, int) and isinstance(start, int) and isinstance(end, int)):
        return False
    text = texts.get((str(span["part"]), source, page))
    if text is None or not 0 <= start < end <= len(text):
        return False
    return text[start:end].split() == said == str(span["text"]).split()


def _counts(manifest: Manifest) -> Iterable[Problem]:
    """Each stage reads what the one before it kept."""
    counts = manifest.counts
    chain = [("sentences", "drafts"), ("drafts", "pairs")]
    for before, after in chain:
        if before in counts and after in counts and counts[before].kept != counts[after].read:
            text = f"{counts[before].kept} kept, but {after} read {counts[after].read}"
            yield Problem("totals", f"manifest.json, stage {before}", text)
    if "pairs" in counts and "items" in counts and 2 * counts["pairs"].kept != counts["items"].read:
        text = f"{counts['pairs'].kept} pairs, but {counts['items'].read} items"
        yield Problem("totals", "manifest.json, stage items", text)
    funnel = manifest.details.get("funnel")
    if isinstance(funnel, dict):
        steps = [funnel[name] for name in _FUNNEL if isinstance(funnel.get(name), int)]
        if steps != sorted(steps, reverse=True):
            yield Problem("totals", "manifest.json, funnel", "a later step holds more")
