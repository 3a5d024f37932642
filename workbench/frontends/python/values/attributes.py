"""Attributes and methods of values: shapes and dtypes are known at capture, methods are calls to NumPy functions."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.errors import UnknownOpError
from workbench.frontends.python.values.numbers import PyNumber, as_kind, python_number
from workbench.frontends.python.values.promotion import known_shape
from workbench.ir.builder.builder import GraphBuilder
from workbench.ir.builder.value import Value
from workbench.ir.types import ANY, numpy_dtype

#: methods of arrays that ``calls`` supports
METHODS = frozenset(
    (
        "all",
        "any",
        "argmax",
        "argmin",
        "argsort",
        "astype",
        "clip",
        "conj",
        "conjugate",
        "copy",
        "cumprod",
        "cumsum",
        "diagonal",
        "dot",
        "flatten",
        "item",
        "max",
        "mean",
        "min",
        "prod",
        "ravel",
        "repeat",
        "reshape",
        "round",
        "squeeze",
        "std",
        "sum",
        "swapaxes",
        "take",
        "trace",
        "transpose",
        "var",
    )
)
#: methods of Python's numbers
NUMBER_METHODS = frozenset(("conjugate", "is_integer", "bit_length", "bit_count"))
_ATTRIBUTES = ("shape", "ndim", "size", "dtype", "T", "mT", "real", "imag", "itemsize", "nbytes", "flat")


@dataclass(frozen=True)
class BoundMethod:
    """``value.name`` if this is a method; ``call`` accepts it as the function."""

    value: Value
    name: str

    @property
    def __name__(self) -> str:
        return self.name


def attribute(builder: GraphBuilder, value: Any, name: str) -> Any:
    """``value.name``. Raises UnknownOpError that lists the supported names."""
    if not isinstance(value, Value):
        return getattr(value, name)
    if isinstance(value, PyNumber):
        return _of_number(builder, value, name)
    if name in METHODS:
        return BoundMethod(value, name)
    if name == "dtype" and value.dtype != ANY:
        return numpy_dtype(value.dtype)
    if name == "ndim":
        return len(known_shape(value, "ndim"))
    if name == "shape":
        dims = known_shape(value, "shape")
        return tuple(d if d is not None else _dimension(builder, value, k) for k, d in enumerate(dims))
    if name == "size":
        dims = known_shape(value, "size")
        if None not in dims:
            return int(np.prod([d for d in dims if d is not None], dtype=np.int64))
        return python_number(builder, builder.op("size", value, dtype="int64"))
    if name == "T":
        return builder.op("transpose", value)
    if name == "mT":
        rank = len(known_shape(value, "mT"))
        return builder.op("transpose", value, perm=(*range(rank - 2), rank - 1, rank - 2))
    if name in ("real", "imag"):
        return builder.op(name, value)
    if name == "itemsize":
        return numpy_dtype(value.dtype).itemsize
    raise unknown_attribute("arrays", name, (*_ATTRIBUTES[:-2], *METHODS))


def _dimension(builder: GraphBuilder, value: Value, axis: int) -> Value:
    sizes = builder.op("shape", value, dtype="int64")
    return python_number(builder, builder.op("getitem", sizes, index=(("int", axis),)))


def _of_number(builder: GraphBuilder, value: PyNumber, name: str) -> Any:
    if name in NUMBER_METHODS:
        return BoundMethod(value, name)
    if name in ("real", "imag"):
        if value.kind is complex:
            return python_number(builder, builder.op(name, value))
        kind = float if value.kind is float else int
        return as_kind(builder, value, kind) if name == "real" else kind(0)
    raise unknown_attribute(f"Python's {value.kind.__name__}", name, ("real", "imag", *NUMBER_METHODS))


def unknown_attribute(owner: str, name: str, known: tuple[str, ...]) -> UnknownOpError:
    """The error for an unknown attribute."""
    near = difflib.get_close_matches(name, known, n=3)
    hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(sorted(known))}."
    return UnknownOpError(f"The attribute {name!r} of {owner} cannot be put into a graph.", fix=hint)
