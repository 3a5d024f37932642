"""Normalization by statistics of the batch or of neighbouring channels, and the bias of each channel."""

from __future__ import annotations

import numpy as np

from workbench.ir.types import ANY, TensorType
from workbench.ops.define import define
from workbench.ops.neural.windows import checked
from workbench.ops.rules import (
    WRONG_DTYPE,
    WRONG_SHAPE,
    RuleError,
    axis_in,
    need_kinds,
    need_numbers,
    need_rank,
    working,
)

FAMILY = "normalization"
TF = "https://www.tensorflow.org/api_docs/python/tf/"


def _along(x: np.ndarray, v: np.ndarray, axis: int) -> np.ndarray:
    """A vector with one entry for each index of ``axis``, in a shape that broadcasts with x."""
    shape = [1] * x.ndim
    shape[axis] = -1
    return v.reshape(shape)


def _need_vectors(x: TensorType, axis: int, vectors, what: str) -> None:
    size = None if x.shape is None else x.shape[axis_in(axis, x.rank)]
    for v in vectors:
        need_rank(v, 1, what)
        # an empty vector means that statistics are not given
        if size is not None and v.shape is not None and v.shape[0] not in (None, 0, size):
            raise RuleError(WRONG_SHAPE, f"takes a {what} for each of {size} channels, but got {v}.", "Check the axis.")


def _bias_type(types, attrs, values):
    x, bias = types
    need_numbers(types)
    if ANY not in (x.dtype, bias.dtype) and x.dtype != bias.dtype:
        raise RuleError(WRONG_DTYPE, f"takes a bias of dtype {x.dtype}, but got {bias}.", "Cast the bias.")
    _need_vectors(x, attrs.get("axis", -1), [bias], "bias")
    return x


def _bias_add(arrays, attrs):
    x, bias = arrays
    return x + _along(x, bias, attrs.get("axis", -1))


def _batch_norm_type(types, attrs, values):
    x = types[0]
    for t in types:
        need_kinds(t, "f", "input", "real numbers")
    _need_vectors(x, attrs.get("axis", -1), types[1:], "parameter")
    return x


def _scaled(x, scale, offset, mean, variance, axis, epsilon):
    """(x - mean) / sqrt(variance + epsilon) * scale + offset, computed in at least single precision."""
    dtype = working(x.dtype)
    scale, offset, mean, variance = (v.astype(dtype, copy=False) for v in (scale, offset, mean, variance))
    factor = scale / np.sqrt(variance + dtype.type(epsilon))
    wide = x.astype(dtype, copy=False)
    return ((wide - _along(x, mean, axis)) * _along(x, factor, axis) + _along(x, offset, axis)).astype(x.dtype)


def _batch_norm(arrays, attrs):
    x, scale, offset, mean, variance = arrays
    return _scaled(x, scale, offset, mean, variance, attrs.get("axis", -1), attrs.get("epsilon", 1e-5))


def _fused_type(types, attrs, values):
    out = _batch_norm_type(types, attrs, values)
    axis = attrs.get("axis", -1)
    size = None if out.shape is None else out.shape[axis_in(axis, out.rank)]
    statistic = TensorType(types[1].dtype, (size,))
    return out, statistic, statistic, statistic, statistic, TensorType(types[1].dtype, ())


def _fused_batch_norm(arrays, attrs):
    x, scale, offset, mean, variance = arrays
    axis, epsilon, dtype = attrs.get("axis", -1), attrs.get("epsilon", 1e-4), scale.dtype
    reserved = np.zeros((), dtype)
    if not attrs.get("training", True):
        y = _scaled(x, scale, offset, mean, variance, axis, epsilon)
        return y, mean, variance, mean, variance, reserved
    others = tuple(i for i in range(x.ndim) if i != axis % x.ndim)
    wide = x.astype(working(x.dtype), copy=False)
    own, spread = wide.mean(axis=others), wide.var(axis=others)
    y = _scaled(x, scale, offset, own, spread, axis, epsilon)
    count = x.size // max(x.shape[axis], 1)
    unbiased = (spread * spread.dtype.type(count / max(count - 1, 1))).astype(dtype)
    own, spread = own.astype(dtype), spread.astype(dtype)
    share = dtype.type(attrs.get("average_factor", 1.0))
    if share == 1:  # the running statistics are replaced and may be missing
        return y, own, unbiased, own, spread, reserved
    return y, mean + share * (own - mean), variance + share * (unbiased - variance), own, spread, reserved


def _fused_gradient_type(types, attrs, values):
    gradient, x, scale, mean, variance = types[:5]
    for t in types:
        need_kinds(t, "f", "input", "real numbers")
    if not TensorType(x.dtype, gradient.shape).accepts(x):
        raise RuleError(WRONG_SHAPE, f"takes a gradient of the shape of x, but got {gradient} and {x}.", "Reshape it.")
    _need_vectors(x, attrs.get("axis", -1), types[2:5], "parameter")
    size = None if x.shape is None else x.shape[axis_in(attrs.get("axis", -1), x.rank)]
    return x, TensorType(scale.dtype, (size,)), TensorType(scale.dtype, (size,))


def _fused_gradient(arrays, attrs):
    x, axis = arrays[1], attrs.get("axis", -1)
    dtype = working(x.dtype)
    gradient, wide, scale, mean, variance = (a.astype(dtype, copy=False) for a in arrays[:5])
    others = tuple(i for i in range(x.ndim) if i != axis % x.ndim)
    spread = 1 / np.sqrt(variance + dtype.type(attrs.get("epsilon", 1e-4)))
    normal = (wide - _along(x, mean, axis)) * _along(x, spread, axis)
    by_offset, by_scale = gradient.sum(axis=others), (gradient * normal).sum(axis=others)
    if attrs.get("training", True):  # the statistics also depend on x
        count = dtype.type(max(x.size // max(x.shape[axis], 1), 1))
        gradient = gradient - (_along(x, by_offset, axis) + normal * _along(x, by_scale, axis)) / count
    by_x = gradient * _along(x, scale * spread, axis)
    return by_x.astype(x.dtype), by_scale.astype(arrays[2].dtype), by_offset.astype(arrays[2].dtype)


def _lrn_type(types, attrs, values):
    need_kinds(types[0], "f", "input", "real numbers")
    axis_in(attrs.get("axis", -1), types[0].rank)
    return types[0]


def _lrn(arrays, attrs):
    x, axis = arrays[0], attrs.get("axis", -1)
    before, after = attrs.get("before", 5), attrs.get("after", 5)
    square = np.moveaxis(np.square(x.astype(working(x.dtype), copy=False)), axis, -1)
    size = square.shape[-1]
    total = np.zeros_like(square)
    for shift in range(max(-before, -size), min(after, size) + 1):
        here, there = slice(max(-shift, 0), size - max(shift, 0)), slice(max(shift, 0), size - max(-shift, 0))
        total[..., here] += square[..., there]
    base = np.moveaxis(attrs.get("bias", 1.0) + attrs.get("alpha", 1.0) * total, -1, axis)
    return (x / base ** attrs.get("beta", 0.5)).astype(x.dtype, copy=False)


define(
    "bias_add",
    "x bias",
    _bias_type,
    checked(_bias_type, _bias_add),
    "x plus one number for each channel, whose place is `axis`.",
    FAMILY,
    attrs={"axis": -1},
    source=f"{TF}nn/bias_add",
)
define(
    "batch_norm",
    "x scale offset mean variance",
    _batch_norm_type,
    checked(_batch_norm_type, _batch_norm),
    "(x - mean) / sqrt(variance + epsilon) * scale + offset, for each channel on `axis`.",
    FAMILY,
    attrs={"axis": -1, "epsilon": 1e-5},
    source="https://onnx.ai/onnx/operators/onnx__BatchNormalization.html",
)
define(
    "fused_batch_norm",
    "x scale offset mean variance",
    _fused_type,
    checked(_fused_type, _fused_batch_norm),
    "batch_norm by the given statistics or, with `training`, by those of the batch. Then the running statistics "
    "(moved by `average_factor` towards those of the batch, its variance unbiased) and those that were used.",
    FAMILY,
    outputs="y mean variance used_mean used_variance reserved",
    attrs={"axis": -1, "epsilon": 1e-4, "training": True, "average_factor": 1.0},
    source=f"{TF}raw_ops/FusedBatchNormV3",
)
define(
    "fused_batch_norm_gradient",
    "gradient x scale used_mean used_variance reserved?",
    _fused_gradient_type,
    checked(_fused_gradient_type, _fused_gradient),
    "The gradients of fused_batch_norm by x, scale and offset, from the statistics that it used.",
    FAMILY,
    outputs="x_gradient scale_gradient offset_gradient",
    attrs={"axis": -1, "epsilon": 1e-4, "training": True},
    source=f"{TF}raw_ops/FusedBatchNormGradV3",
)
define(
    "lrn",
    "x",
    _lrn_type,
    checked(_lrn_type, _lrn),
    "x / (bias + alpha * s) ** beta, s the sum of squares of `before` to `after` neighbours along `axis`.",
    FAMILY,
    attrs={"before": 5, "after": 5, "bias": 1.0, "alpha": 1.0, "beta": 0.5, "axis": -1},
    source=f"{TF}nn/local_response_normalization",
)
