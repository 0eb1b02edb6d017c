from __future__ import annotations

import csv
import io
import re

from clinqa.kinds.facets.pages import Grid, GridCell, GridColumn, GridRow
from clinqa.present.csv_latex import csv_of, latex_escape, latex_of

TABLE = Grid(
    "made",
    "50% of a_b & c",
    "Model",
    (GridColumn("bleu", "BLEU", figures=True), GridColumn("note", "Note", numeric=False)),
    (
        GridRow("=c|x", (
            GridCell("0.500", "[0.4, 0.6]", "", "best", "", None, 0.5, 0.4, 0.6), GridCell("a"),
        )),
        GridRow(r"\input{x}", (GridCell("–", reason="none"), GridCell("@b"))),
    ),
    footnotes=(("a", "bleu|13a"),),
)  # fmt: skip


def test_csv_holds_numbers_with_their_interval_and_no_formula() -> None:
    rows = list(csv.reader(io.StringIO(csv_of(TABLE))))
    assert rows[0] == ["model", "bleu", "bleu_low", "bleu_high", "note"]
    assert rows[1] == ["'=c|x", "0.5", "0.4", "0.6", "a"]
    assert rows[2] == ["\\input{x}", "", "", "", "'@b"]


def test_latex_runs_nothing_that_a_name_holds() -> None:
    text = latex_of(TABLE)
    assert r"\input" not in text and r"\textbackslash{}input\{x\}" in text
    assert r"50\% of a\_b \& c" in text
    assert r"\textbf{0.500}" in text


def test_latex_environments_and_braces_close() -> None:
    text = latex_of(TABLE)
    bare = re.sub(r"\\[{}]", "", text)
    assert bare.count("{") == bare.count("}")
    for name in ("table", "tabular"):
        assert text.count(f"\\begin{{{name}}}") == text.count(f"\\end{{{name}}}") == 1


def test_every_character_of_latex_is_escaped() -> None:
    for char in "\\{}&%$#_~^":
        assert latex_escape(char) not in (char, "")
    assert "\x00" not in latex_escape("a\x00b")
