"""ONNX nodes with exactly the results of workbench ops: those that move, count or compare elements, and arithmetic that
is exact or rounded once, as IEEE 754 requires.

Left out are ops that libraries may round differently (sums, matrix products, functions), and ops with different special
cases: a division of integers by zero, a cast of floats to integers, the maximum of a number and NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from workbench.frontends.onnx.tensors import NUMBERS
from workbench.ops.foreign import RegionStep
from workbench.ops.rules import as_ints

#: (ONNX op; inputs, each the index of an input of the step or a constant; attributes)
Made = tuple[str, tuple[int | np.ndarray, ...], dict[str, Any]]
Rule = Callable[[RegionStep, int], Made | None]

_FLOATS, _INTS = frozenset(("float32", "float64")), frozenset(("int32", "int64"))
_ARITHMETIC = {"add": "Add", "subtract": "Sub", "multiply": "Mul"}
_UNARY = {"relu": "Relu", "sqrt": "Sqrt", "negative": "Neg", "abs": "Abs", "floor": "Floor", "ceil": "Ceil"}
_COMPARISONS = {"less": "Less", "greater": "Greater", "less_equal": "LessOrEqual", "greater_equal": "GreaterOrEqual"}
_LOGIC = {"logical_and": "And", "logical_or": "Or", "logical_not": "Not"}
#: the first operator set in which each op accepts the inputs used here
_LEAST = {"LessOrEqual": 12, "GreaterOrEqual": 12, "Equal": 11, "Clip": 11, "Slice": 10}
_NEGATIVE_AXES = 11


def exact_node(step: RegionStep, version: int) -> Made | None:
    """The ONNX node in this operator set with exactly the results of a workbench op; None if there is none."""
    rule = _RULES.get(step.op)
    if rule is None or step.attrs.get("checked") or step.attrs.get("numpy"):
        return None
    made = rule(step, version)
    return None if made is None or version < _LEAST.get(made[0], 0) else made


def _same(step: RegionStep) -> str | None:
    """The dtype of all values of a step with one output; None if they differ."""
    found = {t.dtype for t in (*step.takes, *step.gives)}
    return found.pop() if len(found) == 1 and len(step.gives) == 1 else None


def _ints(shape: Any) -> np.ndarray:
    return np.array(shape, np.int64)


def _constant(step: RegionStep, place: int, key: str) -> tuple[int, ...] | None:
    """Integers from an attribute or a constant input; None if they are unknown or missing."""
    value = step.constants[place] if place < len(step.inputs) else step.attrs.get(key)
    return None if value is None else as_ints(value)


def _binary(step: RegionStep, version: int) -> Made | None:
    dtype = _same(step)
    if len(step.inputs) != 2 or dtype not in _FLOATS | _INTS:
        return None
    return _ARITHMETIC[step.op], (0, 1), {}


def _divide(step: RegionStep, version: int) -> Made | None:
    return ("Div", (0, 1), {}) if _same(step) in _FLOATS and len(step.inputs) == 2 else None


def _whole_divide(step: RegionStep, version: int) -> Made | None:
    """Division by positive constants, which cannot fail."""
    by = step.constants[1] if len(step.inputs) == 2 else None
    if _same(step) not in _INTS or by is None or not (by > 0).all():
        return None
    return "Div" if step.op == "truncate_divide" else "Mod", (0, 1), {}


def _unary(step: RegionStep, version: int) -> Made | None:
    return (_UNARY[step.op], (0,), {}) if _same(step) in _FLOATS and len(step.inputs) == 1 else None


def _square(step: RegionStep, version: int) -> Made | None:
    return ("Mul", (0, 0), {}) if _same(step) in _FLOATS else None


def _compare(step: RegionStep, version: int) -> Made | None:
    if len({t.dtype for t in step.takes}) != 1 or step.takes[0].dtype not in _FLOATS | _INTS:
        return None
    return _COMPARISONS[step.op], (0, 1), {}


def _equal(step: RegionStep, version: int) -> Made | None:
    if len({t.dtype for t in step.takes}) != 1 or step.takes[0].dtype not in _FLOATS | _INTS | {"bool"}:
        return None
    return "Equal", (0, 1), {}


def _logic(step: RegionStep, version: int) -> Made | None:
    return (_LOGIC[step.op], tuple(range(len(step.inputs))), {}) if _same(step) == "bool" else None


def _where(step: RegionStep, version: int) -> Made | None:
    condition, x, y = step.takes
    same = condition.dtype == "bool" and x.dtype == y.dtype and x.dtype in _FLOATS | _INTS
    return ("Where", (0, 1, 2), {}) if same else None


def _hard_sigmoid(step: RegionStep, version: int) -> Made | None:
    if _same(step) != "float32":
        return None
    return "HardSigmoid", (0,), {k: float(step.attrs[k]) for k in ("alpha", "beta")}


def _clip(step: RegionStep, version: int) -> Made | None:
    if _same(step) != "float32" or any(t.shape != () for t in step.takes[1:]):
        return None
    return "Clip", (0, 1, 2), {}


def _cast(step: RegionStep, version: int) -> Made | None:
    """A cast, but not from floats to integers, where results that do not fit differ, nor between floats, where the
    rounding of ties might.
    """
    source, target = step.takes[0].dtype, step.gives[0].dtype
    exact = source == target or source in _INTS | {"bool"} and target in _FLOATS | _INTS
    return ("Cast", (0,), {"to": NUMBERS[target]}) if exact and target in NUMBERS else None


def _reshape(step: RegionStep, version: int) -> Made | None:
    x, out = step.takes[0], step.gives[0]
    if x.is_static and out.is_static:
        return "Reshape", (0, _ints(out.shape)) if 0 not in (out.shape or ()) else (0,), {}
    copies = bool(step.attrs.get("copy_zeros"))
    sizes = _constant(step, 1, "shape")
    if sizes is not None:
        return ("Reshape", (0, _ints(sizes)), {}) if copies or 0 not in sizes else None
    if len(step.inputs) != 2 or step.takes[1].dtype != "int64" or not copies and version < 14:
        return None
    return "Reshape", (0, 1), {} if copies else {"allowzero": 1}


def _axes(step: RegionStep, version: int) -> Made | None:
    """Insertion or removal of axes of size 1; the axes must be known."""
    op = "Unsqueeze" if step.op == "expand_dims" else "Squeeze"
    x, out = step.takes[0], step.gives[0]
    if x.is_static and out.is_static:
        return _reshape(step, version)
    axes = _constant(step, 1, "axis")
    if axes is None or version < _NEGATIVE_AXES and min(axes, default=0) < 0:
        return None
    return (op, (0, _ints(axes)), {}) if version >= 13 else (op, (0,), {"axes": list(axes)})


def _flatten(step: RegionStep, version: int) -> Made | None:
    if step.takes[0].is_static and step.gives[0].is_static:
        return _reshape(step, version)
    axis = step.attrs.get("axis")
    if axis is None or version < _NEGATIVE_AXES and axis < 0:
        return None
    return "Flatten", (0,), {"axis": int(axis)}


def _broadcast_to(step: RegionStep, version: int) -> Made | None:
    if step.takes[0].is_static and step.gives[0].is_static:
        return "Expand", (0, _ints(step.gives[0].shape)) if 0 not in (step.gives[0].shape or ()) else (0,), {}
    if not step.attrs.get("mutual") or len(step.inputs) != 2 or step.takes[1].dtype != "int64":
        return None
    return "Expand", (0, 1), {}


def _transpose(step: RegionStep, version: int) -> Made | None:
    perm = _constant(step, 1, "perm")
    if perm is None or step.takes[0].shape is None:
        return None
    return "Transpose", (0,), {"perm": [p % len(perm) for p in perm]}


def _concat(step: RegionStep, version: int) -> Made | None:
    if _same(step) is None or step.attrs.get("axis_input"):
        return None
    return "Concat", tuple(range(len(step.inputs))), {"axis": int(step.attrs.get("axis", 0))}


def _slice(step: RegionStep, version: int) -> Made | None:
    """A slice with known positive steps."""
    dtypes = {t.dtype for t in step.takes[1:]}
    if not 3 <= len(step.inputs) <= 5 or len(dtypes) != 1 or not dtypes <= _INTS:
        return None
    if any(c is None for c in step.constants[3:]) or any(s < 1 for c in step.constants[4:] for s in as_ints(c)):
        if any(c is None for c in step.constants[1:]):
            return None
    return "Slice", tuple(range(len(step.inputs))), {}


def _split(step: RegionStep, version: int) -> Made | None:
    sizes = _constant(step, 1, "sizes")
    axis = int(step.attrs.get("axis", 0))
    if sizes is None:  # equal parts
        given = [(t.shape or ())[axis] if t.shape else None for t in step.gives]
        sizes = tuple(d for d in given if d is not None)
    if not sizes or min(sizes) < 0 or version < _NEGATIVE_AXES or len(sizes) != len(step.gives):
        return None
    if version >= 13:
        return "Split", (0, _ints(sizes)), {"axis": axis}
    return "Split", (0,), {"axis": axis, "split": list(sizes)}


def _gather(step: RegionStep, version: int) -> Made | None:
    axis = step.attrs.get("axis")
    if len(step.inputs) != 2 or step.attrs.get("batch_dims") or version < _NEGATIVE_AXES:
        return None
    return ("Gather", (0, 1), {"axis": int(axis or 0)}) if step.takes[1].dtype in _INTS else None


def _along(step: RegionStep, version: int) -> Made | None:
    if step.attrs.get("reduction", "none") != "none" or version < _NEGATIVE_AXES or step.takes[1].dtype not in _INTS:
        return None
    if step.op == "take_along_axis":
        cropped = step.attrs.get("crop")
        return ("GatherElements", (0, 1), {"axis": int(step.attrs.get("axis", -1))}) if cropped else None
    return "ScatterElements", (0, 1, 2), {"axis": int(step.attrs["axis"])}


def _pad(step: RegionStep, version: int) -> Made | None:
    """Padding by known widths with a constant."""
    x, mode = step.takes[0], step.attrs.get("mode", "constant")
    widths = step.constants[1] if len(step.inputs) > 1 else step.attrs.get("pad_width")
    if widths is None or version < _NEGATIVE_AXES or x.dtype not in _FLOATS | _INTS or mode != "constant":
        return None
    pads = _ints(widths).reshape(-1, 2)
    if (pads < 0).any() or len(pads) != len(x.shape or ()):
        return None
    if len(step.inputs) > 2:
        return ("Pad", (0, pads.T.reshape(-1), 2), {}) if step.takes[2].dtype == x.dtype else None
    return "Pad", (0, pads.T.reshape(-1), np.array(step.attrs.get("value", 0), x.dtype)), {}


def _shape(step: RegionStep, version: int) -> Made | None:
    start, end = step.attrs.get("start", 0), step.attrs.get("end")
    if step.gives[0].dtype != "int64" or version < 15 and (start or end is not None):
        return None
    return "Shape", (0,), ({"start": int(start)} if start else {}) | ({} if end is None else {"end": int(end)})


def _range(step: RegionStep, version: int) -> Made | None:
    """A range of integers with a positive step."""
    by = step.constants[2] if len(step.inputs) == 3 else None
    if _same(step) not in _INTS or by is None or by < 1 or version < 11 or any(t.shape != () for t in step.takes):
        return None
    return "Range", (0, 1, 2), {}


_RULES: dict[str, Rule] = {
    **dict.fromkeys(_ARITHMETIC, _binary),
    **dict.fromkeys(_UNARY, _unary),
    **dict.fromkeys(_COMPARISONS, _compare),
    **dict.fromkeys(_LOGIC, _logic),
    **dict.fromkeys(("truncate_divide", "remainder"), _whole_divide),
    **dict.fromkeys(("expand_dims", "squeeze"), _axes),
    **dict.fromkeys(("take_along_axis", "put_along_axis"), _along),
    "broadcast_to": _broadcast_to,
    "cast": _cast,
    "clip": _clip,
    "concat": _concat,
    "divide": _divide,
    "equal": _equal,
    "flatten": _flatten,
    "gather": _gather,
    "hard_sigmoid": _hard_sigmoid,
    "pad": _pad,
    "range": _range,
    "reshape": _reshape,
    "shape": _shape,
    "slice": _slice,
    "split": _split,
    "square": _square,
    "transpose": _transpose,
    "where": _where,
}
