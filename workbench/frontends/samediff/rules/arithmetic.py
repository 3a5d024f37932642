"""Elementwise arithmetic, functions and comparisons."""

from __future__ import annotations

import numpy as np

from workbench.frontends.samediff.rules.base import (
    OURS,
    FlatRule,
    Parts,
    as_result,
    binary,
    comparison,
    dtype_attr,
    elementwise,
    is_float,
    ours,
    scalar,
    to,
)
from workbench.ir.types import numpy_dtype

_BINARY = {
    "add": "AddV2",
    "subtract": "Sub",
    "sub": "Sub",
    "multiply": "Mul",
    "mul": "Mul",
    "divide": "Div",
    "div": "Div",
    "realdiv": "RealDiv",
    "truncatediv": "TruncateDiv",
    "floordiv": "FloorDiv",
    "floormod": "FloorMod",
    "mod": "Mod",
    "fmod": "Mod",
    "squaredsubtract": "SquaredDifference",
    "squareddifference": "SquaredDifference",
    "maximum": "Maximum",
    "minimum": "Minimum",
    "Pow": "Pow",
    "tf_atan2": "Atan2",
    "divide_no_nan": "DivNoNan",
    "nextafter": "NextAfter",
    "igamma": "Igamma",
    "igammac": "Igammac",
    "bitwise_and": "BitwiseAnd",
    "bitwise_or": "BitwiseOr",
    "bitwise_xor": "BitwiseXor",
    "shift_bits": "LeftShift",
    "rshift_bits": "RightShift",
    "zeta": "Zeta",
    "polygamma": "Polygamma",
}
_TURNED = {"reversesubtract": "Sub", "reversedivide": "Div", "reversemod": "Mod"}
_COMPARISONS = {
    "equals": "Equal",
    "eq": "Equal",
    "not_equals": "NotEqual",
    "neq": "NotEqual",
    "less": "Less",
    "lt": "Less",
    "less_equal": "LessEqual",
    "lte": "LessEqual",
    "greater": "Greater",
    "gt": "Greater",
    "greater_equal": "GreaterEqual",
    "gte": "GreaterEqual",
    "greaterthan": "Greater",
    "lessthan": "Less",
}
_LOGIC = {
    "boolean_and": "LogicalAnd",
    "and": "LogicalAnd",
    "boolean_or": "LogicalOr",
    "or": "LogicalOr",
    "boolean_xor": "LogicalXor",
    "xor": "LogicalXor",
    "boolean_not": "LogicalNot",
    "not": "LogicalNot",
    "bool_not": "LogicalNot",
}
_FUNCTIONS = {
    "neg": "Neg",
    "abs": "Abs",
    "sign": "Sign",
    "square": "Square",
    "reciprocal": "Reciprocal",
    "floor": "Floor",
    "ceil": "Ceil",
    "rint": "Rint",
    "sqrt": "Sqrt",
    "rsqrt": "Rsqrt",
    "exp": "Exp",
    "expm1": "Expm1",
    "log": "Log",
    "log1p": "Log1p",
    "sin": "Sin",
    "cos": "Cos",
    "tan": "Tan",
    "asin": "Asin",
    "acos": "Acos",
    "atan": "Atan",
    "sinh": "Sinh",
    "cosh": "Cosh",
    "tanh": "Tanh",
    "asinh": "Asinh",
    "acosh": "Acosh",
    "atanh": "Atanh",
    "sigmoid": "Sigmoid",
    "softplus": "Softplus",
    "softsign": "Softsign",
    "elu": "Elu",
    "selu": "Selu",
    "erf": "Erf",
    "erfc": "Erfc",
    "lgamma": "Lgamma",
    "digamma": "Digamma",
    "identity": "Identity",
    "linear": "Identity",
    "old_identity": "Identity",
    "stop_gradient": "StopGradient",
}
_TESTS = {"isnan": "IsNan", "isinf": "IsInf", "isfinite": "IsFinite"}
_SCALARS = {
    "add_scalar": "AddV2",
    "sub_scalar": "Sub",
    "mul_scalar": "Mul",
    "div_scalar": "Div",
    "fdiv_scalar": "FloorDiv",
    "fmod_scalar": "Mod",
    "max_scalar": "Maximum",
    "min_scalar": "Minimum",
    "pow": "Pow",
    "pow_scalar": "Pow",
}
_SCALAR_COMPARISONS = {
    "equals_scalar": "Equal",
    "eq_scalar": "Equal",
    "notequals_scalar": "NotEqual",
    "lessthan_scalar": "Less",
    "lessthanorequal_scalar": "LessEqual",
    "greaterthan_scalar": "Greater",
    "greaterthanorequal_scalar": "GreaterEqual",
}


def _power(p: Parts) -> bool:
    """Power of two arrays, or of one array and the op's scalar argument."""
    return binary("Pow")(p) if p.has(2) else scalar("Pow")(p)


def _one_minus(p: Parts) -> bool:
    dtype = p.dtypes[0] or p.out_dtype("float32")
    return p.has(1) and p.result("Sub", p.value("one", 1, str(dtype)), p.inputs[0])


def _cube(p: Parts) -> bool:
    return p.has(1) and p.result("Mul", p.add("square", "Square", p.inputs[0]), p.inputs[0])


def _cast(p: Parts) -> bool:
    dtype = p.stated_dtype()
    return p.has(1) and dtype is not None and p.result("Cast", p.inputs[0], DstT=dtype_attr(dtype))


def _clip(p: Parts) -> bool:
    """Clip to two float arguments of the op, or to two inputs."""
    if p.has(3):
        return p.result("ClipByValue", *p.inputs[:3])
    dtype = p.dtypes[0] or p.out_dtype()
    if not p.has(1) or len(p.node.floats) < 2 or dtype is None or dtype == "string":
        return False
    low, high = (np.asarray(v).astype(numpy_dtype(dtype)) for v in p.node.floats[:2])
    return p.result("ClipByValue", p.inputs[0], p.value("low", low, dtype), p.value("high", high, dtype))


def _round(p: Parts) -> bool:
    """Round halves away from zero, as C's roundf; rint rounds them to even."""
    dtype = p.dtypes[0]
    if not p.has(1) or dtype is None:
        return False
    x = p.inputs[0]
    if not is_float(dtype):
        return p.result("Identity", x)
    whole = p.add("whole", f"{OURS}trunc", x)
    rest = p.add("rest", "Abs", p.add("part", "Sub", x, whole))
    far = p.add("far", "GreaterEqual", rest, p.value("half", 0.5, dtype))
    return p.result("SelectV2", far, p.add("next", "AddV2", whole, p.add("sign", "Sign", x)), whole)


def _log_base(p: Parts) -> bool:
    """log(x) / log(base)."""
    found = p.node.scalar
    dtype = p.out_dtype()
    if found is None or found.size != 1 or found.dtype == object or not is_float(dtype) or not p.has(1):
        return False
    base = np.log(float(found.reshape(())))
    x = p.add("log", "Log", as_result(p, p.inputs[0], p.dtypes[0]))
    return p.result("Div", x, p.value("base", base, str(dtype)))


RULES: dict[str, FlatRule] = {
    **{name: binary(op) for name, op in _BINARY.items()},
    **{name: binary(op, turned=True) for name, op in _TURNED.items()},
    **{name: comparison(op) for name, op in _COMPARISONS.items()},
    **{name: to(op, 2) for name, op in _LOGIC.items()},
    **{name: elementwise(op) for name, op in _FUNCTIONS.items()},
    **{name: to(op, 1) for name, op in _TESTS.items()},
    **{name: scalar(op) for name, op in _SCALARS.items()},
    **{name: scalar(op, compares=True) for name, op in _SCALAR_COMPARISONS.items()},
    "rsub_scalar": scalar("Sub", turned=True),
    "rdiv_scalar": scalar("Div", turned=True),
    "pow": _power,
    "oneminus": _one_minus,
    "cube": _cube,
    "cast": _cast,
    "clipbyvalue": _clip,
    "ClipByValue": _clip,
    "log_x": _log_base,
    "round": _round,
    "mergeadd": to("AddN"),
    "accumulate_n": to("AddN"),
    "mergesum": to("AddN"),
    "cbrt": ours("cbrt", 1),
}
