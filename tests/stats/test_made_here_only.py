"""No interval, test or p-value is made outside the room of statistics."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import clinqa

ROOT = Path(clinqa.__file__).parent

#: What intervals and tests are made of; `np.quantile` and the like by their last name.
OF_INTERVALS = frozenset({"percentile", "quantile", "nanquantile", "nanpercentile"})
#: No distribution of scipy.stats is used elsewhere (ranks are), and of scipy.special only these.
OF_SPECIAL = frozenset({"expit", "logsumexp", "softmax"})
#: Names of statistics' own inner parts: what is drawn and flipped, quantiles of samples.
INNER = frozenset(
    {"exact", "of_difference", "of_figure", "of_share", "percentile", "reach", "spread", "student"}
)

#: Quantiles that bound no figure, and parts that are asked for by name; each with its reason.
EXCEPTIONS = {
    # quarters of an attribute, as Table 4 has them: where a group begins
    ("auditing/dimensions.py", "quantile"),
    # the lowest quarter of a made-up cohort's attribute
    ("simulate/answerers.py", "quantile"),
    # the interval of a slope from the same samples as the simultaneous ones
    ("auditing/deviations.py", "percentile"),
    # the mean kappa of pairs: goes when the panel takes `Agreement.mean`
    ("scoring/panel.py", "quantile"),
}


@cache
def modules() -> list[tuple[str, ast.Module]]:
    paths = [path for path in sorted(ROOT.rglob("*.py")) if path.parent.name != "stats"]
    return [(str(p.relative_to(ROOT)), ast.parse(p.read_text("utf-8"))) for p in paths]


def imported(tree: ast.Module) -> list[tuple[str, str]]:
    """Module and name of everything that is imported."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            found += [(node.module or "", one.name) for one in node.names]
        elif isinstance(node, ast.Import):
            found += [(one.name, "") for one in node.names]
    return found


def made(name: str, tree: ast.Module) -> set[tuple[str, str]]:
    found = set()
    for module, what in imported(tree):
        odd = module.startswith("scipy.stats") and what != "rankdata"
        odd |= (module, what) == ("scipy", "stats")
        odd |= module == "scipy.special" and what not in OF_SPECIAL
        odd |= module.startswith("clinqa.stats.intervals") and what in INNER
        odd |= module.startswith(("statsmodels", "statistics"))
        if odd:
            found.add((name, what or module))
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in OF_INTERVALS:
            found.add((name, node.attr))
    return found


def test_intervals_and_tests_are_made_in_one_room() -> None:
    found = set().union(*(made(name, tree) for name, tree in modules()))
    assert found <= EXCEPTIONS


def test_what_is_adjusted_is_adjusted_in_one_room() -> None:
    """Holm, flips and permutations have one home: no function of another room is called so."""
    words = ("holm", "flipped", "bootstrap", "permuted", "mcnemar", "jackknife", "resampled")
    own = {
        f"{name}: {node.name}"
        for name, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name.strip("_").startswith(words)
    }
    # an attribute's codes and a study's matrix are handed to stats, which permutes them
    assert own <= {"auditing/engine.py: permuted", "studying/analyse.py: _permuted"}
