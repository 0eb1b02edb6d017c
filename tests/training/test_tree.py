"""Each item gets, in its row, exactly the tokens and positions it would have alone."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clinqa.training.tree import Laid, TreeRow, lay_out

small = st.integers(0, 2)  # few kinds of token, so that beginnings are often shared


@st.composite
def batches(draw: st.DrawFn) -> list[Laid]:
    stems = draw(st.lists(st.lists(small, max_size=30), min_size=1, max_size=3))
    items = []
    for number in range(draw(st.integers(1, 8))):
        prompt = [7, *draw(st.sampled_from(stems)), *draw(st.lists(small, max_size=12))]
        answer = draw(st.lists(st.integers(3, 6), min_size=1, max_size=5))
        items.append(Laid(number, [*prompt, *answer], len(prompt)))
    return items


def read_back(row: TreeRow, number: int) -> tuple[list[int], list[int], list[int]]:
    """What the item's last learnt column sees (tokens by position), and what it learns."""
    targets = [target for target in row.targets if target.number == number]
    last = max(target.column for target in targets)
    above = set(row.above()[row.segments[last]])
    seen = [c for c in range(last + 1) if row.segments[c] in above]
    return (
        [row.tokens[c] for c in seen],
        [row.positions[c] for c in seen],
        [target.token for target in targets],
    )


@given(batches(), st.integers(1, 200), st.booleans())
def test_an_item_sees_and_learns_what_it_would_alone(
    items: list[Laid], row_tokens: int, share: bool
) -> None:
    rows = lay_out(items, row_tokens=row_tokens, share=share)
    where = {target.number: row for row in rows for target in row.targets}
    assert sorted(where) == [item.number for item in items]
    for item in items:
        tokens, positions, learnt = read_back(where[item.number], item.number)
        assert tokens == list(item.tokens)[:-1]
        assert positions == list(range(len(item.tokens) - 1))
        assert learnt == list(item.tokens)[item.answer_from :]


@given(batches(), st.integers(1, 200))
def test_no_two_items_learn_in_one_place(items: list[Laid], row_tokens: int) -> None:
    for row in lay_out(items, row_tokens=row_tokens):
        columns = [target.column for target in row.targets]
        assert len(columns) == len(set(columns))


@given(batches(), st.integers(1, 200))
def test_sharing_never_costs_tokens(items: list[Laid], row_tokens: int) -> None:
    alone = sum(len(item.tokens) for item in items)
    assert sum(len(row.tokens) for row in lay_out(items, row_tokens=row_tokens)) <= alone


def test_questions_of_one_report_hold_it_once() -> None:
    report = list(range(100, 200))
    items = [Laid(n, [1, *report, 10 + n, 5, 6], 102) for n in range(8)]
    [row] = lay_out(items, row_tokens=1000)
    assert len(row.tokens) == 101 + 8 * 3
    assert len(row.parents) == 9


def test_two_reports_share_the_system_line_only() -> None:
    system = list(range(50, 70))
    items = [
        Laid(n, [*system, *range(100 * (n % 2), 100 * (n % 2) + 40), 900 + n, 5], 61)
        for n in range(4)
    ]
    [row] = lay_out(items, row_tokens=1000)
    assert len(row.tokens) == 20 + 2 * 40 + 4 * 2
    rows = lay_out(items, row_tokens=60)  # too short for two reports: the system line twice
    assert [len(row.tokens) for row in rows] == [64, 64]
