"""Log-probabilities of a given text, out of what a server says of a prompt's tokens.

vLLM's chat completions take a last turn of the assistant that is left open
(`continue_final_message`) and tell the log-probability of each token of the prompt
(`prompt_logprobs`): a list with an entry a token, `{token id: {"logprob", "decoded_token"}}`, null
for the first. What stands at the end of that prompt is the continuation. Some servers ignore the
wish without a word: then there is an error and no figure.
"""

from __future__ import annotations

from collections.abc import Mapping

from clinqa.models.remote.wire import BadReply

__all__ = ["tail_logprobs"]


def tail_logprobs(entries: object, continuation: str) -> list[float]:
    """The log-probabilities of the last tokens, as many as make up the continuation.

    A token that holds the end of the prompt and the start of the continuation counts.

    >>> said = [None] + [{"7": {"logprob": p, "decoded_token": t}} for p, t in
    ...     ((-9.0, "Q?"), (-1.5, " Mi"), (-0.5, "ld"))]
    >>> tail_logprobs(said, " Mild")
    [-1.5, -0.5]
    """
    if not isinstance(entries, list) or not continuation:
        raise BadReply
    found: list[float] = []
    text = ""
    for entry in reversed(entries):
        if len(text) >= len(continuation):
            break
        token, logprob = _only(entry)
        text = token + text
        found.append(logprob)
    if not text.endswith(continuation):
        raise BadReply
    return found[::-1]


def _only(entry: object) -> tuple[str, float]:
    """The one token of an entry; with alternatives beside it, which one stood there is a guess."""
    if not isinstance(entry, Mapping) or len(entry) != 1:
        raise BadReply
    (said,) = entry.values()
    token = said.get("decoded_token") if isinstance(said, Mapping) else None
    logprob = said.get("logprob") if isinstance(said, Mapping) else None
    if not isinstance(token, str) or not isinstance(logprob, int | float):
        raise BadReply
    return token, float(logprob)
