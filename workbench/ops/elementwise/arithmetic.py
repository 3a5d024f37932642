"""Arithmetic: sums, products, quotients, rounding, extrema, casts.

Dtypes follow NumPy's promotion, as resolved by the ufunc itself; so int32 / int32 is float64. The truncating integer
division of C and TensorFlow is a separate op.
"""

from __future__ import annotations

import numpy as np

from workbench.ir.types import ANY, OPAQUE, STRING, TensorType, dtype_name, numpy_dtype
from workbench.ops.checked import checked_cast, checked_round
from workbench.ops.define import NUMPY, REQUIRED, as_python, define, define_ufunc
from workbench.ops.rules import WRONG_DTYPE, RuleError, attr_dtype, need_kinds, need_numbers, ufunc_type

FAMILY = "arithmetic"

for _name, _ufunc, _doc, _aliases in (
    ("add", np.add, "x + y, element by element.", ()),
    ("subtract", np.subtract, "x - y, element by element; not for bools.", ("sub",)),
    ("multiply", np.multiply, "x * y, element by element.", ("mul",)),
    ("divide", np.divide, "x / y; integers give float64, as in NumPy.", ("true_divide",)),
    ("floor_divide", np.floor_divide, "The largest whole number not above x / y; integer x // 0 is 0.", ()),
    ("remainder", np.remainder, "x - y * floor(x / y): the sign of y, as Python's %.", ("mod",)),
    ("fmod", np.fmod, "x - y * trunc(x / y): the sign of x, as C's fmod and %.", ("truncate_mod",)),
    ("maximum", np.maximum, "The greater of x and y; nan wins.", ()),
    ("minimum", np.minimum, "The smaller of x and y; nan wins.", ()),
    ("fmax", np.fmax, "The greater of x and y; a number wins over nan.", ()),
    ("fmin", np.fmin, "The smaller of x and y; a number wins over nan.", ()),
    ("hypot", np.hypot, "sqrt(x*x + y*y) without overflow on the way.", ()),
    ("negative", np.negative, "-x; unsigned integers wrap round; not for bools.", ("neg",)),
    ("positive", np.positive, "+x; not for bools.", ()),
    ("abs", np.absolute, "The absolute value; the smallest signed integer stays negative.", ()),
    ("sign", np.sign, "-1, 0 or 1; nan for nan; x / abs(x) for complex x.", ()),
    ("reciprocal", np.reciprocal, "1 / x; truncated for integers, as in NumPy.", ()),
    ("square", np.square, "x * x.", ()),
    ("floor", np.floor, "The largest whole number not above x; integers stay.", ()),
    ("ceil", np.ceil, "The smallest whole number not below x; integers stay.", ()),
    ("trunc", np.trunc, "x without its fraction; integers stay.", ()),
    ("nextafter", np.nextafter, "The next float after x towards y.", ()),
    ("conj", np.conjugate, "The complex conjugate; real x stays.", ()),
):
    define_ufunc(_name, _ufunc, _doc, FAMILY, aliases=_aliases)


def _power(arrays, attrs):
    """A power; with ``operator`` as for ``x ** y``, where NumPy has special code for scalars and for known exponents,
    which may differ from the ufunc in the last digit.
    """
    if not attrs.get("operator"):
        return np.power(*arrays)
    exponent = attrs.get("exponent")
    if exponent is None:
        exponent = arrays[1].item() if attrs.get("number") else arrays[1][()]
    return arrays[0][()] ** exponent


_rule, _evaluate, _attrs = as_python("power", lambda types, attrs, values: ufunc_type(np.power, types), _power)
define(
    "power",
    "x y",
    _rule,
    _evaluate,
    "x to the power y; integers to negative powers fail. With `operator` as x ** y gives it, `exponent` is then y as "
    "Python knows it; with `number` y is a number of Python's, and not an array of NumPy's.",
    FAMILY,
    attrs={**_attrs, "operator": False, "exponent": None, "number": False},
    source=f"{NUMPY}generated/numpy.power.html",
    ufunc="power",
    aliases=("pow",),
)


def _whole_power(arrays, attrs):
    x, y = arrays
    below = y < 0
    if not below.any():
        return np.power(x, y)
    if np.any(below & (x == 0)):
        raise ZeroDivisionError("0 cannot be raised to a negative power")
    inverse = np.where(np.abs(x) == 1, np.where((x < 0) & (y % 2 != 0), -1, 1), 0)
    power = np.power(x, np.where(below, np.zeros((), y.dtype), y))
    return np.where(below, inverse, power).astype(power.dtype)


def _whole_power_type(types, attrs, values):
    for x in types:
        need_kinds(x, "iu", "input", "integers")
    return ufunc_type(np.power, types)


def _truncate_divide(arrays, attrs):
    x, y = arrays
    quotient = np.floor_divide(x, y)
    if quotient.dtype.kind not in "iu":
        return np.trunc(np.divide(x, y))
    # floor and truncation differ if the quotient is negative and not exact; y == 0 gives remainder 0
    wrong = (np.remainder(x, y) != 0) & ((x < 0) != (y < 0))
    return quotient + wrong.astype(quotient.dtype)


def _truncate_divide_type(types, attrs, values):
    return ufunc_type(np.floor_divide, types)


def _round(arrays, attrs):
    x, decimals = arrays[0], attrs.get("decimals", 0)
    if attrs.get("checked"):
        return checked_round(x, decimals)
    if x.dtype.kind in "biu":
        return np.round(x, decimals) if decimals < 0 and x.dtype.kind != "b" else x
    return np.rint(x) if decimals == 0 else np.round(x, decimals).astype(x.dtype, copy=False)


def _same_number(types, attrs, values):
    need_numbers(types)
    return types[0]


def _clip_type(types, attrs, values):
    return ufunc_type(np.minimum, [ufunc_type(np.maximum, types[:2]), types[2]])


def _clip(arrays, attrs):
    if attrs.get("numpy"):
        return np.clip(*arrays)
    x, low, high = arrays
    wanted = numpy_dtype(_clip_type([TensorType.of(a) for a in arrays], attrs, ()).dtype)
    up = np.where((x < low) | (low != low), low, x)
    return np.where((up > high) | (high != high), high, up).astype(wanted, copy=False)


def _squared_difference_type(types, attrs, values):
    return ufunc_type(np.square, [ufunc_type(np.subtract, types)])


def _cast_type(types, attrs, values):
    wanted = attr_dtype(attrs)
    if types[0].dtype == ANY or types[0].dtype == wanted:
        return TensorType(wanted, types[0].shape)
    if {STRING, OPAQUE, ANY} & {types[0].dtype, wanted}:
        raise RuleError(WRONG_DTYPE, f"cannot turn {types[0].dtype} into {wanted}.", "Convert the values outside.")
    return TensorType(wanted, types[0].shape)


def _cast(arrays, attrs):
    x, wanted = arrays[0], dtype_name(attrs["dtype"])
    if attrs.get("checked"):
        return checked_cast(x, wanted)
    if wanted == STRING:
        return x
    # astype would warn of the lost imaginary part, which is intended here
    if x.dtype.kind == "c" and numpy_dtype(wanted).kind not in "cb":
        x = x.real
    return x.astype(numpy_dtype(wanted), copy=False)


def _part_type(types, attrs, values):
    need_numbers(types)
    name = {"complex64": "float32", "complex128": "float64"}.get(types[0].dtype, types[0].dtype)
    return TensorType(name, types[0].shape)


define(
    "whole_power",
    "x y",
    _whole_power_type,
    _whole_power,
    "Integers to the power y, rounded towards zero where y is negative, as ONNX's Pow; 0 to a negative power fails.",
    FAMILY,
    source="https://onnx.ai/onnx/operators/onnx__Pow.html",
)
define(
    "truncate_divide",
    "x y",
    _truncate_divide_type,
    _truncate_divide,
    "x / y rounded towards zero, as integer division in C and TensorFlow's Div; integers stay integers, x / 0 is 0.",
    FAMILY,
    source="https://www.tensorflow.org/api_docs/python/tf/truncatediv",
)
define(
    "round",
    "x",
    _same_number,
    _round,
    "x rounded to `decimals` places, halves to the even neighbour; the dtype stays.",
    FAMILY,
    attrs={"decimals": 0, "checked": False},
    source=f"{NUMPY}generated/numpy.round.html",
    aliases=("rint",),
)
define(
    "clip",
    "x low high",
    _clip_type,
    _clip,
    "min(max(x, low), high), broadcast; nan stays nan, and a zero at a bound that is zero keeps its sign. With `numpy` "
    "zeros have the sign that np.clip gives them, which differs between arrays and single numbers.",
    FAMILY,
    attrs={"numpy": False},
    source=f"{NUMPY}generated/numpy.clip.html",
)
define(
    "squared_difference",
    "x y",
    _squared_difference_type,
    lambda a, attrs: np.square(np.subtract(*a)),
    "(x - y) squared.",
    FAMILY,
    source="https://www.tensorflow.org/api_docs/python/tf/math/squared_difference",
)
define(
    "cast",
    "x",
    _cast_type,
    _cast,
    "x as `dtype`: floats lose their fraction, integers wrap round, complex numbers lose their imaginary part.",
    FAMILY,
    attrs={"dtype": REQUIRED, "checked": False},
    source=f"{NUMPY}generated/numpy.ndarray.astype.html",
    aliases=("astype",),
)
define("real", "x", _part_type, lambda a, attrs: np.real(a[0]), "The real part.", FAMILY)
define(
    "imag",
    "x",
    _part_type,
    lambda a, attrs: np.imag(a[0]).astype(a[0].real.dtype, copy=False),
    "The imaginary part; zeros for real x.",
    FAMILY,
)


def _bits(name: str, ufunc: np.ufunc, doc: str) -> None:
    kinds = "iu" if "shift" in name else "biu"

    def infer(types, attrs, values):
        for x in types:
            need_kinds(x, kinds, "input", "integers" if kinds == "iu" else "integers or bools")
        return ufunc_type(ufunc, types)

    rule, evaluate, attrs = as_python(name, infer, lambda arrays, attrs: ufunc(*arrays))
    define(
        name,
        "x" if ufunc.nin == 1 else "x y",
        rule,
        evaluate,
        doc,
        "bits",
        attrs=attrs,
        source=f"{NUMPY}generated/numpy.{ufunc.__name__}.html",
        ufunc=ufunc.__name__,
        aliases=("bitwise_invert", "bitwise_not") if name == "invert" else (),
    )


_bits("bitwise_and", np.bitwise_and, "The bits set in both x and y.")
_bits("bitwise_or", np.bitwise_or, "The bits set in x or y.")
_bits("bitwise_xor", np.bitwise_xor, "The bits set in exactly one of x and y.")
_bits("invert", np.invert, "Every bit turned over; not, for bools.")
_bits("popcount", np.bitwise_count, "The number of set bits of abs(x), as uint8.")
_bits("left_shift", np.left_shift, "x shifted left by y bits.")
_bits("right_shift", np.right_shift, "x shifted right by y bits; the sign stays.")
