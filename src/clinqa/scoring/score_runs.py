"""`clinqa score`: a dataset and runs in, a SCORES folder out.

scores.json     figures, tests, and meta: what they stand on (see score/meta.py)
items.parquet   a row an item, run and repeat: answer, reference, what was read, each metric
tables/*.csv    the figures for a spreadsheet
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from clinqa.core.errors import ConfigError
from clinqa.core.figures import Figure, PairedTest
from clinqa.core.outfolder import OutFolder
from clinqa.core.progress import Progress, silent
from clinqa.core.records import Kind
from clinqa.dataset.reader import Dataset, open_dataset
from clinqa.kinds.long_form.answer_reader import AnswerReader
from clinqa.kinds.long_form.answer_words import words_fingerprint
from clinqa.kinds.long_form.clinical import ClinicalScorer
from clinqa.packs.loader import Pack
from clinqa.scoring.binary.run import score_statements
from clinqa.scoring.binary.statements import kind_of_split
from clinqa.scoring.choice.run import score_choices
from clinqa.scoring.comparisons import Family, family_of, tests_of
from clinqa.scoring.corrected import Corrected, corrected
from clinqa.scoring.figures import Drawing, figures_of, overall_measures
from clinqa.scoring.folder import (
    Made,
    Scoring,
    dry_run,
    figure_line,
    items_file,
    score_into,
    status_warning,
)
from clinqa.scoring.human import read_human
from clinqa.scoring.identity import configuration_of, data_class_of, inputs_of, labeller_of, pack_of
from clinqa.scoring.inputs import Items, Run, load_items, open_runs
from clinqa.scoring.meta import Scored, meta_of
from clinqa.scoring.score_options import ScoreOptions, ScoreResult
from clinqa.scoring.scored import ScoredRun, score_run
from clinqa.scoring.spreads import spreads_of
from clinqa.scoring.subsets import Subset, subsets_of
from clinqa.scoring.tables import tables_of

__all__ = ["ScoreOptions", "ScoreResult", "score"]


def score(
    dataset: Path,
    runs: Sequence[Path],
    out: Path,
    options: ScoreOptions | None = None,
    progress: Progress = silent,
) -> ScoreResult:
    """Score these runs on the dataset they were made on, or say that it has been done."""
    options = options or ScoreOptions()
    options.check()
    opened_set = open_dataset(dataset)
    opened = open_runs(runs, opened_set)
    kind = kind_of_split(opened_set, opened[0].split)
    if kind != Kind.MULTIPLE_CHOICE and (options.reader or options.annotated):
        raise ConfigError("--reader and --annotated are for multiple_choice items")
    if kind == Kind.TRUE_FALSE:
        return score_statements(opened_set, opened, out, options, progress)
    if options.ensembles or options.search or options.ensemble_from or options.against:
        raise ConfigError(
            "--ensemble, --search, --ensemble-from and --against are for true_false items"
        )
    if kind == Kind.MULTIPLE_CHOICE:
        return score_choices(opened_set, opened, out, options, progress)
    pack = pack_of(opened_set, options)
    family = family_of(options.family, options.primary, [(run.id, run.name) for run in opened])
    data_class = data_class_of(opened_set, opened, options)
    scoring = Scoring(
        dataset=opened_set,
        runs=opened,
        options=options,
        data_class=data_class,
        configuration=configuration_of(opened_set, opened, options, pack),
        inputs=inputs_of(opened_set, opened, options),
        decides={
            "pack_fingerprint": pack.fingerprint,
            "words_fingerprint": words_fingerprint(pack),
        },
    )
    if options.dry_run:
        items = load_items(opened_set, opened[0].split, options.limit)
        against = f"{len(items):,} items of {items.clusters:,} patients"
        return ScoreResult({}, lines=dry_run(against, "patients", scoring, out))

    def make(folder: OutFolder) -> Made:
        return _Making(opened_set, opened, options, pack, family, progress, folder).score()

    return score_into(out, scoring, make)


class _Making:
    """One scoring from the predictions to the files in the partial folder."""

    def __init__(
        self,
        dataset: Dataset,
        runs: Sequence[Run],
        options: ScoreOptions,
        pack: Pack,
        family: Family,
        progress: Progress,
        folder: OutFolder,
    ) -> None:
        self._dataset, self._runs, self._options = dataset, runs, options
        self._pack, self._family, self._progress = pack, family, progress
        self._folder = folder
        self._drawing = Drawing(options.seed, options.draws)
        self._labeller = labeller_of(pack)
        self._rows = 0

    def score(self) -> Made:
        """Everything that is known."""
        items = load_items(self._dataset, self._runs[0].split, self._options.limit)
        subsets = list(subsets_of(items))
        scored = self._score_runs(items)
        figures = self._figures(scored, items, subsets)
        measures = overall_measures(scored[0], items, self._labeller, subsets[0])
        tests: list[PairedTest] = []
        if len(scored) > 1:
            self._progress("comparing", 0, 1)
            compared = [m for m in measures if not m.name.startswith(("error_", "status_"))]
            tests = tests_of(self._family, scored, compared, items, self._drawing)
        people = self._people(scored, items)
        figures += [each.figure for each in people]
        spreads = [entry for run in scored for entry in spreads_of(run, measures)]
        made = Scored(self._dataset, items, scored, figures, tests, spreads, people)
        warnings = self._warnings(made)
        return Made(
            items=len(items),
            rows=self._rows,
            answers=sum(sum(run.statuses.values()) for run in scored),
            outside=sum(run.unknown for run in scored),
            figures=figures,
            tests=tests,
            meta=meta_of(made, self._pack, self._family, self._drawing, warnings),
            tables=tables_of(figures, tests, scored),
            warnings=warnings,
            lines=_lines(made, self._options.primary),
        )

    def _score_runs(self, items: Items) -> list[ScoredRun]:
        scorer = ClinicalScorer(AnswerReader(self._pack))
        scored = []
        with items_file(self._folder) as write:
            for number, run in enumerate(self._runs):
                self._progress("scoring", number, len(self._runs))
                one, rows = score_run(run, items, scorer)
                write(rows)
                self._rows += len(rows)
                scored.append(one)
        return scored

    def _figures(
        self, scored: Sequence[ScoredRun], items: Items, subsets: Sequence[Subset]
    ) -> list[Figure]:
        figures: list[Figure] = []
        for number, run in enumerate(scored):
            self._progress("intervals", number, len(scored))
            figures += figures_of(run, items, subsets, self._drawing, self._labeller)
        return figures

    def _people(self, scored: Sequence[ScoredRun], items: Items) -> list[Corrected]:
        if self._options.human is None:
            return []
        names = {name: run.id for run in self._runs for name in (run.id, run.name)}
        verdicts = read_human(self._options.human, names)
        return [
            corrected(run, items, verdicts[run.run.id], self._labeller)
            for run in scored
            if run.run.id in verdicts
        ]

    def _warnings(self, made: Scored) -> list[str]:
        """What a reader should know before trusting a figure; counts only."""
        found = []
        for run in made.runs:
            if len(run.items) < len(made.items):
                found.append(
                    f"{run.run.name}: answers {len(run.items):,} of the {len(made.items):,} items "
                    f"of split {run.run.split}; its figures are of those"
                )
            if run.unknown and self._options.limit is None:
                found.append(f"{run.run.name}: {run.unknown:,} answers to items not in the split")
        if len({run.items.tobytes() for run in made.runs}) > 1:
            found.append(
                "the runs answered different items: compare them by the paired tests, which keep "
                "to common items, and not by their figures"
            )
        profile = self._dataset.manifest.configuration.get("profile", "default")
        if profile != "default":
            found.append(
                f"the labels follow the profile {profile}; answers are always read by the default"
            )
        built_with = self._dataset.manifest.identity.get("pack_fingerprint")
        if built_with is not None and built_with != self._pack.fingerprint:
            found.append(
                "the pack has changed since the dataset was built: answers are read with other "
                "words than the labels were made with; build it again or give --pack-dir"
            )
        for run in made.runs:
            found += status_warning(run.run.name, run.statuses, "are none")
        for each in made.people:
            if each.unknown:
                found.append(
                    f"{each.figure.run}: people judged {each.unknown:,} items it did not answer"
                )
        return found


def _lines(made: Scored, primary: str) -> list[str]:
    """The main figures of each run, for the terminal."""
    lines = []
    for metric in dict.fromkeys((primary, "level_accuracy", "error_dangerous_any")):
        for figure in made.figures:
            if figure.metric == metric and not figure.subset and figure.value is not None:
                lines.append(figure_line(f"{metric:<20} {figure.run:<36}", figure))
    return lines
