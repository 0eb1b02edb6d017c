"""`study check` refuses what `study run` would, before anything is trained."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clinqa.builders.banks.specialty.pipeline import build_specialty
from clinqa.builders.banks.specialty.specialty_options import SpecialtyOptions
from clinqa.core.errors import ConfigError
from clinqa.studying import whole_study as module
from clinqa.studying.study_options import StudyOptions
from clinqa.studying.whole_study import check_study, run_study
from studying.made_bank import made_bank, study_file

BOTH = ("check", "run")
SETTINGS = (
    "settings: {epochs: 1, max_steps: 1, best_by: none, precision: f32, quantization: none}",
    "arms: [full]",
    "seeds: [0]",
)


def refused(how: str, file: Path, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By both, in the same words, and by the run before its first training."""
    monkeypatch.setattr(module._Work, "do", None)
    with pytest.raises(ConfigError, match=said):
        if how == "check":
            check_study(file)
        else:
            run_study(file, file.parent / "out", StudyOptions(device="cpu", threads=1))
    assert not (file.parent / "out").exists()


@pytest.mark.parametrize("how", BOTH)
@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("baseline:prior", "only weights on this machine can be trained"),
        ("openai:x", "only weights on this machine can be trained"),
        ("magic:x", "only weights on this machine|no such kind of model"),
        ("hf:/nowhere", "no such folder"),
        ("gguf:/nowhere.gguf", "nowhere.gguf"),
    ],
)
def test_a_model_that_cannot_be_trained(
    tmp_path: Path, how: str, model: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made_bank(tmp_path)
    refused(how, study_file(tmp_path, *SETTINGS, model=model), said, monkeypatch)


@pytest.mark.full
@pytest.mark.parametrize("how", BOTH)
@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("preset: echoqa",), "preset echoqa is for|two"),
        (("dtype: floaty",), "--dtype floaty: one of"),
        (("settings: {best_by: loss}",), "the split validation holds no items"),
    ],
)
def test_what_the_training_or_the_asking_would_refuse(
    tmp_path: Path, how: str, more: tuple[str, ...], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("trl", reason="the extra `train` is not installed")
    from tiny_model import make_tiny

    made_bank(tmp_path, {"Cardiology": (6, 2, 3), "Neurology": (4, 0, 3)})
    base = make_tiny(tmp_path / "base")
    refused(how, study_file(tmp_path, *SETTINGS, *more, model=f"hf:{base}"), said, monkeypatch)


@pytest.mark.full
@pytest.mark.parametrize("how", BOTH)
def test_a_question_of_train_that_stands_in_test_too(
    tmp_path: Path, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("trl", reason="the extra `train` is not installed")
    from tiny_model import make_tiny

    made_bank(tmp_path)
    lines = (tmp_path / "bank.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    train = next(one for one in rows if one["split"] == "train")
    options = {"A": "another", "B": "choice", "C": "of words"}
    twin = {**train, "id": "twin", "split": "test", "options": options}
    (tmp_path / "bank.jsonl").write_text("\n".join([*lines, json.dumps(twin)]))
    build_specialty(
        [tmp_path / "bank.jsonl"], tmp_path / "twins", SpecialtyOptions(annotator="metadata")
    )
    base = make_tiny(tmp_path / "base")
    file = study_file(tmp_path, *SETTINGS, "dataset: twins", model=f"hf:{base}")
    refused(how, file, "trained on, too: 1 word for word", monkeypatch)


@pytest.mark.full
def test_what_is_not_refused_says_what_it_would_do_and_writes_nothing(tmp_path: Path) -> None:
    pytest.importorskip("trl", reason="the extra `train` is not installed")
    from tiny_model import make_tiny

    made_bank(tmp_path)
    base = make_tiny(tmp_path / "base")
    before = sorted(tmp_path.iterdir())
    file = study_file(tmp_path, *SETTINGS, model=f"hf:{base}")
    checked = check_study(file)
    assert checked.counts == {"trainings": 4}
    options = StudyOptions(device="cpu", threads=1, dry_run=True)
    assert run_study(file, tmp_path / "out", options).lines == checked.lines
    assert sorted(tmp_path.iterdir()) == sorted([*before, file])
