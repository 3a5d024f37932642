"""Element by element: operands are cast to the dtypes of NumPy's own loop, then the standard function is called."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.device import semantics
from workbench.device.rules.rule import Rule, RuleNode, single
from workbench.device.semantics import as_number, is_number
from workbench.ir.types import numpy_dtype

#: op -> (function of the namespace, kinds of the dtypes in which it works). Functions outside the standard are used if
#: the library has them.
FUNCTIONS: dict[str, tuple[str, str]] = {
    **{name: (name, "iuf") for name in ("add", "subtract", "multiply", "negative", "positive", "abs", "square", "sign",
                                        "maximum", "minimum")},
    **{name: (name, "biuf") for name in ("equal", "not_equal")},
    **{name: (name, "iuf") for name in ("less", "less_equal", "greater", "greater_equal")},
    **{name: (name, "f") for name in ("divide", "sqrt", "exp", "expm1", "log", "log1p", "log2", "log10", "sin", "cos",
                                      "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh",
                                      "atanh", "logaddexp", "hypot", "nextafter", "reciprocal", "floor", "ceil",
                                      "trunc", "isnan", "isinf", "isfinite", "signbit", "cbrt", "exp2", "fmod", "fmax",
                                      "fmin")},
    "power": ("pow", "f"),
    **{name: (name, "iu") for name in ("floor_divide", "remainder")},
    **{name: (name, "biu") for name in ("bitwise_and", "bitwise_or", "bitwise_xor")},
    "invert": ("bitwise_invert", "iu"),
    "left_shift": ("bitwise_left_shift", "iu"),
    "right_shift": ("bitwise_right_shift", "iu"),
    **{name: (name, "b") for name in ("logical_and", "logical_or", "logical_xor", "logical_not")},
}  # fmt: skip
#: constant exponents for which NumPy's power loop multiplies or takes a root instead
SPECIAL_POWERS = (-1.0, 0.0, 0.5, 1.0, 2.0)


def elementwise_rule(node: RuleNode) -> Rule | None:
    """The rule of an element-wise op, a cast, or a selection; None if there is none."""
    if len(node.outs) != 1:
        return None
    if node.op == "cast":
        return _cast(node)
    if node.op == "where" and len(node.ins) == 3:
        return _where(node)
    if node.op not in FUNCTIONS or not node.plain("dtype") or node.spec.ufunc is None:
        return None
    name, kinds = FUNCTIONS[node.op]
    work = _working(node)
    if work is None or any(d.kind not in kinds for d in work) or not hasattr(node.space.xp, name):
        return None
    rule = None if node.space.native else semantics.RULES.get(node.op)
    shape, function = node.out, getattr(node.space.xp, name)
    dtypes = [getattr(node.space.xp, dtype.name) for dtype in work]  # NumPy resolves a name more slowly than a sum
    if rule is None and all(t.shape and numpy_dtype(t.dtype) == d for t, d in zip(node.ins, work, strict=True)):
        return lambda xp, arrays: (
            function(*arrays),
        )  # only arrays, none of which is cast: they broadcast to the result

    def call(xp: Any, arrays: Any) -> Any:
        given = [
            a if not is_number(a) and a.dtype == known else _as(xp, a, dtype)
            for a, dtype, known in zip(arrays, work, dtypes, strict=True)
        ]
        if rule is not None or all(is_plain(g) for g in given):  # rules take only arrays, and a function at least one
            given = [_array(xp, g, dtype) for g, dtype in zip(given, work, strict=True)]
        result = function(*given) if rule is None else rule(xp, *given)
        return result if result.shape == shape else xp.broadcast_to(result, shape)

    return single(call)


def is_plain(value: Any) -> bool:
    """True for a Python number."""
    return isinstance(value, bool | int | float)


def _working(node: RuleNode) -> tuple[np.dtype[Any], ...] | None:
    """The dtypes of NumPy's loop for the inputs; None if its result has another dtype than the node's."""
    ufunc = getattr(np, str(node.spec.ufunc))
    given = [numpy_dtype(t.dtype) for t in node.ins]
    if len(given) != ufunc.nin or ufunc.nout != 1:
        return None
    try:
        found = ufunc.resolve_dtypes((*given, None))
    except TypeError:
        return None
    return found[:-1] if found[-1] == numpy_dtype(node.outs[0].dtype) else None


def _as(xp: Any, value: Any, dtype: np.dtype[Any]) -> Any:
    if is_number(value):
        return as_number(value, dtype)
    wanted = getattr(xp, dtype.name)
    return value if value.dtype == wanted else xp.astype(value, wanted)


def _array(xp: Any, value: Any, dtype: np.dtype[Any]) -> Any:
    return xp.asarray(value, dtype=getattr(xp, dtype.name)) if is_plain(value) else value


def _cast(node: RuleNode) -> Rule | None:
    source, target = node.ins[0].dtype, node.outs[0].dtype
    if not node.plain("dtype") or len(node.ins) != 1 or not node.ins[0].shape:
        return None
    outside = source.startswith("float") and target in semantics.BITS and not node.space.native
    if outside:
        return single(lambda xp, arrays: semantics.cast_to_integer(xp, arrays[0], target))
    return single(lambda xp, arrays: xp.astype(arrays[0], getattr(xp, target), copy=False))


def _where(node: RuleNode) -> Rule | None:
    target, shape = numpy_dtype(node.outs[0].dtype), node.out
    if node.ins[0].dtype != "bool" or not node.plain():
        return None

    def call(xp: Any, arrays: Any) -> Any:
        test = xp.asarray(bool(arrays[0])) if is_number(arrays[0]) else arrays[0]
        sides = [_as(xp, a, target) for a in arrays[1:]]
        result = xp.where(test, *(_array(xp, s, target) for s in sides))
        return result if result.shape == shape else xp.broadcast_to(result, shape)

    return single(call)
