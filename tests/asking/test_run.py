"""The line from a dataset to a RUN folder: every item is there once, whatever came back."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from asking.made_dataset import Made, install, predictions, rows, said, write_dataset
from clinqa.asking.predict import predict
from clinqa.asking.predict_options import PredictOptions
from clinqa.asking.results import read_prompts
from clinqa.core.errors import ClinqaError, ConfigError, ModelError, PrivacyError
from clinqa.core.records import DataClass
from clinqa.core.stage import StageResult
from clinqa.models.protocol import Output, Prompt, messages_sha256


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    return write_dataset(tmp_path / "dataset")


def run(dataset: Path, name: str = "run", **told: object) -> StageResult:
    options = PredictOptions(**{"model": "made:model", **told})  # type: ignore[arg-type]
    return predict(dataset, dataset.parent / name, options)


def manifest(dataset: Path, name: str = "run") -> dict[str, object]:
    return json.loads((dataset.parent / name / "manifest.json").read_text())


def echo(prompt: Prompt) -> Output:
    return said(f" About {prompt.category}.\n")


def test_each_item_is_asked_once_and_its_answer_stripped(
    dataset: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, model := Made(echo))
    result = run(dataset)
    assert result.counts["answered"] == 18 == len(model.asked)
    found = predictions(dataset.parent / "run")
    assert [one["item_id"] for one in found] == sorted(p.item_id for p in model.asked)
    assert {one["answer"] for one in found} == {
        "About mitral_regurgitation.", "About lv_wall.", "About aortic_stenosis.",
    }  # fmt: skip
    assert {one["output"][0] for one in found} == {" "}
    assert model.closed == 1


def test_outputs_of_every_kind_are_counted_and_none_is_dropped(
    dataset: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replies = [
        said("Mild."), said(""), said(" \n"), said("", finish="refusal"),
        said("", finish="content_filter"), said("Mild and", finish="length"),
        said("", finish="error", error="context"), said("", finish="error", error="bad_output"),
        said("", finish="error"), said("", finish="error", error="refusal"), said("half \ud83d"),
    ]  # fmt: skip
    left = iter(replies * 2)
    given: dict[str, Output] = {}

    def reply(prompt: Prompt) -> Output:  # the same when it is asked again
        if prompt.item_id not in given:
            given[prompt.item_id] = next(left)
        return given[prompt.item_id]

    install(monkeypatch, Made(reply))
    result = run(dataset)
    found = predictions(dataset.parent / "run")
    statuses = Counter(one["answer_status"] for one in found)
    assert statuses == {"answered": 3, "empty": 4, "refused": 5, "truncated": 2, "error": 4}
    assert sum(statuses.values()) == 18
    assert {name: result.counts[name] for name in statuses} == statuses
    assert all((one["answer"] is None) == (one["answer_status"] != "answered") for one in found)
    counts = manifest(dataset)["counts"]["predictions"]
    assert counts["sum"] == "18 read = 3 kept + 15 rejected + 0 duplicates + 0 out_of_scope"
    assert any("4 of 18 prompts ended in an error" in warning for warning in result.warnings)


def test_a_model_that_loses_or_repeats_prompts_changes_no_count(
    dataset: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Careless(Made):
        def generate(self, prompts, sampling):  # type: ignore[no-untyped-def]
            for index, output in super().generate(prompts, sampling):
                if index % 3:
                    yield index, output
                    yield index, output

    install(monkeypatch, Careless(echo))
    counts = run(dataset).counts
    assert (counts["answered"], counts["error"]) == (16, 2)  # two thirds, and of the rest


def test_every_prompt_can_be_had_back_exactly(
    dataset: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, model := Made(echo))
    run(dataset, shots=2, repeats=3)
    kept = dict(read_prompts(dataset.parent / "run" / "prompts.jsonl"))
    asked = {messages_sha256(prompt.messages): prompt.messages for prompt in model.asked}
    assert kept == asked
    assert len(kept) == 54
    assert {one["prompt_sha256"] for one in predictions(dataset.parent / "run")} == set(kept)


def test_the_shared_beginning_is_written_once(
    dataset: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, Made(echo))
    run(dataset, shots=3)
    lines = (dataset.parent / "run" / "prompts.jsonl").read_text().splitlines()
    assert len([line for line in lines if line.startswith('{"prefix"')]) == 1
    assert len(lines) == 19


def test_repeats_that_only_sample_write_each_prompt_once(
    dataset: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, model := Made(echo))
    run(dataset, repeats=3, temperature=1.0)
    assert len(model.asked) == 54
    assert len(list(read_prompts(dataset.parent / "run" / "prompts.jsonl"))) == 18
    assert len({prompt.seed for prompt in model.asked}) == 3
    assert manifest(dataset)["configuration"]["vary"] == "sampling"


def test_greedy_and_nothing_to_vary_runs_once_and_says_so(
    dataset: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, model := Made(echo))
    result = run(dataset, repeats=3)
    assert len(model.asked) == 18
    assert "deterministic" in result.lines[0]
    told = manifest(dataset)["configuration"]
    assert (told["vary"], told["repeats"], told["repeats_asked"]) == ("deterministic", 1, 3)


def test_a_service_asked_greedily_is_asked_again_only_where_that_is_said(
    dataset: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, model := Made(echo, deterministic=False))
    assert "--vary sampling asks it again" in run(dataset, "once", repeats=2).lines[0]
    assert len(model.asked) == 18
    assert manifest(dataset, "once")["configuration"]["vary"] == "deterministic"
    run(dataset, "twice", repeats=2, vary="sampling")
    assert len(model.asked) == 18 + 36


def test_an_answer_from_the_cache_costs_nothing_and_is_counted(
    dataset: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (dataset.parent / "prices.yaml").write_text(
        "as_of: 2026-01-01\ncurrency: USD\nmodels: {'made:model': {input: 9, output: 9}}\n"
    )
    install(monkeypatch, Made(lambda prompt: replace(echo(prompt), cached=True)))
    result = run(dataset, price_file=dataset.parent / "prices.yaml", max_cost=0.01)
    assert "18 of 18 answers came from the cache" in result.lines
    details = manifest(dataset)["details"]
    assert (details["cached"], details["cost"]) == (18, 0.0)


@pytest.mark.parametrize("name", ["temperature", "timeout", "max_cost"])
def test_a_number_without_end_is_refused(dataset: Path, name: str) -> None:
    with pytest.raises(ConfigError, match="must be a number"):
        run(dataset, **{name: float("inf")})


def test_shots_vary_between_repeats_of_a_greedy_run(
    dataset: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, model := Made(echo))
    run(dataset, repeats=3, shots=2)
    assert len({prompt.messages[:-1] for prompt in model.asked}) == 3
    told = manifest(dataset)
    assert told["configuration"]["vary"] == "shots"
    assert {len(ids) for ids in told["details"]["shots"].values()} == {2}


def test_with_a_temperature_the_shots_stay(dataset: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, model := Made(echo))
    run(dataset, repeats=3, shots=2, temperature=0.7)
    assert len({prompt.messages[:-1] for prompt in model.asked}) == 1


def test_each_repeat_has_the_adapter_of_its_training_seed(
    dataset: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    adapters = [dataset.parent / f"adapter{n}" for n in range(2)]
    for adapter in adapters:
        adapter.mkdir()
        (adapter / "weights").write_text(adapter.name)
    install(monkeypatch, model := Made(echo))
    run(dataset, vary="training-seed", adapters=adapters)
    assert [options.adapter for options in model.options][:2] == adapters
    assert len(predictions(dataset.parent / "run")) == 36
    assert manifest(dataset)["configuration"]["vary"] == "training-seed"


def test_other_weights_under_the_same_name_are_another_run(
    dataset: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = dataset.parent / "model.gguf"
    file.write_bytes(b"GGUF one")
    monkeypatch.setattr("clinqa.asking.run_models.open_model", lambda name, options: Made(echo))
    run(dataset, model=f"gguf:{file}")
    assert run(dataset, model=f"gguf:{file}").already_done
    file.write_bytes(b"GGUF two!")
    with pytest.raises(ConfigError, match="weights_sha256"):
        run(dataset, model=f"gguf:{file}")


def test_what_the_model_says_of_itself_stands_in_the_manifest(
    dataset: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Loaded(Made):
        def describe(self) -> dict[str, str]:
            return {"dtype": "bfloat16", "device": "cpu"}

    install(monkeypatch, Loaded(echo))
    run(dataset, threads=3)
    told = manifest(dataset)
    assert told["details"]["models"] == [
        {"deterministic": True, "dtype": "bfloat16", "device": "cpu"}
    ]
    assert told["configuration"]["threads"] == 3


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"vary": "shots", "repeats": 2}, "--vary shots needs --shots"),
        ({"vary": "training-seed"}, "needs an --adapter"),
        ({"model": "baseline:prior", "shots": 3}, "reads no shots"),
        ({"model": "nonsense"}, "no such kind of model"),
        ({"max_cost": 1.0}, "--max-cost needs to know"),
        ({"base_url": "http://me:pw@host/v1"}, "name or password"),
        ({"base_url": "http://host/v1?page=abc"}, "no \\?query"),
        ({"base_url": "ftp://host"}, "must start with http"),
        ({"temperature": float("nan")}, "--temperature"),
        ({"limit": 3, "split": "validation"}, "holds no items"),
    ],
)
def test_what_cannot_be_is_refused_and_leaves_no_folder_in_the_way(
    dataset: Path, monkeypatch: pytest.MonkeyPatch, told: dict[str, object], words: str
) -> None:
    install(monkeypatch, Made(echo))
    with pytest.raises(ConfigError, match=words):
        run(dataset, **told)
    assert run(dataset).counts["answered"] == 18  # the same --out, told otherwise


def test_a_limit_asks_the_same_items_whatever_the_seed_and_part_of_a_larger_one(
    dataset: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = {}
    for name, told in {
        "a": {"limit": 5}, "b": {"limit": 5, "seed": 9, "shots": 2}, "c": {"limit": 12},
    }.items():  # fmt: skip
        install(monkeypatch, model := Made(echo))
        run(dataset, name, **told)
        asked[name] = {prompt.item_id for prompt in model.asked}
    assert asked["a"] == asked["b"] < asked["c"]
    assert len(asked["a"]) == 5
    counts = manifest(dataset, "a")["counts"]["predictions"]
    assert counts["out_of_scope_by_reason"] == {"limit": 13}


def test_order_of_rows_chunks_and_answers_changes_nothing(
    dataset: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    test = rows([f"t{n}" for n in range(6)])
    other = write_dataset(dataset.parent / "other", test=test[::-1], row_group=4)
    install(monkeypatch, Made(echo))
    run(dataset, "one", shots=2, repeats=2)
    install(monkeypatch, Made(echo, backwards=True))
    options = PredictOptions(model="made:model", shots=2, repeats=2, chunk=5)
    predict(other, dataset.parent / "two", options)
    one, two = (predictions(dataset.parent / name) for name in ("one", "two"))
    for found in (one, two):
        for record in found:
            del record["seconds"]
    assert one == two


def test_a_prompt_over_the_window_is_an_error_and_never_sent(
    dataset: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    test = rows(["t1"])
    test[0]["context"] = "long " * 2000
    folder = write_dataset(dataset.parent / "long", test=test)
    install(monkeypatch, model := Made(echo))
    run(folder, context_window=600)
    assert len(model.asked) == 2
    kinds = {one["item_id"]: one["error"] for one in predictions(dataset.parent / "run")}
    assert kinds[test[0]["id"]] == "context"


def test_the_class_is_inherited_given_to_the_model_and_kept_on_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = write_dataset(tmp_path / "dataset", data_class="restricted")
    install(monkeypatch, model := Made(echo))
    run(dataset)
    assert model.options[0].data_class is DataClass.RESTRICTED
    assert manifest(dataset)["data_class"] == "restricted"
    files = [path for path in (tmp_path / "run").iterdir() if path.is_file()]
    assert {path.stat().st_mode & 0o777 for path in files} == {0o600}
    assert {path.name for path in files} == {
        "predictions.parquet", "prompts.jsonl", "egress.jsonl", "manifest.json",
    }  # fmt: skip


def test_the_class_can_be_raised_and_not_lowered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = write_dataset(tmp_path / "dataset", data_class="restricted")
    install(monkeypatch, model := Made(echo))
    with pytest.raises(PrivacyError):
        run(dataset, data_class=DataClass.PUBLIC)
    run(dataset, data_class=DataClass.PHI)
    assert model.options[0].data_class is DataClass.PHI


def test_no_text_of_a_record_stands_in_the_manifest_or_in_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "Zebra stripes"
    test = rows(["t1", "t2"])
    for item in test:
        item["context"] = f"FINDINGS: {secret}."
    dataset = write_dataset(tmp_path / "dataset", test=test)
    install(monkeypatch, Made(lambda p: said("", finish="error", error="bad_output")))
    with pytest.raises(ModelError) as caught:
        run(dataset)
    assert secret not in str(caught.value)
    install(monkeypatch, Made(echo))
    run(dataset, "good")
    assert secret not in (tmp_path / "good" / "manifest.json").read_text()
    assert secret in (tmp_path / "good" / "prompts.jsonl").read_text()


def test_a_run_that_is_done_is_not_done_again(
    dataset: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, model := Made(echo))
    first = run(dataset)
    second = run(dataset, max_parallel=4, timeout=7.0)
    assert second.already_done
    assert second.counts == first.counts
    assert len(model.asked) == 18
    with pytest.raises(ConfigError, match="seed"):
        run(dataset, seed=1)


def test_a_dry_run_opens_no_model_and_writes_nothing(
    dataset: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(prompt: Prompt) -> Output:
        raise AssertionError

    install(monkeypatch, model := Made(never))
    prices = dataset.parent / "prices.yaml"
    prices.write_text(
        "as_of: 2026-01-01\ncurrency: USD\nmodels: {'openai:some': {input: 1, output: 2}}\n"
    )
    notes = "\n".join(
        run(
            dataset, dry_run=True, model="openai:some", shots=2, repeats=2, price_file=prices,
            base_url="http://127.0.0.1:9/v1",
        ).lines
    )  # fmt: skip
    assert "36 requests" in notes
    assert "USD" in notes
    assert "127.0.0.1:9" in notes
    assert "this machine" in notes
    assert model.options == []
    assert not (dataset.parent / "run").exists()
    local = "\n".join(run(dataset, dry_run=True).lines)
    assert "would send nothing anywhere" in local


def test_a_dataset_that_is_damaged_is_an_error(dataset: Path) -> None:
    (dataset / "data" / "test-00000-of-00001.parquet").write_bytes(b"PAR1 nothing")
    with pytest.raises(ClinqaError):
        run(dataset, model="baseline:prior")


def test_baselines_answer_every_item_and_read_the_right_things(dataset: Path) -> None:
    items = {str(item["id"]): item for item in rows([f"t{n}" for n in range(6)])}
    run(dataset, "retrieval", model="baseline:retrieval")
    for one in predictions(dataset.parent / "retrieval"):
        assert one["answer"] == items[str(one["item_id"])]["answer"]
    run(dataset, "prior", model="baseline:prior")
    answers: dict[object, set[object]] = {}
    for one in predictions(dataset.parent / "prior"):
        answers.setdefault(items[str(one["item_id"])]["category"], set()).add(one["answer"])
    assert len(answers) == 3
    assert all(len(given) == 1 for given in answers.values())
