"""Activation functions and losses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.frontends.pytorch.rules.elementwise import computed
from workbench.frontends.pytorch.rules.table import dim_of, out_dtype, rule, wide, working
from workbench.ir.builder.value import Value

if TYPE_CHECKING:
    from workbench.frontends.pytorch.lower import TorchLowering


@rule("gelu.default")
def _gelu(lowering: TorchLowering, self: Value, approximate: str = "none") -> Value:
    return computed(lowering, "gelu", self, approximate=approximate)


@rule("silu.default")
def _silu(lowering: TorchLowering, self: Value) -> Value:
    return computed(lowering, "swish", self)


@rule("leaky_relu.default")
def _leaky(lowering: TorchLowering, self: Value, negative_slope: float = 0.01) -> Value:
    return computed(lowering, "leaky_relu", self, alpha=float(negative_slope))


@rule("elu.default", "celu.default", "selu.default")
def _elu(
    lowering: TorchLowering, self: Value, alpha: float = 1.0, scale: float = 1.0, input_scale: float = 1.0
) -> Value | None:
    op = lowering.call.target.split(".")[1].rstrip("_")
    if op == "selu":
        return computed(lowering, "selu", self)
    if scale != 1 or input_scale != 1:
        return None
    return computed(lowering, op, self, alpha=float(alpha))


@rule("softplus.default")
def _softplus(lowering: TorchLowering, self: Value, beta: float = 1.0, threshold: float = 20.0) -> Value:
    dtype = out_dtype(lowering)
    inside = working(dtype)
    x = lowering.cast(self, inside)
    scaled = x if beta == 1 else lowering.part("multiply", x, lowering.number(beta, inside))
    soft = lowering.part("softplus", scaled)
    if beta != 1:
        soft = lowering.part("divide", soft, lowering.number(beta, inside))
    linear = lowering.part("greater", scaled, lowering.number(threshold, inside))
    return lowering.cast(lowering.op("where", linear, x, soft), dtype)


@rule("relu6.default")
def _relu6(lowering: TorchLowering, self: Value) -> Value:
    return computed(lowering, "relu6", self)


@rule("hardsigmoid.default")
def _hardsigmoid(lowering: TorchLowering, self: Value) -> Value:
    return computed(lowering, "divide", _of_six(lowering, self), 6.0)


@rule("hardswish.default")
def _hardswish(lowering: TorchLowering, self: Value) -> Value:
    product = lowering.part("multiply", wide(lowering, self), _of_six(lowering, self))
    return computed(lowering, "divide", product, 6.0)


def _of_six(lowering: TorchLowering, x: Value) -> Value:
    value = wide(lowering, x)
    return lowering.part("relu6", lowering.part("add", value, lowering.number(3.0, value.dtype)))


@rule("mish.default")
def _mish(lowering: TorchLowering, self: Value) -> Value:
    x = wide(lowering, self)
    return computed(lowering, "multiply", x, lowering.part("tanh", lowering.part("softplus", x)))


@rule("log_sigmoid.default", "logsigmoid.default", "log_sigmoid_forward.default")
def _log_sigmoid(lowering: TorchLowering, self: Value) -> Value | list[Value]:
    x = wide(lowering, self)
    found = computed(lowering, "negative", lowering.part("softplus", lowering.part("negative", x)))
    return [found, lowering.part("zeros_like", self)] if len(lowering.metas) == 2 else found


@rule("prelu.default", "_prelu_kernel.default")
def _prelu(lowering: TorchLowering, self: Value, weight: Value) -> Value:
    if weight.type.rank == 1 and (self.type.rank or 0) > 1 and weight.shape != (1,):
        weight = lowering.part("reshape", weight, shape=(-1, *(1,) * ((self.type.rank or 2) - 2)))
    scaled = lowering.part("multiply", self, weight)
    return lowering.op("where", lowering.part("greater", self, lowering.number(0, self.dtype)), self, scaled)


@rule("glu.default")
def _glu(lowering: TorchLowering, self: Value, dim: int = -1) -> Value:
    one, gate = lowering.several("split", self, axis=dim_of(self, dim), num=2)
    return computed(lowering, "multiply", one, lowering.part("sigmoid", wide(lowering, gate)))


@rule("softmax.int", "_softmax.default", "log_softmax.int", "_log_softmax.default")
def _softmax(lowering: TorchLowering, self: Value, dim: int, dtype: Any = None, half_to_float: bool = False) -> Value:
    op = "log_softmax" if "log_softmax" in lowering.call.target else "softmax"
    if not self.type.rank:
        return computed(lowering, op, lowering.part("reshape", self, shape=(1,)), axis=0)
    return computed(lowering, op, self, axis=dim_of(self, dim))


# -- losses -----------------------------------------------------------------------------------------------------------
def reduced(lowering: TorchLowering, value: Value, reduction: int) -> Value:
    """A loss, reduced: 0 keeps the elements, 1 is their mean, 2 their sum."""
    if reduction == 0:
        return lowering.cast(value, out_dtype(lowering), named=True)
    return lowering.cast(lowering.op("mean" if reduction == 1 else "sum", value, axis=None), out_dtype(lowering))


@rule("mse_loss.default", "l1_loss.default")
def _distance(lowering: TorchLowering, self: Value, target: Value, reduction: int = 1) -> Value:
    op = "square" if "mse" in lowering.call.target else "abs"
    inside = working(out_dtype(lowering))
    way = lowering.part("subtract", lowering.cast(self, inside), lowering.cast(target, inside))
    return reduced(lowering, lowering.part(op, way), reduction)


@rule("smooth_l1_loss.default", "huber_loss.default")
def _huber(
    lowering: TorchLowering,
    self: Value,
    target: Value,
    reduction: int = 1,
    beta: float = 1.0,
    delta: float | None = None,
) -> Value:
    bend = beta if delta is None else delta
    inside = working(out_dtype(lowering))
    number = lambda n: lowering.number(n, inside)  # noqa: E731
    way = lowering.part("abs", lowering.part("subtract", lowering.cast(self, inside), lowering.cast(target, inside)))
    near = lowering.part("multiply", lowering.part("square", way), number(0.5))
    far = lowering.part("subtract", way, number(0.5 * bend))
    if delta is None and bend:
        near = lowering.part("divide", near, number(bend))
    if delta is not None:
        far = lowering.part("multiply", far, number(bend))
    return reduced(lowering, lowering.part("where", lowering.part("less", way, number(bend)), near, far), reduction)


@rule("binary_cross_entropy.default")
def _bce(lowering: TorchLowering, self: Value, target: Value, weight: Value | None = None, reduction: int = 1) -> Value:
    x, y = wide(lowering, self), wide(lowering, target)
    one, low = lowering.number(1.0, x.dtype), lowering.number(-100.0, x.dtype)
    inside = lowering.part("maximum", lowering.part("log", x), low)
    outside = lowering.part("maximum", lowering.part("log1p", lowering.part("negative", x)), low)
    first = lowering.part("multiply", lowering.part("subtract", y, one), outside)
    return _weighted(
        lowering, lowering.part("subtract", first, lowering.part("multiply", y, inside)), weight, reduction
    )


@rule("binary_cross_entropy_with_logits.default")
def _bce_logits(
    lowering: TorchLowering,
    self: Value,
    target: Value,
    weight: Value | None = None,
    pos_weight: Value | None = None,
    reduction: int = 1,
) -> Value | None:
    if pos_weight is not None:
        return None
    x, y = wide(lowering, self), wide(lowering, target)
    soft = lowering.part("softplus", lowering.part("negative", x))
    rest = lowering.part("multiply", lowering.part("subtract", lowering.number(1.0, x.dtype), y), x)
    return _weighted(lowering, lowering.part("add", rest, soft), weight, reduction)


def _weighted(lowering: TorchLowering, loss: Value, weight: Value | None, reduction: int) -> Value:
    if weight is not None:
        loss = lowering.part("multiply", loss, lowering.cast(weight, loss.dtype))
    return reduced(lowering, loss, reduction)


@rule("cross_entropy_loss.default", "nll_loss.default", "nll_loss_nd.default")
def _cross_entropy(
    lowering: TorchLowering,
    self: Value,
    target: Value,
    weight: Value | None = None,
    reduction: int = 1,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
) -> Value | None:
    if weight is not None or label_smoothing or target.dtype != "int64" or not self.type.rank or self.type.rank < 2:
        return None
    x = wide(lowering, self)
    logs = lowering.part("log_softmax", x, axis=1) if "cross_entropy" in lowering.call.target else x
    kept = lowering.part("not_equal", target, lowering.number(ignore_index, "int64"))
    there = lowering.part("where", kept, target, lowering.number(0, "int64"))
    picked = lowering.part("take_along_axis", logs, lowering.part("expand_dims", there, axis=1), axis=1)
    lost = lowering.part("negative", lowering.part("squeeze", picked, axis=1))
    lost = lowering.part("where", kept, lost, lowering.number(0.0, x.dtype))
    if reduction != 1:
        return reduced(lowering, lost, reduction)
    count = lowering.part("sum", lowering.cast(kept, x.dtype), axis=None)
    return computed(lowering, "divide", lowering.part("sum", lost, axis=None), count)
