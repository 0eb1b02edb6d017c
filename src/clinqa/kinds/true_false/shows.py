"""The page of a True/False panel: results, planes, agreement, ensembles, difficulty, other sets."""

from __future__ import annotations

from collections.abc import Sequence

from clinqa.core.wording import decimals
from clinqa.kinds.facets.about_runs import how_computed
from clinqa.kinds.facets.figure_tables import declared_section
from clinqa.kinds.facets.pages import (
    Block,
    Bullets,
    FactList,
    Fold,
    Legend,
    PageSection,
    Panels,
    Prose,
    ShownPage,
    Styled,
    Swatch,
    in_short,
)
from clinqa.kinds.facets.shows import Evaluation, MetricName, PageAsked, Shows
from clinqa.kinds.true_false.panel_charts import (
    PAIRS,
    difficulty_chart,
    heat_map,
    pair_bars,
    planes,
    plates,
    primary_dots,
    scale_dots,
)
from clinqa.kinds.true_false.panel_tables import (
    by_category,
    every_pair,
    figures_of_runs,
    gains,
    kinds_of_models,
    ranks,
    relations,
    sentences,
    statuses,
    taus,
)
from clinqa.kinds.true_false.tuning_says import tuning_section

__all__ = [
    "LEANING",
    "MAIN",
    "NAMES",
    "SHOWS",
]

NAMES = (
    MetricName("accuracy", "Accuracy", "share judged right"),
    MetricName("macro_f1", "Macro-F1", "mean of the F1 of True and of False"),
    MetricName("sensitivity", "Sensitivity", "share of True statements judged True"),
    MetricName("specificity", "Specificity", "share of False statements judged False"),
    MetricName("precision", "Precision", "share of those judged True that are"),
    MetricName("mcc", "MCC", "Matthews' correlation; 0 for one answer only"),
    MetricName("kappa", "κ", "Cohen's kappa with the truth; on a balanced set 2 · accuracy − 1"),
    MetricName("youden_j", "J", "sensitivity + specificity − 1"),
    MetricName("directional_bias", "Bias", "accuracy − macro-F1; 1/6 for one answer only"),
    MetricName("true_share", "True said", "share judged True, of the answered"),
    MetricName("pair_both", "Both right", "share of pairs with both statements right"),
    MetricName("pair_one", "One right",
               "share of pairs with one right; all of them for one answer only"),
    MetricName("pair_none", "None right", "share of pairs with both wrong"),
)  # fmt: skip
MAIN = tuple(name.key for name in NAMES[:8])
LEANING = tuple(name.key for name in NAMES[8:])


def _page(evaluation: Evaluation, asked: PageAsked) -> ShownPage:
    made = (
        _summary(evaluation), _results(evaluation), _planes(evaluation), _agreement(evaluation),
        tuning_section(evaluation), _ensembles(evaluation), _difficulty(evaluation),
        declared_section(evaluation, "statements", "pairs"), asked.audit, _scale(evaluation),
        _transfer(evaluation), how_computed(evaluation, asked.file, "unit: {}",
                     lambda about: f"{about['how']}; {about['items']} statements"),
    )  # fmt: skip
    panel = evaluation.meta["panel"]
    return ShownPage(
        asked.title or "True or False: the panel",
        evaluation.manifests[0].finished,
        [section for section in made if section is not None],
        plates(evaluation),
        {**evaluation.data(), "panel": panel},
        own_tables=True,
    )


def _summary(evaluation: Evaluation) -> PageSection:
    about = evaluation.dataset
    many = "documents or questions" if about["sources"] != 1 else "document"
    facts = FactList([
        ("Dataset", (f"{about['name']}, split {about['split']}, fingerprint ",
                     Styled(about["fingerprint"][:16], "hash"))),
        ("Statements", f"{about['items']:,} of {about['pairs']:,} pairs from "
                       f"{about['sources']:,} {many}; {100 * about['true_share']:.1f} % True"),
        ("Unit", about["unit"]),
        ("Runs", str(len(evaluation.runs))),
    ])  # fmt: skip
    return in_short(sentences(evaluation), facts, warnings=evaluation.warnings)


def _results(evaluation: Evaluation) -> PageSection:
    bars = pair_bars(evaluation)
    same = evaluation.meta["interval"]["always_one_answer"]
    of_pairs: list[Block] = [
        Legend([Swatch(name, "part", look) for _, name, look in PAIRS])
    ] if bars else []  # fmt: skip
    short = ("accuracy", "macro_f1", "youden_j", "kappa")
    return PageSection("results", "Results", [
        Prose("A statement without an answer counts as wrong, but for “True said” and where a "
              "table says that it is left out. Intervals (95 %) are drawn over pairs. "
              f"{same}"),
        Panels([primary_dots(evaluation), *([bars] if bars else [])]),
        *of_pairs,
        figures_of_runs(evaluation, "main", "Figures of each run", MAIN),
        figures_of_runs(evaluation, "leaning", "Leaning, and what pairs show", LEANING),
        FactList([(name.name, name.meaning) for name in NAMES]),
        figures_of_runs(evaluation, "source", "The same with intervals over documents", short,
                        unit="clusters: source"),
        figures_of_runs(evaluation, "left-out",
                        "The other convention: unanswered statements left out", short,
                        how="unanswered: left out"),
        statuses(evaluation),
    ])  # fmt: skip


_OTHERS = (
    " Not all runs were asked the same statements: places of runs over others are not comparable."
)


def _planes(evaluation: Evaluation) -> PageSection:
    sizes = len({int(run.about["items"]) for run in evaluation.runs})
    return PageSection("planes", "Trade-offs", [
        Prose("The line joins the runs beside which no other is as good on both figures and better "
              "on one; that is no test. "
              "Arrows lead from a base model to what was fine-tuned from it."
              f"{_OTHERS if sizes > 1 else ''}"),
        Panels(planes(evaluation), wide=True),
        Legend([Swatch(run.numbered, "ring" if "members" in run.about else "dot", run.look)
                for run in evaluation.runs], columns=True),
    ])  # fmt: skip


def _agreement(evaluation: Evaluation) -> PageSection | None:
    panel, drawn = evaluation.meta["panel"], heat_map(evaluation)
    if drawn is None:
        return None
    asked = panel.get("repeats", 1)
    repeats = (
        f" Some runs were asked up to {asked} times: κ and votes stand over every repeat, and below"
        " a model counts as right on a statement that it judges right in more than half of them."
    )
    return PageSection("agreement", "Agreement", [
        Prose(f"Over the {panel['items']:,} statements that all runs were asked; in the order of "
              "average linkage. No answer is a class of its own. A dash: both gave one answer "
              f"only, and chance alone agrees.{repeats if asked > 1 else ''}"),
        Panels([drawn], wide=True),
        Prose("Two accurate models agree because both are right. So κ of their errors stands "
              "beside it: do they fail on the same statements more often than their accuracies "
              "make likely?"),
        relations(evaluation),
        Fold("Every pair of runs", [every_pair(evaluation)]),
    ])  # fmt: skip


def _ensembles(evaluation: Evaluation) -> PageSection | None:
    panel = evaluation.meta["panel"]
    lines = []
    for one in panel.get("ensembles") or ():
        many = one.get("searched")
        named = (
            f" The most accurate of {many:,} sets on validation." if many else " Named beforehand."
        )
        members = _members(evaluation, one["members"])
        lines.append(f"{one['name']}: {one['how']}. Members: {members}.{named}")
    if search := panel.get("search"):
        lines.append(
            f"Searched on {search['split']}: of {search['searched']:,} sets of {search['size']} "
            f"runs the most accurate has {decimals(search['accuracy'])} on these very items "
            f"(median {decimals(search['median_accuracy'])}). That is no result; score the winner "
            f"on test with --ensemble-from. Members: {_members(evaluation, search['winner'])}."
        )
    return PageSection("ensembles", "Ensembles", [Bullets(lines)]) if lines else None


def _members(evaluation: Evaluation, runs: Sequence[str]) -> str:
    return ", ".join(evaluation.label(run) for run in runs)


def _difficulty(evaluation: Evaluation) -> PageSection | None:
    chart, found = difficulty_chart(evaluation), evaluation.meta["panel"].get("difficulty")
    if chart is None:
        return None
    strong, weak = (_members(evaluation, found[key]) for key in ("strong", "weak"))
    odd = f"all of the more accurate half ({strong}) wrong, half or more of {weak} right"
    return PageSection("difficulty", "Difficulty", [
        Legend([Swatch("True statements", "part", "e1"), Swatch("False statements", "part", "e3")]),
        Panels([chart], wide=True),
        FactList([
            ("Right for nobody", str(found["nobody"])),
            ("Right for all", str(found["everybody"])),
            ("Strong fail, weak succeed", f"{found['strong_fail_weak_succeed']}: {odd}"),
        ]),
        Prose("The list of statements by id stands in tables/difficulty.csv.", "notes"),
        by_category(evaluation, [row["category"] for row in found["categories"]]),
    ])  # fmt: skip


def _scale(evaluation: Evaluation) -> PageSection | None:
    charts, pairs = scale_dots(evaluation), kinds_of_models(evaluation)
    if not charts and pairs is None:
        return None
    said = (
        "What is publicly known of the models (models.yaml) decides who stands beside whom; none "
        "of these is fine-tuned here."
    )
    drawn: list[Block] = [Panels(charts)] if charts else []
    return PageSection(
        "scale", "Scale and kind", [Prose(said), *drawn, *([pairs] if pairs else [])]
    )


def _transfer(evaluation: Evaluation) -> PageSection | None:
    panel = evaluation.meta["panel"]
    if not panel.get("transfer"):
        return None
    blocks: list[Block] = []
    if ranked := panel.get("rankings"):
        said = (
            f"The {len(ranked['runs'])} models that every set has: accuracy, and in brackets the "
            "rank. Kendall's τ says how far two sets rank models alike; its interval tells what "
            "other statements would have given, not what other models would."
        )
        blocks += [Prose(said), ranks(evaluation, ranked), taus(ranked)]
    gained = gains(evaluation)
    return PageSection("transfer", "Other sets", [*blocks, *([gained] if gained else [])])


SHOWS = Shows(
    _page,
    NAMES,
    needs=("panel.plane", "dataset.pairs", "family.metric"),
    alone="a page holds one panel of true_false scores; other sets come in through "
    "clinqa score --against",
)
