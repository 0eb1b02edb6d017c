"""Made SCORES folders: several models, shots, repeats, patients, kinds of error. Nobody's data."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from clinqa.core.figures import Figure, PairedTest
from clinqa.core.hashing import sha256_file
from clinqa.core.manifest import FileRecord, Manifest

ABNORMALITIES = (
    "aortic_regurgitation",
    "aortic_stenosis",
    "la_cavity",
    "lv_cavity",
    "lv_systolic_function",
    "mitral_regurgitation",
    "mitral_stenosis",
    "pericardial_effusion",
    "pulmonary_hypertension",
    "rv_cavity",
    "rv_systolic_function",
    "tricuspid_regurgitation",
)
LEVELS = (0, 0, 0, 0, 1, 1, 2, 3, -3, -2)
KINDS = (
    "right",
    "unrelated_added",
    "wrong_level",
    "not_highest",
    "other_abnormality",
    "irrelevant",
)
DANGERS = ("severe_as_mild", "inadequate_as_normal", "abnormal_as_normal", "invented")
SIGNATURES = {
    "bleu": "bleu|corpus|13a|exp|v2.6",
    "rouge1": "rouge1|f|stem|v0.1.2",
    "rouge2": "rouge2|f|stem|v0.1.2",
    "rougeL": "rougeL|f|stem|v0.1.2",
    "token_f1": "token_f1|mean|lower,nopunct,noarticle",
    "meteor": "meteor|wn3.0|a.9b3g.5|v3.9",
    "level_accuracy": "level_accuracy|pack=echo:3f2a|v1",
    "level_macro_f1": "level_macro_f1|levels=-3,-2,-1,0,1,2,3|v1",
    "level_weighted_kappa": "level_weighted_kappa|linear|0,1,2,3|v1",
}


@dataclass(frozen=True)
class Made:
    """A made run: how good it is, and what is said of it."""

    model: str
    shots: int
    skill: float
    group: str
    family: str = ""
    parameters: float | None = None
    repeats: int = 1
    vary: str = ""
    status: str = ""
    seconds: float = 0.02

    @property
    def run(self) -> str:
        return f"{abs(hash_of(self.model + str(self.shots))):016x}"


def hash_of(text: str) -> int:
    return int.from_bytes(__import__("hashlib").sha256(text.encode()).digest()[:7], "big")


RUNS = (
    Made("hf:BioMistral-7B", 0, 0.55, "biomedical", "mistral", 7e9, seconds=1.4),
    Made("hf:BioMistral-7B", 3, 0.70, "biomedical", "mistral", 7e9, 3, "shots", seconds=1.9),
    Made("embedded:gemma3-270m", 0, 0.25, "general", "gemma", 270e6, seconds=0.8),
    Made("embedded:gemma3-270m", 3, 0.45, "general", "gemma", 270e6, 3, "shots", seconds=1.1),
    Made("embedded:smollm2", 0, 0.40, "general", "smollm2", 135e6, status="truncated", seconds=0.5),
    Made("embedded:smollm2", 3, 0.47, "general", "smollm2", 135e6, 3, "shots", seconds=0.7),
    Made("openai:large-model", 3, 0.86, "closed", "", None, 3, "sampling", "refused", seconds=0.9),
    Made("baseline:prior", 0, 0.38, "baseline"),
    Made("baseline:retrieval", 0, 0.74, "baseline"),
)


def write_scores(
    folder: Path,
    runs: tuple[Made, ...] = RUNS,
    *,
    patients: int = 40,
    items: int = 160,
    seed: int = 1,
    data_class: str = "restricted",
    tested: bool = True,
    change: Callable[[dict[str, Any]], None] | None = None,
    text: Mapping[str, str] | None = None,
) -> Path:
    """A SCORES folder as `clinqa score` leaves it; `change` edits scores.json before that."""
    rng = np.random.default_rng(seed)
    base = _items(rng, items, patients)
    figures: list[Figure] = []
    rows: dict[str, list[Any]] = {}
    by_run: dict[str, dict[str, np.ndarray]] = {}
    spreads, about = [], []
    weights = _weights(np.random.default_rng(seed + 1), base["group"])
    for made in runs:
        values = _answers(
            np.random.default_rng([seed, hash_of(made.model) % 2**31, made.shots]), base, made
        )
        by_run[made.run] = values
        figures += _figures(made, base, values, weights)
        _rows(rows, made, base, values, dict(text or {}))
        for metric in (
            "bleu",
            "rouge1",
            "rouge2",
            "rougeL",
            "token_f1",
            "meteor",
            "level_accuracy",
        ):
            size = 0.004 + 0.003 * len(metric) / 10 if made.repeats > 1 else None
            spreads.append(
                {
                    "run": made.run,
                    "metric": metric,
                    "kind": "sd",
                    "value": size,
                    "varied": made.vary or "nothing",
                    "repeats": made.repeats,
                }
            )
        about.append(_about(made, items))
    data = {
        "figures": [figure.as_json() for figure in figures],
        "tests": [t.as_json() for t in _tests(runs, by_run, weights, base)] if tested else [],
        "meta": {
            "dataset": {
                "name": "demo/dataset",
                "fingerprint": "8f14e45fceea167a5a36dedd4bea2543" * 2,
                "data_class": data_class,
                "split": "test",
                "items": items,
                "patients": patients,
                "clinqa": "0.1.0",
                "pack": "echo",
                "source_sha256": ["c4ca4238a0b923820dcc509a6f75849b" * 2],
            },
            "runs": about,
            "spreads": spreads,
            "family": {
                "metric": "token_f1",
                "comparisons": len(runs) * (len(runs) - 1) // 2,
                "alpha": 0.05,
                "method": "sign-flip of the per-patient difference",
            },
            "interval": {
                "level": 0.95,
                "method": "BCa bootstrap",
                "resamples": 1000,
                "unit": "patient",
                "seed": 0,
            },
            "names": {"lv_systolic_function": "left ventricular systolic dysfunction"},
            "short_references": 0.31,
            "human": None,
            "missing": [],
            "warnings": [],
        },
    }
    if change is not None:
        change(data)
    folder.mkdir(parents=True)
    (folder / "scores.json").write_text(json.dumps(data), encoding="utf-8")
    pq.write_table(pa.table(rows), folder / "items.parquet")
    manifest = Manifest(
        "score",
        data_class,
        {"seed": seed, "runs": [r.run for r in runs]},
        "0.1.0",
        command=["clinqa", "score", "demo/dataset", "runs/*", "--out", str(folder.name)],
        finished="2026-01-02T03:04:05Z",
        versions={"python": "3.11.7", "numpy": "2.4.6"},
    )
    (folder / "manifest.json").write_text(manifest.to_json(), encoding="utf-8")
    return seal(folder)


def seal(folder: Path) -> Path:
    """Write the manifest once more, with the files as they lie there."""
    path = folder / "manifest.json"
    files = [folder / name for name in ("items.parquet", "scores.json")]
    outputs = [FileRecord(f.name, sha256_file(f), f.stat().st_size) for f in files if f.is_file()]
    text = replace(Manifest.read(path), outputs=outputs).to_json()
    path.write_text(text, encoding="utf-8")
    return folder


def _items(rng: np.random.Generator, items: int, patients: int) -> dict[str, np.ndarray]:
    return {
        "id": np.array([f"{hash_of(f'item{n}'):016x}"[:16] for n in range(items)]),
        "group": rng.integers(0, patients, items),
        "category": np.array([ABNORMALITIES[n % len(ABNORMALITIES)] for n in range(items)]),
        "level": rng.choice(LEVELS, items),
        "seen": rng.random(items) < 0.7,
        "ease": rng.normal(0, 0.15, items),
    }


def _answers(
    rng: np.random.Generator, base: dict[str, np.ndarray], made: Made
) -> dict[str, np.ndarray]:
    skill = made.skill + base["ease"] + 0.12 * base["seen"] - 0.15 * (base["level"] != 0)
    draw = rng.random(len(skill))
    kind = np.where(
        draw < skill, 0, rng.choice([1, 2, 3, 4, 5], len(skill), p=[0.15, 0.2, 0.25, 0.2, 0.2])
    )
    overlap = np.clip(rng.normal(0.35 + 0.5 * (kind <= 1), 0.15), 0, 1)
    danger = np.full(len(skill), "", dtype=object)
    wrong = kind >= 2
    danger[wrong & (base["level"] == 3) & (rng.random(len(skill)) < 0.5)] = "severe_as_mild"
    danger[wrong & (base["level"] == -3) & (rng.random(len(skill)) < 0.6)] = "inadequate_as_normal"
    danger[(danger == "") & wrong & (rng.random(len(skill)) < 0.15)] = "abnormal_as_normal"
    status = np.full(len(skill), "answered", dtype=object)
    if made.status:
        status[(kind == 5) & (rng.random(len(skill)) < 0.5)] = made.status
    return {"kind": kind, "overlap": overlap, "danger": danger, "status": status}


def _weights(rng: np.random.Generator, group: np.ndarray) -> np.ndarray:
    names = np.unique(group)
    drawn = rng.multinomial(len(names), np.full(len(names), 1 / len(names)), size=300)
    return drawn[:, np.searchsorted(names, group)].astype(float)


def _mean(values: np.ndarray, weights: np.ndarray) -> tuple[float, float, float] | None:
    if not len(values):
        return None
    sums = weights.sum(axis=1)
    means = (weights @ values)[sums > 0] / sums[sums > 0]
    low, high = np.quantile(means, [0.025, 0.975])
    return float(values.mean()), float(low), float(high)


def _per_item(base: dict[str, np.ndarray], values: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    overlap, kind = values["overlap"], values["kind"]
    return {
        "bleu": overlap * 0.7,
        "rouge1": overlap,
        "rouge2": overlap * 0.8,
        "rougeL": overlap * 0.97,
        "token_f1": overlap * 0.95,
        "meteor": overlap * 0.9,
        "level_accuracy": (kind <= 1) * 1.0,
        "level_macro_f1": (kind <= 1) * 0.9,
        "level_weighted_kappa": (kind <= 1) * 0.85,
    }


def _figures(
    made: Made, base: dict[str, np.ndarray], values: dict[str, np.ndarray], weights: np.ndarray
) -> list[Figure]:
    figures: list[Figure] = []

    def add(metric: str, numbers: np.ndarray, where: np.ndarray, **subset: str) -> None:
        found = _mean(numbers[where].astype(float), weights[:, where])
        value, low, high = found or (None, None, None)
        figures.append(
            Figure(
                made.run,
                made.model,
                made.shots,
                metric,
                value,
                low,
                high,
                int(where.sum()),
                len(np.unique(base["group"][where])),
                SIGNATURES.get(metric, f"{metric}|v1"),
                subset,
            )
        )

    everything = np.ones(len(values["kind"]), dtype=bool)
    for metric, numbers in _per_item(base, values).items():
        add(metric, numbers, everything)
        if metric not in ("token_f1", "rougeL", "level_accuracy"):
            continue
        for part, where in (("seen", base["seen"]), ("unseen", ~base["seen"])):
            add(metric, numbers, where, seen=part)
        for name in ABNORMALITIES:
            add(metric, numbers, base["category"] == name, abnormality=name)
        for level in sorted(set(base["level"].tolist())):
            add(metric, numbers, base["level"] == level, level=str(level))
    for number, kind in enumerate(KINDS):
        add(
            f"error_{kind}",
            (values["kind"] == number) & (values["status"] == "answered"),
            everything,
        )
    at_risk = {
        "severe_as_mild": base["level"] == 3,
        "inadequate_as_normal": base["level"] == -3,
        "abnormal_as_normal": ~np.isin(base["level"], (-3, 0)),
        "invented": np.zeros(len(everything), dtype=bool),
    }
    answered = values["status"] == "answered"
    harmed = answered & (values["danger"] != "")
    add("error_dangerous_any", harmed, everything)
    add("error_dangerous_answered", harmed, answered)
    for kind in DANGERS:
        add(f"error_dangerous_{kind}", values["danger"] == kind, answered & at_risk[kind])
    for status in ("answered", "empty", "truncated", "refused", "error"):
        add(f"status_{status}", values["status"] == status, everything)
    return figures


def _tests(
    runs: tuple[Made, ...],
    by_run: dict[str, dict[str, np.ndarray]],
    weights: np.ndarray,
    base: dict[str, np.ndarray],
) -> list[PairedTest]:
    tests = []
    for n, one in enumerate(runs):
        for two in runs[n + 1 :]:
            gap = 0.95 * (by_run[one.run]["overlap"] - by_run[two.run]["overlap"])
            mean = _mean(gap, weights)
            assert mean is not None
            error = gap.std() / len(gap) ** 0.5
            p = float(np.exp(-0.5 * (mean[0] / error) ** 2))
            tests.append(
                PairedTest(one.run, two.run, "token_f1", *mean, p, None, len(gap), 40, "t")
            )
    tests.sort(key=lambda test: test.p)
    worst = 0.0
    for place, test in enumerate(tests):
        worst = max(worst, min(1.0, test.p * (len(tests) - place)))
        tests[place] = replace(test, p_holm=worst)
    return tests


def _rows(
    rows: dict[str, list[Any]],
    made: Made,
    base: dict[str, np.ndarray],
    values: dict[str, np.ndarray],
    text: dict[str, str],
) -> None:
    words = {
        0: "Normal",
        1: "Mildly dilated",
        2: "Moderately dilated",
        3: "Severely dilated",
        -3: "Not well seen",
        -2: "Abnormal",
    }
    for n, kind in enumerate(values["kind"].tolist()):
        category, level = str(base["category"][n]), int(base["level"][n])
        read = None if kind == 5 else level if kind <= 1 else 0 if level else 1
        answered = values["status"][n] == "answered"
        row = {
            "run": made.run,
            "model": made.model,
            "shots": made.shots,
            "repeat": 0,
            "item_id": str(base["id"][n]),
            "group": str(base["group"][n]),
            "category": category,
            "question": f"What does the report say of {category.replace('_', ' ')}?",
            "reference": text.get("reference", f"{words[level]} ({category})."),
            "source": text.get("source", f"{words[level]} ({category})."),
            "answer": text.get("answer", f"{words.get(read or 0)} it is.") if answered else "",
            "class": str(level),
            "read_class": None if read is None else str(read),
            "error_kind": KINDS[kind] if answered else None,
            "dangers": [values["danger"][n]] if values["danger"][n] else [],
            "answer_status": values["status"][n],
            "seen": bool(base["seen"][n]),
            "token_f1": float(values["overlap"][n]),
        }
        for key, value in row.items():
            rows.setdefault(key, []).append(value)


def _about(made: Made, items: int) -> dict[str, Any]:
    answers = items * made.repeats
    return {
        "run": made.run,
        "model": made.model,
        "shots": made.shots,
        "repeats": made.repeats,
        "vary": made.vary,
        "deterministic": made.repeats == 1,
        "group": made.group,
        "family": made.family,
        "parameters": made.parameters,
        "licence": "Apache-2.0" if made.family else None,
        "fingerprint": f"{hash_of(made.run):016x}" * 4,
        "seed": 0,
        "sampling": {
            "temperature": 0.0 if made.vary != "sampling" else 0.7,
            "top_p": 1.0,
            "max_tokens": 128,
        },
        "items": items,
        "input_tokens": answers * (90 + 120 * made.shots),
        "output_tokens": answers * 11,
        "seconds": answers * made.seconds,
        "wall_seconds": answers * made.seconds / 4,
        "versions": {"transformers": "5.24.0"} if made.family else {},
    }
