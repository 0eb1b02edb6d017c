"""What tuning did to a panel: figures, what was not tested, and what the page says of both."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from clinqa.core.ids import rng
from clinqa.core.manifest import Manifest
from clinqa.dataset.reader import Dataset
from clinqa.kinds.facets.pages import Bullets, Grid
from clinqa.present.report import made_page
from clinqa.scoring.score_options import ScoreOptions
from clinqa.scoring.score_runs import score
from clinqa.stats.gains import FEWEST_MODELS
from scoring.binary.made_statements import dataset, run

PAIRS = 60


def tuned_and_base(place: Path, data: Dataset, models: int) -> list[Path]:
    """Runs of so many base models, and of each with an adapter: the better the base, the less it
    gains; all that are tuned know the same statements."""
    made = []
    for at in range(models):
        for adapter, skill in (([], 0.5 + 0.06 * at), (["tuned"], 0.88)):

            def reply(number: int, label: bool, at: int = at, adapter: Any = adapter,
                      skill: float = skill) -> str:  # fmt: skip
                known = "all" if adapter else f"model {at}"
                knows = rng(1, known, f"{number} {label}").random() < skill
                return str(label if knows else not label)

            folder = place / f"{'tuned' if adapter else 'base'}{at}"
            run(folder, data, reply)
            manifest = Manifest.read(folder / "manifest.json")
            told = {"model": f"made:{at}", "adapters": adapter}
            manifest = replace(
                manifest,
                configuration={**manifest.configuration, **told},
                identity={**manifest.identity, **told},
            )
            (folder / "manifest.json").write_text(manifest.to_json(), encoding="utf-8")
            made.append(folder)
    return made


def scored(place: Path, models: int) -> tuple[dict[str, Any], list[str], Grid | None]:
    """`meta.panel.tuning`, what the page says of it, and its table."""
    data = dataset(place / "data", pairs=PAIRS)
    runs = tuned_and_base(place / "runs", data, models)
    score(data.folder, runs, place / "scores", ScoreOptions(draws=200))
    meta = json.loads((place / "scores/scores.json").read_text(encoding="utf-8"))["meta"]
    page, _ = made_page([place / "scores"])
    (section,) = (one for one in page.sections if one.id == "tuning")
    (said,) = (block for block in section.blocks if isinstance(block, Bullets))
    return meta["panel"]["tuning"], [str(line) for line in said.lines], page.tables().get("tuning")


@pytest.fixture(scope="module")
def panel(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], list[str], Any]:
    return scored(tmp_path_factory.mktemp("tuning"), 7)


def test_gain_and_agreement_are_told_with_interval_and_adjusted_p(panel: Any) -> None:
    tuning, _, grid = panel
    assert (tuning["models"], tuning["bases"]) == (7, 7)
    assert [one["base"] for one in tuning["gains"]] == ["accuracy", "directional_bias"]
    for one in [*tuning["gains"], *tuning["alike"]]:
        assert one["low"] <= one["value"] <= one["high"] and one["p"] <= one["p_holm"] <= 1
        assert one["n"] == len({*range(one["n"])}) and one["clusters"] * 2 == one["n"]
    assert len(grid.rows) == 6


def test_the_less_the_base_could_the_more_was_gained_and_the_page_says_so(panel: Any) -> None:
    tuning, said, _ = panel
    skill, lean = tuning["gains"]
    assert skill["value"] < 0 and skill["p_holm"] < 0.05
    assert said[0].startswith("Models gained the more, the less accurate the base was (r −")
    wanted = (
        "Models gained the more" if lean["p_holm"] < 0.05 else "no relation is told from chance"
    )
    assert wanted in said[1]


def test_that_the_tuned_agree_more_than_with_their_bases_is_tested(panel: Any) -> None:
    tuning, said, _ = panel
    own = tuning["alike"][0]
    assert (own["of"], own["against"]) == ("answers", "own base")
    assert (own["pairs"], own["others"]) == (21, 7)
    assert own["value"] > 0 and own["p_holm"] < 0.05
    assert said[2].startswith(
        "κ of answers, tuned models with one another and each with its own base: higher among the "
        "tuned (difference +"
    )


def test_of_few_models_it_is_said_that_nothing_was_tested(tmp_path: Path) -> None:
    tuning, said, grid = scored(tmp_path, 1)
    assert tuning["gains"] == tuning["alike"] == [] and grid is None
    assert said == [
        f"Gain against what the base was: not tested: only 1 tuned model with a base here, and "
        f"{FEWEST_MODELS} are needed.",
        "Agreement among tuned models: not tested: only 1 base here, and two of different bases "
        "are needed.",
    ]


def test_the_kappas_are_those_of_the_agreement_table(tmp_path: Path) -> None:
    tuning, _, _ = scored(tmp_path, 3)
    meta = json.loads((tmp_path / "scores/scores.json").read_text(encoding="utf-8"))["meta"]
    pairs = {frozenset((e["a"], e["b"])): (e["kappa"][0], e["error_kappa"][0])
             for e in meta["panel"]["errors"]}  # fmt: skip
    bases = meta["panel"]["bases"]
    for one in tuning["alike"]:
        which = ("answers", "errors").index(one["of"])
        among = list(combinations(bases, 2))
        against = list(bases.items()) if one["against"] == "own base" else list(
            combinations(bases.values(), 2))  # fmt: skip
        kappas = [[pairs[frozenset(pair)][which] for pair in own] for own in (among, against)]
        means = [np.mean(own) for own in kappas]
        assert one["value"] == pytest.approx(means[0] - means[1], abs=1e-9)
