"""What is refused, with which code and in which words, on reports and on no data at all.

The calls that only another kind's data can get wrong are in that kind's steps.
"""

from __future__ import annotations

from golden.damage import change_a_row, edit_manifest
from golden.work import Stage, Work

__all__ = ["STAGES"]

HEAD = "ROW_ID,SUBJECT_ID,HADM_ID,CHARTDATE,CATEGORY,DESCRIPTION,ISERROR,TEXT\n"
REMOTE = "openai:x --base-url http://192.0.2.1:9/v1"


def data(work: Work) -> None:
    """A small restricted dataset with two runs and scores."""
    work.run("simulate", "simulate echo --studies 24 --seed 9 --out reports.csv")
    work.run("build", "build echo reports.csv --data-class restricted --workers 1 --out set")
    work.run("build other", "build echo reports.csv --workers 1 --seed 7 --out other")
    for name in ("retrieval", "prior"):
        work.run(f"predict {name}", f"predict set --model baseline:{name} --out {name}")
    work.run("score", "score set retrieval prior --resamples 100 --out scores")
    work.write("thesis/thesis.tex", "years of work")


def usage(work: Work) -> None:
    """Command lines that mean nothing."""
    for name, command in {
        "no such verb": "conjure set",
        "no command of build": "build",
        "no out": "build echo reports.csv",
        "no input": "build echo --out x",
        "no such option": "verify set --thoroughly",
        "a profile": "build echo reports.csv --out x --profile lax",
        "a limit of nothing": "build echo reports.csv --out x --limit 0",
        "a share": "build echo reports.csv --out x --unmentioned-share 2",
        "a data class": "build echo reports.csv --out x --data-class secret",
        "a seed that is no number": "score set prior --out x --seed many",
        "few resamples": "score set prior --out x --resamples 10",
        "an empty argument": "verify ''",
        "export to nothing": "export set --out x",
        "no run": "score set --out x",
        "no groups": "audit set prior --out x",
    }.items():
        work.run(name, command)
    for command in ("conjure set", "build echo --out x", "verify nowhere", "verify ''"):
        work.run(f"{command} as json", f"{command} --json")


def inputs(work: Work) -> None:
    """Inputs that are not there, not readable or not what they seem."""
    work.write("odd.csv", "alpha,beta\n1,Mild MR.\n")
    work.write("empty.csv", "")
    work.write("head.csv", HEAD)
    work.write("reports.xyz", "what is this\n")
    (work.folder / "broken.parquet").write_bytes(b"PAR1 and nothing more")
    for name, command in {
        "an input that is not there": "build echo nowhere.csv",
        "unknown columns": "build echo odd.csv",
        "a named column that is not there": "build echo odd.csv --text-col gamma",
        "an empty file": "build echo empty.csv",
        "a head alone": "build echo head.csv",
        "an unknown suffix": "build echo reports.xyz",
        "a damaged Parquet file": "build echo broken.parquet",
        "a pack that is not there": "build echo reports.csv --pack-dir nowhere",
        "a dataset that is not there": "predict nowhere --model baseline:prior",
        "a folder of somebody else": "predict thesis --model baseline:prior",
        "a dataset that is a run": "predict prior --model baseline:prior",
        "a study that is not there": "study run nowhere.yaml",
        "a table that is not there": "study table nowhere.csv --resamples 100",
    }.items():
        work.wrong(name, command)
    for name, command in {
        "verify nothing": "verify nowhere",
        "verify somebody else's": "verify thesis",
        "verify a run": "verify prior",
        "show nothing": "show nowhere",
        "show scores": "show scores",
        "compare with nothing": "show set --compare nowhere",
        "propose of a run": "lexicon propose prior --out x.tsv",
        "accept nothing": "lexicon accept nowhere.tsv --pack-dir x",
        "accept odd columns": "lexicon accept odd.csv --pack-dir x",
        "a matrix that is not there": "study matrix nowhere.csv",
        "a study to check that is not there": "study check nowhere.yaml",
        "report of nothing": "report nowhere -o x.html",
        "report of a run": "report prior -o x.html",
    }.items():
        work.run(name, command)


def folders(work: Work) -> None:
    """Output folders that are not ours, or of another run."""
    work.write("file", "in the way")
    (work.folder / "link").symlink_to(work.folder / "set")
    build = "build echo reports.csv --workers 1"
    for name, command in {
        "a folder with foreign files": f"{build} --out thesis",
        "a foreign folder, fresh": f"{build} --out thesis --fresh",
        "a file as folder": f"{build} --out file",
        "a link as folder": f"{build} --out link",
        "a folder of another seed": f"{build} --out set --seed 8",
        "a folder of another verb": f"{build} --out prior",
        "a folder of another verb, fresh": f"{build} --out prior --fresh",
        "reports that are written over": "simulate echo --studies 3 --out reports.csv",
        "real reports that are written over": "simulate echo --studies 3 --out odd.csv --fresh",
        "a table that is there": "lexicon propose set --out odd.csv",
        "another model there": "predict set --model baseline:retrieval --out prior",
    }.items():
        work.run(name, command)


def models(work: Work) -> None:
    """Models that are none, and text that must not leave."""
    work.write("bad.jsonl", '{"output": 3}\n')
    failing = {"match": None, "output": "", "finish_reason": "error", "error": "server"}
    work.write_lines("fails.jsonl", [failing])
    work.write("att.yaml", "attestations:\n  - host: 192.0.2.1\n    who: nobody\n")
    for name, told in {
        "an unknown kind of model": "magic:x",
        "a script that is not there": "scripted:nowhere.jsonl",
        "a bad script": "scripted:bad.jsonl",
        "a model that only fails": "scripted:fails.jsonl --max-parallel 4",
        "restricted text to another host": REMOTE,
        "an attestation that lacks": f"{REMOTE} --attestations att.yaml",
        "a password in an address": "openai:x --base-url http://u:secret@h/v1",
        "no address": "azure:x",
        "a class that is less": "baseline:prior --data-class public",
        "shots that nothing varies": "baseline:prior --vary shots",
        "a category nobody has": "baseline:prior --category happiness",
        "another dataset to learn from": "baseline:prior --train-from other",
        "more shots than there are": "baseline:prior --shots 100000",
        "an adapter that is none": "baseline:prior --adapter thesis",
        "prices that are not there": "baseline:prior --prices nowhere.yaml",
    }.items():
        work.wrong(name, f"predict set --model {told}")


def scores(work: Work) -> None:
    """Scores and audits that cannot be made."""
    work.write("human.csv", "item,verdict\na,right\n")
    work.write("verdicts.csv", "item_id,verdict,run\nx,perhaps,prior\n")
    work.write("groups.csv", "patient,ward\nnobody,A\n")
    patients = sorted({item["group"] for item in work.items("set", "test")})
    for name, wards in (("wards", "AB"), ("ward", "AA")):
        rows = [f"{one},{wards[at % 2]}\n" for at, one in enumerate(patients)]
        work.write(f"{name}.csv", "".join(["patient,ward\n", *rows]))
    work.write("twice.csv", f"patient,ward\n{patients[0]},A\n{patients[0]},B\n")
    for name, told in {
        "a run that is not there": "set nowhere",
        "a run that is a dataset": "set other",
        "a run on another dataset": "other prior",
        "the same run twice": "set prior prior",
        "an unknown metric": "set prior retrieval --primary cleverness",
        "a metric of another kind": "set prior retrieval --primary mcc",
        "a family": "set prior retrieval --family some",
        "a family of nobody": "set prior retrieval --family vs:nobody",
        "people who are not there": "set prior --human nowhere.csv",
        "people without items": "set prior --human human.csv",
        "people of no verdict": "set prior --human verdicts.csv",
        "a class that is less": "set prior --data-class public",
        "another pack": "set prior --pack-dir nowhere",
    }.items():
        work.wrong(f"score {name}", f"score {told} --resamples 100")
    for name, told in {
        "groups that are not there": "--groups nowhere.csv",
        "groups of nobody here": "--groups groups.csv",
        "one group alone": "--groups ward.csv",
        "a patient twice": "--groups twice.csv",
        "an unknown dimension": "--groups wards.csv --dimension mood",
        "an unknown metric": "--groups wards.csv --metric cleverness",
        "a metric that is no mean": "--groups wards.csv --metric bleu",
        "quantiles": "--groups wards.csv --quantiles-over moods",
        "a group of one": "--groups wards.csv --min-patients 1",
        "scores of another verb": "--groups wards.csv --min-patients 2 --scores prior",
    }.items():
        work.wrong(f"audit {name}", f"audit set prior {told}")


def damaged(work: Work) -> None:
    """Folders whose manifest or files were changed."""
    manifest = work.copy("set", "no-json") / "manifest.json"
    manifest.write_text("{", encoding="utf-8")
    edit_manifest(work.copy("set", "no-class"), data_class="whatever")
    edit_manifest(work.copy("set", "no-outputs"), outputs=None)
    (work.copy("set", "no-manifest") / "manifest.json").unlink()
    (work.copy("set", "no-test") / "data/test-00000-of-00001.parquet").unlink()
    (work.copy("scores", "no-scores") / "scores.json").write_text("{", encoding="utf-8")
    change_a_row(work.copy("prior", "changed") / "predictions.parquet", "answer", "Severe.")
    (work.copy("prior", "cut") / "predictions.parquet").write_bytes(b"PAR1")
    for name in ("no-json", "no-class", "no-outputs", "no-manifest", "no-test"):
        work.run(f"verify {name}", f"verify {name}")
        work.run(f"show {name}", f"show {name} --json")
        work.wrong(f"predict {name}", f"predict {name} --model baseline:prior")
        work.wrong(f"score {name}", f"score {name} prior --resamples 100")
    for name in ("changed", "cut"):
        work.wrong(f"score a run that is {name}", f"score set {name} --resamples 100")
    work.run("report no-scores", "report no-scores -o x.html")


def of_other_kinds(work: Work) -> None:
    """Options, builds and words that are other kinds' own, on reports."""
    with work.needing("true_false"):
        for told in ("--ensemble a=prior,retrieval", "--search 2", "--against scores",
                     "--ensemble-from scores"):  # fmt: skip
            work.wrong(f"score {told}", f"score set prior retrieval {told} --resamples 100")
        work.wrong("export of reports", "export set --to chat")
        work.wrong("documents that are not there", "build ecg nowhere.pdf")
        work.wrong("documents that are none", "build ecg odd.csv")
        work.wrong("a generator without a model", "build ecg odd.csv --generator llm")
        work.wrong("questions that are not there", "build bank-tf nowhere.jsonl")
    with work.needing("multiple_choice"):
        for told in ("--reader string", "--annotated bad.jsonl"):
            work.wrong(f"score {told}", f"score set prior {told} --resamples 100")
        work.wrong("orders of options", "predict set --model baseline:prior --orders 2")
        metadata = "--annotator metadata"
        for name, told in {
            "a bank that is not there": f"nowhere.jsonl {metadata}",
            "no bank": f"odd.csv {metadata}",
            "no expert": "bundled",
            "no model": "bundled --annotator llm",
            "a quorum": f"bundled {metadata} --quorum 2",
            "an alpha": f"bundled {metadata} --alpha 7",
            "sets of nobody": "bundled --expert bundled --sets class",
            "restricted questions elsewhere": f"bundled --annotator llm --model {REMOTE} "
            "--sets none --data-class restricted",
        }.items():
            work.wrong(name, f"build specialty {told}")
    with work.needing("true_false", "multiple_choice"):
        work.wrong("letters", "predict set --model baseline:prior --constrained")
        work.wrong("an unknown baseline", "predict set --model baseline:wisdom")


STAGES: tuple[Stage, ...] = (
    data, usage, inputs, folders, models, scores, damaged, of_other_kinds,
)  # fmt: skip
