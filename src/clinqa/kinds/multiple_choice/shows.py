"""The page of multiple-choice scores: results by reader and order, positions, categories, tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clinqa.core.figures import Figure
from clinqa.core.wording import decimals, p_value
from clinqa.kinds.facets.about_runs import how_computed
from clinqa.kinds.facets.charts import Dots, Plate
from clinqa.kinds.facets.figure_tables import declared_section, dot_of
from clinqa.kinds.facets.pages import (
    SIZES,
    Block,
    FactList,
    Grid,
    GridCell,
    GridColumn,
    GridRow,
    PageSection,
    Panels,
    Prose,
    ShownPage,
    Styled,
    in_short,
    sized_row,
    spanned_figure,
)
from clinqa.kinds.facets.shows import Evaluation, MetricName, PageAsked, ShownRun, Shows
from clinqa.kinds.multiple_choice.choice_says import (
    READERS,
    accuracy_of_answered,
    figure_of,
    reader_of,
    readers_of,
    sentences,
)

__all__ = ["SHOWS"]

NAMES = (
    MetricName(
        "accuracy", "Accuracy", "share right, the mean over the orders of an item, then over items"
    ),
    MetricName(
        "all_orders_right",
        "All orders right",
        "share of items right in every order they were asked",
    ),
    MetricName("any_order_right", "Any order right", "share of items right in one order or more"),
    MetricName(
        "same_pick", "Same pick", "share of items of which every order picks the same option"
    ),
)
_STATUSES = ("ambiguous", "refused", "empty", "truncated", "unreadable", "error")
_LETTERS = "ABCDEFGHIJ"
_PANELS = 12
_LOW = 0.05
_READ = GridColumn("reader", "Read by", numeric=False)


def _page(evaluation: Evaluation, asked: PageAsked) -> ShownPage:
    meta = evaluation.meta
    read = f", read by {READERS[meta['reader']]}"
    made = (
        _summary(evaluation), _results(evaluation), _readers(evaluation), _orders(evaluation),
        _positions(evaluation), _categories(evaluation),
        declared_section(evaluation, "items", "clusters", read), asked.audit,
        how_computed(evaluation, asked.file, "{}", _how),
    )  # fmt: skip
    figures = {"results": Plate(_dots(evaluation))}
    if recalled := _recall(evaluation):
        figures["recall"] = Plate(recalled)
    return ShownPage(
        asked.title or "Multiple choice: orders, readers, positions",
        evaluation.manifests[0].finished,
        [section for section in made if section is not None],
        figures,
        {**evaluation.data(), "positions": meta["positions"]},
        own_tables=True,
    )


def _summary(evaluation: Evaluation) -> PageSection:
    about = evaluation.dataset
    sizes = ", ".join(f"{n:,} with {size} options" for size, n in about["options"].items())
    facts = FactList([
        ("Dataset", (f"{about['name']}, split {about['split']}, fingerprint ",
                     Styled(about["fingerprint"][:16], "hash"))),
        ("Questions", f"{about['items']:,} in {about['clusters']:,} clusters; {sizes}"),
        ("Unit", about["unit"]),
        ("Runs", str(len(evaluation.runs))),
    ])  # fmt: skip
    return in_short(sentences(evaluation), facts, warnings=evaluation.warnings)


def _results(evaluation: Evaluation) -> PageSection:
    metrics = [name.key for name in NAMES]
    return PageSection("results", "Results", [
        Prose("An answer that names no option counts as wrong, but for “accuracy without”. "
              "Intervals (95 %) are drawn over items with their near-duplicates; the orders and "
              "repeats of an item stay together."),
        Panels(_dots(evaluation)),
        _by_reader(evaluation, "main", "Figures of each run, by reader",
                   [name.name for name in NAMES],
                   lambda run, reader: [figure_of(evaluation, run, m, reader) for m in metrics]),
        FactList([(name.name, name.meaning) for name in NAMES]),
    ])  # fmt: skip


def _by_reader(
    evaluation: Evaluation, key: str, caption: str, titles: Sequence[str], cells: Any
) -> Grid:
    """A row for each run in each reading."""
    rows = [
        _read_row(run, reader, cells(run, reader))
        for run in evaluation.runs
        for reader in readers_of(run)
    ]
    return _read_grid(key, caption, titles, rows)


def _read_row(run: ShownRun, reader: str, figures: Sequence[Figure | None]) -> GridRow:
    return GridRow(run.numbered, (GridCell(READERS[reader]), *map(spanned_figure, figures)))


def _read_grid(key: str, caption: str, titles: Sequence[str], rows: Sequence[GridRow]) -> Grid:
    columns = (_READ, *(GridColumn(title, title, figures=True) for title in titles))
    return Grid(key, caption, "Run", columns, tuple(rows))


def _dots(evaluation: Evaluation) -> list[Dots]:
    made = []
    for key, metric in (("accuracy", "accuracy"), ("all", "all_orders_right")):
        dots = [
            dot_of(run.numbered, figure, run.look)
            for run in evaluation.runs
            if (figure := figure_of(evaluation, run, metric)) is not None
        ]
        title = f"{evaluation.metric_name(metric)}, 95 % over items"
        made += [Dots(f"chart-{key}", title, dots)] if dots else []
    return made


def _readers(evaluation: Evaluation) -> PageSection:
    meta = evaluation.meta
    blocks: list[Block] = [
        Prose("One answer, read in up to three ways. First token: the letter with the highest "
              "log-probability as the first word, whatever was written then. String match: what "
              "the text commits to by rules; a letter goes before an option's text. Trained "
              "matcher: a classifier that knows how answers are put, not what they say. Where "
              "letter and text of an answer contradict each other, the last two differ."),
    ]  # fmt: skip
    if meta["agreement"]:
        blocks.append(_agreement(evaluation))
    if meta["matcher"]:
        blocks.append(_matcher(meta["matcher"]))
    why = [f"status_{name}" for name in _STATUSES]
    caption = "Prompts that name no option, by why; and accuracy without them"
    blocks.append(
        _by_reader(
            evaluation, "statuses", caption, ["accuracy without", *_STATUSES],
            lambda run, reader: [accuracy_of_answered(evaluation, run, reader),
                                 *(figure_of(evaluation, run, m, reader) for m in why)],
        )
    )  # fmt: skip
    return PageSection("readers", "Readers", blocks)


def _agreement(evaluation: Evaluation) -> Grid:
    rows = [
        GridRow(evaluation.label(one["run"]), (
            GridCell(f"{READERS[one['a']]}, {READERS[one['b']]}"),
            GridCell(str(one["prompts"])), GridCell(decimals(one["same"]), value=one["same"]),
            GridCell(str(one["both_answered"])), GridCell(decimals(one["same_of_both"])),
        ))
        for one in evaluation.meta["agreement"]
    ]  # fmt: skip
    columns = (
        GridColumn("readers", "Readers", numeric=False), GridColumn("prompts", "prompts"),
        GridColumn("same", "same"), GridColumn("both_answered", "both found an option"),
        GridColumn("same_of_both", "the same of these"),
    )  # fmt: skip
    return Grid("agreement", "Do two readers find the same?", "Run", columns, tuple(rows))


def _matcher(about: Mapping[str, Any]) -> FactList:
    of = about["accuracy"]
    value, low, high = (decimals(of[key]) for key in ("value", "low", "high"))
    return FactList([
        ("Matcher trained on", f"{about['source']}: {about['outputs']:,} annotated outputs, "
         f"{about['committed']:,} of which commit to an option; {about['features']:,} weights"),
        ("Its accuracy", f"{value} ({low} to {high}) on questions it was not trained on "
         f"({of['clusters']} questions, five folds). Of other wordings than the annotated ones "
         "this says little."),
    ])  # fmt: skip


def _orders(evaluation: Evaluation) -> PageSection | None:
    """Accuracy by order, in the deciding reading; items that stay as they are stand last."""
    subsets = evaluation.subsets("accuracy", "order")
    if len(subsets) < 2:
        return None
    names = [
        "unshuffled" if one["order"] == "fixed" else f"order {int(one['order']) + 1}"
        for one in subsets
    ]
    rows = [
        _read_row(run, reader_of(evaluation, run),
                  [figure_of(evaluation, run, "accuracy", **subset) for subset in subsets])
        for run in evaluation.runs
    ]  # fmt: skip
    return PageSection("orders", "Orders", [
        Prose("Accuracy in each order of the options by itself, read by "
              f"{READERS[evaluation.meta['reader']]} where a run has it. Items whose options speak "
              "of others (“both A and C”) are asked once, unshuffled, and stand apart."),
        _read_grid("orders", "Accuracy by order", names, rows),
    ])  # fmt: skip


def _positions(evaluation: Evaluation) -> PageSection | None:
    """The tests, with picks by letter."""
    found = evaluation.meta["positions"]
    if not found:
        return None
    columns = (
        _READ, GridColumn("options", "options"), GridColumn("items", "items"),
        GridColumn("picks", "picks", numeric=False), GridColumn("p", "p"),
        GridColumn("p_holm", "p, Holm"),
        GridColumn("spread", "spread of recall"), GridColumn("by_chance", "by chance"),
        GridColumn("spread_p", "p"),
    )  # fmt: skip
    rows = [GridRow(evaluation.label(one["run"]), _picked(one)) for one in found]
    drawn = _recall(evaluation)
    return PageSection("positions", "Positions", [
        Prose("If it does not matter where an option stands, each item's options could have stood "
              "in any other order, and the same content would have been picked. So the orders are "
              "drawn again within each item with the picked content held fixed, and picks by "
              "position are counted anew: p is the share of redraws at least as uneven. The spread "
              "is the standard deviation of the recall of the positions, beside its mean over the "
              "redraws. “p, Holm” is adjusted over all rows of this table, the p of the spread is "
              "not."),
        Grid("positions", "Picks by position, unshuffled items left out", "Run", columns,
             tuple(rows)),
        *([Panels(drawn)] if drawn else []),
    ])  # fmt: skip


def _picked(one: Mapping[str, Any]) -> tuple[GridCell, ...]:
    whole = max(1, sum(one["picks"]))
    shares = "  ".join(
        f"{letter}\u00a0{100 * n / whole:.0f}\u00a0%"
        for letter, n in zip(_LETTERS, one["picks"], strict=False)
    )
    return (
        GridCell(READERS[one["reader"]]), GridCell(str(one["options"])),
        GridCell(str(one["items"])), GridCell(shares),
        GridCell(p_value(one["p"]), value=one["p"]), _p_cell(one["p_holm"]),
        GridCell(decimals(one["spread"]), value=one["spread"]),
        GridCell(decimals(one["spread_by_chance"]), value=one["spread_by_chance"]),
        GridCell(p_value(one["spread_p"]), value=one["spread_p"]),
    )  # fmt: skip


def _p_cell(p: float) -> GridCell:
    return GridCell(p_value(p), mark="low" if p < _LOW else "", value=p)


def _recall(evaluation: Evaluation) -> list[Dots]:
    """Of each run the recall of each position."""
    tested = {one["run"] for one in evaluation.meta["positions"]}
    sizes = sorted({int(s["options"]) for s in evaluation.subsets("recall", "position")})
    panels = []
    for run in (run for run in evaluation.runs if run.id in tested):
        for size in sizes:
            dots = [
                dot_of(letter, figure, run.look)
                for letter in _LETTERS[:size]
                if (figure := figure_of(evaluation, run, "recall", options=str(size),
                                        position=letter)) is not None
            ]  # fmt: skip
            if dots:
                title = f"{run.label}: share right, by place of the right one of {size}"
                chart = f"chart-recall-{run.number}-{size}"
                panels.append(Dots(chart, title, dots, room=30))
    return panels[:_PANELS]


def _categories(evaluation: Evaluation) -> PageSection | None:
    subsets = evaluation.subsets("accuracy", "category")
    if len(subsets) < 2:
        return None
    rows = [
        sized_row(subset["category"] or "none",
                  [figure_of(evaluation, run, "accuracy", **subset) for run in evaluation.runs])
        for subset in subsets
    ]  # fmt: skip
    columns = [SIZES]
    columns += [GridColumn(run.numbered, run.numbered, figures=True) for run in evaluation.runs]
    read = READERS[evaluation.meta["reader"]]
    caption = f"Accuracy by category, read by {read} where a run has it"
    grid = Grid("categories", caption, "Category", tuple(columns), tuple(rows))
    return PageSection("categories", "Categories", [grid])


def _how(about: Mapping[str, Any]) -> str:
    return (
        f"{about['orders']}; {about['items']} items, {about['prompts']} prompts, "
        f"{about['unshuffled']} items unshuffled"
    )


SHOWS = Shows(
    _page,
    NAMES,
    needs=("positions", "agreement", "matcher", "dataset.options", "reader"),
    alone="a page holds one folder of multiple_choice scores; score all runs together",
)
