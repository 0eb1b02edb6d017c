"""Reference pages and banks to pairs of statements; a panel of answerers, ensembles, audits."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType

from golden.answers import true_false_answers
from golden.damage import change_a_row, cut, seal
from golden.work import Stage, Work

__all__ = ["STAGES"]

ROOT = Path(__file__).resolve().parents[2]
TEST = "data/test-00000-of-00001.parquet"
NAMES = ("one", "two", "three", "prior", "words")
P_WAVE = "The P wave represents depolarization of the atria."
PR = "The normal PR interval is 120 to 200 ms."
PAGE = (
    f"{P_WAVE} {PR} The QRS complex represents depolarization of the ventricles. The sinus node "
    "lies in the right atrium. The T wave is upright in lead II. Hypercalcemia shortens the QT "
    "interval. Sinus bradycardia is a sinus rhythm below 60 beats per minute. The U wave follows "
    "the T wave. The PR interval lengthens with age in adults."
)


def documents(work: Work) -> None:
    """The primer, a PDF for each of its chapters, and small ones with a page that is no text."""
    maker = _maker()
    (primer,) = (ROOT / "src").rglob("primer.txt")
    chapters = primer.read_text(encoding="utf-8").split("\n# ")
    (work.folder / "papers").mkdir()
    for at, chapter in enumerate(chapters[1:]):
        (work.folder / f"papers/chapter{at:02}.pdf").write_bytes(maker.pdf_of(f"# {chapter}"))
    (work.folder / "page.pdf").write_bytes(maker.pdf_of(PAGE))
    (work.folder / "picture.pdf").write_bytes(maker.pdf_of("Figure of an ECG"))
    (work.folder / "broken.pdf").write_bytes(b"%PDF-1.4\nnothing of a PDF\n")


def _maker() -> ModuleType:
    path = ROOT / "scripts" / "make_primer.py"
    spec = importlib.util.spec_from_file_location("make_primer", path)
    if spec is None or spec.loader is None:
        raise ImportError(path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def builds(work: Work) -> None:
    """Statements by rules."""
    build = "build ecg papers broken.pdf --workers 1 --out ecg"
    work.run("build, dry", f"{build} --dry-run")
    work.both("build", build, "ecg")
    work.run(
        "build by document",
        "build ecg papers/chapter0[0-3].pdf --split-by document --negation-cap 0.1 --limit 5 "
        "--seed 3 --data-class restricted --workers 1 --out by-document --json",
        "by-document",
    )
    work.both("show", "show ecg")
    work.run("show examples", "show by-document --examples 2")
    work.run("verify", "verify ecg --source papers --source broken.pdf")
    work.run("verify as json", "verify by-document --json")
    work.run("verify with another source", "verify by-document --source page.pdf")


def by_models(work: Work) -> None:
    """Statements and transcripts that made models wrote."""
    good = {"question": P_WAVE, "label": "True", "source": P_WAVE, "topic": "waves"}
    false = {"question": PR.replace("200", "300"), "label": "False", "source": PR, "topic": "waves"}
    qrs = "The QRS complex represents depolarization of the ventricles."
    also = {"question": qrs, "label": "True", "source": qrs, "topic": "waves"}
    odd = {"question": P_WAVE, "label": "Maybe", "source": P_WAVE, "topic": "waves"}
    lost = {"question": "The T wave is flat.", "label": "True", "source": "Flat T.", "topic": "x"}
    reply = json.dumps({"questions": [good, false, also, odd, lost, 3]})
    lines = [
        {"match": "the same answer again", "output": "still no JSON"},
        {"match": "Statement: The P wave", "output": '{"verdict": "no"}'},
        {"match": "Statement:", "output": '{"verdict": "yes"}'},
        {"match": None, "output": f"```json\n{reply}\n```"},
    ]
    work.write_lines("writer.jsonl", lines)
    llm = "build ecg page.pdf --generator llm --model scripted:writer.jsonl --workers 1"
    work.run("build by a model, dry", f"{llm} --out llm --dry-run")
    work.run("build by a model", f"{llm} --out llm", "llm")
    work.run("build by a model with a judge", f"{llm} --judge --out judged --json", "judged")
    work.write_lines("eyes.jsonl", [{"match": None, "output": f"```\n{PAGE}\n```"}])
    seen = "build ecg picture.pdf --vision-model scripted:eyes.jsonl --workers 1"
    work.run("build from a picture", f"{seen} --out seen", "seen")
    work.run("build from a picture, let in", f"{seen} --accept-vision --out let-in", "let-in")
    work.run("build from a picture, unseen", "build ecg picture.pdf --workers 1 --out unseen")


def of_banks(work: Work) -> None:
    """Pairs from questions with an official key."""
    rows = [
        {
            "id": f"q{n}",
            "question": f"Made question {n}: which ECG finding is meant by item {n}?",
            "opa": f"First sign {n}", "opb": f"Second sign {n}", "opc": f"Third sign {n}",
            "opd": "All of the above" if n == 5 else f"Fourth sign {n}",
            "cop": n % 4 + 1, "choice_type": "single", "subject_name": "Medicine",
            "topic_name": None, "exp": None,
        }
        for n in range(14)
    ]  # fmt: skip
    rows[6]["question"] = "Which bone is the longest?"
    rows[7]["question"] = "The ECG in the picture below shows which rhythm?"
    work.write_lines("medmcqa.jsonl", [*rows, rows[0]])
    build = "build bank-tf medmcqa.jsonl --out bank-tf"
    work.run("build bank-tf, dry", f"{build} --dry-run")
    work.both("build bank-tf", build, "bank-tf")
    work.both("show bank-tf", "show bank-tf")
    work.run("verify bank-tf", "verify bank-tf --source medmcqa.jsonl")


def asking(work: Work) -> None:
    """The same five answerers on validation, on test and on the bank; one with repeats."""
    for split in ("validation", "test"):
        items = work.items("ecg", split)
        for name, skill in (("one", 82), ("two", 70), ("three", 60)):
            work.write_lines(f"{name}.{split}.jsonl", true_false_answers(items, name, skill))
        repeats = true_false_answers(items, "often", 75, repeats=3)
        work.write_lines(f"often.{split}.jsonl", repeats)
    for name in ("one", "two", "three"):
        lines = [
            (work.folder / f"{name}.{split}.jsonl").read_text(encoding="utf-8")
            for split in ("validation", "test")
        ]
        work.write(f"{name}.jsonl", "".join(lines))
    work.write("often.jsonl", (work.folder / "often.test.jsonl").read_text(encoding="utf-8"))
    models = {
        "one": "scripted:one.jsonl", "two": "scripted:two.jsonl", "three": "scripted:three.jsonl",
        "prior": "baseline:prior", "words": "baseline:bag-of-words",
    }  # fmt: skip
    work.run("predict, dry",
             "predict ecg --model scripted:one.jsonl --shots 2 --dry-run --out x")  # fmt: skip
    for split in ("validation", "test"):
        for name, model in models.items():
            told = f"predict ecg --model {model} --split {split} --out {split}/{name}"
            work.run(f"predict {name} on {split}", told, f"{split}/{name}")
    work.run("predict again", "predict ecg --model scripted:one.jsonl --out test/one --json")
    work.run(
        "predict often",
        "predict ecg --model scripted:often.jsonl --repeats 3 --temperature 1 --out often",
        "often",
    )
    work.write_lines("always.jsonl", [{"match": "not", "output": "False"},
                                      {"match": None, "output": "True"}])  # fmt: skip
    work.run(
        "predict with shots",
        "predict ecg --model scripted:always.jsonl --shots 3 --repeats 2 --vary shots --limit 30 "
        "--out always",
        "always",
    )
    work.run("predict the bank with words",
             "predict bank-tf --model baseline:bag-of-words --train-from ecg --out bank/words",
             "bank/words")  # fmt: skip
    work.run("predict the bank", "predict bank-tf --model baseline:prior --out bank/prior")


def scoring(work: Work) -> None:
    """Panels: named ensembles, a search on validation and its winner, another set."""
    few = "--resamples 100"
    test, found = (
        " ".join(f"{split}/{name}" for name in NAMES) for split in ("test", "validation")
    )
    search = f"score ecg {found} --search 3 {few} --out found"
    work.run("score, dry", f"{search} --dry-run")
    work.both("score a search", search, "found")
    work.both(
        "score all",
        f"score ecg {test} --ensemble best=one,two,three --ensemble pair=prior,words "
        f"--ensemble-from found --against found {few} --out scores",
        "scores",
    )
    work.run(
        "score a family",
        f"score ecg test/one test/two often always --family vs:one --seed 2 {few} --out family",
        "family",
    )
    work.run("score the bank",
             f"score bank-tf bank/words bank/prior --against scores {few} --out bank-scores",
             "bank-scores")  # fmt: skip
    for name, told in {
        "a search on test": f"{test} --search 3",
        "an ensemble of nobody": f"{test} --ensemble a=one,nobody",
        "an ensemble of one": f"{test} --ensemble a=one",
        "a search of too many": f"{found} --search 9",
        "another primary": f"{test} --primary token_f1",
        "an unknown primary": f"{test} --primary cleverness",
        "against itself": f"{test} --against scores",
        "from no search": f"{test} --ensemble-from scores",
        "of another dataset": "bank/words",
        "of two splits": "test/one validation/two",
        "twice the same": "test/one test/one",
        "an unknown family": f"{test} --family vs:nobody",
    }.items():
        work.wrong(f"score {name}", f"score ecg {told} {few}")
    with work.needing("long_form"):
        work.wrong("score with people", f"score ecg {test} --human none.csv {few}")
    with work.needing("multiple_choice"):
        work.wrong("score with a reader", f"score ecg {test} --reader string {few}")


def auditing(work: Work) -> None:
    """Groups of documents."""
    ids = sorted({item["source_id"] for item in work.items("ecg", "test")})
    kinds = ("old", "new", "newest")
    rows = [f"{one},{kinds[at % 3]},{1990 + at}\n" for at, one in enumerate(ids)]
    work.write("documents.csv", "".join(["source_id,age,year\n", *rows]))
    few = "--resamples 100 --permutations 100 --min-patients 2"
    audit = "audit ecg test/one test/words often --groups documents.csv"
    work.run("audit, dry", f"{audit} {few} --out audit --dry-run")
    work.both("audit", f"{audit} --dimension age --metric accuracy --metric sensitivity "
              f"{few} --out audit", "audit")  # fmt: skip
    work.run(
        "audit of scores",
        "audit ecg test/one test/two --groups documents.csv --scores scores --continuous year "
        f"{few} --out audit-scores --json",
        "audit-scores",
    )
    work.wrong("audit another metric", f"{audit} --metric token_f1 {few}")
    work.wrong("audit tracts", f"{audit} --quantiles-over tracts {few}")


def pages(work: Work) -> None:
    """Pages and exports."""
    work.run("report", "report scores -o page.html --figures figures", "figures",
             files=["page.html"])  # fmt: skip
    work.run("report with audit", "report family audit --title Both -o both.html",
             files=["both.html"])  # fmt: skip
    work.run("report of the search", "report found --no-examples -o found.html --json",
             files=["found.html"])  # fmt: skip
    for to in ("chat", "lm-eval", "inspect"):
        work.run(f"export {to}", f"export ecg --to {to} --out export-{to}", f"export-{to}")
    work.run("export restricted", "export by-document --to chat --out private --json", "private")
    work.wrong("export to nowhere", "export ecg --to nowhere")


def damaged(work: Work) -> None:
    """What verify says of folders that were spoilt."""
    cut(work.copy("ecg", "spoilt-cut") / TEST)
    spoilt = work.copy("ecg", "spoilt-label")
    change_a_row(spoilt / TEST, "label", lambda label: not label)
    spoilt = work.copy("ecg", "spoilt-sealed")
    change_a_row(spoilt / TEST, "pair_id", "0123456789abcdef")
    change_a_row(spoilt / "data/train-00000-of-00001.parquet", "question", "Nothing is so.")
    seal(spoilt)
    for name in ("cut", "label", "sealed"):
        work.both(f"verify spoilt {name}", f"verify spoilt-{name}")
    work.run("show spoilt", "show spoilt-cut")
    work.run("predict spoilt", "predict spoilt-label --model baseline:prior --out x")


STAGES: tuple[Stage, ...] = (
    documents, builds, by_models, of_banks, asking, scoring, auditing, pages, damaged,
)  # fmt: skip
