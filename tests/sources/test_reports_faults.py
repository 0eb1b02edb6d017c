"""Damaged inputs: each a counted reject or a clear error, and nothing is lost in silence."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from clinqa.core.errors import ConfigError, SourceError
from clinqa.core.records import Reject
from clinqa.sources.reports import ReadOptions, ReportReader, read_reports, streams


def read(*paths: Path, **options: object) -> tuple[dict[str, str], list[Reject], ReportReader]:
    reader = read_reports(list(paths), ReadOptions(**options))  # type: ignore[arg-type]
    texts: dict[str, str] = {}
    rejects: list[Reject] = []
    for batch in reader:
        for row in batch.studies.to_pylist():
            texts[row["study_id"]] = row["text"]
        rejects += batch.rejects
    assert reader.counts.reconcile()
    assert reader.counts.rejected == len(rejects)
    return texts, rejects, reader


def reasons(rejects: list[Reject]) -> list[tuple[str, int | None]]:
    return [(each.reason.value, each.row) for each in rejects]


def test_bad_utf8_becomes_replacement_characters_and_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "n.csv"
    path.write_bytes("id,text\n1,caf\xe9 and \xff\n2,fine ☃\n".encode("latin-1", "ignore"))
    path.write_bytes(b"id,text\n1,caf\xe9 and \xff\n2,\xe2\x98\x83 \xef\xbf\xbd\n")
    texts, _, reader = read(path)
    assert texts == {"1": "caf\ufffd and \ufffd", "2": "☃ \ufffd"}
    assert (reader.counts.bad_bytes, reader.counts.bad_texts) == (2, 1)
    path = tmp_path / "n.jsonl"
    path.write_bytes(b'{"id": 1, "text": "caf\xe9"}\n{"id": 2, "text": "\\ud800 x"}\n')
    texts, _, reader = read(path)
    assert texts == {"1": "caf\ufffd", "2": "\ufffd x"}
    assert reader.counts.bad_bytes == 2


def test_bad_utf8_in_an_id_is_replaced_too(tmp_path: Path) -> None:
    (tmp_path / "n.csv").write_bytes(b"id,text\n\xe91,a\n2,b\n")
    texts, _, _ = read(tmp_path / "n.csv")
    assert texts == {"\ufffd1": "a", "2": "b"}


def test_a_byte_order_mark_is_dropped_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "n.csv").write_bytes(b'\xef\xbb\xbfid,text\r\n1,"a\r\nb\0c"\r\n')
    assert read(tmp_path / "n.csv")[0] == {"1": "a\r\nb\0c"}
    (tmp_path / "n.jsonl").write_bytes(b'\xef\xbb\xbf{"id": 1, "text": "a"}\r\n')
    assert read(tmp_path / "n.jsonl")[0] == {"1": "a"}


def test_utf16_is_named(tmp_path: Path) -> None:
    for encoding in ("utf-16", "utf-16-be", "utf-16-le", "utf-32", "utf-32-be"):
        (tmp_path / "n.csv").write_bytes("id,text\n1,a\n".encode(encoding))
        with pytest.raises(SourceError, match=encoding[:6].upper()):
            read(tmp_path / "n.csv")
    (tmp_path / "n.csv").write_bytes(b"id,text\0\n1,a\n")
    with pytest.raises(SourceError, match="no text file"):
        read(tmp_path / "n.csv")


def test_empty_and_blank_texts_are_rejected_with_their_id(tmp_path: Path) -> None:
    (tmp_path / "n.csv").write_text('id,text\n1,\n2," \n\t"\n3,x\n')
    texts, rejects, _ = read(tmp_path / "n.csv")
    assert texts == {"3": "x"}
    assert [(r.reason.value, r.source_id, r.row) for r in rejects] == [
        ("empty_text", "1", 1),
        ("empty_text", "2", 2),
    ]
    assert rejects[0].detail == "n.csv row 1"


def test_null_text_in_parquet_and_json_is_empty(tmp_path: Path) -> None:
    parquet.write_table(pa.table({"id": [1, 2], "text": ["a", None]}), tmp_path / "n.parquet")
    assert reasons(read(tmp_path / "n.parquet")[1]) == [("empty_text", 2)]
    (tmp_path / "n.jsonl").write_text(
        '{"id": 1, "text": null}\n{"id": 2}\n{"id": 3, "text": "a"}\n'
    )
    assert reasons(read(tmp_path / "n.jsonl")[1]) == [("empty_text", 1), ("empty_text", 2)]


def test_a_row_without_study_id_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "n.csv").write_text("id,text\n,secret\n 	,b\n7,c\n")
    texts, rejects, _ = read(tmp_path / "n.csv")
    assert texts == {"7": "c"}
    assert reasons(rejects) == [("no_study_id", 1), ("no_study_id", 2)]
    assert "secret" not in repr(rejects)


def test_a_text_over_the_limit_is_rejected_by_characters_not_bytes(tmp_path: Path) -> None:
    (tmp_path / "n.csv").write_text("id,text\n1," + "é" * 10 + "\n2," + "é" * 11 + "\n")
    texts, rejects, _ = read(tmp_path / "n.csv", max_chars=10)
    assert list(texts) == ["1"]
    assert reasons(rejects) == [("text_too_long", 2)]


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "jsonl", "parquet", "txt"])
def test_a_5_mb_note_is_read_whole(tmp_path: Path, kind: str) -> None:
    note = "Mild MR, no AS.\n" * (5 * 2**20 // 16)
    path = tmp_path / f"n.{kind}"
    if kind.startswith("csv"):
        data = f'id,text\n1,small\n2,"{note}"\n3,small\n'.encode()
        path.write_bytes(gzip.compress(data) if kind.endswith("gz") else data)
    elif kind == "jsonl":
        path.write_text("".join(json.dumps({"id": i, "text": t}) + "\n" for i, t in [(2, note)]))
    elif kind == "parquet":
        parquet.write_table(pa.table({"id": [1, 2], "text": ["small", note]}), path)
    else:
        path = tmp_path / "2.txt"
        path.write_text(note)
    texts, rejects, _ = read(path, max_chars=10_000_000)
    assert texts["2"] == note
    assert rejects == []
    texts, rejects, _ = read(path)
    assert [(r.reason.value, r.source_id) for r in rejects] == [("text_too_long", "2")]


def test_a_truncated_gzip_gives_what_can_be_read_and_one_reject(tmp_path: Path) -> None:
    rows = "".join(f'{i},"note {i} {os.urandom(40).hex()}\nend"\n' for i in range(2000))
    whole = gzip.compress(("id,text\n" + rows).encode())
    (tmp_path / "n.csv.gz").write_bytes(whole[: len(whole) // 2])
    texts, rejects, _ = read(tmp_path / "n.csv.gz")
    assert 500 < len(texts) < 1500
    assert all(text.endswith("\nend") for text in texts.values())
    assert reasons(rejects) == [("broken_file", None)]
    assert rejects[0].detail == "n.csv.gz: gzip file ends early"


def test_a_truncated_gzip_of_lines_gives_whole_lines_only(tmp_path: Path) -> None:
    rows = "".join(json.dumps({"id": i, "text": os.urandom(40).hex()}) + "\n" for i in range(999))
    whole = gzip.compress(rows.encode())
    (tmp_path / "n.jsonl.gz").write_bytes(whole[: len(whole) // 2])
    texts, rejects, _ = read(tmp_path / "n.jsonl.gz")
    assert texts
    assert {len(text) for text in texts.values()} == {80}
    assert reasons(rejects) == [("broken_file", None)]


def test_damaged_gzip_data_is_a_broken_file(tmp_path: Path) -> None:
    good = tmp_path / "good.csv"
    good.write_text("id,text\n1,a\n")
    whole = bytearray(gzip.compress(b"id,text\n" + os.urandom(90_000).hex().encode()))
    whole[9000:9040] = b"\0" * 40
    whole[20:60] = b"\xff" * 40
    (tmp_path / "bad.csv.gz").write_bytes(bytes(whole))
    texts, rejects, _ = read(tmp_path)
    assert texts == {"1": "a"}
    assert reasons(rejects) == [("broken_file", None)]


def test_gzip_of_several_members_and_with_padding_is_whole(tmp_path: Path) -> None:
    data = gzip.compress(b"id,text\n1,a\n") + gzip.compress(b"2,b\n") + b"\0" * 50
    (tmp_path / "n.csv.gz").write_bytes(data)
    texts, rejects, _ = read(tmp_path / "n.csv.gz")
    assert (texts, rejects) == ({"1": "a", "2": "b"}, [])


def test_gzip_data_followed_by_something_else_is_told(tmp_path: Path) -> None:
    (tmp_path / "n.csv.gz").write_bytes(gzip.compress(b"id,text\n1,a\n") + b"junk")
    texts, _, reader = read(tmp_path / "n.csv.gz")
    assert texts == {"1": "a"}
    assert reader.broken == ["n.csv.gz: what follows the gzip data is no gzip data"]


def test_rows_of_the_wrong_width_are_rejected_and_reading_goes_on(tmp_path: Path) -> None:
    (tmp_path / "n.csv").write_text("id,text\n1,a\n2\n\n3,b\n4,c,d\n5,e\n")
    texts, rejects, _ = read(tmp_path / "n.csv")
    assert texts == {"1": "a", "3": "b", "5": "e"}
    assert reasons(rejects) == [("broken_row", 2), ("broken_row", 4)]
    assert "wrong number of fields" in rejects[0].detail


def test_a_row_of_the_wrong_width_may_hold_bad_utf8(tmp_path: Path) -> None:
    (tmp_path / "n.csv").write_bytes(b"id,text\n1,a\n\xff\n3,b\n")
    texts, rejects, _ = read(tmp_path / "n.csv")
    assert texts == {"1": "a", "3": "b"}
    assert reasons(rejects) == [("broken_row", 2)]


def test_an_unclosed_quote_costs_its_own_row_only(tmp_path: Path) -> None:
    (tmp_path / "n.csv").write_text(
        'id,subject_id,text\n1,p,"a\nb"\n2,p,"No MR, no AS, no AI\n3,p,"c\nd"\n4,p,"e"\n'
    )
    texts, rejects, _ = read(tmp_path / "n.csv")
    assert texts == {"1": "a\nb", "3": "c\nd", "4": "e"}
    assert reasons(rejects) == [("broken_row", 2)]
    assert "No MR" not in repr(rejects)


def test_an_unclosed_quote_at_the_end_is_found(tmp_path: Path) -> None:
    (tmp_path / "n.csv").write_text('id,text\n1,"a"\n2,"b\nc\n')
    texts, rejects, _ = read(tmp_path / "n.csv")
    assert texts == {"1": "a"}
    assert reasons(rejects) == [("broken_row", 2)]


def test_a_quote_closed_by_the_next_rows_opening_one_is_found(tmp_path: Path) -> None:
    # the third row's text begins with a line end, so the swallowed row looks well closed
    (tmp_path / "n.csv").write_text('id,s,text\n1,p,"a"\n2,p,"b\n3,p,"\nc"\n4,p,"d"\n')
    texts, rejects, _ = read(tmp_path / "n.csv")
    assert texts == {"1": "a", "3": "\nc", "4": "d"}
    assert reasons(rejects) == [("broken_row", 2)]


def test_stray_quotes_inside_a_quoted_text_are_a_broken_row(tmp_path: Path) -> None:
    (tmp_path / "n.csv").write_text('id,text\n1,"a"\n2,"said "fine" today"\n3,"b"\n')
    texts, rejects, _ = read(tmp_path / "n.csv")
    assert texts == {"1": "a", "3": "b"}
    assert reasons(rejects) == [("broken_row", 2)]


def test_quotes_inside_an_unquoted_text_are_kept(tmp_path: Path) -> None:
    (tmp_path / "n.csv").write_text('id,text\n1,5" above\n2,b\n3,"x"\n')
    texts, rejects, _ = read(tmp_path / "n.csv")
    assert (texts, rejects) == ({"1": '5" above', "2": "b", "3": "x"}, [])


def test_bad_quotes_in_a_file_of_many_pieces_lose_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("clinqa.sources.reports.csvfile.CHUNK", 512)
    lines = ["id,text"]
    for i in range(400):
        lines.append(f'{i},"note {i}\nof ""two"" lines"' if i % 50 else f'{i},"unclosed {i}')
    (tmp_path / "n.csv").write_text("\n".join(lines) + "\n")
    texts, rejects, reader = read(tmp_path / "n.csv")
    assert set(texts) == {str(i) for i in range(400) if i % 50}
    assert texts["1"] == 'note 1\nof "two" lines'
    assert [r.row for r in rejects] == [i + 1 for i in range(0, 400, 50)]
    assert reader.counts.read == 400


def test_small_pieces_give_the_same_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = "".join(f'{i},"line {i},\r\n""q"" {"x" * (i % 90)}"\r\n' for i in range(300))
    (tmp_path / "n.csv").write_text("id,text\r\n" + rows, newline="")
    whole = read(tmp_path / "n.csv")[0]
    for size in (7, 64, 301):
        monkeypatch.setattr("clinqa.sources.reports.csvfile.CHUNK", size)
        assert read(tmp_path / "n.csv")[0] == whole


def test_a_file_with_old_mac_line_ends_is_read(tmp_path: Path) -> None:
    (tmp_path / "n.csv").write_bytes(b"id,text\r1,a\r2,b\r")
    assert read(tmp_path / "n.csv")[0] == {"1": "a", "2": "b"}


def test_a_last_row_without_line_end_is_read(tmp_path: Path) -> None:
    (tmp_path / "n.csv").write_text("id,text\n1,a\n2,b")
    assert read(tmp_path / "n.csv")[0] == {"1": "a", "2": "b"}


def test_a_row_that_is_too_large_is_one_row_and_the_next_ones_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("clinqa.sources.reports.csvfile.CHUNK", 512)
    monkeypatch.setattr("clinqa.sources.reports.csvfile.MAX_RECORD_BYTES", 4096)
    monkeypatch.setattr("clinqa.sources.reports.csvrepair._RESYNC_BYTES", 1024)
    for word in ("x", "No MR, no AS.\n", 'said ""no"", then\n'):
        for size in range(20_000, 20_600, 97):
            large = (word * size)[:size].removesuffix('"') + "."
            if large.count('"') % 2:
                large = large.replace('"', "")
            rows = [f'{i},"note {i},\nin {i % 7 * 9 * "lines "}\nof two"' for i in range(60)]
            rows[30] = f'30,"{large}"'
            (tmp_path / "n.csv").write_text("id,text\n" + "\n".join(rows) + "\n")
            texts, rejects, reader = read(tmp_path / "n.csv")
            assert reasons(rejects) == [("broken_row", 31)]
            assert reader.counts.read == 60
            assert set(texts) == {str(i) for i in range(60)} - {"30"}


def test_a_header_alone_is_readable_and_gives_nothing(tmp_path: Path) -> None:
    (tmp_path / "n.csv").write_text("id,text\n")
    texts, rejects, reader = read(tmp_path / "n.csv")
    assert (texts, rejects, reader.counts.read) == ({}, [], 0)


@pytest.mark.parametrize("name", ["n.csv", "n.csv.gz", "n.parquet", "n.jsonl"])
def test_a_zero_byte_file_is_an_error_where_it_is_named_and_a_reject_in_a_folder(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / name).write_bytes(b"")
    with pytest.raises(SourceError, match="is empty"):
        read(tmp_path / name)
    (tmp_path / "good.csv").write_text("id,text\n1,a\n")
    with pytest.raises(SourceError, match=r"an input cannot be read: .*is empty"):
        read(tmp_path / name, tmp_path / "good.csv")
    texts, rejects, reader = read(tmp_path)
    assert texts == {"1": "a"}
    assert reasons(rejects) == [("broken_file", None)]
    assert reader.broken == [f"{name}: is empty"]


def test_an_empty_text_file_is_a_rejected_study(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"")
    (tmp_path / "b.txt").write_bytes(b"x")
    texts, rejects, _ = read(tmp_path)
    assert texts == {"b": "x"}
    assert [(r.reason.value, r.source_id) for r in rejects] == [("empty_text", "a")]


def test_a_folder_without_usable_files_says_so(tmp_path: Path) -> None:
    (tmp_path / "x.png").write_bytes(b"x")
    with pytest.raises(SourceError, match="holds no file clinqa reads"):
        read(tmp_path)


def test_an_unreadable_file_among_others_is_a_reject(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.txt").write_text("a")
    (tmp_path / "b.txt").write_text("b")
    (tmp_path / "c.txt").symlink_to(tmp_path / "gone.txt")
    opened = Path.open

    def denied(self: Path, *args: object, **kwargs: object) -> object:
        if self.name == "b.txt":
            raise PermissionError(13, "Permission denied")
        return opened(self, *args, **kwargs)  # type: ignore[call-overload]

    monkeypatch.setattr(Path, "open", denied)
    texts, rejects, _ = read(tmp_path)
    assert texts == {"a": "a"}
    assert [(r.reason.value, r.source_id, r.detail) for r in rejects] == [
        ("broken_file", "b", "b.txt: cannot be opened (Permission denied)"),
        ("broken_file", "c", "c.txt: does not exist"),
    ]


def test_nothing_readable_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"none\.csv: does not exist"):
        read(tmp_path / "none.csv")
    with pytest.raises(SourceError, match="not exist"):
        read(tmp_path / "none.txt")
    (tmp_path / "x.docx").write_bytes(b"x")
    with pytest.raises(SourceError, match="not a format clinqa reads"):
        read(tmp_path / "x.docx")
    (tmp_path / "gone.txt").symlink_to(tmp_path / "nowhere")
    with pytest.raises(SourceError):
        read(tmp_path / "gone.txt")
    with pytest.raises(SourceError, match="no input given"):
        read()
    (tmp_path / "nowhere_named").symlink_to(tmp_path / "nowhere")
    with pytest.raises(SourceError, match="nowhere_named: does not exist"):
        read(tmp_path / "nowhere_named")


@pytest.mark.parametrize("name", ["typo.csv", "typo.txt", "typo", "empty.txt", "wide.txt", "dir"])
def test_a_named_input_that_cannot_be_read_is_an_error_beside_good_ones(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / "good.csv").write_text("id,text\n1,a\n")
    (tmp_path / "empty.txt").write_bytes(b"")
    (tmp_path / "wide.txt").write_bytes("a".encode("utf-16"))
    (tmp_path / "dir").mkdir()
    with pytest.raises(SourceError, match=rf"an input cannot be read: \S*{name}: "):
        read(tmp_path / "good.csv", tmp_path / name)


def test_a_file_found_in_a_folder_that_breaks_is_named(tmp_path: Path) -> None:
    (tmp_path / "good.csv").write_text("id,text\n1,a\n")
    for number in range(7):
        (tmp_path / f"odd{number}.csv").write_text("alpha,beta\n1,2\n")
    _, rejects, reader = read(tmp_path)
    assert reasons(rejects) == [("broken_file", None)] * 7
    assert len(reader.broken) == 5
    assert reader.broken[0].startswith("odd0.csv: no column holds the report text")


def test_only_regular_files_of_a_folder_are_read_and_no_link_leads_out(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "1.txt").write_text("a")
    (tmp_path / "secret.txt").write_text("secret")
    os.mkfifo(folder / "f.txt")
    os.mkfifo(folder / "f.csv")
    (folder / "out.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "rel.txt").symlink_to("../secret.txt")
    (folder / "pipe.txt").symlink_to("f.txt")
    (folder / "in.txt").symlink_to("sub/1.txt")
    (folder / "up").symlink_to(tmp_path)
    texts, rejects, reader = read(folder)
    assert texts == {"in": "a", "sub/1": "a"} and rejects == []
    assert reader.plan.skipped == 6
    assert sorted(reader.plan.warnings) == [
        "in: 1 not read (a link to a folder): up",
        "in: 2 not read (a link that leads out of the folder): out.txt, rel.txt",
        "in: 3 not read (no regular file): f.csv, f.txt, pipe.txt",
    ]
    (tmp_path / "link").symlink_to(folder)  # the folder named may be a link itself
    assert set(read(tmp_path / "link")[0]) == {"in", "sub/1"}


def test_a_folder_that_cannot_be_listed_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "locked").mkdir()
    (tmp_path / "1.txt").write_text("a")
    listed = os.scandir

    def denied(path: object) -> object:
        if str(path).endswith("locked"):
            raise PermissionError(13, "Permission denied", str(path))
        return listed(path)  # type: ignore[call-overload]

    monkeypatch.setattr(os, "scandir", denied)
    _, _, reader = read(tmp_path)
    assert reader.plan.warnings == (
        f"{tmp_path.name}: 1 not read (cannot be listed (Permission denied)): locked",
    )
    with pytest.raises(SourceError, match="cannot be listed"):
        read(tmp_path / "locked")


def test_folders_that_clinqa_made_are_no_reports(tmp_path: Path) -> None:
    (tmp_path / "1.txt").write_text("a")
    for name in ("made", "out"):
        (tmp_path / name / "data").mkdir(parents=True)
        (tmp_path / name / "manifest.json").write_text('{"format": "f", "tool": "clinqa"}')
        (tmp_path / name / "data" / "train.parquet").write_bytes(b"x")
    texts, rejects, reader = read(tmp_path, out=tmp_path / "out")
    assert (texts, rejects) == ({"1": "a"}, [])
    assert reader.plan.warnings == (
        f"{tmp_path.name}: 1 not read (made by clinqa: no reports): made",
    )
    with pytest.raises(SourceError, match="a folder that clinqa made"):
        read(tmp_path / "made")


def test_one_column_in_two_roles_is_wrong_usage(tmp_path: Path) -> None:
    path = tmp_path / "n.csv"
    path.write_text("text\nsecret\n")
    with pytest.raises(ConfigError, match="column 1 cannot be both the text and the study") as one:
        read(path, text_col="text", study_col="TEXT")
    assert "secret" not in str(one.value)
    path.write_text("row_id,subject_id,category,iserror,text\n1,2,Echo,,a\n")
    with pytest.raises(ConfigError, match="both the subject and the study"):
        read(path, subject_col="row_id")


def test_a_named_pipe_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "n.csv")
    with pytest.raises(SourceError, match="not a file"):
        read(tmp_path / "n.csv")


def test_bad_json_lines_are_rejects_with_their_number(tmp_path: Path) -> None:
    lines = [
        '{"id": 1, "text": "a"}',
        '{"id": 2, "text": "secret',
        "",
        '["secret"]',
        '{"id": 4, "text": 17}',
        '{"id": 5, "text": ["secret"]}',
        '{"id": {"a": 1}, "text": "secret"}',
        '{"id": true, "text": "secret"}',
        "[" * 100_000,
        '{"id": ' + "9" * 5000 + ', "text": "secret"}',
        '{"id": 10, "text": "b"}',
    ]
    (tmp_path / "n.jsonl").write_text("\n".join(lines))
    texts, rejects, _ = read(tmp_path / "n.jsonl")
    assert texts == {"1": "a", "10": "b"}
    assert reasons(rejects) == [("broken_row", row) for row in range(2, 10)]
    assert "the text is a number, not a string" in rejects[2].detail
    assert "secret" not in repr(rejects)


def test_a_json_line_over_the_cap_is_a_reject(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "MAX_RECORD_BYTES", 1000)
    monkeypatch.setattr(streams, "CHUNK", 100)
    lines = [json.dumps({"id": i, "text": "x" * size}) for i, size in [(1, 9), (2, 5000), (3, 9)]]
    (tmp_path / "n.jsonl").write_text("\n".join(lines) + "\n")
    texts, rejects, _ = read(tmp_path / "n.jsonl")
    assert set(texts) == {"1", "3"}
    assert reasons(rejects) == [("broken_row", 2)]


def test_a_file_of_no_json_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "n.jsonl").write_text("id,text\n1,a\n")
    with pytest.raises(SourceError, match="no JSON object"):
        read(tmp_path / "n.jsonl")


def test_damaged_and_foreign_parquet_are_named(tmp_path: Path) -> None:
    path = tmp_path / "n.parquet"
    parquet.write_table(pa.table({"id": [1], "text": ["a" * 1000]}), path)
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(SourceError, match="no whole Parquet file"):
        read(path)
    parquet.write_table(pa.table({"id": [1], "text": [17]}), path)
    with pytest.raises(SourceError, match="column text is int64, not text"):
        read(path)
    parquet.write_table(pa.table({"id": [[1]], "text": ["a"]}), path)
    with pytest.raises(SourceError, match="no id"):
        read(path)


def test_parquet_damaged_inside_gives_what_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "n.parquet"
    table = pa.table({"id": list(range(400)), "text": [os.urandom(500).hex() for _ in range(400)]})
    parquet.write_table(table, path, row_group_size=100, compression="zstd", use_dictionary=False)
    data = bytearray(path.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 2000] = b"\0" * 2000
    path.write_bytes(bytes(data))
    texts, rejects, _ = read(path)
    assert 0 < len(texts) < 400
    assert reasons(rejects) == [("broken_file", None)]


def test_a_table_without_text_column_among_others_is_a_reject(tmp_path: Path) -> None:
    (tmp_path / "notes.csv").write_text("id,text\n1,a\n")
    (tmp_path / "patients.csv").write_text("subject_id,gender\n1,f\n")
    texts, rejects, _ = read(tmp_path)
    assert texts == {"1": "a"}
    assert reasons(rejects) == [("broken_file", None)]
    assert "subject_id, gender" in rejects[0].detail


@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(20, 600), st.sampled_from([b'"', b",", b"\n", b"\xff", b"\0", b""]))
def test_one_damaged_byte_costs_few_rows_and_none_in_silence(
    tmp_path: Path, place: int, byte: bytes
) -> None:
    data = "id,subject_id,text\n" + "".join(
        f'{i},{i % 3},"note {i}, no AS,\n""mild"" MR, fine"\n' for i in range(20)
    )
    damaged = data.encode()
    damaged = damaged[:place] + byte + damaged[place + 1 :]
    (tmp_path / "n.csv").write_bytes(damaged)
    texts, rejects, _ = read(tmp_path / "n.csv")
    whole = sum(texts.get(str(i)) == f'note {i}, no AS,\n"mild" MR, fine' for i in range(20))
    assert whole >= 18
    assert len(texts) + len(rejects) >= 19
