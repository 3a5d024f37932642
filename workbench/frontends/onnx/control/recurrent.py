"""ONNX LSTM, GRU and RNN -> a frame for each direction, one iteration for each time step.

::

    X, W, R, B ──► frame: trip, H (and C), the list of H ──► Exit ─► Y, Y_h, Y_c
                          └─ X[trip] ─► gates ─► H, C of the next step         (``cells``)

The direction "reverse" goes from the last row to the first. With ``sequence_lens``, the state of a sequence is kept and
its output is 0 in the steps after its end. Sources: https://onnx.ai/onnx/operators/onnx__LSTM.html, GRU, RNN;
onnxruntime/core/providers/cpu/rnn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.frontends.onnx.control.cells import CELLS, CellMaker, CellWeights, activations_of, unknown_activations
from workbench.frontends.onnx.control.scan_loop import length_of
from workbench.frontends.onnx.control.variables import CarriedVariable, frame_names
from workbench.frontends.onnx.scope import LoopScope, OnnxScope
from workbench.ir.node import Ref
from workbench.ir.types import ANY

if TYPE_CHECKING:
    from workbench.frontends.onnx.lower import OnnxLowering, OnnxNode

RECURRENT = frozenset(CELLS)


@dataclass(frozen=True, slots=True)
class _Layer:
    """A recurrent node: ``rows`` is X with time as the first axis, ``states`` the start values of H and C or None."""

    node: OnnxNode
    rows: Ref
    length: Ref
    dtype: str
    hidden: int
    states: tuple[Ref | None, ...]


def lower_recurrent(lowering: OnnxLowering, outer: OnnxScope, node: OnnxNode) -> bool:
    """Lower a node to loops; returns False if it must remain one node, with the reason in ``lowering.notes``."""
    x, recurrence = node.input(0), node.input(2)
    if x is None or node.input(1) is None or recurrence is None:
        return False
    sizes = lowering.type_of(recurrence).shape
    hidden = int(node.attrs.get("hidden_size", 0)) or (sizes[-1] if sizes else None)
    dtype = next((t.dtype for t in map(lowering.type_of, (x, recurrence)) if t.dtype.startswith("float")), "")
    strange = unknown_activations(node)
    why = (
        f"the activation {strange[0]!r} is not known" if strange
        else "the model does not tell its hidden size" if not hidden
        else "the model does not tell its element type" if not dtype
        else ""
    )  # fmt: skip
    if why:
        lowering.notes.append(f"{node.op} {node.label!r} is one node, and not a loop: {why}.")
        return False
    assert hidden
    frame, region = frame_names(lowering, node, outer, node.op.lower())
    make = CellMaker(lowering, outer, frame, region, dtype)
    batch_first = bool(node.attrs.get("layout", 0))
    rows = make("transpose", x, called="X", perm=(1, 0, 2)) if batch_first else x
    layer = _Layer(
        node, rows, length_of(lowering, outer, rows, 0, frame, region), dtype, hidden,
        _starts(make, node, batch_first),
    )  # fmt: skip
    direction = node.attrs.get("direction", "forward")
    ways = ("forward", "reverse") if direction == "bidirectional" else (direction,)
    found = [_direction(lowering, outer, layer, k, way, frame, region, len(ways) > 1) for k, way in enumerate(ways)]
    _results(lowering, outer, make, node, found, batch_first)
    return True


def _starts(make: CellMaker, node: OnnxNode, batch_first: bool) -> tuple[Ref | None, ...]:
    """H and C before the first step, [direction, batch, hidden]; None for zeros."""
    given = [node.input(5), node.input(6)] if node.op == "LSTM" else [node.input(5)]
    return tuple(
        make("transpose", s, called=f"initial_{n}", perm=(1, 0, 2)) if s is not None and batch_first else s
        for n, s in zip("hc", given, strict=False)
    )


def _zeros(make: CellMaker, layer: _Layer) -> Ref:
    batch = make("shape", layer.rows, called="batch", start=1, end=2)
    dims = make("concat", batch, make.constant(np.array([layer.hidden], np.int64), "hidden_size"), called="state/dims",
                axis=0)  # fmt: skip
    return make("fill", dims, make.number(0.0), called="state/zeros")


def _direction(
    lowering: OnnxLowering,
    outer: OnnxScope,
    layer: _Layer,
    number: int,
    way: str,
    frame: str,
    region: str,
    several: bool,
) -> tuple[list[Ref], Ref]:
    """One direction: the last H (and C), and H of all steps with time as the first axis."""
    node, backward = layer.node, way == "reverse"
    if several:
        frame, region = lowering.unique(f"{frame}/{way}"), f"{region}/{way}"
    around = CellMaker(lowering, outer, frame, region, layer.dtype)

    def own(index: int, called: str) -> Ref | None:
        whole = node.input(index)
        return None if whole is None else around.part(whole, number, called)

    weights = CellWeights.of(around, node, own, layer.hidden)
    inside = LoopScope(lowering, outer, frame, region)
    trip = CarriedVariable(lowering, inside, "trip", around.constant(np.int64(0), "trip/start"), "int64")
    names = ("H", "C")[: len(layer.states)]
    starts = [
        _zeros(around, layer) if s is None else around.part(s, number, f"{n}/start")
        for n, s in zip(names, layer.states, strict=True)
    ]
    states = [CarriedVariable(lowering, inside, n, s) for n, s in zip(names, starts, strict=True)]
    steps = CarriedVariable(lowering, inside, "Y/list", around("list_new", called="Y/start"))
    bound = inside.bring_in(layer.length, "length")
    within = lowering.raw("less", [trip.merge, bound], f"{frame}/within_length", region=region)
    loop_cond = lowering.raw("LoopCond", [within], f"{frame}/LoopCond", region=region)
    for variable in (trip, *states, steps):
        variable.split(loop_cond)
    inside.guarded = trip.alive

    make = CellMaker(lowering, inside, frame, region, layer.dtype)
    following = make("add", trip.alive, make.constant(np.int64(1), "trip/one"), called="trip/next")
    at = make("subtract", bound, following, called="row") if backward else trip.alive
    x = make("gather", make.brought(layer.rows, "X"), at, called="X_t", axis=0)
    now = [s.alive for s in states]
    cell = CELLS[node.op]
    new = list(cell(make, x, now, weights, activations_of(node, number), node.attrs))
    shown = new[0]
    lens = node.input(4)
    if lens is not None:
        zero = make.number(0.0)
        ends = make("cast", make.brought(lens, "sequence_lens"), called="ends", dtype="int64")
        there = make("expand_dims", make("less", at, ends, called="there"), called="there/column", axis=(1,))
        shown = make("where", there, new[0], zero, called="Y_t")
        new = [make("where", there, n, o, called=f"{k}_kept") for k, n, o in zip(names, new, now, strict=True)]
    trip.close(following)
    for variable, value in zip(states, new, strict=True):
        variable.close(value)
    steps.close(make("list_append", steps.alive, shown, called="Y/append"))
    lasts = [s.exit(f"{frame}/{n}/Exit") for n, s in zip(names, states, strict=True)]
    if lens is not None:  # as in onnxruntime, the last state of an empty sequence is 0
        some = around("greater", lens, around("zeros_like", lens, called="none"), called="not_empty")
        column = around("expand_dims", some, called="not_empty/column", axis=(1,))
        zero = around.number(0.0)
        lasts = [around("where", column, v, zero, called=f"{n}/last") for n, v in zip(names, lasts, strict=True)]
    batch = (lowering.type_of(layer.rows).shape or (None, None))[1]
    rows = around(
        "list_stack", steps.exit(f"{frame}/Y/Exit"), called="Y", dtype=layer.dtype, axis=0, backward=backward,
        shape=(-1 if batch is None else batch, layer.hidden),
    )  # fmt: skip
    if batch is None:  # without steps the list does not show the number of sequences
        sizes = around("shape", layer.rows, called="Y/rows", start=0, end=2)
        hidden = around.constant(np.array([layer.hidden], np.int64), "hidden_size")
        rows = around("reshape", rows, around("concat", sizes, hidden, called="Y/dims", axis=0), called="Y/shaped")
    return lasts, rows


def _results(
    lowering: OnnxLowering,
    outer: OnnxScope,
    make: CellMaker,
    node: OnnxNode,
    found: Sequence[tuple[list[Ref], Ref]],
    batch_first: bool,
) -> None:
    """Y, Y_h and Y_c of the results of each direction."""
    for k, name in enumerate(node.outputs):
        if not name:
            continue
        parts = [steps if k == 0 else lasts[k - 1] for lasts, steps in found]
        own: dict[str, Any] = {"name": lowering.node_name(outer, name)}
        if k:
            made = make("stack", *parts, axis=1 if batch_first else 0, **own)
        elif batch_first:
            made = make("transpose", make("stack", *parts, called="Y/stack", axis=2), perm=(1, 0, 2, 3), **own)
        else:
            made = make("stack", *parts, axis=1, **own)
        lowering.publish(outer, name, made)
        declared = lowering.declared(outer, name)
        if declared.dtype != ANY:
            lowering.types[made] = declared
