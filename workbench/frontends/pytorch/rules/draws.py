"""Ops that draw random numbers, by the seeded generators of the workbench.

An exported program does not determine the numbers that PyTorch would draw. Here each call draws from a separate stream,
determined by its name and the iteration path: the distribution is PyTorch's, the numbers are not, and every run repeats
them. ``graph.notes`` says so. Sources: aten/src/ATen/native/Distributions.cpp, TensorFactories.cpp and Dropout.cpp.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from workbench.frontends.pytorch.promote import kind_of
from workbench.frontends.pytorch.rules.elementwise import computed
from workbench.frontends.pytorch.rules.table import out_dtype, plain, rule, wide, working
from workbench.ir.builder.value import Value

if TYPE_CHECKING:
    from workbench.frontends.pytorch.lower import TorchLowering

#: negative slope of SELU times its scale, with which alpha dropout keeps mean and variance
_ALPHA = 1.7580993408473766
#: limit of the integers that ``random_`` draws as floats: the integers that the mantissa represents
_UP_TO = {"float16": 1 << 11, "bfloat16": 1 << 8, "float32": 1 << 24, "float64": 1 << 53}


def drawn(lowering: TorchLowering, op: str, sizes: Sequence[Any], dtype: str) -> Value:
    """Random numbers of ``random_uniform`` or ``random_normal``."""
    lowering.draws()
    made: Value = lowering.part(op, lowering.vector(list(sizes)), dtype=dtype)
    return made


def like(lowering: TorchLowering, x: Value, op: str = "random_uniform") -> Value:
    dtype = working(x.dtype) if kind_of(x.dtype) == "f" else "float32"
    return drawn(lowering, op, lowering.sizes_of(x), dtype)


def placed(lowering: TorchLowering, x: Value, factor: Any, start: Any) -> Value:
    """``x * factor + start`` as the result of the call."""
    for op, number, neutral in (("multiply", factor, 1), ("add", start, 0)):
        if type(number) not in (int, float) or number != neutral:
            x = lowering.part(op, x, lowering.cast(number, x.dtype))
    return lowering.cast(lowering.op("Identity", x), out_dtype(lowering))


def _float(lowering: TorchLowering) -> str | None:
    dtype = out_dtype(lowering)
    return working(dtype) if kind_of(dtype) == "f" else None


@rule("rand.default", "randn.default", "rand_like.default", "randn_like.default")
def _rand(lowering: TorchLowering, *given: Any, size: Any = None, self: Any = None, **options: Any) -> Value | None:
    first, dtype = next(g for g in (*given, size, self) if g is not None), _float(lowering)
    if dtype is None:
        return None
    op = "random_normal" if "randn" in lowering.call.target else "random_uniform"
    sizes = lowering.sizes_of(first) if isinstance(first, Value) else first
    return placed(lowering, drawn(lowering, op, sizes, dtype), 1, 0)


@rule("randint.default", "randint.low", "randint_like.default", "randint_like.low_dtype")
def _randint(lowering: TorchLowering, *given: Any, **named: Any) -> Value:
    keys = {
        "randint.default": ("high", "size"), "randint.low": ("low", "high", "size"),
        "randint_like.default": ("self", "high"), "randint_like.low_dtype": ("self", "low", "high"),
    }[lowering.call.target.removeprefix("aten.")]  # fmt: skip
    found = dict(zip(keys, given, strict=False)) | named
    sizes = lowering.sizes_of(found["self"]) if "self" in found else found["size"]
    return whole(lowering, sizes, found.get("low", 0), found["high"])


def whole(lowering: TorchLowering, sizes: Sequence[Any], low: Any, high: Any) -> Value:
    lowering.draws()
    limits = (lowering.cast(n, "int64") for n in (low, high))
    made = lowering.op("random_integers", lowering.vector(list(sizes)), *limits)
    return lowering.cast(made, out_dtype(lowering))


@rule("randperm.default")
def _randperm(lowering: TorchLowering, n: Any, **options: Any) -> Value:
    lowering.draws()
    ends = (lowering.cast(k, "int64") for k in (0, n, 1))
    return lowering.cast(lowering.op("random_shuffle", lowering.part("range", *ends)), out_dtype(lowering))


# -- in place of a tensor -----------------------------------------------------------------------------------------
@rule("normal.default", "normal_functional.default")
def _normal(lowering: TorchLowering, self: Value, mean: Any = 0.0, std: Any = 1.0, generator: Any = None) -> Value:
    return placed(lowering, like(lowering, self, "random_normal"), std, mean)


@rule("normal.Tensor_float", "normal.float_Tensor", "normal.Tensor_Tensor")
def _normal_of(lowering: TorchLowering, mean: Any = 0.0, std: Any = 1.0, generator: Any = None) -> Value:
    shape, dtype = lowering.metas[0].type.shape or (), working(out_dtype(lowering))
    sizes: Sequence[Any] = shape
    if None in shape:
        one = next(v for v in (mean, std) if isinstance(v, Value) and v.shape == shape)
        sizes = lowering.sizes_of(one)
    return placed(lowering, drawn(lowering, "random_normal", sizes, dtype), std, mean)


@rule("normal.float_float")
def _normal_sized(lowering: TorchLowering, mean: Any, std: Any, size: Any, **options: Any) -> Value:
    return placed(lowering, drawn(lowering, "random_normal", size, working(out_dtype(lowering))), std, mean)


@rule("uniform.default")
def _uniform(lowering: TorchLowering, self: Value, *given: Any, **named: Any) -> Value:
    low, high = (*given, *(named.get(k, d) for k, d in (("from", 0.0), ("to", 1.0))[len(given) :]))[:2]
    return placed(lowering, like(lowering, self), high - low, low)


_SETTINGS = {
    "exponential": {"lambd": 1.0}, "log_normal": {"mean": 1.0, "std": 2.0}, "cauchy": {"median": 0.0, "sigma": 1.0},
    "geometric": {"p": 0.5},
}  # fmt: skip


@rule("exponential.default", "log_normal.default", "cauchy.default", "geometric.default")
def _shaped(lowering: TorchLowering, self: Value, *given: Any, generator: Any = None, **named: Any) -> Value:
    kind = lowering.call.target.split(".")[1].rstrip("_")
    first, *rest = (_SETTINGS[kind] | dict(zip(_SETTINGS[kind], given, strict=False)) | named).values()
    if kind == "log_normal":
        normal = like(lowering, self, "random_normal")
        number = lowering.part("multiply", normal, lowering.number(rest[0], normal.dtype))
        return computed(lowering, "exp", lowering.part("add", number, lowering.number(first, normal.dtype)))
    u = like(lowering, self)
    if kind == "cauchy":
        turned = lowering.part("multiply", lowering.part("subtract", u, lowering.number(0.5, u.dtype)),
                               lowering.number(math.pi, u.dtype))  # fmt: skip
        return placed(lowering, lowering.part("tan", turned), rest[0], first)
    log = lowering.part("log1p", lowering.part("negative", u))
    if kind == "exponential":
        return placed(lowering, log, -1.0 / first, 0)
    trials = lowering.part("ceil", lowering.part("divide", log, lowering.number(math.log1p(-first), u.dtype)))
    return lowering.cast(lowering.op("maximum", trials, lowering.number(1.0, u.dtype)), out_dtype(lowering))


@rule("random.default", "random.to", "random.from")
def _random(lowering: TorchLowering, self: Value, *given: Any, generator: Any = None, **named: Any) -> Value | None:
    low, high = 0, None
    listed = [*given, *(named[k] for k in ("from", "to") if k in named)]
    if lowering.call.target.endswith("to"):
        high = listed[0]
    elif listed:
        low, high = (*listed, None)[:2]
    if high is None:
        high = _UP_TO.get(self.dtype) or {"bool": 2, "uint8": 256, "int8": 128, "int16": 1 << 15, "int32": 1 << 31}.get(
            self.dtype, (1 << 63) - 1
        )
    return whole(lowering, lowering.sizes_of(self), low, high)


# -- from probabilities and rates
# ---------------------------------------------------------------------------------------
@rule("bernoulli.default", "bernoulli.p", "bernoulli.float", "bernoulli.Tensor")
def _bernoulli(lowering: TorchLowering, self: Value, p: Any = None, generator: Any = None) -> Value:
    chance = self if lowering.call.target == "aten.bernoulli.default" else 0.5 if p is None else p
    u = like(lowering, self)
    return lowering.cast(lowering.part("less", u, lowering.cast(chance, u.dtype)), out_dtype(lowering), named=True)


@rule("poisson.default", "_standard_gamma.default")
def _of_rate(lowering: TorchLowering, self: Value, generator: Any = None) -> Value:
    lowering.draws()
    poisson = "poisson" in lowering.call.target
    none, rate = lowering.vector([]), wide(lowering, self)
    found = lowering.op("random_poisson" if poisson else "random_gamma", none, rate, **(
        {"dtype": rate.dtype} if poisson else {}))  # fmt: skip
    return lowering.cast(found, out_dtype(lowering))


@rule("_sample_dirichlet.default")
def _dirichlet(lowering: TorchLowering, self: Value, generator: Any = None) -> Value:
    lowering.draws()
    parts = lowering.part("random_gamma", lowering.vector([]), wide(lowering, self))
    whole = lowering.part("sum", parts, axis=((self.type.rank or 1) - 1,), keepdims=True)
    return computed(lowering, "divide", parts, whole)


@rule("multinomial.default")
def _multinomial(
    lowering: TorchLowering, self: Value, num_samples: Any, replacement: bool = False, generator: Any = None
) -> Value | None:
    lowering.draws()
    rows = self if self.type.rank == 2 else lowering.part("expand_dims", self, axis=0)
    weights = wide(lowering, rows)
    if replacement or (plain(num_samples) and num_samples == 1):
        count = lowering.cast(num_samples, "int64")
        found = lowering.part("random_categorical", lowering.part("log", weights), count)
    elif plain(num_samples):
        # the indices of the largest weight / exponential number are a draw without replacement
        u = like(lowering, weights)
        waits = lowering.part("negative", lowering.part("log1p", lowering.part("negative", u)))
        rates = lowering.part("divide", weights, waits)
        found = lowering.part("top_k", rates, axis=1, k=int(num_samples), largest=True)[1]
    else:
        return None
    shown = found if self.type.rank == 2 else lowering.part("squeeze", found, axis=(0,))
    return lowering.op("Identity", lowering.cast(shown, "int64"))


# -- dropout ----------------------------------------------------------------------------------------------------------
def dropped(lowering: TorchLowering, x: Value, p: float, features: bool = False) -> tuple[Value, Value]:
    """``x`` scaled by 1 / (1 - p) where it is kept and 0 elsewhere, and the mask. ``features``: drop whole channels."""
    kept = _kept(lowering, x, p, features)
    grown = lowering.part("multiply", lowering.part("cast", kept, dtype=x.dtype),
                          lowering.number(0.0 if p == 1 else 1 / (1 - p), x.dtype))  # fmt: skip
    made: Value = lowering.part("multiply", x, grown)
    return made, kept


def _kept(lowering: TorchLowering, x: Value, p: float, features: bool) -> Value:
    sizes = lowering.sizes_of(x)
    u = drawn(lowering, "random_uniform", [*sizes[:2], *(1 for _ in sizes[2:])] if features else sizes, "float32")
    made: Value = lowering.part("greater_equal", u, lowering.number(p, "float32"))
    return made


@rule("dropout.default", "feature_dropout.default", "native_dropout.default")
def _dropout(lowering: TorchLowering, input: Any = None, p: float = 0.5, train: Any = None, self: Any = None) -> Any:
    input = self if input is None else input
    target, dtype = lowering.call.target, out_dtype(lowering)
    if train is False:
        return [lowering.op("Identity", input), lowering.part("ones_like", input, dtype="bool")]
    found, kept = dropped(lowering, wide(lowering, input), p, "feature" in target)
    made = lowering.cast(lowering.op("Identity", found), dtype)
    return [made, kept] if "native" in target else made


@rule("alpha_dropout.default", "feature_alpha_dropout.default")
def _alpha_dropout(
    lowering: TorchLowering, input: Any = None, p: float = 0.5, train: bool = True, self: Any = None
) -> Value:
    """Alpha dropout: dropped elements become a constant, so that mean and variance are kept."""
    input = self if input is None else input
    if p == 1:
        return lowering.op("zeros_like", input)
    x = wide(lowering, input)
    kept = _kept(lowering, x, p, "feature" in lowering.call.target)
    scale = 1 / math.sqrt((_ALPHA**2 * p + 1) * (1 - p))
    found = lowering.part("where", kept, x, lowering.number(-_ALPHA, x.dtype))
    return placed(lowering, found, scale, _ALPHA * scale * p)


@rule("rrelu.default")
def _rrelu(
    lowering: TorchLowering,
    self: Value,
    lower: float = 0.125,
    upper: float = 1 / 3,
    training: bool = False,
    generator: Any = None,
) -> Value:
    """Numbers below 0 are multiplied by a random number between the limits, outside training by their midpoint."""
    x = wide(lowering, self)
    if training:
        u = like(lowering, x)
        slope = lowering.part("add", lowering.part("multiply", u, lowering.number(upper - lower, u.dtype)),
                              lowering.number(lower, u.dtype))  # fmt: skip
    else:
        slope = lowering.number((lower + upper) / 2, x.dtype)
    below = lowering.part("multiply", x, slope)
    found = lowering.op("where", lowering.part("less_equal", x, lowering.number(0.0, x.dtype)), below, x)
    return lowering.cast(found, out_dtype(lowering))
