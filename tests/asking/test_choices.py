"""Multiple-choice items in several orders of their options."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from itertools import permutations
from math import factorial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asking.made_dataset import Made, install, said
from asking.made_dataset import write_dataset as long_form
from clinqa.asking.predict import predict
from clinqa.asking.predict_options import PredictOptions
from clinqa.asking.results import read_prompts
from clinqa.core.errors import ConfigError
from clinqa.kinds.multiple_choice.choices import (
    LETTERS,
    OptionOrders,
    is_positional,
    orders_of,
    solved,
    with_options,
)
from clinqa.models.protocol import Prompt
from scoring.choice.made_choices import Weighing, content, dataset, first, row, rows, run, table

CASES = Path(__file__).parents[3] / "shared" / "data" / "cases_qa.jsonl"


@given(
    size=st.integers(2, 6),
    orders=st.integers(1, 30),
    design=st.sampled_from(("random", "cyclic")),
    seed=st.integers(0, 99),
)
def test_orders_are_distinct_permutations_and_as_many_as_there_can_be(
    size: int, orders: int, design: str, seed: int
) -> None:
    options = [f"thing {n}" for n in range(size)]
    drawn = orders_of("item", options, orders, design, seed)
    assert len(set(drawn)) == len(drawn) == min(orders, factorial(size))
    assert set(drawn) <= set(permutations(range(size)))
    assert drawn == orders_of("item", options, orders, design, seed)


@pytest.mark.parametrize("size", [2, 3, 4, 5])
def test_a_cyclic_design_has_each_option_once_in_each_place(size: int) -> None:
    options = [f"thing {n}" for n in range(size)]
    for item in ("one", "two", "three"):
        drawn = orders_of(item, options, 2 * size if size > 2 else size, "cyclic", 3)
        for start in range(0, len(drawn), size):
            for place in range(size):
                assert {own[place] for own in drawn[start : start + size]} == set(range(size))


def test_a_drawn_order_favours_no_place() -> None:
    stood = Counter(orders_of(str(n), "abcd", 1, "random", 0)[0].index(0) for n in range(4000))
    assert all(900 < stood[place] < 1100 for place in range(4))


def test_the_shared_shuffle_cases() -> None:
    if not CASES.is_file():
        pytest.skip("no ../shared/data here")
    cases = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]
    cases = [case for case in cases if case["area"] == "shuffle"]
    assert cases
    for case in cases:
        options = list(case["input"]["options"].values())
        assert case["expected"].startswith("do not shuffle")
        choices = OptionOrders.of([("item", tuple(options))], 4, "random", 1)
        assert choices.orders["item"] == [tuple(range(len(options)))]
        shown = choices.row({"item_id": "item", "repeat": 0})
        assert shown["positional"] is True
        gold = list(case["input"]["options"]).index(case["input"]["gold"])
        assert LETTERS[shown["order"].index(gold)] == case["input"]["gold"]


@pytest.mark.parametrize(
    ("option", "positional"),
    [
        ("Both A and C", True), ("All of the above.", True), ("none of these", True),
        ("A, B and D only", True), ("Any one of the above", True), ("Both options 1 and 2", True),
        ("Same as above", True), ("Neither", True), ("a, c are true & b, d are false", True),
        ("Vitamin A and vitamin C", False), ("All patients above 60 years", False),
        ("Below the chin", False), ("Hepatitis A only", False), ("AB", False), ("B", False),
        ("None is needed at her age", False), ("I and III only", False), ("Both kidneys", False),
        ("Above the hyoid and below the chin", False),
    ],
)  # fmt: skip
def test_options_that_speak_of_others_are_known(option: str, positional: bool) -> None:
    assert is_positional(["this", "that", option]) is positional


def test_each_item_is_asked_in_each_order_and_the_file_says_how(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fixed = row(900, ["x", "y", "Both A and B", "None of the above"], 2)
    data = dataset(tmp_path / "data", test=[*rows(5), fixed])
    install(monkeypatch, model := Made(lambda prompt: said(first(prompt))))
    result = predict(data.folder, tmp_path / "run", PredictOptions(model="made:model", orders=3))
    assert result.counts["asked"] == 5 * 3 + 1 == result.counts["answered"]
    assert any("1 of 6 items" in note for note in result.lines)
    asked = {(p.item_id, p.variant): p for p in model.asked}
    options = {one["id"]: one["options"] for one in [*rows(5), fixed]}
    for one in table(tmp_path / "run", "choices"):
        prompt = asked[one["item_id"], one["variant"]]
        shown = [options[one["item_id"]][place] for place in one["order"]]
        assert list(prompt.own) == shown
        assert with_options(prompt.question, shown) in prompt.messages[-1].text
        assert one["positional"] is (one["item_id"] == fixed["id"])
        assert one["log_probabilities"] is None
    answers = table(tmp_path / "run", "predictions")
    assert {one["answer"] for one in answers} == {"A"}
    kept = {sha for sha, _ in read_prompts(tmp_path / "run" / "prompts.jsonl")}
    assert {one["prompt_sha256"] for one in answers} == kept


def test_without_orders_the_bank_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = run(monkeypatch, dataset(tmp_path / "data"), "run", first)
    assert {tuple(one["order"]) for one in table(out, "choices")} == {(0, 1, 2, 3)}


def test_letters_are_weighed_beside_what_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = dataset(tmp_path / "data", test=rows(70))
    out = run(monkeypatch, data, "run", Weighing(content), orders=2, first_token=True)
    answers = table(out, "predictions")
    for one, answer in zip(table(out, "choices"), answers, strict=True):
        weighed = one["log_probabilities"]
        assert LETTERS[weighed.index(max(weighed))] == answer["output"][-2]
    with pytest.raises(ConfigError, match="no log-probabilities"):
        run(monkeypatch, data, "other", first, first_token=True)


def test_constrained_takes_the_likeliest_letter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = dataset(tmp_path / "data")
    out = run(monkeypatch, data, "run", Weighing(lambda _: "C"), orders=2, constrained=True)
    assert {one["answer"] for one in table(out, "predictions")} == {"C"}
    assert all(len(one["log_probabilities"]) == 4 for one in table(out, "choices"))


def test_a_run_goes_on_where_it_stopped_and_keeps_orders_and_letters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = dataset(tmp_path / "data")
    whole = run(monkeypatch, data, "whole", Weighing(content), orders=3, first_token=True)

    class Stopping(Weighing):
        def generate(self, prompts, sampling):  # type: ignore[no-untyped-def]
            for number, one in enumerate(super().generate(prompts, sampling)):
                if number == 30:
                    raise KeyboardInterrupt
                yield one

    with pytest.raises(KeyboardInterrupt):
        run(monkeypatch, data, "part", Stopping(content), orders=3, first_token=True)
    install(monkeypatch, model := Weighing(content))
    told = PredictOptions(model="made:model", orders=3, first_token=True)
    predict(data.folder, tmp_path / "part", told)
    assert len(model.asked) == 24 * 3 - 30
    for name in ("choices", "predictions"):
        assert table(tmp_path / "part", name) == table(whole, name)


def test_failed_prompts_are_asked_again_and_letters_of_the_others_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = dataset(tmp_path / "data", test=rows(4))
    broken = Weighing(content)
    reply = broken._reply
    broken._reply = lambda p: (
        said("", finish="error", error="server") if p.variant == 1 else reply(p)
    )
    told = PredictOptions(model="made:model", orders=2, first_token=True)
    install(monkeypatch, broken)
    assert predict(data.folder, tmp_path / "run", told).counts["error"] == 4
    install(monkeypatch, model := Weighing(content))
    again = predict(data.folder, tmp_path / "run", replace(told, retry_errors=True))
    assert again.counts["answered"] == 8 and len(model.asked) == 4
    assert all(one["log_probabilities"] for one in table(tmp_path / "run", "choices"))


def test_options_of_one_text_and_orders_that_look_alike_are_asked_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = dataset(tmp_path / "data", test=[row(1, ["same", "same", "other"], 2)])
    out = run(monkeypatch, data, "run", first, orders=6)
    assert len(table(out, "predictions")) == 6 == len(table(out, "choices"))


def test_items_without_room_for_their_letters_are_left_out_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wide = row(1, [f"o{n}" for n in range(11)], 0)
    data = dataset(tmp_path / "data", test=[*rows(3, 5), wide, row(2, ["only"], 0)])
    out = run(monkeypatch, data, "run", first, orders=2, limit=2)
    manifest = json.loads((out / "manifest.json").read_text())
    counts = manifest["counts"]["predictions"]
    assert counts["out_of_scope_by_reason"] == {"limit": 1, "options": 2}
    assert counts["read"] == 2 * 2 + 3 and len(table(out, "predictions")) == 4
    assert any("not asked" in warning for warning in manifest["warnings"])


def test_shots_show_a_letter_and_its_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = dataset(tmp_path / "data")
    install(monkeypatch, model := Made(lambda prompt: said("A")))
    told = PredictOptions(model="made:model", shots=3, orders=2)
    predict(data.folder, tmp_path / "run", told)
    answers = [m.text for m in model.asked[0].messages if m.role == "assistant"]
    assert len({text[0] for text in answers}) == 3  # no letter twice
    train = {one["answer"]: one for one in rows(20, 500)}
    for text in answers:
        item = train[text[3:]]
        shown, _ = solved(item["id"], item["question"], item["options"], item["answer_index"])
        assert text in shown
        assert any(shown in m.text for m in model.asked[0].messages if m.role == "user")


@pytest.mark.parametrize("told", [{"orders": 2}, {"first_token": True}])
def test_orders_and_letters_are_for_multiple_choice(
    tmp_path: Path, told: dict[str, object]
) -> None:
    folder = long_form(tmp_path / "dataset")
    options = PredictOptions(model="baseline:prior", **told)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="for multiple_choice items"):
        predict(folder, tmp_path / "run", options)


@pytest.mark.parametrize("model", ["longest", "prior", "retrieval"])
def test_baselines_answer_multiple_choice(tmp_path: Path, model: str) -> None:
    items = [row(n, ["of heart", "very long thing", "hand", "foot"], 0, question=f"Heart {n}?")
             for n in range(6)]  # fmt: skip
    train = [row(n, ["hip", "eye", "ear"], 1) for n in range(100, 110)]
    data = dataset(tmp_path / "data", test=items, train=train)
    told = PredictOptions(model=f"baseline:{model}", orders=3)
    predict(data.folder, tmp_path / "run", told)
    answers = table(tmp_path / "run", "predictions")
    assert {one["answer_status"] for one in answers} == {"answered"}
    picked = set()
    for one, shown in zip(answers, table(tmp_path / "run", "choices"), strict=True):
        picked.add(shown["order"][LETTERS.index(one["answer"])])
    wanted = {"longest": {1}, "retrieval": {0}, "prior": picked}
    assert picked == wanted[model]
    if model == "prior":
        assert {one["answer"] for one in answers} == {"B"}


def test_a_dry_run_counts_orders(tmp_path: Path) -> None:
    data = dataset(tmp_path / "data")
    options = PredictOptions(model="baseline:longest", orders=4, dry_run=True)
    notes = predict(data.folder, tmp_path / "run", options).lines
    assert any("96 orders" in note for note in notes)


def test_what_is_written_after_the_letter_does_not_hide_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def reply(prompt: Prompt) -> object:
        return (
            said("B) because the", finish="length")
            if prompt.variant
            else said("Hm", finish="length")
        )

    model = Made(reply)  # type: ignore[arg-type]
    out = run(monkeypatch, dataset(tmp_path / "data"), "run", model, orders=2)
    statuses = Counter((one["variant"], one["answer_status"]) for one in table(out, "predictions"))
    assert statuses == {(0, "truncated"): 24, (1, "answered"): 24}


@pytest.mark.parametrize("orders", [0, 1_001, 10_000_000])
def test_orders_have_bounds(orders: int) -> None:
    with pytest.raises(ConfigError, match="--orders must be 1 to 1,000"):
        PredictOptions(model="baseline:longest", orders=orders).check()
