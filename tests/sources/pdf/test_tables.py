"""What is written of pages: tables and XML."""

from __future__ import annotations

from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from clinqa.sources.pdf.clean import clean_line
from clinqa.sources.pdf.page_tables import documents_table, page_xml, pages_table, xml_name
from clinqa.sources.pdf.records import FileOutcome, Mode, PdfDocument, PdfPage, TextEngine, Why


def page(text: str, number: int = 1, md5: str = "ab" * 16) -> PdfPage:
    return PdfPage(md5, number, text, len(text), Mode.TEXT, Why.ENOUGH_TEXT, TextEngine.PDFIUM)


@given(st.text())
def test_xml_gives_the_text_back_to_the_character(text: str) -> None:
    clean = "\n".join(clean_line(line) for line in text.split("\n"))
    root = ElementTree.fromstring(page_xml(page(clean), "rhythm"))
    assert (root.findtext("text") or "") == clean
    assert root.get("chars") == str(len(clean)) and root.get("category") == "rhythm"


def test_names_stand_in_the_side_table_alone() -> None:
    document = PdfDocument("ab" * 16, ("A & B.pdf", "c.pdf"), FileOutcome.READ, (page("x"),), 9)
    pages, files = pages_table([document]), documents_table([document])
    assert files["name"].to_pylist() == ["A & B.pdf", "c.pdf"]
    assert "A & B" not in str(pages.to_pylist()) + page_xml(document.pages[0]).decode()
    assert xml_name(document.pages[0]) == "ab" * 16 + "-00001.xml"


def test_pages_are_sorted_by_document_and_number() -> None:
    one = PdfDocument("b", ("x",), FileOutcome.READ, (page("1", 1, "b"), page("2", 2, "b")))
    two = PdfDocument("a", ("y",), FileOutcome.READ, (page("3", 1, "a"),))
    rows = pages_table([one, two]).select(["md5", "page"]).to_pylist()
    assert [(row["md5"], row["page"]) for row in rows] == [("a", 1), ("b", 1), ("b", 2)]
