"""Decoding with our own graphs, one call per step: a step with a cache against one that computes all tokens anew."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb

PROMPT = np.array([[1, 2, 3]])
RNG = np.random.default_rng(0)
WEIGHTS = {name: RNG.normal(size=(8, 8)).astype(np.float32) for name in ("wq", "wk", "wv")}
WEIGHTS["table"] = RNG.normal(size=(20, 8)).astype(np.float32)


@wb.graph
def step(ids, keys, values, table, wq, wk, wv):  # type: ignore[no-untyped-def]
    x = table[ids]
    keys = np.concatenate([keys, x @ wk])
    values = np.concatenate([values, x @ wv])
    scores = (x @ wq) @ np.transpose(keys) * 0.5
    weights = np.exp(scores - np.max(scores))
    out = (weights / np.sum(weights)) @ values
    return np.tanh(x + out) @ np.transpose(table), keys, values


@wb.graph
def whole(ids, mask, table, wq, wk, wv, scale=0.5):  # type: ignore[no-untyped-def]
    x = table[ids]
    scores = (x @ wq) @ np.transpose(x @ wk) * scale + mask
    weights = np.exp(scores - np.max(scores, axis=1, keepdims=True))
    out = (weights / np.sum(weights, axis=1, keepdims=True)) @ (x @ wv)
    return np.tanh(x + out) @ np.transpose(table)


def cached(run: Any, prompt: Any, forgets: int = -1) -> Any:
    """Token by token; the results of call ``forgets`` are not put into the cache."""
    keys = values = np.zeros((0, 8), np.float32)
    tokens = list(prompt[0])
    for k in range(11):
        logits, *caches = run(ids=np.array([tokens[k]]), keys=keys, values=values, **WEIGHTS).values()
        if k != forgets:
            keys, values = caches
        if k == len(tokens) - 1:
            tokens.append(int(logits[-1].argmax()))
    return np.array([tokens])


def anew(run: Any, prompt: Any, **more: Any) -> Any:
    tokens = list(prompt[0])
    while len(tokens) < 12:
        mask = np.where(np.tri(len(tokens)) > 0, 0, -np.inf).astype(np.float32)
        (logits,) = run(ids=np.array(tokens), mask=mask, **WEIGHTS, **more).values()
        tokens.append(int(logits[-1].argmax()))
    return np.array([tokens])


def test_another_graph_for_the_same_step_has_no_difference() -> None:
    found = wb.diff(wb.record_decoding(whole, PROMPT, generate=anew), wb.record_decoding(step, PROMPT, generate=cached))
    assert found.equal and found.compared > 120, str(found)


@pytest.mark.parametrize("other", ["step", "whole"])
def test_a_cache_that_was_not_updated_is_named_with_the_line(other: str) -> None:
    wrong = wb.record_decoding(step, PROMPT, generate=cached, forgets=5)
    right = wb.record_decoding(*{"step": (step, PROMPT), "whole": (whole, PROMPT)}[other],
                               generate={"step": cached, "whole": anew}[other])  # fmt: skip
    first = wb.diff(right, wrong).first
    assert first is not None and (first.position, first.other.op) == (6, "concat")
    assert first.source is not None and "np.concatenate([keys, x @ wk])" in str(first.source)


def test_another_scale_is_named_at_the_first_token_at_which_it_matters() -> None:
    right = wb.record_decoding(whole, PROMPT, generate=anew)
    wrong = wb.record_decoding(whole, PROMPT, generate=anew, scale=0.25)
    first = wb.diff(right, wrong).first
    assert first is not None and (first.position, first.op.op) == (0, "multiply")


def test_tokens_and_the_growth_of_the_cache_are_told() -> None:
    run = wb.record_decoding(step, PROMPT, generate=cached)
    assert [call.start for call in run.calls] == list(range(11))
    assert run.cache_growth == (64, 64 * 11)
    assert np.array_equal(run.tokens[0], wb.record_decoding(whole, PROMPT, generate=anew).tokens[0])


def test_what_cannot_be_recorded_is_refused_with_the_reason() -> None:
    cases: list[tuple[Any, dict[str, Any], str]] = [
        (step, {}, "no-generate"),
        (step, {"generate": lambda run, prompt: prompt}, "no-calls"),
        (step, {"generate": lambda run, prompt: np.zeros((3, 2))}, "bad-tokens"),
        (3, {}, "no-generate"),
        ("nowhere.onnx", {}, "no-such-file"),
    ]
    for model, options, slug in cases:
        with pytest.raises(wb.WorkbenchError) as error:
            wb.record_decoding(model, PROMPT, **options)
        assert error.value.slug == slug
