"""The text of a page: words, columns, headers, what typesetting did to words."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from clinqa.sources.pdf.records import Mode, Why
from made_pdf import MadePage, drawn, made_pdf, plain, shown
from sources.pdf.reading import pages_of

LEFT = [f"The left column has line {number} of its own prose." for number in range(1, 13)]
RIGHT = [f"The right column goes on with line {number} here." for number in range(1, 13)]
PROSE = "\n".join(f"The PR interval is measured in lead II, says line {n}." for n in range(14))


def test_words_of_small_type_are_not_glued(tmp_path: Path) -> None:
    words = ["the", "P", "wave", "is", "upright", "in", "lead", "II"]
    # no spaces, but gaps of 0.27 of the size: 1.6 points, less than a fixed tolerance of 3
    array = " -270 ".join(f"({word})" for word in words)
    page = pages_of(made_pdf([drawn(f"BT /F1 6 Tf 72 700 Td [{array}] TJ ET")]), tmp_path)[0]
    assert page.text.split() == words


def test_two_columns_drawn_in_turn_are_read_in_turn(tmp_path: Path) -> None:
    left = [shown(line, 60, 700 - 12 * n, 9) for n, line in enumerate(LEFT)]
    right = [shown(line, 320, 700 - 12 * n, 9) for n, line in enumerate(RIGHT)]
    text = pages_of(made_pdf([drawn(*left, *right)]), tmp_path)[0].text
    assert [line for line in text.split("\n") if line] == LEFT + RIGHT


@pytest.mark.parametrize("shift", [0, 5])
def test_two_columns_drawn_row_by_row_are_read_column_by_column(tmp_path: Path, shift: int) -> None:
    title = [shown("A title that spans both of the columns of this page", 60, 730, 14)]
    rows = []
    for n, (left, right) in enumerate(zip(LEFT, RIGHT, strict=True)):
        rows += [shown(left, 60, 700 - 12 * n, 9), shown(right, 320, 700 - 12 * n - shift, 9)]
    text = pages_of(made_pdf([drawn(*title, *rows)]), tmp_path)[0].text
    lines = [line for line in text.split("\n") if line]
    assert lines == ["A title that spans both of the columns of this page", *LEFT, *RIGHT]


def test_columns_drawn_in_any_order_are_read_in_order(tmp_path: Path) -> None:
    pieces = [shown(line, 60, 700 - 12 * n, 9) for n, line in enumerate(LEFT)]
    pieces += [shown(line, 320, 700 - 12 * n, 9) for n, line in enumerate(RIGHT)]
    random.Random(5).shuffle(pieces)
    text = pages_of(made_pdf([drawn(*pieces)]), tmp_path)[0].text
    assert [line for line in text.split("\n") if line] == LEFT + RIGHT


def test_rows_of_a_table_stay_rows(tmp_path: Path) -> None:
    cells = [("PR", "120 to 200 ms"), ("QRS", "70 to 110 ms"), ("QT", "below 450 ms")]
    drawings = []
    for n, (name, value) in enumerate(cells):
        drawings += [shown(name, 72, 700 - 14 * n), shown(value, 200, 700 - 14 * n)]
    text = pages_of(made_pdf([drawn(*drawings)]), tmp_path)[0].text
    assert text.split("\n") == ["PR 120 to 200 ms", "QRS 70 to 110 ms", "QT below 450 ms"]


@pytest.mark.parametrize("angle", [0, 90, 180, 270])
def test_a_page_reads_the_same_however_it_is_turned(tmp_path: Path, angle: int) -> None:
    upright = pages_of(made_pdf([PROSE]), tmp_path)[0]
    page = pages_of(made_pdf([plain(PROSE, f"/Rotate {angle}")]), tmp_path)[0]
    assert page.text == upright.text and page.mode is Mode.TEXT
    assert page.rotation == angle


@pytest.mark.parametrize(
    "matrix, x, y, step", [("0 1 -1 0", 100, 60, (14, 0)), ("-1 0 0 -1", 540, 100, (0, 14))]
)
def test_a_page_that_is_typed_sideways_is_read_as_it_runs(
    tmp_path: Path, matrix: str, x: float, y: float, step: tuple[int, int]
) -> None:
    lines = PROSE.split("\n")
    drawings = [
        shown(line, x + step[0] * n, y + step[1] * n, 10, matrix) for n, line in enumerate(lines)
    ]
    page = pages_of(made_pdf([drawn(*drawings)]), tmp_path)[0]
    assert page.text.split("\n") == lines


def test_what_stands_outside_the_cropbox_is_not_there(tmp_path: Path) -> None:
    cut = plain(PROSE + "\n" * 20 + "The hidden line says that QRS is 900 ms.", "")
    page = pages_of(made_pdf([MadePage(cut.content, more="/CropBox [0 300 612 792]")]), tmp_path)[0]
    assert "hidden" not in page.text and "line 13" in page.text


def test_words_broken_at_a_lines_end_are_whole_again(tmp_path: Path) -> None:
    lines = [
        "The depolarization of the ventricles is seen. A delay of depolar-",
        "ization is a block. The T-wave is seen in 12-",
        "lead recordings, a well-known fact of large-",
        "scale studies by Wolff-",
        "Parkinson and others, at 120-",
        "200 ms and with atrio\xad",
        "ventricular block of the end-",
        "to-end kind.",
    ]
    text = pages_of(made_pdf(["\n".join(lines)]), tmp_path)[0].text
    assert "delay of depolarization is a block" in text.replace("\n", " ")
    for whole in ("12-lead", "large-scale", "Wolff-Parkinson", "120-200", "end-to-end"):
        assert whole in text
    assert "atrioventricular" in text


def test_running_headers_and_page_numbers_are_no_text(tmp_path: Path) -> None:
    def sheet(number: int) -> MadePage:
        body = [shown(f"{number} {line}", 72, 690 - 14 * n) for n, line in enumerate(LEFT)]
        head = shown(f"Guideline of the society, page {number}", 72, 760, 8)
        return drawn(head, *body, shown(str(number), 300, 30, 8))

    pages = pages_of(made_pdf([sheet(number) for number in range(1, 5)]), tmp_path)
    for page in pages:
        assert "Guideline" not in page.text
        assert page.text.split("\n") == [f"{page.page} {line}" for line in LEFT]


def test_a_line_that_stands_once_at_the_edge_stays(tmp_path: Path) -> None:
    first = drawn(shown("Electrocardiography of the adult", 72, 760), *[])
    pages = pages_of(made_pdf([first, PROSE]), tmp_path)
    assert pages[0].text == "Electrocardiography of the adult"


def test_labels_that_run_up_the_page_are_left_out_and_upright_text_stays(tmp_path: Path) -> None:
    label = shown("Amplitude in millivolts", 40, 300, 10, "0 1 -1 0")
    page = plain(PROSE)
    page = MadePage(page.content + b"\n" + label.encode())
    got = pages_of(made_pdf([page]), tmp_path)[0]
    assert got.text == PROSE and got.mode is Mode.TEXT


def test_a_page_of_labels_that_run_all_ways_goes_to_vision(tmp_path: Path) -> None:
    labels = [shown(f"label number {n}", 60 + 12 * n, 300, 8, "0 1 -1 0") for n in range(30)]
    labels += [shown(f"another label {n}", 60, 60 + 9 * n, 8) for n in range(25)]
    labels += [shown(f"third label {n}", 500 - 12 * n, 500, 8, "0 -1 1 0") for n in range(30)]
    page = pages_of(made_pdf([drawn(*labels)]), tmp_path)[0]
    assert (page.mode, page.reason, page.text) == (Mode.VISION, Why.SIDEWAYS, "")


def test_words_spelt_backwards_go_to_vision(tmp_path: Path) -> None:
    backwards = "\n".join(line[::-1] for line in PROSE.replace("PR", "the and").split("\n"))
    page = pages_of(made_pdf([backwards.replace("eht", "eht dna rof")]), tmp_path)[0]
    assert (page.mode, page.reason) == (Mode.VISION, Why.REVERSED)


def test_letters_that_make_no_words_go_to_vision(tmp_path: Path) -> None:
    shift = str.maketrans("aeiouythnsr", "bcdfgqxzkvw")
    page = pages_of(made_pdf([PROSE.translate(shift)]), tmp_path)[0]
    assert (page.mode, page.reason) == (Mode.VISION, Why.BROKEN_WORDS)


def test_german_prose_is_text(tmp_path: Path) -> None:
    line = "Die PQ-Zeit wird vom Beginn der P-Welle bis zum Beginn des QRS-Komplexes gemessen."
    page = pages_of(made_pdf(["\n".join([line] * 8)]), tmp_path)[0]
    assert page.mode is Mode.TEXT


@pytest.mark.parametrize(
    "chars, mode", [(399, Mode.BOTH), (400, Mode.TEXT), (100, Mode.BOTH), (99, Mode.VISION)]
)
def test_the_mode_follows_the_count_of_stripped_characters(
    tmp_path: Path, chars: int, mode: Mode
) -> None:
    # lines of 49 characters, with the line feed 50: white space counts
    full = [f"The axis is normal in lead II, line {n:02} says it so."[:49] for n in range(9)]
    lines = full[: (chars - 1) // 50]
    lines.append(("The last line is " + "so " * 20)[: chars - 50 * len(lines) - 1] + ".")
    assert len("\n".join(lines)) == chars
    page = pages_of(made_pdf(["\n".join(lines)]), tmp_path)[0]
    assert page.chars == len(page.text) == len(page.text.strip())
    assert (page.chars, page.mode) == (chars, mode)


def test_a_page_with_its_number_alone_is_blank_and_one_with_a_drawing_is_not(
    tmp_path: Path,
) -> None:
    number = shown("Page 4", 300, 30, 9)
    drawing = "3 w 72 300 m 540 500 l S 72 500 m 540 300 l S"
    blank, figure = pages_of(made_pdf([drawn(number), drawn(number, drawing)]), tmp_path)
    assert (blank.mode, blank.reason, blank.text) == (Mode.NONE, Why.BLANK, "")
    assert (figure.mode, figure.reason) == (Mode.VISION, Why.LITTLE_TEXT)


def test_a_page_has_no_character_that_xml_forbids(tmp_path: Path) -> None:
    page = drawn("BT /F1 10 Tf 72 700 Td <5468652050002077617665017F81> Tj ET")
    text = pages_of(made_pdf([page, PROSE]), tmp_path)[0].text
    assert all(c in "\n\t" or c >= " " for c in text) and "\ufffe" not in text
