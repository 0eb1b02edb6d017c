"""What was paid for is never paid for again: kills, failing services, caps on money."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from asking.made_dataset import Made, install, predictions, rows, said, write_dataset
from clinqa.asking.predict import predict
from clinqa.asking.predict_options import PredictOptions
from clinqa.core.errors import ModelError
from clinqa.core.stage import StageResult
from clinqa.models.protocol import Output, Prompt


def run(dataset: Path, **told: object) -> StageResult:
    options = PredictOptions(**{"model": "made:model", **told})  # type: ignore[arg-type]
    return predict(dataset, dataset.parent / "run", options)


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    return write_dataset(tmp_path / "dataset")


class Stopped(BaseException):
    """Stands for a kill."""


def test_a_run_after_a_stop_asks_only_what_is_missing(
    dataset: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for limit in range(1, 6):
        left = iter([said("Mild.")] * 3)

        def reply(prompt: Prompt, left=left) -> Output:  # type: ignore[no-untyped-def]
            try:
                return next(left)
            except StopIteration:
                raise Stopped from None

        install(monkeypatch, Made(reply))
        with pytest.raises(Stopped):
            run(dataset)
        assert limit  # five stops, three answers each
    install(monkeypatch, model := Made(lambda prompt: said("Mild.")))
    result = run(dataset)
    assert len(model.asked) == 3
    assert result.counts["answered"] == 18
    assert len(predictions(dataset.parent / "run")) == 18
    assert "15 of 18 answers are from an earlier run" in result.lines
    assert not (dataset.parent / "run" / ".partial").exists()


def test_a_stop_at_any_write_of_the_end_loses_nothing(
    dataset: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.replace
    install(monkeypatch, model := Made(lambda prompt: said("Mild.")))
    for n in range(1, 30):
        calls = 0

        def dying(*args, n=n):  # type: ignore[no-untyped-def]
            nonlocal calls
            calls += 1
            if calls == n:
                raise Stopped
            return real(*args)

        monkeypatch.setattr(os, "replace", dying)
        try:
            run(dataset)
        except Stopped:
            continue
        finally:
            monkeypatch.setattr(os, "replace", real)
        break
    assert n > 4
    assert run(dataset).already_done
    assert len(model.asked) == 18
    assert len(predictions(dataset.parent / "run")) == 18


def test_an_error_of_the_moment_is_asked_again_at_the_end(
    dataset: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: Counter[str] = Counter()

    def flaky(prompt: Prompt) -> Output:
        tries[prompt.item_id] += 1
        if tries[prompt.item_id] == 1 and prompt.category == "lv_wall":
            return said("", finish="error", error="timeout")
        return said("Mild.")

    install(monkeypatch, Made(flaky))
    assert run(dataset).counts["answered"] == 18
    assert sorted(tries.values()) == [1] * 12 + [2] * 6
    assert len(predictions(dataset.parent / "run")) == 18


def test_what_fails_twice_is_recorded_with_its_kind(
    dataset: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(prompt: Prompt) -> Output:
        if prompt.category == "lv_wall":
            return said("", finish="error", error="server")
        return said("Mild.")

    install(monkeypatch, Made(failing))
    counts = run(dataset).counts
    assert (counts["answered"], counts["error"]) == (12, 6)
    kinds = Counter(one["error"] for one in predictions(dataset.parent / "run"))
    assert kinds == {"": 12, "server": 6}


def test_prompts_that_fail_from_the_very_first_are_recorded_while_the_service_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = write_dataset(tmp_path / "dataset", test=rows([f"t{n}" for n in range(40)]))
    asked: list[str] = []

    def failing_first(prompt: Prompt) -> Output:
        if not prompt.context:
            return said("Yes.")
        if prompt.item_id not in asked:
            asked.append(prompt.item_id)
        at_fault = asked.index(prompt.item_id) < 25
        return said("", finish="error", error="server") if at_fault else said("Mild.")

    install(monkeypatch, model := Made(failing_first))
    counts = run(dataset, max_parallel=2).counts
    assert (counts["answered"], counts["error"]) == (95, 25)
    plain = [prompt for prompt in model.asked if not prompt.context]
    assert plain
    assert all(len(prompt.messages) == 1 for prompt in plain)


def test_a_service_that_is_gone_stops_the_run_which_then_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = write_dataset(tmp_path / "dataset", test=rows([f"t{n}" for n in range(40)]))
    answered = 0

    def dying(prompt: Prompt) -> Output:
        nonlocal answered
        answered += 1
        return said("Mild.") if answered <= 50 else said("", finish="error", error="network")

    install(monkeypatch, model := Made(dying))
    with pytest.raises(ModelError, match="10 times in a row"):
        run(dataset, max_parallel=2)
    assert len(model.asked) == 60 + 1  # and what was answered before, to see if it still answers
    install(monkeypatch, model := Made(lambda prompt: said("Mild.")))
    run(dataset)
    assert len(model.asked) == 120 - 50
    assert {one["error"] for one in predictions(tmp_path / "run")} == {""}


def test_a_refused_key_stops_at_once(dataset: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, model := Made(lambda p: said("", finish="error", error="auth")))
    with pytest.raises(ModelError, match="auth"):
        run(dataset)
    assert len(model.asked) == 1
    assert model.closed == 1


def test_a_cap_on_money_stops_before_it_and_a_higher_one_goes_on(
    dataset: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prices = dataset.parent / "prices.yaml"
    prices.write_text(
        "as_of: 2026-01-01\ncurrency: USD\nmodels: {'made:*': {input: 0, output: 1000}}\n"
    )
    # an answer may cost 0.01 and costs 0.002
    told = {"price_file": prices, "max_tokens": 10}
    install(monkeypatch, model := Made(lambda prompt: said("Mild.")))
    with pytest.raises(ModelError, match=r"--max-cost 0\.025 reached"):
        run(dataset, max_cost=0.025, **told)
    assert 2 <= len(model.asked) <= 12
    first = len(model.asked)
    with pytest.raises(ModelError, match="reached"):
        run(dataset, max_cost=0.025, **told)
    assert len(model.asked) == first
    run(dataset, max_cost=1.0, **told)
    assert len(model.asked) == 18


PROGRAM = """
import sys, time
from pathlib import Path
from asking.made_dataset import Made, opener, said, _installed
from clinqa.models import registry
from clinqa.asking.predict_options import PredictOptions
from clinqa.asking.predict import predict
asked = open(sys.argv[3], "a")
def reply(prompt):
    time.sleep(0.01)
    asked.write(prompt.item_id + "\\n")
    asked.flush()
    return said("Mild.")
_installed.append(Made(reply))
registry.KINDS["made"] = registry.ModelKind("made", "asking.made_dataset", "opener", "of a test")
print("ready", flush=True)
predict(Path(sys.argv[1]), Path(sys.argv[2]), PredictOptions(model="made:model"))
"""


def test_after_kill_9_only_the_requests_in_flight_are_paid_again(tmp_path: Path) -> None:
    dataset = write_dataset(tmp_path / "dataset", test=rows([f"t{n}" for n in range(30)]))
    asked = tmp_path / "asked"
    here = Path(__file__).parent.parent
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(here), *sys.path])}
    arguments = [sys.executable, "-c", PROGRAM, str(dataset), str(tmp_path / "run"), str(asked)]
    kills = 0
    for wait in (0.15, 0.25, 0.35):
        process = subprocess.Popen(arguments, stdout=subprocess.PIPE, env=environment)
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        time.sleep(wait)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        kills += 1
    subprocess.run(arguments, env=environment, check=True, stdout=subprocess.DEVNULL)
    times = Counter(asked.read_text().split())
    assert len(times) == 90
    # one request was in flight at each kill
    assert sum(times.values()) <= 90 + kills
    found = predictions(tmp_path / "run")
    assert len({one["item_id"] for one in found}) == len(found) == 90


def is_bad(prompt: Prompt) -> bool:
    return prompt.category == "lv_wall"


@pytest.mark.parametrize("kind", ["server", "timeout", "bad_output", "network"])
def test_prompts_that_always_fail_do_not_keep_a_run_from_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    dataset = write_dataset(tmp_path / "dataset", test=rows([f"t{n}" for n in range(40)]))

    def failing(prompt: Prompt) -> Output:
        return said("", finish="error", error=kind) if is_bad(prompt) else said("Mild.")

    install(monkeypatch, model := Made(failing))
    result = run(dataset, max_parallel=1)
    assert (result.counts["answered"], result.counts["error"]) == (80, 40)
    assert any(f"40 of 120 prompts ended in an error ({kind} 40)" in w for w in result.warnings)
    assert len(model.asked) == 80 + 2 * 40 + 4  # and what was answered, after each ten failures
    assert run(dataset, max_parallel=1).already_done


def test_a_run_that_was_stopped_among_failing_prompts_ends_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = write_dataset(tmp_path / "dataset", test=rows([f"t{n}" for n in range(40)]))
    again: Counter[str] = Counter()

    def failing(prompt: Prompt) -> Output:
        again[prompt.item_id] += 1
        if is_bad(prompt):
            if max(again.values()) > 1 and stopping:
                raise Stopped
            return said("", finish="error", error="server")
        return said("Mild.")

    stopping = True
    install(monkeypatch, Made(failing))
    with pytest.raises(Stopped):
        run(dataset, max_parallel=1)
    stopping = False
    counts = run(dataset, max_parallel=1).counts  # only failing ones are left to ask
    assert (counts["answered"], counts["error"]) == (80, 40)


def test_a_spell_of_nonsense_is_asked_again_by_the_next_run(
    dataset: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, Made(lambda prompt: said("", finish="error", error="bad_output")))
    for told in ({}, {"max_parallel": 2}):
        with pytest.raises(ModelError):
            run(dataset, **told)
    install(monkeypatch, Made(lambda prompt: said("Mild.")))
    assert run(dataset).counts["answered"] == 18


DAMAGE = [
    {"item_id": None}, {"repeat": 7}, {"repeat": None}, {"prompt_sha256": "0" * 64},
    {"output": 5}, {"output": None}, {"seconds": "x"}, {"seconds": float("nan")}, {"error": [1]},
    {"cost": "abc"}, {"input_tokens": 10**30}, {"finish_reason": "because"}, {"key": "zzz"},
    {"error": "unheard of"},
]  # fmt: skip


@pytest.mark.parametrize("damage", [*DAMAGE, None], ids=str)
def test_a_damaged_record_is_asked_again_and_no_item_is_lost(
    dataset: Path, monkeypatch: pytest.MonkeyPatch, damage: dict[str, object] | None
) -> None:
    left = iter([said("Mild.")] * 5)

    def stopping(prompt: Prompt) -> Output:
        try:
            return next(left)
        except StopIteration:
            raise Stopped from None

    install(monkeypatch, Made(stopping))
    with pytest.raises(Stopped):
        run(dataset)
    journal = dataset.parent / "run" / ".partial" / "journal.jsonl"
    first, *others = journal.read_text().splitlines()
    record = json.loads(first)
    record = {"key": record["key"]} if damage is None else record | damage
    journal.write_text("\n".join([json.dumps(record), *others]) + "\n")
    install(monkeypatch, model := Made(lambda prompt: said("Severe.")))
    result = run(dataset)
    assert len(model.asked) == 14
    assert any("1 records of an earlier run are damaged" in note for note in result.lines)
    found = predictions(dataset.parent / "run")
    assert len({one["item_id"] for one in found}) == len(found) == 18


def test_errors_of_a_complete_run_are_asked_again_only_when_told_so(
    dataset: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(prompt: Prompt) -> Output:
        return said("", finish="error", error="server") if is_bad(prompt) else said("Mild.")

    install(monkeypatch, Made(failing))
    assert run(dataset).counts["error"] == 6
    install(monkeypatch, model := Made(lambda prompt: said("Severe.")))
    assert run(dataset).already_done and not model.asked
    real = os.replace
    for n in range(1, 30):  # a kill at any move
        calls = 0

        def dying(*args, n=n):  # type: ignore[no-untyped-def]
            nonlocal calls
            calls += 1
            if calls == n:
                raise Stopped
            return real(*args)

        monkeypatch.setattr(os, "replace", dying)
        try:
            run(dataset, retry_errors=True)
        except Stopped:
            continue
        finally:
            monkeypatch.setattr(os, "replace", real)
        break
    assert n > 3 and len(model.asked) == 6
    found = predictions(dataset.parent / "run")
    assert Counter(one["answer"] for one in found) == {"Mild.": 12, "Severe.": 6}
    assert run(dataset, retry_errors=True).already_done and len(model.asked) == 6
