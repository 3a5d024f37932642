"""``x[index]`` and ``x[index] = new`` of arrays, tuples and ranges, with indices that may be computed.

An index out of range fails when the line runs, as in Python: the node raises IndexError and the run stops before it.
Source: https://numpy.org/doc/stable/user/basics.indexing.html
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.errors import GraphError, TypeMismatchError
from workbench.frontends.python.values import foreign
from workbench.frontends.python.values.numbers import PyNumber, is_number, kind_of, python_number
from workbench.frontends.python.values.promotion import as_array, cast_number, holds_value, is_array
from workbench.ir.builder.builder import GraphBuilder
from workbench.ir.builder.value import Value
from workbench.ir.types import ANY
from workbench.ops.index import encode_index


def subscript(builder: GraphBuilder, value: Any, index: Any) -> Any:
    """``value[index]``; parts of known tuples and ranges are statics."""
    if not isinstance(value, Value) and type(value) not in (tuple, list, dict):
        foreign.refuse((value,), foreign.ITEMS)
    if not isinstance(value, Value) and not holds_value(index):
        try:
            return value[index]
        except IndexError as error:
            if not isinstance(value, np.ndarray):
                raise GraphError(
                    f"The index {index!r} is out of range: {error}.",
                    slug="bad-index",
                    fix="use an index that is there; an index of an array would fail only when the line runs.",
                ) from None
        except (KeyError, TypeError) as error:
            raise GraphError(f"{index!r} does not index {type(value).__name__}: {error}.", slug="bad-index") from None
    if isinstance(value, PyNumber) or is_number(value):
        raise TypeMismatchError("A Python number cannot be indexed.", slug="bad-index", fix="make it an array first.")
    if not is_array(value):
        return _of_sequence(builder, value, index)
    array = as_array(builder, value)
    key, extra = encoded(builder, array, index)
    return _marked(builder, "getitem", [array, *extra], key)


def _of_sequence(builder: GraphBuilder, value: Any, index: Any) -> Any:
    """An item of a tuple, list or range at a computed position; the items must be numbers of one kind."""
    if not isinstance(value, (tuple, list, range)) or isinstance(index, slice) or not isinstance(index, Value):
        raise GraphError(
            f"{type(value).__name__} cannot be indexed with a computed {type(index).__name__}.",
            slug="bad-index",
            fix="make it an array with np.array(...).",
        )
    if isinstance(value, range) and isinstance(index, PyNumber) and value:
        place = _marked(builder, "getitem", [builder.constant(np.arange(len(value))), index], (("input", 0),))
        step = builder.op("multiply", place, builder.constant(np.int64(value.step)))
        return python_number(builder, builder.op("add", step, builder.constant(np.int64(value.start))))
    kinds = {kind_of(v) if is_number(v) else v.type if isinstance(v, Value) else None for v in value}
    if len(kinds) != 1 or None in kinds:
        raise GraphError(
            "A tuple or list of items of several types cannot be indexed with a computed number.",
            slug="bad-index",
            fix="give all items one type, or write if and elif.",
        )
    array = as_array(builder, value)
    found = _marked(builder, "getitem", [array, index], (("input", 0),))
    return python_number(builder, found) if is_number(value[0]) else found


def encoded(builder: GraphBuilder, array: Value, index: Any) -> tuple[tuple[Any, ...], list[Value]]:
    """The attribute ``index`` of getitem and setitem, and the computed parts of the index."""
    items = index if isinstance(index, tuple) else (index,)
    clean = tuple(_item(builder, i) for i in items)
    shape = array.shape
    if shape is not None and not any(isinstance(i, Value) and i.shape != () for i in clean):
        clean = _late(builder, clean, shape)
    key, extra = encode_index(clean, lambda i: isinstance(i, Value))
    return key, [i if isinstance(i, Value) else builder.constant(i) for i in extra]


def _item(builder: GraphBuilder, item: Any) -> Any:
    if isinstance(item, slice):
        return slice(*(_bound(builder, i) for i in (item.start, item.stop, item.step)))
    if item is None or item is Ellipsis:
        return item
    if isinstance(item, (list, tuple)):
        item = as_array(builder, item)
    if isinstance(item, range):
        item = np.arange(item.start, item.stop, item.step)
    if isinstance(item, np.generic):
        item = np.asarray(item)
    if isinstance(item, np.ndarray):
        item = int(item) if item.ndim == 0 and item.dtype.kind in "iu" else builder.constant(item)
    if isinstance(item, PyNumber) and item.kind is bool or type(item) is bool:
        raise GraphError(
            "A single bool as an index makes an axis of size 0 or 1.",
            slug="bad-index",
            fix="use an if, or an int as the index.",
        )
    if isinstance(item, Value):
        if item.dtype != ANY and "int" not in item.dtype and item.dtype != "bool":
            raise TypeMismatchError(
                f"An index must be of ints or bools, but this one is {item.type}.",
                slug="bad-index",
                fix="convert it with int(...) or .astype(int).",
            )
        return item
    if type(item) is not int:
        raise TypeMismatchError(
            f"{item!r} cannot index an array.", slug="bad-index", fix="use ints, slices, None, ... or arrays."
        )
    return item


def _bound(builder: GraphBuilder, item: Any) -> Any:
    """A start, stop or step of a slice."""
    if item is None or type(item) is int:
        return item
    if isinstance(item, np.integer):
        return int(item)
    if isinstance(item, Value) and item.shape == () and ("int" in item.dtype or item.dtype == ANY):
        return item
    raise TypeMismatchError(
        f"{item!r} cannot be the start, stop or step of a slice.", slug="bad-index", fix="use an int or None."
    )


def _late(builder: GraphBuilder, items: Sequence[Any], shape: Sequence[int | None]) -> tuple[Any, ...]:
    """The items with known ints out of range replaced by computed ones, which fail when the line runs, not before."""
    used = sum(i is not None and i is not Ellipsis for i in items)
    out, axis = [], 0
    for item in items:
        if item is Ellipsis:
            axis += max(0, len(shape) - used)
        elif item is not None:
            size = shape[axis] if axis < len(shape) else None
            if type(item) is int and size is not None and not -size <= item < size and -(2**63) <= item < 2**63:
                item = builder.op("invert", builder.constant(np.int64(~item)))
            axis += 1
        out.append(item)
    return tuple(out)


def store(builder: GraphBuilder, value: Any, index: Any, new: Any) -> Value:
    """The array after ``value[index] = new``: the dtype is kept, ``new`` is cast and broadcast as in NumPy."""
    if isinstance(value, (tuple, list, dict)) or not is_array(value):
        raise GraphError(
            f"An item of a {type(value).__name__} cannot be assigned in a graph.",
            slug="bad-assignment",
            fix="use a NumPy array.",
        )
    array = as_array(builder, value)
    if is_number(new):
        part = cast_number(builder, new, array.dtype) if array.dtype != ANY else as_array(builder, new)
    else:
        part = as_array(builder, new)
    key, extra = encoded(builder, array, index)
    return _marked(builder, "setitem", [array, part, *extra], key)


def _marked(builder: GraphBuilder, op: str, inputs: list[Value], key: tuple[Any, ...]) -> Value:
    """The node; with computed indices it may fail and is kept even if its result is unused."""
    if any(kind == "input" for kind, *_ in key):
        return builder.op(op, *inputs, index=key, _raises=True)
    return builder.op(op, *inputs, index=key)
