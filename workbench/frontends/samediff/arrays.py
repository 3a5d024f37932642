"""SameDiff FlatArrays -> NumPy arrays.

An array is a buffer and ND4J's shape info: ``[rank, dimensions, strides, flags, element-wise stride, order]``, strides
in elements. The strides locate the elements for every order, so that arrays of order c and f, and views of larger
buffers, are read alike. The buffer is in the byte order that the array names; Java writes big-endian.

In the containers of :mod:`workbench.frontends.samediff.containers` the shape is that of the array alone, the buffer is
little-endian, and the field of the byte order is the order of the elements, 0 for c and 1 for f.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from workbench.errors import LoadError
from workbench.frontends.samediff.schema import DTYPES, FOREIGN_DTYPES
from workbench.frontends.samediff.strings import strings_of
from workbench.frontends.tf.tensor_proto import MAX_ARRAY_RANK, Budget
from workbench.ir.types import STRING, numpy_dtype

#: flag of an empty array
EMPTY = 8
BIG_ENDIAN = 1
_WRITE_AGAIN = "save the model again with the tool that wrote it."


def dtype_of(number: int, what: str) -> str:
    """The dtype name of a data type; LoadError ``unknown-dtype`` for types that our arrays cannot hold."""
    name = DTYPES.get(number)
    if name is None:
        shown = FOREIGN_DTYPES.get(number, f"number {number}")
        raise LoadError(
            f"{what} has ND4J's data type {shown}, which has no counterpart here.",
            slug="unknown-dtype",
            fix="cast it to another type before the model is saved.",
        )
    return name


def array_of(message: Mapping[str, Any], dtype: str | None, budget: Budget, what: str) -> np.ndarray:
    """The array of a FlatArray message with shape info; ``dtype`` is that of its variable, or None.

    Raises LoadError ``bad-tensor``, ``bad-shape``, ``unknown-dtype``, or ``too-large`` for a view that repeats more
    elements than ``budget`` has left.
    """
    info = message.get("shape", [])
    rank = info[0] if info else -1
    if not 0 <= rank <= MAX_ARRAY_RANK or len(info) != 2 * rank + 4:
        raise _bad(what, f"has the shape info {_shown(info)}, which is none of ND4J's")
    shape, strides, flags = tuple(info[1 : 1 + rank]), info[1 + rank : 1 + 2 * rank], info[1 + 2 * rank]
    count = _count(shape, what)
    raw = message.get("buffer", b"")
    if flags & EMPTY or not count:
        if dtype is None:
            dtype = dtype_of(message.get("dtype", 0), what)
        if count and shape:
            raise _bad(what, f"is said to be empty and to have the shape {list(shape)}")
        return np.empty(shape if shape else (0,), numpy_dtype(dtype))
    own = dtype_of(message.get("dtype", 0), what)
    big = message.get("byte_order", 0) == BIG_ENDIAN
    flat = strings_of(raw, big, what, count) if own == STRING else _numbers(raw, own, big, what)
    return _strided(flat, shape, strides, budget, what)


def plain_array(message: Mapping[str, Any], raw: bytes, what: str) -> np.ndarray:
    """The array of a FlatArray message of a container, whose shape is plain, with its bytes ``raw``."""
    shape = tuple(message.get("shape", ()))
    own = dtype_of(message.get("dtype", 0), what)
    count = _count(shape, what)
    flat = (
        (strings_of(raw, False, what, count) if raw else np.empty(0, object))
        if own == STRING
        else _numbers(raw, own, False, what)
    )
    if len(flat) != count:
        raise _bad(what, f"holds {len(flat):,} elements; its shape {list(shape)} has {count:,}")
    return flat.reshape(shape, order="F" if message.get("byte_order", 0) == 1 else "C")


def _count(shape: Sequence[int], what: str) -> int:
    if len(shape) > MAX_ARRAY_RANK or any(d < 0 for d in shape):
        raise _bad(what, f"has the dimensions {_shown(shape)}", "bad-shape")
    if math.prod(max(d, 1) for d in shape) >= 1 << 60:
        raise _bad(what, f"has the shape {_shown(shape)}, which no array can have", "bad-shape")
    return math.prod(shape)


def _numbers(raw: bytes, dtype_name: str, big: bool, what: str) -> np.ndarray:
    dtype = numpy_dtype(dtype_name)
    if len(raw) % dtype.itemsize:
        raise _bad(what, f"holds {len(raw)} bytes, not a whole number of {dtype_name}")
    if dtype_name == "bool":  # a byte other than 0 and 1 would become a NumPy bool that equals neither
        return np.frombuffer(raw, np.uint8) != 0
    if dtype.itemsize == 1:
        return np.frombuffer(raw, dtype)
    words = np.frombuffer(raw, f"{'>' if big else '<'}u{dtype.itemsize}")
    return words.astype(f"=u{dtype.itemsize}").view(dtype)


def _strided(flat: np.ndarray, shape: tuple[int, ...], strides: Sequence[int], budget: Budget, what: str) -> np.ndarray:
    """The elements given by shape and strides, in a new array. The stride of an axis of size 1 is ignored."""
    steps = [0 if d == 1 else s for d, s in zip(shape, strides, strict=True)]
    last = sum((d - 1) * s for d, s in zip(shape, steps, strict=True))
    if any(s < 0 for s in steps) or last >= len(flat):
        raise _bad(
            what,
            f"holds {len(flat):,} elements; its shape {list(shape)} and strides {_shown(strides)} need {last + 1:,}",
        )
    count = math.prod(shape)
    if count > len(flat):
        budget.take((count - len(flat)) * flat.itemsize, what)
    view = np.lib.stride_tricks.as_strided(flat, shape, [s * flat.itemsize for s in steps])
    return np.array(view, order="C")


def _shown(values: Sequence[int]) -> str:
    return str(list(values)) if len(values) <= 24 else f"{list(values[:20])} and {len(values) - 20:,} more"


def _bad(what: str, why: str, slug: str = "bad-tensor") -> LoadError:
    return LoadError(f"{what} {why}.", slug=slug, fix=_WRITE_AGAIN)
