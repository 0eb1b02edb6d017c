"""A tiny language model with random weights and a tokenizer of its own, made when asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from clinqa.models.local import LocalModel, open_hf
from clinqa.models.protocol import Message, ModelOptions, Prompt

WORDS = [
    "report",
    "says",
    "the",
    "left",
    "right",
    "ventricle",
    "atrium",
    "aortic",
    "mitral",
    "valve",
    "is",
    "normal",
    "mildly",
    "severely",
    "dilated",
    "thickened",
    "regurgitation",
    "stenosis",
    "trace",
    "moderate",
    "pressure",
    "3.5",
    "cm",
    "mmHg",
    "no",
    "yes",
    "What",
]
CHAT = (
    "{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] }}<|end|>"
    "{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


def make_tiny(folder: Path, kind: str = "llama", *, chat: bool = True, seed: int = 0) -> Path:
    """A model folder: `llama`, or `gemma` with sliding and full attention by turns."""
    import tokenizers
    import torch
    import transformers

    inner = tokenizers.Tokenizer(tokenizers.models.BPE(byte_fallback=False))
    inner.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = tokenizers.decoders.ByteLevel()
    marks = ["<|pad|>", "<|end|>", "<|system|>", "<|user|>", "<|assistant|>"]
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=marks,
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
    )
    inner.train_from_iterator([" ".join(WORDS)] * 3, trainer)
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=inner, eos_token="<|end|>", pad_token="<|pad|>"
    )
    if chat:
        tokenizer.chat_template = CHAT
    shape: dict[str, Any] = {
        "vocab_size": len(tokenizer),
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 8,
        "max_position_embeddings": 512,
        "initializer_range": 0.4,  # so that it says more than one word
        "pad_token_id": 0,
        "eos_token_id": 1,
        "bos_token_id": None,
        "tie_word_embeddings": False,  # tied and random, it repeats its last word
    }
    torch.manual_seed(seed)
    if kind == "gemma":
        config = transformers.Gemma3TextConfig(
            **shape, sliding_window=16, layer_types=["sliding_attention", "full_attention"]
        )
    else:
        config = transformers.LlamaConfig(**shape)
    model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def opened(folder: Path, **options: Any) -> LocalModel:
    """The tiny model in float32 on the CPU."""
    extra = {"threads": "1"} | options.pop("extra", {})
    return open_hf(str(folder), ModelOptions(dtype="f32", device="cpu", extra=extra, **options))


def prompts(count: int, *, reports: int = 3, shots: int = 1, seed: int = 0) -> list[Prompt]:
    """Questions about a few reports of unlike length, after the same shots."""
    beginning = [Message("system", "the report says")]
    for shot in range(shots):
        beginning.append(Message("user", f"valve {shot} is normal What"))
        beginning.append(Message("assistant", WORDS[shot + 9]))
    made = []
    for number in range(count):
        report = number % reports
        words = [WORDS[(report * 7 + place * 3) % len(WORDS)] for place in range(20 + 9 * report)]
        question = " ".join(WORDS[(number + place) % len(WORDS)] for place in range(1 + number % 4))
        text = f"{' '.join(words)}\n{question}"
        asked = (*beginning, Message("user", text))
        context = " ".join(words)
        made.append(Prompt(f"item{number:02}", asked, question, context, "lv_wall", "", seed, 0))
    return made
