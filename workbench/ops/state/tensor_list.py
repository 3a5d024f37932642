"""TensorFlow 2 TensorLists: immutable lists of arrays of one dtype, with shapes compatible with ``element_shape``.

They are pure in TensorFlow too (a variant tensor that is copied on write); here the copies share their elements. An
unwritten element reads as zeros if its shape is known from the list, the op or other elements.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from workbench.ir.types import ANY, OPAQUE, Shape, TensorType
from workbench.ops.define import define
from workbench.ops.rules import WRONG_DTYPE, RuleError
from workbench.ops.state.list_state import WHAT, TensorList, total_of, zeros_like
from workbench.ops.state.persistent import Elements
from workbench.ops.state.stored_elements import (
    count_of,
    failed,
    index_of,
    joined,
    narrowed,
    need_dtype,
    owned,
    parts,
    rows,
    shape_input,
    stacked,
    zeros,
)

FAMILY = "tensor lists"
SOURCE = "https://www.tensorflow.org/api_docs/python/tf/raw_ops/TensorListReserve"
_LIST = TensorType(OPAQUE, None)


def _dtype(attrs) -> str:
    return str(attrs.get("dtype", ANY))


def _empty(arrays, attrs):
    most = int(np.asarray(arrays[1]).reshape(()))
    return TensorList(_dtype(attrs), shape_input(arrays[0]), Elements(), most)


def _reserve(arrays, attrs):
    return TensorList(_dtype(attrs), shape_input(arrays[0]), Elements(count_of(arrays[1], WHAT)))


def _from(items: Any, dtype: str, shape: Shape | None) -> TensorList:
    for item in items:
        narrowed(shape, item.shape, WHAT)
        need_dtype(dtype, item, WHAT)
    return TensorList(dtype, shape, Elements.of(owned(i) for i in items))


def _from_tensor(arrays, attrs):
    value = np.asarray(arrays[0])
    if value.ndim < 1:
        raise failed(
            "wrong-shape",
            "A TensorList is made from a tensor of rank 1 or more, got a scalar.",
            "Give the scalar a first axis.",
        )
    return _from(rows(value), TensorType.of(value).dtype, shape_input(arrays[1]))


def _push(arrays, attrs):
    items, value = arrays
    if 0 <= items.most <= len(items):
        raise failed("list-full", f"{WHAT} holds {len(items)} elements and may hold no more.", "Make it longer.")
    return replace(items, elements=items.elements.sized(len(items) + 1)).with_(len(items), value)


def _pop(arrays, attrs):
    items = arrays[0]
    if not len(items):
        raise failed(
            "list-empty", f"{WHAT} has no elements, so that none can be taken from its end.", "Push before you pop."
        )
    last = len(items) - 1
    return replace(items, elements=items.elements.sized(last)), items.read(last, shape_input(arrays[1]))


def _get(arrays, attrs):
    return arrays[0].read(index_of(arrays[1], len(arrays[0]), WHAT), shape_input(arrays[2]))


def _set(arrays, attrs):
    items, index, value = arrays
    at = int(np.asarray(index).reshape(()))
    if attrs.get("resize", False) and at >= len(items):
        items = replace(items, elements=items.elements.sized(count_of(at + 1, WHAT)))
    return items.with_(index_of(index, len(items), WHAT), value)


def _stack(arrays, attrs):
    items, shape, wanted = arrays[0], shape_input(arrays[1]), int(attrs.get("num_elements", -1))
    if wanted not in (-1, len(items)):
        raise failed("bad-size", f"{WHAT} has {len(items)} elements, but {wanted} were promised.", "Push as many.")
    return stacked(
        [items.read(i, shape) for i in range(len(items))], items.dtype, narrowed(items.shape, shape, WHAT), WHAT
    )


def _gather(arrays, attrs):
    items, indices, shape = arrays[0], np.asarray(arrays[1]).reshape(-1), shape_input(arrays[2])
    found = [items.read(index_of(i, len(items), WHAT), shape) for i in indices]
    return stacked(found, items.dtype, narrowed(items.shape, shape, WHAT), WHAT)


def _put(items: TensorList, value: Any, indices: Any) -> TensorList:
    value, at = np.asarray(value), np.asarray(indices).reshape(-1)
    if value.ndim < 1 or len(value) != len(at):
        raise failed(
            "wrong-shape",
            f"{WHAT} got {len(at)} indices for a value of shape {list(value.shape)}.",
            "Give one index for each part of the value.",
        )
    most = int(at.max(initial=-1)) + 1
    if most > len(items):
        items = replace(items, elements=items.elements.sized(count_of(most, WHAT)))
    for index, part in zip(at, rows(value), strict=True):
        items = items.with_(index_of(index, len(items), WHAT), part)
    return items


def _scatter(arrays, attrs):
    value, indices, shape = np.asarray(arrays[0]), arrays[1], shape_input(arrays[2])
    count = int(np.asarray(arrays[3]).reshape(())) if len(arrays) > 3 else -1
    if count >= 0 and int(np.max(indices, initial=-1)) >= count:
        raise failed(
            "bad-index",
            f"{WHAT} is to have {count} elements, but element {int(np.max(indices))} is written.",
            "Write within the list.",
        )
    empty = TensorList(TensorType.of(value).dtype, shape, Elements(count_of(max(count, 0), WHAT)))
    return _put(empty, value, indices)


def _resize(arrays, attrs):
    return replace(arrays[0], elements=arrays[0].elements.sized(count_of(arrays[1], WHAT)))


def _concat(arrays, attrs):
    items, shape = arrays[0], shape_input(arrays[1]) if len(arrays) > 1 else attrs.get("element_shape")
    leading = np.asarray(arrays[2]).reshape(-1) if len(arrays) > 2 else np.zeros(0, np.int64)
    found = []
    for i in range(len(items)):
        known = narrowed(items.shape, shape, WHAT)
        if items.elements[i] is None and known and i < len(leading) and leading[i] >= 0:
            found.append(zeros(items.dtype, (int(leading[i]), *known[1:]), f"Element {i} of a TensorList"))
        else:
            found.append(items.read(i, shape))
    return joined(found, items.dtype, narrowed(items.shape, shape, WHAT), WHAT)


def _split(arrays, attrs):
    value = np.asarray(arrays[0])
    return _from(parts(value, arrays[2], WHAT), TensorType.of(value).dtype, shape_input(arrays[1]))


def _element_shape(arrays, attrs):
    dtype = np.dtype(attrs.get("dtype", "int64"))
    shape = arrays[0].shape
    return np.asarray(-1 if shape is None else [-1 if d is None else d for d in shape], dtype)


def _concat_lists(arrays, attrs):
    one, two = arrays
    if one.dtype != two.dtype:
        raise failed("wrong-dtype", f"TensorLists of {one.dtype} and {two.dtype} cannot be joined.", "Cast one.")
    return TensorList(one.dtype, narrowed(one.shape, two.shape, WHAT), Elements.of([*one.elements, *two.elements]))


def _push_batch(arrays, attrs):
    """Push a value to each list of a batch, which is an object array of lists."""
    batch, value = np.asarray(arrays[0], object), np.asarray(arrays[1])
    if value.shape[: batch.ndim] != batch.shape:
        raise failed(
            "wrong-shape",
            f"A batch of lists of shape {list(batch.shape)} got a value of shape {list(value.shape)}.",
            "Give one part for each list.",
        )
    out = np.empty(batch.shape, object)
    for index in np.ndindex(batch.shape):
        out[index] = _push((batch[index], value[index]), attrs)
    return out if batch.ndim else out[()]


def _list_type(types, attrs, values):
    return _LIST


def _value_type(types, attrs, values):
    shape = attrs.get("shape")
    return TensorType(_dtype(attrs), None if shape is None else tuple(shape))


def _op(name: str, inputs: str, infer: Any, evaluate: Any, doc: str, outputs: str = "output", /, **attrs: Any) -> None:
    def checked(types, given, values):
        if inputs.startswith(("list", "*lists")) and types[0].dtype not in (OPAQUE, ANY):
            raise RuleError(WRONG_DTYPE, f"takes a TensorList first, but got {types[0]}.", "Begin with a list.")
        return infer(types, given, values)

    define(f"tensor_list_{name}", inputs, checked, evaluate, doc, FAMILY, outputs=outputs, attrs=attrs, source=SOURCE)


_VALUE = {"dtype": ANY, "shape": None}
_op(
    "empty",
    "element_shape max_num_elements",
    _list_type,
    _empty,
    "A list without elements, of at most `max_num_elements` (-1: any number).",
    "list",
    dtype=ANY,
)
_op(
    "reserve",
    "element_shape num_elements",
    _list_type,
    _reserve,
    "A list of elements that were not written yet.",
    "list",
    dtype=ANY,
)
_op(
    "from_tensor",
    "tensor element_shape",
    _list_type,
    _from_tensor,
    "The parts of a tensor along its first axis.",
    "list",
)
_op("push_back", "list tensor", _list_type, _push, "The list and one more element at its end.", "list")
_op(
    "pop_back",
    "list element_shape",
    lambda t, a, v: (_LIST, _value_type(t, a, v)),
    _pop,
    "The list without its last element, and that element.",
    "list tensor",
    **_VALUE,
)
_op("get_item", "list index element_shape", _value_type, _get, "Element `index`.", "item", **_VALUE)
_op(
    "set_item",
    "list index item",
    _list_type,
    _set,
    "The list with another element at `index`; with `resize` it grows to hold it.",
    "list",
    resize=False,
)
_op(
    "stack",
    "list element_shape",
    _value_type,
    _stack,
    "The elements on a new first axis; `num_elements` promises their number.",
    "tensor",
    num_elements=-1,
    **_VALUE,
)
_op(
    "gather",
    "list indices element_shape",
    _value_type,
    _gather,
    "The elements at `indices` on a new first axis.",
    "values",
    **_VALUE,
)
_op(
    "scatter",
    "tensor indices element_shape num_elements?",
    _list_type,
    _scatter,
    "A list with the parts of a tensor at `indices`, as long as it must be, or of `num_elements` (unless -1).",
    "list",
)
_op(
    "scatter_into",
    "list tensor indices",
    _list_type,
    lambda a, attrs: _put(*a),
    "The list with the parts of a tensor at `indices`; it grows to hold them.",
    "list",
)
_op(
    "length",
    "list",
    lambda t, a, v: TensorType("int32", ()),
    lambda a, attrs: np.asarray(len(a[0]), np.int32),
    "The number of elements.",
    "length",
)
_op("resize", "list size", _list_type, _resize, "The first `size` elements, new ones not written yet.", "list")
_op(
    "concat",
    "list element_shape? leading_dims?",
    lambda t, a, v: (_value_type(t, a, v), TensorType("int64", (None,))),
    _concat,
    "The elements one after another on the first axis, and the length of each; `leading_dims` are the lengths "
    "of those never written.",
    "tensor lengths",
    element_shape=None,
    **_VALUE,
)
_op(
    "split",
    "tensor element_shape lengths",
    _list_type,
    _split,
    "A list of parts of these lengths along the first axis.",
    "list",
)
_op(
    "element_shape",
    "list",
    lambda t, a, v: TensorType(str(a.get("dtype", "int64")), None),
    _element_shape,
    "The shape of elements, -1 where it is not known.",
    "element_shape",
    dtype="int64",
)
_op("concat_lists", "list other", _list_type, _concat_lists, "The elements of both lists.", "list", dtype=ANY)
_op(
    "push_back_batch",
    "lists tensor",
    lambda t, a, v: TensorType(OPAQUE, t[0].shape),
    _push_batch,
    "Each list of a batch (an object array) with its part of the tensor pushed.",
    "lists",
    dtype=ANY,
)
_op(
    "zeros_like",
    "list",
    _list_type,
    lambda a, attrs: zeros_like(a[0]),
    "A list of zeros in the place of the elements.",
    "list",
)
_op("add", "*lists", _list_type, lambda a, attrs: total_of(a), "A list of the sums of elements.", "list")
