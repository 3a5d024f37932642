"""Twelve reported faults of decoding loops, planted one by one: the first token and op are named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import workbench as wb
from tests.recorder.decoding.tiny import CACHE, FIRST, PROMPT, made, recorded, speculative, torch

pytestmark = pytest.mark.watch

#: fault -> (function that makes the two runs, index of the token, op, module)
FAULTS: dict[str, tuple[Callable[[], tuple[Any, Any]], int, str, str]] = {}


def fault(position: int, op: str, module: str) -> Callable[[Any], Any]:
    def note(function: Any) -> Any:
        FAULTS[function.__name__] = function, position, op, module
        return function

    return note


def later(ids: Any) -> bool:
    """True in a call with one token."""
    return bool(ids.shape[-1] == 1)


@fault(FIRST, "embedding", "transformer.wpe")
def wrong_position_id() -> Any:
    model, wrong = made("GPT2"), made("GPT2")
    wrong.transformer.wpe.register_forward_pre_hook(lambda m, args: (args[0] + later(args[0]),))
    return recorded(model, use_cache=False), recorded(wrong)


@fault(1, "add", "model.layers.1.self_attn")
def mask_off_by_one() -> Any:
    model, wrong = made("Llama"), made("Llama")

    def shifted(module: Any, args: Any, named: Any) -> Any:
        mask, n = named["attention_mask"].clone(), named["hidden_states"].shape[1]
        for k in range(1, n):
            mask[..., k, k] = torch.finfo(mask.dtype).min
        return args, {**named, "attention_mask": mask}

    wrong.model.layers[1].self_attn.register_forward_pre_hook(shifted, with_kwargs=True)
    return recorded(model), recorded(wrong)


def caching(model: Any, update: Any) -> Any:
    """The model with another ``update(layer, keys, values)`` in one layer of the cache."""
    from transformers import DynamicCache

    cache = DynamicCache(config=model.config)
    update(cache)
    return cache


@fault(FIRST + 3, "cat", "model.layers.1.self_attn")
def cache_not_updated() -> Any:
    def once(cache: Any) -> None:
        layer, calls = cache.layers[1], []

        def update(keys: Any, values: Any, *rest: Any, **named: Any) -> Any:
            before, calls_before = (layer.keys, layer.values) if calls else None, len(calls)
            calls.append(1)
            found = type(layer).update(layer, keys, values, *rest, **named)
            if calls_before == 3:  # the call of the third new token does not change the cache
                layer.keys, layer.values = before
            return found

        layer.update = update

    model = made("Llama", "sdpa")
    return recorded(model), recorded(model, **{CACHE: caching(model, once)})


@fault(FIRST, "cat", "model.layers.1.self_attn")
def cache_of_the_wrong_layer() -> Any:
    def other(cache: Any) -> None:
        first, layer = cache.layers[0], cache.layers[1]

        def update(keys: Any, values: Any, *rest: Any, **named: Any) -> Any:
            if keys.shape[-2] > 1:
                return type(layer).update(layer, keys, values, *rest, **named)
            return torch.cat([first.keys[:, :, :-1], keys], -2), torch.cat([first.values[:, :, :-1], values], -2)

        layer.update = update

    model = made("Llama", "sdpa")
    return recorded(model, use_cache=False), recorded(model, **{CACHE: caching(model, other)})


@fault(FIRST, "_to_copy", "model.rotary_emb")
def wrong_rope_offset() -> Any:
    model, wrong = made("Mistral"), made("Mistral")

    def moved(module: Any, args: Any, named: Any) -> Any:
        args = tuple(a - 1 if a.dtype == torch.int64 and later(a) else a for a in args)
        return args, {k: v - 1 if k == "position_ids" and later(v) else v for k, v in named.items()}

    wrong.model.rotary_emb.register_forward_pre_hook(moved, with_kwargs=True)
    return recorded(model), recorded(wrong)


@fault(FIRST - 1, "mm", "lm_head")
def quantised_head() -> Any:
    model, wrong = made("Llama", "sdpa"), made("Llama", "sdpa")
    with torch.no_grad():
        weight = wrong.lm_head.weight
        scale = weight.abs().amax(1, keepdim=True) / 127
        weight.copy_((weight / scale).round() * scale)
    return recorded(model, use_cache=False), recorded(wrong)


@fault(FIRST, "slice", "model.layers.0.self_attn")
def dropped_newest_key() -> Any:
    def short(cache: Any) -> None:
        layer = cache.layers[0]

        def update(keys: Any, values: Any, *rest: Any, **named: Any) -> Any:
            found = type(layer).update(layer, keys, values, *rest, **named)
            return tuple(x[:, :, :-1] for x in found) if keys.shape[-2] == 1 else found

        layer.update = update

    model = made("Llama", "sdpa")
    return recorded(model), recorded(model, **{CACHE: caching(model, short)})


@fault(0, "mul", "model.layers.1.self_attn")
def wrong_scale_of_attention() -> Any:
    model, wrong = made("Gemma"), made("Gemma")
    wrong.model.layers[1].self_attn.scaling *= 1.25
    return recorded(model, use_cache=False), recorded(wrong)


@fault(0, "_softmax", "model.layers.0.self_attn")
def left_padding_not_masked() -> Any:
    model, wrong = made("Llama"), made("Llama")

    def seen(module: Any, args: Any, named: Any) -> Any:
        return args, {**named, "attention_mask": torch.ones_like(named["attention_mask"])}

    wrong.model.register_forward_pre_hook(seen, with_kwargs=True)
    padded = torch.cat([torch.zeros(1, 2, dtype=torch.int64), PROMPT], 1)
    mask = (padded != 0).long()
    return recorded(model), recorded(wrong, padded, attention_mask=mask)


@fault(FIRST + 3, "end", "")
def wrong_handling_of_the_end() -> Any:
    model = made("GPT2", "sdpa")
    end = int(recorded(model).tokens[0][FIRST + 2])
    return recorded(model, eos_token_id=end), recorded(model)


@fault(FIRST, "cat", "model.layers.0.self_attn")
def stale_key_of_a_rejected_token() -> Any:
    model = made("Llama", "sdpa")
    return recorded(model), wb.record_decoding(model, PROMPT, generate=lambda m, p: speculative(m, p, cropped=False))


@fault(0, "mm", "model.layers.1.mlp.down_proj")
def one_layer_in_bfloat16() -> Any:
    model, wrong = made("Llama"), made("Llama")
    layer = wrong.model.layers[1].mlp.down_proj
    layer.forward = lambda x: (x.bfloat16() @ layer.weight.bfloat16().T).float()
    return recorded(model), recorded(wrong, use_cache=False)


@pytest.mark.parametrize("name", FAULTS)
def test_the_first_token_and_the_op_of_a_fault_are_named(name: str) -> None:
    make, position, op, module = FAULTS[name]
    found = wb.diff(*make())
    assert not found.equal
    if op == "end":
        assert found.first is None and found.choice.position == position and found.choice.ended == "a"
        assert "has ended" in str(found)
        return
    assert found.first is not None, str(found)
    told = found.first.position, found.first.other.op, found.first.module
    assert told == (position, op, module), str(found)
    assert f"token {position} " in str(found) and module in str(found)
