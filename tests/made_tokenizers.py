"""Tokenizers of the common families, made small; with marks they do what the real ones do."""

from __future__ import annotations

from typing import Any

_WORDS = "report says the left ventricle is mildly dilated severe Question normal no and end user"


def _template(before: str, between: str, after: str, answer: str, content: str = "") -> str:
    shown = content or "m['content']"
    return (
        "{% for m in messages %}"
        f"{before}{{{{ m['role'] }}}}{between}{{{{ {shown} }}}}{after}"
        "{% endfor %}"
        f"{{% if add_generation_prompt %}}{answer}{{% endif %}}"
    )


def _fast(inner: Any, special: list[str], words: list[str], template: str, **named: str) -> Any:
    import tokenizers
    import transformers

    inner.add_special_tokens(special)
    inner.add_tokens([tokenizers.AddedToken(word, normalized=False) for word in words])
    made = transformers.PreTrainedTokenizerFast(tokenizer_object=inner, **named)
    if template:
        made.chat_template = template
    return made


def _bytes(vocabulary: list[str], **given: Any) -> Any:
    """Byte-level pairs; `vocabulary` stands in the model's own."""
    import tokenizers

    inner = tokenizers.Tokenizer(tokenizers.models.BPE())
    inner.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=360,
        special_tokens=vocabulary,
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
    )
    inner.train_from_iterator([_WORDS] * 3, trainer)
    for name, value in given.items():
        setattr(inner.model, name, value)
    return inner


def chatml() -> Any:
    """As Qwen: marks after the vocabulary; reasoning and tools are words, not special."""
    return _fast(
        _bytes([]),
        ["<|endoftext|>", "<|im_start|>", "<|im_end|>"],
        ["<think>", "</think>", "<tool_call>", "<|fim_prefix|>", "LVEF"],
        _template(
            "<|im_start|>", "\n", "<|im_end|>\n",
            "<|im_start|>assistant\n<think>\n\n</think>\n",
        ),
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
    )  # fmt: skip


def headers() -> Any:
    """As Llama 3: marks in the vocabulary, whole words looked up before they are merged."""
    marks = ["<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"]
    return _fast(
        _bytes(marks, ignore_merges=True),
        marks,
        [],
        "<|begin_of_text|>"
        + _template(
            "<|start_header_id|>", "<|end_header_id|>\n\n", "<|eot_id|>",
            "<|start_header_id|>assistant<|end_header_id|>\n\n", "m['content'] | trim",
        ),
        eos_token="<|eot_id|>",
        bos_token="<|begin_of_text|>",
    )  # fmt: skip


def harmony() -> Any:
    """As gpt-oss and DeepSeek: channels, wide bars; roles are put together in the template."""
    marks = ["<|start|>", "<|end|>", "<|message|>", "<|channel|>", "<|return|>"]
    wide = [f"<\uff5c{name}\uff5c>" for name in ("User", "Assistant", "end\u2581of\u2581sentence")]
    return _fast(
        _bytes([]),
        [*marks, "<|endoftext|>"],
        [*wide, "<|user|>", "<|assistant|>"],
        _template("<|start|>", "<|message|>", "<|end|>", "<|start|>assistant"),
        eos_token="<|return|>",
        pad_token="<|endoftext|>",
    )


def turns() -> Any:
    """As Gemma: merges that give its marks, runs of lines as words, contents trimmed."""
    import tokenizers

    marks = ["<pad>", "<eos>", "<bos>", "<unk>", "<start_of_turn>", "<end_of_turn>", "</s>", "<s>"]
    letters = [chr(n) for n in range(33, 127)] + ["\u2581", "\n", "\u00b7"]
    pieces = [*marks, *letters, *(f"<0x{n:02X}>" for n in range(256)), "\n\n"]
    merges = [
        ("<", "s"),
        ("<s", ">"),
        ("<", "/"),
        ("</", "s"),
        ("</s", ">"),
        ("e", "n"),
        ("en", "d"),
    ]
    pieces += [a + b for a, b in merges if a + b not in pieces]
    merges = [*merges, ("\n", "\n")]
    inner = tokenizers.Tokenizer(
        tokenizers.models.BPE(
            {piece: n for n, piece in enumerate(pieces)}, merges,
            byte_fallback=True, unk_token="<unk>", fuse_unk=True,
        )
    )  # fmt: skip
    inner.normalizer = tokenizers.normalizers.Replace(" ", "\u2581")
    inner.pre_tokenizer = tokenizers.pre_tokenizers.Split(" ", "merged_with_previous")
    inner.decoder = tokenizers.decoders.Sequence(
        [
            tokenizers.decoders.Replace("\u2581", " "),
            tokenizers.decoders.ByteFallback(),
            tokenizers.decoders.Fuse(),
        ]
    )
    inner.post_processor = tokenizers.processors.TemplateProcessing(
        single="<bos> $A", special_tokens=[("<bos>", 2)]
    )
    return _fast(
        inner,
        [mark for mark in marks if mark != "<start_of_turn>"],
        ["<start_of_turn>", "\n\n"],
        "<bos>"
        + _template("<start_of_turn>", "\n", "<end_of_turn>\n", "<start_of_turn>model\n",
                    "m['content'] | trim"),
        eos_token="<eos>", bos_token="<bos>", pad_token="<pad>", unk_token="<unk>",
    )  # fmt: skip


def instructions(chat: bool = True) -> Any:
    """As Mistral: a unigram vocabulary that holds the marks, a blank put before a text."""
    import tokenizers

    marks = ["<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[SYSTEM_PROMPT]"]
    pieces = [(mark, 0.0) for mark in marks] + [("\u2581", -3.0), ("\u2581the", -2.0)]
    pieces += [(chr(n), -4.0 - n / 100) for n in range(33, 127)] + [("\n", -4.0), ("en", -3.0)]
    inner = tokenizers.Tokenizer(tokenizers.models.Unigram(pieces, unk_id=0, byte_fallback=False))
    inner.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace(prepend_scheme="first")
    inner.decoder = tokenizers.decoders.Metaspace(prepend_scheme="first")
    inner.post_processor = tokenizers.processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 1), ("</s>", 2)]
    )
    return _fast(
        inner, marks, [],
        "<s>{% for m in messages %}[INST] {{ m['content'] }}[/INST]{% endfor %}" if chat else "",
        eos_token="</s>", bos_token="<s>", unk_token="<unk>",
    )  # fmt: skip


def wordpieces() -> Any:
    """As BERT: lower case, wide letters folded, marks looked for in the folded text too."""
    import tokenizers
    import transformers

    words = ["[UNK]", "[CLS]", "[SEP]", "[MASK]", "[", "]", "sep", "cls", "mask", "the", "left"]
    words += [
        *"abcdefghijklmnopqrstuvwxyz.<>|/?",
        *(f"##{c}" for c in "abcdefghijklmnopqrstuvwxyz"),
    ]
    inner = tokenizers.Tokenizer(
        tokenizers.models.WordPiece({w: n for n, w in enumerate(words)}, unk_token="[UNK]")
    )
    inner.normalizer = tokenizers.normalizers.Sequence(
        [tokenizers.normalizers.NFKC(), tokenizers.normalizers.BertNormalizer()]
    )
    inner.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    inner.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 1), ("[SEP]", 2)],
    )  # fmt: skip
    inner.add_special_tokens(
        [tokenizers.AddedToken(word, normalized=True, special=True) for word in words[:4]]
    )
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=inner, unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]",
        mask_token="[MASK]",
    )  # fmt: skip


def in_python() -> Any:
    """A tokenizer that is written in Python: bytes."""
    import transformers

    made = transformers.ByT5Tokenizer(extra_ids=2)
    made.add_tokens(["<|im_start|>", "<|im_end|>", "<think>"], special_tokens=True)
    made.chat_template = _template("<|im_start|>", "\n", "<|im_end|>\n", "<|im_start|>assistant\n")
    return made


FAMILIES = {
    made.__name__: made
    for made in (chatml, headers, harmony, turns, instructions, wordpieces, in_python)
}
