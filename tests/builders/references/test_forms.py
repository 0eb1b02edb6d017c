"""Edits that contradict for certain: what may be changed, and what must not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clinqa.builders.references.balance import (
    Candidates,
    choose,
    over_cap,
    without_needless_denials,
)
from clinqa.builders.references.check import contradicts, counterparts, points_at_image, supported
from clinqa.builders.references.clauses import read_clause
from clinqa.builders.references.drafts import Draft, Page, PagePart
from clinqa.builders.references.forms import Edit, PairForm, forms_of, has_negation
from clinqa.builders.references.pack_words import words_of
from clinqa.builders.references.rules import glean, passed_over, rewritten, sentences_of
from clinqa.builders.references.stages import deduplicate
from clinqa.packs.references import builtin_reference_pack

WORDS = words_of(builtin_reference_pack())
CASES = Path(__file__).parents[4] / "shared" / "data" / "cases_qa.jsonl"


def falses(statement: str) -> set[str]:
    """All false statements that are made of a true one."""
    clause = read_clause(statement, WORDS)
    return {form.false for form in forms_of(clause, WORDS, {})} if clause else set()


def trues(statement: str) -> set[str]:
    clause = read_clause(statement, WORDS)
    return {form.true for form in forms_of(clause, WORDS, {})} if clause else set()


@pytest.mark.parametrize(
    ("statement", "false"),
    [
        (
            "The P wave represents atrial depolarization.",
            "The P wave represents atrial repolarization.",
        ),
        (
            "The P wave represents atrial depolarization.",
            "The P wave represents ventricular depolarization.",
        ),
        ("The T wave is upright in lead II.", "The T wave is inverted in lead II."),
        ("Hypercalcemia shortens the QT interval.", "Hypercalcemia lengthens the QT interval."),
        (
            "Sinus tachycardia is a sinus rhythm above 100 beats per minute.",
            "Sinus tachycardia is a sinus rhythm below 100 beats per minute.",
        ),
        ("The sinus node lies in the right atrium.", "The sinus node lies in the left atrium."),
        (
            "The left ventricle is thicker than the right ventricle.",
            "The right ventricle is thicker than the left ventricle.",
        ),
        (
            "The impulse travels from the atria to the ventricles.",
            "The impulse travels from the ventricles to the atria.",
        ),
        (
            "The bundle of His divides into two branches.",
            "The bundle of His divides into three branches.",
        ),
        (
            "A PR interval above 200 ms is first-degree block.",
            "A PR interval above 200 ms is third-degree block.",
        ),
        ("U waves are not always visible.", "U waves are always visible."),
        (
            "The PR interval does not lengthen in type II block.",
            "The PR interval lengthens in type II block.",
        ),
        ("Hyperkalemia causes tall T waves.", "Hyperkalemia does not cause tall T waves."),
    ],
)
def test_an_edit_that_contradicts(statement: str, false: str) -> None:
    assert false in falses(statement)


@pytest.mark.parametrize(
    ("statement", "also_true"),
    [
        # what is below 120 is below 160 too
        ("The QRS complex lasts less than 120 ms.", "The QRS complex lasts less than 160 ms."),
        # a condition that is stricter still holds
        (
            "A PR interval above 200 ms is first-degree block.",
            "A PR interval above 240 ms is first-degree block.",
        ),
        # what is said of 120 ms and more says nothing of 100 ms
        (
            "A QRS duration of 120 ms or more is wide.",
            "A QRS duration of 60 ms or more is wide.",
        ),
        # who travels down one thing travels down the next
        (
            "The impulse travels down the atrioventricular node.",
            "The impulse travels down the Purkinje fibres.",
        ),
        (
            "The impulse spreads through the left bundle branch.",
            "The impulse spreads through the right bundle branch.",
        ),
        # the number says when, not what
        ("QTc is prolonged above 450 ms.", "QTc is prolonged below 450 ms."),
        # what follows every beat precedes the next one
        (
            "The P wave precedes each QRS complex.",
            "The QRS complex precedes each P wave.",
        ),
        (
            "A premature beat follows every sinus beat in bigeminy.",
            "A premature beat precedes every sinus beat in bigeminy.",
        ),
        # a drug that ends one rhythm may begin another, or the same
        (
            "Adenosine ends atrioventricular nodal re-entrant tachycardia.",
            "Adenosine begins atrioventricular nodal re-entrant tachycardia.",
        ),
        (
            "Adenosine ends atrioventricular nodal re-entrant tachycardia.",
            "Adenosine ends atrioventricular nodal re-entrant bradycardia.",
        ),
        # at high rates is not at low ones
        (
            "Bazett's formula overcorrects at high heart rates.",
            "Bazett's formula overcorrects at low heart rates.",
        ),
        # a sign of one thing may be a sign of another
        (
            "Tall peaked T waves are the first sign of hyperkalemia.",
            "Tall peaked T waves are the first sign of hypokalemia.",
        ),
        # of a third it holds, of another third it does not
        (
            "A right ventricular infarction accompanies about one third of inferior infarctions.",
            "A right ventricular infarction does not accompany about one third of inferior "
            "infarctions.",
        ),
        # which of the two clauses is denied?
        (
            "Four electrodes are placed on the limbs and six electrodes are placed on the chest.",
            "Four electrodes are not placed on the limbs and six electrodes are placed on the "
            "chest.",
        ),
        # the opposite of a circumstance
        (
            "The QRS complex is wide in left bundle branch block.",
            "The QRS complex is wide in right bundle branch block.",
        ),
        # a cause has several effects, an artery supplies several walls
        ("Hypothermia prolongs the QT interval.", "Hypothermia prolongs the PR interval."),
        (
            "Sodium enters the ventricular cell in phase 0.",
            "Sodium enters the atrial cell in phase 0.",
        ),
        (
            "Vagal stimulation slows the sinus node.",
            "Vagal stimulation slows the atrioventricular node.",
        ),
        # below one thing is below another
        (
            "Mobitz II block lies below the atrioventricular node.",
            "Mobitz II block lies below the sinus node.",
        ),
        # what is constant before may be constant after
        (
            "The PR interval is constant before the dropped beat.",
            "The PR interval is constant after the dropped beat.",
        ),
        # another subject
        ("The left ventricle contracts in systole.", "The right ventricle contracts in systole."),
        ("Ischemia produces ST depression.", "Ischemia produces ST elevation."),
        (
            "A Q wave is a negative deflection before the first R wave.",
            "A Q wave is a negative deflection before the last R wave.",
        ),
    ],
)
def test_an_edit_that_may_hold_as_well_is_not_made(statement: str, also_true: str) -> None:
    assert also_true not in falses(statement)


@pytest.mark.parametrize(
    "statement",
    [
        "The ST segment may be elevated in lead V1.",
        "Most P waves are upright in lead II.",
        "This wave is upright in lead II.",
        "It is longer than the QRS complex.",
        "The T wave in Figure 2 is inverted.",
        "The QRS complex is often wide in flutter.",
        "We recorded the ECG with 12 leads.",
        "The proposed algorithm detects QRS complexes.",
        "MaxT-TWA is larger than the T wave.",
        "Some P waves are inverted in lead III.",
        "The table shows the PR interval of each lead.",
        "The delay is used to find the QRS complex in every signal.",
        "The black plots are ECG signals.",
        "The QRS peak is marked by the horizontal blue dotted line.",
    ],
)
def test_a_sentence_that_hangs_on_something_or_is_in_doubt_is_passed_over(statement: str) -> None:
    assert passed_over(rewritten(statement, WORDS), WORDS)


def test_a_true_statement_is_never_among_the_false_ones() -> None:
    for statement in (
        "The normal PR interval is 120 to 200 ms.",
        "The sinus node lies in the upper part of the right atrium.",
        "The P wave represents depolarization of the atria.",
    ):
        assert not trues(statement) & falses(statement)
        assert statement in trues(statement)


def test_a_range_must_be_left_altogether() -> None:
    for false in falses("The normal PR interval is 120 to 200 ms."):
        if "not" in false:
            continue
        low, high = (float(word) for word in false.split() if word[0].isdigit())
        assert high < 120 or low > 200


def test_what_is_about_something_must_be_left_by_far() -> None:
    for false in falses("Conduction velocity in the AV node is about 0.05 m per second."):
        if "not" not in false:
            value = float(false.split("about ")[1].split()[0])
            assert value <= 0.021 or value >= 0.125


def test_rewriting_drops_openings_and_citations_and_puts_a_condition_last() -> None:
    assert rewritten("However, the P wave is small [3, 4].", WORDS) == "The P wave is small."
    assert (
        rewritten("In atrial flutter, the atrial rate is about 300 per minute.", WORDS)
        == "The atrial rate is about 300 per minute in atrial flutter."
    )


def test_sentences_end_where_they_end() -> None:
    page = (
        "Waves\n\nThe limit is 5.0 mmol/L. Tall waves are seen in lead I. The wave (e.g. the P "
        "wave) is small.\n\u2022 The T wave is tall.\n\u2022 no sentence\nTable 3"
    )
    assert [s.text for s in sentences_of(page)] == [
        "The limit is 5.0 mmol/L.",
        "Tall waves are seen in lead I.",
        "The wave (e.g. the P wave) is small.",
        "The T wave is tall.",
    ]
    for sentence in sentences_of(page):
        assert page[sentence.start : sentence.end].split() == sentence.text.split()


def test_a_heading_is_no_part_of_the_sentence_below_it() -> None:
    page = (
        "The conduction system\nThe sinus node lies in the upper part of the right atrium. It "
        "fires at\nrest. The U wave follows the T wave in a normal electrocardiogram of an adult.\n"
        "Paper and speed\nThe paper speed is 25 mm per second in a standard recording of a heart."
    )
    said = [s.text for s in sentences_of(page)]
    assert said[0] == "The sinus node lies in the upper part of the right atrium."
    assert said[-1].startswith("The paper speed is 25 mm")


def test_clauses_become_statements_of_their_own_with_their_own_place() -> None:
    text = "The P wave is upright in lead II, and the QRS complex is narrow; the T wave is tall."
    drafts = glean(Page("m", 1, text, "text"), WORDS).drafts
    assert [draft.statement for draft in drafts] == [
        "The P wave is upright in lead II.",
        "The QRS complex is narrow.",
        "The T wave is tall.",
    ]
    for draft in drafts:
        assert text[draft.start : draft.end] == draft.source_text


@pytest.mark.parametrize(
    "text",
    [
        "as shown in Figure 2",
        "see Fig. 3",
        "the tracing above",
        "in this image",
        "marked by arrows",
    ],
)
def test_what_points_at_a_picture(text: str) -> None:
    assert points_at_image(f"The QRS complex is wide, {text}.", WORDS)


@pytest.mark.parametrize(
    "text",
    [
        "It was shown that the QT interval is prolonged.",
        "The axis is shown by lead I to be normal.",
        "The configuration of the QRS complex is normal.",
        "Digoxin gives a picturesque pattern.",
    ],
)
def test_the_bare_word_shown_points_at_nothing(text: str) -> None:
    assert not points_at_image(text, WORDS)


def test_a_statement_says_what_its_source_says_and_nothing_else() -> None:
    source = "The normal PR interval is 120 to 200 ms in adults."
    assert supported("The normal PR interval is 120 to 200 ms in adults.", source, WORDS)
    for other in (
        "The normal PR interval is 120 to 210 ms in adults.",
        "The normal PR interval is not 120 to 200 ms in adults.",
        "The normal PR interval is usually 120 to 200 ms in adults.",
        "The normal QT interval is 120 to 200 ms in adults.",
        "The PR interval is 120 ms.",
        "The abnormal PR interval is 120 to 200 ms in adults.",
    ):
        assert not supported(other, source, WORDS)


def test_a_counterpart_must_differ_and_contradict() -> None:
    true = source = "The sinus node lies in the right atrium."
    assert contradicts(true, "The sinus node lies in the left atrium.", source, WORDS)
    assert not contradicts(true, true, source, WORDS)
    assert not contradicts(true, "The sinus node lies in the right atrium", source, WORDS)
    assert not contradicts(true, "The sinus node lies near the right atrium.", source, WORDS)
    assert not contradicts(true, "The AV node lies in the right ventricle.", source, WORDS)


def test_a_false_draft_is_mended_to_what_its_source_says() -> None:
    source = "The normal PR interval is 120 to 200 ms."
    draft = Draft(
        "m", 1, PagePart.PAGE, "text", 0, 40, source,
        "The normal PR interval is 320 to 400 ms.", False, "conduction", "llm",
    )  # fmt: skip
    (form,) = counterparts(draft, WORDS, {})
    assert (form.true, form.false) == (source, draft.statement)


def test_forms_are_chosen_so_that_no_word_gives_the_label_away() -> None:
    made = []
    for number in range(40):
        verb = "prolongs" if number % 4 else "shortens"  # in documents one of the two is rarer
        true = f"Drug{number} {verb} the QT interval."
        clause = read_clause(true, WORDS)
        assert clause is not None
        forms = without_needless_denials(forms_of(clause, WORDS, {}))
        made.append(Candidates(str(number), forms))
    chosen = choose(made, 0)
    for word in ("not", "does"):
        true = sum(word in form.true.split() for form in chosen.values())
        false = sum(word in form.false.split() for form in chosen.values())
        assert abs(true - false) <= 12, word
    prolongs = [sum("prolongs" in text.split() for text in side) for side in _sides(chosen)]
    assert max(prolongs) < 30  # as many as stand in the documents
    assert choose(made[::-1], 0) == chosen


def _sides(chosen: dict[str, PairForm]) -> tuple[list[str], list[str]]:
    return [form.true for form in chosen.values()], [form.false for form in chosen.values()]


def test_denials_alone_are_no_more_than_the_cap() -> None:
    denial = (PairForm("A.", "Not A.", Edit.NEGATION, ("", "not x")),)
    other = (PairForm("A is up.", "A is down.", Edit.DIRECTION, ("up", "down")),)
    made = [Candidates(f"d{i}", denial) for i in range(50)]
    made += [Candidates(f"o{i}", other) for i in range(30)]
    out = over_cap(made, 0.25)
    assert len(made) - len(out) == 40
    assert all(name.startswith("d") for name in out)
    assert over_cap(made, 1.0) == set()


def test_left_and_right_axis_do_not_merge() -> None:
    body = " ".join(f"word{i}" for i in range(24))
    sources = [f"The left axis {body}.", f"The right axis {body}.", f"The left axis {body}!"]
    instead, cluster = deduplicate(sources, ["b", "a", "c"], WORDS)
    assert instead == [-1, -1, 0]
    assert cluster[0] == cluster[1]


def test_the_cases_of_pairs_and_duplicates() -> None:
    if not CASES.is_file():
        pytest.skip("shared/data/cases_qa.jsonl is not here")
    cases = {one["id"]: one for one in map(json.loads, CASES.read_text().splitlines())}
    wide = "A QRS complex of at least 120 ms is wide."
    assert cases["qa073"]["expected"].startswith("reject")
    assert not contradicts(wide, wide, wide, WORDS)
    assert cases["qa074"]["expected"].startswith("accept")
    interval, denied = "The PR interval is 120-200 ms.", "The PR interval is not 120-200 ms."
    assert contradicts(interval, denied, interval, WORDS)
    assert has_negation(denied, WORDS)
    one, other = cases["qa076"]["input"]
    assert deduplicate([one, other], ["a", "b"], WORDS) == ([-1, -1], [0, 0])
