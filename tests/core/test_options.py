"""The options of a verb: one dataclass that says all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import FrozenInstanceError, dataclass

import pytest

from clinqa.core.errors import ConfigError
from clinqa.core.options import OutputOptions, SamplingOptions, option, options_of, varied


@dataclass(frozen=True, kw_only=True)
class Some(SamplingOptions, OutputOptions):
    model: str = option(metavar="M")
    words: Sequence[str] = option((), flags="--word", split=",")
    kind: str = option("a", choices=("a", "b"))
    share: float = option(0.5, low=0, high=1, above=True)
    limit: int | None = varied(OutputOptions, "limit", help="Ask N.")


def test_a_field_says_what_it_is_and_a_shared_one_may_be_varied() -> None:
    told = {one.name: one for one in options_of(Some)}
    assert told["words"].flag == "--word" and told["kind"].flag == "--kind"
    assert told["model"].required and not told["kind"].required
    assert (told["limit"].help, told["limit"].low) == ("Ask N.", 1)
    assert list(told)[:5] == ["model", "words", "kind", "share", "limit"]
    assert list(told)[-4:] == ["data_class", "seed", "dry_run", "fresh"]


def test_options_are_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        Some(model="m").seed = 3  # type: ignore[misc]


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"kind": "c"}, "--kind must be one of a, b"),
        ({"share": 0.0}, "--share must be above 0 and at most 1"),
        ({"share": float("nan")}, "--share must be above 0"),
        ({"temperature": -1.0}, "--temperature must be a number of at least 0"),
        ({"temperature": float("inf")}, "--temperature must be a number"),
        ({"limit": 0}, "--limit must be at least 1"),
        ({"limit": 10**400}, "--limit is too large a number"),
        ({"seed": -(10**400)}, "--seed is too large a number"),
    ],
)
def test_a_value_out_of_bounds_is_named(given: dict[str, object], complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        Some(model="m", **given).check()  # type: ignore[arg-type]


def test_a_mapping_becomes_options_and_an_unknown_key_is_refused_with_the_nearest() -> None:
    assert Some.from_mapping({"model": "m", "seed": 3}) == Some(model="m", seed=3)
    with pytest.raises(ConfigError, match="modle: no such option; did you mean model"):
        Some.from_mapping({"modle": "m"})
    with pytest.raises(ConfigError, match="model: must be given"):
        Some.from_mapping({})
