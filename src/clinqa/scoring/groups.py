"""What is known of a model beyond its name, as `models.yaml` has it."""

from __future__ import annotations

from typing import Any

from clinqa.models.families import base_of, facts_of

__all__ = ["model_facts"]

_BILLION = 1e9


def model_facts(name: str) -> dict[str, Any]:
    """Group, family, number of parameters, base model and licence; None where not known.

    >>> model_facts("embedded:smollm2")["group"], model_facts("hf:/somewhere/ours")["group"]
    ('general', None)
    """
    facts = facts_of(name)
    if facts is None:
        return dict.fromkeys(("title", "group", "family", "parameters", "base", "licence"))
    base = base_of(facts)
    return {
        "title": facts.name,
        "group": facts.group,
        "family": facts.family,
        "parameters": facts.parameters * _BILLION if facts.parameters else None,
        "base": None if base is None else base.id,
        "licence": facts.licence,
    }
