"""Where the number of a report contradicts its word: "EF 25 %, mildly reduced".

Numbers never make a label (LABELLING 4); here they check one. A table of the pack names each
measurement by literal phrases and says which levels agree with which numbers. Only the statements
behind a study's labels are searched, each distinct one once. Cases hold a study id and no text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import polars as pl
from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from clinqa.core.records import Level, Phase
from clinqa.core.yamlfile import read_bytes, validated
from clinqa.kinds.facets.describes import Holding
from clinqa.kinds.long_form.levels import LEVELS

__all__ = [
    "DiscordTable",
    "Measurement",
    "agreeing_levels",
    "discord_examples",
    "find_discord",
    "load_discord",
]

MAX_BYTES = 256 * 1024
_UNJUDGED = (int(Level.CONFLICT), int(Level.INADEQUATE))
_BIT = {level: 1 << index for index, level in enumerate(LEVELS)}
_NUMBER = r"[0-9]{1,3}(?:\.[0-9]{1,2})?"
_BOUND = r"[<>≤≥]=?|greater than|more than|at least|above|over|less than|at most|below|under"
_ABOVE = (">", "≥", "greater", "more", "at least", "above", "over")
_Words = Annotated[list[Annotated[str, Field(min_length=1, max_length=80)]], Field(max_length=50)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Band(_Strict):
    """From this number up to the next band's: the levels that agree."""

    start: float = Field(alias="from")
    levels: list[int] = Field(min_length=1)

    @field_validator("levels")
    @classmethod
    def _judged(cls, levels: list[int]) -> list[int]:
        if not set(levels) <= set(LEVELS) - set(_UNJUDGED):
            raise ValueError("a band's levels are of -2, -1, 0, 1, 2, 3")
        return levels


class Measurement(_Strict):
    """One number of a report and the abnormality whose level it should agree with."""

    name: str = Field(min_length=1, max_length=80)
    abnormality: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    phrases: _Words = Field(min_length=1)
    units: _Words = Field(min_length=1)
    plausible: tuple[float, float]
    reach: int = Field(default=40, ge=1, le=200)
    unless: _Words = []
    bands: list[Band] = Field(min_length=1)

    @model_validator(mode="after")
    def _in_order(self) -> Measurement:
        starts = [band.start for band in self.bands]
        if starts != sorted(set(starts)):
            raise ValueError("bands must rise, each `from` once")
        if self.plausible[0] >= self.plausible[1]:
            raise ValueError("plausible is [lowest, highest]")
        return self

    def agreeing(self, low: float, high: float) -> frozenset[int]:
        """The levels that agree with a number between `low` and `high`: all bands it touches."""
        agreeing: set[int] = set()
        ends = [band.start for band in self.bands[1:]] + [float("inf")]
        for index, (band, end) in enumerate(zip(self.bands, ends, strict=True)):
            if (index == 0 or high >= band.start) and low < end:
                agreeing.update(band.levels)
        return frozenset(agreeing)


class DiscordTable(_Strict):
    """All measurements of a pack."""

    measurements: list[Measurement] = Field(max_length=100)


@dataclass(frozen=True, slots=True)
class _Reader:
    measurement: Measurement
    number: re.Pattern[str]
    unless: re.Pattern[str] | None


def load_discord(path: Path) -> DiscordTable:
    """Read a pack's table. A mistake is an error with file and line."""
    return validated(path, read_bytes(path, MAX_BYTES), DiscordTable)


def _literal(words: Iterable[str]) -> str:
    longest_first = sorted(words, key=lambda word: (-len(word), word))
    return "|".join(r"\s+".join(map(re.escape, word.split())) for word in longest_first)


def _reader(measurement: Measurement) -> _Reader:
    units = rf"\s*(?:{_literal(measurement.units)})(?![A-Za-z])"
    number = re.compile(
        rf"(?<![A-Za-z0-9])(?:{_literal(measurement.phrases)})(?![A-Za-z0-9])"
        rf"[^0-9;.]{{0,{measurement.reach}}}?"
        rf"(?P<bound>{_BOUND})?\s*(?P<low>{_NUMBER})"
        rf"(?:(?:{units})?\s*(?:-|–|—|to|and)\s*(?P<high>{_NUMBER}))?{units}",
        re.IGNORECASE,
    )
    unless = None
    if measurement.unless:
        unless = re.compile(rf"(?<!\w)(?:{_literal(measurement.unless)})(?!\w)", re.IGNORECASE)
    return _Reader(measurement, number, unless)


def agreeing_levels(measurement: Measurement, statement: str) -> frozenset[int] | None:
    """The levels that agree with what a statement measures; None where it measures nothing.

    Of several numbers in one statement each may be right, so that any of them may agree.
    """
    return _read(_reader(measurement), statement)


def _read(reader: _Reader, statement: str) -> frozenset[int] | None:
    if reader.unless is not None and reader.unless.search(statement):
        return None
    lowest, highest = reader.measurement.plausible
    agreeing: frozenset[int] | None = None
    for found in reader.number.finditer(statement):
        low = float(found["low"])
        high = float(found["high"]) if found["high"] else low
        low, high = min(low, high), max(low, high)
        if low < lowest or high > highest:
            continue
        bound = (found["bound"] or "").casefold()
        if bound.startswith(_ABOVE):
            high = highest
        elif bound:
            low = lowest
        agreeing = (agreeing or frozenset()) | reader.measurement.agreeing(low, high)
    return agreeing


def find_discord(
    held: Holding, table: DiscordTable
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Count and list the studies of a dataset whose numbers and words disagree.

    How often each measurement is stated beside a label and how often it contradicts it; and each
    study where it does, which holds neither number nor word.
    """
    if not table.measurements:
        return [], []
    judged = _judge(held, table).rename({"name": "measurement"})
    cases = (
        judged.filter(pl.col("discord"))
        .group_by("study_id", "measurement", "abnormality", "level")
        .agg(pl.col("same_statement").any())
        .sort("measurement", "study_id")
    )
    studies = judged.group_by("measurement", "abnormality", "study_id").agg(
        pl.col("discord").any(),
        same_statement=(pl.col("discord") & pl.col("same_statement")).any(),
    )
    counted = studies.group_by("measurement", "abnormality").agg(
        stated=pl.len(),
        discord=pl.col("discord").sum(),
        same_statement=pl.col("same_statement").sum(),
    )
    found = {row["measurement"]: row for row in counted.to_dicts()}
    rows = [found[one.name] for one in table.measurements if one.name in found]
    return rows, cases.to_dicts()


def discord_examples(
    held: Holding, table: DiscordTable, limit: int
) -> list[tuple[str, str, int, str]]:
    """(study id, measurement, level, statement) of some cases. These hold text of the reports."""
    judged = _judge(held, table).filter(pl.col("discord"))
    kept = judged.sort("name", "study_id", "text").group_by("name", maintain_order=True).head(limit)
    return [tuple(row) for row in kept.select("study_id", "name", "level", "text").iter_rows()]


def _judge(held: Holding, table: DiscordTable) -> pl.DataFrame:
    """One row a study, measurement and statement: does its number agree with the study's label?"""
    labels = held.scan("labels.parquet").filter(pl.col("phase") == Phase.BASELINE.value)
    # the longest word of each phrase finds the few statements that are worth reading
    signs = sorted({max(p.split(), key=len).lower() for m in table.measurements for p in m.phrases})
    stated = (
        labels.select(
            "study_id",
            named=pl.col("abnormality"),
            text=pl.col("spans").list.eval(pl.element().struct.field("text")),
        )
        .explode("text")
        .filter(pl.col("text").str.to_lowercase().str.contains_any(signs))
        .collect(engine="streaming")
    )
    readers = [_reader(measurement) for measurement in table.measurements]
    readings = [
        (
            text,
            reader.measurement.name,
            reader.measurement.abnormality,
            sum(_BIT[level] for level in agreeing),
        )
        for text in stated["text"].unique()
        for reader in readers
        if (agreeing := _read(reader, text)) is not None
    ]
    schema = {
        "text": pl.String,
        "name": pl.String,
        "abnormality": pl.String,
        "mask": pl.Int64,
    }
    numbers = pl.DataFrame(readings, schema=schema, orient="row")
    wanted = labels.filter(
        pl.col("abnormality").is_in([one.abnormality for one in table.measurements])
        & ~pl.col("level").is_in(_UNJUDGED)
    ).select("study_id", "abnormality", "level")
    joined: pl.DataFrame = stated.join(numbers, on="text").join(
        wanted.collect(engine="streaming"), on=["study_id", "abnormality"]
    )
    bit = pl.col("level").cast(pl.Int64).replace_strict(_BIT, return_dtype=pl.Int64)
    return (
        joined.with_columns(
            discord=(pl.col("mask") & bit) == 0,
            same_statement=pl.col("named") == pl.col("abnormality"),
        )
        .group_by("study_id", "name", "abnormality", "level", "text")
        .agg(pl.col("discord").any(), pl.col("same_statement").any())
    )
