"""Templates of variables at branches and loops: the parts of an object that are values, with their types.

A template is created from the object that a variable holds (:func:`template_of`); two templates are united where two
paths meet (:func:`unite`); ``pytree_leaves`` extracts the values of an object, and puts others in their place. Rules
for numbers: a Python number widens from bool to int, float and complex, and a known number must be the same afterwards;
combined with a NumPy value it takes the dtype of that value, as in NumPy 2 (NEP 50,
https://numpy.org/neps/nep-0050-scalar-promotion.html).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.frontends.python.objects import ArrayCell, ArrayView, Cell, DictCell, ListCell, Missing
from workbench.frontends.python.values.numbers import PyNumber
from workbench.ir.builder.value import Value
from workbench.ir.types import ANY, OPAQUE, STRING, TensorType, dtype_name, numpy_dtype
from workbench.text import harmless

if TYPE_CHECKING:
    from workbench.frontends.python.engine import Engine

PYTHON_DTYPES = {bool: "bool", int: "int64", float: "float64", complex: "complex128"}
_RANKS = list(PYTHON_DTYPES.values())
_WEAK = {"bool": False, "int64": 0, "float64": 0.0, "complex128": 0j}


class Conflict(Exception):
    """Two objects that cannot be one variable; the message continues after "it is"."""


@dataclass(frozen=True)
class Leaf:
    """A value. ``python``: a Python number; ``array``: an array with an identity."""

    type: TensorType
    python: bool = False
    array: bool = False

    @harmless
    def __str__(self) -> str:
        if self.python:
            return f"a Python {next(k.__name__ for k, d in PYTHON_DTYPES.items() if d == self.type.dtype)}"
        return f"{'an array' if self.array else 'a NumPy scalar'} {self.type}"


@dataclass(frozen=True, eq=False)
class Fixed:
    """The same object on all paths: a static, or a cell with its identity."""

    value: Any

    @harmless
    def __str__(self) -> str:
        value = self.value
        if isinstance(value, Cell):
            return {"ListCell": "a list", "DictCell": "a dict"}.get(type(value).__name__, "an array")
        if value is None or type(value) in (bool, int, float, complex, str):
            return repr(value)[:60]
        return f"a {type(value).__name__}"


@dataclass(frozen=True, eq=False)
class Many:
    """A tuple, list or dict with these items."""

    kind: str
    items: tuple[Any, ...]
    keys: tuple[Any, ...] = ()

    @harmless
    def __str__(self) -> str:
        return f"a {self.kind} of {len(self.items)}"


@dataclass(frozen=True, eq=False)
class Gone:
    """No value on some path."""

    missing: Missing

    def __str__(self) -> str:
        return "nothing"


Template = Leaf | Fixed | Many | Gone


def template_of(engine: Engine, thing: Any) -> Template:
    if isinstance(thing, Missing):
        return Gone(thing)
    if isinstance(thing, Value):
        return Leaf(thing.type, isinstance(thing, PyNumber))
    if isinstance(thing, (ArrayCell, ArrayView)):
        content = engine.content(thing)
        return Leaf(content.type if isinstance(content, Value) else TensorType.of(content), array=True)
    if isinstance(thing, ListCell):
        return Many("list", tuple(template_of(engine, i) for i in engine.heap[thing]))
    if isinstance(thing, DictCell):
        pairs = engine.heap[thing]
        return Many("dict", tuple(template_of(engine, i) for _, i in pairs), tuple(k for k, _ in pairs))
    if type(thing) is tuple:
        return Many("tuple", tuple(template_of(engine, i) for i in thing))
    return Fixed(thing)


def is_number(thing: Any) -> bool:
    return type(thing) in PYTHON_DTYPES or isinstance(thing, (np.generic, np.ndarray)) and thing.dtype.kind in "biufc"


def leaf_of(static: Any) -> Leaf:
    """The leaf for a known number."""
    if type(static) in PYTHON_DTYPES:
        return Leaf(TensorType(PYTHON_DTYPES[type(static)], ()), python=True)
    return Leaf(TensorType(dtype_name(static.dtype), tuple(static.shape)), array=bool(static.ndim))


def identical(a: Any, b: Any) -> bool:
    """True if two statics cannot be distinguished."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if type(a) in (bool, int, str, bytes, slice):
        return bool(a == b)
    if type(a) in (float, complex):
        return repr(a) == repr(b)
    if isinstance(a, np.generic) or isinstance(a, np.dtype):
        return bool(a.dtype == b.dtype and a.tobytes() == b.tobytes()) if isinstance(a, np.generic) else bool(a == b)
    return type(a) is range and a == b


def unite(a: Template, b: Template) -> Template:
    """The template for both; raises Conflict."""
    if isinstance(a, Gone) or isinstance(b, Gone):
        return a if isinstance(a, Gone) else b
    if isinstance(a, Fixed) and isinstance(b, Fixed):
        if identical(a.value, b.value):
            return a
        if is_number(a.value) and is_number(b.value):
            return _numbers(leaf_of(a.value), leaf_of(b.value), (a.value, b.value))
        raise Conflict(f"{a} and {b}")
    if isinstance(a, Fixed) and isinstance(b, Leaf) and is_number(a.value):
        return _numbers(leaf_of(a.value), b, (a.value, None))
    if isinstance(b, Fixed) and isinstance(a, Leaf) and is_number(b.value):
        return _numbers(a, leaf_of(b.value), (None, b.value))
    if isinstance(a, Leaf) and isinstance(b, Leaf):
        return _numbers(a, b, (None, None))
    if isinstance(a, Many) and isinstance(b, Many) and a.kind == b.kind and len(a.items) == len(b.items):
        if len(a.keys) == len(b.keys) and all(map(identical, a.keys, b.keys)):
            return Many(a.kind, tuple(map(unite, a.items, b.items)), a.keys)
    raise Conflict(f"{a} and {b}")


def _numbers(a: Leaf, b: Leaf, known: tuple[Any, Any]) -> Leaf:
    one, two = a.type.dtype, b.type.dtype
    if a.python and b.python:
        dtype = max(one, two, key=_RANKS.index)
    elif one == two or ANY in (one, two):
        dtype = one if one == two else ANY
    elif OPAQUE in (one, two) or STRING in (one, two) or not (a.python or b.python):
        raise Conflict(f"{a} and {b}")
    else:
        other, weak = (two, one) if a.python else (one, two)
        dtype = dtype_name(np.result_type(numpy_dtype(other), _WEAK[weak]))
    for value in known:
        if value is not None and dtype != ANY and not _fits(value, dtype):
            raise Conflict(f"{value!r} and {b if value is known[0] else a}, and {value!r} is no {dtype}")
    shape = TensorType(dtype, a.type.shape).join(TensorType(dtype, b.type.shape)).shape
    return Leaf(TensorType(dtype, shape), a.python and b.python, a.array or b.array)


def _fits(value: Any, dtype: str) -> bool:
    if isinstance(value, np.ndarray) or dtype == dtype_name(np.asarray(value).dtype if type(value) is not int else int):
        return type(value) is not int or -(2**63) <= value < 2**63
    try:
        with np.errstate(all="ignore"):
            kept = np.asarray(value).astype(numpy_dtype(dtype))
        return bool(kept == value) or value != value
    except (OverflowError, ValueError, TypeError):
        return False


def equal(a: Template, b: Template) -> bool:
    """True if two templates are the same."""
    if isinstance(a, Fixed) and isinstance(b, Fixed):
        return identical(a.value, b.value)
    if isinstance(a, Many) and isinstance(b, Many):
        return a.kind == b.kind and len(a.items) == len(b.items) and all(map(equal, a.items, b.items))
    return isinstance(a, Leaf) and a == b or isinstance(a, Gone) and isinstance(b, Gone)


__all__ = ["Conflict", "Fixed", "Gone", "Leaf", "Many", "Template", "equal", "identical", "template_of", "unite"]
