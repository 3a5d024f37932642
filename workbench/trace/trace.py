"""The trace of a run: every value of every firing, addressed by name and tag."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from os import PathLike
from typing import Any, NoReturn

import numpy as np

from workbench.errors import GraphError, TraceError
from workbench.ir.graph import Graph
from workbench.ir.node import Ref, Tag
from workbench.ir.types import TensorType
from workbench.kernels.layout import Layout, NodeLayout, Place
from workbench.libraries import needed
from workbench.text import facts_html, harmless
from workbench.trace.edited_firings import Written
from workbench.trace.invariants import InvariantSeries
from workbench.trace.provenance import Explanation, explain
from workbench.trace.retention.coverage import Coverage, coverage
from workbench.trace.retention.source import KeptSource
from workbench.trace.retention.tracks import places_of
from workbench.trace.row_ranges import as_array
from workbench.trace.rows import RowReader
from workbench.trace.saved.format import load_trace
from workbench.trace.saved.writer import save_trace
from workbench.trace.seqlock import steady
from workbench.trace.series import Series
from workbench.trace.source import RowSource
from workbench.trace.spill import SpillStore
from workbench.trace.tables import BranchTable, EventTable, fired_rows, order_events, truths

#: values listed in a notebook
SHOWN = 20


class Trace:
    """The record of a run: every value of every firing, by name.

    ``trace[name]`` is the series of one value: its ``values`` in firing order, ``iterations``, ``at(iteration)``, and
    slices such as ``trace["x"][-1]``. Any thread may read a trace at any time, even during a run at full speed.

    Parameters
    ----------
    graph : Graph
        The graph that was run.
    layout : Layout
        The memory places of its values.
    source : RowSource
        The rows of a run or of a file.
    edits : callable
        Returns the edits of the run, oldest first.

    Examples
    --------
    >>> trace = session.trace
    >>> trace["x"].values
    array([2.        , 1.5       , 1.41666667, 1.41421569, 1.41421356])
    >>> trace["x"][-1], trace["x"].at(1)
    (array(1.41421356), array(1.5))
    >>> "x" in trace, "y" in trace
    (True, False)
    """

    def __init__(
        self, graph: Graph, layout: Layout, source: RowSource, edits: Callable[[], Sequence[Written]] = tuple
    ) -> None:
        self.graph, self.layout, self.source = graph, layout, source
        #: returns the edits before the current position, oldest first
        self.edits = edits
        self._reader = RowReader(layout, source)

    @property
    def reader(self) -> RowReader:
        """The rows in memory or in the file; for authors of views."""
        return self._reader

    def ref(self, name: str | Ref) -> Ref:
        """Return the value that a name refers to.

        Parameters
        ----------
        name : str or Ref
            A public name, ``node:index``, or the name of a node.

        Returns
        -------
        Ref

        Raises
        ------
        TraceError
            For a name that the graph does not have (``unknown-value``), or a value that no required output needs
            (``not-computed``).
        """
        try:
            ref = self.graph.value(name)
        except GraphError as error:
            raise TraceError(error.message, slug=error.slug, fix=error.fix) from None
        if ref not in self.layout.values:
            raise TraceError(
                f"{str(name)!r} was not computed in this run: no required output needs it.",
                slug="not-computed",
                fix="name it among the outputs of the session.",
            )
        return ref

    def __getitem__(self, name: str | Ref) -> Series:
        ref = self.ref(name)
        declared = self.graph.nodes[ref.node].types[ref.index]
        place = self.layout.values[ref].place
        if place is not None and place.dtype is not None:
            declared = TensorType(place.dtype, place.shape)
        layout = self.layout.values[ref]
        node = self.graph.nodes[ref.node]
        if node.op == "Enter" and node.attrs.get("is_constant"):
            waits_for = [self._reader.node.get(c) for c in node.control]
            return InvariantSeries(str(name), self._reader, layout, declared, self[node.inputs[0]], waits_for)
        return Series(str(name), self._reader, layout, declared)

    def __contains__(self, name: object) -> bool:
        try:
            self.ref(name)  # type: ignore[arg-type]
        except TraceError:
            return False
        return True

    def __iter__(self) -> Iterator[str]:
        """The names, like the keys of a mapping."""
        return iter(self.names())

    def names(self) -> list[str]:
        """Return the names of the values that this run computes: public names, or ``node:index``."""
        known = {self.graph.name_of(Ref(*key)): None for key in self.layout.values}
        return list(known)

    def firings(self, name: str | Ref) -> list[np.ndarray]:
        """Return every firing of a value as an array, oldest first.

        Parameters
        ----------
        name : str or Ref
            A value of the graph, as in :meth:`names`; ``"node:1"`` for the second output of a node.

        Returns
        -------
        list of array
            One array per firing, in all activations of its loop.

        Raises
        ------
        TraceError
            For a name that the graph does not have (``unknown-value``), or a value that no required output needs
            (``not-computed``).

        Examples
        --------
        >>> [float(x) for x in session.trace.firings("x")][:2]
        [2.0, 1.5]
        """
        return self[name].firings()

    @steady
    def count(self, node: str) -> int:
        """Count the firings of a node in the kept iterations (see :meth:`coverages`).

        Examples
        --------
        >>> session.trace.count("while/divide")
        4
        """
        layout = self._node(node)
        return len(self._reader.rows_of(layout, layout.guard))

    @steady
    def coverage(self, name: str | Ref) -> Coverage:
        """Return which iterations of a value are kept; ``session.value`` and ``session.values`` recompute the others.

        Returns
        -------
        Coverage
            ``kept`` and ``happened`` iterations, and the ``stretches`` that are kept: (first, last, step).

        Examples
        --------
        >>> print(session.trace.coverage("x"))
        all 5 iterations
        """
        layout = self.layout.values[self.ref(name)]
        return coverage(self._reader, layout.frame, places_of(layout))

    @steady
    def coverages(self) -> dict[tuple[str, ...], Coverage]:
        """Return by frame path the iterations for which the fired nodes are known.

        :meth:`events`, :meth:`branches` and :meth:`count` cover these iterations.
        """
        return {f.path: coverage(self._reader, number) for number, f in enumerate(self.layout.frames) if number}

    @steady
    def events(self, silent: bool = True) -> EventTable:
        """Return every firing of every node, in order.

        Parameters
        ----------
        silent : bool, default True
            Whether constants and loop invariants are included.

        Returns
        -------
        EventTable
            One row per event, as columns: ``number``, ``code`` (an index into ``nodes``), ``iteration`` ...
        """
        table = self._table(list(self.layout.nodes))
        if silent:
            return table
        loud = ~np.array([n.silent for n in self.layout.nodes], bool)[table.code]
        return EventTable(
            table.nodes,
            table.frames,
            table.number[loud],
            table.code[loud],
            table.frame_code[loud],
            table.iteration[loud],
            partial=table.partial,
        )

    @steady
    def branches(self, loops: bool = True) -> BranchTable:
        """Return every decision of a Switch, in order.

        Parameters
        ----------
        loops : bool, default True
            Whether the Switches of loops are included.

        Returns
        -------
        BranchTable
            One row per decision, as in :meth:`events`, with ``taken``: the side.

        Examples
        --------
        >>> session.trace.branches().taken
        array([ True,  True,  True,  True, False])
        """
        nodes = [n for n in self.layout.nodes if n.op == "Switch" and (loops or not self._is_loop_switch(n.name))]
        table = self._table(nodes)
        taken = np.zeros(len(table), bool)
        for index, node in enumerate(nodes):
            mine = table.code == index
            if mine.any():
                pred = self.layout.values[self.graph.nodes[node.name].inputs[1]]
                rows = fired_rows(self._reader, node)[: int(mine.sum())]
                taken[mine] = truths(pred.node, self._reader.values(pred, rows))
        return BranchTable(
            table.nodes,
            table.frames,
            table.number,
            table.code,
            table.frame_code,
            table.iteration,
            taken,
            partial=table.partial,
        )

    @steady
    def branch_counts(self) -> dict[str, tuple[int, int]]:
        """Return for each Switch how often its predicate was false and how often it was true.

        Examples
        --------
        >>> session.trace.branch_counts()
        {'while/x/Switch': (1, 4)}
        """
        counts = {}
        for node in self.layout.nodes:
            if node.op == "Switch":
                total = self.count(node.name)
                true = len(self._reader.rows_of(node, self.layout.values[node.name, 1].guard))
                counts[node.name] = (total - true, true)
        return counts

    @steady
    def last_branch(self, switch: str) -> bool | None:
        """Return the last decision of a Switch, or None if it has not fired.

        TraceError if the run does not compute the node (``not-computed``), or it is not a Switch (``not-a-switch``).
        """
        node = self._node(switch)
        if node.op != "Switch":
            raise TraceError(
                f"{switch!r} is a {node.op}, which takes no branch.",
                slug="not-a-switch",
                fix="branch_counts() lists the nodes that do.",
            )
        extent = self.source.extent(node.frame)
        low = max(extent.first, extent.end - 64)
        rows = self._reader.rows_of(node, node.guard, (low, extent.end))
        if len(rows) == 0:
            rows = self._reader.rows_of(node, node.guard)
        if len(rows) == 0:
            return None
        pred = self.layout.values[self.graph.nodes[switch].inputs[1]]
        return bool(truths(pred.node, self._reader.values(pred, rows[-1:]))[0])

    def explain(
        self, name: str | Ref, iteration: int | tuple[int, ...] | None = None, *, max_links: int = 200
    ) -> Explanation:
        """Explain a value: the chain of values that it was computed from, back to inputs and constants.

        Parameters
        ----------
        name : str or Ref
            The value.
        iteration : int or tuple of int, optional
            Its iteration; by default the last firing.
        max_links : int, default 200
            Maximum number of values in the chain.

        Returns
        -------
        Explanation
            ``print`` it, or read it as data in ``links``.
        """
        return explain(self, name, iteration, max_links=max_links)

    @steady
    def recent(self, frame: tuple[str, ...] = (), count: int = 8) -> list[Tag]:
        """Return the last firings in a frame, oldest first, without constants and loop invariants.

        Parameters
        ----------
        frame : tuple of str, default ()
            Path of the frame.
        count : int, default 8
            Number of firings.

        Returns
        -------
        list of Tag
        """
        number = next((i for i, f in enumerate(self.layout.frames) if f.path == tuple(frame)), 0)
        nodes = [n for n in self.layout.nodes if n.frame == number and not n.silent]
        extent = self.source.extent(number)
        stop, width = extent.end, 2
        while True:
            window = (max(stop - width, extent.first), stop)
            picked = [(n, as_array(self._reader.rows_of(n, n.guard, window))) for n in nodes]
            if sum(len(rows) for _, rows in picked) >= count or window[0] == extent.first:
                break
            width *= 4
        code, _, _, iteration = order_events(self._reader, picked)
        path = self.layout.frames[number].path
        return [
            Tag(nodes[c].name, 0, path, tuple(int(i) for i in its[: len(path)]))
            for c, its in list(zip(code, iteration, strict=True))[-count:]
        ]

    @property
    def spill(self) -> SpillStore | None:
        """The store of older rows on disk, with ``status``, ``limit`` and ``keep``; None if all rows are in memory."""
        parts = getattr(getattr(self.source, "keeper", None), "parts", ())
        return next((p for p in parts if isinstance(p, SpillStore)), None)

    @property
    def dropped(self) -> bool:
        """True if rows were dropped to stay within the memory budget; ``session.value`` recomputes their values."""
        if isinstance(self.source, KeptSource):
            return self.source.partial
        stores = range(len(self.layout.stores))
        return self.source.partial or any(self.source.first(Place(s + 1, 0, 0, None)) > 0 for s in stores)

    def save(self, path: str | PathLike[str], progress: Callable[[int, int], object] | None = None) -> None:
        """Write the trace to one file, a documented zip format without pickle.

        The trace is written piece by piece and never held in memory as a whole. For each loop, writing begins with the
        iteration from which all are kept.

        Parameters
        ----------
        path : path
            The file.
        progress : callable, optional
            ``progress(done, total)`` is called during writing, in bytes; by default a terminal shows a line if it takes
            long.

        Raises
        ------
        TraceError
            If the file would be too large to be loaded again (``too-large``), the disk is full (``disk-full``) or the
            file cannot be written (``not-written``); no incomplete file remains.

        Examples
        --------
        >>> session.trace.save("newton.trace")
        >>> wb.Trace.load("newton.trace")
        <Trace of 'newton': frames while>
        """
        save_trace(self, path, progress)

    @classmethod
    def load(cls, path: str | PathLike[str], *, trusted: bool = False) -> Trace:
        """Read a trace that :meth:`save` wrote.

        Uncompressed arrays of at least 1 MiB are mapped: they take no memory until they are read. Saving to the same
        path does not change a loaded trace, but truncating the file while it is mapped ends the process.

        Parameters
        ----------
        path : path
            The file.
        trusted : bool, default False
            Allow up to 8 GiB (or the machine's memory). Otherwise a file that unpacks to far more than its own size is
            refused, because a file of unknown origin may be made to exhaust memory. Files of :meth:`save` stay within
            the limits.

        Returns
        -------
        Trace

        Raises
        ------
        TraceError
            ``no-such-file``, ``not-a-trace``, ``bad-trace`` for a damaged file, ``trace-version``, ``too-large``.
        """
        return load_trace(path, cls, trusted=trusted)

    def __deepcopy__(self, memo: Any) -> NoReturn:
        raise TraceError(
            "A trace cannot be copied: it reads the rows of its run.",
            slug="not-copied",
            fix="save it with trace.save(path) and load the file with wb.Trace.load(path).",
        )

    @harmless
    def __repr__(self) -> str:
        loops = [f"{'/'.join(f.path)}" for f in self.layout.frames[1:]]
        return f"<Trace of {self.graph.name!r}: frames {', '.join(loops) or 'none'}>"

    @harmless
    def _repr_html_(self) -> str:
        names = self.names()
        shown = [(name, repr(self[name])) for name in names[:SHOWN]]
        if len(names) > SHOWN:
            shown.append(("...", f"and {len(names) - SHOWN} more values: trace.names()"))
        edits = len(self.edits())
        return facts_html(repr(self), [*shown, ("set by hand", f"{edits} values" if edits else "")])

    def to_pandas(self, names: Sequence[str] | None = None) -> Any:
        """Return values as a pandas DataFrame with a row per iteration and a column per value.

        Parameters
        ----------
        names : sequence of str, optional
            Values of one loop (or none); by default the variables of the first loop.

        Returns
        -------
        pandas.DataFrame
            Indexed by the iteration; NaN where a value did not fire. Arrays are kept as objects.

        Raises
        ------
        TraceError
            For an unknown name, for values of different loops (``not-one-loop``), or without pandas
            (``missing-library``).
        """
        if names is None:
            frame = next((f for p, f in self.graph.frames.items() if p), None)
            names = [v.name for v in frame.variables if v.merge in self._reader.node] if frame is not None else []
        series = [self[name] for name in names]
        if len({s.frame for s in series}) > 1:
            raise TraceError(
                "These values belong to different loops, and cannot be columns of one table.",
                slug="not-one-loop",
                fix="ask for the values of one loop at a time.",
            )
        columns = {s.name: s.to_pandas() for s in series}
        return needed("pandas", error=TraceError).DataFrame(columns)

    # -- parts --------------------------------------------------------------------------------------------------
    def _node(self, name: str) -> NodeLayout:
        found = self._reader.node.get(str(name))
        if found is None:
            raise TraceError(f"There is no node {name!r} in this run.", slug="not-computed")
        return found

    def _is_loop_switch(self, name: str) -> bool:
        return self.graph.nodes[self.graph.nodes[name].inputs[1].node].op == "LoopCond"

    def _table(self, nodes: list[NodeLayout]) -> EventTable:
        picked = [(n, fired_rows(self._reader, n)) for n in nodes]
        code, frame_code, _, iteration = order_events(self._reader, picked)
        frames: tuple[Any, ...] = tuple(f.path for f in self.layout.frames)
        number = np.arange(len(code), dtype=np.int64)
        partial = not all(coverage(self._reader, f).whole for f in {n.frame for n in nodes})
        return EventTable(tuple(n.name for n in nodes), frames, number, code, frame_code, iteration, partial=partial)
