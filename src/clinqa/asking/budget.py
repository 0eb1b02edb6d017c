"""A cap on what a run may cost: prompts are handed out only while their worst case still fits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from clinqa.asking.predict_options import PredictOptions
from clinqa.asking.prompter import KeyedPrompt
from clinqa.core.errors import ConfigError, ModelError
from clinqa.models.prices import Price, PriceList, load_prices, tokens_of
from clinqa.models.protocol import Model, Output, Prompt, Sampling

__all__ = ["Budget", "price_of", "prices_of"]


@dataclass(slots=True)
class Budget:
    """What was spent on one output folder, over all its runs, and how much it may be.

    The tokens of a prompt are an estimate, and an answer may be as long as `max_tokens`; so a run
    stops a little before the cap rather than after it, and never with a request in flight.
    """

    price: Price | None = None
    cap: float | None = None
    spent: float = 0.0

    def cost(self, prompt: Prompt, output: Output, sampling: Sampling) -> float | None:
        """What one answer cost; tokens the service does not tell are taken at their most."""
        if self.price is None:
            return None
        if output.cached or (output.finish_reason == "error" and output.input_tokens is None):
            return 0.0
        said, answered = output.input_tokens, output.output_tokens
        return self.price.cost(
            tokens_of(prompt) if said is None else said,
            sampling.max_tokens if answered is None else answered,
        )

    def spend(self, cost: float | None) -> None:
        """Count what one answer cost."""
        self.spent += cost or 0.0

    def chunks(
        self, pending: Iterable[KeyedPrompt], model: Model, sampling: Sampling, size: int
    ) -> Iterator[list[KeyedPrompt]]:
        """The prompts in chunks that the budget can bear; ModelError where it is used up."""
        waiting = iter(pending)
        if self.cap is None or self.price is None:
            while chunk := list(islice(waiting, size)):
                yield chunk
            return
        chunk, worst = [], 0.0
        for asked in waiting:
            cost = self.price.cost(model.count_tokens(asked.prompt), sampling.max_tokens)
            if chunk and (len(chunk) == size or self.spent + worst + cost > self.cap):
                yield chunk  # after it, `spent` is what it really cost
                chunk, worst = [], 0.0
            if self.spent + cost > self.cap:
                raise ModelError(
                    f"--max-cost {self.cap:g} reached: {self.spent:.4f} spent and the next answer "
                    f"may cost {cost:.4f}; run again with a higher cap to go on"
                )
            chunk.append(asked)
            worst += cost
        if chunk:
            yield chunk


def price_of(options: PredictOptions) -> Price | None:
    """The price of the model, as the user's price file has it."""
    prices = prices_of(options)
    price = prices.of(options.model) if prices else None
    if price is None and options.max_cost is not None:
        what = f"{options.price_file} has no price of {options.model}" if prices else "no --prices"
        raise ConfigError(f"--max-cost needs to know what {options.model} costs, but {what}")
    return price


def prices_of(options: PredictOptions) -> PriceList | None:
    """The user's price file."""
    return load_prices(options.price_file) if options.price_file else None
