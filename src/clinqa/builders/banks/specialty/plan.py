"""What a build would do: read, learn, send where, at what cost. Nothing is written or sent.

Also what the build is known by, what its manifest tells a person, and the bank that comes with
clinqa: about 120 questions in our own words, for demo and tests.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from clinqa.builders.banks.gather import Gathered
from clinqa.builders.banks.specialty.ask import prompts_of
from clinqa.builders.banks.specialty.expert import Expert
from clinqa.builders.banks.specialty.specialty_options import SpecialtyOptions
from clinqa.core.errors import ConfigError
from clinqa.core.manifest import FileRecord, Manifest
from clinqa.core.pathnames import refuse_two_meanings
from clinqa.core.stage import Known
from clinqa.core.visible import visible
from clinqa.dataset.splits import items_of_splits
from clinqa.models.prices import Price, PriceList, estimate, load_prices, tokens_of
from clinqa.models.registry import kind_of
from clinqa.packs.specialties import Specialties
from clinqa.sources.banks import BankFile

__all__ = [
    "BUNDLED",
    "VERB",
    "bundled",
    "configuration_of",
    "counts_of",
    "dry_run",
    "known_of",
    "price_of",
]


def price_of(options: SpecialtyOptions) -> Price | None:
    """The price of the model, as the user's price file has it."""
    prices = _prices(options)
    price = prices.of(options.model) if prices else None
    if price is None and options.max_cost is not None:
        raise ConfigError(
            f"--max-cost needs to know what {options.model} costs, and the price file does not say"
        )
    return price


def dry_run(
    files: Sequence[BankFile],
    problems: Sequence[str],
    gathered: Gathered,
    expert: Expert | None,
    options: SpecialtyOptions,
    pack: Specialties,
    minilm: Path | None,
    out: Path,
) -> list[str]:
    """Lines for people."""
    lines = []
    for file in files:
        answers = file.answers.kind
        if answers == "number":
            answers = f"numbers from {file.answers.base} ({file.answers.why})"
        lines.append(
            f"would read {visible(str(file.path))} ({file.name}, {file.records:,} records, "
            f"answers: {answers})"
        )
    lines += [f"would skip: {visible(text)}" for text in problems]
    lines.append(
        f"{len(gathered.items):,} distinct questions, {gathered.duplicates:,} duplicates, "
        f"{len(gathered.rejects):,} unusable records"
    )
    if expert is not None:
        counts = Counter(expert.labels)
        lines.append(f"{len(expert.items):,} labelled questions of {len(counts)} specialties")
    if options.annotator == "classifier":
        with_meaning = "with" if minilm else "without"
        lines.append(f"would train five voters here, {with_meaning} sentence embeddings")
        lines.append("would send nothing anywhere")
    elif options.annotator == "llm":
        lines += _asking(gathered, options, pack)
    else:
        lines.append("would take the specialty that the bank names; would send nothing anywhere")
    lines.append(f"would write a dataset ({options.data_class.value}) to {visible(str(out))}")
    return lines


def _asking(gathered: Gathered, options: SpecialtyOptions, pack: Specialties) -> list[str]:
    price_of(options)
    kind = kind_of(options.model)
    tokens: list[int] = []
    most = 0
    for one in prompts_of(gathered.items, pack, options.seed):
        tokens.append(tokens_of(one.prompt))
        most = max(most, one.max_tokens)
    cost = estimate(options.model, tokens, most, _prices(options))
    where = f"send them to {options.base_url or 'its service'}" if kind.remote else "send nothing"
    return [f"would ask {options.model} with five prompts a question: {cost}", f"would {where}"]


def _prices(options: SpecialtyOptions) -> PriceList | None:
    return None if options.price_file is None else load_prices(options.price_file)


VERB = "build specialty"


def counts_of(manifest: Manifest) -> dict[str, int]:
    """What `--json` and the last lines tell."""
    questions, items = manifest.counts["questions"], manifest.counts["items"]
    return {
        "read": questions.read,
        "questions": questions.kept,
        "duplicates": questions.duplicates,
        "unreadable": questions.rejected,
        "items": items.kept,
        "rejected": items.rejected,
        **items_of_splits(manifest),
        "near_duplicates": manifest.details["near_duplicate_pairs"],
    }


def configuration_of(options: SpecialtyOptions) -> dict[str, Any]:
    """What the run was told, as the manifest tells it."""
    sets = options.calibration
    return {
        "annotator": options.annotator,
        "model": options.model,
        **({"leave_out": sorted(options.leave_out)} if options.leave_out else {}),
        "metadata_first": options.metadata_first,
        "quorum": options.votes_needed,
        "min_specialty_size": options.smallest,
        "sets": {
            "kind": sets.kind,
            "alpha": sets.alpha,
            "rule": sets.rule,
            "cover": sets.cover,
            "randomised": sets.randomised,
        },
        "near": options.near,
        "drop_leaks": options.drop_leaks,
        "drop_flagged": options.drop_flagged,
        "answer_base": options.answer_base,
        "limit": options.limit,
        "seed": options.seed,
    }


def known_of(
    options: SpecialtyOptions,
    pack: Specialties,
    inputs: Sequence[FileRecord],
    embeddings: str | None,
    banks: int,
) -> Known:
    """What decides the rows. The order of banks does not, unless there is a limit."""
    own = [record.sha256 for record in inputs[:banks]]
    return Known(
        configuration_of(options),
        inputs,
        {
            "pack_fingerprint": pack.fingerprint,
            "banks": own if options.limit is not None else sorted(own),
            "labelled": sorted(record.sha256 for record in inputs[banks:]),
            "embeddings": embeddings,
        },
    )


#: What the command line calls it.
BUNDLED = "bundled"


def bundled(word: str | Path) -> Path:
    """The file of the bundled bank if that is what is named, else the path.

    ConfigError where a path is called so, too. "./bundled" means the path, but only as text: a Path
    drops the `./`.
    """
    if str(word) != BUNDLED:
        return Path(word)
    refuse_two_meanings(word, "the bundled bank")
    return Path(str(resources.files("clinqa.packs"))) / "specialty" / "bank.jsonl"
