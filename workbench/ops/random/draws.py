"""Random numbers of a given shape: uniform, integer, normal, and truncated normal.

Ops with seeds as attrs have a separate stream for each firing, determined by seeds, node and iteration path, see
``workbench.ops.random.philox``. The stateless ones take two seeds as their second input and always return the same
numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from workbench.ir.types import TensorType, numpy_dtype
from workbench.ops.define import define
from workbench.ops.random.philox import Stream, normal, stateless_stream, stream_of, uniform
from workbench.ops.rules import (
    WRONG_ATTR,
    WRONG_DTYPE,
    WRONG_SHAPE,
    RuleError,
    attr_dtype,
    dims_of,
    kind_of,
    need_kinds,
    need_rank,
    promote,
    setting,
)

FAMILY = "random"
TF = "https://www.tensorflow.org/api_docs/python/tf/random/"
SEEDS = {"seed": 0, "seed2": 0}
#: distance between the streams of samples that may use any number of words
RESERVED = 256
_MASK64 = (1 << 64) - 1


def drawn_shape(types: Sequence[TensorType], values: Sequence[Any], i: int = 0):
    """The shape given by input ``i``."""
    dims = dims_of(setting({}, "shape", types, values, i), types[i])
    if dims is not None and any(d is not None and d < 0 for d in dims):
        raise RuleError(WRONG_ATTR, f"cannot make the shape {dims}.", "Give sizes from 0 up.")
    return dims


def float_attr(attrs, default: str = "float32") -> str:
    """The attr ``dtype``, which must be a float dtype."""
    name = attr_dtype({"dtype": default, **attrs})
    if kind_of(name) != "f":
        raise RuleError(WRONG_ATTR, f"draws floats, not {name}.", "Name a dtype of floats.")
    return name


def _in_blocks(stream: Stream, count: int, each: int) -> np.ndarray:
    """The words of the blocks needed for ``count`` numbers, at ``each`` numbers a block."""
    return stream.blocks(np.arange(-(-count // each), dtype=np.uint64))


def _uniforms(stream: Stream, count: int, dtype: np.dtype) -> np.ndarray:
    return uniform(_in_blocks(stream, count, 2 if dtype == np.float64 else 4), dtype).reshape(-1)[:count]


def working(dtype: np.dtype) -> np.dtype:
    """The dtype in which numbers for ``dtype`` are computed."""
    return dtype if dtype in (np.float32, np.float64) else np.dtype(np.float32)


def _normals(stream: Stream, count: int, dtype: np.dtype) -> np.ndarray:
    work = working(dtype)
    words = _in_blocks(stream, count, 2 if work == np.float64 else 4)
    return normal(words, work).reshape(-1)[:count].astype(dtype, copy=False)


def _truncated(stream: Stream, count: int, dtype: np.dtype) -> np.ndarray:
    """Normal numbers; those beyond two standard deviations are drawn again."""
    work = working(dtype)
    each = 2 if work == np.float64 else 4
    groups = -(-count // each)
    out = np.zeros((groups, each), work)
    filled, trial = np.zeros(groups, np.int64), 0
    first = np.arange(groups, dtype=np.uint64) * np.uint64(each * RESERVED // 4)
    while (open_ := np.flatnonzero(filled < each)).size:
        for candidate in normal(stream.blocks(first[open_] + np.uint64(trial)), work).T:
            taken = (np.abs(candidate) < 2) & (filled[open_] < each)
            out[open_[taken], filled[open_[taken]]] = candidate[taken]
            filled[open_[taken]] += 1
        trial += 1
    return out.reshape(-1)[:count].astype(dtype, copy=False)


def _wholes(stream: Stream, count: int, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    wide = low.dtype.itemsize == 8
    unsigned = np.dtype(np.uint64 if wide else np.uint32)
    words = _in_blocks(stream, count, 2 if wide else 4)
    if wide:
        words = words[..., 0::2].astype(np.uint64) | words[..., 1::2].astype(np.uint64) << np.uint64(32)
    size = unsigned.type((int(high) - int(low)) % (1 << unsigned.itemsize * 8))
    return (words.reshape(-1)[:count] % size + low.astype(unsigned)).view(low.dtype)


def _whole_type(types, values, i: int) -> str:
    for x, what in zip(types[i:], ("low", "high"), strict=True):
        need_kinds(x, "iu", what, "an integer")
        need_rank(x, 0, what)
    dtype = promote(types[i:])
    if len({x.dtype for x in types[i:]} - {"any"}) > 1:
        raise RuleError(WRONG_DTYPE, f"takes limits of one dtype, but got {types[i]} and {types[i + 1]}.", "Cast one.")
    if dtype != "any" and numpy_dtype(dtype).itemsize < 4:
        raise RuleError(WRONG_ATTR, f"draws integers of 32 or 64 bits, not {dtype}.", "Cast the limits first.")
    if None not in (values[i], values[i + 1]):
        _check_limits(values[i], values[i + 1])
    return dtype


def _check_limits(low, high) -> None:
    if not low < high:
        raise RuleError(WRONG_ATTR, f"cannot draw from {low} up to, but not, {high}.", "Give low < high.")


def _seed_pair(x: TensorType) -> None:
    need_kinds(x, "iu", "seed", "integers")
    if x.shape is not None and x.shape not in ((2,), (None,)):
        raise RuleError(WRONG_SHAPE, f"takes two numbers as seed, but got {x}.", "Give a vector of two.")


def _sizes(array: np.ndarray) -> tuple[int, ...]:
    return tuple(int(d) for d in array.reshape(-1))


def _key_and_counter(types: Sequence[TensorType]) -> None:
    for x, size, what in zip(types, (1, 2, None), ("key", "counter", "algorithm"), strict=True):
        need_kinds(x, "iu", what, "integers")
        if size is not None and x.shape is not None and x.shape not in ((size,), (None,)):
            raise RuleError(WRONG_SHAPE, f"takes a vector of {size} as {what}, but got {x}.", "Reshape it.")


def _keyed(key: np.ndarray, counter: np.ndarray, algorithm: np.ndarray) -> Stream:
    if int(algorithm) not in (1, 3):
        raise RuleError(WRONG_ATTR, f"draws by Philox (1, or 3 for any), not by algorithm {algorithm}.", "Give 1 or 3.")
    return Stream(int(key.reshape(())) & _MASK64, int(counter[1]) & _MASK64, int(counter[0]) & _MASK64)


def _stream(arrays: Sequence[np.ndarray], attrs: Mapping[str, Any]) -> Stream:
    """The stream chosen by the inputs after the shape: none, two seeds, or key, counter and algorithm."""
    if len(arrays) == 4:
        return _keyed(*arrays[1:])
    return stateless_stream(arrays[1]) if len(arrays) == 2 else stream_of(attrs)


def _floats(name: str, draw: Callable, doc: str, url: str) -> None:
    """Define the op ``random_NAME`` and its stateless variants, which return floats of the attr ``dtype``."""

    def evaluate(arrays, attrs):
        shape, dtype = _sizes(arrays[0]), numpy_dtype(float_attr(attrs))
        return draw(_stream(arrays, attrs), int(np.prod(shape, dtype=np.int64)), dtype).reshape(shape)

    def infer(types, attrs, values):
        if len(types) == 2:
            _seed_pair(types[1])
        elif len(types) == 4:
            _key_and_counter(types[1:])
        return TensorType(float_attr(attrs), drawn_shape(types, values))

    define(
        f"random_{name}",
        "shape",
        infer,
        evaluate,
        doc,
        FAMILY,
        attrs={"dtype": "float32", **SEEDS},
        pure=False,
        draws=True,
        source=TF + url,
    )
    define(
        f"stateless_{name}",
        "shape seed",
        infer,
        evaluate,
        doc + " The two seeds fix them.",
        FAMILY,
        attrs={"dtype": "float32"},
        source=f"{TF}stateless_{url}",
    )
    define(
        f"keyed_{name}",
        "shape key counter algorithm",
        infer,
        evaluate,
        doc + " Key and counter fix them.",
        FAMILY,
        attrs={"dtype": "float32"},
        source=f"{TF}stateless_{url}",
    )


_floats("uniform", _uniforms, "Numbers evenly spread over [0, 1).", "uniform")
_floats("normal", _normals, "Numbers of the standard normal distribution.", "normal")
_floats(
    "truncated_normal", _truncated, "Numbers of the standard normal distribution cut at -2 and 2.", "truncated_normal"
)


def _key_type(types, attrs, values):
    _seed_pair(types[0])
    return TensorType("uint64", (1,)), TensorType("uint64", (2,))


def _key(arrays, attrs):
    stream = stateless_stream(arrays[0])
    return np.array([stream.key], np.uint64), np.array([stream.start, stream.upper], np.uint64)


define(
    "stateless_key",
    "seed",
    _key_type,
    _key,
    "Key and counter (lower half first) of the stream of two seeds.",
    FAMILY,
    outputs="key counter",
    source="https://www.tensorflow.org/api_docs/python/tf/raw_ops/StatelessRandomGetKeyCounter",
)


def _integers(name: str, inputs: str, at: int, doc: str, **more: Any) -> None:
    def infer(types, attrs, values):
        if at == 2:
            _seed_pair(types[1])
        elif at == 4:
            _key_and_counter(types[1:4])
        return TensorType(_whole_type(types, values, at), drawn_shape(types, values))

    def evaluate(arrays, attrs):
        _whole_type([TensorType.of(x) for x in arrays], arrays, at)
        shape = _sizes(arrays[0])
        stream = _stream(arrays[:at], attrs)
        return _wholes(stream, int(np.prod(shape, dtype=np.int64)), *arrays[at:]).reshape(shape)

    define(name, inputs, infer, evaluate, doc, FAMILY, **more)


_integers(
    "random_integers",
    "shape low high",
    1,
    "Whole numbers evenly spread from low up to, but not, high.",
    attrs=SEEDS,
    pure=False,
    draws=True,
    source=f"{TF}uniform",
)
_integers(
    "stateless_integers",
    "shape seed low high",
    2,
    "Whole numbers evenly spread from low up to, but not, high. The two seeds fix them.",
    source=f"{TF}stateless_uniform",
)
_integers(
    "keyed_integers",
    "shape key counter algorithm low high",
    4,
    "Whole numbers evenly spread from low up to, but not, high. Key and counter fix them.",
    source=f"{TF}stateless_uniform",
)
