"""The page's parts on model size, biomedical against general models, and other sets."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from clinqa.asking.predict import predict
from clinqa.asking.predict_options import PredictOptions
from clinqa.present.page_options import PageOptions
from clinqa.present.report import write_report
from clinqa.scoring.score_options import ScoreOptions
from clinqa.scoring.score_runs import score
from scoring.binary.made_statements import dataset, repeated

#: last digits of the pairs that a model knows: the larger, the more
KNOWN = {
    "qwen2.5-0.5b": "01", "qwen2.5-7b": "01234", "qwen2.5-32b": "01234567",
    "mistral-7b": "0123", "biomistral-7b": "012345678",
}  # fmt: skip


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], str, Path]:
    folder = tmp_path_factory.mktemp("sizes")
    sets = [dataset(folder / name, pairs=n) for name, n in (("ours", 60), ("bank", 40))]
    rows = {
        row["question"]: row["label"]
        for data in sets
        for row in data.items("train", ["question", "label"]).to_pylist()
    }
    runs: dict[str, list[Path]] = {}
    for name, digits in KNOWN.items():
        script = folder / f"{name}.jsonl"
        script.write_text("\n".join(
            json.dumps({"match": text,
                        "output": str(label if text.split()[3][-1] in digits else not label)})
            for text, label in rows.items()
        ))  # fmt: skip
        for data in sets:
            out = folder / "runs" / data.folder.name / name
            predict(data.folder, out, PredictOptions(model=f"scripted:{script}", split="train"))
            runs.setdefault(data.folder.name, []).append(out)
    runs["ours"].append(repeated(folder / "thrice", sets[0], lambda n, label, k: n % 2 == k % 2))
    score(folder / "bank", runs["bank"], folder / "s-bank", ScoreOptions(draws=200))
    options = ScoreOptions(against=(folder / "s-bank",), draws=200)
    score(folder / "ours", runs["ours"], folder / "s", options)
    write_report([folder / "s"], folder / "page.html")
    panel = json.loads((folder / "s/scores.json").read_text())["meta"]["panel"]
    return panel, (folder / "page.html").read_text(encoding="utf-8"), folder / "s"


def test_models_of_a_family_stand_by_size_with_intervals(
    scored: tuple[dict[str, Any], str, Path],
) -> None:
    panel, html, _ = scored
    among = panel["scale"]["Qwen2.5"]
    assert [one["parameters"] / 1e9 for one in among] == [0.494, 7.62, 32.8]
    assert among[0]["accuracy"] < among[1]["accuracy"] < among[2]["accuracy"]
    assert "Mistral" not in panel["scale"]  # its two are of one size
    assert 'id="chart-scale-0-title"' in html and "0.494 B" in html and "32.8 B" in html
    chart = html[html.index('id="chart-scale-0-title"') :].split("</svg>")[0]
    assert chart.count("whisker") == 3


def test_a_biomedical_model_is_compared_with_general_ones_of_its_size(
    scored: tuple[dict[str, Any], str, Path],
) -> None:
    panel, html, _ = scored
    pairs = {
        (one["medical"].rpartition("-")[0], one["general"].rpartition("-")[0]): one
        for one in panel["medical_general"]
    }
    assert set(pairs) == {("biomistral-7b", "mistral-7b"), ("biomistral-7b", "qwen2.5-7b")}
    one = pairs["biomistral-7b", "mistral-7b"]
    assert one["low"] <= one["difference"] <= one["high"] and one["difference"] > 0
    assert 'id="table-kind"' in html


def test_ranks_on_both_sets_and_what_repeats_mean_stand_on_the_page(
    scored: tuple[dict[str, Any], str, Path],
) -> None:
    _, html, _ = scored
    table = html[html.index('id="table-ranks"') :].split("</table>")[0]
    assert len(re.findall(r"<tr>", table)) == 1 + len(KNOWN) and "(1)" in table
    assert 'id="table-tau"' in html
    assert "asked up to 3 times" in html
    sections = re.findall(r'<h2 id="([a-z]+)"', html)
    assert len(set(sections)) == len(sections) and sections[-2:] == ["transfer", "how"]
    assert "both right</li>" in html  # what the colours of the bars are


def test_figures_and_tables_for_a_paper_come_with_the_page(
    scored: tuple[dict[str, Any], str, Path], tmp_path: Path
) -> None:
    pytest.importorskip("matplotlib")
    _, _, scores = scored
    written = []
    for name in ("one", "two"):
        write_report([scores], tmp_path / f"{name}.html", PageOptions(figures=tmp_path / name))
        files = sorted(p for p in (tmp_path / name).rglob("*.*") if p.name != "manifest.json")
        written.append({p.relative_to(tmp_path / name).as_posix(): p.read_bytes() for p in files})
    assert written[0] == written[1]
    for name in ("results", "planes", "kappa", "difficulty", "scale"):
        assert written[0][f"figures/{name}.svg"].startswith(b"<?xml")
        assert written[0][f"figures/{name}.pdf"].startswith(b"%PDF")
    assert b"qwen2.5-7b" in written[0]["tables/main.tex"]
    assert written[0]["tables/kappa.csv"] == (scores / "tables/kappa.csv").read_bytes()
