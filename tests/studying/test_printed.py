"""Printed matrices: read by name, and what their diagonal says."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from clinqa.core.errors import SourceError
from clinqa.studying.printed import figures_of, lines_of, read_matrix

#: What the issue says of the paper's four matrices: diagonal minus off-diagonal, one-sided p.
PAPER = {
    "Mistral-v0.2": ("+0.09", "0.49"),
    "Llama2-7b": ("+1.68", "0.051"),
    "Llama2-13b": ("+1.03", "0.14"),
    "Mistral-v0.1": ("+4.34", "0.0014"),
}
MATRICES = Path(__file__).parents[2].parent / "shared" / "data" / "smedqa_matrices.json"


def _write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.skipif(
    not MATRICES.exists(),
    reason="the paper's printed matrices are in no file here (shared/data/smedqa_matrices.json: "
    "by model, a square of percentages with the names of its six specialties)",
)
@pytest.mark.parametrize("model", PAPER)
def test_the_papers_matrices_give_the_figures_that_are_told_of_them(
    model: str, tmp_path: Path
) -> None:
    found = json.loads(MATRICES.read_text(encoding="utf-8"))[model]
    with (tmp_path / "m.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["trained on", *found["names"]])
        for name, row in zip(found["names"], found["cells"], strict=True):
            writer.writerow([name, *row])
    figures = figures_of(read_matrix(tmp_path / "m.csv"))
    apart, p = PAPER[model]
    assert f"{figures['gap']:+.2f}" == apart
    assert f"{figures['p']:.{len(p) - 2}f}" == p


def test_rows_and_columns_are_matched_by_name(tmp_path: Path) -> None:
    path = _write(tmp_path / "m.csv", "on,B,A\nA,1,3\nB,4,2\nall,9,9\n")
    found = read_matrix(path)
    assert list(found.names) == ["B", "A"]
    assert found.cells.tolist() == [[4, 2], [1, 3]]
    assert found.left_out == ["all"]
    assert figures_of(found) == {"specialties": 2, "gap": 2.0, "p": None, "arrangements": None}
    text = "\n".join(lines_of(found))
    assert "diagonal minus off-diagonal +2 (2 specialties)" in text
    assert "none can have a p below 1/2" in text


def test_a_matrix_with_semicolons_from_a_spreadsheet_is_read(tmp_path: Path) -> None:
    text = "trained;Chirurgie;Pädiatrie\nChirurgie;50;40\nPädiatrie;42;51\n"
    (tmp_path / "m.csv").write_bytes(text.encode("cp1252"))
    assert read_matrix(tmp_path / "m.csv").names == ["Chirurgie", "Pädiatrie"]


def test_six_are_permuted(tmp_path: Path) -> None:
    rows = [",".join([n, *("50%" if m == n else "40%" for m in "abcdef")]) for n in "abcdef"]
    path = _write(tmp_path / "m.csv", "\n".join(["x,a,b,c,d,e,f", *rows]))
    text = "\n".join(lines_of(read_matrix(path)))
    assert "one-sided p 0.0014 (1 of 720 arrangements are as large)" in text
    assert "diagonal minus off-diagonal +10 " in text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "names and at least two rows"),
        ("x,a,b\na,1,2\n", "at least two rows"),
        ("x,a,b\na,1,2\nb,1\n", "row 3 has 2 cells, not 3"),
        ("x,a,b\na,1,2\nb,1,high\n", "row 3 holds a cell that is no number"),
        ("x,a,b\na,1,2\na,1,2\n", "row 3 is named as one before"),
        ("x,a,a\na,1,2\nb,1,2\n", "two columns have one name"),
        ("x,a,b\nc,1,2\nd,1,2\n", "fewer than two names"),
        ("x,a,b\na,1,nan\nb,1,2\n", "no number"),
        ("x,a,b\na,41%,0.4\nb,38%,42%\n", "some cells have a %"),
    ],
)
def test_what_is_no_matrix_is_refused_without_quoting_it(
    tmp_path: Path, text: str, said: str
) -> None:
    with pytest.raises(SourceError, match=said) as caught:
        read_matrix(_write(tmp_path / "m.csv", text))
    assert "high" not in str(caught.value)


def test_shares_beside_percentages_are_told(tmp_path: Path) -> None:
    asked = "shares beside percentages?"
    mixed = read_matrix(_write(tmp_path / "mixed.csv", "x,a,b\na,41.5,0.40\nb,38,42\n"))
    assert any(asked in line for line in lines_of(mixed))
    shares = read_matrix(_write(tmp_path / "shares.csv", "x,a,b\na,0.415,0.40\nb,0.38,1\n"))
    assert not any(asked in line for line in lines_of(shares))
    marked = _write(tmp_path / "marked.csv", "x,a,b,n\na,41.5%,0.4%,120\nb,38%,42%,130\n")
    assert read_matrix(marked).left_out == ["n"]
    assert not any(asked in line for line in lines_of(read_matrix(marked)))
