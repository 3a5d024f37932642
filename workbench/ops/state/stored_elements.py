"""Shared parts of the ops on TensorArrays and TensorLists: elements of one dtype, shapes, joining and splitting.

An element is a read-only array. In TensorFlow an unwritten element reads as zeros if its shape is known.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.errors import ExecutionError
from workbench.ir.types import Opaque, Shape, TensorType, numpy_dtype
from workbench.ops.rules import show
from workbench.ops.state.persistent import MAX_ELEMENTS

#: maximum bytes of zeros created for an unwritten element
MAX_ZEROS = 1 << 28


def failed(slug: str, message: str, fix: str) -> ExecutionError:
    return ExecutionError(message, slug=slug, fix=fix)


def owned(value: Any) -> Any:
    """A read-only copy, because the executor may reuse the memory of its values."""
    if isinstance(value, Opaque):
        return value
    copy = np.array(value, copy=True)
    copy.flags.writeable = False
    return copy


def index_of(value: Any, count: int, what: str) -> int:
    """A scalar index below ``count``."""
    index = int(np.asarray(value).reshape(()))
    if not 0 <= index < count:
        raise failed(
            "bad-index",
            f"{what} has {count} elements, so the index {index} is out of range.",
            "Compute an index within the array.",
        )
    return index


def count_of(value: Any, what: str) -> int:
    """A number of elements between 0 and ``MAX_ELEMENTS``."""
    count = int(np.asarray(value).reshape(()))
    if not 0 <= count <= MAX_ELEMENTS:
        raise failed(
            "bad-size",
            f"{what} is to have {count:,} elements; 0 to {MAX_ELEMENTS:,} are possible.",
            "Look where the size is computed.",
        )
    return count


def narrowed(known: Shape | None, shape: Shape | None, what: str) -> Shape | None:
    """The shape compatible with both."""
    if known is None or shape is None:
        return shape if known is None else known
    fits = len(known) == len(shape) and all(None in (a, b) or a == b for a, b in zip(known, shape, strict=True))
    if not fits:
        raise failed(
            "wrong-shape",
            f"{what} takes elements of shape {show(known)}, but got {show(shape)}.",
            "Give elements of that shape.",
        )
    return tuple(b if a is None else a for a, b in zip(known, shape, strict=True))


def need_dtype(declared: str, value: Any, what: str) -> None:
    found = TensorType.of(value).dtype
    if declared not in ("any", "opaque") and found not in (declared, "opaque"):  # a flow is a number in TensorFlow
        raise failed("wrong-dtype", f"{what} holds {declared}, but got {found}.", "Cast the value first.")


def zeros(dtype: str, shape: Shape | None, what: str) -> np.ndarray:
    """The value of an unwritten element; an error if its shape is unknown."""
    if shape is None or None in shape or dtype in ("any", "opaque"):
        raise failed(
            "never-written",
            f"{what} was never written, and its shape {show(shape)} is not known.",
            "Write it before it is read, or set element_shape so that zeros can stand for it.",
        )
    if math.prod(d for d in shape if d is not None) * 16 > MAX_ZEROS:
        raise failed(
            "too-large",
            f"{what} was never written, and zeros of shape {show(shape)} are too many.",
            "Write it before it is read.",
        )
    if dtype == "string":
        return np.full(tuple(d or 0 for d in shape), b"", object)
    return np.zeros(tuple(d or 0 for d in shape), numpy_dtype(dtype))


def rows(value: np.ndarray) -> list[Any]:
    """The parts along the first axis; a single string is an array too."""
    items = [value[i] for i in range(len(value))]
    return [value[i, ...] if isinstance(item, bytes | str) else item for i, item in enumerate(items)]


def stacked(items: Sequence[np.ndarray], dtype: str, shape: Shape | None, what: str) -> np.ndarray:
    """The elements on a new first axis."""
    if not items:
        return zeros(dtype, None if shape is None else (0, *shape), f"{what} has no elements, and what is stacked")
    first = items[0]
    for i, item in enumerate(items):
        if item.shape != first.shape:
            raise failed(
                "wrong-shape",
                f"The elements of {what} differ in shape: {show(first.shape)} at 0, {show(item.shape)} at {i}.",
                "Write elements of one shape.",
            )
    return np.stack(list(items))


def joined(items: Sequence[np.ndarray], dtype: str, shape: Shape | None, what: str) -> tuple[np.ndarray, np.ndarray]:
    """The elements concatenated along the first axis, and their lengths."""
    if not items:
        rest = None if shape is None else (0, *shape[1:])
        return zeros(dtype, rest, f"{what} has no elements, and what is joined"), np.zeros(0, np.int64)
    for i, item in enumerate(items):
        if item.ndim < 1 or item.shape[1:] != items[0].shape[1:]:
            raise failed(
                "wrong-shape",
                f"The elements of {what} cannot be joined on the first axis: "
                f"{show(items[0].shape)} at 0, {show(item.shape)} at {i}.",
                "Write elements that differ in the first axis only.",
            )
    return np.concatenate(list(items)), np.array([len(i) for i in items], np.int64)


def parts(value: np.ndarray, lengths: np.ndarray, what: str) -> list[np.ndarray]:
    """``value`` cut along its first axis."""
    sizes = np.asarray(lengths).reshape(-1)
    if value.ndim < 1 or sizes.min(initial=0) < 0 or int(sizes.sum()) != len(value):
        raise failed(
            "wrong-shape",
            f"A value of shape {show(value.shape)} cannot be split for {what} into parts of "
            f"length {sizes.tolist()[:8]}.",
            "Give lengths that add up to the first dimension.",
        )
    ends = np.cumsum(sizes)
    return [value[end - size : end] for size, end in zip(sizes.tolist(), ends.tolist(), strict=True)]


def shape_input(value: Any) -> Shape | None:
    """A shape given as a tensor: a scalar -1 means an unknown rank, -1 in a list an unknown dimension."""
    array = np.asarray(value)
    if array.ndim == 0:
        return None
    return tuple(None if d < 0 else int(d) for d in array.tolist())


def shape_of(item: Any) -> Shape:
    """Shape of an element; a nested list counts as a scalar."""
    return () if isinstance(item, Opaque) else tuple(item.shape)
