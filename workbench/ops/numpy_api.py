"""NumPy's functions as op calls, for ``__array_function__`` and ``__array_ufunc__`` of the builder's values.

``numpy_functions[np.sum]`` is ``(op name, adapter)``; ``adapter(args, kwargs)`` returns ``(inputs, attrs)`` for the
builder's ``op``. Inputs may still be arrays or Python scalars, which the builder turns into constants. Arguments
without a counterpart in the op (``out``, ``where``, ``initial`` ...) are refused unless they have their default.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from workbench.errors import TypeMismatchError
from workbench.ir.opspec import REGISTRY
from workbench.ir.types import dtype_name
from workbench.ops.rules import WRONG_ATTR

Adapter = Callable[[Sequence[Any], Mapping[str, Any]], tuple[list[Any], dict[str, Any]]]
#: the registry's own dict, so that the builder, one layer below, finds the entries added here
numpy_functions: dict[Callable, tuple[str, Adapter]] = REGISTRY.numpy_functions

# arguments of NumPy functions that no op has -> values that may be dropped because they have no effect here
_IDLE: dict[str, tuple] = {
    "out": (None,),
    "order": (None, "C", "K"),
    "where": (True,),
    "casting": ("same_kind",),
    "subok": (True, False),
    "shape": (None,),
    "dtype": (None,),
    "device": (None,),
    "kind": (None, "quicksort", "stable"),
    "stable": (None, True),
    "mode": ("raise",),
    "copy": (None, True, False),
}


def ufunc_op(ufunc: np.ufunc) -> str | None:
    """Name of the op that computes a NumPy ufunc, or None."""
    return REGISTRY.ufunc_op(ufunc.__name__)


def _plain(value: Any) -> Any:
    """Attrs hold ints, tuples and dtype names; NumPy also takes lists, NumPy integers and dtype objects."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return tuple(_plain(v) for v in value)
    return value.item() if isinstance(value, np.generic) else value


def _refuse(name: str, argument: str) -> TypeMismatchError:
    return TypeMismatchError(
        f"np.{name} in a graph does not take the argument {argument!r}.",
        slug=WRONG_ATTR,
        fix="Leave it out, or build the result from other ops.",
    )


def _bind(function: Callable, signature: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments by name. An argument whose name begins with "-", or is not in the signature, must have a value of
    ``_IDLE``.
    """
    names = signature.split()
    if len(args) > len(names):
        raise _refuse(function.__name__, f"number {len(names) + 1}")
    bound = dict(zip((n.removeprefix("-") for n in names), args, strict=False)) | dict(kwargs)
    for key, value in list(bound.items()):
        if value is np._NoValue:
            del bound[key]
        elif key not in names:
            idle = _IDLE.get(key, ())
            if not any(value is v or (isinstance(v, str) and isinstance(value, str) and value == v) for v in idle):
                raise _refuse(function.__name__, key)
            del bound[key]
    return bound


def _simple(
    function: Callable,
    op: str,
    signature: str,
    inputs: int = 1,
    renames: Mapping[str, str] | None = None,
    axis_none: bool = True,
) -> None:
    """Register an adapter whose first ``inputs`` arguments are inputs and whose others are attrs (renamed by
    ``renames``).

    With ``axis_none=False`` an axis of None, which means "flattened" to NumPy but not to the op, is refused.
    """
    first = signature.split()[:inputs]
    renames = renames or {}

    def adapter(args, kwargs):
        bound = _bind(function, signature, args, kwargs)
        if not axis_none and bound.get("axis", 0) is None:
            raise _refuse(function.__name__, "axis=None")
        attrs = {renames.get(k, k): _plain(v) for k, v in bound.items() if k not in first and v is not None}
        if "dtype" in attrs:
            attrs["dtype"] = dtype_name(attrs["dtype"])
        return [bound[n] for n in first if n in bound], attrs

    numpy_functions[function] = (op, adapter)


def _special(function: Callable, op: str) -> Callable[[Adapter], Adapter]:
    def put(adapter: Adapter) -> Adapter:
        numpy_functions[function] = (op, adapter)
        return adapter

    return put


def _rank(x: Any, name: str) -> int:
    """Rank of a builder's value (it has ``type``) or of an array; some functions need a known rank."""
    rank = x.type.rank if hasattr(x, "type") else np.ndim(x)
    if rank is None:
        raise TypeMismatchError(f"np.{name} needs a value of known rank.", slug="unknown-rank", fix="Reshape it first.")
    return rank


for _function in (np.sum, np.prod, np.mean):
    _simple(_function, _function.__name__, "a axis dtype -out keepdims")
for _function, _op in (
    (np.max, "max"),
    (np.min, "min"),
    (np.amax, "max"),
    (np.amin, "min"),
    (np.any, "any"),
    (np.all, "all"),
    (np.argmax, "argmax"),
    (np.argmin, "argmin"),
):
    _simple(_function, _op, "a axis -out keepdims")
for _function in (np.var, np.std):
    _simple(_function, _function.__name__, "a axis -dtype -out ddof keepdims")
for _function in (np.cumsum, np.cumprod):
    _simple(_function, _function.__name__, "a axis dtype -out")
for _function in (np.sort, np.argsort):
    _simple(_function, _function.__name__, "a axis -kind -order", axis_none=False)
for _function in (np.zeros_like, np.ones_like):
    _simple(_function, _function.__name__, "a dtype -order")
for _function in (np.round, np.around):
    _simple(_function, "round", "a decimals -out")
for _function in (np.tril, np.triu):
    _simple(_function, _function.__name__, "m k")
_simple(np.where, "where", "condition x y", 3)
_simple(np.isclose, "isclose", "a b rtol atol equal_nan", 2)
_simple(np.real, "real", "val")
_simple(np.imag, "imag", "val")
_simple(np.copy, "Identity", "a -order")
_simple(np.reshape, "reshape", "a shape -order")
_simple(np.ravel, "flatten", "a -order")
_simple(np.transpose, "transpose", "a axes", renames={"axes": "perm"})
_simple(np.expand_dims, "expand_dims", "a axis")
_simple(np.squeeze, "squeeze", "a axis")
_simple(np.broadcast_to, "broadcast_to", "array shape")
_simple(np.tile, "tile", "A reps", renames={"reps": "repeats"})
_simple(np.take_along_axis, "take_along_axis", "arr indices axis", 2, axis_none=False)
_simple(np.flip, "reverse", "m axis")
_simple(np.roll, "roll", "a shift axis")
_simple(np.repeat, "repeat", "a repeats axis")
_simple(np.diagonal, "diagonal", "a offset axis1 axis2")
_simple(np.diag, "diag", "v k")
_simple(np.dot, "dot", "a b -out", 2)
_simple(np.outer, "outer", "a b -out", 2)
_simple(np.tensordot, "tensordot", "a b axes", 2)


@_special(np.clip, "clip")
def _clip(args, kwargs):
    bound = _bind(np.clip, "a a_min a_max -out min max", args, kwargs)
    low, high = bound.get("a_min", bound.get("min")), bound.get("a_max", bound.get("max"))
    if low is None or high is None:
        raise _refuse("clip", "None as a bound (np.maximum and np.minimum cut on one side)")
    return [bound["a"], low, high], {}


@_special(np.take, "gather")
def _take(args, kwargs):
    bound = _bind(np.take, "a indices axis -out -mode", args, kwargs)
    axis = bound.get("axis")
    if axis is None and _rank(bound["a"], "take") != 1:
        raise _refuse("take", "axis=None")
    return [bound["a"], bound["indices"]], {"axis": int(axis or 0)}


@_special(np.linalg.norm, "norm")
def _norm(args, kwargs):
    bound = _bind(np.linalg.norm, "x ord axis keepdims", args, kwargs)
    axis, order = _plain(bound.get("axis")), bound.get("ord")
    # in NumPy an order with two axes means a matrix norm; the op treats the elements as one vector
    over = _rank(bound["x"], "norm") if axis is None else len(axis) if isinstance(axis, tuple) else 1
    if order is not None and over != 1:
        raise _refuse("linalg.norm", "ord (with more than one axis)")
    return [bound["x"]], {"axis": axis, "ord": 2 if order is None else order, "keepdims": bound.get("keepdims", False)}


@_special(np.concatenate, "concat")
def _concatenate(args, kwargs):
    bound = _bind(np.concatenate, "arrays axis -out dtype", args, kwargs)
    if bound.get("axis", 0) is None or bound.get("dtype") is not None:
        raise _refuse("concatenate", "axis=None or dtype")
    return list(bound["arrays"]), {"axis": int(bound.get("axis", 0))}


@_special(np.stack, "stack")
def _stack(args, kwargs):
    bound = _bind(np.stack, "arrays axis -out", args, kwargs)
    return list(bound["arrays"]), {"axis": int(bound.get("axis", 0))}


@_special(np.split, "split")
def _split(args, kwargs):
    """``np.split`` takes a number of parts or the positions of the cuts; ``split`` a number or the sizes."""
    bound = _bind(np.split, "ary indices_or_sections axis", args, kwargs)
    cuts, axis = _plain(bound["indices_or_sections"]), int(bound.get("axis", 0))
    if isinstance(cuts, int):
        return [bound["ary"]], {"axis": axis, "num": cuts}
    edges = (0, *cuts)
    sizes = (*(b - a for a, b in zip(edges, cuts, strict=False)), -1)
    return [bound["ary"]], {"axis": axis, "sizes": sizes}


@_special(np.einsum, "einsum")
def _einsum(args, kwargs):
    if kwargs or not isinstance(args[0], str):
        raise _refuse("einsum", next(iter(kwargs), "list of axes"))
    return list(args[1:]), {"equation": args[0]}


@_special(np.pad, "pad")
def _pad(args, kwargs):
    bound = dict(zip(("array", "pad_width", "mode"), args, strict=False)) | dict(kwargs)
    unknown = set(bound) - {"array", "pad_width", "mode", "constant_values"}
    if unknown:
        raise _refuse("pad", unknown.pop())
    x, widths = bound["array"], np.asarray(bound["pad_width"])
    pairs = np.broadcast_to(widths, (_rank(x, "pad"), 2))
    attrs = {"pad_width": _plain(pairs), "mode": bound.get("mode", "constant")}
    return [x], attrs | ({"value": _plain(bound["constant_values"])} if "constant_values" in bound else {})


@_special(np.swapaxes, "transpose")
def _swapaxes(args, kwargs):
    bound = _bind(np.swapaxes, "a axis1 axis2", args, kwargs)
    perm = list(range(_rank(bound["a"], "swapaxes")))
    i, j = int(bound["axis1"]), int(bound["axis2"])
    perm[i], perm[j] = perm[j], perm[i]
    return [bound["a"]], {"perm": tuple(perm)}


@_special(np.moveaxis, "transpose")
def _moveaxis(args, kwargs):
    bound = _bind(np.moveaxis, "a source destination", args, kwargs)
    rank = _rank(bound["a"], "moveaxis")
    source = [int(s) % rank for s in np.atleast_1d(bound["source"])]
    destination = [int(d) % rank for d in np.atleast_1d(bound["destination"])]
    perm = [i for i in range(rank) if i not in source]
    for to, axis in sorted(zip(destination, source, strict=True)):
        perm.insert(to, axis)
    return [bound["a"]], {"perm": tuple(perm)}
