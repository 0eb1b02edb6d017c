"""`clinqa score`: a dataset and runs in, a SCORES folder out.

scores.json     figures, tests, and meta: what they stand on (see scoring/stands_on.py)
items.parquet   a row an item, run and repeat, as the kind of item judges it
tables/*.csv    the figures for a spreadsheet
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from clinqa.asking.source import kind_of_items
from clinqa.core.durable import create_file
from clinqa.core.figures import Figure, PairedTest, marked, signed
from clinqa.core.finished import change_warnings
from clinqa.core.manifest import StageCounts
from clinqa.core.predictions import PREDICTIONS_FILE, FinishedRun
from clinqa.core.stage import (
    Known,
    Made,
    Progress,
    Stage,
    StageResult,
    Workplace,
    run_stage,
    silent,
)
from clinqa.core.wording import many
from clinqa.dataset.reader import Dataset
from clinqa.kinds.facets.codes import Codes
from clinqa.kinds.facets.judges import JudgedRun, Judges, OpenJudge, SplitItems
from clinqa.kinds.facets.measures import Measures
from clinqa.kinds.registry import ItemKind, refuse_unused
from clinqa.scoring.coded import Coded, Named, about_vote, check_search, declared, searched, vote
from clinqa.scoring.corrected import Corrected, corrected_by
from clinqa.scoring.families import (
    Family,
    check_primary,
    deciding_way,
    family_of,
    figures_of,
    tests_of,
)
from clinqa.scoring.human import HumanVerdicts, read_human
from clinqa.scoring.inputs import (
    ITEMS_FILE,
    SCORES_FILE,
    ScoringSources,
    configuration_of,
    inputs_of,
    load_items,
)
from clinqa.scoring.panel import panel_of, panel_tables
from clinqa.scoring.score_options import ScoreOptions
from clinqa.scoring.stands_on import (
    lines_of,
    low_metrics,
    meta_of,
    rankings_of,
    tables_of,
    warnings_of,
)
from clinqa.scoring.transfer import Other, open_others, transfer_of
from clinqa.stats.design import Design
from clinqa.stats.estimates import RULE

__all__ = ["ITEMS_FILE", "score"]

VERB = "score"
_COUNTED = ("runs", "items", "figures", "tests")
_LIBRARIES = ("pyarrow", "numpy", "scipy")


def score(
    dataset: Path,
    runs: Sequence[Path],
    out: Path,
    options: ScoreOptions | None = None,
    progress: Progress = silent,
) -> StageResult:
    """Score these runs on the dataset they were made on, or say that it has been done."""
    options = options or ScoreOptions()
    options.check()
    sources = ScoringSources.of(dataset, runs, options)
    kind = kind_of_items(sources.dataset, [sources.runs[0].split], "judges", "measures")
    refuse_unused(options, kind)
    measures: Measures = kind.facet("measures")
    options = replace(options, primary=options.primary or measures.primary)
    check_primary(options.primary, measures)
    data_class = sources.data_class(options.data_class)
    scoring = _Scoring(sources, kind, options, progress)
    return run_stage(
        Stage(
            verb=VERB,
            holds="these scores",
            out=out,
            options=options,
            data_class=data_class,
            origin=sources.origin,
            reads=sources.finished,
            known=scoring.known,
            work=scoring.score,
            told=lambda done: {
                "answers": done.counts["answers"].kept,
                **{name: int(done.details[name]) for name in _COUNTED},
            },
            plan=lambda: scoring.plan(out, data_class.value),
            noticed=sources.unfinished,
            seeds={"seed": options.seed},
            libraries=(*_LIBRARIES, *scoring.judges.libraries),
        )
    )


@dataclass
class _Scoring:
    """One scoring from the predictions to the files in the workplace.

    What was declared or is opened beforehand is checked when this is made.
    """

    sources: ScoringSources
    kind: ItemKind
    options: ScoreOptions
    progress: Progress
    judged: dict[str, dict[str, JudgedRun]] = field(default_factory=dict)
    rows: int = 0

    def __post_init__(self) -> None:
        options, sources = self.options, self.sources
        self.dataset: Dataset = sources.dataset
        self.runs: Sequence[FinishedRun] = sources.runs
        runs = self.runs
        self.measures: Measures = self.kind.facet("measures")
        self.judges: Judges = self.kind.facet("judges")
        self.codes: Codes | None = self.kind.facet("codes") if self.kind.has("codes") else None
        self.design = Design(seed=options.seed, draws=options.draws)
        self.judge: OpenJudge = self.judges.open(
            self.dataset.folder, self.dataset.manifest, runs, options
        )
        names = [(run.id, run.name) for run in runs]
        beside = self.measures.dangers if options.dangers else ()
        self.family: Family = family_of(options.family, options.primary, names, beside)
        self.ensembles: Sequence[Named] = ()
        self.others: Sequence[Other] = ()
        if self.codes is not None:
            self.ensembles = declared(
                options.ensembles, sources.elsewhere, runs, self.kind.name, self.codes
            )
            check_search(options.search, len(runs), runs[0].split)
            self.others = open_others(
                sources.against, runs, self.kind.name, self.measures.primary, self.codes
            )

    @cached_property
    def items(self) -> SplitItems:
        """The items of the split that the runs answered."""
        return load_items(self.dataset, self.runs[0].split, self.judges, self.options.limit)

    def known(self) -> Known:
        """What decides the figures."""
        inputs, brought = inputs_of(self.sources, self.options)
        inputs += self.judge.inputs
        told = configuration_of(self.dataset, self.runs, self.options, self.kind)
        known = Known({**told, **self.judge.configuration}, inputs, brought=brought)
        decides = {"intervals": RULE, **self.judge.decides, "inputs": known.hashes}
        return replace(known, decides=decides)

    def plan(self, out: Path, data_class: str) -> list[str]:
        """What would be read and written; nothing is sent anywhere."""
        options, declared = self.options, ", ".join(self.family.metrics)
        lines = [f"would score against {self.measures.against(self.items)}"]
        for run in self.runs:
            with run.finished.parquet_file(PREDICTIONS_FILE) as file:
                rows = file.metadata.num_rows
            lines.append(
                f"would read {run.folder} ({run.model}, {run.shots}-shot, {many(rows, 'answer')})"
            )
        return [
            *lines,
            *self.judge.plan,
            f"would test {options.family} on {declared}, and write scores ({data_class}) to {out}",
            "would send nothing anywhere",
        ]

    def score(self, place: Workplace) -> Made:
        """Everything that is known, written."""
        measures, options = self.measures, self.options
        self._judge(place)
        votes = self._votes()
        figures = self._figures(votes)
        way = deciding_way(self.judged, measures.ways, options.reader)
        tests = self._tests(way)
        verdicts = self._verdicts()
        people = self._people(verdicts)
        figures += [one.figure for one in people]
        mark = place.mark
        figures, tests = (
            [signed(one, mark) for one in figures],
            [signed(one, mark) for one in tests],
        )
        meta = self._meta(way, figures)
        if measures.corrects is not None:
            runs = [dict(one.about) for one in people]
            meta["human"] = None if not people else {
                "n": sum(one["n"] for one in runs), "runs": runs, "rows": verdicts.counts.read,
                "not_judged": verdicts.empty, "rejected": dict(verdicts.rejects),
            }  # fmt: skip
        tables = {
            **tables_of(figures, tests, measures),
            **measures.more_tables(self.every, meta),
            **self._panel(meta, votes, figures, tests, mark),
        }
        warnings = meta["warnings"] = [
            *change_warnings(place.accepted),
            *warnings_of(
                self.items, self.judged, votes, measures, self.dataset.manifest, figures, meta,
                limited=options.limit is not None,
            ),
            *(told for one in people for told in one.warnings),
            *verdicts.warnings(),
        ]  # fmt: skip
        _write(place, figures, tests, marked(meta, mark), {**self.judge.files, **tables})
        return Made(
            counts={
                "answers": self._counts(),
                **({"verdicts": verdicts.counts} if people else {}),
            },
            rows={ITEMS_FILE: self.rows},
            warnings=warnings,
            details={
                "runs": len(self.runs),
                "items": len(self.items),
                "figures": len(figures),
                "tests": len(tests),
            },
            lines=lines_of(figures, measures, options.primary),
        )

    @property
    def every(self) -> list[JudgedRun]:
        """Every run in every way that it was read."""
        return [one for own in self.judged.values() for one in own.values()]

    @property
    def first(self) -> list[JudgedRun]:
        """Every run once."""
        return [next(iter(own.values())) for own in self.judged.values()]

    def _judge(self, place: Workplace) -> None:
        with _items_file(place) as write:
            for number, run in enumerate(self.runs):
                self.progress("scoring", number, len(self.runs))
                own = self.judged[run.id] = {}
                for one, rows in self.judge.runs(run, self.items):
                    write(rows)
                    self.rows += len(rows)
                    own[one.way] = one

    def _votes(self) -> list[JudgedRun]:
        by_id = {one.id: one for one in self.first}
        return [vote(one, by_id, self.items, self.codes) for one in self.ensembles if self.codes]

    def _figures(self, votes: Sequence[JudgedRun]) -> list[Figure]:
        made: list[Figure] = []
        every = [*self.every, *votes]
        for number, one in enumerate(every):
            self.progress("intervals", number, len(every))
            made += figures_of(one, self.items, self.measures, self.design)
        return made

    def _tests(self, way: str) -> list[PairedTest]:
        if len(self.runs) < 2:
            return []
        self.progress("comparing", 0, 1)
        return tests_of(self.family, self.judged, self.items, self.measures, way, self.design)

    def _verdicts(self) -> HumanVerdicts:
        if self.options.human is None or self.measures.corrects is None:
            return HumanVerdicts({})
        names = {name: run.id for run in self.runs for name in (run.id, run.name)}
        return read_human(self.options.human, names, self.measures.corrects)

    def _people(self, verdicts: HumanVerdicts) -> list[Corrected]:
        return [
            corrected_by(one, self.items, self.measures, verdicts, self.options.human_strata)
            for one in self.first
            if one.id in verdicts.by_run
        ]

    def _meta(self, way: str, figures: Sequence[Figure]) -> dict[str, Any]:
        measures = self.measures
        lower = low_metrics(self.every, self.items, measures)
        meta = meta_of(
            self.dataset, self.kind.name, self.items, self.judged, measures, self.family, figures,
            self.design, lower,
        )  # fmt: skip
        meta |= {**self.judge.about, **measures.about(self.items, self.every, self.options.seed)}
        if measures.ways[1:]:
            meta["reader"] = way
        if measures.ranked:
            meta |= rankings_of(figures, meta["runs"], measures.ranked, self.options.primary, lower)
        return meta

    def _panel(
        self,
        meta: dict[str, Any],
        votes: Sequence[JudgedRun],
        figures: Sequence[Figure],
        tests: Sequence[PairedTest],
        mark: str,
    ) -> dict[str, str]:
        """What only several runs together show, into meta; and its tables."""
        if self.codes is None:
            return {}
        self.progress("panel", 0, 1)
        coded = Coded(
            self.kind.name, self.measures.primary, self.codes, self.items, self.first, votes,
            self.design,
        )  # fmt: skip
        main = [one for one in figures if self.measures.main(one) and not one.subset]
        panel = meta["panel"] = panel_of(coded, main, self.measures.tuning)
        meta["runs"] += [about_vote(one) for one in votes]
        panel["ensembles"] = [
            {"run": one.id, "name": told.name, "members": list(told.members),
             "searched": told.searched, "how": one.how}
            for told, one in zip(self.ensembles, votes, strict=True)
        ]  # fmt: skip
        if self.options.search is not None:
            panel["search"] = searched(self.options.search, coded, self.runs[0].split)
        if self.others:
            panel |= transfer_of(self.others, coded, tests, panel["bases"])
        meta["panel"] = marked(panel, mark)
        return panel_tables(coded, meta["panel"])

    def _counts(self) -> StageCounts:
        outside = sum(one.unknown for one in self.first)
        answers = sum(one.answers for one in self.first)
        why = "not_in_split" if self.options.limit is None else "limit"
        return StageCounts(
            read=answers + outside,
            kept=answers,
            out_of_scope=outside,
            out_of_scope_by_reason={why: outside} if outside else {},
        )


def _write(
    place: Workplace,
    figures: Sequence[Figure],
    tests: Sequence[PairedTest],
    meta: Mapping[str, Any],
    files: Mapping[str, bytes | str],
) -> None:
    body = {
        "figures": [one.as_json() for one in figures],
        "tests": [one.as_json() for one in tests],
        "meta": meta,
    }
    place.write(SCORES_FILE, json.dumps(body, ensure_ascii=False, allow_nan=False, indent=1))
    for name, content in files.items():
        place.write(f"tables/{name}" if name.endswith(".csv") else name, content)


@contextmanager
def _items_file(place: Workplace) -> Iterator[Callable[[pa.Table], None]]:
    """A function that appends a table to items.parquet; the first table gives the columns."""
    writer: pq.ParquetWriter | None = None
    path = place.partial / ITEMS_FILE
    with os.fdopen(create_file(path, private=place.private), "wb") as file:

        def write(rows: pa.Table) -> None:
            nonlocal writer
            if writer is None:
                writer = pq.ParquetWriter(file, rows.schema, compression="zstd")
            writer.write_table(rows)

        try:
            yield write
        finally:
            if writer is not None:
                writer.close()
