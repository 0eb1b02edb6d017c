"""What is kept and compared: differences are found and named, and what may differ is taken out."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from golden.compared import differences, told
from golden.page import lines_of_page
from golden.plain import Plain
from golden.tables import kept_table
from golden.work import read_kept, write_kept


def test_a_difference_is_named_with_its_path_before_and_after() -> None:
    before = {"figures": {"a": {"value": 0.5, "n": 3}, "b": {"value": 1}}, "lines": ["x", "y"]}
    after = {"figures": {"a": {"value": 0.6, "n": 3}}, "lines": ["x", "z"], "new": 1}
    assert list(differences(before, after)) == [
        (" > figures > a > value", 0.5, 0.6),
        (" > figures > b", {"value": 1}, "(nothing)"),
        (" > lines[1]", "y", "z"),
        (" > new", "(nothing)", 1),
    ]
    assert "before: 0.5\n    after:  0.6" in told(before, after, "step")


def test_numbers_are_the_same_to_a_billionth_and_nothing_else_is() -> None:
    row = "run | 0.123456789012"
    assert not list(differences([0.1 + 0.2, row], [0.3, "run | 0.123456789013"]))
    for one, other in ((1.0, 1.00001), (True, 1), ("0.1", "0.2"), (None, 0), ("a", "b")):
        assert list(differences(one, other))


def test_at_most_twenty_differences_are_told() -> None:
    said = told(dict.fromkeys(range(50), 1), dict.fromkeys(range(50), 2), "step")
    assert said.count("before:") == 20 and said.endswith("and more")


def test_identities_times_and_versions_go_and_ids_of_items_stay(tmp_path: Path) -> None:
    manifest = tmp_path / "manifest.json"
    manifest.write_text('{"fingerprint": "' + "0123456789abcdef" * 4 + '"}')
    plain = Plain(tmp_path)
    plain.learn(manifest)
    text = f"{tmp_path}/x prior-6a01adcb of 0123456789abcdef, item 9f4c6e360d44c967, clinqa 0.1.0"
    assert plain.text(text) == "TMP/x prior-# of #, item 9f4c6e360d44c967, clinqa VERSION"
    assert plain.value({"seconds": 3, "n": 1.0 / 3}) == {"n": 0.33333333333}


def test_of_a_large_table_the_column_that_changed_is_named(tmp_path: Path) -> None:
    kept = []
    for last in (4999, 7):
        rows = [{"id": f"{n:06}", "value": float(n)} for n in range(4999)]
        rows.append({"id": "x", "value": float(last)})
        pq.write_table(pa.Table.from_pylist(rows), tmp_path / "t.parquet")
        kept.append(kept_table(tmp_path / "t.parquet", Plain(tmp_path)))
    paths = [path for path, _, _ in differences(*kept)]
    assert any("by column > value" in path for path in paths)
    assert not any("by column > id" in path for path in paths)


def test_a_page_is_read_as_people_see_it() -> None:
    page = (
        "<style>p {}</style><h1>Title</h1><p>One <b>two</b><table><tr><th>Run<th>Wall clock, s"
        "<tr><td>a<td>0.2</table><script type='application/json'>{\"figures\": [1, 2]}</script>"
    )
    assert lines_of_page(page) == [
        "Title", "One two", "| Run | Wall clock, s", "| a | #", "[data: figures 2]",
    ]  # fmt: skip


def test_the_same_content_is_the_same_bytes(tmp_path: Path) -> None:
    write_kept(tmp_path / "a.gz", {"b": 1, "a": "é"})
    write_kept(tmp_path / "b.gz", {"a": "é", "b": 1})
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()
    assert read_kept(tmp_path / "a.gz") == {"a": "é", "b": 1}
