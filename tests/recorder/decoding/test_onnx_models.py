"""A transformers model compared with its ONNX export, with keys and values as inputs and outputs, decoded by our
engine.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.recorder.decoding.tiny import CACHE, PROMPT, made, recorded, torch, transformers

pytestmark = pytest.mark.watch
onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxscript")
CACHES = ["0.keys", "0.values", "1.keys", "1.values"]


@pytest.fixture(scope="module")
def model() -> Any:
    return made("Llama")


@pytest.fixture(scope="module")
def exported(model: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    class Step(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, input_ids: Any, position_ids: Any, *past: Any) -> Any:
            cache = transformers.DynamicCache(config=model.config)
            for layer, keys, values in zip(cache.layers, past[::2], past[1::2], strict=True):
                layer.lazy_initialization(keys, values)
                layer.keys, layer.values = keys, values
            found = self.model(input_ids, position_ids=position_ids, **{CACHE: cache}, use_cache=True)
            return (found.logits, *(x for layer in cache.layers for x in (layer.keys, layer.values)))

    ids = torch.tensor([[3, 4, 5]])
    program = torch.onnx.export(
        Step().eval(),
        (ids, ids.clone(), *(torch.full((1, 2, 3, 4), 0.1 * k) for k in range(4))),
        dynamo=True,
        verbose=False,
        input_names=["input_ids", "position_ids", *(f"past.{name}" for name in CACHES)],
        output_names=["logits", *(f"present.{name}" for name in CACHES)],
        dynamic_shapes=({1: "s"}, {1: "s"}, tuple({2: "p"} for _ in CACHES)),
    )
    path = tmp_path_factory.mktemp("onnx") / "step.onnx"
    program.save(path)
    return onnx.load(path)


def test_the_export_has_no_difference(model: Any, exported: Any) -> None:
    run = wb.record_decoding(exported.SerializeToString(), PROMPT, max_new_tokens=8)
    for cache in (True, False):
        found = wb.diff(recorded(model, use_cache=cache), run)
        assert found.equal and found.compared > 800, str(found)
    assert run.cache_growth == (128, 128 * 12)


def test_a_quantised_head_of_the_export_is_named(model: Any, exported: Any) -> None:
    wrong = onnx.ModelProto.FromString(exported.SerializeToString())
    weight = next(t for t in wrong.graph.initializer if list(t.dims) == [16, 64])
    values = onnx.numpy_helper.to_array(weight)
    scale = np.abs(values).max(0) / 127
    weight.CopyFrom(onnx.numpy_helper.from_array((np.round(values / scale) * scale).astype(np.float32), weight.name))
    found = wb.diff(recorded(model), wb.record_decoding(wrong.SerializeToString(), PROMPT, max_new_tokens=8))
    assert (found.first.position, found.first.other.op) == (4, "matmul")
    assert "lm_head" in found.first.other.module and "modeling_llama.py" in str(found)


def test_positions_and_caches_of_a_loop_around_the_export_are_named(model: Any, exported: Any) -> None:
    def loop(step: Any, prompt: Any, late: int = 0, forgets: int = -1) -> Any:
        tokens = given = prompt
        past = {f"past.{name}": np.zeros((1, 2, 0, 4), np.float32) for name in CACHES}
        for k in range(8):
            places = np.arange(tokens.shape[1] - given.shape[1], tokens.shape[1])[None] - (late if k else 0)
            logits, *new = step(input_ids=given, position_ids=places, **past).values()
            if k != forgets:
                past = dict(zip(past, new, strict=True))
            given = logits[:, -1].argmax(-1)[:, None]
            tokens = np.concatenate([tokens, given], 1)
        return tokens

    right, data = recorded(model), exported.SerializeToString()
    late = wb.diff(right, wb.record_decoding(data, PROMPT, generate=loop, late=1)).first
    assert (late.position, late.module) == (5, "model.rotary_emb")
    stale = wb.diff(right, wb.record_decoding(data, PROMPT, generate=loop, forgets=2)).first
    assert (stale.position, stale.other.op) == (7, "concat") and "layers.0.self_attn" in stale.other.module
