"""ONNX random ops: every draw is determined by its node, the iteration path, and the seed.

Without a seed a firing draws from a Philox generator whose key is a hash of the node's name and the iteration path, so
that a replay draws the same values. With a seed, a node outside all loops draws the same as the onnx library's
reference evaluator (NumPy's RandomState of that seed), so that seeded models can be compared; inside loops the
iteration path is part of the seed. Sources: https://onnx.ai/onnx/operators/; Salmon et al., Parallel random numbers: as
easy as 1, 2, 3, SC 2011.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from workbench.errors import ExecutionError
from workbench.ir.opspec import REGISTRY, OpSpec
from workbench.ir.types import ANY, TensorType, numpy_dtype
from workbench.ops.random.other_draws import variant

FAMILY = "draws"
Attrs = Mapping[str, Any]
Generator = np.random.Generator | np.random.RandomState


def generator(attrs: Attrs) -> Generator:
    """The generator of one firing."""
    name, path = attrs.get("_tag", ("", ()))
    seed = attrs.get("seed")
    if variant():
        digest = hashlib.sha256(repr(("other", variant(), seed, name, tuple(path))).encode()).digest()
        return np.random.Generator(np.random.Philox(key=int.from_bytes(digest[:16], "little")))
    if seed is not None:
        words = [int(seed) & 0xFFFFFFFF, *(int(k) for k in path)]
        return np.random.RandomState(words if path else words[0])
    digest = hashlib.sha256("\0".join((name, *map(str, path))).encode()).digest()
    return np.random.Generator(np.random.Philox(key=int.from_bytes(digest[:16], "little")))


def _sizes(arrays: Sequence[Any], attrs: Attrs) -> tuple[int, ...]:
    return tuple(arrays[0].shape) if arrays else tuple(attrs.get("shape", ()))


def _dtype(arrays: Sequence[Any], attrs: Attrs, default: str) -> np.dtype:
    wanted = attrs.get("dtype")
    return numpy_dtype(wanted) if wanted else arrays[0].dtype if arrays else numpy_dtype(default)


def _uniform(arrays: Sequence[Any], attrs: Attrs) -> tuple[np.ndarray, ...]:
    dtype = _dtype(arrays, attrs, "float32")
    low, high = attrs.get("low", 0.0), attrs.get("high", 1.0)
    drawn = generator(attrs).uniform(size=_sizes(arrays, attrs))
    return (np.asarray(low + np.asarray(drawn).astype(dtype) * (high - low)).astype(dtype, copy=False),)


def _normal(arrays: Sequence[Any], attrs: Attrs) -> tuple[np.ndarray, ...]:
    dtype = _dtype(arrays, attrs, "float32")
    drawn = generator(attrs).standard_normal(_sizes(arrays, attrs))
    scaled = np.asarray(drawn).astype(dtype) * attrs.get("scale", 1.0) + attrs.get("mean", 0.0)
    return (np.asarray(scaled).astype(dtype, copy=False),)


def _bernoulli(arrays: Sequence[Any], attrs: Attrs) -> tuple[np.ndarray, ...]:
    drawn = generator(attrs).uniform(size=arrays[0].shape)
    return (np.asarray(np.asarray(drawn) < arrays[0]).astype(_dtype(arrays, attrs, "float32")),)


def _multinomial(arrays: Sequence[Any], attrs: Attrs) -> tuple[np.ndarray, ...]:
    logits = arrays[0].astype(np.float64)
    if logits.ndim != 2 or not logits.shape[1]:
        raise ExecutionError(
            f"Multinomial takes logarithms of weights, one row of classes for each draw, but got the shape "
            f"{list(logits.shape)}.",
            slug="wrong-shape",
            fix="give it an array of two axes with one class or more.",
        )
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    upto = np.cumsum(weights, axis=1) / weights.sum(axis=1, keepdims=True)
    drawn = generator(attrs).uniform(size=(len(logits), int(attrs.get("sample_size", 1))))
    # the class is the number of classes that end at or below the drawn number
    found = [np.searchsorted(u[:-1], d, side="right") for u, d in zip(upto, drawn, strict=True)]
    return (np.asarray(found).reshape(drawn.shape).astype(numpy_dtype(attrs.get("dtype") or "int32")),)


def _dropout(arrays: Sequence[Any], attrs: Attrs) -> tuple[np.ndarray, ...]:
    x, ratio, trains = arrays[0], float(np.asarray(arrays[1])), bool(np.asarray(arrays[2]).all())
    if not trains or ratio == 0:
        return x, np.ones(x.shape, bool)
    if not 0 <= ratio < 1:
        raise ExecutionError(
            f"The ratio of Dropout is from 0 to below 1, but it is {ratio}.", slug="wrong-value", fix="give less."
        )
    kept = np.asarray(generator(attrs).uniform(0, 1.0, x.shape)) >= ratio
    return np.asarray(x * kept.astype(x.dtype) * x.dtype.type(1 / (1 - ratio))).astype(x.dtype, copy=False), kept


def _drawn_type(default: str) -> Any:
    def infer(types: Sequence[TensorType], attrs: Attrs, values: Sequence[Any]) -> tuple[TensorType, ...]:
        dtype = attrs.get("dtype") or (types[0].dtype if types else default)
        return (TensorType(dtype, types[0].shape if types else tuple(attrs.get("shape", ()))),)

    return infer


def _multinomial_type(types: Sequence[TensorType], attrs: Attrs, values: Sequence[Any]) -> tuple[TensorType, ...]:
    rows = types[0].shape[0] if types[0].shape else None
    return (TensorType(attrs.get("dtype") or "int32", (rows, int(attrs.get("sample_size", 1)))),)


def _dropout_type(types: Sequence[TensorType], attrs: Attrs, values: Sequence[Any]) -> tuple[TensorType, ...]:
    return types[0], TensorType("bool", None if types[0].dtype == ANY and types[0].shape is None else types[0].shape)


def _register(name: str, inputs: str, infer: Any, evaluate: Any, theirs: str, doc: str, **attrs: Any) -> None:
    outputs = ("output", "mask") if name == "draw_dropout" else ("output",)
    if name not in REGISTRY:
        REGISTRY.register(
            OpSpec(
                name,
                tuple(inputs.split()),
                outputs,
                infer,
                evaluate,
                doc,
                FAMILY,
                f"https://onnx.ai/onnx/operators/onnx__{theirs}.html",
                {"seed": None, **attrs},
                pure=False,
                draws=True,
            )
        )


_register(
    "draw_uniform",
    "like?",
    _drawn_type("float32"),
    _uniform,
    "RandomUniform",
    "Numbers evenly spread from `low` to `high`, of `shape` or of the input's.",
    low=0.0,
    high=1.0,
    shape=(),
    dtype=None,
)
_register(
    "draw_normal",
    "like?",
    _drawn_type("float32"),
    _normal,
    "RandomNormal",
    "Numbers of the normal distribution, of `shape` or of the input's.",
    mean=0.0,
    scale=1.0,
    shape=(),
    dtype=None,
)
_register(
    "draw_bernoulli",
    "p",
    _drawn_type("float32"),
    _bernoulli,
    "Bernoulli",
    "1 with the probability that the input gives, else 0.",
    dtype=None,
)
_register(
    "draw_multinomial",
    "logits",
    _multinomial_type,
    _multinomial,
    "Multinomial",
    "`sample_size` numbers of classes for each row, whose entries are logarithms of weights.",
    sample_size=1,
    dtype="int32",
)
_register(
    "draw_dropout",
    "x ratio training",
    _dropout_type,
    _dropout,
    "Dropout",
    "x where it is kept, grown by 1 / (1 - ratio), and 0 elsewhere; x itself outside of training; and what is kept.",
)
