"""NumPy functions on handles: operands become arrays, the typed kernel or NumPy computes, results become handles.

A ufunc is computed by ``workbench.kernels.call`` if this build has a kernel for it, as in a run of a graph; so handles
give the same results as graphs. Combinations of op and dtypes without a kernel are cached.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.arrays.buffers import Handle, Origin, call_site, owned
from workbench.errors import ManagerError
from workbench.kernels.typed import MissingKernel, call
from workbench.kernels.types.ops import OPS

#: NumPy's name of a ufunc -> the workbench's, where they differ
_NAMES = {"absolute": "abs", "conjugate": ""}
#: combinations of op and dtypes without a kernel; bounded, as fixed-width strings have any number of dtypes
_WITHOUT: set[tuple[Any, ...]] = set()
_MAX_WITHOUT = 4096


def plain(value: Any) -> Any:
    """The value with read-only arrays in place of handles, also in tuples, lists and dicts."""
    if isinstance(value, Handle):
        return value._ledger.read(value._key)
    if type(value) in (list, tuple):
        return type(value)(plain(v) for v in value)
    if type(value) is dict:
        return {k: plain(v) for k, v in value.items()}
    return value


def _first(value: Any) -> Any:
    """The first handle in a value, or None."""
    if isinstance(value, Handle):
        return value
    inside = value if type(value) in (list, tuple) else value.values() if type(value) is dict else ()
    return next((found for v in inside if (found := _first(v)) is not None), None)


def result(first: Any, op: str, value: Any) -> Any:
    """A result with handles of the first operand's owner in place of arrays and NumPy's numbers."""
    if isinstance(value, np.ndarray | np.generic):
        ledger = first._ledger
        buffer = ledger.buffer(first._key)
        scope, array = buffer.scope, buffer.array
        if scope is None:  # just released by another thread
            array = ledger.read(first._key)
        return type(first)(*ledger.make(owned(value, array), scope, Origin(op, call_site())), ledger)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(result(first, op, v) for v in value))
    if type(value) in (list, tuple):
        return type(value)(result(first, op, v) for v in value)
    return value


def ufunc(function: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A ufunc, or its ``reduce``, ``accumulate``, ``outer`` ...; ``out`` may be handles."""
    if method == "at":
        raise ManagerError(
            f"np.{function.__name__}.at writes into its operand, and arrays behind handles do not change.",
            slug="in-place",
            fix="work on handle.numpy() and make an array of the result.",
        )
    out = kwargs.pop("out", ())
    first = _first([*inputs, *out, *kwargs.values()])
    arrays = [plain(x) for x in inputs]
    kwargs = plain(kwargs)
    if out:
        return _into(function, method, arrays, kwargs, out, first)
    computed = _typed(function, arrays) if method == "__call__" and not kwargs else None
    if computed is None:
        computed = getattr(function, method)(*arrays, **kwargs)
    return result(first, function.__name__, computed)


def _into(function: np.ufunc, method: str, arrays: list[Any], kwargs: dict[str, Any], out: Any, first: Any) -> Any:
    """With ``out``: write into fresh arrays that then take the handles' keys, or into plain arrays as NumPy does."""
    fresh = tuple(np.array(plain(o)) if isinstance(o, Handle) else o for o in out)
    computed = getattr(function, method)(*arrays, out=fresh, **kwargs)
    for handle, array in zip(out, fresh, strict=True):
        if isinstance(handle, Handle):
            array.flags.writeable = False
            handle._ledger.replace(handle._key, array)
    if len(out) == 1:
        return out[0] if out[0] is not None else result(first, function.__name__, computed)
    return tuple(
        o if o is not None else result(first, function.__name__, c) for o, c in zip(out, computed, strict=True)
    )


def _typed(function: np.ufunc, arrays: list[Any]) -> np.ndarray | None:
    """The result of the compiled kernel; None if there is none."""
    name = function.__name__
    op = _NAMES.get(name, name)
    row = OPS.get(op)
    if row is None or row.inputs != len(arrays) or function.nout != 1 or getattr(np, name, None) is not function:
        return None
    return _kernel(op, arrays)


def _kernel(op: str, arrays: list[Any], **options: Any) -> np.ndarray | None:
    kinds = (op, *(a.dtype if isinstance(a, np.ndarray) else type(a) for a in arrays))
    if kinds in _WITHOUT:
        return None
    try:
        return call(op, *arrays, strict=True, **options)
    except MissingKernel:
        if len(_WITHOUT) >= _MAX_WITHOUT:
            _WITHOUT.clear()
        _WITHOUT.add(kinds)
        return None


def reduction(handle: Any, op: str, axis: Any, keepdims: bool) -> Any:
    """sum, mean, max or min of a handle along one axis, or over all by the compiled kernel."""
    array = plain(handle)
    computed = None
    if not keepdims and (axis is None or isinstance(axis, int)):
        computed = _kernel(op, [array], axis=axis)
    if computed is None:
        computed = getattr(np, op)(array, axis=axis, keepdims=keepdims)
    return result(handle, op, computed)


def function(func: Any, args: Any, kwargs: Any) -> Any:
    """Call a NumPy function other than a ufunc, with handles anywhere in its arguments."""
    first = _first([*args, *kwargs.values()])
    given = [plain(a) for a in args]
    computed = func(*given, **{k: plain(v) for k, v in kwargs.items()})
    return result(first, func.__name__, computed)
