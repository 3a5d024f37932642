"""The op table: every op that the typed kernels know, its family, its C++ functor and where it is defined.

``kinds`` are the letters of the types that operands may have (b bool, i signed, u unsigned, f float, c complex, s
string), ``computes`` those of the type in which the op computes: the promotion of all inputs and the output; for
comparisons and logic, of the inputs alone. ``divide`` of two int32 into a float64 computes in float64.

``exact`` ops give NumPy's result bit for bit (any NaN equals any NaN). Where an op is bit-equal only for some types,
the others stand in ``inexact``: kind letters or dtype names. ``ulp`` bounds the distance of an inexact float result
from the correctly rounded one, in units in the last place of the output type (a complex result: of its absolute value);
None where the bound grows with the operands (sums).
"""

from __future__ import annotations

from dataclasses import dataclass

FLOATS = ("float32", "float64")
CHAINED = ("int32", "int64", "float32", "float64")


@dataclass(frozen=True, slots=True)
class Op:
    """One row.

    ``result`` says which of the outputs that the rules of its family admit are its own: ``same``, ``any``, ``bool``,
    ``float`` (integers become floats), ``real`` (complex becomes real), ``sum``, ``mean``, ``count`` (uint8). ``mixed``
    ops are rendered for operands of different types too. ``vector`` ops are compiled once for every instruction set;
    the work of the others is in libm or in integer division, and one version serves all.
    """

    name: str
    family: str
    inputs: int
    functor: str
    kinds: str
    result: str = "same"
    mixed: bool = False
    exact: bool = True
    computes: str = ""
    inexact: tuple[str, ...] = ()
    ulp: float | None = None
    only: tuple[str, ...] = ()
    vector: bool = True


OPS: dict[str, Op] = {}


def _add(family: str, inputs: int, kinds: str, names: str, **more) -> None:
    for name in names.split():
        functor = "".join(part.capitalize() for part in name.split("_"))
        OPS[name] = Op(name, family, inputs, functor, kinds, **more)


_add("arithmetic", 2, "biufc", "add", result="any", mixed=True)
_add("arithmetic", 2, "iufc", "subtract", result="any", mixed=True)
# NumPy fuses the products of complex numbers where the machine can; here both are rounded, everywhere the same.
_add("arithmetic", 2, "biufc", "multiply", result="any", mixed=True, inexact=("c",), ulp=2)
_add("division", 2, "iufc", "divide", result="any", mixed=True, computes="fc", inexact=("c",), ulp=4)
# Where NumPy's own answer depends on the position in the array (fmax and fmin of zeros of either sign, and of
# signalling NaN), these give the second zero, and the number.
_add("arithmetic", 2, "biufc", "maximum minimum fmax fmin")
_add("arithmetic", 2, "iuf", "floor_divide remainder fmod", vector=False)
_add("arithmetic", 2, "iu", "truncate_divide", vector=False)
# NumPy refuses integers to negative powers, for which this gives 0.
_add("arithmetic", 2, "iuf", "power", inexact=("f", "i"), ulp=1, vector=False)
_add("arithmetic", 2, "f", "copysign")
_add("arithmetic", 2, "f", "hypot arctan2", exact=False, ulp=2, vector=False)
_add("arithmetic", 2, "f", "nextafter", only=FLOATS, vector=False)
_add("arithmetic", 2, "iu", "gcd", vector=False)
_add("arithmetic", 3, "biuf", "clip")

#: x of the chain (a x b) y c, then y; "reverse_" is c y (a x b). Every step is rounded, as the graph says.
_CHAIN = {"add": "Add", "subtract": "Subtract", "multiply": "Multiply", "divide": "Divide"}
for _x in _CHAIN:
    for _y in _CHAIN:
        _only = FLOATS if "divide" in (_x, _y) else CHAINED
        _kinds = "f" if "divide" in (_x, _y) else "if"
        OPS[f"{_x}_{_y}"] = Op(f"{_x}_{_y}", "arithmetic", 3, f"Chain<{_CHAIN[_x]}, {_CHAIN[_y]}>", _kinds, only=_only)
        if _y in ("subtract", "divide"):
            OPS[f"{_x}_reverse_{_y}"] = Op(
                f"{_x}_reverse_{_y}", "arithmetic", 3, f"Reverse<{_CHAIN[_x]}, {_CHAIN[_y]}>", _kinds, only=_only
            )

_add("comparison", 2, "biufcs", "equal not_equal less less_equal greater greater_equal", result="bool")
_add("logical", 2, "biufc", "logical_and logical_or logical_xor", result="bool")
_add("logical", 1, "biufc", "logical_not", result="bool")
_add("bitwise", 2, "biu", "bitwise_and bitwise_or bitwise_xor")
_add("bitwise", 2, "iu", "left_shift right_shift")
_add("bitwise", 1, "biu", "invert")
_add("bitwise", 1, "iu", "bitwise_count", result="count")
_add("select", 3, "biufcs", "where")
_add("cast", 1, "biufc", "cast", result="any")

_add("unary", 1, "iufc", "negative positive")
_add("unary", 1, "biufc", "abs", result="real", inexact=("c",), ulp=1)
_add("unary", 1, "iufc", "sign", inexact=("c",), ulp=2)
_add("unary", 1, "iufc", "square", inexact=("c",), ulp=2)
_add("unary", 1, "iufc", "reciprocal", inexact=("c",), ulp=4)
_add("unary", 1, "iuf", "sqrt", result="float", computes="f")
_add("unary", 1, "f", "floor ceil trunc round")
_add("unary", 1, "c", "conj")
_add("unary", 1, "fc", "isnan isinf isfinite", result="bool")
_add("unary", 1, "f", "signbit", result="bool")
# glibc's own bounds (manual, "Errors in Math Functions"), plus the rounding to the output type.
for _names, _ulp in (
    ("exp exp2 expm1 log log2 log10 log1p sin cos", 2),
    ("tan arcsin arccos arctan cbrt sinh cosh tanh arcsinh arccosh arctanh", 4),
):
    _add("unary", 1, "iuf", _names, result="float", computes="f", exact=False, ulp=_ulp, vector=False)

# The sum of floats repeats NumPy's pairwise order; bfloat16 is summed in float32 and rounded once (ml_dtypes rounds
# every step). Of zeros alone min takes -0 and max 0, where NumPy takes either.
_add("reduction", 1, "biufc", "sum", result="sum", computes="iufc", inexact=("bfloat16",))
_add("reduction", 1, "biufc", "prod", result="sum", computes="iufc", inexact=("c", "bfloat16"))
_add("reduction", 1, "biufc", "mean", result="mean", computes="fc", inexact=("bfloat16",))
_add("reduction", 1, "biuf", "min max")
_add("reduction", 1, "biufc", "any all", result="bool")
_add("index_reduction", 1, "biuf", "argmin argmax", result="any")
_add("cumulative", 1, "biufc", "cumsum cumprod", result="sum", computes="iufc", inexact=("c",))
_add("cumulative", 1, "biuf", "cummin cummax")
# Products are added one after the other in the order of k; BLAS has other orders.
_add("accumulation", 2, "iufc", "matmul", result="any", inexact=("f", "c"))

KINDS = {
    "bool": "b",
    "int8": "i",
    "int16": "i",
    "int32": "i",
    "int64": "i",
    "uint8": "u",
    "uint16": "u",
    "uint32": "u",
    "uint64": "u",
    "float16": "f",
    "bfloat16": "f",
    "float32": "f",
    "float64": "f",
    "complex64": "c",
    "complex128": "c",
    "string": "s",
}


_BITS = {n: int("".join(c for c in n if c.isdigit()) or 8) for n in KINDS if n != "string"}


def promote(a: str, b: str) -> str:
    """The type in which values of two types meet, as ``numpy.result_type``; with bfloat16, where NumPy knows none, the
    narrowest float that holds both. Raises ValueError for a string and a number."""
    if a == b:
        return a
    if "string" in (a, b):
        raise ValueError(f"{a} and {b} have no common type; compare strings with strings")
    if KINDS[a] == "b" or KINDS[b] == "b":
        return b if KINDS[a] == "b" else a
    if KINDS[a] == KINDS[b]:
        if {a, b} == {"float16", "bfloat16"}:
            return "float32"
        return a if _BITS[a] > _BITS[b] else b
    order = {"u": 0, "i": 1, "f": 2, "c": 3}
    low, high = sorted((a, b), key=lambda t: order[KINDS[t]])
    if KINDS[high] == "i":
        if _BITS[high] > _BITS[low]:
            return high
        return f"int{2 * _BITS[low]}" if _BITS[low] < 64 else "float64"
    if KINDS[low] in "iu":  # the float that holds the integer, then both floats together
        size = _BITS[low]
        if high == "bfloat16" and size <= 8:
            return high
        low = "float16" if size <= 8 else "float32" if size <= 16 else "float64"
        if high == "bfloat16" and size == 16:
            return "float32"
    if KINDS[high] == "c":
        return "complex128" if low == "float64" or high == "complex128" else "complex64"
    return promote(low, high)


def compute_type(op: Op, inputs: tuple[str, ...], output: str) -> str:
    """The type in which ``op`` computes: inputs are converted to it first, the result to ``output`` last."""
    values = inputs[1:] if op.name == "where" else inputs
    common = values[0]
    for other in values[1:]:
        common = promote(common, other)
    if op.result in ("bool", "count") or op.family in ("cast", "index_reduction"):
        return common
    if op.result == "real" and KINDS[common] == "c":
        return common
    return promote(common, output)


def defined(name: str, inputs: tuple[str, ...], output: str) -> bool:
    """Return whether the op is defined for these dtypes (the rules decide on admission separately)."""
    op = OPS[name]
    if len(inputs) != op.inputs or ("string" in inputs and op.kinds.count("s") == 0):
        return False
    values = inputs[1:] if name == "where" else inputs
    if any(KINDS[t] not in op.kinds for t in values):
        return False
    try:
        computed = compute_type(op, inputs, output)
    except ValueError:
        return False
    kind, out = KINDS[computed], KINDS[output]
    if kind not in (op.computes or op.kinds) or (op.only and not {computed, output, *inputs} <= set(op.only)):
        return False
    if op.family == "cast":
        return True
    if op.family == "index_reduction":
        return out == "i"
    if op.result == "real" and kind == "c":
        return (computed, output) in (("complex64", "float32"), ("complex128", "float64"))
    if op.result in ("bool", "count"):
        return output == ("bool" if op.result == "bool" else "uint8")
    # complex results may not lose their imaginary part, strings stay strings, bool is not a number to round to
    return (kind == "c") == (out == "c") and (kind == "s") == (out == "s") and (out != "b" or kind == "b")


def is_exact(name: str, inputs: tuple[str, ...], output: str) -> bool:
    """Return whether the kernel's result is NumPy's bit for bit (any NaN equals any NaN) for these dtypes."""
    op = OPS[name]
    if not op.exact:
        return False
    computed = compute_type(op, inputs, output)
    return KINDS[computed] not in op.inexact and computed not in op.inexact and output not in op.inexact
