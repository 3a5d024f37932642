"""The table of scalar kernels: op -> C expression and the dtypes it is rendered for. Read by generate.py at build time.

Only what is exactly NumPy's result bit for bit stands here: correctly rounded arithmetic, wrapping integers,
comparisons, logic and safe casts. Everything else runs through NumPy's own inner loops, which the executor calls
directly.
"""

from __future__ import annotations

C_TYPES = {
    "bool": "unsigned char", "int8": "signed char", "int16": "short", "int32": "int", "int64": "long long",
    "uint8": "unsigned char", "uint16": "unsigned short", "uint32": "unsigned int", "uint64": "unsigned long long",
    "float32": "float", "float64": "double",
}  # fmt: skip
SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTS = SIGNED + UNSIGNED
FLOATS = ("float32", "float64")
NUMBERS = INTS + FLOATS
ALL = ("bool", *NUMBERS)

#: op -> (number of inputs, expression of a, b, c; result dtype or None for the input's own; dtypes)
SAME_TYPE: dict[str, tuple[int, str, str | None, tuple[str, ...]]] = {
    "add": (2, "a + b", None, NUMBERS),
    "subtract": (2, "a - b", None, NUMBERS),
    "multiply": (2, "a * b", None, NUMBERS),
    "divide": (2, "a / b", None, FLOATS),
    "negative": (1, "-a", None, SIGNED + FLOATS),
    "positive": (1, "a", None, NUMBERS),
    "square": (1, "a * a", None, NUMBERS),
    "reciprocal": (1, "1 / a", None, FLOATS),
    "equal": (2, "a == b", "bool", ALL),
    "not_equal": (2, "a != b", "bool", ALL),
    "less": (2, "a < b", "bool", ALL),
    "less_equal": (2, "a <= b", "bool", ALL),
    "greater": (2, "a > b", "bool", ALL),
    "greater_equal": (2, "a >= b", "bool", ALL),
    "logical_and": (2, "a != 0 and b != 0", "bool", ALL),
    "logical_or": (2, "a != 0 or b != 0", "bool", ALL),
    "logical_xor": (2, "(a != 0) != (b != 0)", "bool", ALL),
    "logical_not": (1, "a == 0", "bool", ALL),
    "bitwise_and": (2, "a & b", None, ("bool", *INTS)),
    "bitwise_or": (2, "a | b", None, ("bool", *INTS)),
    "bitwise_xor": (2, "a ^ b", None, ("bool", *INTS)),
    "isnan": (1, "a != a", "bool", FLOATS),
}

#: unary float functions that IEEE 754 rounds exactly: op -> (float64 name, float32 name)
EXACT_FUNCTIONS = {
    "sqrt": ("sqrt", "sqrtf"), "floor": ("floor", "floorf"), "ceil": ("ceil", "ceilf"), "trunc": ("trunc", "truncf"),
    "round": ("rint", "rintf"), "abs": ("fabs", "fabsf"),
}  # fmt: skip


def kernels() -> list[tuple[str, tuple[str, ...], str, str]]:
    """Every kernel as (op, input dtypes, output dtype, C expression), in a stable order."""
    rows: list[tuple[str, tuple[str, ...], str, str]] = []
    for op, (count, expression, result, dtypes) in SAME_TYPE.items():
        rows.extend((op, (t,) * count, result or t, expression) for t in dtypes)
    for op, (double, single) in EXACT_FUNCTIONS.items():
        rows.append((op, ("float64",), "float64", f"{double}(a)"))
        rows.append((op, ("float32",), "float32", f"{single}(a)"))
    rows.extend(("abs", (t,), t, "-a if a < 0 else a") for t in SIGNED)
    rows.extend(("abs", (t,), t, "a") for t in UNSIGNED)
    rows.extend(("where", ("bool", t, t), t, "b if a != 0 else c") for t in ALL)
    for source in ALL:
        for target in ALL:
            if target == "bool":
                rows.append(("cast", (source,), target, "a != 0"))
            elif source not in FLOATS or target in FLOATS:  # float to int is undefined in C where it does not fit
                rows.append(("cast", (source,), target, "a"))
    return rows
