"""Prices come from the user's file; estimates say what they are of."""

from __future__ import annotations

from pathlib import Path

import pytest

import clinqa.models
from clinqa.core.errors import ConfigError
from clinqa.models.prices import estimate, load_prices

LIST = """
as_of: 2026-11-01
currency: EUR
models:
  openai:a: {input: 1.0, output: 4.0}
  openai:*: {input: 2.0, output: 8.0}
  openai:big-*: {input: 20, output: 80}
"""


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "prices.yaml"
    path.write_text(text)
    return path


def test_the_exact_name_wins_then_the_longest_beginning(tmp_path: Path) -> None:
    prices = load_prices(written(tmp_path, LIST))
    found = [prices.of(f"openai:{name}") for name in ("a", "ab", "big-1")]
    assert [price.input for price in found if price] == [1.0, 2.0, 20.0]
    assert prices.of("azure:a") is None


def test_an_estimate_takes_outputs_as_long_as_they_may_be(tmp_path: Path) -> None:
    prices = load_prices(written(tmp_path, LIST))
    found = estimate("openai:a", iter([400_000, 600_000]), 250_000, prices)
    assert (found.requests, found.input_tokens, found.output_tokens) == (2, 1_000_000, 500_000)
    assert found.cost == pytest.approx(3.0)
    assert "3.00 EUR (prices of 2026-11-01)" in str(found)


def test_without_a_price_tokens_are_told_and_no_money(tmp_path: Path) -> None:
    assert estimate("openai:a", [1, 2], 3, None).cost is None
    prices = load_prices(written(tmp_path, LIST))
    found = estimate("azure:a", [1, 2], 3, prices)
    assert found.cost is None and "unknown" in str(found)


@pytest.mark.parametrize(
    "change",
    [
        ("2026-11-01", "lately"),
        ("EUR", "euros"),
        ("input: 1.0", "input: -1"),
        ("input: 1.0", "input: .nan"),
        ("input: 1.0, ", ""),
        ("currency", "coin"),
    ],
)
def test_a_faulty_list_is_an_error(tmp_path: Path, change: tuple[str, str]) -> None:
    with pytest.raises(ConfigError):
        load_prices(written(tmp_path, LIST.replace(*change)))


@pytest.mark.parametrize("text", ["", "[", "a", "models: {}"])
def test_what_is_no_list_is_an_error(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError):
        load_prices(written(tmp_path, text))


def test_the_example_has_the_right_form() -> None:
    example = Path(clinqa.models.__file__).parent / "prices.example.yaml"
    assert load_prices(example).of("openai:example-model")
