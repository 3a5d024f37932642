"""The immutable graph: nodes in a valid order, inputs, outputs, public names, frames."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.errors import GraphError
from workbench.ir.buffers import LEAST_BYTES, MappedFile, files_of
from workbench.ir.checker import check_nodes, check_wiring
from workbench.ir.collector import collector_paused
from workbench.ir.frames.crossings import cross_references
from workbench.ir.frames.frame_tree import Frame, FramePath, assign_frames, build_frames, order_nodes
from workbench.ir.frames.gating import check_gating
from workbench.ir.frames.regions import Region, find_regions
from workbench.ir.infer import infer_types
from workbench.ir.listing import Listing
from workbench.ir.node import Node, Ref
from workbench.ir.text_writer import write_graph
from workbench.ir.types import TensorType
from workbench.text import harmless, similar_names


class Graph:
    """An immutable dataflow graph with frames. Build one with :class:`workbench.GraphBuilder` or load one.

    Attributes
    ----------
    name : str
        Name of the graph.
    nodes : mapping of str to Node
        The nodes by name, in an order in which they can be computed.
    inputs, outputs : mapping of str to Ref
        Public names of the inputs and outputs, with their values.
    names : mapping of str to Ref
        Further public names: loop variables, and names of the imported model.
    frames : mapping of tuple to Frame
        The frames by path, including the outermost level ``()``; a frame lists its loop variables and its condition.
    notes : tuple of str
        Sentences on repairs during an import, such as nodes that were not in order, and on other contents of the file.
        They do not count for equality.
    flushes_subnormals : bool
        True if its operations flush subnormal numbers of float32 and float64 to zero, like XLA on CPUs: in graphs of
        JAX and StableHLO. All others keep them, as in IEEE 754.

    Examples
    --------
    >>> graph
    <Graph 'newton': 18 nodes, 1 frame>
    >>> list(graph.inputs), list(graph.outputs), list(graph.frames)
    (['a'], ['x'], [(), ('while',)])
    >>> print(graph.type_of("x"), graph.value("x"))
    float64[] while/x/Merge:0
    """

    name: str
    nodes: Mapping[str, Node]
    inputs: Mapping[str, Ref]
    outputs: Mapping[str, Ref]
    names: Mapping[str, Ref]
    notes: tuple[str, ...]
    flushes_subnormals: bool

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
        notes: Iterable[str] = (),
        flushes_subnormals: bool = False,
    ) -> Graph:
        """Make a graph from nodes, which are ordered, checked and typed; used by the frontends and the builder.

        Parameters
        ----------
        name : str
            Name of the graph.
        nodes : iterable of Node
            The nodes, in any order. Their types are inferred again.
        inputs, outputs : mapping of str to Ref
            Public names of the Placeholders, and of the results.
        names : mapping of str to Ref, optional
            Further public names.
        notes : iterable of str, optional
            Sentences on repairs.
        flushes_subnormals : bool, default False
            Whether its operations flush subnormal numbers to zero.

        Returns
        -------
        Graph

        Raises
        ------
        GraphError
            For every broken rule: ``duplicate-name``, ``no-such-node``, ``no-outputs``, ``not-a-placeholder`` and
            others; its subclasses UnknownOpError, TypeMismatchError and FrameError for ops, types and frames.

        Examples
        --------
        >>> same = wb.Graph.from_nodes("copy", graph.nodes.values(), inputs=graph.inputs, outputs=graph.outputs)
        >>> same.run(a=4.0)
        {'x': array(2.)}
        """
        with collector_paused():
            return cls._made(name, nodes, inputs, outputs, names, notes, flushes_subnormals)

    @classmethod
    def _made(
        cls,
        name: str,
        nodes: Iterable[Node],
        inputs: Mapping[str, Ref],
        outputs: Mapping[str, Ref],
        names: Mapping[str, Ref] | None,
        notes: Iterable[str],
        flushes_subnormals: bool,
    ) -> Graph:
        table = check_nodes(nodes)
        check_wiring(table, inputs, outputs, names or {})
        order = order_nodes(table)
        where = assign_frames(table, order)
        types = infer_types(table, order)
        check_gating(table, order, where)
        self = object.__new__(cls)
        ordered = {n: table[n] if table[n].types == types[n] else replace(table[n], types=types[n]) for n in order}
        public = {ref: public_name for public_name, ref in reversed(list((names or {}).items()))}
        fields = {
            "name": name,
            "nodes": MappingProxyType(ordered),
            "inputs": MappingProxyType(dict(inputs)),
            "outputs": MappingProxyType(dict(outputs)),
            "names": MappingProxyType(dict(names or {})),
            "notes": tuple(notes),
            "flushes_subnormals": bool(flushes_subnormals),
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

    def with_notes(self, notes: Iterable[str]) -> Graph:
        """Return the same graph with other notes.

        Parameters
        ----------
        notes : iterable of str
            Sentences that replace :attr:`notes`.

        Returns
        -------
        Graph
            A new graph that shares its nodes with this one.
        """
        made = object.__new__(Graph)
        made.__dict__.update(self.__dict__)
        made.__dict__.pop("_text", None)
        made.__dict__["notes"] = tuple(notes)
        return made

    # -- look-ups -----------------------------------------------------------------------------
    def value(self, name: str | Ref) -> Ref:
        """Return the value of a name.

        Parameters
        ----------
        name : str or Ref
            A public name, ``node:index``, or the name of a node (its output 0).

        Returns
        -------
        Ref
            Node and output index.

        Raises
        ------
        GraphError
            If the graph has no such value (``unknown-value``); the message names similar ones.
        """
        if isinstance(name, Ref):
            node = self.nodes.get(name.node)
            if node is not None and (name.index == 0 or 0 < name.index < len(node.types)):
                return name
            name = str(name)
        for table in (self.names, self.inputs, self.outputs):
            if name in table:
                return table[name]
        if name in self.nodes:
            return Ref(name, 0)
        ref = Ref.parse(name) if name else Ref("", 0)
        if ref.node in self.nodes and ref.index < len(self.nodes[ref.node].types):
            return ref
        known = [*self.names, *self.inputs, *self.outputs, *self.nodes]
        near = similar_names(name, known)
        raise GraphError(
            f"Graph {self.name!r} has no value named {name!r}.",
            slug="unknown-value",
            fix=f"did you mean {' or '.join(map(repr, near))}?"
            if near
            else "graph.names and graph.nodes list what there is.",
        )

    @cached_property
    def _public(self) -> dict[Ref, str]:
        tables = (self.outputs, self.inputs, self.names)  # later names win
        return {ref: name for table in tables for name, ref in reversed(list(table.items()))}

    def name_of(self, ref: Ref) -> str:
        """Return the public name of a value, or ``node:index`` if it has none."""
        return self._public.get(ref, str(ref))

    def type_of(self, name: str | Ref) -> TensorType:
        """Return dtype and shape of a value, if known before a run.

        Parameters
        ----------
        name : str or Ref
            A name as in :meth:`value`.

        Returns
        -------
        TensorType
            ``dtype`` and ``shape``; an unknown size is None, as is the shape if the rank is unknown.

        Raises
        ------
        GraphError
            If the graph has no such value (``unknown-value``).
        """
        ref = self.value(name)
        return self.nodes[ref.node].types[ref.index]

    def frame_of(self, node: str) -> FramePath:
        """Return the path of the frame in which a node fires; an Exit fires in the frame that it leaves."""
        return self._where[node]

    @cached_property
    def reads(self) -> Mapping[str, tuple[str, ...]]:
        """Node -> names of the nodes whose outputs it reads, one per input."""
        return {name: tuple([ref[0] for ref in node.inputs]) for name, node in self.nodes.items()}

    @cached_property
    def _consumers(self) -> dict[str, tuple[str, ...]]:
        table: dict[str, list[str]] = {n: [] for n in self.nodes}
        for name, sources in self.reads.items():
            for source in (*sources, *self.nodes[name].control):
                found = table[source]
                if not found or found[-1] != name:  # a node that reads several outputs counts once
                    found.append(name)
        return {k: tuple(v) for k, v in table.items()}

    def consumers(self, node: str) -> tuple[str, ...]:
        """Return the names of the nodes that read an output of a node or wait for the node."""
        return self._consumers[node]

    @cached_property
    def regions(self) -> Mapping[str, Region]:
        """The loops, branches and calls of the source by name, outer ones first; each knows its nodes and its frame."""
        return MappingProxyType(find_regions(self.nodes, self._where))

    def cross_references(self) -> Listing:
        """Return a table of the values that cross into another frame, iteration or branch.

        Returns
        -------
        Listing
            One row per crossing: value, from, to, kind, through. ``print`` it.
        """
        return cross_references(self)

    @cached_property
    def _files(self) -> tuple[MappedFile, ...]:
        arrays = (v for n in self.nodes.values() for v in n.attrs.values() if isinstance(v, np.ndarray))
        return files_of(a for a in arrays if a.nbytes >= LEAST_BYTES)

    @cached_property
    def _text(self) -> str:
        return write_graph(self)

    def text(self) -> str:
        """Return the stable text form, which :func:`workbench.parse` reads back into an equal graph."""
        return self._text

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the text form without source lines and notes, in which the SHA-256 of a large array replaces its
        numbers: equal graphs have equal fingerprints.
        """
        return hashlib.sha256(write_graph(self, sources=False).encode()).hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Graph) and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __deepcopy__(self, memo: Any) -> Graph:
        """The graph itself: it never changes."""
        return self

    @harmless
    def __repr__(self) -> str:
        loops = len(self.frames) - 1
        return f"<Graph {self.name!r}: {len(self.nodes)} nodes, {loops} frame{'s' if loops != 1 else ''}>"

    if TYPE_CHECKING:  # executor and widgets are higher layers, so workbench/public.py defines these methods

        def run(self, feeds: Mapping[str, Any] | None = None, /, *, device: Any = None, **named: Any) -> dict[str, Any]:
            """Run to the end and return the outputs as NumPy arrays by output name."""

        def view(self, *, dataflow_ops: bool = False) -> Any:
            """The picture of the graph as a widget."""

        def _repr_html_(self) -> str:
            """The facts and a static picture, for a notebook."""


def check_files(graph: Graph) -> bool:
    """Return whether files hold constants of ``graph``; GraphError ``file-changed`` if one was written since it was
    loaded."""
    for file in graph._files:
        file.check()
    return bool(graph._files)
