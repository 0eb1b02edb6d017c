"""What is known of models, by the names they are asked for."""

from __future__ import annotations

import pytest

from clinqa.core.errors import ConfigError
from clinqa.models.families import GROUPS, _checked, base_of, facts_of, load_models


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("baseline:retrieval", "retrieval"),
        ("embedded:smollm2", "smollm2-135m"),
        ("embedded:gemma3-270m", "gemma-3-270m"),
        ("hf:mistralai/Mistral-7B-Instruct-v0.2", "mistral-7b"),
        ("hf:/models/BioMistral-7B-DARE", "biomistral-7b"),
        ("bedrock:meta.llama3-1-70b-instruct-v1:0", "llama-3.1-70b"),
        ("bedrock:anthropic.claude-3-haiku-20240307-v1:0", "claude-3-haiku"),
        ("bedrock:us.anthropic.claude-3-5-sonnet-20241022-v2:0", "claude-3.5-sonnet"),
        ("openai:gpt-4", "gpt-4"),
        ("openai:gpt-4.1-mini", "gpt-4.1-mini"),
        ("openai:gpt-4.5", None),
        ("azure:gpt-35-turbo", "gpt-3.5-turbo"),
        ("gguf:/x/SmolLM2-135M-Instruct.Q4_1.gguf", "smollm2-135m"),
        ("hf:emilyalsentzer/Bio_ClinicalBERT", "clinicalbert"),
        ("scripted:replies.jsonl", None),
    ],
)
def test_a_model_is_known_by_whole_words_of_its_name(name: str, known: str | None) -> None:
    facts = facts_of(name)
    assert (facts.id if facts else None) == known


def test_every_group_has_a_model_and_every_model_is_found_by_its_own_words() -> None:
    models = load_models()
    assert {one.group for one in models} == set(GROUPS)
    for one in models:
        for word in one.match:
            assert facts_of(f"hf:{word}") == one


def test_a_model_knows_what_it_was_made_from() -> None:
    derived = facts_of("hf:BioMistral-7B")
    assert derived is not None
    base = base_of(derived)
    assert base is not None
    assert base.id == "mistral-7b"
    assert base_of(base) is None


ONE = "{id: a, name: A, family: F, parameters: 1, group: general, licence: MIT, match: [a]"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"models: [{ONE}}}, {ONE}}}]", "stands twice"),
        (f"models: [{ONE}, base_of: [b]}}]", "no model: 'b'"),
        (f"models: [{ONE}, odd: 1}}]", "models.0.odd"),
        ("models: [", "models.yaml"),
    ],
)
def test_a_mistake_in_the_file_is_an_error(text: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        _checked(text)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (
            "parameters: .inf, group: general, licence: x, match: [a]",
            "models.0.parameters",
        ),
        (
            "parameters: 1, group: general, licence: x, match: ['']",
            "models.0.match.0",
        ),
        (
            "parameters: 1, group: general, licence: x, match: [A]",
            "models.0.match.0",
        ),
        ("parameters: 1, group: rare, licence: x, match: [a]", "models.0.group"),
    ],
)
def test_a_fault_of_the_file_is_told_with_its_place(line: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        _checked(f"models:\n  - {{id: a, name: A, family: F, {line}}}")
