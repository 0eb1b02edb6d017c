"""Text metrics: clinqa's, the reference libraries' and the floor, in one run on the same pairs.

    python benchmarks/metrics.py [--pairs 50000] [--references 50000]

The pairs are made: a reference is a sentence of a simulated report, a hypothesis the same sentence
with words lost, changed or added, no two hypotheses alike, so that nothing is won by computing
equal pairs once. Each contender starts from the texts, with nothing remembered; what NLTK is given
is cut into tokens beforehand and its WordNet is loaded beforehand. `floor` is `str.split` of every
text. CPU seconds, since the machine may be shared. With --references N the reference libraries do
only the first N pairs and their time is scaled; they must equal ours to 1e-9 on all of these.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import re
import string
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import nltk
import numpy as np
import numpy.typing as npt
import sacrebleu
from nltk.translate.meteor_score import single_meteor_score
from rouge_score.rouge_scorer import RougeScorer

from clinqa.kinds.long_form.answer_measures import text_measures
from clinqa.kinds.long_form.text import METRICS, TextMetrics
from clinqa.kinds.long_form.text.bleu import bleu, bleu_counts
from clinqa.kinds.long_form.text.cut_texts import (
    CutTexts,
    Ragged,
    Rule,
    rouge_stemmed,
    squad,
    tokens_13a,
)
from clinqa.kinds.long_form.text.meteor import Meteor
from clinqa.kinds.long_form.text.overlap import rouge_f, token_f1
from clinqa.kinds.long_form.text.wordnet import WordNet, find_wordnet, nltk_data_folder
from clinqa.simulate.echo import simulate
from clinqa.stats.design import Design
from clinqa.stats.estimates import estimates

Floats = npt.NDArray[np.float64]
T = TypeVar("T")
ARTICLES = re.compile(r"\b(a|an|the)\b")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pairs", type=int, default=50_000)
    parser.add_argument("--references", type=int, default=50_000)
    chosen = parser.parse_args()
    hypotheses, references = made_pairs(chosen.pairs)
    few = min(chosen.references, chosen.pairs)
    scale = chosen.pairs / few
    place = find_wordnet()
    if place is None:
        raise SystemExit("error: no WordNet on this machine; see clinqa/score/text/wordnet.py")

    floor, _ = timed(lambda: [text.split() for text in (*hypotheses, *references)])
    ours = {
        "rouge1, 2, L": timed(lambda: rouge_f(*tokens(hypotheses, references, rouge_stemmed)[:2])),
        "meteor": timed(lambda: our_meteor(hypotheses, references, place)),
        "bleu": timed(lambda: our_bleu(hypotheses, references)),
        "token_f1": timed(lambda: token_f1(*tokens(hypotheses, references, squad)[:2])),
    }
    whole, metrics = timed(lambda: TextMetrics(references, hypotheses))
    scorer = RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=True)
    with tempfile.TemporaryDirectory() as folder:
        reader = nltk_reader(place, Path(folder))
        cut = [
            [" ".join(tokens_line(t)).split() for t in texts[:few]]
            for texts in (hypotheses, references)
        ]
        theirs = {
            "rouge1, 2, L": timed(
                lambda: np.array(
                    [
                        [score.fmeasure for score in scorer.score(r, h).values()]
                        for h, r in zip(hypotheses[:few], references[:few], strict=True)
                    ]
                )
            ),
            "meteor": timed(
                lambda: np.array(
                    [single_meteor_score(r, h, wordnet=reader) for h, r in zip(*cut, strict=True)]
                )
            ),
            "bleu": timed(lambda: their_bleu(hypotheses[:few], references[:few])),
            "token_f1": timed(
                lambda: np.array(
                    [
                        squad_f1(h, r)
                        for h, r in zip(hypotheses[:few], references[:few], strict=True)
                    ]
                )
            ),
        }
    rows = {}
    for name, (seconds, values) in ours.items():
        reference, expected = theirs[name]
        apart = np.abs(values[: len(expected)] - expected)
        if name == "bleu" and few < chosen.pairs:
            apart = apart[1:]  # corpus BLEU of fewer pairs is another figure
        rows[name] = {
            "ours_s": round(seconds, 2),
            "reference_s": round(reference * scale, 1),
            "times": round(reference * scale / seconds, 1),
            "largest_difference": float(apart.max()),
        }
    patients = np.array([f"p{n // 15:06d}" for n in range(chosen.pairs)])
    design = Design(patients, seed=1)
    interval_s, figures = timed(lambda: intervals(metrics.statistics, design))
    said = {
        "pairs": chosen.pairs,
        "reference_pairs": few,
        "floor_s": round(floor, 2),
        "all_metrics_s": round(whole, 2),
        "metrics": rows,
        "intervals_s": round(interval_s, 2),
        "patients": len(set(patients)),
        "figures": {
            name: [round(number, 4) for number in numbers]
            for name, numbers in zip(metrics.names, figures, strict=True)
        },
    }
    print(json.dumps(said, indent=1))


def intervals(rows: Floats, design: Design) -> list[tuple[float, float, float]]:
    """Value and both ends of every metric, from what is left without each patient."""
    measures = text_measures(dict.fromkeys(METRICS, ""))
    return [(one.value, one.low, one.high) for one in estimates(measures, rows, design)]


def timed(work: Callable[[], T]) -> tuple[float, T]:
    started = time.process_time()
    made = work()
    return time.process_time() - started, made


def made_pairs(count: int) -> tuple[list[str], list[str]]:
    """Hypotheses, all different, and their references."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "reports.csv"
        simulate(2000, 7, source)
        with source.open(newline="", encoding="utf-8") as file:
            texts = [row["TEXT"] for row in csv.DictReader(file)]
    sentences = sorted(
        {
            " ".join(sentence.split())
            for text in texts
            for sentence in re.split(r"(?<=[.])\s+|\n\n", text)
            if 3 <= len(sentence.split()) <= 60
        }
    )
    chooser = random.Random(3)
    words = sorted({word for sentence in sentences for word in sentence.split()})
    references: list[str] = []
    seen: dict[str, None] = {}
    while len(seen) < count:
        reference = chooser.choice(sentences)
        changed = [
            chooser.choice(words) if chooser.random() < 0.15 else word
            for word in reference.split()
            if chooser.random() > 0.1
        ]
        if chooser.random() < 0.3:
            changed += chooser.choice(sentences).split()
        hypothesis = " ".join(changed)
        if hypothesis not in seen:
            seen[hypothesis] = None
            references.append(reference)
    return list(seen), references


def tokens(
    hypotheses: list[str], references: list[str], rule: Rule
) -> tuple[Ragged, Ragged, list[str]]:
    """Both sides coded by one rule, the references once each."""
    codes = {text: code for code, text in enumerate(dict.fromkeys((*hypotheses, *references)))}
    coded, vocabulary = CutTexts(codes).tokens(rule)
    sides = (
        coded.take(np.fromiter(map(codes.__getitem__, side), dtype=np.int64))
        for side in (hypotheses, references)
    )
    return *sides, vocabulary  # type: ignore[return-value]


def our_meteor(hypotheses: list[str], references: list[str], place: Path) -> Floats:
    def lower(word: str) -> list[str]:
        return [token.lower() for token in tokens_13a(word)]

    ours, theirs, vocabulary = tokens(hypotheses, references, lower)
    return Meteor(vocabulary, WordNet(place)).scores(ours, theirs)


def our_bleu(hypotheses: list[str], references: list[str]) -> Floats:
    """Of the corpus, then of each pair."""
    counts = bleu_counts(*tokens(hypotheses, references, tokens_13a)[:2])
    return np.append(bleu(counts.sum(axis=0)), bleu(counts, effective_order=True))


def their_bleu(hypotheses: list[str], references: list[str]) -> Floats:
    corpus = sacrebleu.BLEU().corpus_score(hypotheses, [references]).score
    single = sacrebleu.BLEU(effective_order=True)
    each = [
        single.sentence_score(h, [r]).score for h, r in zip(hypotheses, references, strict=True)
    ]
    return np.array([corpus, *each]) / 100


def tokens_line(text: str) -> list[str]:
    return [token for word in text.split() for token in tokens_13a(word)]


def nltk_reader(place: Path, folder: Path) -> object:
    nltk.data.path.insert(0, str(nltk_data_folder(place, folder)))
    reader = nltk.corpus.reader.wordnet.WordNetCorpusReader(nltk.data.find("corpora/wordnet"), None)
    reader.synsets("heart")
    return reader


def squad_f1(hypothesis: str, reference: str) -> float:
    """As SQuAD's own script goes about it."""

    def normalised(text: str) -> list[str]:
        text = "".join(letter for letter in text.lower() if letter not in punctuation)
        return ARTICLES.sub(" ", text).split()

    punctuation = set(string.punctuation)
    ours, theirs = normalised(hypothesis), normalised(reference)
    shared = sum((Counter(ours) & Counter(theirs)).values())
    if not shared:
        return 0.0
    precision, recall = shared / len(ours), shared / len(theirs)
    return 2 * precision * recall / (precision + recall)


if __name__ == "__main__":
    main()
