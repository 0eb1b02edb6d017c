"""What a run did: its notes, warnings and counts, for the manifest and for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from clinqa.asking.ask import Earlier, change_of
from clinqa.asking.identity import Assignment
from clinqa.asking.repeats import Repeats
from clinqa.asking.results import Tally
from clinqa.asking.run_models import Models
from clinqa.asking.source import ItemSource
from clinqa.core.errors import ModelError
from clinqa.core.journal import Journal
from clinqa.core.manifest import StageCounts
from clinqa.core.predictions import PREDICTIONS_FILE
from clinqa.core.stage import Made

__all__ = ["Done"]


@dataclass(slots=True)
class Done:
    """What a run did, for its manifest and for people."""

    told: Assignment
    source: ItemSource
    prompts: int  # of one repeat
    repeats: Repeats = field(default_factory=lambda: Repeats(1, 1, "none"))
    resumed: int = 0
    tally: Tally = field(default_factory=Tally)
    shots: dict[str, list[str]] = field(default_factory=dict)
    facts: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    journal: Journal | None = None
    models: Models | None = None  # once they are closed
    left_out: dict[str, str] = field(default_factory=dict)  # that the service refused

    def changed(self, name: str, how: str) -> None:
        """Note a field that the service refused: it counts for answers of earlier runs too."""
        self.left_out[name] = how
        if self.journal is not None:
            self.journal.append(change_of(name, how))

    def resume(self, earlier: Earlier, total: int, note: str) -> None:
        """Note what an earlier run left."""
        self.resumed = answers = earlier.answers
        self.left_out |= earlier.left_out
        damaged = earlier.damaged
        if note:
            self.notes.append(note)
        if damaged:
            self.notes.append(f"{damaged:,} records of an earlier run are damaged; asked again")
        if answers:
            self.notes.append(f"{answers:,} of {total:,} answers are from an earlier run")

    def made(self, warnings: Sequence[str], cost: float | None) -> Made:
        """What goes into the manifest; ModelError where nothing at all was answered."""
        tally, source, repeats = self.tally, self.source, self.repeats
        if tally.statuses["error"] == tally.total and not set(tally.errors) <= {"context"}:
            raise ModelError(
                f"not one of {tally.total:,} prompts was answered ({_named(tally.errors)})"
                f"{self.models.because if self.models else ''}"
            )
        if tally.cached:
            self.notes.append(f"{tally.cached:,} of {tally.total:,} answers came from the cache")
        return Made(
            counts={"predictions": self._counts()},
            rows={PREDICTIONS_FILE: tally.total},
            warnings=[*warnings, *self._warnings()],
            details={
                "items": source.total,
                "items_in_split": source.in_split,
                **({"prompts": self.prompts} if self.prompts != source.total else {}),
                "statuses": dict(tally.statuses),
                "errors": dict(sorted(tally.errors.items())),
                "input_tokens": tally.input_tokens,
                "output_tokens": tally.output_tokens,
                "model_seconds": round(tally.seconds, 3),
                "cost": cost,
                "resumed": self.resumed,
                "cached": tally.cached,
                "models": self.facts,
                "shots": self.shots,
                "notes": self.notes,
                **self._service(),
            },
            lines=self.notes,
            configuration={
                "repeats": repeats.run,
                "repeats_asked": repeats.asked,
                "vary": repeats.vary,
            },
        )

    def _service(self) -> dict[str, Any]:
        """What the service did, where there was one that did something."""
        told = dict(self.models.service) if self.models else {}
        if left_out := {**self.left_out, **told.get("left_out", {})}:
            told["left_out"] = left_out
        return {"service": told} if told else {}

    def _counts(self) -> StageCounts:
        """Prompts: an item is asked in each of its forms, in each repeat."""
        source, run, cannot = self.source, self.repeats.run, self.told.asks.cannot
        statuses = self.tally.statuses
        others = {name: n for name, n in statuses.items() if name != "answered" and n}
        beyond = source.in_split - source.elsewhere - source.unaskable - source.total
        outside = {
            "limit": beyond * run,
            "category": source.elsewhere * run,
            cannot.reason if cannot else "": source.unaskable * run,
        }
        return StageCounts(
            read=(source.in_split - source.total + self.prompts) * run,
            kept=statuses["answered"],
            rejected=sum(others.values()),
            out_of_scope=sum(outside.values()),
            rejected_by_reason=others,
            out_of_scope_by_reason={why: n for why, n in outside.items() if n},
        )

    def _warnings(self) -> list[str]:
        tally, asks, found = self.tally, self.told.asks, []
        if tally.errors:
            found.append(
                f"{tally.statuses['error']:,} of {tally.total:,} prompts ended in an error "
                f"({_named(tally.errors)}); they are counted, not dropped"
                f"{self.models.because if self.models else ''}"
            )
        found += self.models.service_warnings if self.models else []
        if asks.cannot and self.source.unaskable:
            found.append(f"{self.source.unaskable:,} items {asks.cannot.says}")
        if self.told.options.constrained and asks.weighs and tally.statuses["ambiguous"]:
            found.append(
                f"{asks.weighs.says} were equally likely {tally.statuses['ambiguous']:,} times: "
                "half precision rounds small differences away; --dtype float32 keeps them"
            )
        if tally.refusals:
            found.append(
                f"{tally.refusals:,} of {tally.total:,} answers are refusals in words: counted as "
                "answered here, as refused by clinqa score where they say nothing else"
            )
        return found + [
            f"{n:,} of {tally.total:,} answers are {status}"
            for status, n in tally.statuses.items()
            if n and status not in ("answered", "error")
        ]


def _named(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{kind} {n:,}" for kind, n in sorted(counts.items()))
