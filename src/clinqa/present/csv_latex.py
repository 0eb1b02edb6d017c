"""Tables as CSV, for programs, and as LaTeX, for a paper."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from clinqa.core.cells import csv_text
from clinqa.kinds.facets.pages import Grid, GridCell, GridColumn, GridRow

__all__ = ["csv_of", "latex_escape", "latex_of"]


def csv_of(table: Grid) -> str:
    """The table as CSV: full numbers, an interval in columns of its own, no formula."""
    groups = any(row.group for row in table.rows)
    header = [*(["group"] if groups else []), _plain(table.head)]
    sized = _sized(table)
    for at, column in enumerate(table.columns):
        header.append(column.key)
        if column.figures:
            header += [f"{column.key}_low", f"{column.key}_high"]
            header += [f"{column.key}_n"] if at in sized else []
    return csv_text(header, (_csv_row(table, row, groups, sized) for row in table.rows))


def _sized(table: Grid) -> set[int]:
    """The columns of figures of which it is known of how many items they are."""
    return {
        at
        for at, column in enumerate(table.columns)
        if column.figures and any(row.cells[at].n is not None for row in table.rows)
    }


def _csv_row(table: Grid, row: GridRow, groups: bool, sized: Collection[int]) -> list[object]:
    written: list[object] = [*([row.group] if groups else []), row.head]
    for at, (column, cell) in enumerate(zip(table.columns, row.cells, strict=True)):
        if column.figures:
            written += [_rounded(number) for number in (cell.value, cell.low, cell.high)]
            written += [cell.n] if at in sized else []
        elif cell.value is not None:
            written.append(_rounded(cell.value))
        else:
            written.append(None if cell.text == "–" else cell.text.replace("\u00a0", " "))
    return written


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)


def _plain(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")


_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "–": "--",
    "\u2212": r"$-$",
    "±": r"$\pm$",
    "κ": r"$\kappa$",
    "≈": r"$\approx$",
    "×": r"$\times$",
    "≥": r"$\geq$",
    "\u00a0": "~",
    "\n": " ",
    "\r": " ",
    "\t": " ",
}


def latex_escape(text: str) -> str:
    r"""The text as LaTeX prints it; no character of it is a command.

    >>> latex_escape(r"50% of a_b {\input}")
    '50\\% of a\\_b \\{\\textbackslash{}input\\}'
    """
    escaped = "".join(
        _LATEX.get(char, char) for char in text if char in _LATEX or char.isprintable()
    )
    return escaped.replace("[", "{[}").replace("]", "{]}")  # after \\ a bracket is an argument


def latex_of(table: Grid, mark: str = "") -> str:
    """The table as LaTeX (booktabs): best bold, second underlined; `mark` heads the caption."""
    kinds = "l" + "".join("r" if column.numeric else "l" for column in table.columns)
    caption = f"{mark}. {table.caption}" if mark else table.caption
    heads = [latex_escape(table.head), *(_latex_head(column) for column in table.columns)]
    lines = [
        "% needs \\usepackage{booktabs} and \\usepackage[T1]{fontenc}",
        "\\begin{table}",
        "\\centering\\small",
        f"\\caption{{{latex_escape(caption)}}}",
        f"\\label{{tab:{_plain(table.id).replace('_', '-')}}}",
        f"\\begin{{tabular}}{{{kinds}}}",
        "\\toprule",
        f"{' & '.join(heads)} \\\\",
        "\\midrule",
    ]
    for group, rows in table.grouped():
        if group:
            lines.append(
                f"\\multicolumn{{{len(heads)}}}{{l}}{{\\textit{{{latex_escape(group)}}}}} \\\\"
            )
        for row in rows:
            told = [table.told_n(row, at) for at in range(len(row.cells))]
            cells = [latex_escape(row.head), *map(_latex_cell, row.cells, told)]
            lines.append(f"{' & '.join(cells)} \\\\")
    lines += ["\\bottomrule", "\\end{tabular}"]
    for text in (*table.notes, *(f"({letter}) {text}" for letter, text in table.footnotes)):
        lines.append(f"\\par{{\\footnotesize {latex_escape(text)}}}")
    return "\n".join([*lines, "\\end{table}", ""])


def _latex_head(column: GridColumn) -> str:
    letter = f"\\textsuperscript{{{column.footnote}}}" if column.footnote else ""
    return latex_escape(column.title) + letter


def _latex_cell(cell: GridCell, n: int | None) -> str:
    text = latex_escape(cell.text)
    marked = {"best": f"\\textbf{{{text}}}", "second": f"\\underline{{{text}}}"}
    text = marked.get(cell.mark, f"{text}$^{{\\approx}}$" if cell.mark == "tie" else text)
    parts = cell.spread, cell.interval, "" if n is None else f"n {n:,}"
    small: Sequence[str] = [part for part in parts if part]
    return " ".join([text, *(f"{{\\scriptsize {latex_escape(part)}}}" for part in small)])
