"""Type inference over a whole graph, with a fixed point over loop-carried values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from workbench.errors import TypeMismatchError, WorkbenchError
from workbench.ir.node import Node, Ref
from workbench.ir.opspec import REGISTRY
from workbench.ir.types import TensorType

Types = dict[str, tuple[TensorType, ...]]
#: (node, types of its inputs, their constant values or None, types of its outputs) -> its value, if constant
Fold = Callable[[Node, Sequence[TensorType], Sequence["np.ndarray | None"], Sequence[TensorType]], "np.ndarray | None"]


def infer_types(
    nodes: Mapping[str, Node],
    order: tuple[str, ...],
    feeds: Mapping[str, TensorType] | None = None,
    only: frozenset[str] | None = None,
    fold: Fold | None = None,
) -> Types:
    """Output types of every node in ``order``.

    ``feeds`` overrides the declared types of placeholders (node name -> exact type of its feed). ``fold`` returns the
    values of constant nodes, so that types that follow from them are known. Raises TypeMismatchError, with the node and
    its source line, if an op does not accept its inputs.
    """
    if fold is not None:
        try:
            return _inferred(nodes, order, feeds, only, fold, {})
        except WorkbenchError:  # nodes of a branch that is never taken need not fit the shapes known then
            return _inferred(nodes, order, feeds, only, fold, _inferred(nodes, order, feeds, only, None, {}))
    return _inferred(nodes, order, feeds, only, None, {})


def _inferred(
    nodes: Mapping[str, Node],
    order: tuple[str, ...],
    feeds: Mapping[str, TensorType] | None,
    only: frozenset[str] | None,
    fold: Fold | None,
    wider: Types,
) -> Types:
    """Types at the fixed point; ``wider`` are those of nodes that do not accept the known types of their inputs."""
    carried: dict[str, TensorType] = {}
    decides = _deciding(nodes, order)
    while True:  # ends: a loop-carried shape only grows less precise, from known dims over None to an unknown rank
        types, again = _one_pass(nodes, order, feeds or {}, only, carried, decides, fold, wider)
        if not again:
            return types


def _one_pass(
    nodes: Mapping[str, Node],
    order: tuple[str, ...],
    feeds: Mapping[str, TensorType],
    only: frozenset[str] | None,
    carried: dict[str, TensorType],
    decides: frozenset[Ref],
    fold: Fold | None,
    wider: Types,
) -> tuple[Types, bool]:
    types: Types = {}
    constants: dict[Ref, np.ndarray | None] = {}
    # types of equal nodes: the same op and attributes, and inputs of the same types, none of them constant
    alike: dict[tuple[object, ...], tuple[TensorType, ...]] = {}
    shared: dict[TensorType, TensorType] = {}  # equal types are one object, which is compared by identity
    for name in order:
        if only is not None and name not in only:
            continue
        node = nodes[name]
        if node.op == "Placeholder" and name in feeds:
            types[name] = (shared.setdefault(feeds[name], feeds[name]),)
            continue
        if node.op == "Const":
            constants[node.ref()] = node.attrs.get("value")
        ins = []
        for ref in node.inputs:
            known = types.get(ref.node)
            if known is None:  # the back edge of a loop, not visited yet
                continue
            if ref.index >= len(known):
                raise _no_such_output(node, ref, len(known))
            ins.append(known[ref.index])
        if node.op == "Merge" and name in carried:
            ins.append(shared.setdefault(carried[name], carried[name]))
        # equal types are one object, and all of them exist until the end of this function
        key = (
            (node.op, node.attrs, *map(id, ins))
            if node.op != "Const" and constants.keys().isdisjoint(node.inputs)
            else None
        )
        if key is not None and key in alike and len(ins) == len(node.inputs):
            types[name] = _decided(node, alike[key], decides)
            if fold is not None and (value := fold(node, ins, [None] * len(ins), types[name])) is not None:
                constants[node.ref()] = value
            continue
        spec = REGISTRY.lookup(node.op, node.attrs)
        low, high = spec.arity()
        if len(node.inputs) < low or (high is not None and len(node.inputs) > high):
            wanted = str(low) if low == high else f"{low} or more" if high is None else f"{low} to {high}"
            raise TypeMismatchError(
                f"{node.op} takes {wanted} inputs ({', '.join(spec.inputs)}), but {name!r} has {len(node.inputs)}.",
                slug="wrong-arity",
                node=name,
                source=node.source,
            )
        values = [constants.get(r) for r in node.inputs]
        try:
            found = tuple([shared.setdefault(t, t) for t in spec.infer(ins, node.attrs, values)])
        except WorkbenchError as error:
            if name in wider:
                types[name] = wider[name]
                continue
            if error.node is None:
                raise type(error)(
                    error.message, slug=error.slug, node=name, source=node.source, fix=error.fix
                ) from error
            raise
        except (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError) as error:
            # a rule got an attribute of an unexpected kind: graphs come from untrusted files
            raise TypeMismatchError(
                f"{node.op} {name!r} has attributes that make no sense: {type(error).__name__}: {error}.",
                slug="bad-attribute",
                node=name,
                source=node.source,
                fix="compare its attributes with the op's own.",
            ) from error
        if key is not None and len(ins) == len(node.inputs):
            alike[key] = found
        types[name] = _decided(node, found, decides)
        if node.op in ("Identity", "Enter") and node.inputs[0] in constants:
            constants[node.ref()] = constants[node.inputs[0]]
        elif fold is not None and len(ins) == len(node.inputs):
            value = fold(node, ins, values, types[name])
            if value is not None:
                constants[node.ref()] = value
    again = False
    for name in types:
        node = nodes[name]
        if node.op == "Merge":
            for ref in node.inputs:
                if nodes[ref.node].op == "NextIteration" and ref.node in types:
                    again |= _carry(node, types[name][0], types[ref.node][0], carried)
    return types, again


def _decided(node: Node, types: tuple[TensorType, ...], decides: frozenset[Ref]) -> tuple[TensorType, ...]:
    """The types of a node's outputs, given that decisions are scalars."""
    if not any([(node.name, i) in decides for i in range(len(types))]):
        return types
    return tuple(_single(t) if Ref(node.name, i) in decides else t for i, t in enumerate(types))


def _deciding(nodes: Mapping[str, Node], order: tuple[str, ...]) -> frozenset[Ref]:
    """The predicates of LoopConds and Switches, with all their aliases."""
    found: set[Ref] = set()
    stack = [
        node.inputs[-1]
        for node in (nodes[n] for n in order)
        if (node.op == "Switch" and len(node.inputs) == 2) or (node.op == "LoopCond" and node.inputs)
    ]
    while stack:
        ref = stack.pop()
        if ref in found:
            continue
        found.add(ref)
        node = nodes[ref.node]
        if node.op in ("Identity", "LoopCond", "Enter", "Exit", "NextIteration"):
            stack.extend(node.inputs)
        elif node.op == "Switch":
            stack.extend(node.inputs[:1])
        elif node.op == "Merge" and ref.index == 0:
            stack.extend(node.inputs)
    return frozenset(found)


def _single(type_: TensorType) -> TensorType:
    """The type of a decision, which is one bool: a predicate of unknown shape has no dimensions."""
    return TensorType("bool", ()) if type_.dtype in ("bool", "any") and type_.shape is None else type_


def _carry(merge: Node, start: TensorType, back: TensorType, carried: dict[str, TensorType]) -> bool:
    """Note that ``merge`` also takes ``back``; True when its type must become less precise."""
    if start.dtype != back.dtype and "any" not in (start.dtype, back.dtype):
        raise TypeMismatchError(
            f"The loop variable at {merge.name!r} starts as {start} but the loop's body gives {back}.",
            slug="carried-dtype",
            node=merge.name,
            source=merge.source,
            fix=f"cast the new value to {start.dtype}, or start with a value of dtype {back.dtype}.",
        )
    joined = start.join(back)
    if joined == start:
        return False
    before = carried.get(merge.name)
    if before is not None:  # the rank of a decision is inferred in each pass: only the carried type counts
        joined = before.join(joined)
        if joined == before:
            return False
    carried[merge.name] = joined
    return True


def _no_such_output(node: Node, ref: Ref, count: int) -> TypeMismatchError:
    return TypeMismatchError(
        f"{node.op} {node.name!r} reads {ref}, but {ref.node!r} has only {count} output{'s' if count != 1 else ''}.",
        slug="no-such-output",
        node=node.name,
        source=node.source,
    )
