"""Finding terms in 40,000 questions: our trie, a set of word windows, and a search for each name.

    python benchmarks/terms.py BANK.jsonl… [--questions 40000] [--peer]

The banks' questions are repeated until there are enough, each time with another number in front,
so that no question is met twice. The window search is the usual short solution (every run of up to
eight folded words, longest first, in a set); `in` for each name is the floor. Both run on fewer
questions and are scaled. `--peer` adds spaCy's PhraseMatcher where spaCy is installed. CPU seconds.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from pathlib import Path

from clinqa.packs.terms import builtin_terms
from clinqa.terms.matcher import joins, key_of, tokens
from clinqa.terms.term_options import FindOptions
from clinqa.terms.vocabulary import open_vocabulary

_WINDOW = 8


def _questions(banks: list[Path], count: int) -> list[str]:
    texts = []
    for path in banks:
        for line in path.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            options = record["options"]
            options = options.values() if isinstance(options, dict) else options
            texts.append("\n".join([record["question"], *options]))
    numbered = (f"{n}. {text}" for n, text in enumerate(itertools.cycle(texts)))
    return list(itertools.islice(numbered, count))


def _windows(texts: list[str], names: set[tuple[str, ...]]) -> int:
    found = 0
    for text in texts:
        words = tokens(text)
        at = 0
        while at < len(words):
            for size in range(min(_WINDOW, len(words) - at), 0, -1):
                part = words[at : at + size]
                if tuple(word for word, _, _ in part) in names and all(
                    joins(text, a[2], b[1]) for a, b in itertools.pairwise(part)
                ):
                    found += 1
                    at += size - 1
                    break
            at += 1
    return found


def _timed(say: str, texts: list[str], total: int, work: object) -> float:
    start = time.process_time()
    found = work(texts)  # type: ignore[operator]
    seconds = (time.process_time() - start) * total / len(texts)
    note = "" if len(texts) == total else f" (from {len(texts):,})"
    print(f"{say:<34}{seconds:>10.2f} s{note:<16}{found * total // len(texts):>10,} found")
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("banks", nargs="+", type=Path)
    parser.add_argument("--questions", type=int, default=40_000)
    parser.add_argument("--peer", action="store_true")
    given = parser.parse_args()
    texts = _questions(given.banks, given.questions)
    print(f"{len(texts):,} questions, {sum(map(len, texts)):,} characters")
    start = time.process_time()
    vocabulary = open_vocabulary(FindOptions(), builtin_terms())
    print(f"reading the HPO, mapping, trie    {time.process_time() - start:>10.2f} s")
    matcher = vocabulary.finder
    ours = _timed("trie", texts, len(texts), lambda part: sum(len(matcher.find(t)) for t in part))
    from clinqa.sources.terminology.obo import find_hpo, read_obo

    hpo = read_obo(find_hpo())
    labels = [label.text for one in vocabulary.concepts for label in hpo.concepts[one].labels]
    names = {key_of(label) for label in labels}
    few = max(1, len(texts) // 10)
    windows = _timed("set of word windows", texts[:few], len(texts), lambda p: _windows(p, names))
    lowered = sorted({label.casefold() for label in labels})
    fewest = texts[: max(1, len(texts) // 400)]
    floor = _timed(
        "`in` for each name",
        fewest,
        len(texts),
        lambda part: sum(name in text.casefold() for text in part for name in lowered),
    )
    print(
        f"the trie is {windows / ours:.1f} × the windows' speed, {floor / ours:,.0f} × the floor's"
    )
    if given.peer:
        import spacy
        from spacy.matcher import PhraseMatcher
        from spacy.util import filter_spans

        nlp = spacy.blank("en")
        peer = PhraseMatcher(nlp.vocab, attr="LOWER")
        peer.add("term", [nlp.make_doc(label) for label in set(labels)])

        def phrases(part: list[str]) -> int:
            return sum(len(filter_spans(peer(doc, as_spans=True))) for doc in nlp.pipe(part))

        seconds = _timed("spaCy PhraseMatcher", texts[:few], len(texts), phrases)
        print(f"the trie is {seconds / ours:.1f} × the PhraseMatcher's speed")


if __name__ == "__main__":
    main()
