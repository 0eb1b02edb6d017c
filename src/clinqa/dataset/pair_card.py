"""`README.md` of a dataset of statement pairs: what a stranger needs to decide on trusting it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import yaml

from clinqa.core.manifest import StageCounts
from clinqa.kinds.true_false.probe import FEWEST_PAIRS

__all__ = ["PairCardFacts", "render_pair_card"]

_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


@dataclass(frozen=True, slots=True)
class PairCardFacts:
    """Counts, names and prose; no text of a document."""

    title: str
    summary: str
    data_class: str
    method: Sequence[str]
    splits: Mapping[str, Mapping[str, int]]
    topics: Mapping[str, int]
    """Pairs by topic, by the topic's name for people."""
    edits: Mapping[str, int]
    """Pairs by what differs between the two statements."""
    denials: Mapping[str, float]
    """The share of True and of False statements that deny."""
    probe: Mapping[str, object]
    across: float
    """The highest similarity of two source texts in different splits."""
    funnel: Mapping[str, int]
    stages: Mapping[str, StageCounts]
    rejects: Mapping[str, int]
    reason_meaning: Mapping[str, str]
    columns: Mapping[str, str]
    fingerprint: str
    clinqa: str
    seed: int
    split_by: str
    warnings: Sequence[str] = ()
    limits: Sequence[str] = ()
    licence: str = "as of the source"
    tags: Sequence[str] = ("medical",)


def render_pair_card(facts: PairCardFacts) -> str:
    """The text of `README.md`."""
    parts = [
        _front_matter(facts),
        f"# {facts.title}\n",
        facts.summary.strip() + "\n",
        _bullets("Warnings", facts.warnings),
        _glance(facts),
        "## How it was made\n\n" + "\n\n".join(text.strip() for text in facts.method) + "\n",
        _probe(facts),
        _splits(facts),
        "## Topics\n\n" + _counted("topic", facts.topics),
        "## What differs within a pair\n\n" + _counted("edit", facts.edits) + _denials(facts),
        _accounting(facts),
        "## Columns\n\n"
        + _table(("column", "meaning"), [(f"`{k}`", v) for k, v in facts.columns.items()]),
        _bullets("Limits", facts.limits),
        f"## Licence\n\n{facts.licence[:1].upper()}{facts.licence[1:]}: the source texts are the "
        "documents', and whatever terms they came under hold here too. clinqa grants nothing.\n",
        _check(),
    ]
    return "\n".join(part for part in parts if part)


def _front_matter(facts: PairCardFacts) -> str:
    total = sum(split["items"] for split in facts.splits.values())
    size = next((name for limit, name in _SIZES if total < limit), "n>1M")
    front: dict[str, object] = {
        "pretty_name": facts.title,
        "language": ["en"],
        "license": "other",
        "license_name": "-".join(facts.licence.lower().split()),
        "task_categories": ["question-answering", "text-classification"],
        "size_categories": [size],
        "tags": [*facts.tags, "clinqa", f"data-class:{facts.data_class}"],
    }
    filled = [name for name, split in facts.splits.items() if split["items"]]
    if filled:
        files = [{"split": name, "path": f"data/{name}-*.parquet"} for name in filled]
        front["configs"] = [{"config_name": "default", "data_files": files}]
    return f"---\n{yaml.safe_dump(front, sort_keys=False, allow_unicode=True, width=1000)}---\n"


def _glance(facts: PairCardFacts) -> str:
    pairs = sum(split["pairs"] for split in facts.splits.values())
    rows = [
        ("items", f"{2 * pairs:,}"),
        ("pairs", f"{pairs:,}"),
        ("labels", "half True, half False in every split"),
        ("data class", facts.data_class),
        ("made by", f"clinqa {facts.clinqa}"),
        ("seed", str(facts.seed)),
        ("fingerprint", f"`{facts.fingerprint[:16]}`"),
    ]
    return "## At a glance\n\n" + _table(("", ""), rows)


def _probe(facts: PairCardFacts) -> str:
    found = facts.probe
    head = (
        "## Shortcut probe\n\n"
        "A bag-of-words classifier that sees the statement alone, cross-validated by pair. At 0.5 "
        "the wording gives no label away; above it, a model may score without knowing anything. "
        "Below 0.5 is no shortcut: where each word is as often true as false, what is left after "
        "some pairs are taken out leans the other way.\n\n"
    )
    value, low, high = (found.get(name) for name in ("accuracy", "low", "high"))
    if not all(isinstance(one, float) for one in (value, low, high)):
        return f"{head}Not run: fewer than {FEWEST_PAIRS} pairs.\n"
    return (
        f"{head}Accuracy **{value:.3f}** (95 % interval over pairs {low:.3f} to {high:.3f}; "
        f"{found['n']:,} items, {found['clusters']:,} pairs; {found['signature']}).\n"
    )


def _splits(facts: PairCardFacts) -> str:
    by = "documents" if facts.split_by == "document" else "clusters of like source texts"
    rows = [
        (name, f"{s['groups']:,}", f"{s['pairs']:,}", f"{s['items']:,}")
        for name, s in facts.splits.items()
    ]
    return (
        f"## Splits\n\nDrawn by {by}, 80 / 10 / 10 % of them; both statements of a pair are always "
        "in one split.\n\n"
        + _table(("split", "groups", "pairs", "items"), rows)
        + "\nTwo source texts in different splits share at most "
        f"{facts.across:.2f} of their words (Jaccard).\n"
    )


def _denials(facts: PairCardFacts) -> str:
    return (
        f"\nA word that denies stands in {facts.denials.get('true', 0):.1%} of the True and "
        f"{facts.denials.get('false', 0):.1%} of the False statements.\n"
    )


def _accounting(facts: PairCardFacts) -> str:
    text = "## Where everything read went\n\n"
    text += " → ".join(f"{n:,} {name}" for name, n in facts.funnel.items()) + "\n\n"
    for stage, counts in facts.stages.items():
        text += f"- {stage}: {counts.sum}\n"
        for reason, n in sorted(counts.out_of_scope_by_reason.items()):
            text += f"  - out of scope, {reason}: {n:,}\n"
    if not facts.rejects:
        return text + "\nNothing was rejected.\n"
    rows = [
        (f"`{reason}`", f"{n:,}", facts.reason_meaning.get(reason, ""))
        for reason, n in sorted(facts.rejects.items(), key=lambda one: (-one[1], one[0]))
    ]
    head = "\nRejects by reason, each a row of `rejects.parquet`:\n\n"
    return text + head + _table(("reason", "rows", "meaning"), rows)


def _counted(what: str, counts: Mapping[str, int]) -> str:
    rows = [(name, f"{n:,}") for name, n in sorted(counts.items(), key=lambda one: -one[1])]
    return _table((what, "pairs"), rows) if rows else "None.\n"


def _bullets(title: str, lines: Sequence[str]) -> str:
    if not lines:
        return ""
    return f"## {title}\n\n" + "".join(f"- {' '.join(text.split())}\n" for text in lines)


def _check() -> str:
    return (
        "## Load and check\n\n"
        "```python\nfrom datasets import load_dataset\n\n"
        'data = load_dataset("DIR")\n```\n\n'
        "`clinqa verify DIR` hashes every file again, recomputes every id, checks that each pair "
        "is whole, balanced and in one split, that its source text is the page's "
        "(`pages.parquet`), that totals reconcile, and runs the shortcut probe again; with "
        "`--source INPUT` the documents are compared too.\n"
    )


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += [
        "| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in row) + " |"
        for row in rows
    ]
    return "\n".join(lines) + "\n"
