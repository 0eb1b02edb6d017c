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

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from clinqa.core.errors import ConfigError
from clinqa.core.yamlfile import read_bytes, validated
from clinqa.kinds.facets.asks import MOST_ORDERS
from clinqa.studying.answers import ALL, NONE

__all__ = ["ARMS", "FULL", "MATCHED", "StudySpec", "read_study"]

ArmName = Literal["full", "matched"]
FULL: ArmName = "full"
MATCHED: ArmName = "matched"
ARMS: tuple[ArmName, ...] = (FULL, MATCHED)
_MOST = 1 << 18


class StudySpec(BaseModel):
    """What a study file says; what it leaves out has the value here."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    kind: Literal["specialty"]
    dataset: Path
    model: str
    preset: str = "smedqa"
    #: keys of the preset, as with --set
    settings: dict[str, str | int | float | bool] = Field(default_factory=dict)
    #: none: every specialty with at least `least_train` items of train and one of test
    specialties: tuple[str, ...] = ()
    least_train: int = Field(default=1, ge=1)
    seeds: tuple[int, ...] = (0, 1, 2)
    #: full: each specialty's whole train split, and all of them; matched: as many items of each,
    #: and of all together, as the smallest has
    arms: tuple[ArmName, ...] = ARMS
    untrained: bool = True
    orders: int = Field(default=5, ge=1, le=MOST_ORDERS)
    order_design: Literal["random", "cyclic"] = "random"
    #: written: the letter of what is written; letters: the likeliest letter, nothing is written
    reading: Literal["written", "letters"] = "written"
    max_tokens: int = Field(default=64, ge=1)
    #: the number format in which models are asked; none: the model's own
    dtype: str | None = None
    #: questions of test, by chance, the same for every model; none: all
    test_items: int | None = Field(default=None, ge=1)
    seed: int = 0
    draws: int = Field(default=2000, ge=100)

    @field_validator("seeds", "arms", "specialties")
    @classmethod
    def _no_two_alike(cls, value: tuple[object, ...]) -> tuple[object, ...]:
        if len(set(value)) < len(value):
            raise ValueError("one of them stands twice")
        return value

    @field_validator("seeds", "arms")
    @classmethod
    def _not_empty(cls, value: tuple[object, ...]) -> tuple[object, ...]:
        if not value:
            raise ValueError("give at least one")
        return value

    @field_validator("specialties")
    @classmethod
    def _two_of_them(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if len(value) == 1 or {ALL, NONE} & set(value):
            raise ValueError("give two or more names of specialties (or leave it out)")
        return value

    @property
    def overrides(self) -> list[str]:
        """The settings as `--set` takes them."""
        return [f"{key}={_text(value)}" for key, value in self.settings.items()]


def _text(value: str | int | float | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def read_study(path: Path) -> StudySpec:
    """The study in a file; the dataset is looked for beside it."""
    found = validated(path, read_bytes(path, _MOST), StudySpec)
    dataset = found.dataset if found.dataset.is_absolute() else path.parent / found.dataset
    if not dataset.is_dir():
        raise ConfigError(f"{path}: dataset: {dataset} is no folder; build it first")
    return found.model_copy(update={"dataset": dataset})
