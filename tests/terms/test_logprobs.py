"""Log-probabilities of terms under a tiny model: against a plain forward pass, and end to end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="the extra `local` is not installed")

import pyarrow.parquet as pq
import tokenizers
import torch
import transformers

from clinqa.core.errors import ConfigError, ModelError
from clinqa.core.records import Reason
from clinqa.models.local.render import Renderer
from clinqa.models.protocol import ModelOptions
from clinqa.terms.find import find_terms
from clinqa.terms.logprobs import term_logprobs
from clinqa.terms.scoring import TermPlace, align, gold_text, open_scorer, score_items
from clinqa.terms.term_options import FindOptions, LogprobOptions
from models.local.test_adapter import make_adapter
from terms.made_terms import build, write_obo
from tiny_model import make_tiny, opened

pytestmark = pytest.mark.full

QUESTION = "Gout? (asthma) β-thalassaemia, Sjögren’s; asthma/asthma and asthma"
TERMS = ("asthma", "β-thalassaemia", "Sjögren’s")


def _places(text: str, part: str = "question") -> list[TermPlace]:
    found = []
    for term in TERMS:
        at = text.find(term)
        while at >= 0:
            found.append(TermPlace(part, at, at + len(term), term))
            at = text.find(term, at + 1)
    return found


@pytest.mark.parametrize("form", ["asked", "plain"])
@pytest.mark.parametrize("chat", [True, False])
def test_each_occurrence_has_the_probability_of_a_plain_forward_pass(
    tmp_path: Path, form: str, chat: bool
) -> None:
    model = opened(make_tiny(tmp_path, chat=chat))
    parts = {"question": QUESTION, "answer": "asthma"}
    places = [*_places(QUESTION), TermPlace("answer", 0, 6, "asthma")]
    other = {"question": "What says the report of asthma", "answer": "no"}
    items = [("a", parts, places), ("b", other, _places(other["question"]))]
    scored = dict(score_items(model, items, form))
    gold = gold_text(parts, form, model.renderer)
    tokens, offsets = model.renderer.encode_text(gold.text, gold.written)
    plain = transformers.AutoModelForCausalLM.from_pretrained(tmp_path, dtype=torch.float32)
    with torch.inference_mode():
        table = plain(input_ids=torch.tensor([tokens])).logits[0].log_softmax(dim=-1)
    seen = set()
    for one in scored["a"]:
        start = gold.starts[one.place.part]
        at = align(gold.text, offsets, start + one.place.start, start + one.place.end)
        assert at is not None
        assert gold.text[start + one.place.start : start + one.place.end] in TERMS
        wanted = sum(float(table[n - 1, tokens[n]]) for n in range(at.first, at.after))
        assert one.logprob == pytest.approx(wanted, abs=2e-3)
        seen.add(at.first)
    assert len(seen) == len(places) == 7  # every occurrence, each at its own place
    assert len(scored["b"]) == 1


def test_a_term_with_nothing_before_it_is_lost_and_told(tmp_path: Path) -> None:
    model = opened(make_tiny(tmp_path, chat=False))
    text = "asthma is asthma"
    [(_, scored)] = score_items(model, [("a", {"question": text}, _places(text))], "plain")
    assert [one.lost for one in scored] == [Reason.NOTHING_BEFORE, None]
    assert scored[0].logprob is None and scored[1].logprob is not None
    only = [("b", {"question": "asthma"}, [TermPlace("question", 0, 6, "asthma")])]
    [(_, scored)] = score_items(model, only, "plain")
    assert scored[0].lost is Reason.NOTHING_BEFORE


def test_a_text_over_the_window_is_lost_and_told(tmp_path: Path) -> None:
    model = opened(make_tiny(tmp_path))
    text = "asthma " * 400
    [(_, scored)] = score_items(model, [("a", {"question": text}, _places(text)[:2])], "asked")
    assert {one.lost for one in scored} == {Reason.OVER_WINDOW}


def _renderer(inner: tokenizers.Tokenizer, **marks: str) -> Renderer:
    return Renderer.of(transformers.PreTrainedTokenizerFast(tokenizer_object=inner, **marks))


def _unigram() -> Renderer:
    """Pieces with "▁" before words, bytes for what it does not know, as sentencepiece has them."""
    pieces = [("<unk>", 0.0), *((f"<0x{n:02X}>", -9.0) for n in range(256))]
    pieces += [("▁", -3.0), ("▁asthma", -1.0), ("as", -2.0), ("thma", -2.0), ("ma)", -1.5)]
    pieces += [(letter, -4.0) for letter in "abcdefghijklmnopqrstuvwxyzGS?();,/-’"]
    inner = tokenizers.Tokenizer(tokenizers.models.Unigram(pieces, unk_id=0, byte_fallback=True))
    inner.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
    return _renderer(inner, unk_token="<unk>")


def _wordpiece() -> Renderer:
    """Lower case, accents off, "##" for what follows, as BERT has them; marks at both ends."""
    words = ["[UNK]", "[CLS]", "[SEP]", "asthma", "as", "##thma", "β", "sjo", "##gren", "’", "s"]
    words += ["thal", "##assa", "##emia", "gout", "and", *"?();,/-"]
    inner = tokenizers.Tokenizer(
        tokenizers.models.WordPiece({w: n for n, w in enumerate(words)}, unk_token="[UNK]")
    )
    inner.normalizer = tokenizers.normalizers.BertNormalizer()
    inner.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    inner.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    return _renderer(inner, unk_token="[UNK]", eos_token="[SEP]")


def _merging() -> Renderer:
    """A byte-level tokenizer without splitting: tokens go over the edges of words."""
    inner = tokenizers.Tokenizer(tokenizers.models.BPE())
    inner.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(
        add_prefix_space=False, use_regex=False
    )
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=330, initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet()
    )
    inner.train_from_iterator([QUESTION] * 4, trainer)
    return _renderer(inner)


@pytest.mark.parametrize("make", [_unigram, _wordpiece, _merging])
def test_offsets_find_every_occurrence_whatever_the_tokenizer(make: Any) -> None:
    renderer = make()
    tokens, offsets = renderer.encode_text(QUESTION)
    assert len(tokens) == len(offsets)
    places = _places(QUESTION)
    found = [align(QUESTION, offsets, p.start, p.end) for p in places]
    assert all(found), [p for p, at in zip(places, found, strict=True) if at is None]
    for place, at in zip(places, found, strict=True):
        assert at is not None
        low, high = offsets[at.first][0], offsets[at.after - 1][1]
        assert low <= place.start and place.end <= high
        if not at.reaches:
            assert QUESTION[low:high].strip() == QUESTION[place.start : place.end]
    starts = [at.first for at in found if at is not None]
    reached = any(at.reaches for at in found if at is not None)
    assert len(set(starts)) == len(starts) or reached


def test_a_tokenizer_without_offsets_is_an_error() -> None:
    class Slow:
        chat_template = None
        is_fast = False

    with pytest.raises(ModelError, match="tokenizer"):
        Renderer.of(Slow()).encode_text("asthma")


def test_a_template_that_strips_a_question_keeps_the_places(tmp_path: Path) -> None:
    model = opened(make_tiny(tmp_path))
    tokenizer = model.renderer.tokenizer
    tokenizer.chat_template = tokenizer.chat_template.replace(
        "message['content']", "message['content'] | trim"
    )
    renderer = Renderer.of(tokenizer)
    question = "  \n no asthma \n"
    gold = gold_text({"question": question, "answer": "yes"}, "asked", renderer)
    at = gold.starts["question"] + question.index("asthma")
    assert gold.text[at : at + 6] == "asthma"
    assert gold.text[gold.starts["answer"] :] == "yes"


def test_a_template_that_changes_a_question_is_an_error(tmp_path: Path) -> None:
    model = opened(make_tiny(tmp_path))
    tokenizer = model.renderer.tokenizer
    tokenizer.chat_template = tokenizer.chat_template.replace(
        "message['content']", "message['content'] | upper"
    )
    with pytest.raises(ModelError, match="--form plain"):
        gold_text({"question": "no asthma"}, "asked", Renderer.of(tokenizer))


def _line(folder: Path, **options: Any) -> tuple[Path, LogprobOptions]:
    base = make_tiny(folder / "base")
    adapter = make_adapter(base, folder / "tuned")
    dataset = build(folder / "bank")
    find_terms(dataset, folder / "terms", FindOptions(hpo=write_obo(folder)))
    asked = LogprobOptions(
        terms=folder / "terms", model=f"hf:{base}", adapters=[adapter], dtype="float32",
        device="cpu", threads=1, **options,
    )  # fmt: skip
    return dataset, asked


def test_from_a_dataset_to_tables_and_a_picture(tmp_path: Path) -> None:
    dataset, options = _line(tmp_path)
    out = tmp_path / "out"
    made = term_logprobs(dataset, out, options)
    # headache twice, cognitive impairment; anemia, hemolytic anemia; pneumonia is of two
    assert made.counts == {"items": 2, "occurrences": 5, "scored": 5, "lost": 0, "models": 2}
    rows = pq.read_table(out / "scores.parquet").to_pylist()
    assert len(rows) == 10 and {row["model"] for row in rows} == {"base", "tuned"}
    assert {row["part"] for row in rows} == {"question", "answer"}
    body = json.loads((out / "logprobs.json").read_text())
    tests = {(t["specialty"], t["part"]): t for t in body["tests"]}
    assert tests["Neurology", "all"]["n"] == 3 and tests["all", "all"]["n"] == 5
    by_hand = sum(r["logprob"] for r in rows if r["model"] == "tuned") / 5
    by_hand -= sum(r["logprob"] for r in rows if r["model"] == "base") / 5
    assert tests["all", "all"]["difference"] == pytest.approx(by_hand)
    assert tests["all", "all"]["difference"] != 0
    assert set(body["meta"]["models"]) == {"base", "tuned"}
    manifest = json.loads((out / "manifest.json").read_text())
    counts = manifest["counts"]["occurrences"]
    assert counts["out_of_scope_by_reason"] == {"not_of_one_specialty": 1}
    assert (out / "tables" / "differences.csv").is_file()
    assert term_logprobs(dataset, out, options).already_done


def test_a_stopped_run_goes_on_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset, options = _line(tmp_path)
    whole, out = tmp_path / "whole", tmp_path / "out"
    term_logprobs(dataset, whole, options)

    def stop(name: str, asked: Any) -> Any:
        if asked.adapter is not None:
            raise KeyboardInterrupt
        return open_scorer(name, asked)

    monkeypatch.setattr("clinqa.terms.logprobs.open_scorer", stop)
    with pytest.raises(KeyboardInterrupt):
        term_logprobs(dataset, out, options)
    opened_again = []

    def count(name: str, asked: Any) -> Any:
        opened_again.append(asked.adapter)
        return open_scorer(name, asked)

    monkeypatch.setattr("clinqa.terms.logprobs.open_scorer", count)
    term_logprobs(dataset, out, options)
    assert opened_again == [options.adapters[0]]  # the base was not asked again
    for name in ("logprobs.json", "scores.parquet"):
        assert (out / name).read_bytes() == (whole / name).read_bytes()


def test_terms_of_another_dataset_and_remote_models_are_refused(tmp_path: Path) -> None:
    dataset, options = _line(tmp_path)
    other = build(tmp_path / "other", [("test", "Neurology", "A headache comes. Why?", "Tea")])
    with pytest.raises(ConfigError, match="another dataset"):
        term_logprobs(other, tmp_path / "out", options)
    with pytest.raises(ConfigError, match="no complete folder of terms"):
        term_logprobs(
            dataset, tmp_path / "out",
            LogprobOptions(terms=tmp_path / "base", model="x", adapters=options.adapters),
        )  # fmt: skip
    with pytest.raises(ConfigError, match="on this machine only"):
        open_scorer("baseline:prior", ModelOptions())
