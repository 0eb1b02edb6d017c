"""What a study will do: which specialties, how many items, which trainings, which runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from clinqa.core.errors import ConfigError
from clinqa.core.records import SPLITS
from clinqa.dataset.reader import Dataset
from clinqa.kinds.registry import ItemKind
from clinqa.stats.crossed import FEWEST_PERMUTED, FEWEST_SEEDS
from clinqa.studying.answers import ALL, NONE, AskedOf
from clinqa.studying.spec import FULL, MATCHED, StudySpec

__all__ = ["Plan", "Training", "plan_of"]


@dataclass(frozen=True, slots=True)
class Training:
    """One training, or the model as it is (no seed). No text of a bank stands in the name."""

    name: str
    arms: tuple[str, ...]
    trained_on: str
    categories: tuple[str, ...]
    seed: int | None
    items: int
    limit: int | None

    @property
    def asked(self) -> AskedOf:
        """As the table of answers has it."""
        trained = self.seed is not None
        return AskedOf(self.arms, self.trained_on, self.seed, self.items if trained else None)


@dataclass(frozen=True, slots=True)
class Plan:
    """The trainings of a study, each done once even where two arms need it."""

    spec: StudySpec
    kind: ItemKind
    specialties: tuple[str, ...]
    sizes: dict[str, tuple[int, int, int]]  # train, validation, test
    trainings: tuple[Training, ...]

    @property
    def test_items(self) -> int:
        """Questions that every model is asked."""
        found = sum(self.sizes[name][2] for name in self.specialties)
        return min(found, self.spec.test_items or found)

    def lines(self) -> list[str]:
        """For a person who has yet to decide."""
        spec = self.spec
        width = max(map(len, self.specialties))
        lines = [f"{'specialty':<{width}}     train validation      test"]
        lines += [
            f"{name:<{width}}" + "".join(f"{n:>10,}" for n in self.sizes[name])
            for name in self.specialties
        ]
        trained = [one for one in self.trainings if one.seed is not None]
        lines += [
            "",
            f"{len(trained)} trainings of {spec.model} by preset {spec.preset}, "
            f"{sum(one.items for one in trained):,} items an epoch in all",
            f"{len(self.trainings)} models asked {self.test_items:,} questions in up to "
            f"{spec.orders} orders: "
            f"{len(self.trainings) * self.test_items * spec.orders:,} prompts at most",
        ]
        lines += [f"note: {note}" for note in self.notes()]
        return lines

    def notes(self) -> list[str]:
        """What this study will not be able to say."""
        notes = []
        if len(self.spec.seeds) < FEWEST_SEEDS:
            notes.append(
                f"{len(self.spec.seeds)} training seeds: the own-specialty interaction needs "
                f"{FEWEST_SEEDS}"
            )
        if len(self.specialties) < FEWEST_PERMUTED:
            notes.append(
                f"{len(self.specialties)} specialties: no permutation test, which needs "
                f"{FEWEST_PERMUTED}"
            )
        few = [name for name in self.specialties if self.sizes[name][2] < 30]
        if few:
            notes.append(f"{len(few)} test sets hold fewer than 30 questions: wide intervals")
        if MATCHED in self.spec.arms:
            least = min(self.sizes[name][0] for name in self.specialties)
            notes.append(f"the arm matched trains on {least:,} items of each, chosen by the seed")
        return notes


def plan_of(spec: StudySpec, dataset: Dataset) -> Plan:
    """The plan; ConfigError where the dataset cannot carry it."""
    kind = dataset.kind
    if not kind.has("orders"):
        raise ConfigError(
            f"{dataset.folder}: {kind.title} items have no options to be put in orders; a study of "
            "specialties takes what `clinqa build specialty` makes"
        )
    sizes = _sizes(dataset)
    wanted = spec.specialties or tuple(
        sorted(
            name for name, (train, _, test) in sizes.items() if train >= spec.least_train and test
        )
    )
    missing = [name for name in wanted if name not in sizes]
    if missing:
        known = ", ".join(sorted(sizes))
        raise ConfigError(
            f"{dataset.folder}: no questions of {', '.join(missing)}; it holds {known}"
        )
    small = [name for name in wanted if sizes[name][0] < spec.least_train or not sizes[name][2]]
    if small:
        raise ConfigError(
            f"{dataset.folder}: too few questions of {', '.join(small)}: each needs "
            f"{spec.least_train} of train and one of test"
        )
    if len(wanted) < 2:
        raise ConfigError(
            f"{dataset.folder}: {len(wanted)} specialties have {spec.least_train} questions of "
            "train and one of test; a study compares two or more"
        )
    return Plan(spec, kind, wanted, sizes, tuple(_trainings(spec, wanted, sizes)))


def _sizes(dataset: Dataset) -> dict[str, tuple[int, int, int]]:
    """Questions of each specialty in train, validation and test."""
    counts = []
    for split in SPLITS:
        counts.append(Counter[str]())
        for table in dataset.batches(split, ["category"]):
            counts[-1].update(table["category"].to_pylist())
    names = sorted({name for count in counts for name in count})
    return {name: (counts[0][name], counts[1][name], counts[2][name]) for name in names}


def _trainings(
    spec: StudySpec, specialties: Sequence[str], sizes: dict[str, tuple[int, int, int]]
) -> list[Training]:
    """Every training once. The smallest specialty's is the same in both arms."""
    every = sum(sizes[name][0] for name in specialties)
    least = min(sizes[name][0] for name in specialties)
    rows: list[tuple[str, tuple[str, ...], int]] = []
    rows += [(name, (name,), sizes[name][0]) for name in specialties]
    rows.append((ALL, tuple(specialties), every))
    made = []
    if spec.untrained:
        made.append(Training("untrained", ("",), NONE, (), None, 0, None))
    for at, (trained_on, categories, size) in enumerate(rows):
        wanted: dict[str, int] = {FULL: size, MATCHED: least}
        by_size: dict[int, list[str]] = {}
        for arm in spec.arms:
            by_size.setdefault(wanted[arm], []).append(arm)
        for items, arms in by_size.items():
            made += [
                Training(
                    f"{at:02d}-{'-'.join(arms)}-s{seed}",
                    tuple(arms),
                    trained_on,
                    categories,
                    seed,
                    items,
                    items if items < size else None,
                )
                for seed in spec.seeds
            ]
    return made
