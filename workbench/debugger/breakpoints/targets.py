"""Finds the targets of a breakpoint in the graph: one value, the nodes of a pattern, or a frame."""

from __future__ import annotations

import difflib
import fnmatch
import re
from collections.abc import Callable
from typing import Any

from workbench.debugger.iteration_path import DEEPEST, short_repr
from workbench.errors import SessionError, TraceError, clipped
from workbench.execution import Run
from workbench.ir.graph import Graph
from workbench.ir.node import Node, Ref
from workbench.ir.types import ANY, OPAQUE, numpy_dtype
from workbench.kernels.layout import NodeLayout
from workbench.ops.exact_integers import can_wrap

#: ops that only forward a value: patterns with a condition skip them, because the value is checked where it is computed
PASSES_ON = frozenset("Enter Exit Merge Switch NextIteration LoopCond Identity NoOp Placeholder".split())
#: maximum length of a name that is looked up
MAX_NAME = 10_000
#: maximum length of a pattern: its compiled form grows with the square of its length
MAX_PATTERN = 1000


class Targets:
    """Finds values in the present run of the debugger."""

    def __init__(self, run: Callable[[], Run]) -> None:
        self._run = run

    def graph(self) -> Graph:
        """The graph of the run."""
        return self._run().plan.graph

    def computed(self) -> list[Node]:
        """The nodes that the run computes, without silent ones, in execution order."""
        graph = self.graph()
        return [graph.nodes[n.name] for n in self._run().plan.layout.nodes if not n.silent]

    def depth(self, ref: Ref) -> int:
        """Number of frames around a value."""
        return len(self.frame_path(ref.node))

    def frame_path(self, node: str) -> tuple[str, ...]:
        """Path of the frame of a node; empty at the outermost level."""
        layout = self._run().plan.layout
        found = self._node(node)
        return layout.frames[found.frame].path if found is not None else ()

    def _node(self, name: str) -> NodeLayout | None:
        return self._run().trace.reader.node.get(name)

    def value(self, name: str) -> Ref:
        """The value with this name; TraceError with similar names if it is unknown."""
        if not isinstance(name, str | Ref):
            raise SessionError(
                f"breakpoints: expected a name, got a {type(name).__name__}.",
                slug="bad-target",
                fix="pass the name of a node or a value.",
            )
        if len(str(name)) > MAX_NAME:
            raise TraceError(f"Unknown value {clipped(str(name))[:80]!r}...", slug="unknown-value")
        return self._run().trace.ref(name)

    def is_name(self, text: str) -> bool:
        """True if a string that looks like a pattern is the name of a node or a value."""
        graph = self.graph()
        tables = (graph.names, graph.inputs, graph.outputs, graph.nodes)
        return any(text in t for t in tables) or text.rpartition(":")[0] in graph.nodes

    def frame(self, name: str | tuple[str, ...]) -> tuple[str, ...]:
        """Path of a frame, given by path or name; SessionError with similar names if it is unknown."""
        paths = [f.path for f in self._run().plan.layout.frames]
        parts = (name,) if isinstance(name, str) else name
        if not isinstance(parts, list | tuple) or not all(isinstance(p, str) for p in parts) or len(parts) > DEEPEST:
            raise SessionError(
                f"breakpoints: expected a frame, got {short_repr(name)}.",
                slug="bad-frame",
                fix="pass its name, or its path as a list of names.",
            )
        if not isinstance(name, str):
            wanted = tuple(name)
        else:
            wanted = tuple(name.split("/")) if tuple(name.split("/")) in paths else ()
            fitting = [p for p in dict.fromkeys(paths) if p and name in (p[-1], "/".join(p))]
            wanted = wanted or (fitting[0] if len(fitting) == 1 else (name,))
            if len(fitting) > 1 and wanted not in paths:
                raise SessionError(
                    f"{len(fitting)} frames are called {name!r}.",
                    slug="bad-frame",
                    fix=f"pass the path: {' or '.join('/'.join(p) for p in fitting[:4])}.",
                )
        if wanted not in paths:
            known = list(dict.fromkeys("/".join(p) for p in paths if p))
            near = difflib.get_close_matches("/".join(map(str, wanted))[:200], known, n=3) or known[:3]
            raise SessionError(
                f"Unknown frame {clipped(str(name))[:80]!r}.",
                slug="bad-frame",
                fix=f"did you mean {' or '.join(map(repr, near))}?" if near else "this graph has no loops.",
            )
        return wanted

    def start_of(self, frame: tuple[str, ...]) -> tuple[Ref, ...]:
        """The first node of the first iteration of a frame, and the first node of all other iterations."""
        layout = self._run().plan.layout
        mine = [n for n in layout.nodes if layout.frames[n.frame].path == frame and not n.silent and n.op != "Exit"]
        entries, rest = [n for n in mine if n.first], [n for n in mine if not n.first and not n.guard]
        return tuple(Ref(n[0].name) for n in (entries, rest) if n)

    def pattern(self, where: str, op: str | None, values: bool, kinds: str) -> tuple[Ref, ...]:
        """The nodes that match a pattern; with ``values``, those of their outputs that have a dtype of these kinds."""
        run = self._run()
        graph, known = run.plan.graph, run.plan.layout.values
        fits = re.compile(fnmatch.translate(as_pattern(where))).match
        of_op = re.compile(fnmatch.translate(op), re.IGNORECASE).match if op is not None else None
        found, of_kind = [], dict[str, bool]()
        for node in run.plan.layout.nodes:
            if node.silent or (values and op is None and node.op in PASSES_ON) or (of_op and not of_op(node.op)):
                continue
            refs = [Ref(node.name, k) for k in range(len(graph.nodes[node.name].types)) if (node.name, k) in known]
            if not (fits(node.name) or any(fits(graph.name_of(r)) for r in refs)):
                continue
            if values:
                for ref in refs:
                    dtype = graph.nodes[node.name].types[ref.index].dtype
                    if dtype not in of_kind:
                        of_kind[dtype] = not kinds or _is_kind(dtype, kinds)
                    found += [ref] if of_kind[dtype] else []
            else:
                found.append(Ref(node.name))
        return tuple(found)

    def may_be_bool(self, ref: Ref) -> bool:
        """True if a value can be a bool, as can values of unknown dtype."""
        dtype = self._run().plan.graph.nodes[ref.node].types[ref.index].dtype
        return dtype in ("bool", ANY, OPAQUE)

    def may_wrap(self, ref: Ref) -> bool:
        """True for a value that is computed by integer arithmetic that can wrap around."""
        nodes = self.graph().nodes
        node = nodes[ref.node]
        dtypes = [node.types[0].dtype, *(nodes[r.node].types[r.index].dtype for r in node.inputs)]
        return can_wrap(node) and all(_is_kind(dtype, "iu") for dtype in dtypes)

    def computed_by(self, ref: Ref) -> list[Ref]:
        """The results of integer arithmetic that a value is a copy of; a loop variable is a copy of its update, for
        example."""
        nodes, found, waiting = self.graph().nodes, [], [ref]
        seen = {ref}
        while waiting:
            at = waiting.pop()
            if self.may_wrap(at):
                found.append(at)
            elif nodes[at.node].op in PASSES_ON:
                waiting += [r for r in nodes[at.node].inputs if r not in seen]
                seen.update(waiting)
        return found

    def is_silent(self, node: str) -> bool:
        """True for a node that fires without work; runs do not stop at it."""
        found = self._node(node)
        return found is not None and found.silent

    def names_of(self, ref: Ref) -> tuple[str, str]:
        """(public name of a value, op of its node)."""
        graph = self._run().plan.graph
        return graph.name_of(ref), graph.nodes[ref.node].op


def as_pattern(text: Any) -> str:
    """Check a pattern of names, and return it; SessionError if it is invalid."""
    if not isinstance(text, str) or len(text) > MAX_PATTERN:
        raise SessionError(
            f"breakpoints: expected a name or a pattern, got {short_repr(text)}.",
            slug="bad-target",
            fix=f'pass a text such as "while/*", of at most {MAX_PATTERN:,} characters.',
        )
    return text


def _is_kind(dtype: str, kinds: str) -> bool:
    try:
        return numpy_dtype(dtype).kind in kinds
    except TypeError:
        return True  # unknown until the node fires
