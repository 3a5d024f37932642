"""Ops that append to a list and stack its elements: scan outputs of ONNX collect one element per trip this way.

The ops are pure: ``list_append`` returns a new :class:`~workbench.ir.values.ArrayList` and leaves its input unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from workbench.errors import ExecutionError, TypeMismatchError
from workbench.ir.opspec import REGISTRY, OpSpec
from workbench.ir.types import OPAQUE, TensorType, numpy_dtype
from workbench.ir.values import ArrayList

FAMILY = "sequence"
_LIST = TensorType(OPAQUE, None)


def _append_type(
    types: Sequence[TensorType], attrs: Mapping[str, Any], values: Sequence[Any]
) -> tuple[TensorType, ...]:
    _need_list(types)
    return (_LIST,)


def _stack_type(types: Sequence[TensorType], attrs: Mapping[str, Any], values: Sequence[Any]) -> tuple[TensorType, ...]:
    _need_list(types)
    shape = attrs.get("shape")
    if shape is None:
        return (TensorType(attrs.get("dtype", "any"), None),)
    return (TensorType(attrs.get("dtype", "any"), _with_axis([None if d < 0 else d for d in shape], None, attrs)),)


def _with_axis(shape: Sequence[Any], size: Any, attrs: Mapping[str, Any]) -> tuple[Any, ...]:
    axis = int(attrs.get("axis", 0))
    axis += len(shape) + 1 if axis < 0 else 0
    if not 0 <= axis <= len(shape):
        raise TypeMismatchError(f"Elements of rank {len(shape)} cannot be stacked on axis {axis}.", slug="wrong-attr")
    return (*shape[:axis], size, *shape[axis:])


def _need_list(types: Sequence[TensorType]) -> None:
    if types and types[0].dtype not in (OPAQUE, "any"):
        raise TypeMismatchError(
            f"A list is expected, but got {types[0]}.", slug="wrong-dtype", fix="begin with list_new."
        )


def _stack(arrays: Sequence[Any], attrs: Mapping[str, Any]) -> tuple[Any, ...]:
    items, shape, dtype = arrays[0], attrs.get("shape"), attrs.get("dtype", "any")
    if not len(items):
        # unknown dimensions count as 0 if there are no elements
        dims = _with_axis([max(d, 0) for d in shape or ()], 0, attrs)
        return (np.zeros(dims, np.float32 if dtype == "any" else numpy_dtype(dtype)),)
    first = items[0]
    for i, item in enumerate(items):
        if item.shape != first.shape:
            raise ExecutionError(
                f"The elements to be stacked differ in shape: {list(first.shape)} at 0, {list(item.shape)} at {i}.",
                slug="wrong-shape",
                fix="give every trip's scan output the same shape.",
            )
    ordered = list(items)[::-1] if attrs.get("backward", False) else list(items)
    return (np.stack(ordered, attrs.get("axis", 0)),)


def _register(name: str, inputs: tuple[str, ...], infer: Any, evaluate: Any, doc: str, **attrs: Any) -> None:
    if name not in REGISTRY:
        REGISTRY.register(OpSpec(name, inputs, ("output",), infer, evaluate, doc, FAMILY, attrs=attrs))


_register("list_new", (), lambda t, a, v: (_LIST,), lambda arrays, attrs: (ArrayList(),), "An empty list of arrays.")
_register(
    "list_append",
    ("list", "value"),
    _append_type,
    lambda arrays, attrs: (arrays[0].appended(arrays[1]),),
    "The list and one more element; the given list stays as it is.",
)
_register(
    "list_stack",
    ("list",),
    _stack_type,
    _stack,
    "The elements side by side on the new axis `axis`, the last first with `backward`. Without elements, an array of "
    "`dtype` whose new axis is 0 long and whose others are `shape`; a size below 0 is unknown and counts as 0.",
    dtype="any",
    shape=None,
    axis=0,
    backward=False,
)
