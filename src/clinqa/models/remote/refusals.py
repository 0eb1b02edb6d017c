"""Fields of a request that a server or a model refuses, and what is done about it.

The rule: a server's refusal (HTTP 4xx but for keys, paths and limits of rate; 500 and 501 where a
template cannot hold a role; or the same as an error under HTTP 200) names a field that was in that
very request and says that the field, or its value, is not supported. Such a field is left out of
all further requests, or said in another way, once:

    max_tokens    goes under its other name; where that is refused too, the run ends
    system        its text goes before the first question
    the others    are left out

Of two fields that "cannot both be specified" the one further down in `FIELDS` goes. A value that is
only out of range ("must be less than or equal to 1") is the user's to mend: nothing is left out.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping

from clinqa.models.remote.said import ServerFault

__all__ = ["FIELDS", "SYSTEM", "refused"]

SYSTEM = "system"

FIELDS: Mapping[str, tuple[str, ...]] = {
    "max_tokens": ("max_tokens", "max_completion_tokens", "maxTokens"),
    SYSTEM: ("system",),
    "temperature": ("temperature",),
    "top_p": ("top_p", "topP"),
    "stop": ("stop", "stop_sequences", "stopSequences"),
    "seed": ("seed", "random_seed"),
    "response_format": ("response_format", "json_schema"),
    "stream": ("stream",),
    "store": ("store",),
}
"""What may be left out, with its names in the formats; the more it decides, the further up."""

_SAYS_SO = re.compile(
    r"unsupported|not (?:be )?(?:supported|permitted|allowed|enabled|recogni[sz]ed|accepted)|"
    r"(?:does|do|did) ?n[o']t (?:support|accept|allow|recogni[sz]e)|isn'?t (?:supported|allowed)|"
    r"unrecogni[sz]ed|unknown (?:field|parameter|argument|name|property|key)|"
    r"unexpected (?:keyword|field|parameter|argument|property)|"
    r"extra (?:inputs?|fields?)|additional propert(?:y|ies)|deprecated|no longer supported|"
    r"cannot both be|can't both be|only one of|"
    r"only (?:the default|\S+) (?:\(\S+\) )?(?:value )?is (?:supported|allowed)|may only be set to",
    re.I,
)
_BOTH = re.compile(r"cannot both|can't both|only one of|please use only one", re.I)
_SYSTEM = re.compile(
    r"\b(?:system|developer)[\s_'\"`-]{1,3}(?:role|message|prompt|instruction|text|turn)s?\b|"
    r"\brole\W{1,4}(?:system|developer)\b",
    re.I,
)
_NO_SYSTEM = re.compile(
    r"only user(?:,| and| or)[\w ,]{0,30} roles? (?:are|is) (?:supported|allowed)|"
    r"conversation roles must alternate|valid roles?: user, (?:model|assistant)",
    re.I,
)
_SENTENCES = re.compile(r"(?<=[.!?])\s+|[\n;]")


def refused(said: ServerFault, sent: Collection[str]) -> list[str]:
    """The fields of `sent` (by their names in `FIELDS`) that the server refuses; none mostly.

    >>> refused(ServerFault(message="`temperature` is deprecated for this model."), ["temperature"])
    ['temperature']
    >>> refused(ServerFault(message="temperature must be at most 1"), ["temperature"])
    []
    """
    found = {name for name in sent if set(FIELDS[name]) & set(said.fields)}
    both = False
    for sentence in _SENTENCES.split(said.message):
        named = list(_named(sentence, sent))
        if SYSTEM in sent and _NO_SYSTEM.search(sentence):
            found.add(SYSTEM)
        elif named and _SAYS_SO.search(sentence):
            found.update(named)
            both = both or (len(named) > 1 and bool(_BOTH.search(sentence)))
    if said.code.casefold() in ("unsupported_parameter", "unsupported_value", "unknown_parameter"):
        found.update(name for name in sent if said.param in FIELDS[name])
    ordered = [name for name in FIELDS if name in found]
    return ordered[-1:] if both else ordered


def _named(sentence: str, sent: Iterable[str]) -> Iterable[str]:
    """The fields that stand in a sentence before it goes on to what to use instead."""
    part = re.split(r"\b(?:use|try|instead)\b", sentence, flags=re.I)[0]
    part = part if _SAYS_SO.search(part) else sentence
    for name in sent:
        if name == SYSTEM:
            if _SYSTEM.search(part):
                yield name
        elif any(_stands(spelling, part) for spelling in FIELDS[name]):
            yield name


def _stands(spelling: str, text: str) -> bool:
    """The name as a word; a plain English one only where it is marked as a name."""
    plain = spelling in ("stop", "seed", "store", "stream", "temperature")
    pattern = rf"(?<![\w-]){re.escape(spelling)}(?![\w-])"
    if not plain:
        return re.search(pattern, text) is not None
    marked = (
        rf"[\"'`]{spelling}[\"'`]|:\s*{spelling}\b|\b{spelling}\s*:|^\W*{spelling}\s+(?:is|may)\b"
    )
    marked += rf"|\b(?:parameter|field|argument|invalid|unsupported)\W+{spelling}\b"
    marked += rf"|\b{spelling} (?:parameter|field|argument)\b"
    return re.search(marked, text, re.I) is not None
