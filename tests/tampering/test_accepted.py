"""Changed files that are accepted, classes that are lowered, folders inside finished folders."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tampering.stages import call

TRAIN = "data/train-00000-of-00001.parquet"


def spoilt(made: Path, name: str, file: str) -> Path:
    """A copy of a folder with a file that says the same in other bytes."""
    copy = shutil.copytree(made / name, made / f"spoilt-{name}", dirs_exist_ok=True)
    import pyarrow.parquet as pq

    table = pq.ParquetFile(copy / file).read()
    pq.write_table(table, copy / file, compression="gzip", store_schema=False)
    return copy


def told(folder: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads((folder / "manifest.json").read_text())
    return found


def test_an_accepted_change_stands_in_manifest_identity_and_every_signature(made: Path) -> None:
    spoilt(made, "set", TRAIN)
    score = "score spoilt-set prior words --resamples 100"
    code, said = call(f"{score} --out refused".split())
    assert code == 1 and f"spoilt-set/{TRAIN}: changed since it was made" in said
    code, said = call(f"{score} --accept-changed --out accepted".split())
    assert code == 0 and "read all the same (--accept-changed)" in said
    manifest = told(made / "accepted")
    (change,) = manifest["accepted_changes"]  # type: ignore[misc]
    assert (change["folder"], change["file"]) == ("spoilt-set", TRAIN)
    assert manifest["identity"]["accepted_changes"]  # type: ignore[index]
    assert change["found"] in json.dumps(manifest["inputs"])
    scores = json.loads((made / "accepted/scores.json").read_text())
    every = [one["signature"] for one in (*scores["figures"], *scores["tests"])]
    assert every and all("|changed inputs " in one for one in every)
    plain = json.loads((made / "scores/scores.json").read_text())
    assert not any("changed inputs" in one["signature"] for one in plain["figures"])
    # what is made of it is marked as well, and shares no column with what is not
    code, said = call(["report", "accepted", "scores", "-o", "page.html"])
    assert code == 2 or "read all the same" in said


def test_a_run_of_accepted_items_marks_its_scores(made: Path) -> None:
    spoilt(made, "set", TRAIN)
    told_to = "--model baseline:prior --split train --accept-changed"
    assert call(f"predict spoilt-set {told_to} --out run-of-it".split())[0] == 0
    assert told(made / "run-of-it")["accepted_changes"]
    assert (
        call(["score", "set", "run-of-it", "--resamples", "100", "--out", "scores-of-it"])[0] == 0
    )
    scores = json.loads((made / "scores-of-it/scores.json").read_text())
    assert all("|changed inputs " in one["signature"] for one in scores["figures"])


def test_what_is_done_is_not_done_when_a_file_of_it_is_gone_or_changed(made: Path) -> None:
    again = "predict set --split train --model baseline:prior --out kept"
    assert call(again.split())[0] == 0
    path = made / "kept/predictions.parquet"
    path.write_bytes(path.read_bytes() + b" ")
    code, said = call(again.split())
    assert code == 2 and "predictions.parquet is no longer what was written" in said
    path.unlink()
    code, said = call(again.split())
    assert code == 2 and "predictions.parquet is gone from it" in said
    assert call([*again.split(), "--fresh"])[0] == 0


@pytest.mark.parametrize("where", ["set/inside", "scores/a/b"])
def test_an_out_inside_a_finished_folder_is_refused(made: Path, where: str) -> None:
    code, said = call(f"predict set --model baseline:prior --out {where}".split())
    assert code == 2 and "lies inside" in said and not (made / where).exists()


def test_lowering_a_class_is_one_and_the_same_end_in_every_verb(made: Path) -> None:
    shutil.copytree(made / "set", made / "phi")
    (made / "phi/README.md").write_text("---\ntags:\n- data-class:phi\n---\n")  # its card says so
    groups = "--groups languages.csv --min-patients 2 --resamples 100 --permutations 100"
    for words in (
        "predict phi --model baseline:prior",
        "score phi prior --resamples 100",
        f"audit phi prior {groups}",
    ):
        code, said = call([*words.split(), "--data-class", "public", "--out", "lowered"])
        assert code == 4 and "cannot be less" in said, (words, said)


def test_an_unfinished_folder_names_the_input_that_changed(made: Path) -> None:
    from clinqa.core.errors import ConfigError
    from clinqa.core.manifest import FileRecord
    from clinqa.core.outfolder import open_out

    record = FileRecord("says.jsonl", "ab", 1)
    open_out("begun", {"inputs": ["ab"]}, resume=True, inputs=[record]).close()
    with pytest.raises(ConfigError, match=r"different: says\.jsonl \(changed since it was read\)"):
        open_out(
            "begun", {"inputs": ["cd"]}, resume=True, inputs=[FileRecord("says.jsonl", "cd", 1)]
        )
