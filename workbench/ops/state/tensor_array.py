"""TensorFlow 1 TensorArrays, as immutable values.

In TensorFlow a TensorArray is a mutable resource; its *flow*, a float that is always 0, is passed from write to write
to order them. Here the flow *is* the state: a write returns a new flow and leaves the old one unchanged, so that a run
can step back, replay and fork. The handle has only the properties of the array. A flow looks like TensorFlow's
(``numpy.asarray(flow)`` is float32 0), and sums of flows, which occur in gradients, join the elements written on each
path.

Differences: reading does not clear, so a second read of an element returns its value again, where TensorFlow with
``clear_after_read`` would fail. Two gradient arrays of one source are the same array only if their flows are joined, as
in the gradients that TensorFlow builds.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from workbench.ir.types import ANY, OPAQUE, TensorType
from workbench.ops.define import define
from workbench.ops.rules import WRONG_DTYPE, RuleError, need_kinds
from workbench.ops.state.array_state import ArrayFlow, ArrayHandle, element_of, state_of, written
from workbench.ops.state.stored_elements import (
    count_of,
    failed,
    index_of,
    joined,
    narrowed,
    owned,
    parts,
    rows,
    shape_input,
    stacked,
)

FAMILY = "tensor arrays"
SOURCE = "https://www.tensorflow.org/api_docs/python/tf/raw_ops/TensorArrayV3"
_STATE = TensorType(OPAQUE, None)


def _new(arrays, attrs):
    name = str(attrs.get("name", ""))
    size = count_of(arrays[0], f"The TensorArray {name!r}")
    shape = attrs.get("element_shape")
    handle = ArrayHandle(
        name,
        str(attrs["dtype"]),
        size,
        bool(attrs.get("dynamic_size", False)),
        None if shape is None else tuple(shape),
        bool(attrs.get("identical_element_shapes", False)),
    )
    return handle, state_of(handle, None)


def _write(arrays, attrs):
    handle, index, value, flow = arrays
    return written(handle, state_of(handle, flow), int(np.asarray(index).reshape(())), value)


def _read(arrays, attrs):
    handle, index, flow = arrays
    state = state_of(handle, flow)
    return element_of(handle, state, index_of(index, len(state.elements), str(handle)))


def _gather(arrays, attrs):
    handle, indices, flow = arrays
    state = state_of(handle, flow)
    wanted = [index_of(i, len(state.elements), str(handle)) for i in np.asarray(indices).reshape(-1)]
    shape = narrowed(attrs.get("element_shape"), state.shape, str(handle))
    return stacked([element_of(handle, state, i) for i in wanted], handle.dtype, shape, str(handle))


def _put(handle: ArrayHandle, flow: Any, indices: Any, values: Any) -> ArrayFlow:
    state = state_of(handle, flow)
    for index, value in zip(np.asarray(indices).reshape(-1).tolist(), values, strict=True):
        state = written(handle, state, index, value)
    return state


def _scatter(arrays, attrs):
    handle, indices, value, flow = arrays
    value = np.asarray(value)
    if value.ndim < 1 or len(value) != np.asarray(indices).size:
        raise failed(
            "wrong-shape",
            f"{handle} got {np.asarray(indices).size} indices for a value of shape {list(value.shape)}.",
            "Give one index for each part of the value.",
        )
    return _put(handle, flow, indices, rows(value))


def _concat(arrays, attrs):
    handle, flow = arrays
    state = state_of(handle, flow)
    rest = attrs.get("element_shape_except0")
    shape = narrowed(None if rest is None else (None, *rest), state.shape, str(handle))
    items = [element_of(handle, state, i) for i in range(len(state.elements))]
    return joined(items, handle.dtype, shape, str(handle))


def _split(arrays, attrs):
    handle, value, lengths, flow = arrays
    pieces = parts(np.asarray(value), lengths, str(handle))
    size = len(state_of(handle, flow).elements)
    if len(pieces) != size and not (handle.dynamic and len(pieces) > size):
        raise failed(
            "bad-size",
            f"{handle} has {size} elements, but got {len(pieces)} lengths.",
            "Give one length for each element.",
        )
    return _put(handle, flow, range(len(pieces)), pieces)


def _size(arrays, attrs):
    return np.asarray(len(state_of(*arrays).elements), np.int32)


def _grad(arrays, attrs):
    """The array of gradients; its flow continues the given one if that already belongs to it."""
    handle, flow, front = arrays[0], arrays[1], shape_input(arrays[2]) if len(arrays) > 2 else ()
    source = "/".join(filter(None, (handle.source, str(attrs.get("source", "")) or "gradients")))
    started = isinstance(flow, ArrayFlow) and flow.key in (handle.key, (handle.name, source))
    dims = tuple(d or 0 for d in front or ())
    shape = None if handle.shape is None else (*dims, *handle.shape)
    grad = replace(
        handle,
        size=len(flow.elements) if started else handle.size,
        dynamic=False,
        shape=shape,
        source=source,
        of=handle.key,
        front=dims,
    )
    return grad, state_of(grad, flow)


def _joined(arrays, attrs):
    """The joined flows of several paths of a gradient."""
    total = ArrayFlow()
    for flow in arrays:
        if not isinstance(flow, ArrayFlow) or flow.key is None or flow is total:
            continue
        if total.key is None:
            total = flow
            continue
        if flow.key != total.key or not flow.key[1]:
            raise failed(
                "wrong-flow",
                f"The flows of the TensorArrays {total.key[0]!r} and {flow.key[0]!r} are added, "
                "which only gradients of one array can be.",
                "Hand on one flow.",
            )
        total = replace(total, elements=total.elements.merged(flow.elements, lambda a, b: owned(a + b)))
    return total


def _value_type(types, attrs, values):
    shape = attrs.get("shape")
    return TensorType(attrs.get("dtype", ANY), None if shape is None else tuple(shape))


def _need_handle(types) -> None:
    if types and types[0].dtype not in (OPAQUE, ANY):
        raise RuleError(
            WRONG_DTYPE,
            f"takes the handle of a TensorArray first, but got {types[0]}.",
            "Give the first output of tensor_array.",
        )


def _op(name: str, inputs: str, infer: Any, evaluate: Any, doc: str, outputs: str = "output", /, **attrs: Any) -> None:
    def checked(types, given, values):
        if name != "tensor_array" and "handle" in inputs:
            _need_handle(types)
        return infer(types, given, values)

    define(name, inputs, checked, evaluate, doc, FAMILY, outputs=outputs, attrs=attrs, source=SOURCE)


def _flow_type(types, attrs, values):
    return _STATE


def _new_type(types, attrs, values):
    need_kinds(types[0], "iu", "size", "an integer")
    return _STATE, _STATE


_op(
    "tensor_array",
    "size",
    _new_type,
    _new,
    "A TensorArray of `size` elements of `dtype` that were not written yet: its handle and its first flow.",
    "handle flow",
    dtype=ANY,
    element_shape=None,
    dynamic_size=False,
    clear_after_read=True,
    identical_element_shapes=False,
    name="",
)
_op(
    "tensor_array_write",
    "handle index value flow",
    _flow_type,
    _write,
    "The flow with element `index` written, once, except that gradients add up.",
    "flow",
)
_op(
    "tensor_array_read",
    "handle index flow",
    _value_type,
    _read,
    "Element `index`; zeros where it was never written and its shape is known.",
    "value",
    dtype=ANY,
    shape=None,
)
_op(
    "tensor_array_gather",
    "handle indices flow",
    _value_type,
    _gather,
    "The elements at `indices` on a new first axis.",
    "value",
    dtype=ANY,
    shape=None,
    element_shape=None,
)
_op(
    "tensor_array_scatter",
    "handle indices value flow",
    _flow_type,
    _scatter,
    "The flow with the parts of `value` along its first axis written at `indices`.",
    "flow",
)
_op(
    "tensor_array_concat",
    "handle flow",
    lambda t, a, v: (_value_type(t, a, v), TensorType("int64", (None,))),
    _concat,
    "All elements one after another on the first axis, and the length of each.",
    "value lengths",
    dtype=ANY,
    shape=None,
    element_shape_except0=None,
)
_op(
    "tensor_array_split",
    "handle value lengths flow",
    _flow_type,
    _split,
    "The flow with the parts of `value`, of these lengths along its first axis, written.",
    "flow",
)
_op(
    "tensor_array_size",
    "handle flow",
    lambda t, a, v: TensorType("int32", ()),
    _size,
    "The number of elements.",
    "size",
)
_op(
    "tensor_array_close",
    "handle",
    lambda t, a, v: (),
    lambda arrays, attrs: (),
    "Nothing: values are freed when nobody needs them.",
    "",
)
_op(
    "tensor_array_grad",
    "handle flow shape_to_prepend?",
    lambda t, a, v: (_STATE, _STATE),
    _grad,
    "The TensorArray of the gradients of an array, of its size, and its flow; zeros of the forward elements' shapes "
    "where nothing is written. One array for each `source`.",
    "handle flow",
    source="",
)
_op(
    "tensor_array_flow",
    "x",
    _flow_type,
    lambda arrays, attrs: arrays[0] if isinstance(arrays[0], ArrayFlow) else ArrayFlow(),
    "The flow on which nothing was written, from the number that stands for it.",
    "flow",
)
_op(
    "tensor_array_join",
    "*flows",
    _flow_type,
    _joined,
    "The flow with what was written on each of the given ones, added up; flows of gradients only.",
    "flow",
)
