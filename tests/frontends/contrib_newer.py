"""A small node of each op of ``com.microsoft`` added in onnxruntime 1.32."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.frontends.contrib import Case


def newer() -> Iterator[Case]:
    rng = np.random.default_rng(6)

    def f(*shape: int) -> np.ndarray:
        return (rng.standard_normal(shape) * 0.5).astype(np.float32)

    def i(*items: int, dtype: Any = np.int32) -> np.ndarray:
        return np.array(items, dtype)

    angles = {"c": np.cos(f(8, 4)), "s": np.sin(f(8, 4))}
    yield Case(
        "MRotaryEmbedding",
        {"x": f(1, 3, 16), "p": rng.integers(0, 8, (3, 1, 3))},
        angles,
        attrs={"num_heads": 2, "mrope_section": [2, 1, 1]},
    )
    yield Case(
        "VarlenCausalConvWithState",
        {"x": f(5, 4)},
        {"w": f(4, 1, 3), "n": i(0, 2, 5), "b": f(4), "s": f(2, 4, 2)},
        2,
        {"activation": "silu"},
    )
    yield Case(
        "MoEGroupRouter",
        {"x": f(3, 8)},
        {"b": f(8)},
        attrs={"top_k": 2, "n_group": 2, "topk_group": 1, "group_topk": 2},
    )
    yield Case("EngramGate", {"k": f(1, 3, 2, 4), "q": f(1, 3, 2, 4), "v": f(1, 3, 4)}, {"a": f(2, 4), "b": f(2, 4)})
    yield Case("HyperConnectionPostMix", {"x": f(2, 3, 4), "b": f(2, 4), "p": f(2, 3), "m": f(2, 3, 3)})
    yield Case("HyperConnectionPreMix", {"x": f(2, 3, 4), "p": f(2, 3)})
    yield Case("LinearAttentionGate", {"a": f(1, 3, 2)}, {"d": f(2), "s": -np.abs(f(2)), "b": f(1, 3, 2)}, 2)
    weights = {
        "w": rng.integers(0, 256, (2, 16, 4)).astype(np.uint8),
        "ws": f(2, 16),
        "v": rng.integers(0, 256, (2, 8, 8)).astype(np.uint8),
        "vs": f(2, 8),
    }
    yield Case(
        "QMoE",
        {"x": f(3, 8), "r": f(3, 2)},
        weights,
        attrs={"k": 1, "activation_type": "relu"},
        order=("x", "r", "w", "ws", "", "v", "vs"),
    )
    heads = {name: f(3, 2, 4) for name in "qkv"} | {"g": -np.abs(f(3, 2)), "b": f(3, 2)}
    yield Case("GatedDeltaNet", heads, {"s": f(1, 2, 4, 4)}, 2, order=("q", "k", "v", "", "g", "b", "s"))
    hashes = {"m": i(3, 5, dtype=np.int64), "v": i(11, 13, dtype=np.int64)}
    grams = {"max_ngram_size": 2, "n_head_per_ngram": 2, "pad_id": 0}
    yield Case("NGramHashMapping", {"i": np.array([[1, 2, 3]])}, hashes, 2, grams)
    yield Case("VarlenNGramHashMapping", {"i": np.array([1, 2, 3, 4])}, {**hashes, "n": i(0, 2, 4)}, 1, grams)
