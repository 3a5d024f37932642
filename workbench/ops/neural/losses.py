"""Losses of classification and regression with their gradients, and the test whether a class is among the likeliest."""

from __future__ import annotations

import numpy as np

from workbench.ir.types import TensorType, dtype_name
from workbench.ops.define import define
from workbench.ops.neural.convolution import common_dtype
from workbench.ops.neural.windows import checked
from workbench.ops.rules import (
    UNSEEN,
    WRONG_ATTR,
    WRONG_SHAPE,
    RuleError,
    attr_dtype,
    broadcast,
    need_kinds,
    need_rank,
    setting,
    setting_at_run,
    show,
    working,
)

FAMILY = "losses"
TF = "https://www.tensorflow.org/api_docs/python/tf/"


def _need_classes(x: TensorType) -> None:
    if x.rank == 0:
        raise RuleError(WRONG_SHAPE, f"takes logits with an axis of classes, but got {x}.", "Add an axis.")


def _dense_type(types, attrs, values):
    for x in types:
        need_kinds(x, "f", "input", "real numbers")
        _need_classes(x)
    dtype, shape = common_dtype(types), broadcast(*(x.shape for x in types))
    return TensorType(dtype, None if shape is None else shape[:-1]), TensorType(dtype, shape)


def _shifted(logits: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The logits minus their maximum, their exponentials, and the sums of these along the classes."""
    x = logits.astype(working(logits.dtype), copy=False)
    shifted = x - np.max(x, axis=-1, keepdims=True, initial=-np.inf)
    e = np.exp(shifted)
    return shifted, e, e.sum(axis=-1, keepdims=True)


def _dense(arrays, attrs):
    logits, labels = np.broadcast_arrays(*arrays)
    shifted, e, total = _shifted(logits)
    wide = labels.astype(shifted.dtype, copy=False)
    # a class with label 0 adds nothing, even if its logit is -inf
    terms = np.where(wide == 0, 0, wide * (np.log(total) - shifted))
    return terms.sum(axis=-1).astype(logits.dtype), (e / total - wide).astype(logits.dtype)


def _sparse_type(types, attrs, values):
    logits, labels = types
    need_kinds(logits, "f", "logits", "real numbers")
    need_kinds(labels, "iu", "labels", "integers", "Cast the labels to integers.")
    _need_classes(logits)
    if logits.shape is None:
        return TensorType(logits.dtype, labels.shape), logits
    found = TensorType(logits.dtype, logits.shape[:-1])
    if not TensorType(labels.dtype, found.shape).accepts(labels):
        raise RuleError(WRONG_SHAPE, f"takes labels of shape {show(found.shape)}, but got {labels}.", "Reshape them.")
    return found, logits


def _sparse(arrays, attrs):
    logits, labels = arrays
    classes = logits.shape[-1]
    if labels.size and (labels.min() < 0 or labels.max() >= classes):
        raise RuleError(
            WRONG_ATTR,
            f"got labels from {labels.min()} to {labels.max()} for {classes} classes.",
            "Give labels from 0 up to the number of classes less one.",
        )
    shifted, e, total = _shifted(logits)
    at = labels.astype(np.int64)[..., None]
    loss = (np.log(total) - np.take_along_axis(shifted, at, -1))[..., 0]
    gradient = e / total
    np.put_along_axis(gradient, at, np.take_along_axis(gradient, at, -1) - 1, -1)
    return loss.astype(logits.dtype), gradient.astype(logits.dtype)


def _l2_type(types, attrs, values):
    need_kinds(types[0], "f", "input", "real numbers")
    return TensorType(types[0].dtype, ())


def _l2(arrays, attrs):
    x = arrays[0]
    flat = x.reshape(-1).astype(working(x.dtype), copy=False)
    return (np.dot(flat, flat) / 2).astype(x.dtype)


def _in_top_k_type(types, attrs, values):
    predictions, targets = types[:2]
    need_kinds(predictions, "f", "predictions", "real numbers")
    need_kinds(targets, "iu", "targets", "integers")
    need_rank(predictions, 2, "predictions")
    need_rank(targets, 1, "targets")
    k = setting(attrs, "k", types, values, 2)
    if k is None or (k is not UNSEEN and len(k) != 1):
        raise RuleError(WRONG_ATTR, "needs one integer 'k', as an attr or as the third input.", "Give k.")
    rows = {x.shape[0] for x in (predictions, targets) if x.shape is not None} - {None}
    if len(rows) > 1:
        raise RuleError(WRONG_SHAPE, f"got {predictions} and {targets}.", "Give one target for each row.")
    return TensorType("bool", (rows.pop() if rows else None,))


def _in_top_k(arrays, attrs):
    predictions, targets = arrays[:2]
    k = setting_at_run(attrs, "k", arrays, 2)[0]
    inside = (targets >= 0) & (targets < predictions.shape[1])
    at = np.where(inside, targets, 0).astype(np.int64)[:, None]
    own = np.take_along_axis(predictions, at, 1) if predictions.shape[1] else np.zeros((len(targets), 1))
    ahead = (predictions > own).sum(axis=1)
    # a row with a number that is not finite cannot be ranked
    sound = np.isfinite(predictions.astype(np.float64)).all(axis=1)
    return inside & sound & (ahead < k)


def _histogram_type(types, attrs, values):
    x, limits = types[:2]
    need_kinds(x, "iuf", "values", "real numbers")
    need_kinds(limits, "iuf", "limits", "real numbers")
    if not TensorType(limits.dtype, (2,)).accepts(limits):
        raise RuleError(WRONG_SHAPE, f"takes the two limits of the range, but got {limits}.", "Give [low, high].")
    if values[1] is not None and not values[1][0] < values[1][1]:
        raise RuleError(WRONG_ATTR, f"got the limits {values[1].tolist()}.", "Give the lower one first.")
    bins = setting(attrs, "bins", types, values, 2, (100,))
    if bins is not UNSEEN and (len(bins) != 1 or bins[0] < 1):
        raise RuleError(WRONG_ATTR, f"got {bins} bins.", "Give one positive integer.")
    return TensorType(attr_dtype({"dtype": attrs.get("dtype") or "int32"}), (None if bins is UNSEEN else bins[0],))


def _histogram(arrays, attrs):
    x, (low, high) = arrays[0], arrays[1].astype(np.float64)
    bins = (setting_at_run(attrs, "bins", arrays, 2) or (100,))[0]
    scaled = (x.reshape(-1).astype(np.float64) - low) * (bins / (high - low))
    index = np.clip(np.nan_to_num(np.floor(scaled), nan=0), 0, bins - 1).astype(np.int64)
    return np.bincount(index, minlength=bins).astype(dtype_name(attrs.get("dtype") or "int32"))


define(
    "softmax_cross_entropy",
    "logits labels",
    _dense_type,
    checked(_dense_type, _dense),
    "-sum(labels * log(softmax(logits))) over the classes on the last axis, and its gradient by the logits.",
    FAMILY,
    outputs="loss gradient",
    source=f"{TF}nn/softmax_cross_entropy_with_logits",
)
define(
    "sparse_softmax_cross_entropy",
    "logits labels",
    _sparse_type,
    checked(_sparse_type, _sparse),
    "-log(softmax(logits)) at the class that each label numbers, and its gradient by the logits.",
    FAMILY,
    outputs="loss gradient",
    source=f"{TF}nn/sparse_softmax_cross_entropy_with_logits",
)
define(
    "l2_loss", "x", _l2_type, checked(_l2_type, _l2), "Half the sum of the squares.", FAMILY, source=f"{TF}nn/l2_loss"
)
define(
    "in_top_k",
    "predictions targets k?",
    _in_top_k_type,
    checked(_in_top_k_type, _in_top_k),
    "Whether fewer than k predictions of the row are greater than that of the target; false for a target out of "
    "range and in a row that is not finite.",
    FAMILY,
    attrs={"k": None},
    source=f"{TF}math/in_top_k",
)
define(
    "histogram_fixed_width",
    "values limits bins?",
    _histogram_type,
    checked(_histogram_type, _histogram),
    "How many values lie in each of equal bins between the two limits; values outside count in the first or last.",
    FAMILY,
    attrs={"bins": None, "dtype": "int32"},
    source=f"{TF}histogram_fixed_width",
)
