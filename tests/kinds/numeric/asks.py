"""A number is asked for; it is told how near is near enough."""

from __future__ import annotations

from clinqa.kinds.facets.asks import Asks, Shots

ASKS = Asks(
    shots=Shots(("category",), lambda table: table.select(["id", "group", "category"])),
    columns=("tolerance",),
    own=lambda table: table["tolerance"].to_pylist(),
    show=lambda question, own: f"{question} Within {own:g}.",
)
