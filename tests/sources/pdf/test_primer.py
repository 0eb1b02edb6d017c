"""The bundled primer: made by the script, and read as it was meant."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

from clinqa.sources.pdf.records import Mode, PdfPage
from sources.pdf.reading import pages_of

ROOT = Path(__file__).resolve().parents[3]
PRIMER = ROOT / "src" / "clinqa" / "packs" / "ecg" / "primer"


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> tuple[PdfPage, ...]:
    return pages_of((PRIMER / "primer.pdf").read_bytes(), tmp_path_factory.mktemp("primer"))


def test_the_script_gives_its_bytes() -> None:
    spec = importlib.util.spec_from_file_location("make_primer", ROOT / "scripts/make_primer.py")
    assert spec is not None and spec.loader is not None
    maker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(maker)
    text = (PRIMER / "primer.txt").read_text(encoding="utf-8")
    assert maker.pdf_of(text) == (PRIMER / "primer.pdf").read_bytes(), "run scripts/make_primer.py"


def test_its_pages_have_all_four_modes(pages: tuple[PdfPage, ...]) -> None:
    modes = [page.mode for page in pages]
    assert len(pages) >= 12
    assert modes.count(Mode.VISION) == 1 and modes.count(Mode.NONE) == 1
    assert modes.count(Mode.BOTH) >= 1 and modes.count(Mode.TEXT) >= 10
    assert pages[-1].mode is Mode.NONE


def test_every_sentence_of_its_text_stands_on_its_pages_in_order(
    pages: tuple[PdfPage, ...],
) -> None:
    source = (PRIMER / "primer.txt").read_text(encoding="utf-8")
    prose = [re.sub(r"^@sparse ", "", line) for line in source.split("\n")]
    wanted = " ".join(line for line in prose if line and line[0] not in "@#").split()
    found = " ".join(page.text for page in pages).split()
    place, lost = 0, []
    for word in wanted:
        try:
            place = found.index(word, place, place + 60) + 1
        except ValueError:
            lost.append(word)
    assert not lost
    assert not any("An ECG primer" in page.text for page in pages[1:])
