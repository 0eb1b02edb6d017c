"""How often the scorer of long-form answers agrees with people who read the same answers.

    python benchmarks/answers.py [answers_gold.jsonl] [--show] [--json FILE]

A line of the file is an answer: `id` (the item before the last hyphen), `abnormality`, `structure`,
`question_type`, `level`, `reference`, `source`, `answer`, and what the readers said of it: `kind`,
`danger`, `sure`. Readers were no clinicians; they saw the report's words and the answer, no model's
name and no score. Intervals are over items, whose answers stand or fall together.

For each kind of error: `found`, of the answers the readers call it so the share that the scorer
does; `borne out`, of those that the scorer calls it so the share that the readers do.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from clinqa.kinds.long_form.answer_reader import AnswerReader, AskedAbout, answer_text
from clinqa.kinds.long_form.clinical import KINDS, NO_ANSWER, ClinicalScorer, Verdict
from clinqa.packs.loader import builtin_pack
from clinqa.stats.design import Design
from clinqa.stats.estimates import Estimate, estimates
from clinqa.stats.measure import share

HERE = Path(__file__).resolve().parent
WIDTH = 32


def verdicts(answers: Sequence[Mapping[str, Any]], pack: str) -> list[Verdict]:
    """What the scorer says of each answer."""
    scorer = ClinicalScorer(AnswerReader(builtin_pack(pack)))
    made = []
    for one in answers:
        asked = AskedAbout(one["abnormality"], one["structure"], one["question_type"])
        text = answer_text(one["answer"])
        told = (asked, one["level"], one["reference"], text or "", one["source"])
        made.append(scorer.judge(*told) if text else NO_ANSWER)
    return made


def agreement(
    answers: Sequence[Mapping[str, Any]], judged: Sequence[Verdict]
) -> dict[str, Estimate]:
    """Every share by name, with its interval over items."""
    ours = np.array([one.kind for one in judged])
    theirs = np.array([one["kind"] for one in answers])
    danger = np.array([bool(one.dangers) for one in judged])
    harm = np.array([bool(one["danger"]) for one in answers])
    right = np.isin(ours, ("right", "unrelated_added"))
    meant = np.isin(theirs, ("right", "unrelated_added"))
    every = np.ones(len(answers), np.bool_)
    pairs = {
        "kind": (ours == theirs, every),
        "right on what was asked": (right == meant, every),
        "danger": (danger == harm, every),
        "danger: found": (danger & harm, harm),
        "danger: borne out": (danger & harm, danger),
    }
    for kind in KINDS:
        both = (ours == kind) & (theirs == kind)
        pairs[f"{kind}: found"] = (both, theirs == kind)
        pairs[f"{kind}: borne out"] = (both, ours == kind)
    items = [one["id"].rpartition("-")[0] for one in answers]
    rows = np.stack([column for pair in pairs.values() for column in pair], axis=1)
    measures = [share(name, 2 * at, 2 * at + 1, counted=True) for at, name in enumerate(pairs)]
    found = estimates(measures, rows.astype(np.float64), Design(items))
    return dict(zip(pairs, found, strict=True))


def told(name: str, one: Estimate) -> str:
    """A line of the table."""
    if not one.n:
        return f"{name:<{WIDTH}}    none"
    return f"{name:<{WIDTH}} {one.value:7.3f}  [{one.low:.3f}, {one.high:.3f}]  of {one.n}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("answers", type=Path, nargs="?", default=HERE / "answers_gold.jsonl")
    parser.add_argument("--pack", default="echo")
    parser.add_argument("--show", action="store_true", help="each answer that is judged otherwise")
    parser.add_argument("--json", type=Path, help="the shares, for a program")
    asked = parser.parse_args()
    lines = asked.answers.read_text(encoding="utf-8").splitlines()
    answers = [json.loads(line) for line in lines if line.strip()]
    judged = verdicts(answers, asked.pack)
    if asked.show:
        for one, verdict in zip(answers, judged, strict=True):
            if (verdict.kind, bool(verdict.dangers)) != (one["kind"], one["danger"]):
                print(f"{one['id']}  readers: {one['kind']}, danger {one['danger']}; scorer: "
                      f"{verdict.kind}, {verdict.dangers}, read {verdict.read}")  # fmt: skip
    for name, chosen in (
        ("all answers", [True] * len(answers)),
        ("those of which the readers were sure", [bool(one.get("sure", True)) for one in answers]),
    ):
        pairs = zip(answers, judged, chosen, strict=True)
        some = [(one, verdict) for one, verdict, kept in pairs if kept]
        found = agreement([one for one, _ in some], [verdict for _, verdict in some])
        print(f"\n{name}: {len(some)} (share, 95 % interval over items; no clinician judged them)")
        for row in found.items():
            print(told(*row))
        if asked.json and all(chosen):
            shares = {
                name: {"value": one.value, "low": one.low, "high": one.high, "n": one.n}
                for name, one in found.items()
                if one.n
            }
            asked.json.write_text(json.dumps(shares, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
