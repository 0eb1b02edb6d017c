"""An expert's table into a copy of the pack: all of it, or nothing.

Every row is checked against the pack before anything is written; a bad one is an error with file
and line, and never quotes a cell, since cells are statements of reports.
"""

from __future__ import annotations

import difflib
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from clinqa.core.cells import read_cell
from clinqa.core.durable import write_durably
from clinqa.core.errors import ConfigError, refuse
from clinqa.core.pathnames import refuse_two_meanings
from clinqa.core.records import is_private
from clinqa.core.yamlfile import read_bytes
from clinqa.packs.loader import (
    BLANKED,
    SHIPPED,
    LabelSyntaxError,
    LexiconLabel,
    Pack,
    format_labels,
    load_pack,
    pack_folder,
    parse_labels,
)

__all__ = ["Accepted", "accept"]

MAX_BYTES = 64_000_000
NEEDED = ("structure", "statement", "labels")
_DIVIDERS = ((",", "commas"), (";", "semicolons"), ("|", "bars"))
# what moves a cursor or turns the direction of writing
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_CLASS = re.compile(r"#\s*data class:\s*([a-z_]+)")


@dataclass(frozen=True, slots=True)
class Accepted:
    """What became of the rows: read = added + replaced + unchanged + skipped."""

    read: int
    added: int
    replaced: int
    unchanged: int
    skipped: int
    undecided: int
    data_class: str
    # has the table a column in which somebody decided? Without one, every row is taken
    decided: bool = True


@dataclass(frozen=True, slots=True)
class _Row:
    line: int
    structure: str
    statement: str
    labels: tuple[LexiconLabel, ...]

    @property
    def key(self) -> tuple[str, str]:
        """What makes two rows the same statement."""
        return self.structure, self.statement.casefold()


def accept(file: Path, new: Path, *, base: str = "echo", replace: bool = False) -> Accepted:
    """Merge `file` into a copy of the pack `base` (a name of ours, or a folder) at `new`."""
    source = _base(base)
    pack = load_pack(source)
    _refuse(new)
    text = _read(file)
    rows, skipped, undecided, decided = _rows(file, text, pack)
    old = {(row.structure, row.statement.casefold()): row for row in pack.lexicon}
    replaced: dict[int, _Row] = {}
    added: list[_Row] = []
    unchanged = 0
    for row in rows:
        there = old.get(row.key)
        if there is None:
            added.append(row)
        elif format_labels(there.labels) == format_labels(row.labels):
            unchanged += 1
        elif replace:
            replaced[there.line] = row
        else:
            raise ConfigError(
                f"{file}:{row.line}: contradicts {source / 'lexicon.tsv'}:{there.line}, where the "
                "same statement has other labels; mend the row, or use --replace"
            )
    lexicon = source / "lexicon.tsv"
    before = lexicon.read_text(encoding="utf-8") if lexicon.exists() else ""
    data_class = _more_private(_class_of(text), _class_of(before))
    _write(source, new, _merged(before, added, replaced, data_class), is_private(data_class))
    return Accepted(
        read=len(rows) + skipped,
        added=len(added),
        replaced=len(replaced),
        unchanged=unchanged,
        skipped=skipped,
        undecided=undecided,
        data_class=data_class,
        decided=decided,
    )


def _base(base: str) -> Path:
    folder = Path(base)
    there = (folder / "pack.yaml").is_file()
    if there and folder.name == base and (SHIPPED / base / "pack.yaml").is_file():
        refuse_two_meanings(base, "a pack of ours")
    if re.fullmatch(r"[a-z][a-z0-9_]*", base) and not there:
        return pack_folder(base)
    if not (folder / "pack.yaml").is_file():
        raise ConfigError(f"{folder}: no pack.yaml, so no pack; give a pack's name or folder")
    return folder


def _refuse(new: Path) -> None:
    odd = new.is_symlink() or (new.exists() and not new.is_dir())
    refuse(
        (odd, f"{new}: is a file or a link; give a folder that is not there yet"),
        (
            new.is_dir() and any(new.iterdir()),
            f"{new}: is not empty; give a folder that is not there yet",
        ),
    )


def _read(file: Path) -> str:
    data = read_bytes(file, MAX_BYTES)
    # spreadsheets save "Unicode text" as UTF-16
    wide = data[:2] in (b"\xff\xfe", b"\xfe\xff")
    zeros = data[:200].count(0) * 3 > len(data[:200])  # every other byte of English in UTF-16
    if data[:4] in (b"\xff\xfe\0\0", b"\0\0\xfe\xff") or (zeros and not wide):
        raise ConfigError(f"{file}: is UTF-16 or UTF-32; save it as tab-separated UTF-8")
    try:
        return data.decode("utf-16" if wide else "utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"{file}: not UTF-8 at byte {error.start}; save it as tab-separated UTF-8"
        ) from error


def _rows(file: Path, text: str, pack: Pack) -> tuple[list[_Row], int, int, bool]:
    """The accepted rows, how many were left out (skipped in all, undecided among them), and
    whether there is a column that decides."""
    columns: dict[str, int] = {}
    rows: dict[tuple[str, str], _Row] = {}
    skipped = undecided = 0
    for number, line in enumerate(re.split(r"\r\n|\r|\n", text), 1):
        if not line.strip() or (not columns and line.startswith("#")):
            continue
        cells = [read_cell(cell.strip(" ")) for cell in line.split("\t")]
        if not columns:
            columns = _columns(f"{file}:{number}", cells)
            continue
        decision = _cell(cells, columns, "accept").casefold()
        if "accept" in columns and decision != "yes":
            skipped += 1
            undecided += decision not in ("", "no")
            continue
        row = _row(f"{file}:{number}", number, cells, columns, pack)
        if row.key in rows:
            raise ConfigError(
                f"{file}:{number}: the same statement as line {rows[row.key].line}; keep one"
            )
        rows[row.key] = row
    if not columns:
        raise ConfigError(f"{file}: is empty; its first line names the columns")
    return list(rows.values()), skipped, undecided, "accept" in columns


def _columns(where: str, cells: Sequence[str]) -> dict[str, int]:
    names = [cell.strip().casefold() for cell in cells]
    for name in NEEDED:
        if names.count(name) != 1:
            other = next((kind for mark, kind in _DIVIDERS if mark in cells[0]), "")
            hint = f"; this table is divided by {other}" if len(cells) == 1 and other else ""
            raise ConfigError(
                f"{where}: the column {name} is needed, once; the first line names the columns, "
                f"separated by tabs{hint}: save it as tab-separated UTF-8"
            )
    return {name: at for at, name in reversed(list(enumerate(names)))}


def _cell(cells: Sequence[str], columns: Mapping[str, int], name: str) -> str:
    at = columns.get(name)
    return cells[at].strip() if at is not None and at < len(cells) else ""


def _row(
    where: str, number: int, cells: Sequence[str], columns: Mapping[str, int], pack: Pack
) -> _Row:
    structure = _cell(cells, columns, "structure")
    if structure == BLANKED:  # where such a statement is looked for
        structure = pack.spec.blank_section or "*"
    statement = " ".join(_cell(cells, columns, "statement").split())
    known = pack.headings
    refuse(
        (structure not in known, f"{where}: unknown structure; the pack has {', '.join(known)}"),
        (not statement, f"{where}: the statement is empty"),
        (
            _CONTROL.search(statement),
            f"{where}: the statement holds a control character, which no lexicon needs; leave the "
            "row out",
        ),
    )
    try:
        labels = parse_labels(_cell(cells, columns, "labels"))
    except LabelSyntaxError as error:
        raise ConfigError(f"{where}: {error}") from error
    for at, label in enumerate(labels, 1):
        spec = pack.abnormalities.get(label.abnormality)
        if spec is None:
            near = difflib.get_close_matches(label.abnormality, list(pack.abnormalities), 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise ConfigError(
                f"{where}: label {at} of {len(labels)} names an abnormality that the pack does "
                f"not have{hint}"
            )
        if label.level not in spec.levels:
            allowed = ", ".join(map(str, sorted(spec.levels)))
            raise ConfigError(
                f"{where}: {label.abnormality} has no level {label.level}; it has {allowed}"
            )
    return _Row(number, structure, statement, tuple(labels))


def _class_of(text: str) -> str:
    """The data class that a file's leading comments state; none where they do not."""
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        if found := _CLASS.match(line):
            return found[1]
    return ""


def _more_private(mine: str, theirs: str) -> str:
    """The class that keeps the result closer; one that is not stated does not widen it."""
    stated = [one for one in (mine, theirs) if one]
    return next((one for one in stated if is_private(one)), stated[0] if stated else "")


def _merged(
    before: str, added: Iterable[_Row], replaced: Mapping[int, _Row], data_class: str
) -> str:
    """The lexicon's lines as they were, with replaced rows in their place and new ones after."""
    lines = before.splitlines() or ["\t".join(NEEDED)]
    kept = [
        _line(replaced[number]) if number in replaced else line
        for number, line in enumerate(lines, 1)
        if not (line.startswith("#") and _CLASS.match(line))
    ]
    if data_class:
        kept.insert(0, f"# data class: {data_class}")
    ordered = sorted(added, key=lambda row: (row.structure, row.statement.casefold()))
    return "\n".join([*kept, *map(_line, ordered)]) + "\n"


def _line(row: _Row) -> str:
    return "\t".join([row.structure, row.statement, format_labels(row.labels)])


def _write(source: Path, new: Path, lexicon: str, private: bool) -> None:
    """The copy, made beside its place, checked as any pack is, and moved there."""
    made: Path | None = None
    try:
        new.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=f".{new.name}.", dir=new.parent))
        copy = made / "pack"
        shutil.copytree(source, copy, ignore=_not_copied)
        write_durably(copy / "lexicon.tsv", lexicon.encode("utf-8"), private=private)
        load_pack(copy)
        copy.chmod(0o700 if private else 0o755)
        os.replace(copy, new)
    except shutil.Error as error:  # of copytree: it holds the reasons of several files
        raise ConfigError(
            f"{new}: a file of the pack could not be copied there; is the disk full?"
        ) from error
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise ConfigError(f"{new}: cannot be written ({why})") from error
    finally:
        if made is not None:
            shutil.rmtree(made, ignore_errors=True)


def _not_copied(folder: str, names: list[str]) -> set[str]:
    """Links lead elsewhere and compiled files are Python's: neither is part of a pack."""
    return {name for name in names if name == "__pycache__" or (Path(folder) / name).is_symlink()}
