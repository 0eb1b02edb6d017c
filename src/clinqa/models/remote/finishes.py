"""How an answer ended, from the words that servers have for it.

One table a wire format. Gateways pass on the words of whoever is behind them, so a word that a
format does not know is looked for in the others; one that none knows is an error: half a text is
not taken for an answer because its end has a new name. Words are compared in one case, without
what an enum's printing puts before them (`FinishReason.STOP`) and what follows a colon
(`content_filter: PROHIBITED_CONTENT`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from clinqa.models.remote.reply import Finish

__all__ = ["FINISHES", "finish_of", "kind_of_fault", "word_of"]


def _are(finish: Finish, words: str) -> dict[str, Finish]:
    return dict.fromkeys(words.split(), finish)


FINISHES: Mapping[str, Mapping[str, Finish]] = {
    "chat": {  # OpenAI, vLLM, SGLang, llama.cpp, Ollama, TGI, Together, DeepSeek, Mistral, GLM
        **_are(Finish.STOP, "stop eos eos_token stop_sequence stop_token stop_word word"),
        **_are(Finish.STOP, "end complete completed finished tool_calls function_call"),
        **_are(Finish.LENGTH, "length limit max_length model_length token_limit repetition"),
        **_are(Finish.CONTENT_FILTER, "content_filter content_filtered sensitive"),
        **_are(Finish.REFUSAL, "refusal refused"),
        # the model is only being loaded or taken out; the engine gave the request up
        **_are(Finish.ERROR, "error abort aborted cancelled canceled user_cancel load unload"),
        **_are(Finish.ERROR, "network_error insufficient_system_resource timeout failed"),
    },
    "anthropic": {
        **_are(Finish.STOP, "end_turn stop_sequence tool_use"),
        # a turn that is paused is to be gone on with: what there is is its beginning
        **_are(Finish.LENGTH, "max_tokens model_context_window_exceeded pause_turn"),
        **_are(Finish.REFUSAL, "refusal"),
    },
    "bedrock": {
        **_are(Finish.STOP, "end_turn stop_sequence tool_use"),
        **_are(Finish.LENGTH, "max_tokens model_context_window_exceeded"),
        **_are(Finish.CONTENT_FILTER, "guardrail_intervened content_filtered"),
        **_are(Finish.ERROR, "malformed_model_output malformed_tool_use"),
    },
    "gemini": {  # behind its face of OpenAI, and behind gateways
        **_are(Finish.STOP, "stop"),
        **_are(Finish.LENGTH, "max_tokens"),
        **_are(Finish.CONTENT_FILTER, "safety recitation blocklist prohibited_content spii"),
        **_are(Finish.CONTENT_FILTER, "language model_armor image_safety"),
        **_are(Finish.ERROR, "other finish_reason_unspecified malformed_function_call"),
        **_are(Finish.ERROR, "unexpected_tool_call malformed_response too_many_tool_calls"),
    },
    "cohere": {
        **_are(Finish.STOP, "complete stop_sequence tool_call"),
        **_are(Finish.LENGTH, "max_tokens error_limit"),
        **_are(Finish.CONTENT_FILTER, "error_toxic"),
        **_are(Finish.ERROR, "error user_cancel timeout"),
    },
}
"""A word means the same wherever it stands, which a test says."""


_PRINTED = re.compile(r"^\w*reason\w*\.(?=\w)", re.I)


def word_of(reason: object) -> str:
    """A finish reason as it is compared; empty where none was said.

    >>> word_of("FinishReason.MAX_TOKENS"), word_of("content_filter: SPII"), word_of(None)
    ('max_tokens', 'content_filter', '')
    """
    if isinstance(reason, Mapping):  # SGLang's own {"type": "stop", "matched": …}
        told = reason.get("type")
        reason = told if isinstance(told, str) and told.strip() else "in no words"
    if reason is None:
        return ""
    said = str(reason).strip()
    said = said.partition(":")[0].strip() or said
    word = _PRINTED.sub("", said)
    return re.sub(r"[\s-]+", "_", word).casefold()


def finish_of(reason: object, wire: str) -> Finish | None:
    """How an answer ended; None where the server did not say, ERROR for a word nobody knows.

    >>> finish_of("SAFETY", "chat"), finish_of("brownout", "chat")
    (<Finish.CONTENT_FILTER: 'content_filter'>, <Finish.ERROR: 'error'>)
    """
    word = word_of(reason)
    if not word:
        return None
    for table in (FINISHES[wire], *FINISHES.values()):
        if word in table:
            return table[word]
    return Finish.ERROR


_OF_THE_SERVER = _are(
    Finish.ERROR,
    "error abort aborted cancelled canceled user_cancel load unload network_error timeout failed "
    "insufficient_system_resource other",
)


def kind_of_fault(word: str) -> str:
    """The kind of error that an answer with such an end is: the server's trouble, or a reply that
    makes no sense."""
    return "server" if word in _OF_THE_SERVER else "bad_output"
