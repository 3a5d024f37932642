"""Six more faults and three more equal pairs, in architectures on which the comparison had not been tried."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import workbench as wb
from tests.recorder.decoding.tiny import CACHE, FIRST, PROMPT, made, recorded, speculative, torch, transformers

pytestmark = pytest.mark.watch
functional = torch.nn.functional


def rotary_offset() -> Any:
    model, wrong = made("GPTNeoX", "sdpa"), made("GPTNeoX", "sdpa")

    def moved(module: Any, args: Any, named: Any) -> Any:
        ids = named["position_ids"]
        return args, {**named, "position_ids": ids + (ids.shape[-1] == 1)}

    wrong.gpt_neox.rotary_emb.register_forward_pre_hook(moved, with_kwargs=True)
    return recorded(model, use_cache=False), recorded(wrong)


def norm_of_keys_left_out() -> Any:
    model, wrong = made("Qwen3"), made("Qwen3")
    wrong.model.layers[1].self_attn.k_norm = torch.nn.Identity()
    return recorded(model), recorded(wrong)


def learned_position_is_off() -> Any:
    options = {"ffn_dim": 32, "word_embed_proj_dim": 16}
    model, wrong = made("OPT", "sdpa", **options), made("OPT", "sdpa", **options)
    table = wrong.model.decoder.embed_positions
    forward = table.forward

    def shifted(mask: Any, past: int = 0, position_ids: Any = None) -> Any:
        late = position_ids is not None and position_ids.shape[1] == 1
        return forward(mask, past, position_ids=position_ids - 1 if late else position_ids)

    table.forward = shifted
    return recorded(model), recorded(wrong)


def wrong_slope_of_alibi() -> Any:
    model, wrong = made("Bloom", n_head=4), made("Bloom", n_head=4)
    block = wrong.transformer.h[1].self_attention

    def steeper(module: Any, args: Any, named: Any) -> Any:
        return args, {**named, "alibi": named["alibi"] * 1.5}

    block.register_forward_pre_hook(steeper, with_kwargs=True)
    return recorded(model, use_cache=False), recorded(wrong)


def cache_in_half_precision() -> Any:
    model = made("Phi3", "sdpa")
    cache = transformers.DynamicCache(config=model.config)
    layer = cache.layers[0]
    layer.update = lambda keys, values, *a, **k: type(layer).update(layer, keys, values.half().float(), *a, **k)
    return recorded(model), recorded(model, **{CACHE: cache})


def approximate_activation() -> Any:
    model, wrong = made("StableLm", hidden_act="gelu"), made("StableLm", hidden_act="gelu")
    wrong.model.layers[1].mlp.act_fn.forward = lambda x: functional.gelu(x, approximate="tanh")
    return recorded(model, use_cache=False), recorded(wrong)


#: fault, index of the token, op, module
FAULTS: list[tuple[Callable[[], Any], int, str, str]] = [
    (rotary_offset, FIRST, "_to_copy", "gpt_neox.rotary_emb"),
    (norm_of_keys_left_out, 0, "mul", "model.layers.1.self_attn"),
    (learned_position_is_off, FIRST, "embedding", "model.decoder.embed_positions"),
    (wrong_slope_of_alibi, 1, "baddbmm", "transformer.h.1.self_attention"),
    (cache_in_half_precision, 0, "cat", "model.layers.0.self_attn"),
    (approximate_activation, 0, "gelu", "model.layers.1.mlp.act_fn"),
]


@pytest.mark.parametrize("make, position, op, module", FAULTS, ids=[f[0].__name__ for f in FAULTS])
def test_the_first_token_and_the_op_of_a_fault_are_named(make: Any, position: int, op: str, module: str) -> None:
    found = wb.diff(*make())
    assert found.first is not None, str(found)
    assert (found.first.position, found.first.other.op, found.first.module) == (position, op, module), str(found)


def parallel_residuals() -> Any:
    model = made("GPTNeoX", "sdpa")
    return recorded(model, use_cache=False), recorded(model)


def padding_with_alibi() -> Any:
    model = made("Bloom", n_head=4)
    padded = torch.cat([torch.zeros(1, 3, dtype=torch.int64), PROMPT], 1)
    return recorded(model), recorded(model, padded, attention_mask=(padded != 0).long())


def speculation_with_norms_of_keys() -> Any:
    model = made("Qwen3", "sdpa")
    return recorded(model), wb.record_decoding(model, PROMPT, generate=speculative)


@pytest.mark.parametrize("make", [parallel_residuals, padding_with_alibi, speculation_with_norms_of_keys])
def test_equal_runs_have_no_difference(make: Callable[[], Any]) -> None:
    found = wb.diff(*make())
    assert found.equal and found.compared > 300, str(found)
