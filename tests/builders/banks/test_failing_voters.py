"""A voter that fails votes for nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from builders.failing import Failing, failing
from clinqa.builders.banks.specialty.ask import prompts_of
from clinqa.builders.banks.specialty.pipeline import build_specialty
from clinqa.builders.banks.specialty.specialty_options import SpecialtyOptions
from clinqa.builders.banks.specialty.votes import ReadLabel, read_label
from clinqa.packs.specialties import builtin_specialties
from clinqa.sources.banks import BankItem

PACK = builtin_specialties()
QUESTION = "Which finding on auscultation of a middle-aged man points to a narrow aortic valve?"
ASKED = f"<question>\n{QUESTION}\nA. one\nB. two\nC. three\nD. four\n</question>\n\nSpecialty:"
KINDS = {
    name: failing(yes, no, ASKED, "Kardiologie, Herzheilkunde") for name, (yes, no) in {
        "words": ("Specialty: Cardiology", "Specialty: Neurology"),
        "JSON": ('{"specialty": "Cardiology"}', '{"specialty": "Neurology"}'),
    }.items()
}  # fmt: skip


def built(tmp_path: Path, lines: list[dict[str, str | None]]) -> Path:
    script, bank = tmp_path / "s.jsonl", tmp_path / "bank.jsonl"
    script.write_text("".join(json.dumps(line) + "\n" for line in lines))
    options = ["one", "two", "three", "four"]
    record = {"id": "1", "question": QUESTION, "options": options, "answer": "A"}
    bank.write_text(json.dumps(record) + "\n")
    told = SpecialtyOptions(annotator="llm", model=f"scripted:{script}", sets="none")
    build_specialty([bank], tmp_path / "out", told)
    return tmp_path / "out"


@pytest.mark.parametrize("form", KINDS)
@pytest.mark.parametrize("kind", KINDS["JSON"])
def test_a_voter_that_fails_is_counted_and_votes_for_nothing(
    tmp_path: Path, kind: str, form: str
) -> None:
    out = built(tmp_path, [KINDS[form][kind].rule(None)])
    manifest = json.loads((out / "manifest.json").read_text())
    assert sum(manifest["details"]["annotator"]["without_vote"].values()) == 5
    votes = pq.ParquetFile(out / "votes.parquet").read().to_pylist()
    assert {vote["label"] for vote in votes} == {None} and all(vote["why"] for vote in votes)
    rejects = pq.ParquetFile(out / "rejects.parquet").read().to_pylist()
    assert [row["reason"] for row in rejects] == ["no_majority"]


def test_two_voters_that_fail_leave_the_vote_to_the_others(tmp_path: Path) -> None:
    lines = [
        KINDS["words"]["two verdicts"].rule("A: The specialty is"),
        KINDS["words"]["HTTP 400"].rule("reply with the name alone"),
        Failing("Urology").rule(None),
    ]
    votes = pq.ParquetFile(built(tmp_path, lines) / "votes.parquet").read().to_pylist()
    assert sorted(str(vote["label"]) for vote in votes) == ["None"] * 2 + ["Urology"] * 3


@pytest.mark.parametrize(
    ("reply", "label"),
    [
        ("Specialty: Cardiology. No, wait.\nSpecialty: Neurology", "Neurology"),
        ("Specialty: Cardiology or so.\nFinal answer: Neurology", "Neurology"),
        ("Specialty: Neurology\nSpecialty: Neurology", "Neurology"),
        ("<think>Specialty: Cardiology</think>\nNeurology", "Neurology"),
        ("Cardiology would be wrong. Neurology", "Neurology"),
        ('```json\n{"specialty": "Neurology"}\n```', "Neurology"),
        ('Here it is: {"specialty": "Neurology"}', "Neurology"),
        (f"{ASKED} Neurology", "Neurology"),
        (r"\boxed{Neurology}", "Neurology"),
        ("The answer “Specialty: Cardiology” would be wrong", None),
        ('{"specialty": "Cardiology", "answer": "Neurology"}', None),
        ("I am unable to call this Cardiology", None),
        ("<think>It is Cardiology, since", None),
    ],
)
def test_corrections_count_and_what_was_only_thought_does_not(
    reply: str, label: str | None
) -> None:
    assert read_label(reply, PACK, ASKED).label == label


def test_a_prompt_that_comes_back_is_no_vote_for_its_examples() -> None:
    item = BankItem("b", "1", "", QUESTION, ("one", "two"), 0)
    for asked in prompts_of([item], PACK, 0):
        text = asked.prompt.messages[-1].text
        assert read_label(text, PACK, text) == ReadLabel(None, "echo")
        assert read_label(text[: len(text) // 2], PACK, text).label is None
        assert read_label(f"{text}\nUrology", PACK, text).label == "Urology"


@pytest.mark.parametrize(
    ("reply", "label"),
    [
        ("Neurology\nThe patient has a stroke, which is", "Neurology"),
        ('{"specialty": "Neurology"}', "Neurology"),
        ("Neurology", None),
        ("It is not clear, but Neurology seems to be", None),
    ],
)
def test_a_reply_that_was_cut_off_counts_only_where_it_had_said_all(
    reply: str, label: str | None
) -> None:
    assert read_label(reply, PACK, cut=True).label == label
