"""Reports to long-form questions, asked, scored, audited and shown."""

from __future__ import annotations

import csv
import io
import shutil

from golden.answers import drawn, long_form_answers
from golden.damage import change_a_row, cut, seal
from golden.work import Stage, Work

__all__ = ["STAGES"]

TEST = "data/test-00000-of-00001.parquet"
RUNS = "runs/retrieval runs/prior runs/good runs/wavering runs/shown"
ROWS = [
    ("A1", "P1", "FINDINGS: LEFT ATRIUM: Mild LA enlargement. MITRAL VALVE: Moderate (2+) MR."),
    ("A2", "P1", "FINDINGS: LEFT ATRIUM: Normal LA size. MITRAL VALVE: No MR."),
    ("A2", "P1", "FINDINGS: LEFT ATRIUM: Normal LA size. MITRAL VALVE: No MR."),
    ("A3", "P2", "FINDINGS: AORTIC VALVE: Severe aortic stenosis. No AR."),
    ("A4", "P3", "FINDINGS: AORTIC VALVE: No AS. Trace AR."),
    ("A4", "P3", "FINDINGS: AORTIC VALVE: Severe AS."),
    ("A5", "P4", ""),
    ("A6", "P4", "INDICATION: Severe MR."),
    ("A7", "", "FINDINGS: LEFT VENTRICLE: Mild LVH. EF 25 %. Mr. Smith, tel. 555-123-4567."),
    ("A8", "P5", "FINDINGS: TRICUSPID VALVE: Cannot assess. PERICARDIUM: No effusion."),
    ("A9", "P6", "FINDINGS: MITRAL VALVE: No MR. Severe MR. LEFT VENTRICLE: Markedly odd wall."),
]  # fmt: skip


def made_reports(work: Work) -> None:
    """The reports that the other stages use."""
    simulate = "simulate echo --studies 52 --seed 3 --out reports.csv"
    work.run("simulate, dry", f"{simulate} --dry-run")
    work.run("simulate", simulate, files=["reports.gold.jsonl", "reports.csv"])
    work.run("simulate again", simulate)
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([("accession", "mrn", "body"), *ROWS])
    work.write("own.csv", text.getvalue())
    for at, (_, _, body) in enumerate(ROWS[:5]):
        work.write(f"notes/note{at}.txt", body)
    (work.folder / "notes/broken.txt").write_bytes(b"FINDINGS: MITRAL VALVE: Mild MR \xff.\n")


def builds(work: Work) -> None:
    """Datasets of every profile and layout."""
    own = "--text-col body --subject-col mrn --study-col accession --workers 1"
    full = "build echo reports.csv --questions full --data-class public --seed 5 --workers 1"
    work.run("build full, dry", f"{full} --out full --dry-run")
    work.both("build full", f"{full} --out full", "full")
    work.both("build default", "build echo reports.csv --data-class restricted --workers 1 "
              "--out default", "default")  # fmt: skip
    work.run(
        "build published",
        "build echo reports.csv --profile published --context section --workers 1 --out published",
        "published",
    )
    work.run(
        "build strict, a sample",
        "build echo reports.csv --profile strict --sample-subjects 12 --engine python --json "
        "--questions full --unmentioned-share 0.05 --workers 1 --out strict",
        "strict",
    )
    work.both("build own columns", f"build echo own.csv {own} --out own", "own")
    work.run("build notes", "build echo notes --workers 1 --out of-notes", "of-notes")
    work.run("build limit", f"build echo own.csv {own} --limit 3 --out few", "few")
    work.run("build other seed there", f"{full} --seed 6 --out full")


def showing(work: Work) -> None:
    """show, verify and lexicon."""
    work.both("show full", "show full")
    work.both("show own", "show own --examples 3")
    work.run("show compare", "show default --compare published --out moved.csv",
             files=["moved.csv"])  # fmt: skip
    work.run("show compare as json", "show default --compare published --json")
    work.run("show plot", "show full --plot full.svg")
    work.both("verify full", "verify full --source reports.csv")
    work.run("verify own", "verify own --source own.csv")
    work.run("verify with another source", "verify own --source reports.csv")
    cut(work.copy("own", "spoilt-cut") / TEST)
    change_a_row(work.copy("full", "spoilt-answer") / TEST, "answer", "Severe.")
    spoilt = work.copy("full", "spoilt-sealed")
    change_a_row(spoilt / TEST, "group", work.items("full", "train")[0]["group"])
    change_a_row(spoilt / "labels.parquet", "level", 3)
    seal(spoilt)
    for name in ("cut", "answer", "sealed"):
        work.run(f"verify spoilt {name}", f"verify spoilt-{name}")
        work.run(f"verify spoilt {name} as json", f"verify spoilt-{name} --json")
    work.run("show spoilt", "show spoilt-cut")


def lexicon(work: Work) -> None:
    """A pack that learns the statements it did not know."""
    work.run("propose", "lexicon propose own --out unseen.tsv", files=["unseen.tsv"])
    work.run("propose few as json", "lexicon propose full --limit 5 --out few.tsv --json")
    text = (work.folder / "unseen.tsv").read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    head = next(at for at, line in enumerate(lines) if "statement" in line.split("\t"))
    at = lines[head].rstrip("\n").split("\t").index("accept")
    taken = []
    for line in lines[head + 1 :]:
        cells = line.rstrip("\n").split("\t")
        cells[at] = "yes"
        taken.append("\t".join(cells) + "\n")
    work.write("all.tsv", "".join([*lines[: head + 1], *taken]))
    work.run("accept what only a header names", "lexicon accept all.tsv --pack-dir pack0")
    taken = [line for line in taken if not line.startswith("PE\t")]
    work.write("accepted.tsv", "".join([*lines[: head + 1], *taken]))
    work.run("accept", "lexicon accept accepted.tsv --pack-dir pack", files=["pack/lexicon.tsv"])
    work.run("accept again as json", "lexicon accept accepted.tsv --pack-dir pack2 --json")
    work.write("bad.tsv", "structure\tstatement\tlabels\taccept\nMV\tOdd.\tnonsense=9\tyes\n")
    work.run("accept a bad row", "lexicon accept bad.tsv --pack-dir pack3")
    work.run(
        "build with pack",
        "build echo own.csv --text-col body --subject-col mrn --study-col accession --workers 1 "
        "--pack-dir pack --out packed",
        "packed",
    )


def asking(work: Work) -> None:
    """Runs of baselines and of made answerers."""
    items = work.items("full", "test")
    work.write_lines("good.jsonl", long_form_answers(items, "good", 70))
    work.write_lines("wavering.jsonl", long_form_answers(items, "wavering", 55, repeats=3))
    matches = [
        {"match": "severity", "output": "Moderate."},
        {"match": "adequate", "output": "Yes."},
        {"match": "mitral", "output": "Mild mitral regurgitation."},
        {"match": "stenosis", "output": "No stenosis."},
        {"match": None, "output": "The report does not say."},
    ]
    work.write_lines("shown.jsonl", matches)
    good = "predict full --model scripted:good.jsonl --out runs/good"
    work.run("predict, dry", f"{good} --dry-run")
    work.both("predict good", good, "runs/good")
    for name in ("retrieval", "prior"):
        told = f"predict full --model baseline:{name} --out runs/{name}"
        work.run(f"predict {name}", told, f"runs/{name}")
    work.run(
        "predict wavering",
        "predict full --model scripted:wavering.jsonl --repeats 3 --temperature 0.7 --limit 150 "
        "--out runs/wavering",
        "runs/wavering",
    )
    work.run(
        "predict with shots",
        "predict full --model scripted:shown.jsonl --shots 2 --repeats 2 --vary shots --limit 120 "
        "--stop xyz --max-tokens 40 --out runs/shown",
        "runs/shown",
    )
    work.run(
        "predict categories",
        "predict default --model baseline:prior --split validation --category mitral_regurgitation "
        "--category la_cavity --out runs/private --json",
        "runs/private",
    )
    work.run("predict restricted", "predict default --model baseline:retrieval --out runs/default",
             "runs/default")  # fmt: skip
    price = "as_of: 2026-11-01\ncurrency: EUR\nmodels:\n  openai:a: {input: 1.0, output: 4.0}\n"
    work.write("prices.yaml", price)
    work.run(
        "predict elsewhere, dry",
        "predict full --model openai:a --base-url http://127.0.0.1:9/v1 --prices prices.yaml "
        "--shots 1 --dry-run --out x",
    )


def scoring(work: Work) -> None:
    """Scores of all runs, in all families."""
    score = f"score full {RUNS} --resamples 100 --out scores"
    work.run("score, dry", f"{score} --dry-run")
    work.both("score all", score, "scores")
    items = work.items("full", "test")
    text = io.StringIO()
    write = csv.writer(text, lineterminator="\n").writerow
    write(("item_id", "verdict", "run"))
    for at, item in enumerate(items):
        if drawn(6, "human", item["id"]) == 0:
            for run in ("good", "retrieval"):
                write((item["id"], ("right", "wrong", "yes", "wrong_level")[at % 4], run))
    work.write("human.csv", text.getvalue())
    work.run(
        "score with people",
        "score full runs/good runs/retrieval runs/prior --family vs:good --primary level_accuracy "
        "--human human.csv --resamples 100 --seed 4 --out scores-human --json",
        "scores-human",
    )
    work.run(
        "score a limit",
        "score full runs/good runs/prior --limit 60 --data-class restricted --resamples 100 "
        "--out scores-few",
        "scores-few",
    )
    work.run("score restricted", "score default runs/default --resamples 100 --out scores-default",
             "scores-default")  # fmt: skip
    shutil.rmtree(work.folder / "scores-few")


def auditing(work: Work) -> None:
    """Audits over made patients and tracts."""
    cohort = "simulate cohort full --repeats 2 --seed 2 --on sex --drop 0.3 --out cohort"
    work.run("cohort, dry", f"{cohort} --dry-run")
    work.run("cohort", cohort, "cohort")
    for name in ("fair", "unfair"):
        work.run(
            f"predict {name}",
            f"predict full --model scripted:cohort/{name}.jsonl --repeats 2 --vary sampling "
            f"--temperature 1 --out runs/{name}",
        )
    few = "--resamples 100 --permutations 100 --min-patients 3"
    audit = (
        "audit full runs/fair runs/unfair --groups cohort/patients.csv --groups cohort/tracts.csv "
        f"--metric level_accuracy --metric token_f1 --intersect sex,insurance {few} --out audit"
    )
    work.run("audit, dry", f"{audit} --dry-run")
    work.both("audit", audit, "audit")
    work.run(
        "audit of scores",
        "audit full runs/good runs/retrieval --scores scores-human --groups cohort/patients.csv "
        "--dimension age --dimension sex --continuous age --quantiles-over items --missing F "
        f"--metric error_dangerous_any {few} --out audit-scores --json",
        "audit-scores",
    )
    work.run(
        "audit with a map",
        "audit full runs/good --groups cohort/tracts.csv --map cohort/patients.csv "
        f"{few} --out audit-map",
        "audit-map",
    )


def pages(work: Work) -> None:
    """Pages of scores and audits, and exports."""
    work.run("report", "report scores -o page.html", files=["page.html"])
    work.run("report as json", "report scores -o page2.html --json")
    work.run(
        "report with audit",
        "report scores-human audit -o both.html --title 'Both together'",
        files=["both.html"],
    )
    work.run(
        "report with figures",
        "report scores-human audit-scores -o figures.html --figures figures --json",
        "figures",
    )
    work.run("report of an audit", "report audit-scores -o audit.html", files=["audit.html"])
    work.run(
        "report without examples",
        "report scores-default --no-examples -o private.html",
        files=["private.html"],
    )
    with work.needing("true_false"):
        for to in ("chat", "lm-eval", "inspect"):
            work.wrong(f"export {to}", f"export full --to {to}")


STAGES: tuple[Stage, ...] = (
    made_reports, builds, showing, lexicon, asking, scoring, auditing, pages,
)  # fmt: skip
