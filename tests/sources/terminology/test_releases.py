"""SNOMED CT in RF2 and the UMLS in RRF, read from tiny files in the true formats."""

from __future__ import annotations

from pathlib import Path

import pytest

from clinqa.core.errors import SourceError
from clinqa.sources.terminology.rf2 import read_rf2
from clinqa.sources.terminology.rrf import read_rrf
from terms.made_releases import INACTIVE, write_rf2, write_rrf


def test_active_concepts_have_their_kind_names_and_ancestors(tmp_path: Path) -> None:
    release = read_rf2(write_rf2(tmp_path))
    lumpy = release.concepts["1001001"]
    assert (lumpy.name, lumpy.kind) == ("Lumpy brain", "disorder")
    assert {label.text for label in lumpy.labels} == {
        "Lumpy brain", "Lumpy brain disease", "LBD"
    }  # fmt: skip
    assert release.ancestors(["1001001"]) == {
        "1001001", "118940003", "40733004", "64572001", "138875005"
    }  # fmt: skip
    assert release.version == "20260101"


def test_what_is_inactive_stated_or_in_another_language_is_left_out(tmp_path: Path) -> None:
    release = read_rf2(write_rf2(tmp_path))
    assert INACTIVE not in release.concepts
    assert "118940003" not in release.ancestors(["1001002"])
    texts = {label.text for concept in release.concepts.values() for label in concept.labels}
    assert not texts & {"Hjerne", "Old brain", "Gone"}
    assert release.concepts["4001001"].labels == []  # a body structure is no term
    assert release.skipped["inactive_concepts"] == 1
    assert release.skipped["broken_rows"] >= 1


def test_of_two_releases_the_later_row_holds(tmp_path: Path) -> None:
    write_rf2(tmp_path)
    extension = tmp_path / "Extension"
    extension.mkdir()
    header = "id\teffectiveTime\tactive\tmoduleId\tdefinitionStatusId\n"
    (extension / "sct2_Concept_Snapshot_XX_20260301.txt").write_text(
        header + "1001001\t20260301\t0\t1\t2\n1001002\t20250101\t0\t1\t2\n"
    )
    release = read_rf2(tmp_path)
    assert "1001001" not in release.concepts
    assert "1001002" in release.concepts


def test_a_folder_that_is_no_release_is_named(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no snapshot of Concept"):
        read_rf2(tmp_path)
    with pytest.raises(SourceError, match="no such folder"):
        read_rf2(tmp_path / "nowhere")
    write_rf2(tmp_path)
    [path] = tmp_path.rglob("sct2_Concept_Snapshot*")
    path.write_text("id,effectiveTime\n1,2\n")
    with pytest.raises(SourceError, match="columns of RF2"):
        read_rf2(tmp_path)


def test_umls_names_are_english_not_suppressed_and_of_the_wanted_types(tmp_path: Path) -> None:
    umls = read_rrf(write_rrf(tmp_path), {"T047", "T184", "T048", "T033"})
    assert set(umls.concepts) == {"C0000001", "C0018681", "C0000003", "C0000005"}
    lumpy = umls.concepts["C0000001"]
    assert [label.text for label in lumpy.labels] == ["Lumpy brain", "Cerebrum nodosum"]
    assert lumpy.xrefs == ["SNOMEDCT_US:1001001"]
    assert umls.concepts["C0018681"].xrefs == ["HP:0002315"]
    assert umls.concepts["C0000005"].name == "Pneumonia"
    assert umls.skipped == {
        "of_other_types": 1, "not_english": 1, "suppressed": 1, "broken_rows": 1
    }  # fmt: skip


def test_a_folder_without_the_umls_is_named(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"MRSTY\.RRF"):
        read_rrf(tmp_path, {"T047"})
    (tmp_path / "MRSTY.RRF").write_text("not a bar in it\n")
    (tmp_path / "MRCONSO.RRF").write_text("")
    with pytest.raises(SourceError, match="fields of MRSTY"):
        read_rrf(tmp_path, {"T047"})


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-8-sig", "utf-16"])
def test_a_release_in_another_encoding_loses_no_name_and_says_so(
    tmp_path: Path, encoding: str
) -> None:
    write_rf2(tmp_path / "ct")
    write_rrf(tmp_path / "umls")
    [names] = tmp_path.rglob("sct2_Description_Snapshot*")
    conso = tmp_path / "umls" / "META" / "MRCONSO.RRF"
    for path, old, new in (
        (names, "Lunar headache", "Ménière headache"),
        (conso, "Pain in head", "Sjögren pain"),
    ):
        text = path.read_text("utf-8").replace(old, new).replace("effectiveTime", "EFFECTIVETIME")
        path.write_bytes(text.encode(encoding))
    release = read_rf2(tmp_path / "ct")
    umls = read_rrf(tmp_path / "umls", {"T047", "T184"})
    assert "Ménière headache" in {label.text for label in release.concepts["1001004"].labels}
    assert "Sjögren pain" in {label.text for label in umls.concepts["C0018681"].labels}
    guessed = encoding in ("latin-1", "cp1252")
    assert (
        "MRCONSO.RRF is not UTF-8: read as Windows-1252" in "\n".join(umls.warnings())
    ) is guessed
    assert any(names.name in line for line in release.warnings()) is guessed


def test_a_damaged_name_of_a_release_is_a_broken_row_and_no_term(tmp_path: Path) -> None:
    conso = write_rrf(tmp_path) / "META" / "MRCONSO.RRF"
    text = conso.read_bytes().replace(b"Cerebrum nodosum", "Größe, Übel".encode())
    conso.write_bytes(text.replace(b"Pain in head", b"Sj\xf6gren pain"))
    umls = read_rrf(tmp_path, {"T047", "T184"})
    assert [label.text for label in umls.concepts["C0018681"].labels] == ["Headache"]
    assert umls.warnings() == ["UMLS: 2 rows could not be read"]
