"""Questions of banks as pairs of statements: what is chosen, left out, read, and kept."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from clinqa.builders.banks.bank_options import BankTfOptions
from clinqa.builders.banks.truefalse import build_bank_tf, refers
from clinqa.core.errors import ConfigError
from clinqa.dataset.reader import open_dataset
from clinqa.dataset.verify import verify
from clinqa.kinds.true_false.describes import summarise_pairs

BANKS = Path(__file__).parents[4] / "shared" / "data" / "banks"
ASKED = "Made question {n}: which ECG finding is meant by item {n}?"


def _cop(path: Path, base: int) -> Path:
    """Ten made questions as MedMCQA writes them, the right option going round."""
    rows = [
        {
            "id": f"q{n}", "question": ASKED.format(n=n), "opa": f"First sign {n}",
            "opb": f"Second sign {n}", "opc": f"Third sign {n}", "opd": f"Fourth sign {n}",
            "cop": n % 4 + base, "choice_type": "single", "subject_name": "Medicine",
            "topic_name": None, "exp": None,
        }
        for n in range(10)
    ]  # fmt: skip
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def _items(folder: Path) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = open_dataset(folder).items("test").sort_by("id").to_pylist()
    return rows


def test_the_base_of_numbered_answers_is_found_and_both_give_the_same_pairs(
    tmp_path: Path,
) -> None:
    found = []
    for base in (0, 1):
        bank = _cop(tmp_path / f"medmcqa{base}.jsonl", base)
        build_bank_tf([bank], tmp_path / f"out{base}")
        found.append([(i["question"], i["label"]) for i in _items(tmp_path / f"out{base}")])
        answers = open_dataset(tmp_path / f"out{base}").manifest.details["answers"]
        assert answers == {bank.name: f"number, from {base}"}
    assert found[0] == found[1]
    right = {question for question, label in found[0] if label}
    names = ("First", "Second", "Third", "Fourth")
    assert all(
        any(f"item {n}?" in q and f"{names[n % 4]} sign {n}" in q for q in right) for n in range(10)
    )


def test_each_question_gives_one_true_and_one_false_statement_whatever_the_order(
    tmp_path: Path,
) -> None:
    bank = _cop(tmp_path / "bank.jsonl", 1)
    build_bank_tf([bank], tmp_path / "one")
    lines = bank.read_text().splitlines()
    (tmp_path / "other.jsonl").write_text("\n".join(reversed(lines)))
    build_bank_tf([tmp_path / "other.jsonl"], tmp_path / "two")
    one, two = _items(tmp_path / "one"), _items(tmp_path / "two")
    assert one == two
    assert Counter(item["pair_id"] for item in one).most_common(1)[0][1] == 2
    assert sum(bool(item["label"]) for item in one) == len(one) / 2 == 10
    build_bank_tf([bank], tmp_path / "three", BankTfOptions(seed=7))
    assert {i["id"] for i in _items(tmp_path / "three")} != {i["id"] for i in one}


def test_what_was_built_holds_and_a_changed_label_is_found(tmp_path: Path) -> None:
    bank = _cop(tmp_path / "bank.jsonl", 1)
    build_bank_tf([bank], tmp_path / "out")
    assert verify(tmp_path / "out", [bank]) == []
    card = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert "split `test`" in card and "number, from 1" in card
    shown = summarise_pairs(open_dataset(tmp_path / "out"))
    assert shown["splits"]["test"]["pairs"] == 10 and shown["documents"] == []
    again = build_bank_tf([bank], tmp_path / "out")
    assert again.already_done


@pytest.mark.parametrize(
    ("option", "is_one"),
    [
        ("Both A and B", True), ("All of the above", True), ("all the above", True),
        ("None of these", True), ("A and C only", True), ("(a) & (c)", True), ("B, C", True),
        ("I and III only", True), ("1, 2", True), ("Any of the above.", True),
        ("1, 2 and 3", True), ("Options 1 and 2", True), ("Either A or B", True), ("Not A", True),
        ("Only A is correct", True), ("All are true", True), ("All except A", True),
        ("Statement II is correct", True), ("First and second", True), ("D. None", True),
        ("II, III, aVF", False), ("Leads II and III", False), ("Cord", False), ("2/3", False),
        ("Not visible", False), ("All four chambers", False), ("Hepatitis A or B", False),
        ("Atrial flutter", False), ("V1 and V2", False), ("A wave", False),
        ("Above 100 beats per minute", False), ("Vitamin A and iron", False),
        ("I", False), ("Lead I and aVL", False), ("A 5 mm ST elevation", False),
    ],
)  # fmt: skip
def test_options_that_speak_of_one_another_are_known(option: str, is_one: bool) -> None:
    assert refers(option) == is_one


def test_such_questions_and_those_with_a_picture_are_left_out_with_a_reason(
    tmp_path: Path,
) -> None:
    rows = [
        {"id": "a", "question": "Which ECG sign is it?", "answer": "A",
         "options": {"A": "Tall T waves", "B": "U waves", "C": "Both A and B"}},
        {"id": "b", "question": "The ECG is shown below. What is it?", "answer": "A",
         "options": {"A": "Atrial flutter", "B": "Asystole"}},
        {"id": "c", "question": "Which vitamin is fat soluble?", "answer": "A",
         "options": {"A": "Vitamin K", "B": "Vitamin C"}},
        {"id": "d", "question": "What lengthens the QT interval?", "answer": "B",
         "options": {"A": "Hypercalcaemia", "B": "Hypocalcaemia"}},
    ]  # fmt: skip
    bank = tmp_path / "bank.jsonl"
    bank.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    result = build_bank_tf([bank], tmp_path / "out")
    assert result.counts == {
        "questions": 4, "on_topic": 3, "left_out": 1, "rejects": 2, "pairs": 1, "items": 2
    }  # fmt: skip
    rejects = open_dataset(tmp_path / "out").table("rejects.parquet")
    assert rejects is not None
    reasons = rejects["reason"].to_pylist()
    assert sorted(reasons) == ["image_reference", "options_refer_to_each_other"]


@pytest.mark.parametrize(
    ("question", "answer", "part"),
    [
        ("A man has a QRS of 140 ms. Which ECG change is it?", "Bundle branch block", "conduction"),
        (
            "The ECG shows ST elevation. Which rhythm follows?",
            "Ventricular fibrillation.",
            "rhythm",
        ),
        # the vignette counts where neither what is asked nor an option says anything
        ("His ECG shows peaked T waves. What is given?", "Calcium", "disease"),
        # what says no more than that there was an ECG is about none of the four
        ("Blood pressure is 120/80 mm Hg. ECG and ECG again are normal. Next?", "An ECG", "other"),
    ],
)
def test_the_topic_of_a_question_is_what_of_the_ecg_it_asks_for(
    question: str, answer: str, part: str, tmp_path: Path
) -> None:
    row = {"id": "a", "question": question, "answer": "A", "options": {"A": answer, "B": "Rest"}}
    bank = tmp_path / "bank.jsonl"
    second = {**row, "id": "b", "question": f"{question} An EKG too?"}
    bank.write_text("\n".join(map(json.dumps, (row, second))), encoding="utf-8")
    build_bank_tf([bank], tmp_path / "out")
    assert {item["category"] for item in _items(tmp_path / "out")} == {part}


def test_an_unknown_topic_is_refused(tmp_path: Path) -> None:
    bank = _cop(tmp_path / "bank.jsonl", 1)
    with pytest.raises(ConfigError, match="no such topic; there is ecg"):
        build_bank_tf([bank], tmp_path / "out", BankTfOptions(topic="nothing"))


def test_the_ecg_questions_of_real_banks_make_a_balanced_set(tmp_path: Path) -> None:
    if not BANKS.is_dir():
        pytest.skip("../shared/data/banks is not there")
    result = build_bank_tf([BANKS / "smedqa_validation.jsonl"], tmp_path / "out")
    assert result.counts["pairs"] >= 15
    assert verify(tmp_path / "out") == []
