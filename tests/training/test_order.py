from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clinqa.training.order import Order


def order(keys: list[str], contexts: list[str], **given: int) -> Order:
    return Order(keys, contexts, **{"seed": 0, "batch_size": 2, **given})


@given(
    st.integers(1, 40), st.integers(1, 5), st.integers(1, 4), st.integers(1, 5), st.integers(0, 3)
)
def test_every_item_comes_once_an_epoch(
    items: int, batch: int, accumulation: int, together: int, epoch: int
) -> None:
    keys = [f"k{n}" for n in range(items)]
    contexts = [f"c{n % 7}" for n in range(items)]
    made = order(keys, contexts, batch_size=batch, accumulation=accumulation, together=together)
    made.set_epoch(epoch)
    batches = list(made)
    assert len(batches) == len(made)
    assert sorted(n for one in batches for n in one) == list(range(items))
    assert all(len(one) <= batch for one in batches)


def test_the_items_of_a_step_do_not_depend_on_how_it_is_cut() -> None:
    keys, contexts = [f"k{n}" for n in range(30)], [f"c{n % 4}" for n in range(30)]
    eight = order(keys, contexts, batch_size=8, together=3)
    two = order(keys, contexts, batch_size=2, accumulation=4, together=3)
    whole = [sorted(batch) for batch in eight]
    parts = list(two)
    joined = [
        sorted(item for part in parts[n : n + 4] for item in part) for n in range(0, len(parts), 4)
    ]
    assert joined == whole


def test_the_order_follows_from_the_ids_and_not_from_the_rows() -> None:
    keys, contexts = [f"k{n}" for n in range(20)], [f"c{n % 3}" for n in range(20)]
    turned = order(keys[::-1], contexts[::-1])
    plain = order(keys, contexts)
    named = [[keys[n] for n in batch] for batch in plain]
    assert [[keys[::-1][n] for n in batch] for batch in turned] == named


def test_epochs_and_seeds_differ() -> None:
    keys = [f"k{n}" for n in range(20)]
    first, other = order(keys, keys), order(keys, keys, seed=1)
    assert first.steps(0) != first.steps(1)
    assert first.steps(0) != other.steps(0)
    assert first.steps(0) == order(keys, keys).steps(0)


def test_items_of_a_report_come_together_as_asked() -> None:
    keys, contexts = [f"k{n}" for n in range(24)], [f"c{n % 3}" for n in range(24)]
    for batch in order(keys, contexts, batch_size=4, together=4):
        assert len({contexts[n] for n in batch}) == 1


@given(st.integers(1, 60), st.integers(1, 5), st.integers(1, 3), st.integers(0, 2))
def test_by_length_every_item_still_comes_once(
    items: int, batch: int, accumulation: int, epoch: int
) -> None:
    keys = [f"k{n}" for n in range(items)]
    lengths = [n * 7 % 50 for n in range(items)]
    made = Order(keys, keys, seed=0, batch_size=batch, accumulation=accumulation, lengths=lengths)
    made.set_epoch(epoch)
    batches = list(made)
    assert len(batches) == len(made)
    assert sorted(n for one in batches for n in one) == list(range(items))


def test_items_of_like_length_make_a_step() -> None:
    keys = [f"k{n}" for n in range(64)]
    lengths = [10 + n for n in range(64)]

    def padding(given: list[int] | None) -> float:
        steps = Order(keys, keys, seed=0, batch_size=8, lengths=given).steps(0)
        computed = sum(len(step) * max(lengths[n] for n in step) for step in steps)
        return computed / sum(lengths)

    assert padding(lengths) < 1.1 < 1.3 < padding(None)
