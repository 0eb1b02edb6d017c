from __future__ import annotations

import shutil
import stat
from pathlib import Path

import pytest

from clinqa.builders.reports.lexicon.accept import accept
from clinqa.builders.reports.lexicon.propose import propose
from clinqa.core.errors import ConfigError
from clinqa.packs.loader import load_pack, pack_folder
from made_folder import Label, Statement, write_folder

HEADER = "structure\tstatement\tlabels\n"
NEW = "MV\tThe zebra valve leaks a little.\tmitral_regurgitation=1\n"


def table(tmp_path: Path, text: str, name: str = "expert.tsv") -> Path:
    path = tmp_path / name
    path.write_bytes(text.encode("utf-8"))
    return path


def statements(folder: Path) -> dict[str, str]:
    pack = load_pack(folder)
    return {
        row.statement: f"{row.structure} {row.labels[0].level}"
        for row in pack.lexicon
        if row.labels
    }


def test_rows_are_merged_into_a_copy_that_loads(tmp_path: Path) -> None:
    found = accept(table(tmp_path, HEADER + NEW), tmp_path / "pack")
    assert (found.read, found.added) == (1, 1)
    assert statements(tmp_path / "pack")["The zebra valve leaks a little."] == "MV 1"
    assert (
        len(load_pack(tmp_path / "pack").lexicon) == len(load_pack(pack_folder("echo")).lexicon) + 1
    )


def test_only_rows_marked_yes_are_taken_where_there_is_a_decision_column(tmp_path: Path) -> None:
    text = (
        "accept\tstructure\tstatement\tlabels\tremark\n"
        "yes\tMV\tThe zebra leaks.\tmitral_regurgitation=1\tx\n"
        "\tMV\tNot decided.\tno such label\n"
        "no\tMV\tRefused.\t-\n"
        "later\tMV\tLater.\t-\n"
    )
    found = accept(table(tmp_path, text), tmp_path / "pack")
    assert (found.read, found.added, found.skipped, found.undecided) == (4, 1, 3, 1)


@pytest.mark.parametrize(
    "encode",
    [
        lambda text: text.encode("utf-16"),
        lambda text: b"\xef\xbb\xbf" + text.encode(),
        lambda text: text.replace("\n", "\r\n").encode(),
        lambda text: text.replace("The z", '"The z').replace("little.", 'little."').encode(),
    ],
)  # fmt: skip
def test_a_table_saved_by_a_spreadsheet_is_read(tmp_path: Path, encode) -> None:
    path = tmp_path / "expert.tsv"
    path.write_bytes(encode(HEADER + NEW))
    accept(path, tmp_path / "pack")
    assert "The zebra valve leaks a little." in statements(tmp_path / "pack")


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ("XX\tOkafor was seen.\t-", "unknown structure"),
        ("Okafor was seen.\tMV\t-", "unknown structure"),
        ("MV\tOkafor was seen.\tmitral_leak=1", "names an abnormality"),
        ("MV\tOkafor was seen.\tmitral_regurgitatio=1", "did you mean mitral_regurgitation"),
        ("MV\tOkafor was seen.\tmitral_regurgitation=-1", "has no level -1"),
        ("RA\tOkafor was seen.\tright_atrial_enlargement=3", "has no level 3"),
        ("MV\tOkafor was seen.\tmitral_regurgitation 1", "malformed"),
        ("MV\tOkafor was seen.\tSeen by Okafor", "malformed"),
        ("MV\tOkafor was seen.\t", "empty"),
        ("MV\tOkafor was seen.", "empty"),
        ("MV\t\t-", "statement is empty"),
        ("MV\tThe ZEBRA valve  leaks a little.\t-", "line 2"),
        ("MV\tOkafor was seen.\tmitral_regurgitation=-50", "no statement can have"),
    ],
)
def test_a_bad_row_is_an_error_with_its_line_and_nothing_is_written(
    tmp_path: Path, row: str, says: str
) -> None:
    path = table(tmp_path, HEADER + NEW + row + "\n")
    with pytest.raises(ConfigError, match=says) as caught:
        accept(path, tmp_path / "pack")
    assert str(caught.value).startswith(f"{path}:3: ")
    assert "Okafor" not in str(caught.value)
    assert [child.name for child in tmp_path.iterdir()] == ["expert.tsv"]


def test_a_table_without_its_columns_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="column statement"):
        accept(table(tmp_path, "structure\tlabels\n"), tmp_path / "pack")
    with pytest.raises(ConfigError, match="is empty"):
        accept(table(tmp_path, "# data class: public\n"), tmp_path / "pack")


def test_a_contradiction_needs_replace(tmp_path: Path) -> None:
    first = tmp_path / "first"
    accept(table(tmp_path, HEADER + NEW), first)
    other = table(tmp_path, HEADER + NEW.replace("=1", "=2"), "other.tsv")
    with pytest.raises(ConfigError, match=r"other\.tsv:2: contradicts"):
        accept(other, tmp_path / "second", base=str(first))
    assert not (tmp_path / "second").exists()
    found = accept(other, tmp_path / "second", base=str(first), replace=True)
    assert (found.added, found.replaced) == (0, 1)
    assert statements(tmp_path / "second")["The zebra valve leaks a little."] == "MV 2"


def test_a_row_that_is_there_already_changes_nothing(tmp_path: Path) -> None:
    accept(table(tmp_path, HEADER + NEW), tmp_path / "first")
    found = accept(table(tmp_path, HEADER + NEW), tmp_path / "second", base=str(tmp_path / "first"))
    assert (found.added, found.unchanged) == (0, 1)
    same = [(tmp_path / name / "lexicon.tsv").read_bytes() for name in ("first", "second")]
    assert same[0] == same[1]


def test_a_folder_that_holds_something_is_refused(tmp_path: Path) -> None:
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "mine.txt").write_text("x", encoding="utf-8")
    with pytest.raises(ConfigError, match="not empty"):
        accept(table(tmp_path, HEADER + NEW), tmp_path / "pack")
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ConfigError, match="link"):
        accept(table(tmp_path, HEADER + NEW), tmp_path / "link")


def test_an_unknown_base_is_refused(tmp_path: Path) -> None:
    for base in ("nosuchpack", str(tmp_path)):
        with pytest.raises(ConfigError, match="pack"):
            accept(table(tmp_path, HEADER + NEW), tmp_path / "new", base=base)


def test_what_was_proposed_and_approved_is_accepted_and_stays_private(tmp_path: Path) -> None:
    folder = write_folder(
        tmp_path / "d",
        [Label("s1", "mitral_regurgitation", 1)],
        statements=[
            Statement("+ zebra MR\tand more", (("mitral_regurgitation", -2),), 9),
            Statement('"Zebra" leaflets', (), 4, "none"),
        ],
        data_class="phi",
    )
    path = tmp_path / "new.tsv"
    propose(folder, path)
    lines = path.read_text(encoding="utf-8").splitlines()
    approved = [*lines[:2], *(line.replace("\t\t", "\tyes\t") for line in lines[2:])]
    done = table(tmp_path, "\n".join(approved) + "\n", "approved.tsv")
    found = accept(done, tmp_path / "pack")
    assert (found.added, found.data_class) == (2, "phi")
    assert statements(tmp_path / "pack")["+ zebra MR and more"] == "MV -2"
    lexicon = tmp_path / "pack" / "lexicon.tsv"
    assert stat.S_IMODE(lexicon.stat().st_mode) == 0o600
    assert lexicon.read_text(encoding="utf-8").startswith("# data class: phi\n")
    assert '"Zebra" leaflets' in {row.statement for row in load_pack(tmp_path / "pack").lexicon}


def test_a_table_of_another_kind_is_named(tmp_path: Path) -> None:
    for encoding in ("utf-16-le", "utf-16-be", "utf-32"):
        path = tmp_path / "expert.tsv"
        path.write_bytes((HEADER + NEW).encode(encoding))
        with pytest.raises(ConfigError, match="is UTF-16 or UTF-32"):
            accept(path, tmp_path / "pack")
    with pytest.raises(ConfigError, match="divided by commas: save it as tab-separated UTF-8"):
        accept(table(tmp_path, HEADER.replace("\t", ",")), tmp_path / "pack")


@pytest.mark.parametrize("bad", ["\0", "\\x1b[31m", "\\u202e", "\x07"])
def test_a_statement_with_control_characters_is_refused(tmp_path: Path, bad: str) -> None:
    path = table(tmp_path, HEADER + NEW.replace("zebra", f"ze{bad}bra"))
    with pytest.raises(ConfigError, match=r":2: the statement holds a control character") as one:
        accept(path, tmp_path / "pack")
    assert "bra" not in str(one.value)


def test_it_is_told_whether_anybody_decided(tmp_path: Path) -> None:
    assert not accept(table(tmp_path, HEADER + NEW), tmp_path / "one").decided
    text = HEADER.strip() + "\taccept\n" + NEW.strip() + "\tyes\n"
    assert accept(table(tmp_path, text), tmp_path / "two").decided


def test_a_copy_that_fails_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise shutil.Error([("a", "b", "[Errno 28] No space left on device")])

    monkeypatch.setattr(shutil, "copytree", full)
    with pytest.raises(ConfigError, match="is the disk full"):
        accept(table(tmp_path, HEADER + NEW), tmp_path / "pack")


def test_a_base_that_is_a_pack_of_ours_and_a_folder_here_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "expert.tsv"
    path.write_text(HEADER + NEW)
    shutil.copytree(pack_folder("echo"), tmp_path / "echo")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match=r"write \./echo for that one"):
        accept(path, tmp_path / "pack", base="echo")
    accept(path, tmp_path / "pack", base="./echo")
