"""The grammar reads what the curated lexicon says, and each rule holds on statements of its own."""

from __future__ import annotations

from functools import cache

import pytest

from clinqa.core.records import Method, Phase
from clinqa.packs.loader import builtin_pack
from clinqa.reading.grammar import Grammar
from clinqa.reading.labeller import Labeller, lexicon_key
from clinqa.reading.tokens import abstract, plain


@cache
def grammar() -> Grammar:
    return Grammar(builtin_pack("echo"))


def read(text: str, section: str = "*") -> dict[str, int]:
    found = grammar().read(text, section)
    return {f.abnormality: f.level for f in found if f.phase is Phase.BASELINE}


def test_the_grammar_reads_what_the_lexicon_says_but_for_a_handful() -> None:
    rows = builtin_pack("echo").lexicon
    apart = [
        row.statement
        for row in rows
        if read(row.statement, row.structure) != {x.abnormality: x.level for x in row.labels}
    ]
    assert len(rows) > 1000
    assert len(apart) <= 5, apart


def test_every_abnormality_has_every_level_that_exists_for_it_in_the_lexicon() -> None:
    pack = builtin_pack("echo")
    held = {(x.abnormality, x.level) for row in pack.lexicon for x in row.labels}
    wanted = {(name, level) for name, spec in pack.abnormalities.items() for level in spec.levels}
    assert wanted - held == set()
    assert len(pack.abnormalities) == 21


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("mild MR", 1), ("Slight MR", 1), ("marked MR", 3), ("wide-open MR", 3), ("1+ MR", 1),
        ("4+ MR", 3), ("1-2+ MR", 2), ("MR 1+/4+", 1), ("MR is 1+ on a scale of 0 to 4+", 1),
        ("mild to moderate MR", 2), ("mild-to-moderate MR", 2), ("mild\u2013moderate MR", 2),
        ("Mild ([**12-18**]+) MR", 1), ("Mild to [**Date range **]+ MR", 1),
        ("between mild and moderate MR", 2), ("at least moderate MR", 2),
        ("no more than mild MR", 1), ("more than mild MR", 2), ("MR is not severe", -2),
        ("trace MR", 0), ("physiologic MR", 0), ("significant MR", -2), ("no significant MR", 0),
        ("borderline MR", 0), ("regurgitaton of the mitral valve, severly", 3),
    ],
)  # fmt: skip
def test_degrees(text: str, level: int) -> None:
    assert read(text) == {"mitral_regurgitation": level}


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("No MR, no MS. Mild AI.", {"mitral_regurgitation": 0, "mitral_stenosis": 0,
                                    "aortic_regurgitation": 1}),
        ("No change in the moderate TR.", {"tricuspid_regurgitation": 2}),
        ("Mild mitral and moderate tricuspid regurgitation.",
         {"mitral_regurgitation": 1, "tricuspid_regurgitation": 2}),
        ("Severe RV enlargement, hypertrophy.", {"rv_cavity": 3, "rv_wall": -2}),
        ("Mild MR, TR and AR.", {"mitral_regurgitation": 1, "tricuspid_regurgitation": 1,
                                 "aortic_regurgitation": 1}),
        ("Severely thickened mitral leaflets with mild MS.", {"mitral_stenosis": 1}),
        ("No paravalvular leak.", {}),
        ("MR has progressed from mild to severe.", {"mitral_regurgitation": 3}),
        ("Compared with the prior study, MR was severe and is now mild.",
         {"mitral_regurgitation": 1}),
        ("MR was severe and is now mild.", {"mitral_regurgitation": 1}),
        ("AS by velocity: mild 2.0-2.9, moderate 3.0-3.9, severe > 4.0 m/s", {}),
        ("Catheterization showed severe AS.", {}),
        ("RV suboptimally imaged but grossly normal in size.", {"rv_cavity": 0}),
        ("IVC 2.6 cm without collapse.", {"right_atrial_pressure": 2}),
        ("IVC 1.6 cm with brisk collapse.", {"right_atrial_pressure": 0}),
        ("RA pressure 5-10 mmHg.", {"right_atrial_pressure": 1}),
        ("RA pressure of 12 mmHg.", {}),
        ("LVEF 25%.", {}),
    ],
)  # fmt: skip
def test_scopes(text: str, labels: dict[str, int]) -> None:
    assert read(text) == labels


def test_what_comes_after_bypass_or_with_stress_is_kept_apart() -> None:
    found = grammar().read("Moderate MR at rest, severe with exercise.")
    assert [(f.level, f.phase) for f in found] == [(2, Phase.BASELINE)]
    (new,) = grammar().read("New hypokinesis of the anterior wall with stress.")
    assert (new.abnormality, new.level, new.corrects) == ("regional_wall_motion", -2, True)


def test_hedge_prosthesis_and_correction_are_marked() -> None:
    (finding,) = grammar().read("Probably mild prosthetic AS.")
    assert finding.hedged and finding.prosthesis and not finding.corrects
    (finding,) = grammar().read("On further review the MR is severe.")
    assert finding.corrects


def test_the_lexicon_goes_before_the_grammar_and_numbers_are_alike() -> None:
    labeller = Labeller(builtin_pack("echo"))
    known = builtin_pack("echo").lexicon[0]
    assert labeller.read(known.statement.upper(), known.structure).method is Method.LEXICON
    assert labeller.read("Zebra-like MR, mild.", "MV").method is Method.GRAMMAR
    assert lexicon_key("Mild MR (EF 35%).") == lexicon_key("mild mr (EF 62%)")
    assert abstract(plain("EF 35.5% and 2+ MR")) == "EF 0.5% and 2+ MR"


def test_a_width_is_read_although_other_numbers_are_alike() -> None:
    labeller = Labeller(builtin_pack("echo"))
    wide = labeller.read("IVC 2.9 cm without collapse.", "RA").findings
    narrow = labeller.read("IVC 1.5 cm without collapse.", "RA").findings
    assert [f.level for f in wide] == [2] and [f.level for f in narrow] == [1]


def test_the_published_profile_knows_only_its_statements_and_reads_marked_as_moderate() -> None:
    labeller = Labeller(builtin_pack("echo"), "published")
    assert labeller.read("Zebra-like MR, mild.", "MV").findings == ()
    marked = next(r for r in builtin_pack("echo").lexicon if "arkedly dilated LA" in r.statement)
    assert [f.level for f in labeller.read(marked.statement, marked.structure).findings] == [2]


@pytest.mark.parametrize(
    "text",
    ["", ".", "((((", "))))[[", "-" * 300, "mild " * 400, "no " * 200, "+ + 2+ /", "\x00\x00",
     "to mild to", "between", "grade", "grade IV/", "1+ to", "\u200b", "and and or , / with"],
)  # fmt: skip
def test_odd_statements_do_no_harm(text: str) -> None:
    assert isinstance(grammar().read(text, "MV"), tuple)


def test_a_denied_degree_before_the_noun_leaves_the_finding_open() -> None:
    assert read("No severe AS.") == read("Severe AS is absent.") == {}
    assert read("The AS is not severe.") == {"aortic_stenosis": -2}


def test_a_statement_of_thousands_of_characters_is_not_read() -> None:
    labeller = Labeller(builtin_pack("echo"))
    assert labeller.read("mild MR " * 2_000, "MV").findings == ()
