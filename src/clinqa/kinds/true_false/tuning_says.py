"""What the page says of tuning: who gains by it, and whether the tuned grow alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from clinqa.core.wording import many, p_value, signed
from clinqa.kinds.facets.pages import (
    Bullets,
    Grid,
    GridCell,
    GridColumn,
    GridRow,
    PageSection,
    Prose,
    spanned,
)
from clinqa.kinds.facets.shows import Evaluation
from clinqa.stats.verdicts import ALPHA

__all__ = ["tuning_section"]

_ABOUT = (
    "Gain is the accuracy of a tuned model less that of its base. Both hold the base's luck on "
    "these statements, so that unlucky bases seem to gain: here the base is measured on one half "
    "of the pairs and the gain on the other, over many halvings, whose noise draws the correlation "
    "towards 0. Its units are models. Mean κ is compared over pairs of statements: that speaks "
    "of these models, not of others. Accurate models agree because they are right; so the "
    "same is asked of their errors."
)
_ENDS = {
    "accuracy": ("the less accurate the base was", "the more accurate the base was"),
    "directional_bias": (
        "the less the base leaned to one answer",
        "the more the base leaned to one answer",
    ),
}
_OF = {"accuracy": "the base's accuracy", "directional_bias": "the base's leaning to one answer"}
_AGAINST = {"own base": "each with its own base", "bases": "the bases with one another"}
_WHAT = {"answers": "κ of answers", "errors": "κ of errors"}


def tuning_section(evaluation: Evaluation) -> PageSection | None:
    """The section; none where nothing was tuned."""
    found = evaluation.meta["panel"].get("tuning") or {}
    if not found.get("models"):
        return None
    tested = [*found["gains"], *found["alike"]]
    grids = [_table(tested)] if tested else []
    return PageSection("tuning", "Tuning", [
        Prose(_ABOUT), Bullets([*_gained(found), *_agreed(found)], "key"), *grids,
    ])  # fmt: skip


def _gained(found: Mapping[str, Any]) -> Iterator[str]:
    if not found["gains"]:
        yield (
            "Gain against what the base was: not tested: only "
            f"{many(found['models'], 'tuned model')} with a base here, and {found['needed']} are "
            "needed."
        )
    for one in found["gains"]:
        of = _OF[one["base"]]
        if one["p"] is None:
            yield f"Gain against {of}: not tested: the models do not differ."
        elif one["p_holm"] < ALPHA:
            end = _ENDS[one["base"]][one["value"] > 0]
            yield (
                f"Models gained the more, {end} ({_figures(one)}; {many(one['models'], 'model')})."
            )
        else:
            yield (
                f"Gain against {of}: no relation is told from chance ({_figures(one)}; "
                f"{many(one['models'], 'model')})."
            )


def _agreed(found: Mapping[str, Any]) -> Iterator[str]:
    if not found["alike"]:
        yield (
            "Agreement among tuned models: not tested: only "
            f"{many(found['bases'], 'base')} here, and two of different bases are needed."
        )
    for one in found["alike"]:
        what = f"{_WHAT[one['of']]}, tuned models with one another and {_AGAINST[one['against']]}"
        if one["p"] is None:
            yield f"{what}: not tested."
        elif one["p_holm"] < ALPHA:
            more = "higher" if one["value"] > 0 else "lower"
            yield f"{what}: {more} among the tuned ({_figures(one)})."
        else:
            yield f"{what}: not told apart ({_figures(one)})."


def _figures(one: Mapping[str, Any]) -> str:
    name = "r" if "gain" in one else "difference"
    low, high = one["low"], one["high"]
    bounds = f", {signed(low)} to {signed(high)}" if None not in (low, high) else ""
    return f"{name} {signed(one['value'])}{bounds}, p {p_value(one['p_holm'])} after Holm"


def _table(tested: list[Mapping[str, Any]]) -> Grid:
    rows = [GridRow(_head(one), (
        GridCell(str(one["models"]) if "gain" in one else f"{one['pairs']}, {one['others']}"),
        spanned(one["value"], one["low"], one["high"], write=signed),
        GridCell(p_value(one["p"]), value=one["p"]),
        GridCell(p_value(one.get("p_holm")), value=one.get("p_holm")),
        GridCell(str(one["n"])), GridCell(str(one["clusters"])),
    )) for one in tested]  # fmt: skip
    columns = (
        GridColumn("units", "Models, or pairs of runs on each side", numeric=False),
        GridColumn("value", "Correlation, or difference of mean κ", figures=True),
        GridColumn("p", "p"), GridColumn("p_holm", "p, Holm"),
        GridColumn("n", "statements"), GridColumn("clusters", "pairs"),
    )  # fmt: skip
    return Grid("tuning", "What tuning did, with 95 % intervals", "Asked", columns, tuple(rows))


def _head(one: Mapping[str, Any]) -> str:
    if "gain" in one:
        return f"Gain against {_OF[one['base']]}"
    return f"{_WHAT[one['of']]}: tuned with tuned less {_AGAINST[one['against']]}"
