"""Replies of models: whatever comes, whole items are read and the rest is counted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinqa.builders.references.replies import label_of, read_field, read_reply

ITEM = {"question": "Q1 is so.", "label": "True", "source": "s1 on the page", "topic": "rhythm"}
WHOLE = json.dumps({"questions": [ITEM]})


def test_a_fence_inside_a_value_ends_nothing() -> None:
    assert read_field('```json\n{"source": "use ```x``` here"}\n```', "source") == (
        "use ```x``` here"
    )


def test_of_a_reply_that_was_cut_the_whole_items_count() -> None:
    text = (
        '{"questions": [{"question": "Q1", "label": "True", "source": "s1"}, '
        '{"question": "Q2", "lab'
    )
    reply = read_reply(text)
    assert [item.question for item in reply.items] == ["Q1"]
    assert reply.malformed == 1


@pytest.mark.parametrize(
    ("label", "meant"),
    [("TRUE", True), (True, True), (False, False), ("false", False), (" True ", True)],
)
def test_labels_that_say_one_thing(label: object, meant: bool) -> None:
    assert label_of(label) is meant


@pytest.mark.parametrize("label", ["Yes", "True/False", "", 1, 0, None, ["True"], "T", "not true"])
def test_labels_that_do_not(label: object) -> None:
    assert label_of(label) is None


@pytest.mark.parametrize(
    "wrapped",
    [
        WHOLE,
        f"```json\n{WHOLE}\n```",
        f"Here you are:\n{WHOLE}\nAnything else?",
        f'<think>{{"questions": [{{"question": "no"}}]}}</think>{WHOLE}',
        f"The set [see below] {WHOLE}",
        json.dumps([ITEM]),
        json.dumps(ITEM),
    ],
)
def test_what_stands_around_an_item_does_not_matter(wrapped: str) -> None:
    reply = read_reply(wrapped)
    assert [item.question for item in reply.items] == ["Q1 is so."]
    assert reply.malformed == 0


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I cannot answer that.",
        '{"questions": "none"}',
        '{"questions": [1, null, "x"]}',
        '{"questions": [{"question": 3, "label": "True", "source": "s"}]}',
        '{"questions": [{"question": "Q", "source": "s"}]}',
        "{" * 5000,
        "[" * 200_000,
        '{"questions": [' + '{"question": "' + "x" * 3000 + '", "label": "True", "source": "s"}]}',
    ],
)
def test_what_is_no_item_is_counted(text: str) -> None:
    reply = read_reply(text)
    assert reply.items == ()
    assert reply.malformed >= 1


def test_an_empty_list_is_an_answer() -> None:
    reply = read_reply('{"questions": []}')
    assert (reply.items, reply.malformed, reply.whole) == ((), 0, True)


def test_one_broken_item_costs_only_itself() -> None:
    good = json.dumps(ITEM)
    reply = read_reply('{"questions": [' + good + ', {"question": "a" "label"}, ' + good + "]}")
    assert len(reply.items) == 2
    assert reply.malformed == 1


@given(st.text(alphabet='{}[]":,\\ntrueqsoi `<>/', max_size=200))
def test_no_text_breaks_it(text: str) -> None:
    reply = read_reply(text)
    assert reply.malformed >= 0


def test_the_cases_of_json() -> None:
    path = Path(__file__).parents[4] / "shared" / "data" / "cases_qa.jsonl"
    if not path.is_file():
        pytest.skip("shared/data/cases_qa.jsonl is not here")
    cases = {c["id"]: c for c in map(json.loads, path.read_text().splitlines())}
    assert read_field(cases["qa070"]["input"], "source") == "use ```x``` here"
    cut = read_reply(cases["qa071"]["input"])
    assert ([i.question for i in cut.items], cut.malformed) == (["Q1"], 1)
    labels = [read_field(part, "label") for part in cases["qa072"]["input"].split(" / ")]
    assert [label_of(label) for label in labels] == [True, True, None, None]
