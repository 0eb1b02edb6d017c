"""`README.md` of a dataset: for a stranger who must decide whether to trust it.

The frame is one for all: front matter, in which `datasets.load_dataset(DIR)` finds the splits,
what it is, where everything read went, limits, how to check it. Between them stand the sections of
its builder. A card holds counts, names and the owner's own words, never text of a record.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import yaml

from clinqa.core.manifest import Manifest
from clinqa.core.origin import SIMULATED, banner_of
from clinqa.core.records import DataClass

__all__ = ["Card", "bullets", "render_card", "share_of", "tabled"]

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
RESEARCH = "It is for research on language models, not for decisions about patients."


@dataclass(frozen=True, slots=True)
class Card:
    """What a builder and the kind of its items say of a dataset; counts, names and prose."""

    title: str
    summary: str
    """One paragraph: what an item is and what it was made from."""
    owner: str
    """Whose terms hold: the source of the text, the documents, the banks."""
    items: Mapping[str, int]
    """Items by split."""
    glance: Sequence[tuple[str, str]]
    """Further rows of the first table."""
    sections: Sequence[tuple[str, str]]
    """The builder's own: headings and bodies; one without a body is left out."""
    rejects: Mapping[str, int]
    """Rows of rejects.parquet by reason."""
    reasons: Mapping[str, str]
    columns: Mapping[str, str]
    limits: Sequence[str]
    checked: str
    """What `verify` checks beside hashes, ids, totals and groups."""
    warnings: Sequence[str] = ()
    steps: Mapping[str, int] = field(default_factory=dict)
    """How many were left after each step, by its name."""
    description: str = ""
    """For machines, where it is not the summary."""
    tasks: Sequence[str] = ("question-answering",)
    tags: Sequence[str] = ("medical",)
    keywords: Sequence[str] = ()
    """For machines, where they are not the tags."""


def render_card(card: Card, manifest: Manifest) -> str:
    """The text of `README.md`."""
    banner = _BANNERS.get(manifest.data_class)
    columns = ((f"`{name}`", text) for name, text in card.columns.items())
    sections = [
        ("Warnings", bullets(card.warnings)),
        ("At a glance", tabled(("", ""), _glance(card, manifest))),
        *card.sections,
        ("Where everything read went", _accounting(card, manifest)),
        ("Columns", tabled(("column", "meaning"), columns)),
        ("Limits", bullets([*card.limits, RESEARCH])),
        (
            "Licence",
            f"As of the source: whatever terms {card.owner} came under hold here too. clinqa "
            "grants nothing.\n",
        ),
        ("Load and check", _check(card)),
    ]
    parts = [
        _front_matter(card, manifest),
        f"# {_line(card.title)}\n",
        banner_of(manifest.origin).removesuffix("\n"),
        f"> **{manifest.data_class.upper()}.** {banner}\n" if banner else "",
        card.summary.strip() + "\n",
        *(f"## {heading}\n\n{body}" if body else "" for heading, body in sections),
    ]
    return "\n".join(part for part in parts if part)


def _tags(manifest: Manifest) -> list[str]:
    origin = [f"origin:{manifest.origin}"] if manifest.origin else []
    return ["clinqa", f"data-class:{manifest.data_class}", *origin]


def _front_matter(card: Card, manifest: Manifest) -> str:
    total = sum(card.items.values())
    front: dict[str, object] = {
        "pretty_name": _line(card.title),
        "license": "other",
        "license_name": "as-of-the-source",
        "task_categories": list(card.tasks),
        "size_categories": [_SIZE_NAMES[sum(total >= limit for limit in _SIZES)]],
        "tags": [*card.tags, *_tags(manifest)],
        "language": ["en"],
    }
    # A split without rows can't be loaded by `datasets`, so only its file exists.
    if with_rows := [name for name, n in card.items.items() if n]:
        files = [{"split": name, "path": f"data/{name}-*.parquet"} for name in with_rows]
        front["configs"] = [{"config_name": "default", "data_files": files}]
    return f"---\n{yaml.safe_dump(front, sort_keys=False, allow_unicode=True, width=1000)}---\n"


def _glance(card: Card, manifest: Manifest) -> list[tuple[str, str]]:
    # what is made up has no owner whose class it could be
    known = {} if manifest.origin == SIMULATED else _CLASS_MEANING
    meaning = known.get(manifest.data_class, "")
    return [
        ("items", f"{sum(card.items.values()):,}"),
        *card.glance,
        ("data class", manifest.data_class + (f" ({meaning})" if meaning else "")),
        *([("origin", manifest.origin)] if manifest.origin else []),
        ("made by", f"clinqa {manifest.clinqa}"),
        *((name, str(seed)) for name, seed in manifest.seeds.items()),
        ("fingerprint", f"`{manifest.fingerprint[:16]}`"),
    ]


def _accounting(card: Card, manifest: Manifest) -> str:
    steps = " → ".join(f"{n:,} {name}" for name, n in card.steps.items())
    text = f"{steps}\n\n" if steps else ""
    for stage, counts in manifest.counts.items():
        text += f"- {_line(stage)}: {counts.sum}\n"
        for reason, n in sorted(counts.out_of_scope_by_reason.items()):
            text += f"  - out of scope, {_line(reason)}: {n:,}\n"
    if not card.rejects:
        return text + "\nNothing was rejected.\n"
    rows = [
        (f"`{reason}`", f"{n:,}", card.reasons.get(reason, ""))
        for reason, n in sorted(card.rejects.items(), key=lambda one: (-one[1], one[0]))
    ]
    text += "\nRejects by reason, each a row of `rejects.parquet`:\n\n"
    return text + tabled(("reason", "rows", "meaning"), rows)


def _check(card: Card) -> str:
    return (
        "```python\n"
        "from datasets import load_dataset\n\n"
        'data = load_dataset("DIR")\n'
        "```\n\n"
        "`clinqa verify DIR` hashes every file again, recomputes every id, and checks that the "
        f"totals reconcile, that no group is in two splits, {card.checked}. `manifest.json` says "
        "how it was made, with SHA-256 of inputs and outputs.\n"
    )


def bullets(lines: Iterable[str]) -> str:
    """A list; nothing of no lines."""
    return "".join(f"- {_line(text)}\n" for text in lines)


def tabled(head: Sequence[str], rows: Iterable[Sequence[str | int]]) -> str:
    """A table in Markdown; counts have their thousands apart.

    >>> print(tabled(("split", "items"), [("train", 1200)]), end="")
    | split | items |
    |---|---|
    | train | 1,200 |
    """
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for row in rows:
        cells = (f"{cell:,}" if isinstance(cell, int) else _line(cell) for cell in row)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def share_of(part: int, whole: int) -> str:
    """A share as a card writes it."""
    return f"{100 * part / whole:.1f} %" if whole else "–"


def _line(text: str) -> str:
    return " ".join(text.split())
