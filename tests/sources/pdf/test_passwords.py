"""Passwords come from the environment or a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from clinqa.core.errors import ConfigError
from clinqa.sources.pdf import PdfOptions, passwords


def test_the_environments_comes_first_and_each_once(tmp_path: Path) -> None:
    file = tmp_path / "p"
    file.write_text("ecg\r\n\n two words \necg\n")
    assert passwords(file, {"CLINQA_PDF_PASSWORD": "first"}) == ("first", "ecg", " two words ")
    assert passwords(None, {}) == ()


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xff\xfe\x00", b"x\n" * 101])
def test_a_file_that_holds_none_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "p").write_bytes(content)
    with pytest.raises(ConfigError, match=r"password|UTF-8"):
        passwords(tmp_path / "p", {})


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no such file"):
        passwords(tmp_path / "p", {})


def test_options_do_not_show_them() -> None:
    assert "ecg" not in repr(PdfOptions(passwords=("ecg",)))
