"""The page of long-form answers: overlap, levels, dangerous errors, subsets, worst answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from clinqa.core.records import is_private
from clinqa.core.wording import count, decimals, percent
from clinqa.kinds.facets.about_runs import about_facts, commands, costs, run_table
from clinqa.kinds.facets.charts import Chart
from clinqa.kinds.facets.figure_tables import paired_tests
from clinqa.kinds.facets.pages import (
    Block,
    Bullets,
    FactList,
    Fold,
    Grid,
    Legend,
    PageSection,
    Panels,
    Prose,
    ShownPage,
    Styled,
    Subheading,
    Swatch,
    Words,
    in_short,
)
from clinqa.kinds.facets.shows import (
    GROUPS,
    Evaluation,
    PageAsked,
    ShownRun,
    Shows,
    run_groups,
)
from clinqa.kinds.long_form.claims import primary_metric, summary
from clinqa.kinds.long_form.metric_names import METRICS, NAMES
from clinqa.kinds.long_form.people_tables import human_sample, people_words
from clinqa.kinds.long_form.result_charts import (
    PANELS,
    danger_dots,
    error_bars,
    error_swatches,
    plates,
    result_dots,
    subset_dots,
)
from clinqa.kinds.long_form.result_tables import (
    by_subset,
    dangerous,
    error_kinds,
    levels_overall,
    other_bleus,
    results,
    scale,
    seen_unseen,
    statuses,
)
from clinqa.kinds.long_form.worst_answers import worst

__all__ = ["SHOWS"]

_NAME = 16  # letters of a folder's name in a label


def _page(evaluation: Evaluation, asked: PageAsked) -> ShownPage:
    """The sections in the order in which people ask."""
    examples = _examples(evaluation) if asked.examples else None
    unanswered = _section("statuses", "Unanswered questions", "", statuses(evaluation))
    seen = _section("seen", "Seen and unseen statements", _SEEN + _nearness(evaluation),
                    seen_unseen(evaluation),
                    nav="Seen and unseen")  # fmt: skip
    made = (
        in_short(summary(evaluation), warnings=evaluation.warnings, words=_BEFORE),
        PageSection("about", "What was evaluated", [
            Prose(_ABOUT), about_facts(evaluation), run_table(evaluation),
        ]),
        _results(evaluation),
        _section("dangerous", "Dangerous errors", _DANGEROUS, dangerous(evaluation),
                 [_looks(evaluation), *_panels(danger_dots(evaluation))]),
        _section("errors", "Kinds of error", _ERRORS, error_kinds(evaluation),
                 [Legend(error_swatches(evaluation)), *_panels(error_bars(evaluation))]),
        _abnormalities(evaluation),
        _levels(evaluation),
        seen,
        _tests(evaluation),
        asked.audit,
        unanswered,
        examples,
        _section("costs", "Speed and tokens", _COSTS, costs(evaluation)),
        PageSection("reproduce", "How to do it again", [
            Prose(_AGAIN), *commands(evaluation, asked.file),
        ]),
        PageSection("limits", "Limits", [Bullets(_limits(evaluation, seen, unanswered))]),
    )  # fmt: skip
    return ShownPage(
        asked.title or "Evaluation of clinical question answering",
        max((manifest.finished for manifest in evaluation.manifests), default=""),
        [section for section in made if section is not None],
        plates(evaluation),
        evaluation.data(),
        records=examples is not None,
    )


def _nearness(evaluation: Evaluation) -> str:
    """How near the unseen statements come to train all the same."""
    about = evaluation.dataset.get("nearest_in_train") or {}
    if not about:
        return ""
    many = int(about["items"])
    return (
        f" Of the {count(many)} unseen {'item' if many == 1 else 'items'}, "
        f"{percent(about['near_share'])} have a statement that is like one of train to "
        f"{about['near']:g} or more (share of letters in the same order); the median is "
        f"{decimals(about['median'], 2)}."
    )


def _section(
    key: str,
    title: str,
    words: str,
    grid: Grid | None,
    drawn: Sequence[Block] = (),
    *,
    nav: str = "",
) -> PageSection | None:
    """A table with what is said and drawn above it; none without the table."""
    if grid is None:
        return None
    said = [Prose(words)] if words else []
    return PageSection(key, title, [*said, *drawn, grid], nav)


def _panels(charts: Sequence[Chart]) -> list[Block]:
    return [Panels(charts)] if charts else []


def _looks(evaluation: Evaluation) -> Legend:
    return Legend([
        *(Swatch(name, "dot", look) for look, name in run_groups(evaluation)),
        Swatch("ring: 0-shot; filled: with examples", "ring", "g-none"),
        Swatch("line: 95 % interval"),
    ])  # fmt: skip


def _results(evaluation: Evaluation) -> PageSection:
    grid, charts = results(evaluation), result_dots(evaluation)
    marks = {cell.mark for row in grid.rows for cell in row.cells} - {""}
    told: Block = Prose("No figure is marked as best: no adjusted paired test says so.", "notes")
    if marks:
        told = Bullets([line for mark, line in _MARKS if mark in marks or not mark], "notes")
    titles = {column.title for column in grid.columns}
    meant = [(one.name, one.meaning) for one in METRICS if one.name in titles]
    blocks: list[Block] = [
        Prose(_RESULTS), grid, told, Fold("What the columns mean", [FactList(meant)]),
    ]  # fmt: skip
    if charts:
        blocks += [_looks(evaluation), Panels(charts)]
    for title, words, more in (
        ("Levels", "", levels_overall(evaluation)),
        ("Which BLEU?", _BLEU, other_bleus(evaluation)),
        ("Judged by people", "", human_sample(evaluation)),
        ("Size within a family", "", scale(evaluation)),
    ):
        if more is not None:
            blocks += [Subheading(title), *([Prose(words)] if words else []), more]
    return PageSection("results", "Results", blocks)


def _abnormalities(evaluation: Evaluation) -> PageSection | None:
    grid = by_subset(evaluation, "abnormality")
    if grid is None:
        return None
    few = (
        f"Drawn: the {PANELS} runs of the highest level accuracy. The table holds all."
        if len(evaluation.runs) > PANELS
        else ""
    )
    drawn = [_looks(evaluation), *_panels(subset_dots(evaluation, grid))]
    drawn += [Prose(few, "notes")] if few else []
    return _section("abnormalities", "By abnormality", _ABNORMALITIES, grid, drawn)


def _levels(evaluation: Evaluation) -> PageSection | None:
    grid = by_subset(evaluation, "level")
    drawn = _panels(subset_dots(evaluation, grid)) if grid is not None else []
    title = "By level of the reference"
    return _section("by-levels", title, _BY_LEVEL, grid, drawn, nav="By level")


def _tests(evaluation: Evaluation) -> PageSection | None:
    grid = paired_tests(evaluation)
    primary = evaluation.metric_name(primary_metric(evaluation))
    section = _section("tests", "Paired tests", _TESTS.format(primary), grid)
    more = paired_tests(evaluation, declared=False)
    if section is None or more is None:
        return section
    fold = Fold(f"{len(more.rows)} tests outside the family", [more])
    return replace(section, blocks=[*section.blocks, fold])


def _examples(evaluation: Evaluation) -> PageSection | None:
    shown = worst(evaluation)
    blocks: list[Block] = [Prose(_EXAMPLES)]
    if is_private(evaluation.data_class):
        kept: Words = (
            Styled(f"Text of {evaluation.data_class} records.", "strong"), " ",
            Styled("--no-examples", "code"), " makes this page without it.",
        )  # fmt: skip
        blocks.insert(0, Prose(kept, "warn"))
    for run, cases in shown:
        blocks += [Subheading(run.label), *cases]
    return PageSection("examples", "Worst answers", blocks) if shown else None


def _limits(
    evaluation: Evaluation, seen: PageSection | None, unanswered: PageSection | None
) -> list[Words]:
    sample = people_words(evaluation)
    where: Words = (
        ("See ", Styled("seen and unseen statements", "link", "seen"), ".")
        if seen
        else ("These figures were not split by seen and unseen statements.",)
    )
    counted = Styled("unanswered questions", "link", "statuses") if unanswered else "the results"
    return [
        (Styled("The labeller judges its own labels.", "strong"), f" {_JUDGES} {sample}"),
        (Styled("No answer is no right answer.", "strong"), f" {_NO_ANSWER} ", counted,
         "; papers that score the cut text have higher figures."),
        (Styled("Templates can be memorised.", "strong"), " Reports are written from templates. ",
         *where, " Models may also have met such reports before, in training data nobody here can "
         "see."),
        (Styled("The intervals", "strong"), f" {_INTERVALS}"),
        (Styled("Text overlap", "strong"), f" {_OVERLAP}"),
        "clinqa is a research tool and no medical device; nothing here shows that a model is safe "
        "to use with patients.",
    ]  # fmt: skip


def _named(evaluation: Evaluation) -> list[ShownRun]:
    """The runs in the order of every table, each with a label no other has."""
    ordered = sorted(evaluation.runs, key=_order)
    plain = [_label(run) for run in ordered]
    names = [str(run.about.get("name") or run.id) for run in ordered]
    named = []
    for at, (run, label, name) in enumerate(zip(ordered, plain, names, strict=True), start=1):
        if plain.count(label) > 1:
            own = name if names.count(name) == 1 and len(name) <= _NAME else run.id[:8]
            label = f"{label}, run {own}"
        named.append(replace(run, label=label, number=at))
    return named


def _label(run: ShownRun) -> str:
    return f"{run.model}{' + adapter' if run.about.get('adapters') else ''}, {run.shots}-shot"


def _order(run: ShownRun) -> tuple[int, str, float, str, int, str]:
    size = run.about.get("parameters") or 0
    group, family = list(GROUPS).index(run.group), str(run.about.get("family") or "")
    return group, family or run.model, float(size), run.model, run.shots, run.id


_BEFORE: Words = (
    Styled("Before you trust a figure", "strong"), " (runs by their folder's name, see ",
    Styled("the runs", "link", "table-runs"), "):",
)  # fmt: skip
_ABOUT = (
    "Each question asks for one abnormality in one report. The reference is the sentence of the "
    "report that decides it, and the reference's level was read from that sentence."
)
_RESULTS = (
    "In brackets: the 95 % interval, over patients. After ±: the spread between "
    "repeats, where a run was repeated with something varied (the column “Repeats” says what); it "
    "says nothing about other patients. Repeats are averaged within each question first, so they "
    "do not make the intervals narrower."
)
_MARKS: tuple[tuple[str, Words], ...] = (
    ("best", (Styled("best", "strong"), ": the paired test, adjusted after Holm, tells it from "
              "every other run of its group.")),
    ("second", (Styled("2nd", "strong"), ": it tells it from every run of its group but the "
                "best.")),
    ("tie", (Styled("≈", "strong"), ": the highest of its group and those that the adjusted "
             "test does not tell from it.")),
    ("", "No mark: neither of these, alone in its group, not tested (no adjusted test of this "
     "metric), or not comparable (figures of other numbers of items in its group)."),
)  # fmt: skip
_BLEU = (
    "Papers seldom say. The corpus figure is the usual one; the unsmoothed mean over sentences "
    "most likely imitates a per-answer library default, and short references pull it down."
)
_DANGEROUS = (
    "These could change what is done for a patient, and text overlap does not see them: “no "
    "stenosis” and “severe stenosis” share half their words. Which errors they are stands in a "
    "table of true and answered level in the pack; mild for normal, moderate for mild or severe "
    "for moderate are none. Who says nothing does no harm and no good: the rate is given of all "
    "items and of answered ones, beside the share that was answered, and each kind of the answered "
    "items where it can happen. An item can stand in more than one column."
)
_ERRORS = (
    "Every answer is read with the rules that labelled the reports, under the question's "
    "structure, and put into one kind."
)
_ABNORMALITIES = (
    "Share of answers with the right level. Small counts give wide intervals: read the brackets "
    "before comparing. No test was made between these cells."
)
_BY_LEVEL = (
    "Normal findings are most of every report: a model that always answers “normal” does well "
    "over all and fails wherever it matters. Here each level stands alone."
)
_SEEN = (
    "Reports repeat their sentences. “Seen”: the statement that decides the item also decides an "
    "item of the train split, of another patient; case, numbers, units and spelling are folded "
    "before they are compared. A high figure on seen statements may be a memory of templates; what "
    "holds in the unseen column is no memory of these sentences. The two columns hold different "
    "items, so part of the gap may be their difficulty."
)
_TESTS = (
    "Two runs over the same items, the difference taken within each patient. Holm's adjustment "
    "covers the declared family of comparisons (primary metric: {}); what lies outside the family "
    "is exploratory and decides nothing. “Not told apart” does not mean equal: the interval "
    "of the difference shows what is still possible."
)
_EXAMPLES = (
    "Of each run, one of each kind of failing in turn, the gravest first; among equals the one "
    "with the least overlap. They show how a run fails, not how often: the tables above do that."
)
_COSTS = (
    "As recorded when the runs were made, on whatever machine and beside whatever else ran there. "
    "Answers taken from a cache cost no time. Compare runs of one machine only."
)
_AGAIN = (
    "With the dataset of the fingerprint above. Greedy local runs, metrics and intervals come out "
    "the same on the same versions; sampled and remote runs may differ."
)
_JUDGES = (
    "The rules that read the answers also made the reference levels. Where they misread a "
    "sentence, they may misread the answer in the same way, and an answer in words they do not "
    "know counts as wrong."
)
_NO_ANSWER = (
    "An answer that is empty, refused, failed, longer than the limit of its run or without a word "
    "on any finding is counted as wrong in every figure of all items, and scores 0 on every text "
    "metric where there is no text; what was cut off is not scored. Figures of answered items "
    "(dangerous errors) leave it out. How many there were stands under"
)
_INTERVALS = (
    "say how much a figure would move with other patients of the same kind, reports and wording. "
    "They say nothing of another hospital, another prompt or another version of a remote model. "
    "One interval is not a comparison: overlapping intervals may still differ in the paired test, "
    "which is what decides."
)
_OVERLAP = (
    "rewards the report's own words. A correct answer in other words scores low, a wrong level in "
    "the right words scores high; short references make every overlap figure jump."
)

SHOWS = Shows(_page, NAMES, _named, unmarked=True)
