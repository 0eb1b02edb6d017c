"""What the classifier sees of an output for each option: names of features, no word of a record.

The words around a mention are features only if they stand in outputs to several questions of the
annotated ones (see `fit`), so that what is learnt is how answers are put, not what they say.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clinqa.kinds.multiple_choice.matching.denied import is_denied
from clinqa.kinds.multiple_choice.matching.mentions import Mention, Read, read_mentions

__all__ = ["features_of"]

_REACH = 5
_ENDS = frozenset(".!?\n;")


def features_of(output: str, options: Sequence[str]) -> list[dict[str, float]]:
    """The features of each option.

    >>> one, two = features_of("The answer is B.", ["this", "that"])
    >>> one, two["near letter:is answer"]
    ({'named': 0.0, 'others named': 1.0, 'bias': 1.0}, 1.0)
    """
    read, denied = _undenied(read_mentions(output, options))
    named = {mention.option for mention in read.mentions}
    return [
        {
            "named": float(option in named),
            "others named": float(bool(named - {option})),
            "bias": 1.0,
            **({"denied": 1.0} if option in denied - named else {}),
            **dict.fromkeys(_of_option(read, option), 1.0),
        }
        for option in range(len(options))
    ]


def _undenied(read: Read) -> tuple[Read, set[int]]:
    """The mentions that are not denied, and the options of those that are."""
    no = {mention for mention in read.mentions if is_denied(read.tokens, mention.at)}
    kept = [mention for mention in read.mentions if mention not in no]
    return Read(read.tokens, kept), {mention.option for mention in no}


def _of_option(read: Read, option: int) -> Iterator[str]:
    own = [mention for mention in read.mentions if mention.option == option]
    if not own:
        return
    order = [mention.option for mention in read.mentions]
    several = len(set(order)) > 1
    yield "only one named" if not several else "one of several"
    yield f"last named:{several}" if order[-1] == option else "not last named"
    yield f"first named:{several}" if order[0] == option else "not first named"
    yield f"kinds:{'+'.join(sorted({mention.kind for mention in own}))}"
    tokens = _marked(read, option)
    for mention in own:
        yield from _around(tokens, mention)


def _marked(read: Read, option: int) -> list[str]:
    """The tokens, with mentions as of this option or of another."""
    tokens = list(read.tokens)
    for mention in read.mentions:
        if mention.kind != "part":
            tokens[mention.at] = "<this>" if mention.option == option else "<other>"
    return tokens


def _around(tokens: Sequence[str], mention: Mention) -> Iterator[str]:
    """Words before and after a mention, nearest first, within its sentence."""
    at, kind = mention.at, mention.kind
    before, after = _side(tokens, at, -1), _side(tokens, at, 1)
    words_before = [word for word in before if word[0].isalnum() or word[0] == "<"]
    yield f"near {kind}:{' '.join(words_before[:2])}"
    yield f"before {kind}:{before[0] if before else 'start'}"
    yield f"after {kind}:{after[0] if after else 'end'}"
    yield f"after two {kind}:{' '.join(after[:2])}"
    for word in set(before):
        yield f"left:{word}"
    for word in set(after):
        yield f"right:{word}"
    if not words_before:
        yield f"begins a sentence:{kind}"
    if not before and not after:
        yield f"a sentence by itself:{kind}"
    beginning = all(not token[0].isalnum() for token in tokens[:at])
    if beginning:
        yield f"begins the output:{kind}"
    if all(not token[0].isalnum() for token in tokens[at + 1 :]):
        yield f"ends the output:{kind}"
        if beginning:
            yield f"is the output:{kind}"


def _side(tokens: Sequence[str], at: int, step: int) -> list[str]:
    found: list[str] = []
    place = at + step
    while 0 <= place < len(tokens) and len(found) < _REACH:
        word = tokens[place]
        if word in _ENDS and not (step < 0 and not found and word == "\n"):
            break
        found.append(word)
        place += step
    return found
