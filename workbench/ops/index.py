"""Indices as data, and the shape of the indexed array.

The attr ``index`` of ``getitem`` and ``setitem`` is a tuple of items: ("int", i), ("newaxis",), ("ellipsis",),
("slice", start, stop, step) with ints or None, and ("input", k) for the k-th extra input, which may also be a start,
stop or step. :func:`encode_index` creates it from a Python key.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from workbench.errors import TypeMismatchError
from workbench.ir.types import TensorType
from workbench.ops.rules import UNSEEN, WRONG_ATTR, WRONG_SHAPE, RuleError, Shape, need_kinds, show


def encode_index(key: Any, is_value: Callable[[Any], bool] = lambda item: False) -> tuple[tuple, list[Any]]:
    """The attr ``index`` for a Python key, and the extra inputs: values (by ``is_value``) and arrays in the key.

    >>> encode_index((0, slice(None, None, 2), None, ...))
    ((('int', 0), ('slice', None, None, 2), ('newaxis',), ('ellipsis',)), [])
    """
    extra: list[Any] = []

    def number(item: Any) -> Any:
        if is_value(item) or isinstance(item, (np.ndarray, list, bool)):
            extra.append(item if is_value(item) else np.asarray(item))
            return ("input", len(extra) - 1)
        try:
            return None if item is None else int(item.__index__())
        except (AttributeError, TypeError):
            message = f"A value cannot be indexed with {type(item).__name__} {item!r}."
            raise TypeMismatchError(message, slug=WRONG_ATTR, fix="Use ints, slices, ... or arrays.") from None

    items: list[tuple] = []
    for item in key if isinstance(key, tuple) else (key,):
        if item is Ellipsis or item is None:
            items.append(("ellipsis",) if item is Ellipsis else ("newaxis",))
        elif isinstance(item, slice):
            items.append(("slice", number(item.start), number(item.stop), number(item.step)))
        else:
            found = number(item)
            items.append(found if isinstance(found, tuple) else ("int", found))
    return tuple(items), extra


def decode_index(index: Sequence[Any], extra: Sequence[np.ndarray]) -> tuple:
    """The index as a key for NumPy. It contains an ellipsis, so that the result is an array and a view."""

    def number(item: Any) -> Any:
        return int(extra[item[1]]) if isinstance(item, tuple) else item

    key: list[Any] = []
    for kind, *rest in index:
        if kind == "slice":
            key.append(slice(*map(number, rest)))
        elif kind == "input":
            array = extra[rest[0]]
            key.append(int(array) if array.ndim == 0 and array.dtype.kind in "iu" else array)
        else:
            key.append({"ellipsis": Ellipsis, "newaxis": None}[kind] if kind != "int" else rest[0])
    return tuple(key) if ("ellipsis",) in index else (*key, Ellipsis)


def known_items(index: Sequence[Any], types: Sequence[TensorType], values: Sequence[Any]) -> list[Any]:
    """The known parts of the index: ints, None, Ellipsis, slices and, for all others, UNSEEN or a TensorType.

    ``types`` and ``values`` are those of the extra inputs. UNSEEN means an unknown int.
    """

    def get(k: int) -> Any:
        if not 0 <= k < len(types):
            raise RuleError(WRONG_ATTR, f"has no input {k} for its index.", "Give one extra input for each item.")
        x, value = types[k], values[k]
        need_kinds(x, "biu", "index", "integers or bools")
        if x.shape != () or x.dtype in ("bool", "any"):
            return x
        return UNSEEN if value is None else int(value)

    def number(item: Any) -> Any:
        found = get(item[1]) if isinstance(item, tuple) else item
        return UNSEEN if isinstance(found, TensorType) else found

    out: list[Any] = []
    for item in index:
        kind, rest = (item[0], item[1:]) if isinstance(item, tuple) and item else (None, ())
        if kind in ("ellipsis", "newaxis"):
            out.append(Ellipsis if kind == "ellipsis" else None)
        elif kind == "slice" and len(rest) == 3:
            out.append(slice(*map(number, rest)))
        elif kind in ("int", "input") and len(rest) == 1:
            out.append(int(rest[0]) if kind == "int" else get(rest[0]))
        else:
            raise RuleError(WRONG_ATTR, f"has no index item {item!r}.", "Make the index with encode_index.")
    return out


def indexed_shape(shape: Shape, items: Sequence[Any]) -> Shape:
    """Shape of ``x[items]`` for the items of :func:`known_items`; raises RuleError for an index out of range."""
    if sum(i is Ellipsis for i in items) > 1:
        raise RuleError(WRONG_ATTR, "takes one ellipsis in an index, but got more.", "Leave one.")
    arrays = [i for i in items if isinstance(i, TensorType)]
    if shape is None or any(a.shape is None or a.dtype == "any" for a in arrays):
        return None
    used = sum(1 if a.dtype != "bool" else len(a.shape or ()) for a in arrays)
    used += sum(i is not None and i is not Ellipsis and not isinstance(i, TensorType) for i in items)
    if used > len(shape):
        raise RuleError(WRONG_SHAPE, f"got {used} indices for the shape {show(shape)}.", "Index fewer axes.")
    ints = any(isinstance(i, int) or i is UNSEEN for i in items)
    if len(arrays) > 1 or (arrays and ints):
        return None  # NumPy broadcasts several index arrays; this is checked in the run
    gap = len(shape) - used
    if Ellipsis not in [i for i in items if i is Ellipsis]:
        items = [*items, Ellipsis]
    out: list[int | None] = []
    axis = 0
    for item in items:
        if item is None:
            out.append(1)
        elif item is Ellipsis:
            out.extend(shape[axis : axis + gap])
            axis += gap
        elif isinstance(item, TensorType):
            mask = item.dtype == "bool"
            out.extend((None,) if mask else item.shape or ())
            axis += len(item.shape or ()) if mask else 1
        else:
            if isinstance(item, slice):
                out.append(_slice_length(shape[axis], item))
            elif item is not UNSEEN and (size := shape[axis]) is not None and not -size <= item < size:
                raise RuleError(WRONG_SHAPE, f"has no index {item} on an axis of size {size}.", "Index less.")
            axis += 1
    return tuple(out)


def _slice_length(size: int | None, item: slice) -> int | None:
    if item.step == 0:
        raise RuleError(WRONG_ATTR, "cannot slice with step 0.", "Give another step.")
    if (item.start, item.stop) == (None, None) and item.step in (None, 1, -1):
        return size
    if size is None or UNSEEN in (item.start, item.stop, item.step):
        return 0 if size == 0 else None
    return len(range(*item.indices(size)))
