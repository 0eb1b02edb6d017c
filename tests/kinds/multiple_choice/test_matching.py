"""The trained matcher: what it reads, that it cannot leak, how its file looks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clinqa.core.errors import ClinqaError
from clinqa.kinds.multiple_choice.letters import read_letter
from clinqa.kinds.multiple_choice.matching import (
    Annotated,
    Matcher,
    bundled_outputs,
    fit,
    held_out,
    read_annotated,
    trained_matcher,
)
from clinqa.kinds.multiple_choice.matching.features import features_of
from clinqa.kinds.multiple_choice.matching.mentions import read_mentions
from clinqa.simulate.phrasings import made_outputs, phrasings

OPTIONS = ["Mitral stenosis", "Aortic stenosis", "A statin alone", "Aspirin"]


@pytest.fixture(scope="module")
def matcher() -> Matcher:
    return trained_matcher(None, 0).matcher


@pytest.mark.parametrize(
    ("output", "place"),
    [
        ("B", 1), ("(d)", 3), ("The answer is aortic stenosis.", 1),
        ("Not A, not C. The answer is B.", 1), ("**D) Aspirin**", 3), ("A statin alone", 2),
        ("I would say the valve is narrow, so mitral stenosis is the best answer.", 0),
        ("Aspirin is not right; mitral stenosis is not right either. Answer: B", 1),
        ('{"answer": "C"}', 2), ("<think>Is it A? D?</think> C", 2),
        ("I cannot answer that.", None), ("", None), ("It could be A or B.", None),
        ("<think>It must be B", None), ("Nothing of the kind.", None),
    ],
)  # fmt: skip
def test_answers_in_other_words_are_read(matcher: Matcher, output: str, place: int | None) -> None:
    assert matcher.match(output, OPTIONS) == place


@pytest.mark.parametrize(
    ("output", "place"),
    [
        ("The correct answer is not B.", None), ("The answer isn't option B.", None),
        ("I do not choose aspirin.", None), ("Neither B nor C.", None),
        ("It can't be (D).", None), ("B is incorrect.", None),
        ("B) Aortic stenosis is wrong", None),
        ("Definitely not mitral stenosis or aortic stenosis.", None),
        ("The answer is not B but C.", 2), ("Not B) Aortic stenosis. D) Aspirin.", 3),
        ("A is ruled out. B is ruled out. So the answer is D.", 3),
        ("B is not wrong, so the answer is B.", 1),
        ("I would rule out aortic stenosis; the answer is A.", 0),
        ("A, C and D are incorrect. B is correct.", 1), ("Neither A, C nor D; B.", 1),
        ("The answer is B not C.", 1), ("B can't be wrong.", 1), ("Anything but B.", None),
        ("B is unlikely to be wrong.", 1), ("All but B are wrong.", 1), ("B is false.", 1),
        ("The answer is B isn't it?", 1), ("B is not the right answer.", None),
        ("I reject B.", None), ("B does not fit.", None), ("B isn't contraindicated.", 1),
    ],
)  # fmt: skip
def test_what_is_denied_is_not_picked(matcher: Matcher, output: str, place: int | None) -> None:
    assert matcher.match(output, OPTIONS) == place


def test_an_article_is_no_letter_and_a_longer_text_wins() -> None:
    read = read_mentions("A man with guilty of romance (b).", ["Guilty", "Guilty of romance"])
    assert [(m.option, m.kind) for m in read.mentions] == [(1, "text"), (1, "letter")]
    assert "<letter>" not in read_mentions("A patient. I am sure.", ["x"] * 9).tokens


def test_part_of_a_text_is_found_where_no_whole_one_is() -> None:
    read = read_mentions("It is the stenosis of the mitral valve.", OPTIONS[:2])
    assert [(m.option, m.kind) for m in read.mentions] == [(0, "part")]


def test_features_hold_no_word_of_an_option() -> None:
    names = {name for row in features_of("Aspirin? No: mitral stenosis.", OPTIONS) for name in row}
    assert not any(word in name for name in names for word in ("aspirin", "mitral", "stenosis"))


def test_options_change_places_and_the_reading_goes_with_them(matcher: Matcher) -> None:
    for one in made_outputs(seed=7, each=2)[:60]:
        found = matcher.match(one.output, one.options)
        turned = (*one.options[1:], one.options[0])
        letters = "".join("ABCDEFGHIJ"[: len(turned)])
        swap = {ord(a): b for a, b in zip(letters, letters[-1] + letters[:-1], strict=True)}
        if any(f"{letter})" in one.output for letter in letters) or one.output in letters:
            if found is not None and one.output.strip("(). ") in letters:
                moved = one.output.translate(swap)
                assert matcher.match(moved, turned) == (found - 1) % len(turned)


def test_questions_of_a_fold_are_never_trained_on() -> None:
    """An answer that only its own question explains cannot be right on a held-out question."""
    rows = []
    for number in range(100):
        options = (f"first {number}", f"second {number}")
        rows.append(Annotated(number, options, f"code{number}", number % 2))
    features = [[{f"{one.output} {place}": 1.0, "bias": 1.0} for place in range(2)] for one in rows]
    assert held_out(rows, features, 0).value < 0.2
    # nor is what stands in answers to one question learnt at all
    assert set(fit(rows * 5, features * 5).weights) <= {"bias"}


def test_its_accuracy_is_of_held_out_questions_with_an_interval() -> None:
    made = trained_matcher(None, 0).as_json()
    accuracy = made["accuracy"]
    assert 0.97 <= accuracy["value"] < 1
    assert accuracy["low"] < accuracy["value"] < accuracy["high"]
    assert (accuracy["clusters"], accuracy["n"]) == (120, made["outputs"])
    assert "5 folds by question" in accuracy["signature"]
    assert "made up" in made["source"]


def test_phrasings_it_never_saw_are_mostly_read() -> None:
    """Harder than new questions: a fifth of the wordings is left out, in turn."""
    made = made_outputs()
    names = sorted({one.phrasing for one in made})
    rows = bundled_outputs()
    features = [features_of(one.output, one.options) for one in rows]
    right = 0
    by_rules = sum(read_letter(one.output, one.options).answer == one.letter for one in made)
    for fold in range(5):
        out = set(names[fold::5])
        train = [at for at, one in enumerate(made) if one.phrasing not in out]
        found = fit([rows[at] for at in train], [features[at] for at in train])
        right += sum(
            found.pick(features[at]) == rows[at].place
            for at, one in enumerate(made)
            if one.phrasing in out
        )
    assert by_rules < right and right / len(made) > 0.75


def test_weights_are_names_and_numbers_whatever_the_order() -> None:
    rows = bundled_outputs()[:600]
    features = [features_of(one.output, one.options) for one in rows]
    one = fit(rows, features)
    two = fit(rows[::-1], features[::-1])
    assert one.as_json() == two.as_json()
    weights = json.loads(one.as_json())["weights"]
    assert all(isinstance(value, float) for value in weights.values())


def test_a_file_of_ones_own_is_read(tmp_path: Path) -> None:
    path = tmp_path / "annotated.jsonl"
    lines = [
        {"question": one.question, "options": list(one.options), "output": one.output,
         "letter": one.letter}
        for one in made_outputs(each=3)
    ]  # fmt: skip
    lines[0]["options"] = dict(zip("ABCDE", lines[0]["options"], strict=False))  # type: ignore[call-overload]
    # a mark of the byte order, and a character that ends a line but no record
    lines[1]["output"] = str(lines[1]["output"]) + "\u2028"
    body = "\n".join(json.dumps(line, ensure_ascii=False) for line in lines)
    path.write_text(body, encoding="utf-8-sig")
    made = trained_matcher(path, 0)
    assert made.outputs == 360 and made.source == "annotated.jsonl"
    assert made.inputs[0].name == "annotated.jsonl"


GOOD = '{"question": "q", "options": ["a", "b"], "output": "A", "letter": "A"}'


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{", "annotated.jsonl:1"), ("[]", ":1"), (GOOD.replace('"A"}', '"C"}'), ":1"),
        (GOOD.replace('["a", "b"]', '["a"]'), ":1"), (GOOD.replace('["a", "b"]', '"ab"'), ":1"),
        (GOOD.replace('"q"', "3"), ":1"), (GOOD.replace(', "letter": "A"', ""), ":1"),
        ("[" * 100_000, ":1"), (GOOD.replace('["a"', '["a\\ud800"'), ":1"),
        (GOOD, "outputs to 1 questions"), ("", "outputs to 0 questions"),
    ],
)  # fmt: skip
def test_a_bad_file_is_told_by_its_line_and_never_quoted(
    tmp_path: Path, line: str, words: str
) -> None:
    path = tmp_path / "annotated.jsonl"
    path.write_text(line.replace('"output": "A"', '"output": "SECRET"'), encoding="utf-8")
    with pytest.raises(ClinqaError, match=words) as caught:
        read_annotated(path)
    assert "SECRET" not in str(caught.value)


def test_outputs_that_commit_to_nothing_teach_nothing(tmp_path: Path) -> None:
    path = tmp_path / "annotated.jsonl"
    body = [GOOD.replace('"letter": "A"', '"letter": null').replace('"q"', f'"q{n}"')
            for n in range(30)]  # fmt: skip
    path.write_text("\n".join(body), encoding="utf-8")
    with pytest.raises(ClinqaError, match="no output commits"):
        read_annotated(path)


def test_there_are_many_wordings_of_both_kinds() -> None:
    found = phrasings()
    assert len(found["committed"]) >= 50 and len(found["none"]) >= 15
