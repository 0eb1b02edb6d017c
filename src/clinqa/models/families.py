"""What is known of a model beside its name: size, group, family and licence (`models.yaml`)."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from clinqa.core.errors import ConfigError
from clinqa.core.yamlfile import validated

__all__ = ["GROUPS", "ModelFacts", "base_of", "facts_of", "load_models"]

Group = Literal["biomedical", "general", "closed", "encoder", "baseline"]
GROUPS: tuple[Group, ...] = ("biomedical", "general", "closed", "encoder", "baseline")


#: A match is looked for in a name in lower case; an empty one would be every model's.
Word = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9.-]*$")]


class ModelFacts(BaseModel):
    """One line of models.yaml; `parameters` in billions, None where the maker does not say."""

    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())

    id: str
    name: str
    family: str
    parameters: float | None = Field(ge=0, allow_inf_nan=False)
    group: Group
    licence: str
    match: tuple[Word, ...] = Field(min_length=1)
    base_of: tuple[str, ...] = ()
    papers: tuple[str, ...] = ()


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    models: tuple[ModelFacts, ...]


@cache
def load_models() -> tuple[ModelFacts, ...]:
    """Every model of the shipped file, checked: ids and matches are unique, bases exist."""
    return _checked(files("clinqa.models").joinpath("models.yaml").read_text(encoding="utf-8"))


def facts_of(name: str) -> ModelFacts | None:
    """What is known of the model called `name` in `--model`; None if nothing is.

    >>> facts_of("openai:gpt-4o-mini-2024-07-18").name, facts_of("hf:/models/BioMistral-7B").group
    ('GPT-4o mini', 'biomedical')
    >>> facts_of("hf:/models/our-own") is None
    True
    """
    shown = re.sub(r"[^a-z0-9.]+", "-", name.casefold())
    found = [
        (len(word), facts)
        for facts in load_models()
        for word in facts.match
        if re.search(rf"(?<![a-z0-9]){re.escape(word)}(?![a-z0-9]|\.\d)", shown)
    ]
    return max(found, key=lambda pair: (pair[0], pair[1].id))[1] if found else None


def base_of(facts: ModelFacts) -> ModelFacts | None:
    """The model that this one was made from, where it is known."""
    return next((one for one in load_models() if facts.id in one.base_of), None)


def _checked(text: str) -> tuple[ModelFacts, ...]:
    models = validated(Path("models.yaml"), text.encode("utf-8"), _File).models
    ids = [one.id for one in models]
    words = [word for one in models for word in one.match]
    for what, values in (("id", ids), ("match", words)):
        if twice := {value for value in values if values.count(value) > 1}:
            raise ConfigError(f"models.yaml: {what} {min(twice)!r} stands twice")
    if unknown := {made for one in models for made in one.base_of} - set(ids):
        raise ConfigError(f"models.yaml: base_of names no model: {min(unknown)!r}")
    return models
