"""What the page says in words; who is best, or biased, is said only where a test says so."""

from __future__ import annotations

from collections.abc import Mapping

from clinqa.present.choice.read import READERS, Choices

__all__ = ["MEANINGS", "summary"]

MEANINGS: Mapping[str, tuple[str, str]] = {
    "accuracy": ("Accuracy", "share right, the mean over the orders of an item, then over items"),
    "all_orders_right": ("All orders right", "share of items right in every order they were asked"),
    "any_order_right": ("Any order right", "share of items right in one order or more"),
    "same_pick": ("Same pick", "share of items of which every order picks the same option"),
}
_ALPHA = 0.05


def summary(choices: Choices) -> list[str]:
    """A few sentences."""
    return [*_best(choices), *_runs(choices), *_readers(choices)]


def _best(choices: Choices) -> list[str]:
    metric = str(choices.meta["family"]["metric"])
    ranked = []
    for run in choices.runs:
        figure = choices.figure(run.id, metric, choices.reader)
        if figure is not None and figure.value is not None:
            ranked.append((-figure.value, run.id, run))
    ranked.sort(key=lambda one: one[:2])
    if not ranked:
        return []
    value, _, best = ranked[0]
    name = MEANINGS[metric][0].lower()
    said = f"Highest {name}, read by {READERS[choices.reader]}: {best.label}, {-value:.3f}"
    if len(ranked) > 1:
        compared = [run for _, _, run in ranked[1:] if _tested(choices, best.id, run.id)]
        others = [run.label for _, _, run in ranked[1:] if run not in compared]
        alike = [run.label for run in compared if not _better(choices, best.id, run.id)]
        if alike:
            said += f"; not told apart from {', '.join(alike)} by the declared tests"
        elif compared:
            every = "every run it was compared with" if others else "every other run"
            said += f"; by the declared tests it differs from {every}"
        if others:
            said += f"; no declared test compares it with {', '.join(others)}"
    return [f"{said}."]


def _tested(choices: Choices, one: str, two: str) -> bool:
    return any({test.a, test.b} == {one, two} and test.p_holm is not None for test in choices.tests)


def _better(choices: Choices, one: str, two: str) -> bool:
    alpha = float(choices.meta["family"]["alpha"])
    return any(
        {test.a, test.b} == {one, two} and test.p_holm is not None and test.p_holm < alpha
        for test in choices.tests
    )


def _runs(choices: Choices) -> list[str]:
    """Of each run, what its orders and positions say."""
    said = []
    for run in choices.runs:
        reader = choices.reader_of(run)
        parts = []
        one = choices.figure(run.id, "accuracy", reader)
        every = choices.figure(run.id, "all_orders_right", reader)
        if one is not None and every is not None and None not in (one.value, every.value):
            parts.append(
                f"{one.value:.3f} right in the mean over orders, {every.value:.3f} of the items "
                "whatever the order"
            )
        parts += _position(choices, run.id, reader)
        if parts:
            said.append(f"{run.label}: {'; '.join(parts)}.")
    return said


def _position(choices: Choices, run: str, reader: str) -> list[str]:
    own = [o for o in choices.meta["positions"] if (o["run"], o["reader"]) == (run, reader)]
    leaning = [one for one in own if one["p"] < _ALPHA]
    if not leaning:
        return ["no leaning to a position is shown"] if own else []
    told = ", ".join(
        f"{'ABCDEFGHIJ'[max(range(one['options']), key=one['picks'].__getitem__)]} most often of "
        f"{one['options']}"
        for one in leaning
    )
    return [f"where an option stands changes how often it is picked ({told})"]


def _readers(choices: Choices) -> list[str]:
    low = [one for one in choices.meta["agreement"] if one["same"] < 0.9]
    return [
        f"{choices.label(one['run'])}: {READERS[one['a']]} and {READERS[one['b']]} read "
        f"{100 * (1 - one['same']):.0f} % of the answers differently."
        for one in low
    ]
