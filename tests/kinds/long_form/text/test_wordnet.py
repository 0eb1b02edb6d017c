"""WordNet is found on the machine or done without, never fetched."""

from __future__ import annotations

import random
import zipfile
from pathlib import Path

import pytest

from clinqa.core.errors import ConfigError
from clinqa.kinds.long_form.text import TextMetrics, wordnet
from clinqa.kinds.long_form.text.wordnet import VARIABLE, WordNet, find_wordnet, open_wordnet
from metric_references import nltk_wordnet

HEADER = "  1 This software is made up.\n  2 WordNet 9.1 Copyright nobody.\n"


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A WordNet of one synonym set: heart, Ticker, (blood_pump)."""
    place = tmp_path / "small"
    place.mkdir()
    for part in ("noun", "verb", "adj", "adv"):
        for name in (f"index.{part}", f"data.{part}"):
            (place / name).write_text(HEADER)
        (place / f"{part}.exc").write_text("")
    line = f"{len(HEADER):08d} 08 n 03 heart 0 Ticker(a) 0 blood_pump 0 000 | a pump\n"
    (place / "data.noun").write_text(HEADER + line)
    offset = f"{len(HEADER):08d}"
    entries = "".join(
        f"{word} n 1 0 1 0 {offset}  \n" for word in ("blood_pump", "heart", "ticker")
    )
    (place / "index.noun").write_text(HEADER + entries)
    (place / "noun.exc").write_text("hearten heart\n")
    return place


@pytest.fixture(autouse=True)
def nowhere_else(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(wordnet, "_NLTK_FOLDERS", ())
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("NLTK_DATA", raising=False)
    monkeypatch.delenv(VARIABLE, raising=False)


def test_synonyms_are_single_words_of_the_word_and_its_base_forms(small: Path) -> None:
    found = WordNet(small)
    assert found.version == "9.1"
    for word in ("heart", "hearts", "hearten", "TICKER"):
        assert found.synonyms(word) == {"heart", "Ticker"}
    for word in ("", "s", "hear", "zebra", "This", "1", "\ud800", "é"):
        assert found.synonyms(word) == set()


def test_the_variable_names_a_folder_an_nltk_folder_or_a_zip(
    small: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(VARIABLE, str(small))
    assert find_wordnet() == small
    corpora = tmp_path / "nltk_data" / "corpora"
    corpora.mkdir(parents=True)
    with zipfile.ZipFile(corpora / "wordnet.zip", "w") as archive:
        for file in small.iterdir():
            archive.write(file, f"wordnet/{file.name}")
    for named in (corpora / "wordnet.zip", corpora.parent):
        monkeypatch.setenv(VARIABLE, str(named))
        found = find_wordnet()
        assert found == corpora / "wordnet.zip"
        assert open_wordnet(found).synonyms("ticker") == {"heart", "Ticker"}
    monkeypatch.delenv(VARIABLE)
    monkeypatch.setattr(wordnet, "_DEBIAN", tmp_path / "no")
    monkeypatch.setenv("NLTK_DATA", str(corpora.parent))
    assert find_wordnet() == corpora / "wordnet.zip"


def test_a_wrong_variable_is_an_error_that_says_what_is_expected(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    with pytest.raises(ConfigError, match=r"CLINQA_WORDNET .* index\.noun"):
        find_wordnet()


def test_without_wordnet_the_metric_has_another_name_and_says_what_it_matches(
    small: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    texts = ["the heart beats well", "the ticker beats well"]
    monkeypatch.setattr(wordnet, "_DEBIAN", small)
    with_it = TextMetrics(texts[:1], texts[1:])
    assert with_it.names[-1] == "meteor"
    assert "wordnet 9.1" in with_it.signatures["meteor"]
    monkeypatch.setattr(wordnet, "_DEBIAN", tmp_path / "no")
    without = TextMetrics(texts[:1], texts[1:])
    assert without.names[-1] == "meteor_exact_stem"
    assert "match:exact,stem|" in without.signatures["meteor_exact_stem"]
    # Stems are what is looked up: "ticker" becomes "ticker", "heart" stays.
    assert without.corpus()["meteor_exact_stem"] < with_it.corpus()["meteor"]


def test_synonyms_equal_nltks() -> None:
    reader = nltk_wordnet()
    place = find_wordnet()
    assert place is not None
    ours = open_wordnet(place)
    chooser = random.Random(4)
    lemmas = sorted(reader.all_lemma_names(pos="v"))
    words = [*chooser.sample(lemmas, 800), "left", "men", "axes", "better", "e", "s", "ies", "."]
    for word in [*words, *(word + ending for word in words[:300] for ending in ("s", "ed", "er"))]:
        theirs = {
            lemma.name()
            for synset in reader.synsets(word)
            for lemma in synset.lemmas()
            if "_" not in lemma.name()
        }
        assert ours.synonyms(word) == theirs, word
