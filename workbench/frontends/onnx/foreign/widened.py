"""Computes a node on floats for which the library has no kernel in float32, and rounds the results once.

onnxruntime has few kernels for bfloat16, and the reference evaluator rounds to it in each step of an op, which for sums
and norms loses most of its eight binary digits. Ops of other domains often support only float32.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from workbench.frontends.onnx.foreign.nodes import draws, node_of
from workbench.ir.opspec import Bind, Bound, Evaluate
from workbench.ir.types import ANY, TensorType, numpy_dtype

#: floats that may be cast to float32 around a node
OTHERS = ("float16", "bfloat16", "float64")
#: ops whose results depend on the dtypes of their inputs, and attributes that hold a dtype
_CONVERSIONS = ("Cast", "CastLike", "QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "BitCast")
_DTYPES = ("to", "dtype", "output_dtype")


def computes(node: bytes) -> bool:
    """True if a node computes the same function for every float dtype."""
    proto = node_of(node)
    plain = proto.op_type not in _CONVERSIONS and not any(a.name in _DTYPES for a in proto.attribute)
    return plain and not draws(node)


def wide(types: Sequence[TensorType], of: str) -> tuple[TensorType, ...]:
    """The types, with float32 for the dtype ``of``."""
    return tuple(TensorType("float32", t.shape) if t.dtype == of else t for t in types)


def bound(
    bind: Bind, attrs: Mapping[str, Any], types: Sequence[TensorType], constants: Sequence[np.ndarray | None], of: str
) -> Bound:
    """The node bound by ``bind`` for float32, with casts before and after; ``of``: the dtype that is cast."""
    results: Sequence[TensorType] = attrs["types"]
    weights = [c if c is None or t.dtype != of else c.astype(np.float32) for c, t in zip(constants, types, strict=True)]
    inner = bind({**attrs, "types": wide(results, of)}, wide(types, of), weights)
    given = [types[k].dtype == of for k in inner.takes]
    narrow = numpy_dtype(of)

    def evaluate(arrays: Sequence[Any]) -> tuple[Any, ...]:
        made = inner.evaluate([a.astype(np.float32) if g else a for a, g in zip(arrays, given, strict=True)])
        with np.errstate(all="ignore"):
            return tuple(
                np.asarray(m).astype(narrow) if t.dtype == of else m for m, t in zip(made, results, strict=True)
            )

    slug, why = inner.reason
    return Bound(evaluate, inner.takes, (slug, f"{why}; {of} is cast to float32 before and back after"))


def evaluated(evaluate: Evaluate, arrays: Sequence[Any], attrs: Mapping[str, Any], of: str) -> tuple[Any, ...]:
    """Like ``bound``, for inputs whose types are known only from the values; ``of``: the dtype that is cast."""
    given = [a.astype(np.float32) if _is(a, of) else a for a in arrays]
    made = evaluate(given, {**attrs, "types": wide(attrs["types"], of)})
    with np.errstate(all="ignore"):
        return tuple(
            m.astype(numpy_dtype(of)) if _is(m, "float32") and t.dtype in (of, ANY) else m
            for m, t in zip(made, attrs["types"], strict=True)
        )


def _is(value: Any, dtype: str) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.name == dtype
