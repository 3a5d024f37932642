"""Tests by bounds of its inputs whether a node that can fail certainly does not: the other half of :mod:`transfer`.

An op without a rule here may fail for any values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from workbench.analysis.intervals.interval import FLOATS, Interval, int_range, truth
from workbench.ir.types import TensorType

Attrs = Mapping[str, Any]
#: rule(boxes of the inputs, attrs, types of the inputs) -> for each piece, whether the op certainly does not fail
Safe = Callable[[list[Interval], Attrs, Sequence[TensorType]], Any]
SAFE: dict[str, Safe] = {}
LOWEST, HIGHEST = int_range("int64")
#: arguments up to which Python's function of a float does not overflow; from which it is defined; above which it is
REACH = {"exp": 709.0, "expm1": 709.0, "exp2": 1023.0, "sinh": 710.0, "cosh": 710.0}
DEFINED = {"sqrt": 0.0, "acosh": 1.0}
ABOVE = {"log": 0.0, "log2": 0.0, "log10": 0.0, "log1p": -1.0}
TOTAL = ("atan", "tanh", "asinh", "cbrt", "atan2", "nextafter")


def safe(*names: str) -> Callable[[Safe], Safe]:
    def put(rule: Safe) -> Safe:
        SAFE.update(dict.fromkeys(names, rule))
        return rule

    return put


def certain(op: str, boxes: list[Interval], attrs: Attrs, types: Sequence[TensorType]) -> Any:
    """For each piece, whether the op certainly does not fail there; dead pieces may get either answer."""
    if op in SAFE:
        return SAFE[op](boxes, attrs, types)
    if not attrs.get("checked") or not boxes or boxes[0].dtype not in FLOATS:
        return False
    x = boxes[0]
    if op in REACH:
        return x.hi <= REACH[op] if op in ("exp", "expm1", "exp2") else np.maximum(np.abs(x.lo), np.abs(x.hi)) <= 710
    if op in DEFINED:
        return x.lo >= DEFINED[op]
    if op in ABOVE:
        return x.lo > ABOVE[op]
    if op in ("asin", "acos"):
        return (x.lo >= -1) & (x.hi <= 1)
    if op in ("sin", "cos", "tan"):
        return (x.lo > -np.inf) & (x.hi < np.inf)
    return op in TOTAL


def _fits(lo: Any, hi: Any) -> Any:
    return np.asarray((lo >= LOWEST) & (hi <= HIGHEST), bool)


def _apart(y: Interval) -> Any:
    """For each piece, whether it excludes zero."""
    return np.asarray((y.lo > 0) | (y.hi < 0), bool)


def _integers(boxes: list[Interval], attrs: Attrs) -> bool:
    return bool(attrs.get("checked")) and all(b.dtype == "int64" for b in boxes)


@safe("add", "subtract", "multiply", "negative", "abs")
def _arithmetic(boxes: list[Interval], attrs: Attrs, types: Sequence[TensorType]) -> Any:
    if not _integers(boxes, attrs):
        return False
    x, op = boxes[0], attrs["_op"]
    if op in ("negative", "abs"):
        return _fits(-x.hi, -x.lo)
    y = boxes[1]
    if op == "multiply":
        ends = [a * b for a in (x.lo, x.hi) for b in (y.lo, y.hi)]
        return _fits(np.minimum.reduce(np.broadcast_arrays(*ends)), np.maximum.reduce(np.broadcast_arrays(*ends)))
    return _fits(x.lo + y.lo, x.hi + y.hi) if op == "add" else _fits(x.lo - y.hi, x.hi - y.lo)


@safe("divide", "floor_divide", "remainder", "fmod")
def _quotient(boxes: list[Interval], attrs: Attrs, types: Sequence[TensorType]) -> Any:
    x, y = boxes
    if not attrs.get("checked"):
        return False
    if attrs["_op"] == "floor_divide" and x.integral:
        return _apart(y) & ((x.lo > LOWEST) | (y.lo > -1) | (y.hi < -1))
    if attrs["_op"] == "fmod":
        return _apart(y) & (x.lo > -np.inf) & (x.hi < np.inf)
    return _apart(y)


@safe("power", "whole_power")
def _power(boxes: list[Interval], attrs: Attrs, types: Sequence[TensorType]) -> Any:
    x, y = boxes
    if not (x.integral and y.integral):
        return False
    if not attrs.get("checked"):
        return np.asarray(y.lo >= 0, bool)
    if not _integers(boxes, attrs):
        return False
    size, most = np.maximum(np.abs(x.lo), np.abs(x.hi)), np.clip(y.hi, 0, 64)
    return np.asarray(y.lo >= 0, bool) & ((size <= 1) | (y.hi <= 64) & _fits(-(size**most), size**most))


@safe("left_shift", "right_shift")
def _shift(boxes: list[Interval], attrs: Attrs, types: Sequence[TensorType]) -> Any:
    x, y = boxes
    if not _integers(boxes, attrs):
        return False
    if attrs["_op"] == "right_shift":
        return np.asarray(y.lo >= 0, bool)
    size, most = np.maximum(np.abs(x.lo), np.abs(x.hi)), np.clip(y.hi, 0, 64)
    return np.asarray((y.lo >= 0) & (y.hi <= 64), bool) & _fits(-(size * 2**most), size * 2**most)


@safe("cast")
def _cast(boxes: list[Interval], attrs: Attrs, types: Sequence[TensorType]) -> Any:
    x, dtype = boxes[0], str(attrs.get("dtype"))
    if not attrs.get("checked") or not dtype.startswith(("int", "uint")):
        return False
    low, high = int_range(dtype)
    if x.integral:
        return np.asarray((x.lo >= low) & (x.hi <= high), bool)
    return (x.lo > np.float64(low)) & (x.hi < np.float64(high)) & ~x.nan


@safe("getitem", "setitem")
def _item(boxes: list[Interval], attrs: Attrs, types: Sequence[TensorType]) -> Any:
    """Safe if each index is a single int that is certainly within its axis."""
    index, shape = attrs.get("index", ()), types[0].shape
    first = 1 if attrs["_op"] == "getitem" else 2
    if shape is None or len(index) > len(shape) or first == 2 and types[1].shape != ():
        return False
    held: Any = True
    for axis, item in enumerate(index):
        kind, *rest = item
        if kind == "ellipsis":
            return held if axis == len(index) - 1 else False
        if kind not in ("input", "int") or shape[axis] is None:
            return False
        if kind == "input":
            k = first + rest[0]
            if k >= len(boxes) or not boxes[k].integral or boxes[k].dtype == "bool" or types[k].shape != ():
                return False
            size = int(shape[axis] or 0)
            held = held & np.asarray((boxes[k].lo >= -size) & (boxes[k].hi < size), bool)
    return held


@safe("gather")
def _gather(boxes: list[Interval], attrs: Attrs, types: Sequence[TensorType]) -> Any:
    shape, axis = types[0].shape, attrs.get("axis", 0)
    if shape is None or len(boxes) != 2 or not boxes[1].integral or not isinstance(axis, int) or not shape:
        return False
    size = shape[axis] if -len(shape) <= axis < len(shape) else None
    return False if size is None else np.asarray((boxes[1].lo >= 0) & (boxes[1].hi < size), bool)


@safe("assert")
def _assert(boxes: list[Interval], attrs: Attrs, types: Sequence[TensorType]) -> Any:
    return np.asarray(truth(boxes[0]).lo == 1, bool)


@safe("check_numerics")
def _finite(boxes: list[Interval], attrs: Attrs, types: Sequence[TensorType]) -> Any:
    x = boxes[0]
    return x.dtype in FLOATS and (x.lo > -np.inf) & (x.hi < np.inf) & (x.lo <= x.hi) & ~x.nan
