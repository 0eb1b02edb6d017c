"""`README.md` of a dataset: for a stranger who must decide whether to trust it.

Its front matter lets `datasets.load_dataset(DIR)` find the splits. It holds counts, names of the
pack and the owner's own words, never text of a record.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import yaml

from clinqa.core.manifest import StageCounts
from clinqa.core.records import DataClass
from clinqa.dataset.splits import DEFAULT_CUTS
from clinqa.dataset.writer import SplitCounts

__all__ = ["CardFacts", "render_card"]

_BANNERS: Mapping[str, str] = {
    DataClass.RESTRICTED: "It was made from text whose use is restricted. Keep it where the "
    "source may be kept, give it only to people who may see the source, and send none of it to a "
    "service that the source's terms do not allow.",
    DataClass.PHI: "It holds protected health information. Keep it inside the institution that "
    "holds the records, under that institution's rules.",
}
_CLASS_MEANING: Mapping[str, str] = {
    DataClass.PUBLIC: "the source is public",
    DataClass.LICENSED: "the source may be used under its licence",
    DataClass.RESTRICTED: "the source is given only to people who have agreed to its terms",
    DataClass.PHI: "the source holds protected health information",
}
_SIZES = (1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000)
_SIZE_NAMES = (
    "n<1K",
    "1K<n<10K",
    "10K<n<100K",
    "100K<n<1M",
    "1M<n<10M",
    "10M<n<100M",
    "100M<n<1B",
)


@dataclass(frozen=True, slots=True)
class CardFacts:
    """What the card says. Everything here is counts, names and prose; no text of a record."""

    title: str
    summary: str
    """One paragraph: what an item is and what it was made from."""
    data_class: str
    method: Sequence[str]
    """Paragraphs: how labels, questions, answers and splits were made."""
    levels: Mapping[int, str]
    """Meaning of each level."""
    counts: Mapping[tuple[str, int], int]
    """Items by category and level."""
    splits: Mapping[str, SplitCounts]
    stages: Mapping[str, StageCounts]
    rejects: Mapping[str, int]
    """Rows of rejects.parquet by reason."""
    fingerprint: str
    clinqa: str
    seed: int
    subjects_known: bool = True
    reason_meaning: Mapping[str, str] = field(default_factory=dict)
    identifier_hits: Mapping[str, int] | None = None
    identifier_note: str = ""
    warnings: Sequence[str] = ()
    limits: Sequence[str] = ()
    two_valued: Sequence[str] = ()
    """Categories without degrees, in which 1 means present."""
    conventions: Sequence[str] = ()
    """How the text is read where a reader might expect otherwise."""
    cuts: tuple[float, float] = DEFAULT_CUTS
    """Where the splits are cut, as shares of the groups."""
    columns: Mapping[str, str] = field(default_factory=dict)
    languages: Sequence[str] = ()
    licence: str = "as of the source"
    tags: Sequence[str] = ("medical",)


def render_card(facts: CardFacts) -> str:
    """The text of `README.md`."""
    total = sum(split.items for split in facts.splits.values())
    parts = [
        _front_matter(facts, total),
        f"# {_line(facts.title)}\n",
        _banner(facts),
        facts.summary.strip() + "\n",
        _warnings(facts),
        _glance(facts, total),
        "## How it was made\n\n" + "\n\n".join(p.strip() for p in facts.method) + "\n",
        _splits(facts),
        _levels(facts),
        _conventions(facts),
        _counts(facts),
        _accounting(facts),
        _identifiers(facts),
        _columns(facts),
        _limits(facts),
        _licence(facts),
        _check(facts),
    ]
    return "\n".join(part for part in parts if part)


def _front_matter(facts: CardFacts, total: int) -> str:
    # A split without rows can't be loaded by `datasets`, so only its file exists.
    with_rows = [name for name, split in facts.splits.items() if split.items]
    size = sum(total >= limit for limit in _SIZES)
    front: dict[str, object] = {
        "pretty_name": _line(facts.title),
        "license": "other",
        "license_name": _slug(facts.licence),
        "task_categories": ["question-answering"],
        "size_categories": [_SIZE_NAMES[size]],
        "tags": [*facts.tags, "clinqa", f"data-class:{facts.data_class}"],
    }
    if facts.languages:
        front["language"] = list(facts.languages)
    if with_rows:
        front["configs"] = [
            {
                "config_name": "default",
                "data_files": [
                    {"split": name, "path": f"data/{name}-*.parquet"} for name in with_rows
                ],
            }
        ]
    text = yaml.safe_dump(front, sort_keys=False, allow_unicode=True, width=1000)
    return f"---\n{text}---\n"


def _banner(facts: CardFacts) -> str:
    text = _BANNERS.get(facts.data_class)
    return f"> **{facts.data_class.upper()}.** {text}\n" if text else ""


def _warnings(facts: CardFacts) -> str:
    warnings = list(facts.warnings)
    if not facts.subjects_known:
        warnings.insert(
            0,
            "The input names no patient. Each study is its own group, so studies of one patient "
            "may stand in different splits; scores on test may be too good.",
        )
    if not warnings:
        return ""
    return "## Warnings\n\n" + "".join(f"- {_line(text)}\n" for text in warnings)


def _glance(facts: CardFacts, total: int) -> str:
    studies = sum(split.studies for split in facts.splits.values())
    groups = sum(split.groups for split in facts.splits.values())
    who = "patients" if facts.subjects_known else "groups (one a study)"
    meaning = _CLASS_MEANING.get(facts.data_class, "")
    rows = [
        ("items", _n(total)),
        ("studies", _n(studies)),
        (who, _n(groups)),
        ("data class", f"{facts.data_class} ({meaning})" if meaning else facts.data_class),
        ("made by", f"clinqa {facts.clinqa}"),
        ("seed", str(facts.seed)),
        ("fingerprint", f"`{facts.fingerprint[:16]}`"),
    ]
    return "## At a glance\n\n" + _table(("", ""), rows)


def _splits(facts: CardFacts) -> str:
    who = "patients" if facts.subjects_known else "groups"
    rows = [
        (name, _n(s.groups), _n(s.studies), _n(s.items), _n(s.seen), _share(s.seen, s.items))
        for name, s in facts.splits.items()
    ]
    head = ("split", who, "studies", "items", "statement also in train", "share")
    return (
        "## Splits\n\n"
        f"Drawn by {who[:-1]}: all items of one are in one split. {_cut_shares(facts.cuts)} of the "
        f"{who} go to train, validation and test; few {who} give uneven numbers of items. "
        "*Statement also in train* counts items whose deciding statement also decides an item of "
        "train, in train therefore all that a statement decided: a model may know it by heart. "
        "Report scores on the others too (`statement_seen`).\n\n"
    ) + _table(head, rows)


def _levels(facts: CardFacts) -> str:
    if not facts.levels:
        return ""
    rows = []
    for level, text in sorted(facts.levels.items()):
        note = "; present, where there are no degrees" if level == 1 and facts.two_valued else ""
        rows.append((str(level), _line(text) + note))
    table = "## Levels\n\n" + _table(("level", "meaning"), rows)
    if not facts.two_valued:
        return table
    named = ", ".join(f"`{name}`" for name in facts.two_valued)
    return f"{table}\nWithout degrees, so that 1 means present and never mild: {named}.\n"


def _conventions(facts: CardFacts) -> str:
    if not facts.conventions:
        return ""
    return "## How the text is read\n\n" + "".join(f"- {_line(t)}\n" for t in facts.conventions)


def _cut_shares(cuts: tuple[float, float]) -> str:
    train, validation = (Fraction(str(cut)) for cut in cuts)
    shares = (train, validation - train, 1 - validation)
    return " / ".join(f"{float(share):.4g}" for share in (100 * s for s in shares)) + " %"


def _counts(facts: CardFacts) -> str:
    levels = sorted({level for _, level in facts.counts})
    categories = sorted({category for category, _ in facts.counts})
    if not categories:
        return "## Items\n\nNone.\n"
    rows = []
    for category in categories:
        row = [facts.counts.get((category, level), 0) for level in levels]
        mark = " \\*" if category in facts.two_valued else ""
        rows.append((f"`{category}`{mark}", *map(_n, row), _n(sum(row))))
    sums = [sum(facts.counts.get((c, level), 0) for c in categories) for level in levels]
    rows.append(("all", *map(_n, sums), _n(sum(sums))))
    head = ("category", *map(str, levels), "all")
    note = "\n\\* 1 means present: there are no degrees.\n" if facts.two_valued else ""
    return "## Items by category and level\n\n" + _table(head, rows) + note


def _accounting(facts: CardFacts) -> str:
    text = "## Where everything read went\n\n"
    for stage, counts in facts.stages.items():
        text += f"- {_line(stage)}: {counts.sum}\n"
        for reason, n in sorted(counts.out_of_scope_by_reason.items()):
            text += f"  - out of scope, {_line(reason)}: {_n(n)}\n"
    if facts.rejects:
        rows = [
            (f"`{reason}`", _n(n), _line(facts.reason_meaning.get(reason, "")))
            for reason, n in sorted(facts.rejects.items(), key=lambda item: (-item[1], item[0]))
        ]
        text += "\nRejects by reason, each a row of `rejects.parquet`:\n\n"
        text += _table(("reason", "rows", "meaning"), rows)
    else:
        text += "\nNothing was rejected.\n"
    return text


def _identifiers(facts: CardFacts) -> str:
    if facts.identifier_hits is None:
        return ""
    rows = [(_line(kind), _n(n)) for kind, n in sorted(facts.identifier_hits.items())]
    note = facts.identifier_note or (
        "A screen by pattern: it misses identifiers and counts things that are none. "
        "It says nothing about whether the text is de-identified."
    )
    table = _table(("kind", "hits"), rows) if rows else "No hits.\n"
    return f"## Identifier screen\n\n{note.strip()}\n\n{table}"


def _columns(facts: CardFacts) -> str:
    if not facts.columns:
        return ""
    rows = [(f"`{name}`", _line(text)) for name, text in facts.columns.items()]
    return "## Columns\n\n" + _table(("column", "meaning"), rows)


def _limits(facts: CardFacts) -> str:
    limits = [
        "Labels say what the report states, which is not always what the patient had.",
        "It is for research on language models, not for decisions about patients.",
        *facts.limits,
    ]
    return "## Limits\n\n" + "".join(f"- {_line(text)}\n" for text in limits)


def _licence(facts: CardFacts) -> str:
    return (
        "## Licence\n\n"
        f"{_line(facts.licence)[:1].upper()}{_line(facts.licence)[1:]}: the text is the source's, "
        "and whatever terms the source came under hold here too. clinqa grants nothing.\n"
    )


def _check(facts: CardFacts) -> str:
    return (
        "## Load and check\n\n"
        "```python\n"
        "from datasets import load_dataset\n\n"
        'data = load_dataset("DIR")\n'
        "```\n\n"
        "`clinqa verify DIR` hashes every file again, recomputes every id, and checks that the "
        "totals reconcile, that no group is in two splits, that items, labels and statements "
        "agree, and that each deciding sentence stands in its context; with `--source INPUT` also "
        "that the input is what was read and every span its text. `manifest.json` says how it was "
        "made, with SHA-256 of inputs and outputs.\n"
    )


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def _line(text: str) -> str:
    return " ".join(text.split())


def _slug(text: str) -> str:
    return "-".join(_line(text).lower().split())


def _n(number: int) -> str:
    return f"{number:,}"


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "–"
