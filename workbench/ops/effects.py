"""Ops with effects, and ops that are only hints for a framework.

A plan never drops, shares or moves an op that is not pure; data and control edges order it.
"""

from __future__ import annotations

import numpy as np

from workbench.errors import ExecutionError
from workbench.ir.types import TensorType
from workbench.ops.define import define
from workbench.ops.rules import WRONG_SHAPE, RuleError, need_kinds, show
from workbench.text import lines

FAMILY = "effects"


def _assert_type(types, attrs, values):
    need_kinds(types[0], "b", "condition", "bools", "Compare first.")
    return ()


def _text(arrays, attrs) -> str:
    shown = [np.array2string(np.asarray(a), threshold=attrs.get("summarize", 20)) for a in arrays]
    return " ".join([attrs["message"], *shown] if attrs.get("message") else shown)


def _assert(arrays, attrs):
    if not np.all(arrays[0]):
        raise ExecutionError(
            f"An assertion of the graph does not hold: {_text(arrays[1:], attrs) or 'no data were given'}.",
            slug="assertion-failed",
            fix="Look at the values above where they were computed.",
        )
    return ()


def _print(arrays, attrs):
    print(lines(_text(arrays[1:] or arrays[:1], attrs)))
    return arrays[0]


def _ensure_shape_type(types, attrs, values):
    x, wanted = types[0], attrs.get("shape")
    if wanted is None:
        return x
    declared = TensorType(x.dtype, tuple(wanted))
    if not declared.accepts(x):
        raise RuleError(WRONG_SHAPE, f"takes the shape {show(declared.shape)}, but got {x}.", "Feed that shape.")
    if x.shape is None:
        return declared
    return TensorType(x.dtype, tuple(b if a is None else a for a, b in zip(wanted, x.shape, strict=True)))


def _ensure_shape(arrays, attrs):
    wanted = attrs.get("shape")
    if wanted is not None:
        found = TensorType.of(arrays[0])
        if not TensorType(found.dtype, tuple(wanted)).accepts(found):
            raise ExecutionError(
                f"A tensor of shape {show(tuple(wanted))} was declared, got {found}.",
                slug=WRONG_SHAPE,
                fix="Feed that shape.",
            )
    return arrays[0]


def _check_numerics(arrays, attrs):
    bad = ~np.isfinite(arrays[0])
    if bad.any():
        at = tuple(int(i) for i in np.argwhere(bad)[0])
        raise ExecutionError(
            f"{attrs.get('message') or 'A value'}: {arrays[0][at]} at position {at}.",
            slug="not-finite",
            fix="Look where the value was computed.",
        )
    return arrays[0]


define(
    "assert",
    "condition *data",
    _assert_type,
    _assert,
    "Fails the run where the condition is not all true.",
    FAMILY,
    outputs="",
    attrs={"message": "", "summarize": 20},
    pure=False,
    source="https://www.tensorflow.org/api_docs/python/tf/debugging/Assert",
)
define(
    "print",
    "x *data",
    lambda types, attrs, values: types[0],
    _print,
    "Prints `message` and the data (x itself if there are none), and gives x on.",
    FAMILY,
    attrs={"message": "", "summarize": 20},
    pure=False,
)
define(
    "check_numerics",
    "x",
    lambda types, attrs, values: types[0],
    _check_numerics,
    "Gives x on; fails the run where it holds nan or infinity.",
    FAMILY,
    attrs={"message": ""},
    pure=False,
    source="https://www.tensorflow.org/api_docs/python/tf/debugging/check_numerics",
)
define(
    "ensure_shape",
    "x",
    _ensure_shape_type,
    _ensure_shape,
    "Gives x on, and lets the graph know that it has `shape`; fails the run where it has not.",
    FAMILY,
    attrs={"shape": None},
    source="https://www.tensorflow.org/api_docs/python/tf/ensure_shape",
)
define(
    "stop_gradient",
    "x",
    lambda types, attrs, values: types[0],
    lambda arrays, attrs: arrays[0],
    "The input itself; tells a differentiator not to go on.",
    FAMILY,
    source="https://www.tensorflow.org/api_docs/python/tf/stop_gradient",
)
