"""The metrics as the reference libraries compute them, one pair at a time."""

from __future__ import annotations

import re
import string
import tempfile
import warnings
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from clinqa.kinds.long_form.text.wordnet import find_wordnet, nltk_data_folder


def squad_f1(hypothesis: str, reference: str) -> float:
    """SQuAD 1.1's f1_score, written down from its description."""

    def words(text: str) -> list[str]:
        text = "".join(letter for letter in text.lower() if letter not in string.punctuation)
        return re.sub(r"\b(a|an|the)\b", " ", text).split()

    ours, theirs = words(hypothesis), words(reference)
    shared = sum((Counter(ours) & Counter(theirs)).values())
    return 2 * shared / (len(ours) + len(theirs)) if shared else 0.0


@cache
def nltk_wordnet() -> Any:
    """NLTK's reader over the machine's WordNet; the test is skipped where there is none."""
    nltk = pytest.importorskip("nltk")
    place = find_wordnet()
    if place is None:
        pytest.skip("no WordNet on this machine (Debian: apt install wordnet-base)")
    kept = tempfile.TemporaryDirectory(prefix="clinqa-nltk-")
    nltk.data.path.insert(0, str(nltk_data_folder(place, Path(kept.name))))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that this WordNet knows English only
        reader = nltk.corpus.reader.wordnet.WordNetCorpusReader(
            nltk.data.find("corpora/wordnet"), None
        )
    reader.kept = kept  # goes with the reader, when the tests end
    return reader


class NoSynonyms:
    """Stands for WordNet where METEOR is to do without."""

    def synsets(self, _word: str) -> list[Any]:
        return []


def nltk_meteor(hypothesis: list[str], reference: list[str], wordnet: Any) -> float:
    score = pytest.importorskip("nltk.translate.meteor_score")
    return float(score.single_meteor_score(reference, hypothesis, wordnet=wordnet))
