"""Tiny releases in the true formats of SNOMED CT (RF2) and the UMLS (RRF); contents are made up.

The high-level concepts have their true ids, as the pack names them; all else is invented.
"""

from __future__ import annotations

from pathlib import Path

MODULE, PRIMITIVE = "900000000000207008", "900000000000074008"
FSN, SYNONYM = "900000000000003001", "900000000000013009"
INFERRED, STATED, SOME = "900000000000011006", "900000000000010007", "900000000000451002"
ANY_CASE, WHOLE_CASE = "900000000000448009", "900000000000017005"
IS_A = "116680003"

CONCEPTS = {
    "138875005": ("SNOMED CT Concept (SNOMED RT+CTV3)", [], []),
    "64572001": ("Disease (disorder)", ["138875005"], []),
    "118940003": ("Disorder of nervous system (disorder)", ["64572001"], []),
    "40733004": ("Infectious disease (disorder)", ["64572001"], ["Infection"]),
    "50043002": ("Disorder of respiratory system (disorder)", ["64572001"], []),
    "1001001": (
        "Lumpy brain (disorder)",
        ["118940003", "40733004"],
        ["Lumpy brain disease", "LBD"],
    ),
    "1001002": ("Anemia of moons (disorder)", ["64572001"], []),
    "1001003": ("Pneumonia (disorder)", ["50043002", "40733004"], []),
    "1001004": ("Moon headache (disorder)", ["118940003"], ["Lunar headache"]),
    "2001001": ("Headache (finding)", ["138875005"], ["Cephalalgia"]),
    "2001002": ("Acute severe headache (finding)", ["138875005"], []),
    "2001003": ("Odd gait (finding)", ["138875005"], []),
    "3001001": ("Brain scan (procedure)", ["138875005"], []),
    "4001001": ("Brain structure (body structure)", ["138875005"], []),
}
INACTIVE = "9009009"


def write_rf2(folder: Path) -> Path:
    """A snapshot, with an inactive concept, a stated relation and other languages in it."""
    terminology = folder / "SnomedCT_Made_PRODUCTION" / "Snapshot" / "Terminology"
    terminology.mkdir(parents=True)
    time = "20260101"
    concepts = [["id", "effectiveTime", "active", "moduleId", "definitionStatusId"]]
    concepts += [[one, time, "1", MODULE, PRIMITIVE] for one in CONCEPTS]
    concepts.append([INACTIVE, time, "0", MODULE, PRIMITIVE])
    names = [["id", "effectiveTime", "active", "moduleId", "conceptId", "languageCode", "typeId",
              "term", "caseSignificanceId"]]  # fmt: skip
    number = 5000
    for one, (name, _, synonyms) in CONCEPTS.items():
        for kind, term in [(FSN, name), *((SYNONYM, s) for s in synonyms)]:
            number += 1
            case = WHOLE_CASE if term.isupper() else ANY_CASE
            names.append([f"{number}", time, "1", MODULE, one, "en", kind, term, case])
    names.append(["7001", time, "1", MODULE, "1001001", "da", SYNONYM, "Hjerne", ANY_CASE])
    names.append(["7002", time, "0", MODULE, "1001001", "en", SYNONYM, "Old brain", ANY_CASE])
    names.append(["7003", time, "1", MODULE, INACTIVE, "en", FSN, "Gone (disorder)", ANY_CASE])
    names.append(["7004", "broken row"])
    relations = [["id", "effectiveTime", "active", "moduleId", "sourceId", "destinationId",
                  "relationshipGroup", "typeId", "characteristicTypeId", "modifierId"]]  # fmt: skip
    number = 8000
    for one, (_, parents, _) in CONCEPTS.items():
        for parent in parents:
            number += 1
            relations.append(
                [f"{number}", time, "1", MODULE, one, parent, "0", IS_A, INFERRED, SOME]
            )
    # a stated relation, an inactive one and one of another type say nothing of ancestors
    for kind, characteristic, active in (
        (IS_A, STATED, "1"),
        (IS_A, INFERRED, "0"),
        ("1", INFERRED, "1"),
    ):
        number += 1
        relations.append(
            [
                f"{number}",
                time,
                active,
                MODULE,
                "1001002",
                "118940003",
                "0",
                kind,
                characteristic,
                SOME,
            ]
        )
    for name, rows in (
        ("sct2_Concept_Snapshot_INT_20260101.txt", concepts),
        ("sct2_Description_Snapshot-en_INT_20260101.txt", names),
        ("sct2_Relationship_Snapshot_INT_20260101.txt", relations),
    ):
        text = "".join("\t".join(row) + "\r\n" for row in rows)
        (terminology / name).write_bytes(text.encode("utf-8"))
    # files beside them that are none of the three
    (terminology / "sct2_TextDefinition_Snapshot-en_INT_20260101.txt").write_text("id\n")
    (terminology / "sct2_StatedRelationship_Snapshot_INT_20260101.txt").write_text("id\n")
    return folder


def _conso(cui: str, text: str, *, lat: str = "ENG", sab: str = "MTH", code: str = "NOCODE",
           preferred: bool = False, suppress: str = "N") -> str:  # fmt: skip
    ts, stt, ispref = ("P", "PF", "Y") if preferred else ("S", "VO", "N")
    fields = [cui, lat, ts, "L1", stt, "S1", ispref, "A1", "", "", "", sab, "PT", code, text, "0",
              suppress, "256"]  # fmt: skip
    return "|".join(fields) + "|"


def write_rrf(folder: Path) -> Path:
    """MRCONSO and MRSTY of a few concepts."""
    meta = folder / "META"
    meta.mkdir(parents=True)
    conso = [
        _conso("C0000001", "Lumpy brain", preferred=True, sab="SNOMEDCT_US", code="1001001"),
        _conso("C0000001", "Cerebrum nodosum", sab="MSH", code="D1"),
        _conso("C0000001", "Knotenhirn", lat="GER"),
        _conso("C0000001", "Bumpy brain", suppress="O"),
        _conso("C0018681", "Headache", preferred=True, sab="HPO", code="HP:0002315"),
        _conso("C0018681", "Pain in head"),
        _conso("C0000003", "Gloom of moons", preferred=True),
        _conso("C0000004", "Iron hammer", preferred=True),
        _conso("C0000005", "Pneumonia", sab="HPO", code="HP:0002090"),
        "C0000006|ENG|broken",
    ]
    sty = [
        "C0000001|T047|B2.2.1.2.1|Disease or Syndrome|AT1|256|",
        "C0018681|T184|A2.2.2|Sign or Symptom|AT2|256|",
        "C0000003|T048|B2.2.1.2.1.1|Mental or Behavioral Dysfunction|AT3|256|",
        "C0000004|T073|A1.3|Manufactured Object|AT4|256|",
        "C0000005|T033|A2.2|Finding|AT5|256|",
        "C0000005|T047|B2.2.1.2.1|Disease or Syndrome|AT6|256|",
    ]
    (meta / "MRCONSO.RRF").write_text("\n".join(conso) + "\n", encoding="utf-8")
    (meta / "MRSTY.RRF").write_text("\n".join(sty) + "\n", encoding="utf-8")
    return folder
