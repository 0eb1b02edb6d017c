"""Plans are pure: they hold every row once and share only what is shared."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clinqa.models.local.plan import PromptRow, common, plan

tokens = st.lists(st.integers(0, 2), min_size=1, max_size=12)


@given(tokens, tokens)
def test_common_counts_the_tokens_two_sequences_begin_with(a: list[int], b: list[int]) -> None:
    length = common(a, b)
    assert a[:length] == b[:length]
    assert length in (len(a), len(b)) or a[length] != b[length]


@given(
    st.lists(st.tuples(tokens, st.integers(1, 3)), max_size=30),
    st.integers(1, 9),
    st.integers(1, 60),
    st.booleans(),
)
def test_every_row_comes_once_and_whole_with_its_last_tokens_its_own(
    given_rows: list[tuple[list[int], int]], max_rows: int, max_slots: int, share: bool
) -> None:
    rows = [PromptRow(n, row, min(keep, len(row))) for n, (row, keep) in enumerate(given_rows)]
    batches = plan(rows, max_rows=max_rows, max_slots=max_slots, extra=2, share=share)
    seen = {}
    for batch in batches:
        for group in batch.groups:
            for row in group.rows:
                assert len(row.tokens) >= row.keep
                assert row.index not in seen
                seen[row.index] = [*batch.shared, *group.context, *row.tokens]
        assert len(batch.rows) <= max(max_rows, 5)
    assert seen == {row.index: row.tokens for row in rows}


def test_the_order_of_rows_does_not_matter() -> None:
    rows = [PromptRow(n, [1, 2, n % 4, 5, 6, 7, n], 1) for n in range(20)]
    forth = plan(rows, max_rows=8, max_slots=100, extra=1)
    back = plan(reversed(rows), max_rows=8, max_slots=100, extra=1)
    assert forth == back


def test_rows_of_one_report_share_it() -> None:
    report = list(range(100, 150))
    rows = [PromptRow(n, [1, 2, *report, 7, n], 1) for n in range(10)]
    [batch] = plan([*rows], max_rows=32, max_slots=1000, extra=4)
    assert list(batch.shared) == [1, 2, *report, 7]
    assert {len(row.tokens) for row in batch.rows} == {1}
