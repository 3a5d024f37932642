"""Scalar ops of the fast path as C expressions; types/generate.py writes ``scalar_ops.inc`` from them at build time.

Each op becomes one small function for every way in which its operands reach it: from the row in progress (``r``),
from elsewhere by address (``f``: constants and values of enclosing frames), or in the register that the instruction
before left its result in (``a``); see executor/fast_path/scalar_ops.h. Results are NumPy's, bit for bit.
"""

from __future__ import annotations

from collections.abc import Collection

#: dtype -> (C type, letter of the register file that carries it)
SCALAR_TYPES = {
    "bool": ("uint8_t", "q"),
    "int32": ("int32_t", "q"),
    "int64": ("int64_t", "q"),
    "float32": ("float", "s"),
    "float64": ("double", "d"),
}
INTS, FLOATS = ("int32", "int64"), ("float32", "float64")
NUMBERS = (*INTS, *FLOATS)
ORDER = {"equal": "==", "not_equal": "!=", "less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">="}

#: op -> (expression of a and b; result dtype or None for the operands' own; dtypes)
BINARY: dict[str, tuple[str, str | None, tuple[str, ...]]] = {
    "add": ("a + b", None, NUMBERS),
    "subtract": ("a - b", None, NUMBERS),
    "multiply": ("a * b", None, NUMBERS),
    "divide": ("a / b", None, FLOATS),
    "floor_divide": ("wb_floor_divide(a, b)", None, INTS),
    "truncate_divide": ("wb_truncate_divide(a, b)", None, INTS),
    "remainder": ("wb_remainder(a, b)", None, INTS),
    "equal": ("a == b", "bool", ("bool", *NUMBERS)),
    "not_equal": ("a != b", "bool", ("bool", *NUMBERS)),
    "less": ("a < b", "bool", NUMBERS),
    "less_equal": ("a <= b", "bool", NUMBERS),
    "greater": ("a > b", "bool", NUMBERS),
    "greater_equal": ("a >= b", "bool", NUMBERS),
    "logical_and": ("(a != 0) & (b != 0)", "bool", ("bool",)),
    "logical_or": ("(a != 0) | (b != 0)", "bool", ("bool",)),
    "logical_xor": ("(a != 0) != (b != 0)", "bool", ("bool",)),
    "bitwise_and": ("a & b", None, ("bool", *INTS)),
    "bitwise_or": ("a | b", None, ("bool", *INTS)),
    "bitwise_xor": ("a ^ b", None, ("bool", *INTS)),
}

#: (op, operand, result, expression of a)
UNARY: tuple[tuple[str, str, str, str], ...] = (
    *(("negative", t, t, "-a") for t in NUMBERS),
    *(("square", t, t, "a * a") for t in NUMBERS),
    *(("abs", t, t, "a < 0 ? -a : a") for t in INTS),
    ("abs", "float64", "float64", "fabs(a)"),
    ("abs", "float32", "float32", "fabsf(a)"),
    ("sqrt", "float64", "float64", "sqrt(a)"),
    ("sqrt", "float32", "float32", "sqrtf(a)"),
    ("logical_not", "bool", "bool", "a == 0"),
    *(("cast", s, t, "a") for s in ("bool", *INTS) for t in NUMBERS if s != t),
    ("cast", "float32", "float64", "a"),
    ("cast", "float64", "float32", "(float)a"),
)

#: ops with the attr ``checked`` (ops/checked.py), as C conditions that give v and hold where Python must compute it:
#: (op, operands, result, condition). One function for every way of the operands ...
CHECKED: tuple[tuple[str, tuple[str, ...], str, str], ...] = (
    ("add", ("int64", "int64"), "int64", "__builtin_add_overflow(a, b, &v)"),
    ("subtract", ("int64", "int64"), "int64", "__builtin_sub_overflow(a, b, &v)"),
    ("multiply", ("int64", "int64"), "int64", "__builtin_mul_overflow(a, b, &v)"),
    (
        "floor_divide",
        ("int64", "int64"),
        "int64",
        "b == 0 || (b == -1 && a == INT64_MIN) || (v = wb_floor_divide(a, b), 0)",
    ),
    ("remainder", ("int64", "int64"), "int64", "b == 0 || (v = wb_remainder(a, b), 0)"),
    (
        "divide",
        ("int64", "int64"),
        "float64",
        "b == 0 || !wb_exact(a) || !wb_exact(b) || (v = (double)a / (double)b, 0)",
    ),
    ("divide", ("float64", "float64"), "float64", "b == 0 || (v = a / b, 0)"),
    ("negative", ("int64",), "int64", "a == INT64_MIN || (v = -a, 0)"),
    ("abs", ("int64",), "int64", "a == INT64_MIN || (v = a < 0 ? -a : a, 0)"),
    ("cast", ("float64",), "int64", "wb_check_int(a, &v)"),
    ("sqrt", ("float64",), "float64", "!(a >= 0) || (v = sqrt(a), 0)"),
)
#: ... and those that are called by address
CALLED: tuple[tuple[str, tuple[str, ...], str, str], ...] = (
    ("floor_divide", ("float64", "float64"), "float64", "b == 0 || (v = wb_py_floor_divide(a, b), 0)"),
    ("remainder", ("float64", "float64"), "float64", "b == 0 || (v = wb_py_remainder(a, b), 0)"),
    ("power", ("int64", "int64"), "int64", "wb_check_power_int(a, b, &v)"),
    ("power", ("float64", "float64"), "float64", "wb_check_power_float(a, b, &v)"),
    ("left_shift", ("int64", "int64"), "int64", "wb_check_shift(a, b, &v)"),
    ("right_shift", ("int64", "int64"), "int64", "b < 0 || (v = a >> (b > 63 ? 63 : b), 0)"),
    *((op, ("int64", "float64"), "bool", f"!wb_exact(a) || (v = (double)a {c} b, 0)") for op, c in ORDER.items()),
    *((op, ("float64", "int64"), "bool", f"!wb_exact(b) || (v = a {c} (double)b, 0)") for op, c in ORDER.items()),
    *(
        (op, ("float64",), "float64", f"wb_check_finite(a, {op}(a), &v)")
        for op in ("exp", "expm1", "log", "log1p", "log2", "log10", "sin", "cos", "tan", "atan", "tanh")
    ),
)


def render(selected: Collection[tuple[str, tuple[str, ...], str]]) -> str:
    """The lines of ``scalar_ops.inc``: a macro call per op and dtypes that the type profile selects."""
    lines = ["/* Written by types/generate.py; do not edit. */"]
    for op, (expression, result, dtypes) in BINARY.items():
        for dtype in dtypes:
            out = result or dtype
            if (op, (dtype, dtype), out) in selected:
                (c, letter), (rc, rletter) = SCALAR_TYPES[dtype], SCALAR_TYPES[out]
                lines.append(f"WB_SCALAR2({op}_{dtype}_{dtype}_{out}, {c}, {letter}, {rc}, {rletter}, ({expression}))")
    for op, source, target, expression in UNARY:
        if (op, (source,), target) in selected:
            (c, letter), (rc, rletter) = SCALAR_TYPES[source], SCALAR_TYPES[target]
            lines.append(f"WB_SCALAR1({op}_{source}_{target}, {c}, {letter}, {rc}, {rletter}, ({expression}))")
    for macro, table in (("WB_CHECK", CHECKED), ("WB_CALLED", CALLED)):
        for op, sources, target, condition in table:
            letters = [part for s in sources for part in SCALAR_TYPES[s]]
            name = "_".join(("checked", op, *sources, target))
            operands = letters if macro == "WB_CHECK" else letters[::2]
            shown = ", ".join((name, *operands, *SCALAR_TYPES[target], f"({condition})"))
            lines.append(f"{macro}{len(sources)}({shown})")
    return "\n".join(lines) + "\n"
