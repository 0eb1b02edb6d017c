"""The study file: a small YAML that says what is trained, asked and compared.

kind: specialty
dataset: bank            # beside the file, or an absolute path
model: embedded:smollm2
preset: smedqa
settings: {max_steps: 30}
specialties: [Cardiology, Neurology, Pediatrics]
seeds: [0, 1, 2]
arms: [full, matched]
orders: 5
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from clinqa.asking.predict_options import PredictOptions
from clinqa.core.errors import ConfigError
from clinqa.core.options import BadOption, DrawingOptions, Options, option, varied
from clinqa.core.yamlfile import line_of, parse_yaml, read_bytes
from clinqa.studying.answers import ALL, NONE
from clinqa.training.train_options import TrainOptions

__all__ = ["ARMS", "FULL", "MATCHED", "StudySpec", "read_study"]

ArmName = Literal["full", "matched"]
FULL: ArmName = "full"
MATCHED: ArmName = "matched"
ARMS: tuple[ArmName, ...] = (FULL, MATCHED)
_MOST = 1 << 18


@dataclass(frozen=True, kw_only=True)
class StudySpec(Options):
    """What a study file says; what it leaves out has the value here."""

    kind: str = option(choices=("specialty",))
    dataset: Path = option(help="A folder, beside the file or absolute.")
    model: str = option(help="What is trained and asked.")
    preset: str = varied(TrainOptions, "preset", "smedqa")
    settings: Mapping[str, str | int | float | bool] | None = option(
        None, help="Keys of the preset, as with --set."
    )
    specialties: tuple[str, ...] = option(
        (), help="None: every specialty with `least_train` items of train and one of test."
    )
    least_train: int = option(1, low=1)
    seeds: tuple[int, ...] = option((0, 1, 2))
    arms: tuple[ArmName, ...] = option(
        ARMS,
        help="full: each specialty's whole train split, and all of them; matched: as many items "
        "of each, and of all together, as the smallest has.",
    )
    untrained: bool = option(True, help="Is the model asked as it is, too?")
    orders: int = varied(PredictOptions, "orders", 5)
    order_design: str = varied(PredictOptions, "order_design")
    reading: str = option(
        "written",
        choices=("written", "letters"),
        help="written: the letter of what is written; letters: the likeliest one.",
    )
    max_tokens: int = varied(PredictOptions, "max_tokens", 64)
    dtype: str | None = varied(PredictOptions, "dtype")
    test_items: int | None = option(
        None, low=1, help="Questions of test, by chance, the same for every model; none: all."
    )
    seed: int = varied(DrawingOptions, "seed")
    draws: int = varied(DrawingOptions, "draws", 2000)

    def check(self) -> None:
        """Raise ConfigError for a value that means nothing."""
        super().check()
        for name in ("seeds", "arms", "specialties"):
            value: Sequence[object] = getattr(self, name)
            if len(set(value)) < len(value):
                raise BadOption(name, "one of them stands twice")
            if not value and name != "specialties":
                raise BadOption(name, "give at least one")
        if len(self.specialties) == 1 or {ALL, NONE} & set(self.specialties):
            raise BadOption(
                "specialties", "give two or more names of specialties (or leave it out)"
            )

    @property
    def overrides(self) -> list[str]:
        """The settings as `--set` takes them."""
        return [
            f"{key}={str(value).lower() if isinstance(value, bool) else value}"
            for key, value in (self.settings or {}).items()
        ]

    def told(self) -> dict[str, Any]:
        """What the manifest says of it."""
        return {**asdict(self), "dataset": str(self.dataset), "settings": dict(self.settings or {})}


def read_study(path: Path) -> StudySpec:
    """The study in a file; the dataset is looked for beside it."""
    given, tree = parse_yaml(path, read_bytes(path, _MOST))
    try:
        found = StudySpec.from_mapping(given)
    except BadOption as error:
        raise ConfigError(f"{path}:{line_of(tree, (error.name,))}: {error}") from None
    dataset = found.dataset if found.dataset.is_absolute() else path.parent / found.dataset
    if not dataset.is_dir():
        raise ConfigError(f"{path}: dataset: {dataset} is no folder; build it first")
    return replace(found, dataset=dataset)
