"""Losses: a number for each example (or element), weighted, and reduced in one of four ways.

Inputs are predictions, weights and labels. Source: libnd4j's ops/declarable/generic/loss. The modes of reduction are
those of TensorFlow 1's tf.losses.Reduction.
"""

from __future__ import annotations

from collections.abc import Callable

from workbench.frontends.samediff.rules.base import FlatRule, Parts, is_float, to
from workbench.frontends.tf.graphdef import TensorName

NONE, SUM, BY_WEIGHT, BY_NONZERO = range(4)
#: (parts, predictions, labels, function that adds a constant) -> the loss of each element
Each = Callable[[Parts, TensorName, TensorName, Callable[[str, float], TensorName]], "TensorName | None"]


def _loss(each: Each, default: int = BY_NONZERO) -> FlatRule:
    def rule(p: Parts) -> bool:
        dtype = p.dtypes[0]
        if not p.has(3) or dtype is None or not is_float(dtype):
            return False
        predictions, weights, labels = p.inputs[:3]
        if p.dtypes[2] != dtype:
            labels = p.cast("labels", labels, dtype)
        loss = each(p, predictions, labels, lambda part, value: p.value(part, value, dtype))
        return loss is not None and _reduced(p, loss, weights, p.int_at(0, default), dtype)

    return rule


def _reduced(p: Parts, loss: TensorName, weights: TensorName, mode: int, dtype: str) -> bool:
    if p.dtypes[1] != dtype:
        weights = p.cast("weights", weights, dtype)
    if mode == NONE:
        return p.result("Mul", loss, weights)
    weighted = p.add("weighted", "Mul", loss, weights)
    if mode == SUM:
        return p.result("Sum", weighted, keep_dims=False)
    if mode not in (BY_WEIGHT, BY_NONZERO):
        return False
    spread = p.add("spread", "Mul", p.add("ones", "OnesLike", loss), weights)
    if mode == BY_NONZERO:
        spread = p.cast("counted", p.add("nonzero", "NotEqual", spread, p.add("zeros", "ZerosLike", spread)), dtype)
    divisor = p.add("divisor", "Sum", spread, keep_dims=False)
    return p.result("DivNoNan", p.add("total", "Sum", weighted, keep_dims=False), divisor)


def _log(p: Parts, x: TensorName, y: TensorName, number: Callable[[str, float], TensorName]) -> TensorName:
    """-y log(x + epsilon) - (1 - y) log(1 - x + epsilon)."""
    one, epsilon = number("one", 1.0), number("epsilon", p.float_at(0, 1e-7))
    rest = p.add("rest", "Sub", one, x)
    first, second = (
        p.add(f"log_{part}", "Log", p.add(f"safe_{part}", "AddV2", v, epsilon))
        for part, v in (("x", x), ("rest", rest))
    )
    yes = p.add("yes", "Mul", y, first)
    no = p.add("no", "Mul", p.add("others", "Sub", one, y), second)
    return p.add("loss", "Neg", p.add("likelihood", "AddV2", yes, no))


def _squared(p: Parts, x: TensorName, y: TensorName, number: Callable[[str, float], TensorName]) -> TensorName:
    return p.add("loss", "SquaredDifference", x, y)


def _absolute(p: Parts, x: TensorName, y: TensorName, number: Callable[[str, float], TensorName]) -> TensorName:
    return p.add("loss", "Abs", p.add("difference", "Sub", x, y))


def _hinge(p: Parts, x: TensorName, y: TensorName, number: Callable[[str, float], TensorName]) -> TensorName:
    """max(0, 1 - (2 y - 1) x)."""
    one = number("one", 1.0)
    side = p.add("side", "Sub", p.add("twice", "Mul", number("two", 2.0), y), one)
    return p.add("loss", "Relu", p.add("margin", "Sub", one, p.add("score", "Mul", side, x)))


def _huber(p: Parts, x: TensorName, y: TensorName, number: Callable[[str, float], TensorName]) -> TensorName:
    """q^2 / 2 + delta (e - q), where e is the error and q = min(e, delta)."""
    delta = number("delta", p.float_at(0, 1.0))
    error = p.add("error", "Abs", p.add("difference", "Sub", x, y))
    near = p.add("near", "Minimum", error, delta)
    half = p.add("half", "Mul", number("factor", 0.5), p.add("squares", "Square", near))
    far = p.add("far", "Mul", delta, p.add("beyond", "Sub", error, near))
    return p.add("loss", "AddV2", half, far)


def _sigmoid(p: Parts, x: TensorName, y: TensorName, number: Callable[[str, float], TensorName]) -> TensorName:
    """max(x, 0) - x y + log(1 + exp(-|x|)), with labels moved towards 1/2 by the smoothing."""
    smoothing = p.float_at(0)
    if smoothing:
        kept = p.add("kept", "Mul", y, number("keep", 1.0 - smoothing))
        y = p.add("smooth", "AddV2", kept, number("half", 0.5 * smoothing))
    tail = p.add("tail", "Log1p", p.add("exp", "Exp", p.add("neg", "Neg", p.add("abs", "Abs", x))))
    head = p.add("head", "Sub", p.add("above", "Relu", x), p.add("product", "Mul", x, y))
    return p.add("loss", "AddV2", head, tail)


def _softmax(p: Parts, x: TensorName, y: TensorName, number: Callable[[str, float], TensorName]) -> TensorName | None:
    return None if p.float_at(0) else p.add("loss", "SoftmaxCrossEntropyWithLogits", x, y)


def _with_logits(p: Parts) -> bool:
    """Softmax cross entropy with logits, for each row along the last axis; the inputs are logits and labels."""
    return p.has(2) and p.int_at(0, -1) == -1 and p.result("SoftmaxCrossEntropyWithLogits", *p.inputs[:2])


def _sparse_with_logits(p: Parts) -> bool:
    """Sparse softmax cross entropy; the inputs are labels and logits."""
    return p.has(2) and p.result("SparseSoftmaxCrossEntropyWithLogits", p.inputs[1], p.inputs[0])


RULES: dict[str, FlatRule] = {
    "log_loss": _loss(_log),
    "mean_sqerr_loss": _loss(_squared),
    "absolute_difference_loss": _loss(_absolute),
    "hinge_loss": _loss(_hinge),
    "huber_loss": _loss(_huber),
    "sigm_cross_entropy_loss": _loss(_sigmoid),
    "softmax_cross_entropy_loss": _loss(_softmax),
    "softmax_cross_entropy_loss_with_logits": _with_logits,
    "sparse_softmax_cross_entropy_loss_with_logits": _sparse_with_logits,
    "l2_loss": to("L2Loss", 1),
}
