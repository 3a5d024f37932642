"""Cells of recurrent networks as single ops: the LSTM cell, one step or a whole sequence, and the GRU cell.

With ``[i, c, f, o] = [x, h] @ w + b`` (the gates in the order ``gates``) and peephole weights p (zero without)::

    i = sigmoid(i + p_i * cs)      f = sigmoid(f + forget_bias + p_f * cs)      c = tanh(c)
    cs' = clip(c * i + cs * f)     o = sigmoid(o + p_o * cs')                   h' = tanh(cs') * o

Sources: https://www.tensorflow.org/api_docs/python/tf/raw_ops/LSTMBlockCell, .../BlockLSTMV2, .../GRUBlockCell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from workbench.ir.types import TensorType
from workbench.ops.define import define
from workbench.ops.elementwise.functions import sigmoid
from workbench.ops.neural.convolution import common_dtype
from workbench.ops.neural.windows import checked
from workbench.ops.rules import WRONG_ATTR, WRONG_SHAPE, RuleError, need_kinds, need_rank, show, working

FAMILY = "recurrent"
SOURCE = "https://www.tensorflow.org/api_docs/python/tf/raw_ops/"
ATTRS = {"forget_bias": 1.0, "cell_clip": 3.0, "use_peephole": False, "gates": "icfo"}
STATES = "i cs f o ci co h"


def _reals(types: Sequence[TensorType]) -> str:
    for x in types:
        need_kinds(x, "f", "input", "real numbers")
    return common_dtype(types)


def _sizes(x: TensorType, h: TensorType, w: TensorType) -> tuple[int | None, int | None, int | None]:
    """(batch, inputs, units); x of rank 2."""
    for t in (x, h, w):
        need_rank(t, 2, "input, state or weights")
    batch = next((t.shape[0] for t in (x, h) if t.shape is not None and t.shape[0] is not None), None)
    return batch, None if x.shape is None else x.shape[1], None if h.shape is None else h.shape[1]


def _need(what: str, x: TensorType, *shape: int | None) -> None:
    if not TensorType(x.dtype, shape).accepts(x):
        raise RuleError(WRONG_SHAPE, f"takes {what} of shape {show(shape)}, but got {x}.", "Check the sizes.")


def _times(a: int | None, n: int) -> int | None:
    return None if a is None else a * n


def _plus(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else a + b


def _lstm_types(types: Sequence[TensorType], attrs: Mapping[str, Any], x: TensorType):
    """Check the inputs of a cell; returns batch, units and dtype. ``x`` is one step of the input."""
    _, cs, h, w, wci, wcf, wco, b = types
    if sorted(attrs.get("gates", "icfo")) != sorted("icfo"):
        raise RuleError(WRONG_ATTR, f"has no order of gates {attrs['gates']!r}.", "Give the letters i, c, f, o.")
    dtype = _reals(types)
    batch, inputs, units = _sizes(x, h, w)
    _need("an input", x, batch, inputs)
    _need("a state", h, batch, units)
    _need("a cell state", cs, batch, units)
    _need("weights", w, _plus(inputs, units), _times(units, 4))
    _need("biases", b, _times(units, 4))
    if attrs.get("use_peephole", False):
        for p in (wci, wcf, wco):
            _need("peephole weights", p, units)
    return dtype, batch, units


def _cell_type(types, attrs, values):
    dtype, batch, units = _lstm_types(types, attrs, types[0])
    return (TensorType(dtype, (batch, units)),) * 7


def _block_type(types, attrs, values):
    last, x = types[:2]
    need_kinds(last, "iu", "length", "an integer")
    need_rank(last, 0, "length")
    need_rank(x, 3, "input")
    step = TensorType(x.dtype, None if x.shape is None else x.shape[1:])
    dtype, batch, units = _lstm_types(types[1:], attrs, step)
    return (TensorType(dtype, (None if x.shape is None else x.shape[0], batch, units)),) * 7


def _step(x, cs, h, w, peepholes, b, attrs):
    gates = np.concatenate([x, h], axis=1) @ w + b
    parts = dict(zip(attrs.get("gates", "icfo"), np.split(gates, 4, axis=1), strict=True))
    wci, wcf, wco = peepholes
    i = sigmoid(parts["i"] + cs * wci)
    f = sigmoid(parts["f"] + x.dtype.type(attrs.get("forget_bias", 1.0)) + cs * wcf)
    ci = np.tanh(parts["c"])
    cs = ci * i + cs * f
    clip = attrs.get("cell_clip", 3.0)
    if clip > 0:
        cs = np.clip(cs, -clip, clip)
    o = sigmoid(parts["o"] + cs * wco)
    co = np.tanh(cs)
    return i, cs, f, o, ci, co, co * o


def _wide(arrays: Sequence[np.ndarray], attrs: Mapping[str, Any]) -> list[Any]:
    """x, cs, h, w, the peepholes and b, cast to the dtype of the computation."""
    x, cs, h, w, *peepholes, b = (a.astype(working(a.dtype), copy=False) for a in arrays)
    return [x, cs, h, w, peepholes if attrs.get("use_peephole", False) else [x.dtype.type(0)] * 3, b]


def _cell(arrays, attrs):
    x, cs, h, w, peepholes, b = _wide(arrays, attrs)
    return [a.astype(arrays[0].dtype, copy=False) for a in _step(x, cs, h, w, peepholes, b, attrs)]


def _block(arrays, attrs):
    x, cs, h, w, peepholes, b = _wide(arrays[1:], attrs)
    steps = max(0, min(int(arrays[0]), len(x)))
    found = [np.zeros((len(x), *h.shape), x.dtype) for _ in range(7)]  # zeros after the longest sequence
    for t in range(steps):
        for series, value in zip(found, _step(x[t], cs, h, w, peepholes, b, attrs), strict=True):
            series[t] = value
        cs, h = found[1][t], found[6][t]
    return [a.astype(arrays[1].dtype, copy=False) for a in found]


def _gru_type(types, attrs, values):
    x, h, w_ru, w_c, b_ru, b_c = types
    dtype = _reals(types)
    need_rank(w_c, 2, "weights")
    batch, inputs, units = _sizes(x, h, w_ru)
    _need("an input", x, batch, inputs)
    _need("a state", h, batch, units)
    _need("weights of the gates", w_ru, _plus(inputs, units), _times(units, 2))
    _need("weights of the candidate", w_c, _plus(inputs, units), units)
    _need("biases of the gates", b_ru, _times(units, 2))
    _need("biases of the candidate", b_c, units)
    return (TensorType(dtype, (batch, units)),) * 4


def _gru(arrays, attrs):
    x, h, w_ru, w_c, b_ru, b_c = (a.astype(working(a.dtype), copy=False) for a in arrays)
    r, u = np.split(sigmoid(np.concatenate([x, h], axis=1) @ w_ru + b_ru), 2, axis=1)
    c = np.tanh(np.concatenate([x, r * h], axis=1) @ w_c + b_c)
    found = (r, u, c, u * h + (1 - u) * c)
    return [a.astype(arrays[0].dtype, copy=False) for a in found]


define(
    "lstm_cell",
    "x cs h w wci wcf wco b",
    _cell_type,
    checked(_cell_type, _cell),
    "One step of an LSTM: its gates, its cell state before and after tanh, its candidate and its output.",
    FAMILY,
    outputs=STATES,
    attrs=ATTRS,
    source=f"{SOURCE}LSTMBlockCell",
)
define(
    "lstm_block",
    "length x cs h w wci wcf wco b",
    _block_type,
    checked(_block_type, _block),
    "lstm_cell along the first axis of x, from the states cs and h, for `length` steps; zeros after that.",
    FAMILY,
    outputs=STATES,
    attrs=ATTRS,
    source=f"{SOURCE}BlockLSTM",
)
define(
    "gru_cell",
    "x h w_ru w_c b_ru b_c",
    _gru_type,
    checked(_gru_type, _gru),
    "One step of a GRU: reset and update gates r and u, the candidate c = tanh([x, r h] w_c + b_c) and the state "
    "u h + (1 - u) c.",
    FAMILY,
    outputs="r u c h_next",
    source=f"{SOURCE}GRUBlockCell",
)
