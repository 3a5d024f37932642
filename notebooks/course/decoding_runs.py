"""Exercises of notebook 20: decoding; and the runs that they ask about."""

from __future__ import annotations

import importlib
import inspect
from typing import Any

import workbench as wb
from course.desk import Hint, exercise, whole, word

#: answers: period of the first, token and module of the second
PERIOD, TOKEN, MODULE = 2, 7, "model.layers.0.self_attn"


def decoded(which: str) -> Any:
    """Decoding runs of small models: "first" is one, "second" and "third" are pairs."""
    torch, transformers = (importlib.import_module(name) for name in ("torch", "transformers"))
    torch.manual_seed(30 if which == "first" else 2)
    sizes = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}
    config = transformers.LlamaConfig(
        vocab_size=64, initializer_range=0.3, bos_token_id=None, eos_token_id=None, **sizes
    )
    model = transformers.LlamaForCausalLM(config).eval()
    prompt = torch.tensor([[3, 4, 5, 6, 7]])
    if which == "first":
        return wb.record_decoding(model, prompt, max_new_tokens=24, do_sample=False, name="first")
    if which == "second":
        names = inspect.signature(model.forward).parameters
        called = "cache" if "cache" in names else "past_key_values"  # of older versions of transformers

        def cached(model: Any, tokens: Any, forgets: bool) -> Any:
            cache, given = transformers.DynamicCache(config=model.config), tokens
            while tokens.shape[1] < 13:
                logits = model(given, **{called: cache}, use_cache=True).logits
                given = logits[:, -1:].argmax(-1)
                tokens = torch.cat([tokens, given], 1)
                if forgets and tokens.shape[1] == TOKEN + 1:
                    cache.layers[0].keys = 0 * cache.layers[0].keys
            return tokens

        runs = [wb.record_decoding(model, prompt, generate=cached, forgets=forgets) for forgets in (False, True)]
        return runs[0], runs[1]
    if which == "third":
        common = {"max_new_tokens": 12, "do_sample": False}
        one = wb.record_decoding(model, prompt, **common)
        return one, wb.record_decoding(model, prompt, repetition_penalty=2.0, **common)
    raise ValueError('choose "first", "second" or "third"')


@exercise("20.1", "print(run) says it.", "run.states().repetition().period.")
def repeats(period: Any) -> str:
    if whole(period) != PERIOD:
        raise Hint("not that many: after how many tokens does the same one come again, from some token on?")
    return "two tokens follow each other again and again."


@exercise("20.2", "wb.diff(right, wrong) has it.", "wb.diff(right, wrong).first.position and .module.")
def emptied(token: Any, module: Any) -> str:
    if whole(token) != TOKEN:
        raise Hint("that is not the first token that differs: look at wb.diff(right, wrong).first.")
    if word(module) != MODULE.upper():
        raise Hint("the token is right. Which module has the op? See first.module.")
    return "somebody wrote zeros over the keys of the first layer before that token."


@exercise("20.3", "Is there a first difference of values?", "wb.diff(one, other).first is None: not the model.")
def by_choice(answer: Any) -> str:
    if word(answer) != "CHOICE":
        raise Hint('write "model" or "choice": do the values of the common tokens differ?')
    return "a penalty on repeated tokens took another one than that of the largest logit."
