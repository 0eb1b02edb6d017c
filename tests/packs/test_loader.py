"""A pack's mistakes are errors with file and line; what is right is loaded once."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from clinqa.core.errors import ConfigError
from clinqa.core.yamlfile import parse_yaml
from clinqa.packs.loader import builtin_pack, load_pack, pack_folder


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A copy of the echo pack to spoil."""
    return Path(shutil.copytree(pack_folder("echo"), tmp_path / "pack"))


def spoil(folder: Path, name: str, old: str, new: str) -> None:
    path = folder / name
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_a_copy_of_the_pack_is_the_same_pack(own: Path) -> None:
    copy = load_pack(own)
    assert copy.fingerprint == builtin_pack("echo").fingerprint
    assert copy.grid["MV", "regurgitation"] == "mitral_regurgitation"


def test_binary_and_missing_levels_are_fitted() -> None:
    pack = builtin_pack("echo")
    assert [pack.fit("right_atrial_enlargement", x) for x in (-2, 1, 3, 0, -3)] == [1, 1, 1, 0, -3]
    assert pack.fit("la_cavity", -1) == 0
    assert pack.fit("lv_cavity", -1) == -1


def test_a_misspelt_key_is_an_error_with_its_line(own: Path) -> None:
    spoil(own, "pack.yaml", "decoys:", "decois:")
    line = 1 + (own / "pack.yaml").read_text().splitlines().index("decois:")
    with pytest.raises(ConfigError, match=rf"pack\.yaml:{line}: decois"):
        load_pack(own)


def test_broken_yaml_is_an_error_with_its_line(own: Path) -> None:
    spoil(own, "pack.yaml", "document: echocardiogram", "document: [echocardiogram")
    with pytest.raises(ConfigError, match=r"pack\.yaml:\d+: not valid YAML"):
        load_pack(own)


def test_yaml_cannot_make_objects(own: Path) -> None:
    spoil(own, "pack.yaml", "document: echocardiogram", "document: !!python/name:os.system ''")
    with pytest.raises(ConfigError, match="not valid YAML"):
        load_pack(own)


def test_an_unknown_structure_of_an_abnormality_is_named(own: Path) -> None:
    spoil(
        own, "pack.yaml", "{structure: TV, aspect: stenosis,", "{structure: XX, aspect: stenosis,"
    )
    with pytest.raises(ConfigError, match="tricuspid_stenosis: unknown structure"):
        load_pack(own)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("MV\tMild MR.", "three tab-separated cells"),
        ("QQ\tSome words.\t-", "unknown structure"),
        ("MV\tSome words.\tmitral_regurgitaton=1", "unknown abnormality"),
        ("MV\tSome words.\tla_cavity=-1", "level -1 does not exist"),
        ("MV\tSome words.\tmitral_regurgitation:1", "label"),
    ],
)
def test_a_bad_row_of_the_lexicon_is_an_error_with_its_line(
    own: Path, row: str, message: str
) -> None:
    path = own / "lexicon.tsv"
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([*lines, row, ""]), encoding="utf-8")
    with pytest.raises(ConfigError, match=message) as caught:
        load_pack(own)
    assert f"lexicon.tsv:{len(lines) + 1}:" in str(caught.value)
    assert "Some words" not in str(caught.value)


def test_a_missing_pack_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        load_pack(tmp_path)
    with pytest.raises(ConfigError, match="no pack named"):
        pack_folder("knee")


def test_a_key_that_stands_twice_is_an_error_with_both_lines(own: Path) -> None:
    path = own / "pack.yaml"
    text = path.read_text(encoding="utf-8")
    path.write_text(text + "\ndocument: another\n", encoding="utf-8")
    lines = path.read_text(encoding="utf-8").splitlines()
    first = 1 + next(n for n, line in enumerate(lines) if line.startswith("document:"))
    with pytest.raises(ConfigError, match=f":{len(lines)}: .*'document' stands on line {first} "):
        load_pack(own)


@pytest.mark.parametrize("text", ["{a: 1, a: 2}", "b: [{c: 1, c: 1}]", "b: &x {c: {d: 1, d: 2}}"])
def test_a_key_twice_is_found_at_any_depth(text: str) -> None:
    with pytest.raises(ConfigError, match=r"pack:1: the key '[acd]' stands on line 1 already"):
        parse_yaml(Path("pack"), text.encode())


def test_aliases_and_merges_are_no_keys_that_stand_twice() -> None:
    text = b"a: &a {x: 1}\nb: *a\nc: {<<: *a, x: 2}\n"
    assert parse_yaml(Path("pack"), text)[0] == {"a": {"x": 1}, "b": {"x": 1}, "c": {"x": 2}}
    bomb = "a: &a [x]\n" + "".join(
        f"{chr(98 + i)}: &{chr(98 + i)} [{','.join(['*' + chr(97 + i)] * 9)}]\n" for i in range(15)
    )
    parse_yaml(Path("pack"), bomb.encode())
