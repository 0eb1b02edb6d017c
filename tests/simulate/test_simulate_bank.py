from __future__ import annotations

import pytest

from clinqa.core.errors import ConfigError
from clinqa.packs.loader import builtin_pack
from clinqa.simulate.abnormalities import IDS, INDEX, NAMES, resolve
from clinqa.simulate.bank import load_bank, parse_bank

LEVELS = {name: one.levels for name, one in builtin_pack("echo").abnormalities.items()}

HEAD = "where\tstyle\tweight\tlabels\tstatement\n"


def test_there_are_twenty_one_abnormalities() -> None:
    assert len(IDS) == len(set(IDS)) == 21


def test_every_level_an_abnormality_can_have_has_statements_that_stand_alone() -> None:
    bank = load_bank()
    for number, code in enumerate(NAMES):
        for level in LEVELS[IDS[number]]:
            assert len({s.text for s in bank.single[number, level]}) >= 2, (code, level)


def test_no_statement_gives_a_level_its_abnormality_cannot_have() -> None:
    bank = load_bank()
    for number, level in bank.headed:
        assert level in LEVELS[IDS[number]]


def test_a_degree_row_becomes_one_statement_a_degree() -> None:
    bank = parse_bank(HEAD + "MV\tC\t1\tMR=D\t{grade} MR.\n")
    assert {key[1] for key in bank.single} == {1, 2, 3}


def test_two_degrees_of_one_row_bind_separately() -> None:
    bank = parse_bank(HEAD + "*\tC\t1\tMR=A TR=B\t{adj_a} mitral and {adj_b} tricuspid leak.\n")
    ((named, by_levels),) = bank.groups["*"]
    assert named == (INDEX["MR"], INDEX["TR"])
    assert len(by_levels) == 9
    assert by_levels[1, 3][0].text == "{adj1} mitral and {adj3} tricuspid leak."


@pytest.mark.parametrize(
    "row",
    [
        "MV\tC\t1\tMR=D",
        "MV\tC\tmany\tMR=D\t{grade} MR.",
        "MV\tC\t1\tXX=1\tMild XX.",
        "MV\tC\t1\tMR=mild\tMild MR.",
        "MV\tC\t1\tMR=1\t{nothing} MR.",
    ],
)
def test_a_bad_row_is_an_error_with_its_line(row: str) -> None:
    with pytest.raises(ConfigError, match=r"statements\.tsv:2:"):
        parse_bank(HEAD + row + "\n")


@pytest.mark.parametrize(
    ("code", "levels", "expected"),
    [
        ("MR", [1, 3, 2], 3),
        ("MR", [0, 2], 2),
        ("MR", [-2, 1], 1),
        ("MR", [0, -2], -50),
        ("MR", [-3, 1], -50),
        ("LVF", [-1, 0], -1),
        ("LVC", [-1, 0], -50),
        ("LVF", [-1, 1], -50),
        ("RAE", [0, 1], 1),
    ],
)
def test_levels_combine_whatever_their_order(code: str, levels: list[int], expected: int) -> None:
    number = INDEX[code]
    for order in (levels, levels[::-1]):
        assert resolve((number, level, True) for level in order) == {number: expected}


def test_an_inferred_finding_gives_way_to_an_explicit_one() -> None:
    number = INDEX["RVC"]
    assert resolve([(number, -3, False), (number, 2, True)]) == {number: 2}
