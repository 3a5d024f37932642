"""Structured loops and branches, written as frame ops."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from workbench.errors import GraphError, TypeMismatchError
from workbench.ir.builder.context import BranchContext, Context, LoopContext
from workbench.ir.builder.value import Value
from workbench.ir.frames.nesting import room_for_calls
from workbench.ir.node import Ref
from workbench.ir.types import ANY, OPAQUE, STRING, TensorType

if TYPE_CHECKING:
    from workbench.ir.builder.builder import GraphBuilder


def while_loop(
    b: GraphBuilder,
    cond: Callable[..., Any],
    body: Callable[..., Any],
    init: Any,
    max_trips: int | None,
    name: str | None,
    types: Mapping[str, TensorType] | None = None,
) -> Any:
    """Enter -> Merge -> (condition) -> Switch -> (body) -> NextIteration -> Merge, and Exit; see control-flow
    semantics."""
    names, start = _variables(cond, init)
    if not start:
        raise GraphError("while_loop needs at least one loop variable.", slug="no-variables")
    with room_for_calls(b.context.depth + 1):
        return _while_loop(b, cond, body, init, names, start, max_trips, name, types)


def _while_loop(
    b: GraphBuilder,
    cond: Callable[..., Any],
    body: Callable[..., Any],
    init: Any,
    names: list[str],
    start: list[Any],
    max_trips: int | None,
    name: str | None,
    types: Mapping[str, TensorType] | None,
) -> Any:
    outer = b.context
    values = [b._lift([v])[0] for v in start]  # individually: a number does not adopt the dtype of its neighbours
    frame = b.reserve(name or "while")
    if max_trips is not None:
        values.append(b.constant(0, "int64"))
        names = [*names, "trip"]
    inside = LoopContext(b, outer, frame, 10)
    result: list[Value] = []
    try:
        b.context = inside
        merges = []
        for label, value in zip(names, values, strict=True):
            enter = b.add_node(
                "Enter",
                [value.ref],
                name=f"{frame}/{label}/Enter",
                frame_name=frame,
                is_constant=False,
                parallel_iterations=10,
            )
            merge = b.add_node("Merge", [Ref(enter)], name=f"{frame}/{label}/Merge")
            if types and label in types:
                b.widen(merge, types[label])
            merges.append(Value(b, Ref(merge), b.node(merge).types[0], inside, label))
            for public in (label, f"{frame}/{label}"):
                b._names.setdefault(public, Ref(merge))
        inside.header_pivot = merges[0].ref.node
        own = merges[:-1] if max_trips is not None else merges
        pred = _condition(b, _call(cond, init, names, own), frame)
        if max_trips is not None:
            pred = b.op("logical_and", pred, b.op("less", merges[-1], b.constant(int(max_trips), "int64")))
        loop_cond = b.op("LoopCond", pred, name=f"{frame}/LoopCond")
        switches = [b.add_node("Switch", [m.ref, loop_cond.ref], name=f"{frame}/{m.label}/Switch") for m in merges]
        alive = [Value(b, Ref(s, 1), m.type, inside, m.label) for s, m in zip(switches, merges, strict=True)]
        inside.body_source = alive[0]
        given = alive[:-1] if max_trips is not None else alive
        new = _results(_call(body, init, names, given), init, names[: len(given)], frame)
        lifted = [_like(b, v, m, frame) for v, m in zip(new, merges, strict=False)]
        if max_trips is not None:
            lifted.append(b.op("add", alive[-1], b.constant(1, "int64")))
        own_switches = set(switches)
        known: dict[str, bool] = {}
        for m, v in zip(merges, lifted, strict=True):
            if not _depends_on_body(b, v.ref, frame, own_switches, known):
                # a value not guarded by the condition would start another iteration after the last one
                v = b.op("Identity", v, control=inside.pivot())
            back = b.add_node("NextIteration", [v.ref], name=f"{frame}/{m.label}/NextIteration")
            b.add_back_edge(m, Value(b, Ref(back), v.type, inside))
        for s, m in zip(switches, merges, strict=True):
            exit_node = b.add_node("Exit", [Ref(s, 0)], name=f"{frame}/{m.label}/Exit")
            result.append(Value(b, Ref(exit_node), b.node(exit_node).types[0], outer, m.label))
    finally:
        b.context = outer
    return _pack(result[: len(start)], init, names)


def cond(b: GraphBuilder, pred: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any], name: str | None) -> Any:
    """Switches into each side, and Merges of their results."""
    with room_for_calls(b.context.depth + 1):
        return _cond(b, pred, true_fn, false_fn, name)


def _cond(b: GraphBuilder, pred: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any], name: str | None) -> Any:
    outer = b.context
    label = b.reserve(name or (f"{outer.prefix}/cond" if outer.prefix else "cond"))
    decision = _condition(b, pred, label)
    switches: dict[Ref, str] = {}
    shapes = []
    insides = [BranchContext(b, outer, label, decision, side, switches) for side in (1, 0)]
    for inside, fn in zip(insides, (true_fn, false_fn), strict=True):
        try:
            b.context = inside
            shapes.append(fn())
        finally:
            b.context = outer
    keys = list(shapes[0]) if isinstance(shapes[0], Mapping) else None
    flat = _same_order(shapes, label)
    sides: list[list[Value]] = []
    for inside, own, other in zip(insides, flat, reversed(flat), strict=True):
        try:
            b.context = inside
            sides.append([_beside(b, v, w) for v, w in zip(own, other, strict=True)])
        finally:
            b.context = outer
    merged = []
    for i, (on_true, on_false) in enumerate(zip(*sides, strict=True)):
        if on_true.dtype != on_false.dtype and ANY not in (on_true.dtype, on_false.dtype):
            raise TypeMismatchError(
                f"Value {i} of branch {label!r} is {on_true.type} on the true side and {on_false.type} on the false "
                f"side.",
                slug="branch-dtype",
                fix="cast one of them.",
            )
        node = b.add_node("Merge", [on_false.ref, on_true.ref], name=f"{label}/Merge", owner=insides[0])
        merged.append(Value(b, Ref(node), b.node(node).types[0], outer, keys[i] if keys else None))
    return _pack(merged, shapes[0], keys or [])


def _same_order(shapes: Sequence[Any], label: str) -> list[list[Any]]:
    """Results of the true and the false side, in the same order."""
    on_true, on_false = shapes
    if isinstance(on_true, Mapping) and isinstance(on_false, Mapping):
        if set(on_true) != set(on_false):
            raise GraphError(
                f"The true side of branch {label!r} gives {sorted(on_true)} and the false side {sorted(on_false)}.",
                slug="branch-count",
                fix="return the same names from both sides.",
            )
        return [list(on_true.values()), [on_false[k] for k in on_true]]
    flat = [_flat(on_true), _flat(on_false)]
    if len(flat[0]) != len(flat[1]):
        raise GraphError(
            f"The true side of branch {label!r} gives {len(flat[0])} values and the false side {len(flat[1])}.",
            slug="branch-count",
            fix="return the same number of values from both sides.",
        )
    return flat


def _beside(b: GraphBuilder, value: Any, other: Any) -> Value:
    """A result of one side; a Python number gets the dtype of the other side's value."""
    weak = type(value) in (bool, int, float, complex) and isinstance(other, Value)
    if weak and other.dtype not in (ANY, OPAQUE, STRING):
        return b.number(value, other.dtype)
    return b._lift([value])[0]


def _variables(cond: Callable[..., Any], init: Any) -> tuple[list[str], list[Any]]:
    """Names and start values of the loop variables."""
    if isinstance(init, Mapping):
        return [str(k) for k in init], list(init.values())
    start = list(init) if isinstance(init, (list, tuple)) else [init]
    try:
        names = [
            p.name
            for p in inspect.signature(cond).parameters.values()
            if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        ]
    except (TypeError, ValueError):
        names = []
    if len(names) != len(start):
        names = [f"v{i}" for i in range(len(start))]
    return names, start


def _call(fn: Callable[..., Any], init: Any, names: Sequence[str], values: Sequence[Value]) -> Any:
    if not isinstance(init, Mapping):
        return fn(*values)
    named = dict(zip(names, values, strict=False))
    try:
        inspect.signature(fn).bind(**named)
    except TypeError as error:
        raise GraphError(
            f"{getattr(fn, '__name__', 'The function')} does not take the loop variables {', '.join(names)}: {error}.",
            slug="loop-parameters",
            fix="with a dict as init, cond and body are called with keywords, one per loop variable.",
        ) from None
    except ValueError:
        pass  # a callable without a signature: a wrong number of arguments fails in the call
    return fn(**named)


def _flat(out: Any) -> list[Any]:
    if isinstance(out, Mapping):
        return list(out.values())
    return list(out) if isinstance(out, (list, tuple)) else [out]


def _results(out: Any, init: Any, names: Sequence[str], frame: str) -> list[Any]:
    if isinstance(init, Mapping) and isinstance(out, Mapping):
        if set(out) != set(names):
            raise GraphError(
                f"The body of loop {frame!r} returns {sorted(out)}, but the loop variables are {sorted(names)}.",
                slug="body-count",
            )
        return [out[n] for n in names]
    new = _flat(out)
    if len(new) != len(names):
        raise GraphError(
            f"The body of loop {frame!r} returns {len(new)} values, but there are {len(names)} loop variables "
            f"({', '.join(names)}).",
            slug="body-count",
            fix="return one new value for each loop variable, in the same order.",
        )
    return new


def _pack(values: list[Value], like: Any, names: Sequence[str]) -> Any:
    if isinstance(like, Mapping):
        return dict(zip(names, values, strict=False))
    return tuple(values) if isinstance(like, (list, tuple)) else values[0]


def _condition(b: GraphBuilder, pred: Any, label: str) -> Value:
    value = b._lift([pred])[0]
    if value.dtype not in ("bool", ANY) or value.shape not in ((), None):
        raise TypeMismatchError(
            f"The condition of {label!r} is {value.type}; expected a single bool.",
            slug="bad-condition",
            node=value.ref.node,
            source=b.node(value.ref.node).source,
            fix="compare values, and reduce arrays with np.all or np.any.",
        )
    return value


def _like(b: GraphBuilder, value: Any, merge: Value, frame: str) -> Value:
    """A new value of a loop variable: Python numbers get the variable's dtype, other dtypes are an error."""
    lifted = b.constant(value, merge.dtype) if type(value) in (bool, int, float, complex) else b._lift([value])[0]
    if lifted.dtype != merge.dtype and ANY not in (lifted.dtype, merge.dtype):
        raise TypeMismatchError(
            f"The loop variable {merge.label!r} of {frame!r} starts as {merge.type} but the loop's body gives "
            f"{lifted.type}.",
            slug="carried-dtype",
            node=lifted.ref.node,
            source=b.node(lifted.ref.node).source,
            fix=f"cast the new value to {merge.dtype}, or start with a value of dtype {lifted.dtype}.",
        )
    return lifted


def _depends_on_body(b: GraphBuilder, ref: Ref, frame: str, switches: set[str], known: dict[str, bool]) -> bool:
    """True if the value is dead when the condition of the loop ``frame`` is false.

    It is if one of its sources is; a Merge is if all its inputs are. ``known`` holds the results so far.
    """

    def settled(ref: Ref) -> bool | None:
        if ref.node in switches:
            return ref.index == 1
        node = b.node(ref.node)
        return False if node.op == "Enter" and node.attrs["frame_name"] == frame else known.get(ref.node)

    def opened(ref: Ref) -> tuple[str, list[Ref], bool]:
        node = b.node(ref.node)
        if node.op == "Merge":  # control inputs do not make it dead; for an inner loop, only the start value counts
            return node.name, [r for r in node.inputs if b.node(r.node).op != "NextIteration"], True
        return node.name, [*node.inputs, *(Ref(c) for c in node.control)], False

    work = [] if settled(ref) is not None else [opened(ref)]
    while work:
        name, sources, every = work[-1]
        while sources and settled(sources[0]) is every:
            sources.pop(0)
        if sources and settled(sources[0]) is None:
            work.append(opened(sources[0]))
        else:
            known[name] = every if not sources else not every
            work.pop()
    return bool(settled(ref))


__all__ = ["Context", "cond", "while_loop"]
