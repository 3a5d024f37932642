"""Tiny random language models of transformers, and loops that decode with them."""

from __future__ import annotations

import inspect
import os
from typing import Any

import pytest

import workbench as wb

os.environ["HF_HUB_OFFLINE"] = "1"
torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
transformers.logging.set_verbosity_error()

PROMPT = torch.tensor([[3, 4, 5, 6, 7]])
#: number of tokens of the prompt, the index of the first token that a cached run computes alone
FIRST = PROMPT.shape[1]
#: the argument of a model with the keys and values, which older versions of transformers call past_key_values
CACHE = next(
    n for n in inspect.signature(transformers.LlamaForCausalLM.forward).parameters if n in ("cache", "past_key_values")
)


def made(name: str, attention: str = "eager", seed: int = 0, **more: Any) -> Any:
    """A causal language model: "Llama", "GPT2", "Gemma", "Mistral", ... with two layers and 64 tokens."""
    config = {
        "vocab_size": 64,
        "hidden_size": 16,
        "intermediate_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 4,
        "max_position_embeddings": 64,
        "initializer_range": 0.3,
        "attn_implementation": attention,
        "bos_token_id": None,
        "eos_token_id": None,
        "pad_token_id": 0,
    }
    torch.manual_seed(seed)
    config = getattr(transformers, f"{name}Config")(**{**config, **more})
    return transformers.AutoModelForCausalLM.from_config(config, attn_implementation=attention).eval()


def recorded(model: Any, prompt: Any = PROMPT, **options: Any) -> wb.DecodingRecord:
    return wb.record_decoding(model, prompt, **{"max_new_tokens": 8, "do_sample": False, **options})


def speculative(model: Any, prompt: Any, cropped: bool = True, steps: int = 8, guesses: int = 3) -> Any:
    """Greedy decoding that guesses tokens: the last one plus one, which is nearly always wrong."""
    cache, tokens = transformers.DynamicCache(config=model.config), prompt
    known = 0
    while tokens.shape[1] < prompt.shape[1] + steps:
        last = tokens[:, -1:]
        given = torch.cat([tokens, *[(last + k) % 64 for k in range(1, guesses + 1)]], 1)[:, known:]
        positions = torch.arange(known, known + given.shape[1])[None]
        logits = model(input_ids=given, **{CACHE: cache}, position_ids=positions, use_cache=True).logits
        best = logits[:, -guesses - 1 :].argmax(-1)
        right = int((best[:, :-1] == given[:, -guesses:]).long().cumprod(1).sum())
        tokens = torch.cat([tokens, best[:, : right + 1]], 1)
        known = tokens.shape[1] - 1
        if cropped and right < guesses:
            cache.crop(right - guesses)
    return tokens[:, : prompt.shape[1] + steps]
