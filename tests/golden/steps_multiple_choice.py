"""Question banks to items by specialty, asked in several orders, read in several ways; terms."""

from __future__ import annotations

import json
from typing import Any

from golden.answers import choice_answers, drawn
from golden.damage import change_a_row, cut, seal
from golden.work import Stage, Work

__all__ = ["STAGES"]

TEST = "data/test-00000-of-00001.parquet"
RUNS = "runs/good runs/placed runs/longest runs/prior"
SPECIALTIES = {
    "Cardiology": ("chest pain", "headache and anemia", "a murmur"),
    "Neurology": ("headache", "cognitive impairment", "weak legs"),
    "Respiratory medicine": ("pneumonia", "a cough", "breathlessness"),
    "Pediatrics": ("a rash", "fever and headaches", "no weight gain"),
}
WORDS = ("rest", "aspirin", "surgery", "dapsone", "a culture", "warm baths", "iron", "penicillin",
         "an echocardiogram", "nothing", "physiotherapy", "a lumbar puncture")  # fmt: skip
OBO = """format-version: 1.2
data-version: made/2026-01-01
""" + "".join(
    f"\n[Term]\nid: HP:{number}\nname: {name}\n{more}"
    for number, name, more in (
        ("0000118", "Phenotypic abnormality", ""),
        ("0000707", "Abnormality of the nervous system", "is_a: HP:0000118\n"),
        ("0002086", "Abnormality of the respiratory system", "is_a: HP:0000118\n"),
        ("0001871", "Abnormality of blood and blood-forming tissues", "is_a: HP:0000118\n"),
        ("0001626", "Abnormality of the cardiovascular system", "is_a: HP:0000118\n"),
        ("0100543", "Cognitive impairment", "is_a: HP:0000707\n"),
        ("0002315", "Headache", 'synonym: "Headaches" EXACT plural_form []\nis_a: HP:0000707\n'),
        ("0002090", "Pneumonia", "is_a: HP:0002086\n"),
        ("0012735", "Cough", "is_a: HP:0002086\n"),
        ("0001903", "Anemia", 'synonym: "Anaemia" EXACT uk_spelling []\nis_a: HP:0001871\n'),
        ("0100749", "Chest pain", "is_a: HP:0001626\n"),
    )
)


def _questions() -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    for at in range(96):
        name = tuple(SPECIALTIES)[at % len(SPECIALTIES)]
        sign = SPECIALTIES[name][drawn(3, "sign", at)]
        size = 5 if at % 11 == 0 else 4
        first = drawn(len(WORDS), "words", at)
        options = [WORDS[(first + 5 * n) % len(WORDS)].capitalize() for n in range(size)]
        words = " ".join(f"{word}{at}" for word in ("patient", "visit", "ward", "case"))
        question = f"Somebody of {20 + at} years ({words}) has {sign}. What is best?"
        right = "ABCDE"[drawn(size, "right", at)]
        made.append({
            "id": f"made-{at}", "question": question,
            "options": dict(zip("ABCDE", options, strict=False)),
            "answer": right, "specialty": name, "split": ("train", "train", "test")[at % 3],
        })  # fmt: skip
        if at % 12 == 4:
            made[-1]["split"] = "validation"
    made[7]["question"] = "The picture below shows which finding of the optic disc?"
    made[10]["options"]["D"] = "All of the above"
    made[13]["specialty"] = "Neurology, Cardiology"
    made[16]["specialty"] = "Astrology"
    made[19]["question"] = "Which ï¿½ï¿½ drug \x07 is best for ï¿½?"
    made[22] = made[22] | {"question": made[21]["question"].replace("best", "best now")}
    made += [made[3] | {"id": "again"}, {"id": "no-options", "question": "What?", "answer": "A"}]
    return [
        *made,
        made[5] | {"id": "another-key", "answer": "A" if made[5]["answer"] != "A" else "B"},
    ]


def builds(work: Work) -> None:
    """Datasets of all annotators that need no training."""
    rows = _questions()
    work.write_lines("bank.jsonl", rows)
    plain = "--annotator metadata --sets none --no-meaning"
    build = f"build specialty bank.jsonl {plain} --out bank"
    work.run("build, dry", f"{build} --dry-run")
    work.both("build", build, "bank")
    work.run(
        "build strict",
        f"build specialty bank.jsonl {plain} --drop-leaks --drop-flagged --near 0.6 "
        "--min-specialty-size 8 --data-class restricted --seed 2 --json --out strict",
        "strict",
    )
    work.run(
        "build bundled", f"build specialty bundled {plain} --limit 40 --out bundled", "bundled"
    )
    by_name = [
        {"match": row["question"], "output": f"Specialty: {row['specialty']}"}
        for at, row in enumerate(rows)
        if at % 5 and row["id"] not in {"no-options", "another-key", "again"}
    ]
    odd = [{"match": "reply with the name alone", "output": "Urology. Not Cardiology."},
           {"match": None, "output": "Cardiology or Neurology"}]  # fmt: skip
    work.write_lines("labeller.jsonl", [*by_name, *odd])
    model = "--annotator llm --model scripted:labeller.jsonl --no-meaning --limit 60"
    work.run("build by a model", f"build specialty bank.jsonl {model} --sets none --quorum 4 "
             "--out by-model", "by-model")  # fmt: skip
    work.write_lines("expert.jsonl", [row for row in rows if row.get("options")][:48])
    other = [row | {"specialty": "Neurology"} if at % 6 == 0 else row
             for at, row in enumerate(rows[:48])]  # fmt: skip
    work.write_lines("student.jsonl", other)
    work.run(
        "build by a model beside an expert",
        f"build specialty bank.jsonl {model} --expert expert.jsonl --annotations student.jsonl "
        "--sets split --alpha 0.2 --sets-cover all --out sets",
        "sets",
    )


def showing(work: Work) -> None:
    """show, verify, and folders that were spoilt."""
    work.both("show", "show bank")
    work.run("show examples", "show strict --examples 2")
    work.run("show sets", "show sets --json")
    work.run("show plot", "show bank --plot bank.svg")
    work.both("verify", "verify bank --source bank.jsonl")
    work.run("verify sets", "verify sets")
    cut(work.copy("bank", "spoilt-cut") / TEST)
    change_a_row(work.copy("bank", "spoilt-index") / TEST, "answer_index", 1)
    spoilt = work.copy("bank", "spoilt-sealed")
    change_a_row(spoilt / TEST, "answer", "Something else")
    change_a_row(spoilt / TEST, "group", work.items("bank", "train")[0]["group"])
    seal(spoilt)
    for name in ("cut", "index", "sealed"):
        work.both(f"verify spoilt {name}", f"verify spoilt-{name}")
    with work.needing("true_false"):
        for to in ("chat", "lm-eval"):
            work.wrong(f"export {to}", f"export bank --to {to}")


def asking(work: Work) -> None:
    """Runs in several orders of the options."""
    items = work.items("bank", "test")
    work.write_lines("good.jsonl", choice_answers(items, "good", 75))
    work.write_lines("often.jsonl", choice_answers(items, "often", 60, repeats=2))
    work.write_lines("placed.jsonl", [{"match": "headache", "output": "Answer: B"},
                                      {"match": None, "output": "A"}])  # fmt: skip
    good = "predict bank --model scripted:good.jsonl --orders 3 --out runs/good"
    work.run("predict, dry", f"{good} --shots 1 --dry-run")
    work.both("predict good", good, "runs/good")
    cyclic = "--orders 4 --order-design cyclic"
    work.run("predict placed",
             f"predict bank --model scripted:placed.jsonl {cyclic} --out runs/placed",
             "runs/placed")  # fmt: skip
    for name in ("longest", "prior"):
        work.run(f"predict {name}",
                 f"predict bank --model baseline:{name} {cyclic} --out runs/{name}",
                 f"runs/{name}")  # fmt: skip
    work.run(
        "predict often",
        "predict bank --model scripted:often.jsonl --repeats 2 --temperature 0.5 --orders 2 "
        "--out runs/often",
        "runs/often",
    )
    work.run(
        "predict with shots",
        "predict bank --model scripted:placed.jsonl --shots 2 --split validation "
        "--category Neurology --category Cardiology --seed 3 --json --out runs/shown",
        "runs/shown",
    )
    work.run(
        "predict restricted",
        "predict strict --model baseline:longest --out runs/strict",
        "runs/strict",
    )
    longest = "predict bank --model baseline:longest"
    work.wrong("predict no order", f"{longest} --orders 0")
    work.wrong("predict a design", f"{longest} --orders 2 --order-design latin")
    work.wrong("predict by letters", f"{longest} --constrained")
    work.wrong("weigh letters", f"{longest} --first-token")


def scoring(work: Work) -> None:
    """Scores by reader and order, and the pages of them."""
    few = "--resamples 100"
    score = f"score bank {RUNS} {few} --out scores"
    work.run("score, dry", f"{score} --dry-run")
    work.both("score all", score, "scores")
    work.run(
        "score by matcher",
        f"score bank runs/often runs/good runs/prior --reader matcher --family vs:good {few} "
        "--seed 3 --json --out by-matcher",
        "by-matcher",
    )
    rows = []
    for at, item in enumerate(work.items("bank", "train")[:30]):
        place = drawn(len(item["options"]), "said", item["id"])
        letter = "ABCDE"[place]
        said = (f"{letter}) {item['options'][place]}", f"I think {item['options'][place]}.",
                f"Not {letter}", "Who knows?")[at % 4]  # fmt: skip
        rows.append({"question": item["question"], "options": item["options"], "output": said,
                     "letter": letter if at % 4 < 2 else None})  # fmt: skip
    work.write_lines("annotated.jsonl", rows)
    work.run(
        "score with own annotations",
        f"score bank runs/placed --annotated annotated.jsonl --limit 20 {few} --out annotated",
        "annotated",
    )
    work.run("score restricted", f"score strict runs/strict --reader string {few} --out private",
             "private")  # fmt: skip
    work.write("human.csv", "item_id,verdict\n")
    for name, told in {
        "with people": "--human human.csv",
        "an unknown reader": "--reader mind",
        "a reader nobody has": "--reader first_token",
        "an unknown primary": "--primary cleverness",
        "token F1": "--primary token_f1",
        "too few annotations": "--annotated labeller.jsonl",
    }.items():
        work.wrong(f"score {name}", f"score bank runs/good runs/prior {told} {few}")
    with work.needing("true_false"):
        for told in ("--ensemble both=good,prior", "--search 2"):
            work.wrong(f"score {told}", f"score bank runs/good runs/prior {told} {few}")
    work.run("report", "report scores -o page.html", files=["page.html"])
    work.run("report with figures", "report scores -o x.html --figures figures", "figures")
    work.run("report by matcher", "report by-matcher --title Matched --json -o matched.html",
             files=["matched.html"])  # fmt: skip
    work.run("report restricted", "report private --no-examples -o private.html",
             files=["private.html"])  # fmt: skip
    groups = "".join(f"{item['group']},{'ab'[at % 2]}\n"
                     for at, item in enumerate(work.items("bank", "test")))  # fmt: skip
    work.write("groups.csv", f"patient,ward\n{groups}")
    with work.needing("long_form", "true_false"):
        work.wrong("audit", "audit bank runs/good --groups groups.csv")


def terms(work: Work) -> None:
    """Terms of a small ontology."""
    work.write("hp.obo", OBO)
    find = "terms find bank --hpo hp.obo --resamples 100 --out terms"
    work.run("terms, dry", f"{find} --dry-run")
    work.both("terms", find, "terms")
    work.run(
        "terms of questions alone",
        "terms find bank --hpo hp.obo --no-wrong-options --general 2 --train validation --limit 50 "
        "--resamples 100 --json --out few-terms",
        "few-terms",
    )
    work.wrong("terms of another release", "terms find bank --source snomed")
    work.wrong("terms of no ontology", "terms find bank --hpo bank.jsonl")


def studies(work: Work) -> None:
    """Studies as far as nothing is trained."""
    names = ("Cardiology", "Neurology", "Pediatrics")
    rows = ["arm,trained_on,seed,train_items,item_id,group,specialty,order,right\n"]
    for trained in (*names, "all", "none"):
        for seed in range(1 if trained == "none" else 2):
            for at in range(45):
                for order in range(2):
                    own = names[at % 3] == trained
                    chance = 75 if own else 50 if trained != "none" else 35
                    right = drawn(100, trained, seed, at, order) < chance
                    head = ",,," if trained == "none" else ""
                    told = ",none,," if head else f"full,{trained},{seed},100"
                    rows.append(f"{told},q{at:03},g{at:03},{names[at % 3]},{order},{right}\n")
    work.write("answers.csv", "".join(rows))
    work.both("study table", "study table answers.csv --resamples 100 --out study", "study")
    work.write("matrix.csv", ",A,B,C,D\n" + "".join(
        f"{row},{','.join(str(50 + drawn(200, row, column) / 10) for column in 'ABCD')}\n"
        for row in "DACB"))  # fmt: skip
    work.both("study matrix", "study matrix matrix.csv")
    work.write("totals.csv", "set,train,test\nA,1,4\nB,2,5\ntotal,3,10\n")
    work.both("study totals", "study totals totals.csv")
    work.write("study.yaml", json.dumps({"kind": "specialty", "dataset": "bank",
                                         "model": "baseline:prior", "orders": 2}))  # fmt: skip
    for name, command in (
        ("check", "check study.yaml"),
        ("dry", "run study.yaml --dry-run --out x"),
    ):
        work.run(f"wrong: study of a model that cannot be trained, {name}", f"study {command}")
    work.write("odd.yaml", "kind: specialty\ndataset: bank\nodd: 1\n")
    work.run("wrong: study check", "study check odd.yaml")


STAGES: tuple[Stage, ...] = (builds, showing, asking, scoring, terms, studies)
