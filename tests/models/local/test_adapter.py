"""A LoRA adapter is applied, proven applied, or an error."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the extra `local` is not installed")

from clinqa.core.errors import ConfigError, ModelError
from clinqa.models.protocol import Sampling
from tiny_model import make_tiny, opened, prompts

pytestmark = pytest.mark.full

GREEDY = Sampling(max_tokens=12)


def make_adapter(base: Path, folder: Path, *, trained: bool = True) -> Path:
    import torch
    import transformers

    peft = pytest.importorskip("peft", reason="the extra `train` is not installed")
    model = transformers.AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32)
    config = peft.LoraConfig(r=4, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM")
    adapted = peft.get_peft_model(model, config)
    if trained:
        torch.manual_seed(3)
        for name, weight in adapted.named_parameters():
            if "lora_B" in name:
                torch.nn.init.normal_(weight, std=0.5)
    adapted.save_pretrained(folder)
    return folder


def test_an_adapter_changes_answers_and_is_recorded(tmp_path: Path) -> None:
    base = make_tiny(tmp_path / "base")
    adapter = make_adapter(base, tmp_path / "adapter")
    bare, adapted = opened(base), opened(base, adapter=adapter)
    first, second = (
        {n: output.text for n, output in model.generate(prompts(8), GREEDY)}
        for model in (bare, adapted)
    )
    assert first != second
    assert len(adapted.describe()["adapter_sha256"]) == 64


def test_an_adapter_that_changes_nothing_is_an_error(tmp_path: Path) -> None:
    base = make_tiny(tmp_path / "base")
    adapter = make_adapter(base, tmp_path / "adapter", trained=False)
    with pytest.raises(ModelError, match="changes nothing"):
        opened(base, adapter=adapter)


def test_an_adapter_of_another_model_is_an_error(tmp_path: Path) -> None:
    adapter = make_adapter(make_tiny(tmp_path / "llama"), tmp_path / "adapter")
    safe = pytest.importorskip("safetensors.torch")
    file = adapter / "adapter_model.safetensors"
    tensors = safe.load_file(str(file))
    stranger = {key.replace("layers.1.", "layers.7."): value for key, value in tensors.items()}
    safe.save_file(stranger, str(file))
    with pytest.raises(ModelError, match="does not fit"):
        opened(tmp_path / "llama", adapter=adapter)


def test_a_folder_that_is_no_adapter_is_refused(tmp_path: Path) -> None:
    (tmp_path / "adapter_model.bin").write_bytes(b"pickle")
    with pytest.raises(ConfigError, match=r"adapter_model\.safetensors"):
        opened(make_tiny(tmp_path / "base"), adapter=tmp_path)
