"""`build ecg`, `show`, `verify` and `export` as a person calls them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import yaml

from clinqa.cli.command_line import run
from made_pages import made_pdf

TEXT = (
    "The P wave represents depolarization of the atria. The normal PR interval is 120 to 200 ms. "
    "The QRS complex represents depolarization of the ventricles. The sinus node lies in the right "
    "atrium. The T wave is upright in lead II. Hypercalcemia shortens the QT interval. Sinus "
    "bradycardia is a sinus rhythm below 60 beats per minute. Renal failure causes hyperkalemia. "
    "The bundle of His divides into two branches. Lead V1 is placed in the fourth intercostal "
    "space at the right border of the sternum. The PR interval lengthens with age in adults."
)


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ecg")
    pdf = made_pdf(folder / "primer.pdf", [TEXT])
    assert run(["build", "ecg", str(pdf), "--out", str(folder / "out")]) == 0
    return folder / "out"


def test_show_draws_the_funnel_and_the_rejects(
    dataset: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["show", str(dataset)]) == 0
    said = capsys.readouterr().out
    for words in ("Funnel", "verified on their page", "the stages add up", "Shortcut probe"):
        assert words in said
    assert "P wave" not in said  # text of a document is shown only when asked for
    assert run(["show", str(dataset), "--examples", "1"]) == 0


def test_show_as_json_is_one_object(dataset: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["show", str(dataset), "--json"]) == 0
    counts = json.loads(capsys.readouterr().out)["counts"]
    assert counts["reconciles"] is True
    assert counts["funnel"]["pairs"] * 2 == sum(s["items"] for s in counts["splits"].values())


def test_verify_says_what_the_probe_says(dataset: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["verify", str(dataset), "--source", str(dataset.parent / "primer.pdf")]) == 0
    assert "shortcut probe" in capsys.readouterr().out


def test_a_document_that_was_not_read_is_no_source(
    dataset: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = made_pdf(dataset.parent / "other.pdf", ["Another text altogether."])
    assert run(["verify", str(dataset), "--source", str(other)]) == 1
    assert "not the bytes of any document" in capsys.readouterr().out


def test_exports_hold_every_item_once(dataset: Path, tmp_path: Path) -> None:
    for to in ("chat", "lm-eval", "inspect"):
        out = tmp_path / to
        assert run(["export", str(dataset), "--to", to, "--out", str(out)]) == 0
        rows = [
            json.loads(line)
            for path in sorted(out.glob("*.jsonl"))
            for line in path.read_text().splitlines()
        ]
        assert len({row["id"] for row in rows}) == len(rows) >= 14
    chat = json.loads((tmp_path / "chat" / "train.jsonl").read_text().splitlines()[0])
    assert [turn["role"] for turn in chat["messages"]] == ["user", "assistant"]
    assert chat["messages"][1]["content"] in {"True", "False"}
    task = yaml.safe_load((tmp_path / "lm-eval" / "clinqa_ecg.yaml").read_text())
    assert task["doc_to_choice"] == ["True", "False"]
    compile((tmp_path / "inspect" / "task.py").read_text(), "task.py", "exec")


def test_a_limit_takes_the_same_items_of_each_split_every_time(
    dataset: Path, tmp_path: Path
) -> None:
    def taken(name: str, *more: str) -> list[list[str]]:
        out = tmp_path / name
        assert run(["export", str(dataset), "--to", "chat", "--out", str(out), *more]) == 0
        return [
            [json.loads(line)["id"] for line in (out / f"{split}.jsonl").read_text().splitlines()]
            for split in ("train", "validation", "test")
        ]

    whole, few, again = taken("a"), taken("b", "--limit", "3"), taken("c", "--limit", "3")
    # of pairs, three items are one pair
    assert few == again and [len(ids) for ids in few] == [min(2, len(ids)) for ids in whole]
    written = [json.loads(line) for path in (tmp_path / "b").glob("*.jsonl")
               for line in path.read_text().splitlines()]  # fmt: skip
    assert set(Counter(row["pair_id"] for row in written).values()) == {2}
    for some, every in zip(few, whole, strict=True):
        assert some == [name for name in every if name in some]
    assert any(taken(f"s{n}", "--limit", "3", "--seed", str(n)) != few for n in (1, 2, 3))
    counts = json.loads((tmp_path / "b" / "manifest.json").read_text())["counts"]["items"]
    assert counts["kept"] + counts["out_of_scope"] == counts["read"] == sum(map(len, whole))
    # another limit is another export
    assert run(["export", str(dataset), "--to", "chat", "--out", str(tmp_path / "b")]) == 2


def test_an_export_of_something_else_is_refused(
    dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["export", str(tmp_path), "--to", "chat", "--out", str(tmp_path / "x")]) == 2


def test_a_dry_run_writes_nothing(dataset: Path, tmp_path: Path) -> None:
    pdf = str(dataset.parent / "primer.pdf")
    assert run(["build", "ecg", pdf, "--out", str(tmp_path / "o"), "--dry-run"]) == 0
    assert not (tmp_path / "o").exists()


def test_pages_left_out_by_request_are_counted_so_and_nothing_of_them_is_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    secret = "The Osborn wave is a positive deflection at the J point seen in hypothermia. " * 8
    pdf = made_pdf(tmp_path / "book.pdf", [secret, TEXT, secret])
    out = tmp_path / "out"
    assert run(["build", "ecg", str(pdf), "--out", str(out), "--skip-pages", "1,3-4"]) == 0
    manifest = json.loads((out / "manifest.json").read_text())
    counts = manifest["counts"]["pages"]
    assert counts["out_of_scope_by_reason"] == {"skipped_by_request": 2}
    assert (counts["read"], counts["kept"], counts["rejected"]) == (3, 1, 0)
    assert manifest["configuration"]["skip_pages"] == [1, 3, 4]
    pages = pq.read_table(out / "pages.parquet").to_pylist()
    assert [(row["page"], row["reason"]) for row in pages if not row["text"]] == [
        (1, "skipped"), (3, "skipped"),
    ]  # fmt: skip
    assert not any(b"Osborn" in path.read_bytes() for path in out.rglob("*") if path.is_file())
    assert run(["verify", str(out), "--source", str(pdf)]) == 0
    assert "--skip-pages: no document has page 4" in capsys.readouterr().err
    none = ["build", "ecg", str(pdf), "--out", str(tmp_path / "none"), "--skip-pages", "1-3"]
    assert run(none) == 3 and "leaves no page of any document" in capsys.readouterr().err
    # other pages left out are another dataset
    assert run(["build", "ecg", str(pdf), "--out", str(out), "--skip-pages", "1"]) == 2


@pytest.mark.parametrize("odd", ["0", "3-1", "x", "", "1-", "-2", "1,,2", "1.5"])
def test_odd_pages_are_refused(odd: str, tmp_path: Path) -> None:
    pdf = made_pdf(tmp_path / "book.pdf", [TEXT])
    asked = ["build", "ecg", str(pdf), "--out", str(tmp_path / "o"), f"--skip-pages={odd}"]
    assert run(asked) == 2 and not (tmp_path / "o").exists()
