"""The loop of an ONNX Scan, of any version: its frame, the slices of its inputs, and the lists of its outputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.errors import LoadError
from workbench.frontends.onnx.control.variables import CarriedVariable, collect, collectors
from workbench.frontends.onnx.scope import LoopScope, OnnxScope
from workbench.ir.node import Ref

if TYPE_CHECKING:
    from workbench.frontends.onnx.lower import OnnxLowering, OnnxNode


def scan_inputs(node: OnnxNode, graph: Any, count: int) -> int:
    """Number of scanned inputs among ``count``; LoadError if the body does not fit them."""
    n_in = int(node.attrs.get("num_scan_inputs", 0))
    if not 1 <= n_in <= count or len(graph.input) != count or len(graph.output) < count - n_in:
        raise LoadError(
            f"Scan {node.label!r} has {count} inputs, {n_in} of them scanned, but its body has "
            f"{len(graph.input)} inputs and {len(graph.output)} outputs.",
            slug="bad-scan",
            fix="give the body one input for each of the node's, and one output for each state.",
        )
    return n_in


def ints(node: OnnxNode, key: str, count: int) -> list[int]:
    """An attribute with one integer for each of ``count`` values; zeros if it is missing."""
    given = [int(v) for v in node.attrs.get(key, (0,) * count)]
    if len(given) != count:
        raise LoadError(
            f"Scan {node.label!r} has {len(given)} numbers in {key!r}, but {count} are needed.",
            slug="bad-scan",
            fix=f"give one of {key!r} for each value.",
        )
    return given


def scan_loop(
    lowering: OnnxLowering,
    inside: LoopScope,
    graph: Any,
    states: Sequence[Ref],
    whole: Sequence[Ref],
    length: Ref,
    axes: Sequence[int],
    backward: Sequence[int],
) -> tuple[list[CarriedVariable], list[CarriedVariable]]:
    """The loop itself, in the frame of ``inside``; the arguments are values of the enclosing scope. Returns the
    variables of the states, and the variables that collect the scan outputs.
    """
    outer, frame, region = inside.parent, inside.frame, inside.region
    assert outer is not None
    lowering.open(inside, graph)
    start = lowering.constant(outer, np.int64(0), f"{frame}/trip/start", region=region)
    trip = CarriedVariable(lowering, inside, "trip", start, "int64")
    names = [i.name for i in graph.input]
    variables = [CarriedVariable(lowering, inside, n, v) for n, v in zip(names, states, strict=False)]
    lists = collectors(lowering, outer, inside, list(graph.output)[len(states) :])

    bound = inside.bring_in(length, "length")
    within = lowering.raw("less", [trip.merge, bound], f"{frame}/within_length", region=region)
    loop_cond = lowering.raw("LoopCond", [within], f"{frame}/LoopCond", region=region)
    for variable in (trip, *variables, *lists):
        variable.split(loop_cond)
    inside.guarded = trip.alive
    one = lowering.constant(inside, np.int64(1), f"{frame}/trip/one")
    following = lowering.emit(inside, "add", [trip.alive, one], f"{frame}/trip/next")
    for name, state in zip(names, variables, strict=False):
        lowering.publish(inside, name, state.alive)
    for name, value, axis, turned in zip(names[len(states) :], whole, axes, backward, strict=True):
        at = trip.alive
        if turned:
            at = lowering.emit(inside, "subtract", [bound, following], f"{frame}/{name}/position")
        slice_ = take(lowering, inside, inside.bring_in(value, f"{name}/all"), at, name, axis)
        lowering.types[slice_] = lowering.declared(inside, name)
        lowering.publish(inside, name, slice_)

    results = lowering.body(inside, graph)
    trip.close(following)
    for state, value in zip(variables, results, strict=False):
        state.close(value)
    collect(lowering, inside, lists, results[len(states) :])
    return variables, lists


def take(lowering: OnnxLowering, scope: OnnxScope, whole: Ref, at: Ref, name: str, axis: int = 0) -> Ref:
    return lowering.emit(scope, "gather", [whole, at], lowering.node_name(scope, name), axis=axis)


def length_of(lowering: OnnxLowering, scope: OnnxScope, whole: Ref, axis: int, frame: str, region: str) -> Ref:
    """The size of one axis, as a scalar."""
    end = None if axis == -1 else axis + 1
    sizes = lowering.emit(scope, "shape", [whole], f"{frame}/length/shape", region=region, start=axis, end=end)
    return lowering.emit(scope, "reshape", [sizes], f"{frame}/length", region=region, shape=())
