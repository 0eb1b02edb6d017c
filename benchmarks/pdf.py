"""Pages of PDFs: text and pictures, clinqa's against pdfplumber's, in one run.

    python benchmarks/pdf.py [PDF or FOLDER ...] [--pages N] [--rounds N]

Without arguments the ECG papers beside the project are read (../shared/data/ecg/pdf) and the
primer. Each contender is a fresh process that does one thing and is timed from the first file to
the last, its imports left out:

    clinqa      the whole page: characters, words, order, gate, cleaning (what the child does)
    careful     pdfplumber, x_tolerance_ratio=0.15 and use_text_flow, the upright characters that
                are shown (sideways labels come out letter by letter, and text outside the page)
    defaults    pdfplumber as it comes
    floor       pypdfium2's own text, words and columns as they fall
    clinqa-png, pdfplumber-png   each page as a picture of 150 dpi

Agreement is the F1 of the bags of tokens of a page between clinqa's words, before headers are
taken out and broken words joined, and careful's. Pages that the gate sends to vision because they
hold no readable text are counted apart: there is nothing to agree on.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from measure import Run, median_of, run_command, say

HERE = Path(__file__).resolve().parent
PAPERS = HERE.parent.parent / "shared" / "data" / "ecg" / "pdf"
PRIMER = HERE.parent / "src" / "clinqa" / "packs" / "ecg" / "primer" / "primer.pdf"
PIXELS, DPI = 40_000_000, 150
LETTERS = re.compile(r"[^\W\d_]+")

Plan = list[tuple[str, list[int]]]


def clinqa_text(plan: Plan) -> Iterator[dict[str, Any]]:
    from clinqa.sources.pdf.clean import page_text, vocabulary
    from clinqa.sources.pdf.order import PageLine
    from clinqa.sources.pdf.parse import open_document

    for name, pages in plan:
        document, _, _ = open_document(Path(name), _md5(name), ())
        assert document is not None, name
        for number in pages:
            raw = document.page(number)
            lines = [PageLine(*fields) for fields in raw["lines"]]
            page_text(lines, vocabulary(line.text for line in lines))
            yield {
                "text": "\n".join(line.text for line in lines),
                "fault": raw["fault"],
                "engine": raw["engine"],
            }
        document.close()


def plumber_text(plan: Plan, careful: bool) -> Iterator[dict[str, Any]]:
    import pdfplumber

    for name, pages in plan:
        with pdfplumber.open(name) as document:
            for number in pages:
                page = document.pages[number - 1]
                if careful:
                    page = page.filter(within(page.cropbox))
                    text = page.extract_text(x_tolerance_ratio=0.15, use_text_flow=True)
                else:
                    text = page.extract_text()
                yield {"text": text}
                page.close()


def within(box: tuple[float, float, float, float]) -> Callable[[dict[str, Any]], bool]:
    """Upright, and on the part of the page that is shown."""

    def keeps(thing: dict[str, Any]) -> bool:
        x, y = (thing["x0"] + thing["x1"]) / 2, (thing["top"] + thing["bottom"]) / 2
        inside = box[0] - 1 <= x <= box[2] + 1 and box[1] - 1 <= y <= box[3] + 1
        return inside and thing.get("upright", True)

    return keeps


def floor_text(plan: Plan) -> Iterator[dict[str, Any]]:
    import pypdfium2

    for name, pages in plan:
        document = pypdfium2.PdfDocument(name)
        for number in pages:
            page = document[number - 1]
            yield {"text": page.get_textpage().get_text_range()}
            page.close()
        document.close()


def clinqa_png(plan: Plan) -> Iterator[dict[str, Any]]:
    from clinqa.sources.pdf.parse import open_document

    for name, pages in plan:
        document, _, _ = open_document(Path(name), _md5(name), ())
        assert document is not None, name
        for number in pages:
            yield {"bytes": len(document.image(number, DPI, PIXELS, 0).png)}
        document.close()


def plumber_png(plan: Plan) -> Iterator[dict[str, Any]]:
    import io

    import pdfplumber

    for name, pages in plan:
        with pdfplumber.open(name) as document:
            for number in pages:
                out = io.BytesIO()
                document.pages[number - 1].to_image(resolution=DPI).save(out, format="PNG")
                yield {"bytes": len(out.getvalue())}


def _md5(name: str) -> str:
    import hashlib

    return hashlib.md5(Path(name).read_bytes(), usedforsecurity=False).hexdigest()


CONTENDERS: dict[str, Callable[[Plan], Iterator[dict[str, Any]]]] = {
    "clinqa": clinqa_text,
    "careful": lambda plan: plumber_text(plan, careful=True),
    "defaults": lambda plan: plumber_text(plan, careful=False),
    "floor": floor_text,
    "clinqa-png": clinqa_png,
    "pdfplumber-png": plumber_png,
}


def contend(name: str, plan_file: Path, out: Path) -> None:
    """What a contender's process does."""
    plan: Plan = json.loads(plan_file.read_text())
    started = time.process_time()
    answers = list(CONTENDERS[name](plan[:1]))  # libraries are loaded and warm
    warm = time.process_time() - started
    started = time.process_time()
    answers = list(CONTENDERS[name](plan))
    taken = time.process_time() - started
    out.write_text(json.dumps(answers))
    say(seconds=taken, warm=warm)


def measured(name: str, plan: Plan, rounds: int) -> tuple[Run, list[dict[str, Any]]]:
    """One contender's runs and what it gave."""
    with tempfile.TemporaryDirectory() as folder:
        plan_file, out = Path(folder, "plan.json"), Path(folder, "out.json")
        plan_file.write_text(json.dumps(plan))
        command = [sys.executable, str(Path(__file__)), "--contender", name]
        command += [str(plan_file), str(out)]
        runs = [run_command(command) for _ in range(rounds)]
        return median_of(runs), json.loads(out.read_text())


def planned(inputs: list[Path], most: int) -> Plan:
    """The files and which pages of each: all, or `most` of them evenly spread."""
    import pypdfium2

    files: list[Path] = []
    for path in inputs:
        files += sorted(path.rglob("*.pdf")) if path.is_dir() else [path]
    plan: Plan = []
    for file in files:
        document = pypdfium2.PdfDocument(file)
        count = len(document)
        document.close()
        step = max(1, -(-count // most))
        plan.append((str(file), list(range(1, count + 1, step))))
    return plan


def tokens(text: str) -> Counter[str]:
    """A page's tokens with what is a matter of taste made alike: ligatures, hyphens, spaces, and
    how a character without a meaning is written."""
    from clinqa.sources.pdf.clean import LOST, SOFT, clean_line

    text = re.sub(r"\(cid:\d+\)", LOST, text)
    return Counter(clean_line(text.replace("\n", " ")).replace(SOFT, "-").split())


def f1(ours: str, theirs: str) -> float:
    """Agreement of two bags of tokens."""
    a, b = tokens(ours), tokens(theirs)
    both = sum((a & b).values())
    return 1.0 if not a and not b else 2 * both / (sum(a.values()) + sum(b.values()))


def long_words(pages: list[dict[str, Any]], known: frozenset[str]) -> tuple[int, int]:
    """Runs of over 18 letters, and those of them that no list of words has."""
    words = [word for page in pages for word in LETTERS.findall(page["text"]) if len(word) > 18]
    return len(words), sum(word.lower() not in known for word in words)


def word_list() -> frozenset[str]:
    """The system's list of English words, where it has one, and what the papers' authors use."""
    own = "electrocardiographic electrocardiography electrocardiograms electroencephalogram"
    path = Path("/usr/share/dict/words")
    listed = path.read_text(encoding="utf-8").lower().split() if path.exists() else []
    return frozenset([*listed, *own.split()])


def whole_lines(answers: dict[str, list[dict[str, Any]]]) -> None:
    """Lines of prose that pdfplumber's defaults print beside the other column's, or torn."""
    lines = torn = 0
    for ours, theirs in zip(answers["clinqa"], answers["defaults"], strict=True):
        packed = {"".join(line.split()) for line in theirs["text"].split("\n")}
        for line in ours["text"].split("\n"):
            if len(line) >= 25:
                lines += 1
                torn += "".join(line.split()) not in packed
    print(f"lines of prose that stand by themselves with defaults: {1 - torn / max(1, lines):.1%}")
    print(f"(of {lines} lines as clinqa reads them)")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("inputs", nargs="*", type=Path)
    parser.add_argument("--pages", type=int, default=10**6, help="of each file at most")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--only", choices=["text", "pictures"])
    parser.add_argument("--contender", choices=CONTENDERS, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.contender:
        contend(chosen.contender, *chosen.inputs)
        return
    os.environ["OMP_NUM_THREADS"] = "1"
    plan = planned(
        chosen.inputs or [path for path in (PAPERS, PRIMER) if path.exists()], chosen.pages
    )
    pages = sum(len(numbers) for _, numbers in plan)
    print(f"{len(plan)} files, {pages} pages; CPU seconds, imports left out")
    names = [
        name
        for name in CONTENDERS
        if chosen.only is None or name.endswith("-png") == (chosen.only == "pictures")
    ]
    found = {name: measured(name, plan, chosen.rounds) for name in names}
    for name, (run, _) in found.items():
        said = run.said["seconds"]
        print(
            f"  {name:<15} {said:8.3f} s {1000 * said / pages:8.1f} ms a page {run.peak_mb:6.0f} MB"
        )
    seconds = {name: run.said["seconds"] for name, (run, _) in found.items()}
    if "clinqa" in seconds:
        print(f"text: careful / clinqa = {seconds['careful'] / seconds['clinqa']:.1f}")
        print(f"text: careful / floor  = {seconds['careful'] / seconds['floor']:.1f}")
        compare(plan, {name: answers for name, (_, answers) in found.items()})
    if "clinqa-png" in seconds:
        ratio = seconds["pdfplumber-png"] / seconds["clinqa-png"]
        print(f"pictures: pdfplumber / clinqa = {ratio:.1f}")


def compare(plan: Plan, answers: dict[str, list[dict[str, Any]]]) -> None:
    """Agreement page by page, and glued words."""
    places = [(Path(name).name, number) for name, numbers in plan for number in numbers]
    judged, apart = [], Counter[str]()
    for place, ours, theirs in zip(places, answers["clinqa"], answers["careful"], strict=True):
        if ours["fault"]:
            apart[ours["fault"]] += 1
        else:
            judged.append((f1(ours["text"], theirs["text"]), place))
    good = sum(value >= 0.99 for value, _ in judged)
    share = good / max(1, len(judged))
    print(f"token F1 >= 0.99 on {good} of {len(judged)} pages ({share:.1%}); apart: {dict(apart)}")
    for value, place in sorted(judged)[:8]:
        if value < 0.99:
            print(f"  {value:.4f} {place[0]} page {place[1]}")
    engines = Counter(page["engine"] for page in answers["clinqa"])
    print(f"engines: {dict(engines)}")
    whole_lines(answers)
    known = word_list()
    for name in ("defaults", "careful", "floor", "clinqa"):
        readable = [
            page
            for page, ours in zip(answers[name], answers["clinqa"], strict=True)
            if not ours["fault"]
        ]
        total, unknown = long_words(readable, known)
        print(f"words over 18 letters, {name}: {total}, in no list of words: {unknown}")


if __name__ == "__main__":
    main()
