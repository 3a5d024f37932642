"""Display names of the values of a graph: the loop variable behind its Enter, Merge, Switch, NextIteration and Exit."""

from __future__ import annotations

import re

from workbench.ir.graph import Graph
from workbench.ir.node import Ref
from workbench.ir.op_names import bare_op
from workbench.widgets.text.labels import expression, short_name, shorten, value_text
from workbench.widgets.text.loop_names import loop_name, loops_spoken

#: ops that pass a value on unchanged
PASSING = ("Enter", "Switch", "Exit", "NextIteration", "Identity")
#: maximum number of them that are followed
FAR = 100
#: ops that join the two sides of a branch
EITHER = "either branch"
#: characters of what is computed
ROOM = 40
#: a value or a node as messages quote it
QUOTED = re.compile(r"'([^']+?)(?::(\d+))?'")


class Spoken:
    """Words for values and nodes of one graph; nothing is escaped."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._variables = {
            part: v.name
            for frame in graph.frames.values()
            for v in frame.variables
            for part in (v.enter, v.merge, v.switch, v.next_iteration, v.exit)
            if part is not None
        }

    def name(self, ref: Ref) -> str:
        """``x`` for all of a loop variable's nodes and for what hands it on, else the public name, else that of the
        node without its scope."""
        return self._given(ref) or short_name(ref.node) + (f":{ref.index}" if ref.index else "")

    def called(self, ref: Ref) -> str:
        """The same, but what has no name of its own is called by how it is made: ``t + j``, "constant", "go on?"."""
        node = self.origin(ref.node)
        return self._given(ref) or (EITHER if self.graph.nodes[node].op == "Merge" else self.made(node))

    def origin(self, name: str) -> str:
        """The node that makes what a node hands on; of one that makes its value itself, this."""
        for _ in range(FAR):
            node = self.graph.nodes[name]
            if node.op not in PASSING or not node.inputs:
                break
            name = node.inputs[0].node
        return name

    def sentence(self, text: str) -> str:
        """A message of another part, which names nodes and loops as programs do, with the names of the screens."""

        def spoken(match: re.Match[str]) -> str:
            known = match[1] in self.graph.nodes and self.graph.name_of(Ref(match[1], int(match[2] or 0)))
            return self.called(Ref(match[1], int(match[2] or 0))) if known else match[0]

        return loops_spoken(self.graph, QUOTED.sub(spoken, text))

    def step(self, node: str) -> str:
        """Display text of a node's next step: ``go on?``, ``t + j``, or for one that moves a value on ``x (Merge)``. An
        input that only loops read as an invariant is called so, as in the caption of the loop: it has no box."""
        found, made, given = self.graph.nodes[node], self.made(node), self._given(Ref(node, 0))
        if found.op == "Placeholder":
            readers = [self.graph.nodes[name] for name in self.graph.consumers(node)]
            outputs = {ref.node for ref in self.graph.outputs.values()}
            if readers and node not in outputs and all(r.op == "Enter" and r.attrs.get("is_constant") for r in readers):
                frames = dict.fromkeys(self.graph.frame_of(r.name) for r in readers)
                several = len(self.graph.frames) > 2
                loops = [loop_name(self.graph, f) if several else "the loop" for f in frames]
                made = f"{made}, invariant of {' and '.join(loops)}"
            given = given or short_name(node)
        moves = found.op in (*PASSING, "Merge", "Placeholder")
        return f"{given} ({made})" if moves and given else made

    def _given(self, ref: Ref) -> str:
        """The name that the user gave to a value; empty if it has no name."""
        for _ in range(FAR):
            if ref.node in self._variables:
                return short_name(self._variables[ref.node])
            node, public = self.graph.nodes[ref.node], self.graph.name_of(ref)
            if public != str(ref):
                return short_name(public)
            if node.op not in PASSING or not node.inputs:
                break
            ref = node.inputs[0]
        return ""

    def made(self, node: str) -> str:
        """How a node makes its value: ``x \u00f7 2``, "constant", "input", or what moves it on."""
        found = self.graph.nodes[node]
        op = bare_op(found.op)
        if not found.inputs or op in (*PASSING, "Merge", "LoopCond"):
            return {"Const": "constant", "Placeholder": "input", "LoopCond": "go on?"}.get(op, op)
        return shorten(expression(op, [self._operand(ref) for ref in found.inputs]), ROOM)

    def _operand(self, ref: Ref) -> str:
        node = self.graph.nodes[ref.node]
        return value_text(node.attrs.get("value")) if node.op == "Const" else self.name(ref)
