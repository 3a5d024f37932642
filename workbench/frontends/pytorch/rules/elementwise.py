"""Elementwise arithmetic, comparisons and functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.frontends.pytorch.numbers import Number
from workbench.frontends.pytorch.promote import kind_of, result_dtype
from workbench.frontends.pytorch.rules.table import RULES, Rule, out_dtype, rule, working
from workbench.ir.builder.value import Value

if TYPE_CHECKING:
    from workbench.frontends.pytorch.lower import TorchLowering


def computed(lowering: TorchLowering, op: str, *operands: Any, dtype: str = "", **attrs: Any) -> Value:
    """``op`` on the operands in the dtype of the result; 16-bit floats are computed in float32 and rounded once."""
    wanted = dtype or out_dtype(lowering)
    inside = working(wanted)
    values = [lowering.cast(o, inside) for o in operands]
    if inside == wanted:
        return lowering.op(op, *values, **attrs)
    return lowering.cast(lowering.part(op, *values, **attrs), wanted, named=True)


# -- one operand ------------------------------------------------------------------------------------------------------
_FUNCTIONS = (
    "sqrt rsqrt exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh "
    "sigmoid erf erfc reciprocal erfinv lgamma square"
).split()
_ALIASES = {"arcsin": "asin", "arccos": "acos", "arctan": "atan", "special_erf": "erf", "special_expm1": "expm1",
            "special_expit": "sigmoid", "negative": "neg", "absolute": "abs"}  # fmt: skip
_KEPT = {"neg": "negative", "floor": "floor", "ceil": "ceil", "trunc": "trunc", "sgn": "sign", "sign": "sign",
         "relu": "relu", "abs": "abs", "round": "round"}  # fmt: skip


def _function(op: str) -> Rule:
    return lambda lowering, self: computed(lowering, op, self)


def _same_dtype(op: str) -> Rule:
    def found(lowering: TorchLowering, self: Value) -> Value | None:
        kind = kind_of(self.dtype)
        if op in ("floor", "ceil", "trunc", "round") and kind != "f":
            return self
        if op == "relu" and kind in "bi":
            return lowering.op("maximum", self, lowering.number(0, self.dtype))
        if kind == "c" and op != "negative":
            return None
        return lowering.op(op, self)

    return found


for _name in _FUNCTIONS:
    rule(f"{_name}.default")(_function(_name))


@rule("digamma.default")
def _digamma(lowering: TorchLowering, self: Value) -> Value:
    """The digamma function; at a signed 0 it is the infinity of the opposite sign, where our op gives NaN."""
    dtype = out_dtype(lowering)
    inside = working(dtype)
    x = lowering.cast(self, inside)
    at_zero = lowering.part("equal", x, lowering.number(0.0, inside))
    pole = lowering.part("divide", lowering.number(-1.0, inside), x)
    found = lowering.op("where", at_zero, pole, lowering.part("digamma", x))
    return lowering.cast(found, dtype)


for _name, _op in _KEPT.items():
    rule(f"{_name}.default")(_same_dtype(_op))
for _name in ("isnan", "isinf", "isfinite", "logical_not", "signbit"):
    rule(f"{_name}.default")(lambda lowering, self, _op=_name: lowering.op(_op, self))
for _name, _op in _ALIASES.items():
    RULES[f"aten.{_name}.default"] = RULES[f"aten.{_op}.default"]


@rule("bitwise_not.default")
def _not(lowering: TorchLowering, self: Value) -> Value:
    return lowering.op("logical_not" if self.dtype == "bool" else "invert", self)


@rule("frac.default")
def _frac(lowering: TorchLowering, self: Value) -> Value:
    return computed(lowering, "subtract", self, lowering.part("trunc", self))


# -- two operands -----------------------------------------------------------------------------------------------------
def _times(lowering: TorchLowering, other: Any, alpha: Any, dtype: str) -> Any:
    if type(alpha) is int and alpha == 1:
        return other
    if type(other) in (int, float) and type(alpha) in (int, float):
        return other * alpha
    inside = working(dtype)
    return lowering.part("multiply", lowering.cast(other, inside), lowering.cast(alpha, inside))


@rule("add.Tensor", "add.Scalar", "sub.Tensor", "sub.Scalar", "rsub.Scalar", "rsub.Tensor")
def _add(lowering: TorchLowering, self: Any, other: Any, alpha: Any = 1) -> Value:
    dtype = out_dtype(lowering)
    packet = lowering.call.target.split(".")[1].rstrip("_")
    if dtype == "bool":
        return computed(lowering, "logical_or", self, other)
    if packet == "rsub":
        return computed(lowering, "subtract", other, _times(lowering, self, alpha, dtype))
    return computed(lowering, "add" if packet == "add" else "subtract", self, _times(lowering, other, alpha, dtype))


@rule("mul.Tensor", "mul.Scalar")
def _mul(lowering: TorchLowering, self: Any, other: Any) -> Value:
    return computed(lowering, "logical_and" if out_dtype(lowering) == "bool" else "multiply", self, other)


@rule("div.Tensor", "div.Scalar", "true_divide.Tensor")
def _div(lowering: TorchLowering, self: Any, other: Any) -> Value:
    return computed(lowering, "divide", self, other)


@rule("div.Tensor_mode", "div.Scalar_mode", "floor_divide.default", "floor_divide.Scalar")
def _div_mode(lowering: TorchLowering, self: Any, other: Any, rounding_mode: str | None = "floor") -> Value:
    if rounding_mode is None:
        return computed(lowering, "divide", self, other)
    if rounding_mode == "floor":
        return computed(lowering, "floor_divide", self, other)
    dtype = out_dtype(lowering)
    if kind_of(dtype) == "i":
        return computed(lowering, "truncate_divide", self, other)
    inside = working(dtype)
    ratio = lowering.part("divide", lowering.cast(self, inside), lowering.cast(other, inside))
    return lowering.cast(lowering.op("trunc", ratio), dtype)


@rule("pow.Tensor_Scalar", "pow.Tensor_Tensor", "pow.Scalar")
def _pow(lowering: TorchLowering, self: Any, exponent: Any) -> Value:
    dtype = out_dtype(lowering)
    if kind_of(dtype) == "i":
        return computed(lowering, "whole_power", self, exponent)
    if type(exponent) in (int, float) and exponent in (2, 0.5, -1, 1):
        op = {2: "square", 0.5: "sqrt", -1: "reciprocal", 1: "Identity"}[exponent]
        return computed(lowering, op, self)
    return computed(lowering, "power", self, exponent)


def _binary(op: str) -> Rule:
    return lambda lowering, self, other: computed(lowering, op, self, other)


for _name, _op in {
    "remainder.Tensor": "remainder", "remainder.Scalar": "remainder", "fmod.Tensor": "fmod", "fmod.Scalar": "fmod",
    "maximum.default": "maximum", "minimum.default": "minimum", "max.other": "maximum", "min.other": "minimum",
    "fmax.default": "fmax", "fmin.default": "fmin", "atan2.default": "atan2", "hypot.default": "hypot",
    "logaddexp.default": "logaddexp", "xlogy.Tensor": "xlogy", "special_xlog1py.default": "xlog1py",
}.items():  # fmt: skip
    rule(_name)(_binary(_op))


def _comparison(op: str) -> Rule:
    def found(lowering: TorchLowering, self: Any, other: Any) -> Value:
        sides = [v.value if isinstance(v, Number) else v for v in (self, other)]
        dtype = result_dtype(sides)
        return lowering.op(op, *(lowering.cast(v, dtype) for v in sides))

    return found


for _name, _op in {
    "eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal",
}.items():  # fmt: skip
    rule(f"{_name}.Tensor", f"{_name}.Scalar")(_comparison(_op))


def _logical(op: str) -> Rule:
    return lambda lowering, self, other: lowering.op(op, lowering.cast(self, "bool"), lowering.cast(other, "bool"))


def _bitwise(name: str) -> Rule:
    def found(lowering: TorchLowering, self: Any, other: Any) -> Value:
        return computed(lowering, f"{'logical' if out_dtype(lowering) == 'bool' else 'bitwise'}_{name}", self, other)

    return found


for _name in ("and", "or", "xor"):
    rule(f"logical_{_name}.default")(_logical(f"logical_{_name}"))
    rule(f"bitwise_{_name}.Tensor", f"bitwise_{_name}.Scalar", f"__{_name}__.Tensor", f"__{_name}__.Scalar")(
        _bitwise(_name)
    )
for _name, _op in {"left": "left_shift", "right": "right_shift"}.items():
    rule(f"bitwise_{_name}_shift.Tensor", f"bitwise_{_name}_shift.Tensor_Scalar")(_binary(_op))


@rule("where.self", "where.ScalarOther", "where.ScalarSelf", "where.Scalar")
def _where(lowering: TorchLowering, condition: Value, self: Any, other: Any) -> Value:
    dtype = out_dtype(lowering)
    test = lowering.cast(condition, "bool")
    return lowering.op("where", test, lowering.cast(self, dtype), lowering.cast(other, dtype))


@rule("masked_fill.Scalar", "masked_fill.Tensor")
def _masked_fill(lowering: TorchLowering, self: Value, mask: Value, value: Any) -> Value:
    test = lowering.cast(mask, "bool")
    return lowering.op("where", test, lowering.cast(value, self.dtype), self)


@rule("clamp.default", "clamp.Tensor", "clip.default", "clip.Tensor", "clamp_min.default", "clamp_max.default",
      "clamp_min.Tensor", "clamp_max.Tensor", "hardtanh.default")  # fmt: skip
def _clamp(
    lowering: TorchLowering, self: Value, min: Any = None, max: Any = None, min_val: Any = None, max_val: Any = None
) -> Value:
    low, high = min if min is not None else min_val, max if max is not None else max_val
    if lowering.call.target.startswith("aten.hardtanh"):
        low, high = -1.0 if low is None else low, 1.0 if high is None else high
    dtype = out_dtype(lowering)
    value = lowering.cast(self, dtype)
    if low is not None:
        bound = lowering.cast(low, dtype)
        value = (lowering.op if high is None else lowering.part)("maximum", value, bound)
    return value if high is None else lowering.op("minimum", value, lowering.cast(high, dtype))


@rule("addcmul.default", "addcdiv.default")
def _addc(lowering: TorchLowering, self: Value, tensor1: Value, tensor2: Value, value: Any = 1) -> Value:
    dtype = out_dtype(lowering)
    inside = working(dtype)
    one, other = lowering.cast(tensor1, inside), lowering.cast(tensor2, inside)
    op = "multiply" if "addcmul" in lowering.call.target else "divide"
    return computed(lowering, "add", self, lowering.part(op, _times(lowering, one, value, dtype), other))


@rule("lerp.Scalar", "lerp.Tensor")
def _lerp(lowering: TorchLowering, self: Value, end: Value, weight: Any) -> Value:
    inside = working(out_dtype(lowering))
    way = lowering.part("subtract", lowering.cast(end, inside), lowering.cast(self, inside))
    return computed(lowering, "add", self, lowering.part("multiply", way, lowering.cast(weight, inside)))


@rule("copy.default", "fill.Scalar", "fill.Tensor")
def _copy(
    lowering: TorchLowering, self: Value, src: Any = None, value: Any = None, non_blocking: bool = False
) -> Value:
    new = lowering.cast(src if value is None else value, self.dtype)
    return _spread(lowering, new, self)


@rule("zero.default")
def _zero(lowering: TorchLowering, self: Value) -> Value:
    return lowering.op("zeros_like", self)


def _spread(lowering: TorchLowering, value: Value, like: Value) -> Value:
    if value.shape == like.shape and None not in (like.shape or (None,)):
        return value
    if None not in (like.shape or (None,)):
        return lowering.op("broadcast_to", value, shape=like.shape)
    return lowering.op("broadcast_to", value, lowering.vector(lowering.sizes_of(like)))
