"""Local models on a tiny model with random weights: batches, sharing, stops, seeds, scores."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the extra `local` is not installed")

import torch

from clinqa.core.errors import ConfigError, ModelError
from clinqa.models.local import LocalModel
from clinqa.models.protocol import Message, ModelOptions, Output, Prompt, Sampling, Scorer
from clinqa.models.registry import open_model
from tiny_model import WORDS, make_tiny, opened, prompts

pytestmark = pytest.mark.full

GREEDY = Sampling(max_tokens=12)


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny(tmp_path_factory.mktemp("llama"))


@pytest.fixture(scope="module")
def gemma(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny(tmp_path_factory.mktemp("gemma"), "gemma")


@pytest.fixture(params=["llama", "gemma"])
def folder(request: pytest.FixtureRequest) -> Path:
    path: Path = request.getfixturevalue(request.param)
    return path


def texts(model: LocalModel, asked: list[Prompt], sampling: Sampling) -> list[str]:
    found = dict(model.generate(asked, sampling))
    assert sorted(found) == list(range(len(asked)))
    return [found[number].text for number in range(len(asked))]


def one(model: LocalModel, prompt: Prompt, sampling: Sampling) -> Output:
    [(index, output)] = model.generate([prompt], sampling)
    assert index == 0
    return output


def plain(model: LocalModel) -> torch.nn.Module:
    """The model as transformers runs it by itself."""
    inner = model._open.engine._model
    inner.set_attn_implementation("sdpa")
    return inner


def test_batches_say_what_a_loop_of_generate_says(folder: Path) -> None:
    asked = prompts(17)
    ours = texts(opened(folder), asked, GREEDY)
    model = opened(folder)
    renderer, loop = model._open.renderer, []
    for prompt in asked:
        given = torch.tensor([renderer.encode(prompt.messages)])
        done = plain(model).generate(
            input_ids=given,
            attention_mask=torch.ones_like(given),
            max_new_tokens=12,
            do_sample=False,
        )
        loop.append(renderer.decode(done[0, given.shape[1] :].tolist()))
    assert ours == loop
    assert len(set(ours)) > 5


@pytest.mark.parametrize("reports", [1, 3, 17])
def test_what_is_shared_changes_nothing(folder: Path, reports: int) -> None:
    asked = prompts(17, reports=reports, shots=2)
    shared = texts(opened(folder), asked, GREEDY)
    assert shared == texts(opened(folder, extra={"prefix": "none"}), asked, GREEDY)


@pytest.mark.parametrize("sampling", [Sampling(1.0, 1.0, 12), Sampling(0.8, 0.9, 12)])
def test_a_sampled_text_depends_on_item_and_seed_alone(llama: Path, sampling: Sampling) -> None:
    asked = prompts(12)
    whole = texts(opened(llama), asked, sampling)
    alone = opened(llama, batch_size=1)
    assert [one(alone, prompt, sampling).text for prompt in asked] == whole
    assert texts(opened(llama, batch_size=5), asked[::-1], sampling) == whole[::-1]
    assert texts(opened(llama), prompts(12, seed=1), sampling) != whole
    again = [replace(prompt, repeat=1) for prompt in asked]
    assert texts(opened(llama), again, sampling) != whole


def test_top_p_near_nothing_is_greedy(llama: Path) -> None:
    asked, model = prompts(6), opened(llama)
    assert texts(model, asked, Sampling(1.0, 1e-9, 12)) == texts(model, asked, GREEDY)


def test_sampling_draws_each_token_as_often_as_its_chance() -> None:
    from random import Random

    from clinqa.models.local.engine import next_tokens

    logits = torch.log(torch.tensor([[0.5, 0.1, 0.3, 0.1]])).repeat(4000, 1)
    draws = [Random(number) for number in range(4000)]
    counts = torch.bincount(torch.tensor(next_tokens(logits, Sampling(1.0), draws)), minlength=4)
    assert torch.allclose(counts / 4000, torch.tensor([0.5, 0.1, 0.3, 0.1]), atol=0.03)
    nucleus = next_tokens(logits, Sampling(1.0, 0.7), draws)
    counts = torch.bincount(torch.tensor(nucleus), minlength=4)
    assert torch.allclose(counts / 4000, torch.tensor([0.625, 0.0, 0.375, 0.0]), atol=0.03)


def test_a_stop_string_ends_the_text_before_it(llama: Path) -> None:
    model, prompt = opened(llama), prompts(1)[0]
    free = one(model, prompt, GREEDY)
    assert free.finish_reason == "length" and free.output_tokens == 12
    stop = free.text[3:6]
    stopped = one(model, prompt, replace(GREEDY, stop=("never said", stop)))
    assert stopped.text == free.text[: free.text.index(stop)]
    assert stopped.finish_reason == "stop"
    assert (stopped.output_tokens or 99) < 12


def test_the_end_mark_ends_the_text_and_is_not_part_of_it(llama: Path) -> None:
    model = opened(llama)
    ended = [o for _, o in model.generate(prompts(40), Sampling(2.0, 1.0, 60))]
    stopped = [output for output in ended if output.finish_reason == "stop"]
    assert stopped and len(stopped) < len(ended)
    assert not any("<|" in output.text for output in stopped)
    assert all((output.output_tokens or 0) < 60 for output in stopped)


def test_a_prompt_over_the_window_is_an_error_and_not_cut(llama: Path) -> None:
    model = opened(llama, context_window=100)
    long = replace(prompts(1)[0], messages=(Message("user", " ".join(WORDS * 5)),))
    found = dict(model.generate([prompts(1)[0], long], GREEDY))
    assert found[0].finish_reason == "length"
    assert (found[1].finish_reason, found[1].error, found[1].text) == ("error", "context", "")
    assert found[1].input_tokens == model.count_tokens(long) > 88
    with pytest.raises(ConfigError, match=r"item00.*window"):
        model.score([(long, "yes")])


def test_log_probabilities_are_those_of_a_direct_pass(folder: Path) -> None:
    asked = prompts(9)
    answers = ["normal", " mildly dilated", "severely thickened 3.5 cm", "no", "yes"]
    pairs = [(prompt, answer) for prompt in asked for answer in answers]
    model = opened(folder, batch_size=7)
    assert isinstance(model, Scorer)
    found = model.score(pairs)
    renderer = model._open.renderer
    for (prompt, answer), values in zip(pairs, found, strict=True):
        tokens, count = renderer.encode_pair(prompt.messages, answer)
        assert renderer.decode(tokens[-count:]) == answer
        with torch.inference_mode():
            logits = plain(model)(input_ids=torch.tensor([tokens])).logits[0].log_softmax(-1)
        direct = [
            logits[place - 1, tokens[place]].item()
            for place in range(len(tokens) - count, len(tokens))
        ]
        assert values == pytest.approx(direct, abs=1e-4)


def test_outputs_count_tokens_and_share_the_time(llama: Path) -> None:
    model, asked = opened(llama), prompts(5)
    found = dict(model.generate(asked, GREEDY))
    assert [found[n].input_tokens for n in range(5)] == [model.count_tokens(p) for p in asked]
    assert all(output.seconds > 0 and output.prompt_sha256 for output in found.values())


def test_outputs_come_as_batches_end(llama: Path) -> None:
    model = opened(llama, batch_size=2)
    answers = model.generate(prompts(6, reports=6), GREEDY)
    first = next(answers)
    assert first[1].text
    answers.close()  # and nothing is left behind that disturbs the next
    assert len(list(model.generate(prompts(3), GREEDY))) == 3


def test_a_model_without_chat_template_gets_completion_prompts(tmp_path: Path) -> None:
    model = opened(make_tiny(tmp_path, chat=False))
    assert model.describe()["prompt_form"] == "completion"
    text = model._open.renderer.text(prompts(1)[0].messages)
    assert text.startswith("the report says\n\nvalve 0 is normal What\nAnswer: ")
    assert text.endswith("\nAnswer:")
    assert model._open.renderer.cut("\n normal.\n\nthe report", ()) == "\n normal."
    tokens, count = model._open.renderer.encode_pair(prompts(1)[0].messages, "normal")
    assert model._open.renderer.decode(tokens[-count:]) == " normal"


def test_what_decides_the_result_is_recorded(llama: Path) -> None:
    facts = opened(llama).describe()
    assert facts["dtype"] == "float32" and facts["device"] == "cpu"
    assert len(facts["weights_sha256"]) == 64 and facts["torch"] == torch.__version__


@pytest.mark.parametrize(
    ("name", "says"),
    [("hf:/no/such/folder", "no such folder"), ("gguf:/no/such.gguf", "cannot be read")],
)
def test_weights_that_are_not_there_are_one_clear_error(name: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        open_model(name, ModelOptions())


def test_only_safetensors_are_read(tmp_path: Path, llama: Path) -> None:
    (tmp_path / "config.json").write_bytes((llama / "config.json").read_bytes())
    (tmp_path / "pytorch_model.bin").write_bytes(b"pickle")
    with pytest.raises(ConfigError, match="safetensors"):
        open_model(f"hf:{tmp_path}", ModelOptions())
    (tmp_path / "model.safetensors").write_bytes(b"damaged")
    with pytest.raises(ModelError, match="cannot load"):
        open_model(f"hf:{tmp_path}", ModelOptions())


def test_a_file_that_is_no_gguf_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.gguf").write_bytes(b"PK\x03\x04 and more")
    with pytest.raises(ConfigError, match="not a GGUF"):
        open_model(f"gguf:{tmp_path / 'x.gguf'}", ModelOptions())


def test_unknown_number_formats_and_devices_are_refused(llama: Path) -> None:
    with pytest.raises(ConfigError, match="dtype"):
        open_model(f"hf:{llama}", ModelOptions(dtype="int3"))
    with pytest.raises(ConfigError, match="device"):
        open_model(f"hf:{llama}", ModelOptions(device="quantum"))
