"""Rules of dtype and shape that the op families share.

A violated rule raises :class:`RuleError`, a sentence without the op's name; ``define`` adds the name and turns it into
a :class:`workbench.errors.TypeMismatchError`. Shapes may be partly or wholly unknown: a rule refuses only inputs that
are wrong for all values of the unknown dimensions.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from workbench.ir.types import ANY, NARROW, OPAQUE, STRING, TensorType, broadcast_shapes, dtype_name, numpy_dtype

Shape = tuple[int | None, ...] | None
WRONG_ARITY, WRONG_DTYPE, WRONG_SHAPE, WRONG_ATTR = "wrong-arity", "wrong-dtype", "wrong-shape", "wrong-attr"


class RuleError(Exception):
    """A violated rule: slug, a sentence that follows the op's name, and a fix."""

    def __init__(self, slug: str, sentence: str, fix: str | None = None) -> None:
        self.slug, self.sentence, self.fix = slug, sentence, fix
        super().__init__(sentence)


class _Unseen:
    """The value of an input that is present but not known before the run."""

    def __repr__(self) -> str:
        return "UNSEEN"


UNSEEN: Any = _Unseen()


def kind_of(dtype: str) -> str:
    """NumPy's kind letter of a graph dtype; bfloat16 is "f", narrow "V", strings "S", unknown "?" and opaque "O"."""
    if dtype == ANY:
        return "?"
    if dtype in (STRING, OPAQUE):
        return "S" if dtype == STRING else "O"
    if dtype in NARROW:
        return "V"
    return "f" if dtype == "bfloat16" else numpy_dtype(dtype).kind


def need_kinds(x: TensorType, kinds: str, what: str, wanted: str, fix: str | None = None) -> None:
    """Refuse ``x`` unless its dtype is unknown or of one of NumPy's ``kinds``."""
    kind = kind_of(x.dtype)
    if kind != "?" and kind not in kinds:
        raise RuleError(WRONG_DTYPE, f"takes {wanted} as {what}, but got {x}.", fix or "Cast the input first.")


def need_numbers(types: Sequence[TensorType]) -> None:
    for x in types:
        need_kinds(x, "biufc", "input", "numbers", "Give it a numeric tensor.")


def need_rank(x: TensorType, rank: int, what: str) -> None:
    if x.rank is not None and x.rank != rank:
        wanted = "a scalar" if rank == 0 else f"a tensor of rank {rank}"
        raise RuleError(WRONG_SHAPE, f"takes {wanted} as {what}, but got {x}.", "Reshape the input first.")


def broadcast(*shapes: Shape) -> Shape:
    try:
        return broadcast_shapes(*shapes)
    except ValueError:
        text = " and ".join(show(s) for s in shapes)
        raise RuleError(
            WRONG_SHAPE,
            f"cannot broadcast the shapes {text}.",
            "Make the sizes of each axis equal or 1, counted from the last axis.",
        ) from None


def show(shape: Shape) -> str:
    return "[...]" if shape is None else "[" + ",".join("?" if d is None else str(d) for d in shape) + "]"


@functools.lru_cache(maxsize=4096)
def ufunc_dtypes(ufunc: np.ufunc, *dtypes: str) -> tuple[str, ...]:
    """Output dtypes of a NumPy ufunc; NumPy's own promotion, cached. Raises TypeError if it has no loop."""
    signature = tuple(numpy_dtype(d) for d in dtypes) + (None,) * ufunc.nout
    return tuple(dtype_name(d) for d in ufunc.resolve_dtypes(signature)[ufunc.nin :])


def ufunc_type(ufunc: np.ufunc, types: Sequence[TensorType], result: str | None = None) -> TensorType:
    """Type of the single result of an element-wise ufunc; ``result`` is its dtype if that is fixed."""
    need_numbers(types)
    shape = broadcast(*(x.shape for x in types))
    if any(x.dtype == ANY for x in types):
        return TensorType(result or ANY, shape)
    try:
        return TensorType(ufunc_dtypes(ufunc, *(x.dtype for x in types))[0], shape)
    except TypeError:
        names = " and ".join(x.dtype for x in types)
        raise RuleError(WRONG_DTYPE, f"is not defined for {names}.", "Cast the inputs first.") from None


def promote(types: Sequence[TensorType]) -> str:
    """Common dtype by NumPy's promotion; strings combine with strings only."""
    names = {x.dtype for x in types}
    if OPAQUE in names:
        raise RuleError(WRONG_DTYPE, "takes tensors, but got an opaque value.", "Unpack the value first.")
    if ANY in names:
        return ANY
    if len(names) == 1:
        return names.pop()
    if STRING in names:
        raise RuleError(WRONG_DTYPE, f"cannot join strings with {(names - {STRING}).pop()}.", "Cast the inputs first.")
    try:
        return dtype_name(np.result_type(*(numpy_dtype(n) for n in sorted(names))))  # order matters to bfloat16
    except TypeError:  # bfloat16 with most other dtypes
        text = " and ".join(sorted(names))
        raise RuleError(WRONG_DTYPE, f"finds no common dtype for {text}.", "Cast the inputs first.") from None


def float_dtype(dtype: str) -> str:
    """Dtype of a smooth function's result: floats keep theirs, integers and bools get the result dtype of
    ``np.exp``.
    """
    return ANY if dtype == ANY else ufunc_dtypes(np.exp, dtype)[0]


def attr_dtype(attrs: Mapping[str, Any], key: str = "dtype") -> str:
    """A dtype attr as a dtype name."""
    try:
        return dtype_name(attrs[key])
    except TypeError:
        raise RuleError(WRONG_ATTR, f"has no dtype {attrs[key]!r}.", "Name a dtype such as 'float32'.") from None


def axis_in(axis: int, rank: int | None) -> int:
    """``axis`` as a nonnegative index; a negative one is unchanged if the rank is unknown."""
    axis = int(axis)
    if rank is None:
        return axis
    if not -rank <= axis < rank:
        raise RuleError(WRONG_ATTR, f"has no axis {axis} in a tensor of rank {rank}.", "Give an axis of the tensor.")
    return axis % rank


def axes_in(axes: Sequence[int], rank: int) -> tuple[int, ...]:
    out = tuple(axis_in(a, rank) for a in axes)
    if len(set(out)) != len(out):
        raise RuleError(WRONG_ATTR, f"got the axes {tuple(axes)}, which repeat an axis.", "Name each axis once.")
    return out


def as_ints(value: Any) -> tuple[int, ...]:
    """An int, a sequence of ints or an integer array as a tuple of ints."""
    if isinstance(value, np.ndarray):
        return tuple(int(v) for v in value.reshape(-1))
    return tuple(int(v) for v in value) if isinstance(value, (tuple, list)) else (int(value),)


def setting(attrs: Mapping[str, Any], key: str, types: Sequence, values: Sequence, i: int, default: Any = None) -> Any:
    """Integers from attr ``key`` or input ``i``: a tuple, UNSEEN, or ``default`` if neither is present."""
    given = attrs.get(key)
    if i < len(types):
        if given is not None:
            raise RuleError(WRONG_ATTR, f"got {key!r} both as an attr and as an input.", "Leave one of them out.")
        need_kinds(types[i], "iu", key, "integers")
        if types[i].rank is not None and types[i].rank > 1:
            raise RuleError(WRONG_SHAPE, f"takes a list of integers as {key}, but got {types[i]}.", "Flatten it first.")
        return UNSEEN if values[i] is None else as_ints(values[i])
    return default if given is None else as_ints(given)


def setting_at_run(attrs: Mapping[str, Any], key: str, arrays: Sequence[np.ndarray], i: int) -> Any:
    """The value of :func:`setting` at evaluation: a tuple of ints, or None if neither is present."""
    given = arrays[i] if i < len(arrays) else attrs.get(key)
    return None if given is None else as_ints(given)


def count_of(x: TensorType) -> int | None:
    """Number of integers in a list given as a tensor; a scalar counts as one."""
    return None if x.shape is None else 1 if x.shape == () else x.shape[0]


def dims_of(sizes: Any, x: TensorType | None) -> Shape:
    """Shape described by a setting: its values, or as many unknown dimensions as its type has entries."""
    if sizes is not UNSEEN:
        return tuple(sizes)
    count = None if x is None else count_of(x)
    return None if count is None else (None,) * count


def element_count(shape: Shape) -> int | None:
    if shape is None or None in shape:
        return None
    return int(np.prod([d for d in shape if d is not None], dtype=np.int64))


def working(dtype: np.dtype) -> np.dtype:
    """The dtype in which an op computes before rounding once to ``dtype``: float32 for 16-bit floats, otherwise the
    same.

    8 or 11 bits of precision are too few for sums of many numbers, or for computations of several steps.

    >>> working(np.dtype(np.float16)), working(np.dtype(np.float64))
    (dtype('float32'), dtype('float64'))
    """
    return np.dtype(np.float32) if dtype.itemsize == 2 and dtype.kind not in "iub" else dtype


def widened(x: np.ndarray) -> np.ndarray:
    """``x`` cast to the dtype of :func:`working`."""
    return x.astype(working(x.dtype), copy=False)


def lowest(dtype: np.dtype) -> np.ndarray:
    """The smallest number of a dtype: -inf for floats."""
    if dtype.kind in "biu":
        return np.zeros((), dtype) if dtype.kind == "b" else np.asarray(np.iinfo(dtype).min, dtype)
    return np.asarray(-np.inf, dtype)


def highest(dtype: np.dtype) -> np.ndarray:
    """The greatest number of a dtype: inf for floats."""
    if dtype.kind in "biu":
        return np.ones((), dtype) if dtype.kind == "b" else np.asarray(np.iinfo(dtype).max, dtype)
    return np.asarray(np.inf, dtype)
