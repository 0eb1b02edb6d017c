"""What a run may cost: a small dated file of list prices that the user gives (`--prices FILE`).

clinqa ships no prices, since they would be wrong soon; `prices.example.yaml` beside this file shows
the form. An estimate is about tokens: where the tokenizer is not at hand they are guessed from the
text's length, and an output is taken to be as long as it may be.

    as_of: 2026-11-01          # the day the prices were read
    currency: USD
    models:
      openai:my-model: {input: 1.00, output: 4.00}    # for a million tokens
      bedrock:my-vendor.*: {input: 0.50, output: 2.00}
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from clinqa.core.yamlfile import read_bytes, validated
from clinqa.models.protocol import Prompt

__all__ = ["CostEstimate", "Price", "PriceList", "estimate", "load_prices", "tokens_of"]

MAX_BYTES = 1_000_000
CHARACTERS_A_TOKEN = 3.5
"""English prose has about four; numbers, units and abbreviations of reports bring it down."""
TOKENS_A_MESSAGE = 5

_Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]
_Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=3, max_length=200)]


class Price(BaseModel):
    """Money for a million tokens, in and out."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    input: _Amount
    output: _Amount

    def cost(self, input_tokens: int, output_tokens: int) -> float:
        """Money for so many tokens.

        >>> Price(input=2.0, output=8.0).cost(1_000_000, 500_000)
        6.0
        """
        return (input_tokens * self.input + output_tokens * self.output) / 1_000_000


class PriceList(BaseModel):
    """Prices by model name, and the day they were true."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    as_of: date
    currency: Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}$")]
    source: str = ""
    models: Mapping[_Name, Price] = Field(min_length=1)

    def of(self, model: str) -> Price | None:
        """The price of a model by its name, else by the longest `beginning*` that fits."""
        if model in self.models:
            return self.models[model]
        fitting = [
            name for name in self.models if name.endswith("*") and model.startswith(name[:-1])
        ]
        return self.models[max(fitting, key=len)] if fitting else None


@dataclass(frozen=True, slots=True)
class CostEstimate:
    """What a run would ask and, with a price, cost at most; `cost` is None without one."""

    requests: int
    input_tokens: int
    output_tokens: int
    cost: float | None
    currency: str = ""
    as_of: date | None = None

    def __str__(self) -> str:
        tokens = (
            f"{self.requests:,} requests, about {self.input_tokens:,} tokens in, "
            f"at most {self.output_tokens:,} out"
        )
        if self.cost is None:
            why = "give --prices" if self.as_of is None else "the prices given do not name it"
            return f"{tokens}; cost unknown ({why})"
        return f"{tokens}; at most about {self.cost:,.2f} {self.currency} (prices of {self.as_of})"


def load_prices(path: Path) -> PriceList:
    """The prices of a file; a mistake in it is an error."""
    return validated(path, read_bytes(path, MAX_BYTES), PriceList)


def tokens_of(prompt: Prompt) -> int:
    """Tokens of a prompt, guessed from its length.

    >>> from clinqa.models.protocol import Message
    >>> tokens_of(Prompt("a", (Message("user", "x" * 35),), "", "", "", "", 0, 0))
    15
    """
    return sum(
        math.ceil(len(message.text) / CHARACTERS_A_TOKEN) + TOKENS_A_MESSAGE
        for message in prompt.messages
    )


def estimate(
    model: str, input_tokens: Iterable[int], max_tokens: int, prices: PriceList | None
) -> CostEstimate:
    """What prompts of so many tokens each would cost at most."""
    counted = list(input_tokens)
    requests, tokens_in = len(counted), sum(counted)
    tokens_out = requests * max_tokens
    price = prices.of(model) if prices else None
    if prices is None or price is None:
        known = prices.as_of if prices else None
        return CostEstimate(requests, tokens_in, tokens_out, None, as_of=known)
    cost = price.cost(tokens_in, tokens_out)
    return CostEstimate(requests, tokens_in, tokens_out, cost, prices.currency, prices.as_of)
