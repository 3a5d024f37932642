"""Ops on ONNX sequences and optionals (their values: see ``workbench.ir.values``).

A sequence is an immutable :class:`ArrayList`: an op that inserts or erases returns another list, whose elements are the
same arrays. An optional with a value is that value itself; one without is :data:`NOTHING`. The graph does not type the
elements, so ops that take one out have its type in ``dtype`` and ``shape`` (sizes below 0 are unknown). Source:
https://onnx.ai/onnx/operators/.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from workbench.errors import ExecutionError, TypeMismatchError
from workbench.frontends.onnx.collect import FAMILY
from workbench.ir.opspec import REGISTRY, OpSpec
from workbench.ir.types import ANY, OPAQUE, UNKNOWN, TensorType, numpy_dtype
from workbench.ir.values import NOTHING, ArrayList, Nothing, array_list

SOURCE = "https://onnx.ai/onnx/operators/onnx__"
_OPAQUE = TensorType(OPAQUE, None)
Attrs = Mapping[str, Any]


def element_type(attrs: Attrs) -> TensorType:
    """The declared type of the value that an op takes out of a list or an optional."""
    shape = attrs.get("shape")
    return TensorType(attrs.get("dtype", ANY), None if shape is None else tuple(None if d < 0 else d for d in shape))


def type_attrs(known: TensorType) -> dict[str, Any]:
    """A type as the attributes ``dtype`` and ``shape``."""
    shape = None if known.shape is None else tuple(-1 if d is None else d for d in known.shape)
    return {"dtype": known.dtype, "shape": shape}


def _need(value: Any, kind: type, what: str) -> Any:
    if not isinstance(value, kind):
        raise ExecutionError(
            f"A {what} is expected, but got {type(value).__name__}.",
            slug="wrong-dtype",
            fix="make one with sequence_construct, or take the value out of its optional first.",
        )
    return value


def _position(arrays: Sequence[Any], index: int, count: int, last: int) -> int:
    """Input ``index`` as a position from 0 to ``last`` of a list of ``count`` elements; negative positions count from
    the end.
    """
    at = np.asarray(arrays[index])
    if at.size != 1:
        raise ExecutionError(
            f"A position is one number, but its shape is {list(at.shape)}.", slug="wrong-shape", fix="give a scalar."
        )
    found = int(at.reshape(()))
    if not -count <= found <= last:
        raise ExecutionError(
            f"A list of {count} elements has no position {found}.",
            slug="out-of-range",
            fix="look at the list's length where the position is computed.",
        )
    return found + count if found < 0 else found


def _insert(arrays: Sequence[Any], attrs: Attrs) -> tuple[Any, ...]:
    items, value = _need(arrays[0], ArrayList, "sequence"), arrays[1]
    at = _position(arrays, 2, len(items), len(items)) if len(arrays) > 2 else len(items)
    if at == len(items):
        return (items.appended(value),)  # shares the buffer, so that appending in a loop takes linear time
    (new,) = array_list([value])
    together = [*items[:at], new, *items[at:]]
    return (ArrayList(together, len(together)),)


def _erase(arrays: Sequence[Any], attrs: Attrs) -> tuple[Any, ...]:
    items = _need(arrays[0], ArrayList, "sequence")
    if not len(items):
        raise ExecutionError(
            "Nothing can be erased from an empty list.", slug="out-of-range", fix="ask for its length before, in an If."
        )
    at = _position(arrays, 1, len(items), len(items) - 1) if len(arrays) > 1 else len(items) - 1
    left = [*items[:at], *items[at + 1 :]]
    return (ArrayList(left, len(left)),)


def _at(arrays: Sequence[Any], attrs: Attrs) -> tuple[Any, ...]:
    items = _need(arrays[0], ArrayList, "sequence")
    return (items[_position(arrays, 1, len(items), len(items) - 1)],)


def _fill(arrays: Sequence[Any], attrs: Attrs) -> tuple[Any, ...]:
    items, missing = _need(arrays[0], ArrayList, "sequence"), int(np.asarray(arrays[1])) - len(arrays[0])
    if missing <= 0:
        return (items,)
    known = element_type(attrs)
    like = items[0] if len(items) else np.zeros([d or 0 for d in known.shape or ()], numpy_dtype(known.dtype))
    (zero,) = array_list([np.zeros_like(like)])
    together = [*items, *[zero] * missing]
    return (ArrayList(together, len(together)),)


def _concat(arrays: Sequence[Any], attrs: Attrs) -> tuple[Any, ...]:
    items = list(_need(arrays[0], ArrayList, "sequence"))
    if not items:
        raise ExecutionError(
            "An empty list cannot be joined to one array.", slug="wrong-shape", fix="put an element into it first."
        )
    join = np.stack if attrs.get("new_axis", False) else np.concatenate
    try:
        return (join(items, axis=attrs["axis"]),)
    except ValueError as error:  # with NumPy's message: different shapes, or an axis out of range
        raise ExecutionError(
            f"The elements cannot be joined: {error}.", slug="wrong-shape", fix="make their other sizes equal."
        ) from None


def _split(arrays: Sequence[Any], attrs: Attrs) -> tuple[Any, ...]:
    x, axis = arrays[0], attrs.get("axis", 0)
    if not -x.ndim <= axis < x.ndim:
        raise ExecutionError(
            f"An array of rank {x.ndim} has no axis {axis}.", slug="wrong-attr", fix="name an axis that it has."
        )
    size = x.shape[axis]
    if len(arrays) < 2:
        parts = [np.take(x, i, axis) if not attrs.get("keepdims", True) else np.take(x, [i], axis) for i in range(size)]
        return (array_list(parts),)
    split = np.asarray(arrays[1])
    if split.ndim == 0 and split > 0:
        ends = list(range(int(split), size, int(split)))
    elif split.ndim == 1 and (split >= 0).all() and int(split.sum()) == size:
        ends = np.cumsum(split)[:-1].tolist()
    else:
        raise ExecutionError(
            f"An axis of size {size} cannot be split into {split.tolist()}.",
            slug="wrong-shape",
            fix="give one size above 0, or sizes whose sum is that of the axis.",
        )
    return (array_list(np.split(x, ends, axis)),)


def _has(arrays: Sequence[Any], attrs: Attrs) -> tuple[Any, ...]:
    return (np.asarray(bool(arrays) and not isinstance(arrays[0], Nothing)),)


def _get(arrays: Sequence[Any], attrs: Attrs) -> tuple[Any, ...]:
    if isinstance(arrays[0], Nothing):
        raise ExecutionError(
            "The optional has no value.", slug="no-value", fix="ask optional_has_element before, in an If."
        )
    return (arrays[0],)


def _list_first(result: TensorType | None) -> Any:
    """Inference of an op whose first input is a list; without ``result`` the attrs give the type."""

    def infer(types: Sequence[TensorType], attrs: Attrs, values: Sequence[Any]) -> tuple[TensorType, ...]:
        if types and types[0].dtype not in (OPAQUE, ANY):
            raise TypeMismatchError(
                f"A sequence is expected, but got {types[0]}.", slug="wrong-dtype", fix="make one of it first."
            )
        return (result or element_type(attrs),)

    return infer


def _same(types: Sequence[TensorType], attrs: Attrs, values: Sequence[Any]) -> tuple[TensorType, ...]:
    return (types[0] if types and types[0].dtype == OPAQUE else UNKNOWN,)


def _gives(result: TensorType | None) -> Any:
    return lambda types, attrs, values: (result or element_type(attrs),)


def _register(name: str, inputs: str, infer: Any, evaluate: Any, theirs: str, doc: str, **attrs: Any) -> None:
    if name not in REGISTRY:
        REGISTRY.register(
            OpSpec(
                name, tuple(inputs.split()), ("output",), infer, evaluate, doc, FAMILY, f"{SOURCE}{theirs}.html", attrs
            )
        )


_register(
    "sequence_construct",
    "*values",
    _gives(_OPAQUE),
    lambda arrays, attrs: (array_list(arrays),),
    "SequenceConstruct",
    "The list of the inputs.",
)
_register(
    "sequence_insert",
    "sequence value position?",
    _list_first(_OPAQUE),
    _insert,
    "SequenceInsert",
    "The list with a value before `position`, or at its end.",
)
_register(
    "sequence_erase",
    "sequence position?",
    _list_first(_OPAQUE),
    _erase,
    "SequenceErase",
    "The list without the element at `position`, or without its last one.",
)
_register(
    "sequence_at",
    "sequence position",
    _list_first(None),
    _at,
    "SequenceAt",
    "The element at `position`.",
    dtype=ANY,
    shape=None,
)
_register(
    "sequence_length",
    "sequence",
    _list_first(TensorType("int64", ())),
    lambda arrays, attrs: (np.asarray(len(_need(arrays[0], ArrayList, "sequence")), np.int64),),
    "SequenceLength",
    "The number of elements.",
)
_register(
    "sequence_fill",
    "sequence count",
    _list_first(_OPAQUE),
    _fill,
    "Scan",
    "The list with zeros like its first element after the last, so that it has at least `count` elements.",
    dtype=ANY,
    shape=None,
)
_register(
    "sequence_concat",
    "sequence",
    _list_first(None),
    _concat,
    "ConcatFromSequence",
    "The elements one after the other along `axis`, or side by side on it if it is a new one.",
    axis=None,
    new_axis=False,
    dtype=ANY,
    shape=None,
)
_register(
    "sequence_split",
    "x split?",
    _gives(_OPAQUE),
    _split,
    "SplitToSequence",
    "x cut along `axis` into parts of these sizes, of one size (the last may be smaller), or into slices, which "
    "lose the axis without `keepdims`.",
    axis=0,
    keepdims=True,
)
_register(
    "optional_value",
    "value?",
    _same,
    lambda arrays, attrs: (arrays[0] if arrays else NOTHING,),
    "Optional",
    "An optional that holds the value; without one, an optional that holds nothing.",
)
_register(
    "optional_has_element",
    "optional?",
    _gives(TensorType("bool", ())),
    _has,
    "OptionalHasElement",
    "True if the optional holds a value, or if the input is not an optional.",
)
_register(
    "optional_get_element",
    "optional",
    _gives(None),
    _get,
    "OptionalGetElement",
    "The value that the optional holds.",
    dtype=ANY,
    shape=None,
)
