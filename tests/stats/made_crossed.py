"""Made-up studies with known truth: models trained on one thing each, tested on all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clinqa.stats.crossed import Crossed
from clinqa.stats.design import Design

Floats = np.ndarray


@dataclass(frozen=True)
class World:
    """What decides an answer, on the logit scale; `effect` is what training on one's own gives."""

    k: int = 3
    seeds: int = 3
    questions: int = 40  # of each test set
    orders: int = 3
    effect: float = 0.0
    training: float = 0.3  # how far trainings of one row go apart on a test set
    luck: float = 0.5  # of one training with one question
    together: int = 1  # questions in a cluster
    hard: float = 1.2
    knows: float = 0.6  # of one row, of one question

    def answers(self, seed: int) -> tuple[list[Floats], Floats, list[str]]:
        """Rows, test set of each question, its cluster."""
        random = np.random.default_rng(seed)
        column = np.repeat(np.arange(self.k), self.questions)
        many = len(column)
        cluster = np.arange(many) // self.together
        hard = random.normal(0, self.hard, cluster.max() + 1)[cluster]
        rows = []
        for row in range(self.k):
            knows = random.normal(0, self.knows, many)
            found = []
            for _ in range(self.seeds):
                z = hard + knows + random.normal(0, self.training, self.k)[column]
                z = z + random.normal(0, self.luck, many) + self.effect * (column == row)
                chance = 1 / (1 + np.exp(-z))
                found.append((random.random((self.orders, many)) < chance).mean(axis=0))
            rows.append(np.array(found))
        return rows, column, [f"g{one}" for one in cluster]

    def truth(self) -> tuple[float, float]:
        """The share of right answers where a model was not, and was, trained on the test's own."""
        spread = np.sqrt(self.hard**2 + self.knows**2 + self.training**2 + self.luck**2)
        z = np.random.default_rng(0).normal(0, spread, 1_000_000)
        other, own = (1 / (1 + np.exp(-(z + more))) for more in (0.0, self.effect))
        return float(other.mean()), float(own.mean())


def crossed(rows: object, column: object, groups: object, seed: int, draws: int = 2000) -> Crossed:
    """The study of these rows, each seeds × questions."""
    models = [np.atleast_2d(np.asarray(row, dtype=float)) for row in rows]  # type: ignore[attr-defined]
    row_of = np.repeat(np.arange(len(models)), [len(row) for row in models])
    design = Design(groups, strata=column, crossed=row_of, seed=seed, draws=draws)  # type: ignore[arg-type]
    return Crossed(np.concatenate(models), design)
