"""The text metrics equal sacrebleu, rouge-score, SQuAD's script and NLTK to 1e-9."""

from __future__ import annotations

import json
import random
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clinqa.kinds.long_form.text import METRICS, STATISTICS, TextMetrics, TextOptions, text_metrics
from clinqa.kinds.long_form.text.cut_texts import tokens_13a
from clinqa.kinds.long_form.text.wordnet import find_wordnet
from metric_references import NoSynonyms, nltk_meteor, nltk_wordnet, squad_f1

sacrebleu = pytest.importorskip("sacrebleu")
rouge_scorer = pytest.importorskip("rouge_score.rouge_scorer")

SHARED = Path(__file__).parents[4] / "shared" / "data" / "cases_qa.jsonl"
_WORDS = (
    "the The a an mild mildly moderate moderately severe. severely, dilated dilation (LV) left "
    "ventricle ventricular regurgitation regurgitant heart hearts EKG picture image doctor "
    "physician big large 1.5 2-3 -4 5, .6 1,000 3.0cm 60% Mild-to-moderate it's can't don’t é "
    "naïve ΑΣ Σ İstanbul ﬁne 心臓 🫀 &quot; &amp;lt; <skipped> - -- ... ,, .. ?! [x] {y} a_b "
    "\u00a0 \u2028 \x1f ies yy skies dying innings \ud800"
)
WORDS = _WORDS.split(" ")

odd_texts = st.one_of(
    st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join),
    st.lists(st.sampled_from([*WORDS, "\n", "-\n", "\t", " "]), max_size=14).map("".join),
    st.text(max_size=30),
    st.text(alphabet="ab ,.-\n'A1", max_size=25),
)
near_pairs = st.lists(st.tuples(st.sampled_from(WORDS), st.booleans(), st.booleans()), max_size=16)


def halves(kept: list[tuple[str, bool, bool]]) -> tuple[str, str]:
    return (
        " ".join(word for word, one, _ in kept if one),
        " ".join(word for word, _, other in kept if other),
    )


pairs = st.lists(
    st.one_of(st.tuples(odd_texts, odd_texts), near_pairs.map(halves)), min_size=1, max_size=6
)
unhurried = settings(deadline=None, max_examples=100)


def columns(
    made: list[tuple[str, str]], **options: str
) -> tuple[TextMetrics, dict[str, list[float]]]:
    hypotheses, references = zip(*made, strict=True)
    metrics = TextMetrics(references, hypotheses, TextOptions(**options))  # type: ignore[arg-type]
    return metrics, metrics.per_item().to_pydict()


@unhurried
@given(pairs, st.booleans())
def test_bleu_equals_sacrebleu(made: list[tuple[str, str]], split: bool) -> None:
    tokens = "split" if split else "13a"
    metrics, items = columns(made, meteor_synonyms="none", unsmoothed_tokens=tokens)
    hypotheses, references = map(list, zip(*made, strict=True))
    corpus = sacrebleu.BLEU().corpus_score(hypotheses, [references]).score / 100
    assert metrics.corpus()["bleu"] == pytest.approx(corpus, abs=1e-9)
    smoothed = sacrebleu.BLEU(effective_order=True)
    unsmoothed = sacrebleu.BLEU(smooth_method="none", tokenize="none" if split else "13a")
    for row, (hypothesis, reference) in enumerate(made):
        for name, scorer in (("bleu_sentence", smoothed), ("bleu_unsmoothed", unsmoothed)):
            expected = scorer.sentence_score(hypothesis, [reference]).score / 100
            assert items[name][row] == pytest.approx(expected, abs=1e-9), name


@unhurried
@given(pairs)
def test_unsmoothed_bleu_equals_nltks(made: list[tuple[str, str]]) -> None:
    nltk_bleu = pytest.importorskip("nltk.translate.bleu_score")
    _, items = columns(made, meteor_synonyms="none")
    for row, (hypothesis, reference) in enumerate(made):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that nothing matched
            expected = nltk_bleu.sentence_bleu([reference.split()], hypothesis.split())
        assert items["bleu_unsmoothed"][row] == pytest.approx(expected, abs=1e-9)


@unhurried
@given(pairs, st.booleans())
def test_rouge_equals_rouge_score(made: list[tuple[str, str]], stemmed: bool) -> None:
    _, items = columns(made, meteor_synonyms="none", rouge_stemmer="porter" if stemmed else "none")
    scorer = rouge_scorer.RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=stemmed)
    for row, (hypothesis, reference) in enumerate(made):
        for name, score in scorer.score(reference, hypothesis).items():
            assert items[name][row] == pytest.approx(score.fmeasure, abs=1e-9), name


@unhurried
@given(pairs)
def test_token_f1_equals_squads(made: list[tuple[str, str]]) -> None:
    _, items = columns(made, meteor_synonyms="none")
    for row, pair in enumerate(made):
        assert items["token_f1"][row] == pytest.approx(squad_f1(*pair), abs=1e-9)


@unhurried
@given(pairs, st.booleans())
def test_meteor_without_synonyms_equals_nltks(made: list[tuple[str, str]], split: bool) -> None:
    tokens = "split" if split else "13a"
    metrics, items = columns(made, meteor_synonyms="none", meteor_tokens=tokens)
    assert metrics.names[-1] == "meteor_exact_stem"
    for row, pair in enumerate(made):
        expected = nltk_meteor(*map(cut[tokens], pair), wordnet=NoSynonyms())
        assert items["meteor_exact_stem"][row] == pytest.approx(expected, abs=1e-9)


@unhurried
@given(pairs, st.booleans())
def test_meteor_equals_nltks(made: list[tuple[str, str]], split: bool) -> None:
    wordnet = nltk_wordnet()
    tokens = "split" if split else "13a"
    metrics, items = columns(made, meteor_tokens=tokens)
    assert metrics.names[-1] == "meteor"
    for row, pair in enumerate(made):
        expected = nltk_meteor(*map(cut[tokens], pair), wordnet=wordnet)
        assert items["meteor"][row] == pytest.approx(expected, abs=1e-9)


cut = {
    "13a": lambda text: sacrebleu.BLEU().tokenizer(text.rstrip()).split(),
    "split": str.split,
}


def test_synonyms_of_stems_are_matched_as_nltk_does() -> None:
    wordnet = nltk_wordnet()
    chooser = random.Random(5)
    nouns = (
        "picture image photo car auto automobile doctor physician big large huge heart pump "
        "movie film show start begin buy purchase sofa couch answer reply respond response"
    )
    made = [
        (
            " ".join(chooser.choices(nouns.split(), k=9)),
            " ".join(chooser.choices(nouns.split(), k=9)),
        )
        for _ in range(300)
    ]
    _, items = columns(made)
    for row, (hypothesis, reference) in enumerate(made):
        expected = nltk_meteor(hypothesis.split(), reference.split(), wordnet)
        assert items["meteor"][row] == pytest.approx(expected, abs=1e-9)
    without = columns(made, meteor_synonyms="none")[1]["meteor_exact_stem"]
    assert np.mean(items["meteor"]) > np.mean(without) + 0.03


def test_nltks_documented_example_gives_its_documented_value() -> None:
    if find_wordnet() is None:
        pytest.skip("no WordNet on this machine (Debian: apt install wordnet-base)")
    hypothesis = (
        "It is a guide to action which ensures that the military always obeys the commands of "
        "the party"
    )
    reference = (
        "It is a guide to action that ensures that the military will forever heed Party commands"
    )
    found = TextMetrics([reference], [hypothesis]).corpus()
    assert round(float(found["meteor"]), 4) == 0.6944


def test_long_and_repeated_texts_equal_the_references() -> None:
    chooser = random.Random(3)
    made = [("mild " * 400, "mild " * 300 + "severe " * 100), ("a b c d " * 200, "d c b a " * 200)]
    made += [
        (" ".join(chooser.choices(WORDS, k=600)), " ".join(chooser.choices(WORDS, k=700)))
        for _ in range(3)
    ]
    _, items = columns(made, meteor_synonyms="none")
    scorer = rouge_scorer.RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=True)
    smoothed = sacrebleu.BLEU(effective_order=True)
    for row, (hypothesis, reference) in enumerate(made):
        for name, score in scorer.score(reference, hypothesis).items():
            assert items[name][row] == pytest.approx(score.fmeasure, abs=1e-9)
        bleu = smoothed.sentence_score(hypothesis, [reference]).score / 100
        assert items["bleu_sentence"][row] == pytest.approx(bleu, abs=1e-9)
        meteor = nltk_meteor(cut["13a"](hypothesis), cut["13a"](reference), NoSynonyms())
        assert items["meteor_exact_stem"][row] == pytest.approx(meteor, abs=1e-9)


def test_a_vocabulary_beyond_unicode_and_wide_keys_count_right(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = [(f"a{n} b c d e f", f"b c a{n} d e") for n in range(50)]
    usual, _ = columns(made, meteor_synonyms="none")
    monkeypatch.setattr("clinqa.kinds.long_form.text.overlap._CODE_POINTS", 0)
    monkeypatch.setattr("clinqa.kinds.long_form.text.overlap._KEY_LIMIT", 1)
    monkeypatch.setattr("clinqa.kinds.long_form.text.metrics._TOKENS_AT_ONCE", 20)
    other, _ = columns(made, meteor_synonyms="none")
    assert np.array_equal(usual.statistics, other.statistics)


def test_codes_where_surrogates_would_be_are_told_apart() -> None:
    words = [f"w{n}" for n in range(56_500)]
    metrics = TextMetrics(
        [" ".join(words)], [" ".join(words[::-1])], TextOptions(meteor_synonyms="none")
    )
    assert metrics.corpus()["rougeL"] == pytest.approx(1 / 56_500)


def test_the_order_of_pairs_has_no_part_in_the_figures() -> None:
    made = [(f"mild {n % 7} of it", f"mild to {n % 5} of it, no more") for n in range(60)]
    one, _ = columns(made, meteor_synonyms="none")
    other, _ = columns(made[::-1], meteor_synonyms="none")
    assert one.corpus() == other.corpus()
    assert np.array_equal(one.statistics, other.statistics[::-1])


def test_weights_do_what_repeating_pairs_does() -> None:
    made = [("mild regurgitation seen", "no regurgitation seen here"), ("a b c d e", "a b c e d")]
    metrics, _ = columns(made, meteor_synonyms="none")
    repeated, _ = columns([made[0]] * 3 + [made[1]], meteor_synonyms="none")
    weighted = metrics.corpus([[3, 1], [0, 0]])
    for name, value in repeated.corpus().items():
        assert weighted[name][0] == pytest.approx(float(value))
        assert np.isnan(weighted[name][1])


def test_the_columns_are_as_named() -> None:
    metrics, items = columns([("a b", "a c")], meteor_synonyms="none")
    assert list(items) == [*STATISTICS[:-1], "meteor_exact_stem"]
    assert metrics.statistics.shape == (1, len(STATISTICS))
    assert text_metrics(metrics.statistics).shape == (1, len(METRICS))
    assert list(metrics.corpus()) == [*METRICS[:-1], "meteor_exact_stem"]


def test_no_pairs_have_no_figures() -> None:
    metrics = TextMetrics([], [], TextOptions(meteor_synonyms="none"))
    assert all(np.isnan(value) for value in metrics.corpus().values())
    assert np.isnan(metrics.short_references)


def test_lists_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="as many"):
        TextMetrics(["a"], [])


def test_short_references_pull_unsmoothed_bleu_down_however_right() -> None:
    texts = ["Mild MR.", "The left ventricle is normal.", "No effusion seen today."]
    metrics, _ = columns([(text, text) for text in texts], meteor_synonyms="none")
    figures = metrics.corpus()
    assert metrics.short_references == pytest.approx(1 / 3)
    assert figures["bleu_unsmoothed"] == pytest.approx(2 / 3)
    assert figures["rougeL"] == figures["bleu"] == figures["bleu_sentence"] == 1


def test_every_choice_stands_in_a_signature() -> None:
    one = TextMetrics([], [], TextOptions(meteor_synonyms="none")).signatures
    other = TextMetrics([], [], TextOptions("none", "split", "13a", "none")).signatures
    assert {name for name in one if one[name] != other[name]} == {
        *("bleu_unsmoothed", "rouge1", "rouge2", "rougeL", "meteor_exact_stem")
    }
    assert len(set(one.values())) == len(one) == len(METRICS)


def test_the_stated_cases_of_meteor_come_out() -> None:
    if not SHARED.exists():
        pytest.skip("the shared cases are not beside this checkout")
    cases = [json.loads(line) for line in SHARED.read_text().splitlines()]
    cases = [case for case in cases if case["area"] == "metric_meteor"]
    assert cases
    for case in cases:
        if isinstance(case["input"], list):
            hypothesis, reference = case["input"]
            found = TextMetrics([reference], [hypothesis]).per_item()
            value = found.column(found.column_names[-1])[0].as_py()
            assert value == 0.5 and "0.5" in case["expected"]
        else:
            # What NLTK refuses, a text that is no list of tokens, is what is asked of us; it
            # is cut into tokens, so it is never scored letter by letter.
            assert "TypeError" in case["expected"]
            whole = TextMetrics([case["input"]], [case["input"]]).per_item()
            words = len(tokens_13a(case["input"]))
            assert whole.column(whole.column_names[-1])[0].as_py() == pytest.approx(
                1 - 0.5 / words**3
            )
