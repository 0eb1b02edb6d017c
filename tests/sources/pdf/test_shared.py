"""The real and the damaged files beside the project."""

from __future__ import annotations

import csv
import random
import re
from itertools import pairwise
from pathlib import Path

import pypdfium2
import pytest

from clinqa.sources.pdf import FileOutcome, PdfDocument, PdfOptions, PdfReader
from clinqa.sources.pdf.line_pieces import pieces
from clinqa.sources.pdf.order import lines_of
from clinqa.sources.pdf.pdfium_chars import pdfium_chars
from sources.pdf.reading import SHARED, pages_of

ECG = SHARED / "ecg"
pytestmark = pytest.mark.skipif(not ECG.exists(), reason="../shared/data/ecg is not here")


@pytest.fixture(scope="module")
def documents() -> dict[str, PdfDocument]:
    with PdfReader(PdfOptions(passwords=("wrong", "ecg"))) as reader:
        return {name: document for document in reader.read([ECG]) for name in document.names}


def test_modes_are_those_a_careful_person_chose(documents: dict[str, PdfDocument]) -> None:
    with (ECG / "MANIFEST.tsv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file, delimiter="\t") if row["right_mode"]]
    assert len(rows) == 8
    for row in rows:
        wanted: dict[str, int] = {}
        for mode, times in re.findall(r"(text|both|vision|none)(?: x(\d+))?", row["right_mode"]):
            wanted[mode] = wanted.get(mode, 0) + int(times or 1)
        document = documents[Path(row["file"]).name]
        found: dict[str, int] = {}
        for page in document.pages:
            found[page.mode.value] = found.get(page.mode.value, 0) + 1
        assert (document.md5, found) == (row["md5"], wanted), row["file"]


def test_damaged_files_have_their_outcomes(documents: dict[str, PdfDocument]) -> None:
    wanted = {
        "encrypted_owner_only": FileOutcome.READ,
        "encrypted_user_password": FileOutcome.READ,  # with its password
        "html_named_pdf": FileOutcome.NOT_PDF,
        "rotated_0_90_180_270": FileOutcome.READ,
        "scan_image_only": FileOutcome.READ,
        "truncated": FileOutcome.DAMAGED,
        "zero_bytes": FileOutcome.EMPTY_FILE,
        "zero_page": FileOutcome.NO_PAGES,
    }
    assert {name: documents[f"{name}.pdf"].outcome for name in wanted} == wanted


def test_turned_and_encrypted_copies_read_as_the_original(
    documents: dict[str, PdfDocument],
) -> None:
    original = [page.text for page in documents["cinc2008_0525.pdf"].pages]
    for name in ("rotated_0_90_180_270", "encrypted_owner_only", "encrypted_user_password"):
        assert [page.text for page in documents[f"{name}.pdf"].pages] == original, name


def test_without_its_password_a_file_says_that_it_needs_one() -> None:
    with PdfReader(PdfOptions()) as reader:
        (document,) = reader.read([ECG / "pdf_damaged" / "encrypted_user_password.pdf"])
    assert document.outcome is FileOutcome.ENCRYPTED and "needs a password" in document.detail


def test_columns_of_a_paper_follow_each_other(documents: dict[str, PdfDocument]) -> None:
    text = documents["cinc2014_0565.pdf"].pages[0].text.replace("\n", " ")
    # the foot of the left column goes on at the head of the right one
    first = text.index("Cross validation between ECG")
    second = text.index("In this work we use an independent")
    assert first < second
    assert "some of the PVC’s do not have complete QRS complex" in text
    assert "The delay is used to identify the QRS peaks" in text


def test_pages_read_in_this_process_are_the_same(
    documents: dict[str, PdfDocument], tmp_path: Path
) -> None:
    name = "cinc2009_0625.pdf"
    assert pages_of((ECG / "pdf" / name).read_bytes(), tmp_path) == documents[name].pages


@pytest.mark.parametrize("how", ["row by row", "shuffled"])
def test_the_order_of_papers_can_be_made_anew_from_their_columns(how: str) -> None:
    kept = total = 0
    for name in ("cinc2008_0525", "cinc2009_0625", "cinc2014_0565", "cinc2018_089"):
        document = pypdfium2.PdfDocument(ECG / "pdf" / f"{name}.pdf")
        for page in document:
            chars = pdfium_chars(page)
            found = pieces(chars)
            drawn = [line.text for line in lines_of(found, chars.width) if len(line.text) >= 25]
            if how == "shuffled":
                random.Random(3).shuffle(found)
            else:
                found.sort(key=lambda piece: (round(piece.top / 4), piece.x0))
            made = [line.text for line in lines_of(found, chars.width) if len(line.text) >= 25]
            place = {line: number for number, line in enumerate(made)}
            for one, other in pairwise(drawn):
                total += 1
                kept += place.get(other, -9) - place.get(one, -5) == 1
    assert total > 1000 and kept / total > 0.96  # the rest: figures beside a column


def test_a_gap_that_the_ink_of_a_slanted_letter_hides_is_one_by_the_fonts_size(
    documents: dict[str, PdfDocument],
) -> None:
    """In one paper "of 9/10" is closer than it looks, and in its formulas "P(i)" is one word."""
    pages = documents["cinc2009_0625.pdf"].pages
    assert "of 9/10" in pages[0].text
    assert "P(i)" in pages[1].text
