"""The child process that parses: what is said when it cannot start."""

from __future__ import annotations

from pathlib import Path

import pytest

from clinqa.core.errors import ClinqaError
from clinqa.sources.pdf.process import Child
from clinqa.sources.pdf.records import PdfLimits


def test_a_missing_parser_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pypdfium2.py").write_text("raise ImportError('gone', name='pypdfium2')\n")
    monkeypatch.syspath_prepend(str(tmp_path))  # the child gets the parent's path
    with pytest.raises(ClinqaError, match="pypdfium2 cannot be imported"):
        Child(PdfLimits()).ask("open", b"", ())
