"""Shared parts of Loop and Scan: loop variables, collected outputs, and queries on the graphs of a node."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from workbench.errors import LoadError
from workbench.frontends.onnx.scope import LoopScope, OnnxScope
from workbench.ir.node import Ref
from workbench.ir.types import ANY, OPAQUE, TensorType

if TYPE_CHECKING:
    from workbench.frontends.onnx.lower import OnnxLowering, OnnxNode


#: suffix of the names that PyTorch's exporter gives to a body's inputs
_OF_TORCH = "__subgraph_in"


class CarriedVariable:
    """One loop variable under construction: ``alive`` is its value in the body."""

    def __init__(self, lowering: OnnxLowering, scope: LoopScope, label: str, start: Ref, dtype: str = "") -> None:
        self.lowering, self.scope, self.label = lowering, scope, label
        enter = scope.enter(start, label, False)
        self.merge = lowering.raw("Merge", [enter], f"{scope.frame}/{label}/Merge", region=scope.region)
        lowering.public.setdefault(f"{scope.frame}/{label}", self.merge)
        # with a given dtype the variable is a scalar; for others only the dtype is certain to stay the same
        known = TensorType(dtype, ()) if dtype else TensorType(lowering.type_of(start).dtype, None)
        lowering.types[self.merge] = known

    def split(self, loop_cond: Ref) -> None:
        name = f"{self.scope.frame}/{self.label}/Switch"
        switch = self.lowering.raw("Switch", [self.merge, loop_cond], name, region=self.scope.region)
        self.alive, self._dead = Ref(switch.node, 1), Ref(switch.node, 0)
        self.lowering.types[self.alive] = self.lowering.types[self.merge]

    def close(self, value: Ref) -> None:
        name = f"{self.scope.frame}/{self.label}"
        if not self.scope.is_gated(value):
            value = self.lowering.emit(self.scope, "Identity", [value], f"{name}/Identity")
        back = self.lowering.raw("NextIteration", [value], f"{name}/NextIteration", region=self.scope.region)
        self.lowering.add_input(self.merge.node, back)

    def exit(self, name: str) -> Ref:
        return self.lowering.raw("Exit", [self._dead], name, region=self.scope.region)


def labels_of(graph: Any, given: Sequence[str]) -> list[str]:
    """Names for the variables of a loop: those of the body's inputs, or of the start values in a body by PyTorch, which
    has no meaningful names for them.
    """
    names = [i.name for i in graph.input][-len(given) :] if given else []
    taken, found = {i.name for i in graph.input}, []
    for name, start in zip(names, given, strict=True):
        if name.endswith(_OF_TORCH) and start and start not in taken:
            name = start
            taken.add(name)
        found.append(name)
    return found


def agree(lowering: OnnxLowering, inside: LoopScope, what: str, names: Sequence[str], starts: Sequence[Ref]) -> None:
    """LoadError ``declared-type`` if the declared element type of a body's input differs from that of its value."""
    for name, start in zip(names, starts, strict=False):
        declared, found = lowering.declared(inside, name), lowering.type_of(start)
        if not {declared.dtype, found.dtype} & {ANY, OPAQUE} and declared.dtype != found.dtype:
            raise LoadError(
                f"The body of {what} declares {declared} for its input {name!r}, but gets {found}.",
                slug="declared-type",
                fix="declare the input as what it gets, or cast that.",
            )


def collectors(
    lowering: OnnxLowering, outer: OnnxScope, inside: LoopScope, outputs: Sequence[Any]
) -> list[CarriedVariable]:
    """One growing list for each scan output of a body."""
    made = []
    for output in outputs:
        start = lowering.emit(outer, "list_new", [], f"{inside.frame}/{output.name}/start", region=inside.region)
        made.append(CarriedVariable(lowering, inside, f"{output.name}/list", start))
    return made


def collect(lowering: OnnxLowering, inside: LoopScope, lists: Sequence[CarriedVariable], values: Sequence[Ref]) -> None:
    """Append this trip's values."""
    for variable, value in zip(lists, values, strict=True):
        name = f"{inside.frame}/{variable.label}/append"
        variable.close(lowering.emit(inside, "list_append", [variable.alive, value], name))


def leave(
    lowering: OnnxLowering,
    outer: OnnxScope,
    names: Sequence[str],
    variables: Sequence[CarriedVariable],
    lists: Sequence[CarriedVariable],
    elements: Sequence[TensorType],
    **stacking: Sequence[Any],
) -> None:
    """Add an Exit for every named output; lists are stacked, with the attributes in ``stacking``, one entry for each
    list.
    """
    for i, name in enumerate(names):
        if not name:
            continue
        own, declared = lowering.node_name(outer, name), lowering.declared(outer, name)
        if i < len(variables):
            value = variables[i].exit(own)
        else:
            k = i - len(variables)
            scan, element = lists[k], elements[k]
            stacked = scan.exit(f"{scan.scope.frame}/{scan.label}/Exit")
            # without trips there is no element to give the dtype and the rank
            shape = None if element.shape is None else tuple(-1 if d is None else d for d in element.shape)
            more = {key: values[k] for key, values in stacking.items()}
            value = lowering.emit(
                outer, "list_stack", [stacked], own, region=scan.scope.region, dtype=element.dtype, shape=shape, **more
            )
        lowering.publish(outer, name, value)
        if declared.dtype != ANY:
            lowering.types[value] = declared


def scalar(lowering: OnnxLowering, scope: OnnxScope, ref: Ref, prefix: str, region: str | None = None) -> Ref:
    """Reshape a trip count or condition to a scalar, because ONNX allows the shape (1,)."""
    if lowering.type_of(ref).shape == ():
        return ref
    name = f"{prefix}/{ref.node.rpartition('/')[2]}/scalar"
    return lowering.emit(scope, "reshape", [ref], name, region=region, shape=())


def frame_names(lowering: OnnxLowering, node: OnnxNode, outer: OnnxScope, kind: str) -> tuple[str, str]:
    """(frame or branch, region) of a construct: its own name, and that name below the enclosing region.

    PyTorch's exporter names its nodes after results (``node_while_loop__1``); for these the name of the call is used.
    """
    around = outer.inner_region()
    called = "/".join(filter(None, (around, lowering.call))) if lowering.call else ""
    frame = lowering.unique(called or node.proto.name or (f"{around}/{kind}" if around else kind))
    below = around is None or frame.startswith(f"{around}/")
    return frame, frame if below else f"{around}/{frame}"


def body_graph(node: OnnxNode, attribute: str) -> Any:
    for a in node.proto.attribute:
        if a.name == attribute and a.HasField("g"):
            return a.g
    raise LoadError(f"{node.op} {node.label!r} has no graph {attribute!r}.", slug="bad-model")


def reads(graph: Any, name: str) -> bool:
    """True if a graph, or a graph inside it, reads the value ``name``."""
    if any(o.name == name for o in graph.output):
        return True
    for node in graph.node:
        if name in node.input or any(a.HasField("g") and reads(a.g, name) for a in node.attribute):
            return True
    return False
