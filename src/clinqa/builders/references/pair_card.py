"""What the card of a dataset of statement pairs says.

What a build of references was told, and what a dry run says that it would do.

What stands beside the items of documents: their pages, names, transcripts, and a page's XML.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from clinqa.builders.pairs import PAIR_TASKS, PAIRS_CHECKED, probe_section
from clinqa.builders.references.reference_options import ReferenceOptions
from clinqa.builders.references.stages import Pair
from clinqa.core.durable import make_folder, write_durably
from clinqa.core.manifest import Manifest
from clinqa.core.records import Reason, Reject
from clinqa.core.visible import visible
from clinqa.core.wording import many
from clinqa.dataset.card import Card, tabled
from clinqa.dataset.parquet import write_table
from clinqa.packs.references import ReferencePack
from clinqa.sources.pdf import (
    DOCUMENTS,
    PAGES,
    Identity,
    PdfDocument,
    documents_table,
    page_xml,
    pages_table,
    xml_name,
)

__all__ = ["COLUMNS", "REASONS", "card_of", "configuration_of", "would_do", "write_pages"]

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
    Reason.NO_VERDICT: "the judge gave no verdict on one of its statements",
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


def card_of(
    pack: ReferencePack,
    options: ReferenceOptions,
    manifest: Manifest,
    splits: Mapping[str, Mapping[str, int]],
    pairs: Sequence[Pair],
    rejects: Sequence[Reject],
) -> Card:
    """The card of one build; `splits` gives groups, pairs and items of each."""
    details, topics = manifest.details, pack.spec.topics
    by = "documents" if options.split_by == "document" else "clusters of like source texts"
    edits = Counter(pair.form.edit.value for pair in pairs)
    denials = details["denials"]
    return Card(
        title=f"{pack.spec.title}: true and false statements in pairs",
        summary=f"Each item is a statement from an {pack.spec.document} and whether it is true. "
        "Statements come in pairs from one source text: one true, one false, one small edit apart "
        "(a value, a direction, an anatomical or temporal term, a denial).",
        owner="the documents",
        items={name: split["items"] for name, split in splits.items()},
        glance=[
            ("pairs", f"{sum(split['pairs'] for split in splits.values()):,}"),
            ("labels", "half True, half False in every split"),
        ],
        sections=[
            ("How it was made", "\n\n".join(_method(options)) + "\n"),
            ("Shortcut probe", probe_section(details["probe"])),
            (
                "Splits",
                f"Drawn by {by}, 80 / 10 / 10 % of them; both statements of a pair are always in "
                "one split.\n\n"
                + tabled(
                    ("split", "groups", "pairs", "items"),
                    [(name, *split.values()) for name, split in splits.items()],
                )
                + "\nTwo source texts in different splits share at most "
                f"{details['across_splits']:.2f} of their words (Jaccard).\n",
            ),
            ("Topics", _counted("topic", Counter(topics[p.draft.topic].name for p in pairs))),
            (
                "What differs within a pair",
                _counted("edit", edits)
                + f"\nA word that denies stands in {denials.get('true', 0):.1%} of the True and "
                f"{denials.get('false', 0):.1%} of the False statements.\n",
            ),
        ],
        rejects=Counter(reject.reason.value for reject in rejects),
        reasons={reason.value: text for reason, text in REASONS.items()},
        columns=COLUMNS,
        limits=_limits(options),
        checked=PAIRS_CHECKED,
        warnings=manifest.warnings,
        steps=details["funnel"],
        tasks=PAIR_TASKS,
        tags=("medical", "clinical", pack.spec.id),
    )


def _counted(what: str, counts: Mapping[str, int]) -> str:
    rows = sorted(counts.items(), key=lambda one: -one[1])
    return tabled((what, "pairs"), rows) if rows else "None.\n"


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
    ]
    if options.accept_vision:
        limits.append(
            "Pages without text were transcribed by a model; what it misread is not found."
        )
    return limits


def configuration_of(options: ReferenceOptions, pack: ReferencePack) -> dict[str, Any]:
    """What the run was told, as the manifest tells it."""
    told: dict[str, Any] = {
        "pack": pack.spec.id,
        "generator": options.generator,
        "negation_cap": options.negation_cap,
        "split_by": options.split_by,
        "limit": options.limit,
        "seed": options.seed,
    }
    if options.skip_pages:
        told["skip_pages"] = sorted(options.skipped)
    if options.generator == "llm":
        told |= {
            "model": options.model,
            "base_url": options.base_url,
            "judge": options.judge,
            "per_page": options.per_page,
            "max_tokens": options.max_tokens,
        }
    if options.leave_out:
        told["leave_out"] = sorted(options.leave_out)
    if options.vision_model:
        told |= {"vision_model": options.vision_model, "accept_vision": options.accept_vision}
    return told


def would_do(
    plan: Sequence[Identity], options: ReferenceOptions, pack: ReferencePack, out: Path
) -> list[str]:
    """What would be read, written and sent."""
    total = sum(one.bytes for one in plan)
    lines = [f"would read {many(len(plan), 'document')} ({total:,} bytes)"]
    lines += [f"  {visible(', '.join(one.names))}" for one in plan[:20]]
    if len(plan) > 20:
        lines.append(f"  and {len(plan) - 20:,} more")
    topics = ", ".join(topic.name.lower() for topic in pack.spec.topics.values())
    lines.append(f"would make statements on {topics}, by {options.generator}")
    lines.append(f"would write a dataset ({options.data_class.value}) to {visible(str(out))}")
    if options.generator == "llm" or options.vision_model:
        named = ", ".join(filter(None, (options.model, options.vision_model)))
        lines.append(
            f"would send pages to {named}"
            + (f" at {visible(options.base_url)}" if options.base_url else "")
        )
    else:
        lines.append("would send nothing anywhere")
    return lines


# what a model read off pages; offsets of the part `transcript` refer to it
_TRANSCRIPTS = pa.schema([PAGES.field(name) for name in ("md5", "page", "text")])


def write_pages(
    partial: Path,
    documents: Sequence[PdfDocument],
    topics: Mapping[tuple[str, int], str],
    transcripts: Sequence[tuple[str, int, str]] = (),
    *,
    private: bool,
) -> dict[str, int]:
    """Write pages, documents, transcripts and the XML of each page; gives the tables' rows."""
    tables = [
        ("pages.parquet", pages_table(documents), PAGES),
        ("documents.parquet", documents_table(documents), DOCUMENTS),
    ]
    if transcripts:
        told = [dict(zip(_TRANSCRIPTS.names, one, strict=True)) for one in sorted(transcripts)]
        table = pa.Table.from_pylist(told, schema=_TRANSCRIPTS)
        tables.append(("transcripts.parquet", table, _TRANSCRIPTS))
    for name, table, schema in tables:
        write_table(partial / name, table, schema, private=private)
    if any(document.pages for document in documents):
        make_folder(partial / "xml", private=private)
    for document in documents:
        for page in document.pages:
            body = page_xml(page, topics.get((page.md5, page.page), ""))
            write_durably(partial / "xml" / xml_name(page), body, private=private)
    return {name: table.num_rows for name, table, _ in tables}
