"""Layers of a quantised model, ranked by their effect on the first token that differs."""

from __future__ import annotations

import copy
import gc
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.recorder.decoding.tiny import PROMPT, made, recorded, torch

pytestmark = pytest.mark.watch


def rounded(model: Any, bits: int, only: str = "") -> Any:
    """A copy whose linear layers have weights of the given number of bits."""
    model = copy.deepcopy(model)
    for name, module in model.named_modules():
        if isinstance(module, torch.nn.Linear) and only in name:
            weight = module.weight.detach()
            scale = weight.abs().amax(1, keepdim=True) / (2 ** (bits - 1) - 1)
            module.weight.data = (weight / scale).round() * scale
    return model


def logits(model: Any, tokens: Any) -> np.ndarray:
    with torch.no_grad():
        return np.asarray(model(torch.tensor(tokens)[None]).logits[0, -1].double())


def test_each_layer_moves_the_lead_by_what_an_exchange_by_hand_does() -> None:
    model = made("Llama", "sdpa")
    small = rounded(model, 3)
    found = wb.diff(recorded(model), recorded(small))
    ranking, choice = found.ranking(), found.choice
    assert len(ranking) == 15 and ranking.position == choice.position and ranking.lead_a > 0 > ranking.lead_b
    tokens = found.a.tokens[0][: choice.position]
    before = logits(model, tokens)
    for row in ranking:
        by_hand = copy.deepcopy(model)
        by_hand.set_submodule(row.module, small.get_submodule(row.module))
        after = logits(by_hand, tokens)
        assert row.lead == pytest.approx(after[choice.a] - after[choice.b], abs=1e-6)
        assert row.logits == pytest.approx(np.abs(after - before).max() / np.abs(before).max(), abs=1e-6)
    assert [r.share for r in ranking] == sorted((r.share for r in ranking), reverse=True)
    assert np.array_equal(logits(model, tokens), before)  # the model is unchanged
    assert ranking.rows[0].module in str(ranking) and ranking.rows[0].module in ranking._repr_html_()
    assert ranking.table()[0]["share"] == ranking.rows[0].share


def test_one_layer_that_differs_does_it_all() -> None:
    model = made("Llama", "sdpa")
    ranking = wb.diff(recorded(model), recorded(rounded(model, 2, "layers.1.mlp.down"))).ranking()
    (row,) = ranking
    assert row.module == "model.layers.1.mlp.down_proj" and row.share == pytest.approx(1.0, abs=1e-6)


def test_models_that_choose_the_same_tokens_are_ranked_by_all_logits() -> None:
    model = made("Llama", "sdpa")
    ranking = wb.diff(recorded(model), recorded(rounded(model, 12))).ranking()
    assert not ranking.chosen and len(ranking) == 15 and "The texts agree" in str(ranking)
    assert all(row.share == pytest.approx(row.logits / ranking.logits) for row in ranking)


def test_a_module_of_another_kind_is_exchanged_as_a_whole() -> None:
    class Half(torch.nn.Module):
        def __init__(self, linear: Any) -> None:
            super().__init__()
            self.linear = copy.deepcopy(linear).bfloat16()

        def forward(self, x: Any) -> Any:
            return self.linear(x.bfloat16()).float()

    model = made("Llama", "sdpa")
    other = copy.deepcopy(model)
    other.lm_head = Half(model.lm_head)
    assert [row.module for row in wb.diff(recorded(model), recorded(other)).ranking()] == ["lm_head"]


def test_what_cannot_be_ranked_is_refused_with_the_reason() -> None:
    model, twin = made("Llama", "sdpa"), made("Llama", "sdpa")
    run = recorded(model)
    cases = [
        (recorded(model, use_cache=False), "both runs are of one model"),
        (recorded(twin), "equal parameters"),
        (recorded(made("Llama", "sdpa", seed=1)), "is gone"),
        (wb.record_decoding(lone, PROMPT, generate=alone), "only modules of PyTorch"),
    ]
    gc.collect()  # modules are parts of cycles
    for other, words in cases:
        with pytest.raises(wb.WorkbenchError, match=words) as error:
            wb.diff(run, other).ranking()
        assert error.value.slug == "no-ranking"
    small = rounded(model, 3)
    found = wb.diff(run, recorded(small))
    with torch.no_grad():
        small.lm_head.weight.neg_()
    with pytest.raises(wb.WorkbenchError, match="no longer prefers"):
        found.ranking()


@wb.graph
def lone(ids, table):  # type: ignore[no-untyped-def]
    return table[ids]


def alone(run: Any, prompt: Any) -> Any:
    run(ids=np.asarray(prompt[0]), table=np.eye(64, dtype=np.float32))
    return prompt
