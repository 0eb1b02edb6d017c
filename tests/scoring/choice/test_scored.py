"""Scores of multiple-choice runs: orders, readers, positions, tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clinqa.core.errors import CheckFailed, ClinqaError
from clinqa.core.stage import StageResult
from clinqa.kinds.multiple_choice.choices import LETTERS
from clinqa.models.protocol import Prompt
from clinqa.scoring.score_options import ScoreOptions
from clinqa.scoring.score_runs import score
from scoring.choice.made_choices import (
    Made,
    Weighing,
    content,
    dataset,
    first,
    row,
    rows,
    run,
    table,
)

Figures = dict[tuple[str, ...], dict[str, Any]]


def scored(data: Path, runs: list[Path], out: str = "scores", **told: Any) -> dict[str, Any]:
    score(data, runs, data.parent / out, ScoreOptions(**{"draws": 100, **told}))
    body: dict[str, Any] = json.loads((data.parent / out / "scores.json").read_text())
    return body


def figure(
    body: dict[str, Any], run: str, metric: str, reader: str = "string", **subset: str
) -> Any:
    [found] = [
        one for one in body["figures"]
        if one["run"].startswith(run) and one["metric"] == metric and one["subset"] == subset
        and f"|{reader}|" in one["signature"] and "left out" not in one["signature"].split("|")[3]
    ]  # fmt: skip
    return found


def right_content(prompt: Prompt) -> str:
    """Always right: the options of made rows say their place, and the question its number."""
    number = int(prompt.question.split()[3].rstrip("?"))
    wanted = f"thing {number:03} {'pqrs'[number % 4]}"
    return f"I would say {wanted}."


def test_accuracy_by_order_and_item_by_hand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = dataset(tmp_path / "data")
    out = run(monkeypatch, data, "first", first, orders=4, order_design="cyclic")
    body = scored(data.folder, [out])
    # in a cyclic design what stands first is right once in four
    accuracy = figure(body, "first", "accuracy")
    assert accuracy["value"] == 0.25 and (accuracy["n"], accuracy["clusters"]) == (24, 24)
    assert figure(body, "first", "all_orders_right")["value"] == 0
    assert figure(body, "first", "any_order_right")["value"] == 1
    assert figure(body, "first", "same_pick")["value"] == 0
    rows_ = [one for one in table(tmp_path / "scores", "items") if one["reader"] == "string"]
    for order in range(4):
        mine = [one["right"] for one in rows_ if one["order"] == order]
        by = figure(body, "first", "accuracy", order=str(order))
        assert by["value"] == sum(mine) / len(mine) and by["n"] == 24
        assert by["low"] < by["value"] < by["high"]
    assert figure(body, "first", "recall", options="4", position="A")["value"] == 1
    assert figure(body, "first", "recall", options="4", position="C")["value"] == 0
    assert figure(body, "first", "recall_spread", options="4")["value"] == pytest.approx(3**0.5 / 4)
    [position] = [one for one in body["meta"]["positions"] if one["reader"] == "string"]
    assert position["picks"] == [96, 0, 0, 0] and position["p"] < 0.01
    assert all(one["signature"] for one in body["figures"] + body["tests"])


def test_items_tell_what_was_picked_and_what_was_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = dataset(tmp_path / "data")
    out = run(monkeypatch, data, "right", right_content, orders=3)
    body = scored(data.folder, [out])
    items = {one["id"]: one for one in rows(24)}
    found = table(tmp_path / "scores", "items")
    assert {one["reader"] for one in found} == {"string", "matcher"}
    assert len(found) == 2 * 24 * 3
    for one in found:
        item = items[one["item_id"]]
        assert one["right"] and one["picked_index"] == item["answer_index"] == one["gold_index"]
        assert one["options"][LETTERS.index(one["picked"])] == one["picked_index"]
        assert one["picked"] == one["gold"]
    assert figure(body, "right", "all_orders_right")["value"] == 1
    assert figure(body, "right", "all_orders_right", "matcher")["low"] > 0.8
    [position, _] = body["meta"]["positions"]
    assert position["p"] > 0.05 and position["spread"] == 0


def test_three_readers_stand_side_by_side(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = dataset(tmp_path / "data")

    class Torn(Weighing):
        """Weighs the first place highest and writes what the content says."""

        def score(self, pairs: Any) -> list[list[float]]:
            return [[-0.1 if word == "A" else -3.0] for _, word in pairs]

    torn = run(monkeypatch, data, "torn", Torn(content), orders=4, order_design="cyclic",
               first_token=True)  # fmt: skip
    body = scored(data.folder, [torn])
    assert body["meta"]["runs"][0]["readers"] == ["string", "first_token", "matcher"]
    same = {r: figure(body, "torn", "same_pick", r)["value"] for r in ("string", "first_token")}
    assert same == {"string": 1, "first_token": 0}
    agreement = {(one["a"], one["b"]): one["same"] for one in body["meta"]["agreement"]}
    assert agreement["string", "matcher"] == 1 and agreement["string", "first_token"] == 0.25
    tested = {one["reader"]: one["p"] < 0.05 for one in body["meta"]["positions"]}
    assert tested == {"string": False, "first_token": True, "matcher": False}
    weights = json.loads((tmp_path / "scores" / "matcher.json").read_text())
    assert weights["weights"]
    assert not list((tmp_path / "scores").rglob("*.pkl"))


def test_equal_letters_are_no_answer_and_constrained_runs_have_one_reader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = dataset(tmp_path / "data")

    class Even(Weighing):
        def score(self, pairs: Any) -> list[list[float]]:
            return [[-1.0] for _ in pairs]

    out = run(monkeypatch, data, "even", Even(content), orders=2, constrained=True)
    body = scored(data.folder, [out])
    assert body["meta"]["runs"][0]["readers"] == ["first_token"] and body["meta"]["matcher"] is None
    assert figure(body, "even", "accuracy", "first_token")["value"] == 0
    assert figure(body, "even", "status_ambiguous", "first_token")["value"] == 1
    assert not (tmp_path / "scores" / "matcher.json").exists()


def test_no_answer_is_wrong_and_the_other_convention_stands_beside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = dataset(tmp_path / "data")

    def half(prompt: Prompt) -> str:
        return right_content(prompt) if prompt.variant else "I cannot answer."

    body = scored(data.folder, [run(monkeypatch, data, "half", half, orders=2)])
    assert figure(body, "half", "accuracy")["value"] == 0.5
    [other] = [
        one for one in body["figures"]
        if one["metric"] == "accuracy" and "unanswered: left out" in one["signature"]
        and "|string|" in one["signature"] and not one["subset"]
    ]  # fmt: skip
    assert other["value"] == 1 and other["n"] == 24
    assert figure(body, "half", "status_refused")["value"] == 0.5
    assert any("name no option" in one for one in body["meta"]["warnings"])


def test_runs_are_compared_over_items_and_by_reader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = dataset(tmp_path / "data")
    runs = [
        run(monkeypatch, data, name, pick, orders=2)
        for name, pick in (("right", right_content), ("first", first), ("same", first))
    ]
    body = scored(data.folder, runs)
    declared = [one for one in body["tests"] if one["p_holm"] is not None]
    assert len(declared) == 3 and {one["metric"] for one in declared} == {"accuracy"}
    assert all("|string|" in one["signature"] for one in declared)
    by = {(one["a"].split("-")[0], one["b"].split("-")[0]): one for one in declared}
    assert by["right", "first"]["p_holm"] < 0.01 and by["right", "first"]["clusters"] == 24
    assert by["first", "same"]["p"] == 1 and by["first", "same"]["difference"] == 0
    again = scored(data.folder, runs, "by_matcher", reader="matcher", family="vs:right")
    declared = [one for one in again["tests"] if one["p_holm"] is not None]
    assert len(declared) == 2 and all("|matcher|" in one["signature"] for one in declared)


def test_other_kinds_of_orders_are_never_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = dataset(tmp_path / "data")
    two = run(monkeypatch, data, "two", first, orders=2)
    bank = run(monkeypatch, data, "bank", right_content)
    body = scored(data.folder, [two, bank])
    assert body["tests"] == []
    assert any("different kinds of orders" in one for one in body["meta"]["warnings"])
    assert any("bank's order only" in one for one in body["meta"]["warnings"])
    assert {one["run"].split("-")[0] for one in body["meta"]["positions"]} == {"two"}
    assert not [
        one for one in body["figures"]
        if one["run"].startswith("bank") and one["metric"] == "all_orders_right"
    ]  # fmt: skip


def test_unshuffled_items_are_counted_once_and_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fixed = [row(900 + n, ["x", "y", "Both A and B", "None of the above"], 2) for n in range(4)]
    data = dataset(tmp_path / "data", test=[*rows(8), *fixed])

    def third(prompt: Prompt) -> str:
        return "C"

    body = scored(data.folder, [run(monkeypatch, data, "third", third, orders=4,
                                    order_design="cyclic")])  # fmt: skip
    assert figure(body, "third", "accuracy")["value"] == pytest.approx((8 * 0.25 + 4) / 12)
    apart = figure(body, "third", "accuracy", order="fixed")
    assert (apart["value"], apart["n"]) == (1, 4)
    assert figure(body, "third", "accuracy", order="0")["n"] == 8
    assert figure(body, "third", "all_orders_right")["n"] == 8
    [position] = [one for one in body["meta"]["positions"] if one["reader"] == "string"]
    assert position["items"] == 8
    assert body["meta"]["runs"][0]["unshuffled"] == 4


def test_items_of_other_sizes_have_positions_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = dataset(tmp_path / "data", test=[*rows(10), *rows(10, 30, size=3), *rows(6, 60, size=2)])
    body = scored(data.folder, [run(monkeypatch, data, "first", first, orders=3)])
    mine = [one for one in body["meta"]["positions"] if one["reader"] == "string"]
    assert [(one["options"], len(one["picks"])) for one in mine] == [(2, 2), (3, 3), (4, 4)]
    assert body["meta"]["dataset"]["options"] == {"2": 6, "3": 10, "4": 10}


def test_near_duplicates_stand_or_fall_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    items = [one | {"group": f"g{n // 2}"} for n, one in enumerate(rows(24))]
    data = dataset(tmp_path / "data", test=items)
    body = scored(data.folder, [run(monkeypatch, data, "content", content, orders=2)])
    assert (figure(body, "content", "accuracy")["n"],
            figure(body, "content", "accuracy")["clusters"]) == (24, 12)  # fmt: skip


def test_repeats_are_means_within_their_item(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = dataset(tmp_path / "data")

    def moody(prompt: Prompt) -> str:
        return right_content(prompt) if prompt.repeat == 0 else "no idea"

    model = Made(lambda prompt: __import__("asking.made_dataset").made_dataset.said(moody(prompt)),
                 deterministic=False)  # fmt: skip
    out = run(monkeypatch, data, "moody", model, orders=2, repeats=2, temperature=1.0)
    body = scored(data.folder, [out])
    assert figure(body, "moody", "accuracy")["value"] == 0.5
    assert figure(body, "moody", "accuracy")["n"] == 24
    assert figure(body, "moody", "all_orders_right")["value"] == 0.5


def test_scores_are_the_same_twice_and_done_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = dataset(tmp_path / "data")
    out = run(monkeypatch, data, "content", content, orders=2)
    one, two = scored(data.folder, [out]), scored(data.folder, [out], "again")
    assert one == two
    result: StageResult = score(data.folder, [out], tmp_path / "scores", ScoreOptions(draws=100))
    assert result.already_done


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"primary": "bleu"}, "there are accuracy"), ({"reader": "third_eye"}, "--reader"),
        ({"reader": "first_token"}, "no run can be read so"), ({"human": Path("h.csv")}, "--human"),
        ({"search": 2}, "true_false"), ({"annotated": Path("none.jsonl")}, "cannot be read"),
    ],
)  # fmt: skip
def test_what_multiple_choice_does_not_have_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: dict[str, Any], words: str
) -> None:
    data = dataset(tmp_path / "data")
    out = run(monkeypatch, data, "content", content)
    with pytest.raises(ClinqaError, match=words):
        scored(data.folder, [out], **told)


def test_files_that_were_changed_or_are_missing_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = dataset(tmp_path / "data")
    out = run(monkeypatch, data, "content", content, orders=2)
    choices = out / "choices.parquet"
    body = choices.read_bytes()
    choices.write_bytes(body + b" ")
    with pytest.raises(CheckFailed, match="changed since"):
        scored(data.folder, [out])
    choices.unlink()
    with pytest.raises(CheckFailed, match=r"choices\.parquet: is gone"):
        scored(data.folder, [out])


def test_no_text_of_a_record_stands_in_the_scores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = dataset(tmp_path / "data")
    out = run(monkeypatch, data, "right", right_content, orders=2)
    scored(data.folder, [out])
    for path in (tmp_path / "scores").rglob("*"):
        if path.is_file():
            assert b"thing 0" not in path.read_bytes(), path.name


def test_either_of_two_options_with_one_text_is_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # as in 21 of MedMCQA's 4,183 development questions; letters of genotypes stay two
    items = [row(n, ["calcium", "urate", "calcium", "Calcium"], 0) for n in range(4)]
    data = dataset(tmp_path / "data", test=items)

    def picking(wanted: int) -> Path:
        def pick(prompt: Prompt) -> str:
            same = [place for place, one in enumerate(prompt.own) if one == "calcium"]
            place = same[wanted] if wanted >= 0 else prompt.own.index("Calcium")
            return f"The answer is {LETTERS[place]}."

        return run(monkeypatch, data, f"run{wanted}", pick, orders=4)

    told = scored(data.folder, [picking(wanted) for wanted in (0, 1, -1)])
    for wanted, value in ((0, 1.0), (1, 1.0), (-1, 0.0)):
        [name] = {one["run"] for one in told["figures"] if one["run"].startswith(f"run{wanted}-")}
        assert figure(told, name, "accuracy")["value"] == value
