"""Recurrent layers as loops over time steps, so that every step can be inspected.

Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.LSTM.html, GRU and RNN: gates i, f, g, o; r, z, n.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.frontends.pytorch.control.scan import over_rows
from workbench.frontends.pytorch.rules.draws import dropped
from workbench.frontends.pytorch.rules.products import affine
from workbench.frontends.pytorch.rules.table import rule
from workbench.ir.builder.value import Value
from workbench.ir.types import TensorType

if TYPE_CHECKING:
    from workbench.frontends.pytorch.lower import TorchLowering

Weights = tuple[Value, Value, "Value | None", "Value | None"]


def lstm_step(lowering: TorchLowering, x: Value, h: Value, c: Value, weights: Weights) -> tuple[Value, Value]:
    gates = _both(lowering, x, h, weights)
    i, f, g, o = lowering.several("split", gates, axis=1, num=4)
    i, f, o = (lowering.part("sigmoid", v) for v in (i, f, o))
    kept = lowering.part("multiply", f, c)
    new = lowering.part("add", kept, lowering.part("multiply", i, lowering.part("tanh", g)))
    return lowering.part("multiply", o, lowering.part("tanh", new)), new


def gru_step(lowering: TorchLowering, x: Value, h: Value, weights: Weights) -> Value:
    w_x, w_h, b_x, b_h = weights
    of_x = lowering.several("split", affine(lowering, x, w_x, b_x, lowering.part), axis=1, num=3)
    of_h = lowering.several("split", affine(lowering, h, w_h, b_h, lowering.part), axis=1, num=3)
    r, z = (lowering.part("sigmoid", lowering.part("add", of_x[k], of_h[k])) for k in (0, 1))
    n = lowering.part("tanh", lowering.part("add", of_x[2], lowering.part("multiply", r, of_h[2])))
    return lowering.part("add", n, lowering.part("multiply", z, lowering.part("subtract", h, n)))


def _both(lowering: TorchLowering, x: Value, h: Value, weights: Weights) -> Value:
    w_x, w_h, b_x, b_h = weights
    made: Value = lowering.part(
        "add", affine(lowering, x, w_x, b_x, lowering.part), affine(lowering, h, w_h, b_h, lowering.part)
    )
    return made


@rule("gru_cell.default", "lstm_cell.default", "rnn_tanh_cell.default", "rnn_relu_cell.default")
def _cell(
    lowering: TorchLowering, input: Value, hx: Any, w_ih: Value, w_hh: Value, b_ih: Any = None, b_hh: Any = None
) -> Any:
    weights = w_ih, w_hh, b_ih, b_hh
    kind = lowering.call.target.split(".")[1]
    if kind == "lstm_cell":
        return list(lstm_step(lowering, input, hx[0], hx[1], weights))
    if kind == "gru_cell":
        return gru_step(lowering, input, hx, weights)
    return lowering.op("tanh" if "tanh" in kind else "relu", _both(lowering, input, hx, weights))


@rule("lstm.input", "gru.input", "rnn_tanh.input", "rnn_relu.input")
def _layers(
    lowering: TorchLowering,
    input: Value,
    hx: Any,
    params: list[Value],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> list[Value] | None:
    kind = lowering.call.target.split(".")[1]
    states = list(hx) if isinstance(hx, list) else [hx]
    each, ways = (4 if has_biases else 2), (2 if bidirectional else 1)
    if len(params) != each * num_layers * ways or any(p.dtype in ("float16", "bfloat16") for p in params):
        return None  # with a projection there is one more weight
    x = lowering.part("transpose", input, perm=(1, 0, 2)) if batch_first else input
    last: list[list[Value]] = [[] for _ in states]
    for layer in range(num_layers):
        sides = []
        for way in range(ways):
            at = layer * ways + way
            own = params[at * each : (at + 1) * each]
            weights = (own[0], own[1], *(own[2:] if has_biases else (None, None)))
            start = [lowering.part("getitem", s, index=(("int", at),)) for s in states]
            final, steps = _over_time(lowering, kind, x, start, weights, bool(way))  # type: ignore[arg-type]
            sides.append(steps)
            for k, value in enumerate(final):
                last[k].append(value)
        x = lowering.part("concat", *sides, axis=2) if ways == 2 else sides[0]
        if train and dropout and layer < num_layers - 1:
            x, _ = dropped(lowering, x, dropout)
    out = lowering.op("transpose", x, perm=(1, 0, 2)) if batch_first else lowering.op("Identity", x)
    final = [lowering.part("stack", *values, axis=0) for values in last]
    for k, value in enumerate(final, 1):  # PyTorch 2.9 declares [layers, 1, batch, size], returns [layers, batch, size]
        if lowering.metas[k].type.rank == (value.type.rank or 0) + 1:
            lowering.retype(k, value.type)
    return [out, *final]


def _over_time(
    lowering: TorchLowering, kind: str, x: Value, start: list[Value], weights: Weights, backward: bool
) -> tuple[list[Value], Value]:
    """One layer in one direction: the last states, and the hidden states of all time steps."""

    def step(now: list[Value], parts: list[Value]) -> list[Value]:
        if kind == "lstm":
            h, c = lstm_step(lowering, parts[0], now[0], now[1], weights)
            return [h, c, h]
        if kind == "gru":
            h = gru_step(lowering, parts[0], now[0], weights)
        else:
            h = lowering.part("tanh" if "tanh" in kind else "relu", _both(lowering, parts[0], now[0], weights))
        return [h, h]

    names = ["h", "c"][: len(start)]
    found = over_rows(lowering, names, start, [x], step, backward, [TensorType(start[0].dtype, start[0].shape)])
    return found[:-1], found[-1]
