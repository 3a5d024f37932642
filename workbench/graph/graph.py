"""The immutable graph: nodes in a valid order, inputs, outputs, public names, frames."""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar

from workbench.errors import FeedError, GraphError
from workbench.graph.checker import check_nodes, check_wiring
from workbench.graph.crossings import cross_references
from workbench.graph.frames import Frame, FramePath, assign_frames, build_frames, order_nodes
from workbench.graph.infer import infer_types
from workbench.graph.listing import Listing
from workbench.graph.node import Node, Ref
from workbench.graph.regions import Region, find_regions
from workbench.graph.types import TensorType


class Graph:
    """A dataflow graph with frames. Build one with :class:`workbench.GraphBuilder` or a frontend.

    ``nodes`` (name -> Node) is in a valid order; ``inputs`` and ``outputs`` map public names to values; ``names``
    maps further public value names (loop variables, the source's own names) to values. Nothing of it can be changed.
    """

    #: what rooms above this one add to a graph (run, view); they register here, so that imports only go down
    services: ClassVar[dict[str, Callable[..., Any]]] = {}

    name: str
    nodes: Mapping[str, Node]
    inputs: Mapping[str, Ref]
    outputs: Mapping[str, Ref]
    names: Mapping[str, Ref]

    def __init__(self, *_: Any, **__: Any) -> None:
        raise TypeError("use GraphBuilder(...).build(...) or Graph.from_nodes(...) to make a graph")

    @classmethod
    def from_nodes(
        cls,
        name: str,
        nodes: Iterable[Node],
        *,
        inputs: Mapping[str, Ref],
        outputs: Mapping[str, Ref],
        names: Mapping[str, Ref] | None = None,
    ) -> Graph:
        """Order, check and type ``nodes``; the lower door for frontends, builder and the text reader.

        Types of the nodes are inferred anew. Raises GraphError (and its kinds) for every rule that is broken.
        """
        table = check_nodes(nodes)
        check_wiring(table, inputs, outputs, names or {})
        order = order_nodes(table)
        where = assign_frames(table, order)
        types = infer_types(table, order)
        self = object.__new__(cls)
        ordered = {n: replace(table[n], types=types[n]) for n in order}
        public = {ref: public_name for public_name, ref in reversed(list((names or {}).items()))}
        fields = {
            "name": name,
            "nodes": MappingProxyType(ordered),
            "inputs": MappingProxyType(dict(inputs)),
            "outputs": MappingProxyType(dict(outputs)),
            "names": MappingProxyType(dict(names or {})),
            "_where": where,
            "frames": MappingProxyType(build_frames(ordered, order, where, public)),
        }
        for key, value in fields.items():
            object.__setattr__(self, key, value)
        for label, ref in (*self.inputs.items(), *self.outputs.items(), *self.names.items()):
            if ref.index >= len(types[ref.node]):
                raise GraphError(
                    f"{label!r} names {ref}, but {ref.node!r} has {len(types[ref.node])} outputs.",
                    slug="no-such-output",
                )
        return self

    frames: Mapping[FramePath, Frame]
    _where: Mapping[str, FramePath]

    def __setattr__(self, key: str, value: Any) -> None:
        raise AttributeError("a Graph is immutable; make a new one with GraphBuilder")

    def __delattr__(self, key: str) -> None:
        raise AttributeError("a Graph is immutable; make a new one with GraphBuilder")

    # -- looking things up -----------------------------------------------------------------------------
    def value(self, name: str | Ref) -> Ref:
        """The value that a public name, ``node:index`` or node name stands for; GraphError if there is none."""
        if isinstance(name, Ref):
            return name
        for table in (self.names, self.inputs, self.outputs):
            if name in table:
                return table[name]
        if name in self.nodes:
            return Ref(name, 0)
        ref = Ref.parse(name) if name else Ref("", 0)
        if ref.node in self.nodes and ref.index < len(self.nodes[ref.node].types):
            return ref
        known = [*self.names, *self.inputs, *self.outputs, *self.nodes]
        near = difflib.get_close_matches(name, known, n=3)
        raise GraphError(
            f"Graph {self.name!r} has no value named {name!r}.",
            slug="unknown-value",
            fix=f"did you mean {' or '.join(map(repr, near))}?"
            if near
            else "graph.names and graph.nodes list what there is.",
        )

    @cached_property
    def _public(self) -> dict[Ref, str]:
        tables = (self.outputs, self.inputs, self.names)  # later ones win
        return {ref: name for table in tables for name, ref in reversed(list(table.items()))}

    def name_of(self, ref: Ref) -> str:
        """The public name of a value, or ``node:index``."""
        return self._public.get(ref, str(ref))

    def type_of(self, name: str | Ref) -> TensorType:
        """dtype and shape of a value; GraphError if there is none of that name."""
        ref = self.value(name)
        return self.nodes[ref.node].types[ref.index]

    def frame_of(self, node: str) -> FramePath:
        """Path of the frame in which the node fires (an Exit fires in the frame that it leaves)."""
        return self._where[node]

    @cached_property
    def _consumers(self) -> dict[str, tuple[str, ...]]:
        table: dict[str, dict[str, None]] = {n: {} for n in self.nodes}
        for node in self.nodes.values():
            for source in (*(r.node for r in node.inputs), *node.control):
                table[source][node.name] = None
        return {k: tuple(v) for k, v in table.items()}

    def consumers(self, node: str) -> tuple[str, ...]:
        """Nodes that read an output of ``node`` or wait for it."""
        return self._consumers[node]

    @cached_property
    def regions(self) -> Mapping[str, Region]:
        """The loops, branches and calls of the source by name, outer ones first; each knows its nodes and its frame."""
        return MappingProxyType(find_regions(self.nodes, self._where))

    def cross_references(self) -> Listing:
        """Every value that crosses into another frame, iteration or branch: value, from, to, kind, through."""
        return cross_references(self)

    @cached_property
    def _text(self) -> str:
        from workbench.graph.text import write_graph  # the text form reads graphs back, so it imports this module

        return write_graph(self)

    def text(self) -> str:
        """The stable text form; ``workbench.parse`` reads it back into an equal graph."""
        return self._text

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the text form without source lines: equal graphs have equal fingerprints."""
        from workbench.graph.text import write_graph

        return hashlib.sha256(write_graph(self, sources=False).encode()).hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Graph) and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __repr__(self) -> str:
        loops = len(self.frames) - 1
        return f"<Graph {self.name!r}: {len(self.nodes)} nodes, {loops} frame{'s' if loops != 1 else ''}>"

    # -- what the rooms above add -----------------------------------------------------------------------
    def run(self, feeds: Mapping[str, Any] | None = None, /, **named: Any) -> dict[str, Any]:
        """Run to the end and return the outputs as NumPy arrays by output name.

        Feeds are given by input name, as a mapping or as keywords.
        """
        if feeds is not None and not isinstance(feeds, Mapping):
            raise FeedError(
                f"The feeds are a mapping of input names to values, but a {type(feeds).__name__} came.",
                slug="feeds-type",
                fix='write something like graph.run({"x": 1.0}) or graph.run(x=1.0).',
            )  # fmt: skip
        return self._service("run")(self, {**(feeds or {}), **named})

    def view(self) -> Any:
        """The picture of the graph, as a widget."""
        return self._service("view")(self)

    def _service(self, name: str) -> Callable[..., Any]:
        if name not in self.services:
            raise GraphError(
                f"Graph.{name} needs the whole workbench.", slug="not-installed", fix="import workbench first."
            )
        return self.services[name]
