"""Banks: layouts, answers and their base, odd input, splits, ids."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from clinqa.core.errors import SourceError
from clinqa.core.records import Reason, Reject
from clinqa.sources.banks import BankOptions, open_banks
from clinqa.sources.banks.bank_item import matching_text, without_stray_quote


def _lines(path: Path, records: list[object]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    return path


def _one(path: Path, **options: object):
    (file,), problems = open_banks([path], BankOptions(**options))
    assert not problems
    return file, list(file.items())


def _medmcqa(cop: int, exp: str = "", question: str = "Which?") -> dict[str, object]:
    options = {"opa": "one", "opb": "two", "opc": "three", "opd": "four"}
    extra = {"subject_name": "Pediatrics", "topic_name": None, "choice_type": "multi"}
    return (
        {"question": question, "cop": cop, "exp": exp, "id": f"{question}{cop}"} | options | extra
    )


def test_medqa_takes_the_letter_and_checks_it_against_the_text(tmp_path):
    options = {"B": "two", "A": "one", "C": "three", "D": "four"}  # not in the order of letters
    good = {"question": "Q1?", "options": options, "answer_idx": "C", "answer": "three"}
    bad = {"question": "Q2?", "options": options, "answer_idx": "C", "answer": "two"}
    file, (first, second) = _one(_lines(tmp_path / "train.jsonl", [good, bad]))
    assert file.name == "MedQA"
    assert first.options == ("one", "two", "three", "four")
    assert first.answer == "three" and first.split == "train"
    assert isinstance(second, Reject) and second.reason == Reason.CONFLICTING_ANSWER


@pytest.mark.parametrize(("cops", "base"), [([1, 4, 2], 1), ([0, 3, 2], 0)])
def test_the_base_of_cop_is_found_in_the_file(tmp_path, cops, base):
    records = [_medmcqa(cop, question=f"Q{i}?") for i, cop in enumerate(cops)]
    file, items = _one(_lines(tmp_path / "dev.json", records))
    assert file.answers.kind == "number" and file.answers.base == base
    assert [item.answer_index for item in items] == [cop - base for cop in cops]


def test_a_base_that_nothing_tells_is_an_error_until_it_is_said(tmp_path):
    path = _lines(tmp_path / "dev.json", [_medmcqa(1), _medmcqa(2), _medmcqa(3)])
    with pytest.raises(SourceError, match="--answer-base"):
        open_banks([path])
    _, items = _one(path, answer_base=0)
    assert [item.answer for item in items] == ["two", "three", "four"]


def test_both_ends_in_one_file_is_an_error(tmp_path):
    path = _lines(tmp_path / "dev.json", [_medmcqa(0), _medmcqa(4)])
    with pytest.raises(SourceError, match="from 0 or from 1"):
        open_banks([path])


def test_explanations_decide_the_base_where_the_numbers_do_not(tmp_path):
    records = [
        _medmcqa(1, "Ans. is 'a' i.e., one", "Q1?"),
        _medmcqa(2, "Ans. (b) two. Ref. 3/e", "Q2?"),
        _medmcqa(3, "Answer: C. three", "Q3?"),
    ]
    file, items = _one(_lines(tmp_path / "train.json", records))
    assert file.answers.base == 1
    assert [item.answer_index for item in items] == [0, 1, 2]


def test_missing_answers_say_nothing_of_the_base_and_are_rejected(tmp_path):
    records = [_medmcqa(-1, question="Q1?"), _medmcqa(4, question="Q2?")]
    file, (first, second) = _one(_lines(tmp_path / "test.json", records))
    assert file.answers.base == 1
    assert first.reason == Reason.NO_ANSWER and second.answer == "four"


def test_choice_type_multi_is_still_one_answer(tmp_path):
    _, (item, _) = _one(_lines(tmp_path / "dev.json", [_medmcqa(4), _medmcqa(1, question="B?")]))
    assert item.answer_index == 3 and item.subject == "Pediatrics"


def test_mmlu_without_a_header_keeps_its_first_question(tmp_path):
    path = tmp_path / "anatomy_test.csv"
    path.write_text('"Which bone, then?",A1,B1,C1,D1,C\nNext?,a,b,c,d,A\n', encoding="utf-8")
    file, (first, second) = _one(path)
    assert file.name == "MMLU-anatomy" and first.bank == "MMLU-anatomy"
    assert (first.question, first.answer, first.split) == ("Which bone, then?", "C1", "test")
    assert second.answer == "a"


def test_mmlu_in_parquet_counts_from_zero(tmp_path):
    table = pa.table(
        {
            "question": ["Q1?", "Q2?"],
            "subject": ["anatomy", "anatomy"],
            "choices": [["w", "x", "y", "z"], ["w", "x", "y", "z"]],
            "answer": [0, 3],
        }
    )
    path = tmp_path / "test-00000-of-00001.parquet"
    parquet.write_table(table, path)
    file, items = _one(path)
    assert file.answers.base == 0 and [item.answer for item in items] == ["w", "z"]
    assert items[0].subject == "anatomy" and items[0].split == "test"


def test_answers_as_texts_and_labels_in_lists(tmp_path):
    record = {
        "Question": "Which?",
        "Options": ["alpha", "beta"],
        "Answer": "Beta",
        "Specialty": "Cardiology; Nephrology",
    }
    file, (item,) = _one(_lines(tmp_path / "bank.jsonl", [record]))
    assert item.answer_index == 1 and item.specialties == ("Cardiology", "Nephrology")
    assert file.name == "S-MedQA"


def test_options_that_are_letters_do_not_turn_letters_into_texts(tmp_path):
    blood = {"A": "O", "B": "A", "C": "B", "D": "AB"}
    records = [{"question": f"Q{i}?", "options": blood, "answer": "B"} for i in range(3)]
    _, items = _one(_lines(tmp_path / "bank.jsonl", records))
    assert {item.answer for item in items} == {"A"}


def test_odd_records_are_rejects_with_their_place_and_reading_goes_on(tmp_path):
    good = {"id": "g", "question": "Q?", "options": ["a", "b"], "answer": "A"}
    path = tmp_path / "bank.jsonl"
    path.write_text(
        json.dumps(good)
        + "\nnot json\n[1]\n"
        + json.dumps(good | {"question": " "})
        + "\n"
        + json.dumps(good | {"options": ["a"]})
        + "\n"
        + json.dumps(good | {"answer": "Z"})
        + "\n",
        encoding="utf-8",
    )
    _, made = _one(path)
    reasons = [one.reason for one in made if isinstance(one, Reject)]
    assert reasons == [
        Reason.BROKEN_ROW,
        Reason.BROKEN_ROW,
        Reason.NO_QUESTION,
        Reason.TOO_FEW_OPTIONS,
        Reason.NO_ANSWER,
    ]
    assert made[1].row == 2


def test_no_error_or_reject_holds_text_of_a_record(tmp_path):
    secret = "SECRETWORD"
    bad = {"question": secret, "options": [secret], "answer": secret}
    good = {"question": "Q?", "options": ["a", "b"], "answer": "a"}
    _, made = _one(_lines(tmp_path / "bank.jsonl", [good, bad]))
    assert secret not in repr(made[1])
    path = _lines(tmp_path / "no.jsonl", [{"stem text": secret, secret + " is a long one": 1}])
    with pytest.raises(SourceError) as error:
        open_banks([path])
    assert "no column for" in str(error.value)


def test_gzip_arrays_and_objects_over_several_lines_are_read(tmp_path):
    record = {"question": "Q?", "options": {"A": "x", "B": "y"}, "answer": "B"}
    packed = tmp_path / "bank.jsonl.gz"
    packed.write_bytes(gzip.compress((json.dumps(record) + "\n").encode()))
    array = tmp_path / "array.json"
    array.write_text(json.dumps([record, record], indent=1), encoding="utf-8")
    several = tmp_path / "several.json"
    several.write_text(json.dumps(record, indent=2) + "\n" + json.dumps(record, indent=2))
    for path, n in ((packed, 1), (array, 2), (several, 2)):
        _, items = _one(path)
        assert [item.answer for item in items] == ["y"] * n


def test_a_file_that_ends_early_gives_what_it_has_and_one_more_reject(tmp_path):
    record = {"question": "Q?", "options": {"A": "x", "B": "y"}, "answer": "B"}
    text = "".join(json.dumps(record | {"id": str(i), "pad": i * 7919}) + "\n" for i in range(4000))
    path = tmp_path / "bank.jsonl.gz"
    path.write_bytes(gzip.compress(text.encode())[:-400])
    _, made = _one(path)
    assert isinstance(made[-1], Reject) and made[-1].reason == Reason.BROKEN_FILE
    assert len(made) > 1000


def test_a_broken_file_beside_a_good_one_is_a_problem_and_alone_an_error(tmp_path):
    good = _lines(tmp_path / "a.jsonl", [{"question": "Q?", "options": ["x", "y"], "answer": "A"}])
    bad = tmp_path / "b.parquet"
    bad.write_bytes(b"PAR1 no")
    files, problems = open_banks([good, bad])
    assert len(files) == 1 and problems == ["b.parquet is no whole Parquet file"]
    with pytest.raises(SourceError, match="no bank can be read"):
        open_banks([bad])


def test_an_id_of_content_does_not_depend_on_the_place(tmp_path):
    records = [{"question": f"Q{i}?", "options": ["x", "y"], "answer": "A"} for i in range(3)]
    _, forth = _one(_lines(tmp_path / "a.jsonl", records))
    _, back = _one(_lines(tmp_path / "b.jsonl", records[::-1]))
    assert [i.item_id for i in forth] == [i.item_id for i in back][::-1]


def test_a_stray_quote_is_ignored_when_matching_and_kept_in_the_question(tmp_path):
    stray = 'Which drug was given?"'
    assert matching_text(stray) == matching_text("Which drug was given?")
    assert without_stray_quote('She says: "no"') == 'She says: "no"'
    _, (item,) = _one(
        _lines(tmp_path / "a.jsonl", [{"question": stray, "options": ["x", "y"], "answer": "A"}])
    )
    assert item.question == stray
