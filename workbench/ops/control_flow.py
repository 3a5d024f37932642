"""Control flow: the TensorFlow 1 and SameDiff frame ops, and the ops that hold or pass values.

The executor itself runs the frame ops and Placeholder, so they have no evaluation here. Deadness, frames and tags
belong to the executor; this module has only the types.
"""

from __future__ import annotations

import numpy as np

from workbench.ir.types import ANY, TensorType
from workbench.ops.define import REQUIRED, define
from workbench.ops.rules import WRONG_ARITY, WRONG_ATTR, WRONG_DTYPE, RuleError, attr_dtype, need_kinds, need_rank

FAMILY = "control flow"
SOURCE = "Yu et al., Dynamic control flow in large-scale machine learning, EuroSys 2018"


def _same(types, attrs, values):
    return types[0]


def _predicate(x: TensorType, what: str) -> None:
    need_kinds(x, "b", what, "a scalar bool", "Compare the value with something first, or cast it to bool.")
    need_rank(x, 0, what)


def _merge(types, attrs, values):
    if not types:
        raise RuleError(WRONG_ARITY, "takes one or more inputs (*values), but got 0.", "Give it the values to merge.")
    joined = types[0]
    for other in types[1:]:
        if ANY not in (joined.dtype, other.dtype) and joined.dtype != other.dtype:
            raise RuleError(
                WRONG_DTYPE,
                f"takes values of one dtype, but got {' and '.join(str(t) for t in types)}.",
                "Cast the values so that all ways into the merge have the same dtype.",
            )
        joined = joined.join(other)
    return joined, TensorType("int32", ())


def _switch(types, attrs, values):
    _predicate(types[1], "pred")
    return types[0], types[0]


def _loop_cond(types, attrs, values):
    _predicate(types[0], "pred")
    return TensorType("bool", types[0].shape)


def _placeholder(types, attrs, values):
    shape = attrs.get("shape")
    return TensorType(attr_dtype(attrs), None if shape is None else tuple(shape))


def _const(types, attrs, values):
    if not isinstance(attrs["value"], np.ndarray):
        kind = type(attrs["value"]).__name__
        raise RuleError(WRONG_ATTR, f"takes an array as attr 'value', but got {kind}.", "Wrap it with np.asarray.")
    return TensorType.of(attrs["value"])


define(
    "Enter",
    "data",
    _same,
    None,
    "Moves a value into the frame `frame_name`, iteration 0. With `is_constant` (a loop invariant) it is there in "
    "every iteration.",
    FAMILY,
    source=SOURCE,
    attrs={"frame_name": REQUIRED, "is_constant": False, "parallel_iterations": 10},
)
define(
    "Merge",
    "*values",
    _merge,
    None,
    "Forwards whichever input is alive (of several the first), and that input's index. Dead only if all inputs are "
    "dead; control inputs are waited for, dead or alive. The inputs have one dtype; dimensions in which they differ "
    "are unknown.",
    FAMILY,
    outputs="value value_index",
    source=SOURCE,
)
define(
    "LoopCond",
    "pred",
    _loop_cond,
    None,
    "The loop's predicate, a scalar bool; feeds the Switches of the loop variables.",
    FAMILY,
    source=SOURCE,
)
define(
    "Switch",
    "data pred",
    _switch,
    None,
    "Output 0 carries the data where `pred` is false, output 1 where it is true; the other output is dead.",
    FAMILY,
    outputs="false true",
    source=SOURCE,
)
define(
    "NextIteration",
    "data",
    _same,
    None,
    "Moves a value to the next iteration of the same frame.",
    FAMILY,
    source=SOURCE,
)
define(
    "Exit",
    "data",
    _same,
    None,
    "Moves a value to the parent frame, once; dead on every iteration but the last.",
    FAMILY,
    source=SOURCE,
)
define(
    "Placeholder",
    "",
    _placeholder,
    None,
    "A value fed at the start of a run. `shape` None is an unknown rank, None in it an unknown dimension; "
    "`dims` may name its dimensions, which has no effect on a run.",
    FAMILY,
    attrs={"dtype": REQUIRED, "shape": None, "dims": None},
)
define(
    "Const",
    "",
    _const,
    lambda arrays, attrs: attrs["value"],
    "The array in the attr `value`; any dtype, strings as object arrays.",
    FAMILY,
    attrs={"value": REQUIRED},
)
define("Identity", "x", _same, lambda arrays, attrs: arrays[0], "The input itself.", FAMILY)
define(
    "NoOp",
    "",
    lambda types, attrs, values: (),
    lambda arrays, attrs: (),
    "Does nothing and yields nothing; a point for control edges.",
    FAMILY,
    outputs="",
)


def _to_bool(arrays, attrs):
    x = np.asarray(arrays[0])
    if x.ndim:
        return np.asarray(x.size > 0)
    return np.asarray(len(x[()]) > 0 if x.dtype == object else bool(x))


define(
    "to_bool",
    "x",
    lambda types, attrs, values: TensorType("bool", ()),
    _to_bool,
    "Whether a scalar is not zero (a text: not empty); of anything else, whether it has elements.",
    FAMILY,
    source="https://www.tensorflow.org/api_docs/python/tf/raw_ops/ToBool",
)
