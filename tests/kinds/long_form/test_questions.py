"""The questions of a pack, and the answers of each level."""

from __future__ import annotations

from pathlib import Path

import pytest

from clinqa.core.errors import ConfigError
from clinqa.kinds.long_form.questions import QuestionType, questionnaire
from clinqa.packs.loader import builtin_pack, load_pack
from made_notes import THYROID


def test_a_wording_without_the_name_is_refused(tmp_path: Path) -> None:
    text = (THYROID / "pack.yaml").read_text(encoding="utf-8")
    (tmp_path / "pack.yaml").write_text(text.replace("{name}", "it"), encoding="utf-8")
    with pytest.raises(ConfigError, match=r"pack\.yaml: questions: finding"):
        questionnaire(load_pack(tmp_path))


def test_a_key_nobody_knows_is_refused(tmp_path: Path) -> None:
    text = (THYROID / "pack.yaml").read_text(encoding="utf-8")
    text = text.replace("answer_-1_size", "anwser_-1_size")
    (tmp_path / "pack.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match="no such key: 'anwser_-1_size'"):
        questionnaire(load_pack(tmp_path))


def test_every_level_that_exists_has_its_answers() -> None:
    pack = builtin_pack("echo")
    asked = questionnaire(pack)
    for number, spec in enumerate(pack.abnormalities.values()):
        assert set(asked.answers[QuestionType.ADEQUACY][number]) == set(spec.levels)
        degrees = set(spec.levels) - {-3}
        assert set(asked.answers[QuestionType.PRESENCE][number]) == degrees
        severity = asked.answers[QuestionType.SEVERITY][number]
        assert set(severity) == (set() if spec.binary else degrees)
        assert len(set(severity.values())) == len(severity)
    assert {n for n in range(-3, 4) if asked.asks(QuestionType.SEVERITY, n)} == {-2, 1, 2, 3}
