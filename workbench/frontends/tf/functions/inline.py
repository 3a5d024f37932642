"""Functional graphs -> flat ones: calls, loops and branches of the function library become nodes of one level.

Names follow the source: the nodes in the body of ``while`` become ``while/body/...``, those of a call ``call/...``.
:meth:`Inliner.resolve` returns the outputs of a replaced node (``while:0``). Loops and branches become frame ops, by
the rules passed by the caller (``structured.STRUCTURED``), so that all later steps see only TensorFlow 1's ops.

The order is the same as with TensorFlow's own inlining: a node of a body that reads nothing inside waits for the nodes
that the call waits for and, in a loop or branch, for its pivot, so that it is dead whenever the loop or branch is.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from workbench.errors import LoadError
from workbench.frontends.tf.functions.function_library import MAX_DEPTH, FunctionDef, substituted, weigh
from workbench.frontends.tf.functions.function_scope import Body, FunctionScope, InlinedBody, bound, need_types
from workbench.frontends.tf.graphdef import GraphDef, NodeDef, TensorName
from workbench.frontends.tf.tensor_proto import Function

#: limits after inlining: nodes, and bytes of their constants
MAX_NODES, MAX_BYTES = 200_000, 1 << 30
#: maximum number of inlined bodies, because functions that only call each other create no nodes
MAX_BODIES = 20_000
CALLS = ("PartitionedCall", "StatefulPartitionedCall")

#: emits a loop or branch as frame ops; arguments: the inliner, the node, the functions that enclose the node
Rule = Callable[["Inliner", NodeDef, tuple[str, ...]], None]


class Inliner:
    """Builds one flat graph; used once."""

    def __init__(self, source: GraphDef, nodes: Mapping[str, NodeDef], structured: Mapping[str, Rule]) -> None:
        self.functions = source.functions
        self._structured = structured
        self.nodes: dict[str, NodeDef] = {}
        #: nodes that only forward values; unread ones are removed at the end
        self.plumbing: set[str] = set()
        self.public: dict[str, TensorName] = {}
        self._taken = set(nodes)
        self._results: dict[str, tuple[TensorName, ...]] = {}
        self._done: dict[str, tuple[str, ...]] = {}
        size, held = weigh(self.functions, [(n.op, n.attrs) for n in nodes.values()]) if self.functions else (0, 0)
        if size > MAX_NODES or held > MAX_BYTES:
            raise LoadError(
                f"The functions of the GraphDef call each other so often that there would be {size:,} nodes and "
                f"{held:,} bytes of constants; {MAX_NODES:,} and {MAX_BYTES:,} are possible.",
                slug="too-large",
                fix="export the graph with less nesting.",
            )
        self._bodies = 0
        self._in_frames = any(n.op in ("Enter", "RefEnter", "Switch", "RefSwitch") for n in nodes.values())
        for node in nodes.values():
            self.add(node, (), ())
        self._settle()

    # -- what the rest of the importer asks ---------------------------------------------------------------------
    def count(self, name: str) -> int | None:
        """Number of tensors of a replaced node; None for a node that was kept."""
        return len(self._results[name]) if name in self._results else None

    def resolve(self, tensor: TensorName) -> TensorName:
        """The tensor of the flat graph for a name of the source."""
        for _ in range(len(self._results) + 2):
            results = self._results.get(tensor.node)
            if results is None:
                return tensor
            if tensor.output >= len(results):
                raise LoadError(
                    f"Output {tensor.output} of {tensor.node!r} is read, which gives {len(results)} values.",
                    slug="no-such-output",
                    node=tensor.node,
                    fix="write the GraphDef again with TensorFlow.",
                )
            tensor = results[tensor.output]
        raise LoadError(f"{tensor.node!r} is defined by itself.", slug="cycle", node=tensor.node)

    # -- building -----------------------------------------------------------------------------------------------
    def unique(self, name: str) -> str:
        label, count = name, 0
        while label in self._taken:
            count += 1
            label = f"{name}_{count}"
        self._taken.add(label)
        return label

    def emit(
        self,
        op: str,
        inputs: Sequence[TensorName],
        name: str,
        region: str | None,
        *,
        control: Iterable[str] = (),
        plumbing: bool = True,
        **attrs: Any,
    ) -> TensorName:
        """Add a node that the lowering itself needs."""
        label = self.unique(name)
        self._put(NodeDef(label, op, tuple(inputs), tuple(dict.fromkeys(control)), attrs, region=region))
        if plumbing:
            self.plumbing.add(label)
        return TensorName(label, 0)

    def replaced(self, name: str, results: Sequence[TensorName], done: Iterable[str]) -> None:
        """Record the replacement of a node: its tensors, and the nodes that have fired when it is done."""
        self._results[name] = tuple(results)
        self._done[name] = tuple(dict.fromkeys(done))
        for i, tensor in enumerate(results):
            self.public[f"{name}:{i}"] = tensor

    def _put(self, node: NodeDef) -> None:
        self.nodes[node.name] = node

    def add(self, node: NodeDef, callers: tuple[str, ...], pivot: tuple[str, ...]) -> None:
        """Add a node of the source under its flat name; calls are inlined."""
        lower = self._structured.get(node.op)
        if lower is not None:
            lower(self, node, callers)
        elif node.op == "SymbolicGradient":
            raise LoadError(
                f"SymbolicGradient {node.name!r} asks TensorFlow to derive a function while it runs, which is not "
                f"done here.",
                slug="symbolic-gradient",
                node=node.name,
                fix="build the gradient into the graph (tf.gradients, GradientTape) before it is exported.",
            )
        elif node.op in CALLS or node.op in self.functions:
            self._call(node, callers, pivot)
        elif node.op == "IdentityN":
            each = [
                self.emit("Identity", [t], f"{node.name}/output_{i}", node.region, control=node.control, plumbing=False)
                for i, t in enumerate(node.inputs)
            ]
            self.replaced(node.name, each, [t.node for t in each])
        else:
            self._put(node)

    def _expands(self, op: str) -> bool:
        return op in self._structured or op in CALLS or op in self.functions

    def _call(self, node: NodeDef, callers: tuple[str, ...], pivot: tuple[str, ...]) -> None:
        given = node.attrs.get("f")
        direct = node.op in self.functions
        called = Function(node.op, node.attrs) if direct else given
        function = self.function(called, node, "f")
        assert isinstance(called, Function)
        if not pivot and self._in_frames and node.inputs:
            pivot = (self.emit("Identity", node.inputs[:1], f"{node.name}/pivot", node.name).node,)
        place = InlinedBody(node.name, node.name, pivot, node.control, frozenset(), callers)
        expected = None if direct else (node.attrs.get("Tin"), node.attrs.get("Tout"))
        body = self.body(function, called, node.inputs, place, node, expected)
        waits = (*body.effects, *pivot, *node.control)  # results computed inside wait already, except for effects
        results: list[TensorName] = []
        for i, tensor in enumerate(body.results):
            control = waits if tensor in node.inputs else body.effects
            results += self.after([tensor], control, f"{node.name}/result_{i}", node.name)
        self.replaced(node.name, results, (*body.effects, *(t.node for t in results)))

    def after(
        self, tensors: Sequence[TensorName], control: Sequence[str], name: str, region: str | None
    ) -> tuple[TensorName, ...]:
        """The tensors, delayed until the nodes ``control`` have fired."""
        if not control:
            return tuple(tensors)
        return tuple(self.emit("Identity", [t], f"{name}_{i}", region, control=control) for i, t in enumerate(tensors))

    def function(self, called: Any, node: NodeDef, attr: str) -> FunctionDef:
        """The function that an attribute names; LoadError ``no-such-function``."""
        if not isinstance(called, Function):
            raise LoadError(
                f"{node.op} {node.name!r} names no function as {attr!r}.",
                slug="no-such-function",
                node=node.name,
                fix="write the GraphDef again with TensorFlow.",
            )
        if called.name not in self.functions:
            near = difflib.get_close_matches(called.name, self.functions, n=1)
            raise LoadError(
                f"{node.op} {node.name!r} calls the function {called.name!r}, which is not in the GraphDef's library"
                + (f" (it has {near[0]!r})." if near else "."),
                slug="no-such-function",
                node=node.name,
                fix="export the graph with its function library (graph.as_graph_def()).",
            )
        return self.functions[called.name]

    def body(
        self,
        function: FunctionDef,
        called: Function,
        args: Sequence[TensorName],
        place: InlinedBody,
        node: NodeDef,
        expected: tuple[Any, Any] | None = None,
    ) -> Body:
        """Inline the body of a function at ``place``; ``expected`` are the dtypes that the caller declares."""
        if function.name in place.callers:
            cycle = " -> ".join((*place.callers[place.callers.index(function.name) :], function.name))
            raise LoadError(
                f"The function {function.name!r} calls itself: {cycle}.",
                slug="recursive-function",
                node=node.name,
                fix="write the recursion as a loop.",
            )
        if len(place.callers) >= MAX_DEPTH:
            raise LoadError(
                f"Functions call functions more than {MAX_DEPTH} deep at {node.name!r}.",
                slug="too-deep",
                node=node.name,
                fix="export the graph with less nesting.",
            )
        self._bodies += 1
        if self._bodies > MAX_BODIES:
            raise LoadError(
                f"The functions of the GraphDef call each other more than {MAX_BODIES:,} times.",
                slug="too-large",
                node=node.name,
                fix="export the graph with less nesting.",
            )
        attrs = {**function.defaults, **called.attrs}
        where = f"The call of {function.name!r} by {node.name!r}"
        env = bound(function, attrs, args, where, node, None if expected is None else expected[0])
        names = {local: self.unique(f"{place.prefix}/{local}") for local in function.nodes}
        callers = (*place.callers, function.name)
        scope = FunctionScope(self.functions, function, attrs, env, names, where)
        for local, inner in function.nodes.items():
            data = tuple(scope.tensor(t) for t in inner.inputs if not t.startswith("^"))
            control = [scope.node(t[1:]) for t in inner.inputs if t.startswith("^") and t[1:] not in env]
            # a node that reads an inner value, or one that is dead whenever the place is, needs no pivot
            inside = bool(control) or any(t.partition(":")[0] in function.nodes for t in inner.inputs)
            if not inside:
                control += place.after
            if self._expands(inner.op) or not (inside or any(t in place.alive for t in data)):
                control += place.pivot
            given = {k: substituted(v, attrs, where) for k, v in inner.attrs.items()}
            flat = NodeDef(names[local], inner.op, data, tuple(dict.fromkeys(control)), given, region=place.region)
            self.add(flat, callers, place.pivot)
        results = [t for out in function.outputs for t in scope.returned(out)]
        need_types(function, attrs, where, node, expected)
        effects = tuple(scope.node(e) for e in function.effects)
        return Body(tuple(results), effects)

    # -- at the end -----------------------------------------------------------------------------------------------
    def _settle(self) -> None:
        """Resolve every input to the final tensor of its name, and remove unused forwarding nodes."""
        for name, node in self.nodes.items():
            inputs = tuple(self.resolve(t) for t in node.inputs)
            control = tuple(dict.fromkeys(c for given in node.control for c in self._finished(given)))
            if (inputs, control) != (node.inputs, node.control):
                self.nodes[name] = NodeDef(name, node.op, inputs, control, node.attrs, node.device, node.region)
        self.public = {name: self.resolve(t) for name, t in self.public.items()}
        kept = {t.node for t in self.public.values()}
        readers = dict.fromkeys(self.nodes, 0)
        for node in self.nodes.values():
            for used in _uses(node):
                readers[used] = readers.get(used, 0) + 1
        stack = [n for n in self.plumbing if not readers[n] and n not in kept]
        while stack:
            node = self.nodes.pop(stack.pop())
            for used in _uses(node):
                readers[used] -= 1
                if not readers[used] and used in self.plumbing and used not in kept:
                    stack.append(used)

    def _finished(self, name: str) -> tuple[str, ...]:
        found, stack, seen = [], [name], set()
        while stack:
            current = stack.pop()
            if current in self._done and current not in seen:
                seen.add(current)
                stack.extend(reversed(self._done[current]))
            elif current not in self._done:
                found.append(current)
        return tuple(found)


def _uses(node: NodeDef) -> list[str]:
    return [*(t.node for t in node.inputs), *node.control]
