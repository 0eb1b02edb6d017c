"""Files and documents: identity, outcomes, limits, resume. Pages are read in child processes."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator, Mapping
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import pytest

from clinqa.core.errors import SourceError
from clinqa.core.records import Reason, Reject
from clinqa.sources.pdf import (
    FileOutcome,
    Mode,
    PageImage,
    PageJournal,
    PdfDocument,
    PdfLimits,
    PdfOptions,
    PdfReader,
    Why,
)
from made_pdf import MadePage, bomb, drawn, made_pdf, stream

PROSE = "\n".join(f"The PR interval is measured in lead II, says line {n}." for n in range(14))


@pytest.fixture(scope="module")
def reader() -> Iterator[PdfReader]:
    with PdfReader(PdfOptions()) as shared:
        yield shared


def by_name(documents: Iterator[PdfDocument]) -> dict[str, PdfDocument]:
    return {name: document for document in documents for name in document.names}


def test_each_kind_of_bad_file_has_its_own_outcome_and_the_run_goes_on(
    reader: PdfReader, tmp_path: Path
) -> None:
    whole = made_pdf([PROSE, PROSE])
    files = {
        "good.pdf": whole,
        "empty.pdf": b"",
        "login.pdf": b"<!DOCTYPE html><html><body>Please log in</body></html>",
        "text.pdf": b"not a PDF at all",
        "cut.pdf": whole[: len(whole) // 2],
        "junk.pdf": b"%PDF-1.4\n" + b"\x00\xff" * 500 + b"\nstartxref\n0\n%%EOF\n",
        "pageless.pdf": made_pdf([]),
    }
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    got = by_name(reader.read([tmp_path]))
    assert {name: document.outcome for name, document in got.items()} == {
        "good.pdf": FileOutcome.READ,
        "empty.pdf": FileOutcome.EMPTY_FILE,
        "login.pdf": FileOutcome.NOT_PDF,
        "text.pdf": FileOutcome.NOT_PDF,
        "cut.pdf": FileOutcome.DAMAGED,
        "junk.pdf": FileOutcome.DAMAGED,
        "pageless.pdf": FileOutcome.NO_PAGES,
    }
    assert "web page" in got["login.pdf"].detail
    assert got["pageless.pdf"].reject is None  # nothing is wrong with it
    rejects = {name: document.reject for name, document in got.items() if document.reject}
    assert {name: reject.reason for name, reject in rejects.items()} == {
        "empty.pdf": Reason.EMPTY_FILE,
        "login.pdf": Reason.NOT_PDF,
        "text.pdf": Reason.NOT_PDF,
        "cut.pdf": Reason.BROKEN_FILE,
        "junk.pdf": Reason.BROKEN_FILE,
    }
    assert [page.mode for page in got["good.pdf"].pages] == [Mode.TEXT, Mode.TEXT]


def test_a_pdf_after_some_other_bytes_is_one(reader: PdfReader, tmp_path: Path) -> None:
    (tmp_path / "mail.pdf").write_bytes(b"X-Mailer: some\r\n\r\n" + made_pdf([PROSE]))
    (tmp_path / "tail.pdf").write_bytes(made_pdf([PROSE + " "]) + b"\r\n<!-- served by -->\n" * 90)
    outcomes = {document.outcome for document in reader.read([tmp_path])}
    assert outcomes == {FileOutcome.READ}


def test_the_same_bytes_under_two_names_are_read_once(reader: PdfReader, tmp_path: Path) -> None:
    for name in ("b.pdf", "a.pdf"):
        (tmp_path / name).write_bytes(made_pdf([PROSE]))
    (document,) = reader.read([tmp_path])
    assert document.names == ("a.pdf", "b.pdf")


def test_documents_come_by_their_bytes_whatever_their_names_and_order(
    reader: PdfReader, tmp_path: Path
) -> None:
    paths = []
    for number in range(5):
        paths.append(tmp_path / f"{9 - number}.pdf")
        paths[-1].write_bytes(made_pdf([f"{PROSE} in {number}"]))
    one = [document.md5 for document in reader.read(paths)]
    other = [document.md5 for document in reader.read(paths[::-1])]
    assert one == other == sorted(one)


def test_two_workers_give_what_one_gives(tmp_path: Path) -> None:
    for number in range(6):
        (tmp_path / f"{number}.pdf").write_bytes(made_pdf([f"{PROSE} in {number}"] * 2))
    found = []
    for workers in (1, 2):
        with PdfReader(PdfOptions(workers=workers)) as reader:
            found.append([document.pages for document in reader.read([tmp_path])])
    assert found[0] == found[1]


def test_a_run_that_is_ended_early_ends_its_workers(tmp_path: Path) -> None:
    for number in range(8):
        (tmp_path / f"{number}.pdf").write_bytes(made_pdf([f"{PROSE} in {number}"] * 3))
    before = {child.pid for child in active_children()}
    with PdfReader(PdfOptions(workers=2, limit=4)) as reader:
        documents = list(reader.read([tmp_path]))
        assert sum(len(document.pages) for document in documents) == 4
        assert isinstance(reader.image(documents[0], 1), PageImage)  # it can still be asked
    assert {child.pid for child in active_children()} <= before


def test_folders_patterns_and_names_are_found_each_once(reader: PdfReader, tmp_path: Path) -> None:
    inner = tmp_path / "in" / "ner"
    inner.mkdir(parents=True)
    (inner / "A.PDF").write_bytes(made_pdf([PROSE]))
    (tmp_path / "paper").write_bytes(made_pdf([PROSE + "!"]))
    (tmp_path / "notes.txt").write_text("no PDF")
    (tmp_path / ".hidden.pdf").write_bytes(b"no")
    os.symlink("/etc/hostname", tmp_path / "out.pdf")
    inputs = [tmp_path, tmp_path / "pap*", tmp_path / "**" / "*.PDF", tmp_path / "paper"]
    names = sorted(name for document in reader.plan(inputs) for name in document.names)
    assert names == ["A.PDF", "paper"]
    assert reader.found.skipped == {"a link that leads out of the folder": 1}


@pytest.mark.parametrize("name", ["missing.pdf", "no*match.pdf", "."])
def test_an_input_that_is_not_there_is_named(reader: PdfReader, tmp_path: Path, name: str) -> None:
    with pytest.raises(SourceError, match=r"pdf|PDF"):
        reader.plan([tmp_path / name])


def test_a_file_that_cannot_be_read_is_an_outcome(
    reader: PdfReader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.pdf").write_bytes(made_pdf([PROSE]))
    os.mkfifo(tmp_path / "pipe.pdf")
    got = by_name(reader.read([tmp_path / "a.pdf", tmp_path / "pipe.pdf"]))
    assert got["pipe.pdf"].outcome is FileOutcome.UNREADABLE
    assert got["a.pdf"].outcome is FileOutcome.READ


def test_a_page_that_takes_too_long_costs_one_page(tmp_path: Path) -> None:
    endless = bomb(b"BT /F1 10 Tf 1 0 0 1 72 700 Tm (abc) Tj ET\n", 5_000_000)
    (tmp_path / "hostile.pdf").write_bytes(made_pdf([PROSE, endless, PROSE]))
    with PdfReader(PdfOptions(limits=PdfLimits(seconds=4.0))) as reader:
        (document,) = reader.read([tmp_path])
    assert document.outcome is FileOutcome.READ
    assert [page.mode for page in document.pages] == [Mode.TEXT, Mode.NONE, Mode.TEXT]
    failed = document.pages[1]
    assert failed.reason is Why.FAILED and failed.text == ""
    assert failed.reject is not None
    assert (failed.reject.reason, failed.reject.page) == (Reason.TOO_COSTLY, 2)


def test_a_picture_of_too_many_pixels_is_not_drawn_and_its_page_not_called_blank(
    tmp_path: Path,
) -> None:
    side = 8_000  # 64 megapixels
    picture = MadePage(b"q 600 0 0 700 0 0 cm /I Do Q", resources="/XObject << /I 5 0 R >>")
    packer = zlib.compressobj(9)
    packed = b"".join(packer.compress(bytes(side)) for _ in range(side)) + packer.flush()
    marks = f"/Type /XObject /Subtype /Image /Width {side} /Height {side}"
    marks += " /ColorSpace /DeviceGray /BitsPerComponent 8 /Filter /FlateDecode"
    (tmp_path / "big.pdf").write_bytes(made_pdf([PROSE, picture, PROSE], [stream(packed, marks)]))
    with PdfReader(PdfOptions()) as reader:
        (document,) = reader.read([tmp_path])
        modes = [page.mode for page in document.pages]
        assert modes[0] is Mode.TEXT and modes[2] is Mode.TEXT
        assert modes[1] is Mode.VISION  # it could not be told to be blank
        refused = reader.image(document, 2)
        assert isinstance(refused, Reject) and refused.reason is Reason.TOO_COSTLY
        assert isinstance(reader.image(document, 1), PageImage)  # the next one is not lost


def test_a_page_that_takes_too_much_memory_costs_one_page(tmp_path: Path) -> None:
    wide = bomb(b"0 0 m 500 700 l 300 3 l S\n", 2_000_000)
    (tmp_path / "wide.pdf").write_bytes(made_pdf([PROSE, wide, PROSE]))
    with PdfReader(PdfOptions(limits=PdfLimits(memory=100 << 20))) as reader:
        (document,) = reader.read([tmp_path])
    assert [page.mode for page in document.pages] == [Mode.TEXT, Mode.NONE, Mode.TEXT]
    assert document.pages[1].reject is not None
    assert document.pages[1].reject.detail in ("crash", "memory")


def test_a_page_of_any_size_stays_within_the_pixels(tmp_path: Path) -> None:
    huge = drawn("3 w 72 300 m 540 500 l S", box=(0, 0, 200_000, 100_000))
    (tmp_path / "huge.pdf").write_bytes(made_pdf([huge]))
    with PdfReader(PdfOptions(limits=PdfLimits(pixels=1_000_000))) as reader:
        (document,) = reader.read([tmp_path])
        image = reader.image(document, 1)
    assert isinstance(image, PageImage)
    assert 500_000 < image.width * image.height <= 1_000_000


def test_a_form_that_draws_itself_ends(reader: PdfReader, tmp_path: Path) -> None:
    form = "/Type /XObject /Subtype /Form /BBox [0 0 600 700]"
    looped = stream(b"/X Do", f"{form} /Resources << /XObject << /X 5 0 R >> >>")
    page = MadePage(b"/X Do", resources="/XObject << /X 5 0 R >>")
    (tmp_path / "loop.pdf").write_bytes(made_pdf([page, PROSE], [looped]))
    (document,) = reader.read([tmp_path])
    assert document.pages[1].mode is Mode.TEXT


def test_pages_that_were_parsed_are_not_parsed_again(tmp_path: Path) -> None:
    class Counted(PageJournal):
        put_keys: list[str]

        def put(self, key: str, record: Mapping[str, Any]) -> None:
            self.put_keys = [*getattr(self, "put_keys", []), key]
            super().put(key, record)

    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.pdf").write_bytes(made_pdf([PROSE, "", PROSE]))
    runs = []
    for _ in range(2):
        with (
            Counted(tmp_path / "pages.jsonl", private=True) as store,
            PdfReader(PdfOptions(), store) as reader,
        ):
            runs.append((list(reader.read([folder])), len(getattr(store, "put_keys", []))))
    assert runs[0][0] == runs[1][0]
    assert runs[0][1] == 4 and runs[1][1] == 0  # three pages, and one that was drawn
    lines = (tmp_path / "pages.jsonl").read_text().splitlines()
    assert all(json.loads(line)["key"] for line in lines)


def test_a_limit_stops_after_its_pages_and_changes_no_text(
    reader: PdfReader, tmp_path: Path
) -> None:
    for number in range(3):
        (tmp_path / f"{number}.pdf").write_bytes(made_pdf([f"{PROSE} in {number}"] * 2))
    whole = {page.text for document in reader.read([tmp_path]) for page in document.pages}
    with PdfReader(PdfOptions(limit=3)) as limited:
        documents = list(limited.read([tmp_path]))
        assert limited.left_out == 1
    pages = [page for document in documents for page in document.pages]
    assert len(pages) == 3
    assert {page.text for page in pages} <= whole


def test_a_picture_is_grey_png_and_turned_upright(reader: PdfReader, tmp_path: Path) -> None:
    from io import BytesIO

    from PIL import Image

    wide = "4 w 72 600 m 540 600 l S"
    (tmp_path / "a.pdf").write_bytes(made_pdf([drawn(wide)]))
    (document,) = reader.read([tmp_path])
    image = reader.image(document, 1)
    assert isinstance(image, PageImage)
    opened = Image.open(BytesIO(image.png))
    assert (opened.mode, opened.size) == ("L", (image.width, image.height))
    assert opened.width == 1275 and opened.getextrema() == (0, 255)
