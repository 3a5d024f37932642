"""Texts of the boxes in a graph's picture: values, branch decisions and iterations, of the newest state or of a moment.

Bounded: at most 80 values and 200 Switches are read, for at most 0.1 s per update. Values of a paused run that could
not be read in that time are read at the next update (``behind``), and values are kept while nothing changes.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from workbench.analysis.ends.how_it_ended import ended
from workbench.errors import WorkbenchError
from workbench.ir.node import Ref
from workbench.widgets.graph.model.brief_values import MAX_SEARCHED, brief_forms
from workbench.widgets.graph.model.given_outputs import BETWEEN, output_marks
from workbench.widgets.live.selection import Moment
from workbench.widgets.series.series_reader import last_iterations, latest, open_paths
from workbench.widgets.series.value_at import Shown, value_at
from workbench.widgets.text.labels import value_text
from workbench.widgets.text.numerals import numeral

if TYPE_CHECKING:
    from workbench.widgets.live.view_source import ViewSource

MAX_VALUES = 80
MAX_SWITCHES = 200
SLICE_S = 0.1
NOT_THERE = (KeyError, IndexError, TypeError, ValueError, WorkbenchError)
#: repeats what its condition shows
SILENT = ("LoopCond",)


class NodeReading(NamedTuple):
    """``text`` is the value in a few characters; ``bad`` is "NaN", "Inf" or ""; ``age`` is the iteration of a value
    from an earlier iteration of its loop, else ""; ``brief`` are ever shorter forms, for an array its range.
    """

    text: str
    bad: str
    age: str = ""
    brief: tuple[str, ...] = ()


class RunReader:
    """Reads for the pictures of one view; ``source`` is its :class:`~workbench.widgets.live.view_source.Source`."""

    def __init__(self, source: ViewSource) -> None:
        self.source = source
        self.behind = False
        self._mark: Any = None
        self._kept: dict[str, Any] = {}
        graph = source.graph
        switches = [n for n in graph.nodes.values() if n.op == "Switch"]
        self._switches: dict[Ref, list[str]] = {}
        for node in switches:
            self._switches.setdefault(node.inputs[1], []).append(node.name)
        given = output_marks(graph)
        #: a Switch forwards a value that is already shown: its box shows the side that it took
        self._shown = {node.name: [node.inputs[1]] for node in switches}
        self._shown |= {name: [Ref(name, k) for k in indices] for name, indices in given.items()}
        self._last: dict[tuple[str, ...], tuple[int, ...]] = {}
        self._now = self._last  # position of a paused run, also if no condition was evaluated yet

    def begin(self, mark: Any, running: bool, moment: Moment | None, progress: Mapping[tuple[str, ...], int]) -> None:
        """Begin an update; ``mark`` changes with the run, ``progress`` is the iteration of each frame."""
        if running or mark != self._mark:
            self._kept = {}
        self._mark = None if running else mark
        self._moment, self._running, self._progress = moment, running, progress
        self._until = time.perf_counter() + SLICE_S
        self.behind = False
        trace = self.source.trace
        self._last = last_iterations(trace, self.source.graph) if trace is not None and moment is None else {}
        self._now = self._last if running else self._last | open_paths(progress)

    # -- requests ------------------------------------------------------------------------------------------
    def values(self, nodes: Iterable[tuple[str, str]]) -> dict[str, NodeReading]:
        """Node -> reading of its first output, or of its outputs that are outputs of the graph, in the order in its
        box; for (name, op) pairs, the most important first.
        """
        found: dict[str, NodeReading] = {}
        for name, op in list(nodes)[:MAX_VALUES]:
            if op in SILENT:
                continue
            reading = self._keep(f"value {name}", lambda name=name: self._values(name))  # type: ignore[misc]
            if reading is not None:
                found[name] = reading
        return found

    def branches(self) -> tuple[dict[str, bool], dict[str, bool]]:
        """Switch -> the side that it took; the second dict holds those that have not decided in the present iteration
        of their loop, with the earlier side.
        """
        taken: tuple[dict[str, bool], dict[str, bool]] = ({}, {})
        if self.source.trace is None:
            return taken
        for predicate, switches in list(self._switches.items())[:MAX_SWITCHES]:
            side = self._keep(f"side {predicate}", lambda p=predicate, s=switches: self._side(p, s))  # type: ignore[misc]
            if side is not None:
                taken[side[1]].update(dict.fromkeys(switches, side[0]))
        return taken

    def loops(self, frames: Iterable[tuple[str, tuple[str, ...]]]) -> dict[str, str]:
        """Id -> text of the iteration, for (id, frame path) pairs of loops."""
        found = {}
        for key, path in frames:
            words = self._keep(f"loop {key}", lambda path=path: self._loop(path))  # type: ignore[misc]
            if words:
                found[key] = words
        return found

    # -- reading ----------------------------------------------------------------------------------------------------
    def _keep(self, key: str, read: Any) -> Any:
        if key not in self._kept:
            if self.source.trace is None or time.perf_counter() > self._until:
                self.behind = self.source.trace is not None
                return None
            try:
                self._kept[key] = read()
            except NOT_THERE:
                self._kept[key] = None
        return self._kept[key]

    def _at_moment(self, ref: Ref) -> Shown:
        assert self._moment is not None
        return value_at(_Recorded(self.source) if self._running else self.source, ref, self._moment)

    def _newest(self, ref: Ref) -> tuple[Any, tuple[int, ...]] | None:
        trace = self.source.trace
        return None if trace is None else latest(trace, str(ref), self._now)

    def _values(self, name: str) -> NodeReading | None:
        found = [self._value(ref) for ref in self._shown.get(name, [Ref(name, 0)])]
        read = [one or NodeReading(value_text(None), "") for one in found]
        if not any(found):
            return None
        bad, age = (next((getattr(one, part) for one in read if getattr(one, part)), "") for part in ("bad", "age"))
        forms = [one.brief or (one.text,) for one in read]
        brief = tuple(BETWEEN.join(f[min(k, len(f) - 1)] for f in forms) for k in range(max(map(len, forms))))
        return NodeReading(BETWEEN.join(one.text for one in read), bad, age, brief)

    def _value(self, ref: Ref) -> NodeReading | None:
        if self._moment is not None:
            value, age = self._at_moment(ref).value, ""
        elif (found := self._newest(ref)) is None:
            return None
        else:
            value, age = found[0], self._age(ref, found[1])
        return None if value is None else NodeReading(value_text(value, 5), badness(value), age, brief_forms(value))

    def _age(self, ref: Ref, iteration: tuple[int, ...]) -> str:
        """The iteration of a value, if its loop or an enclosing one has advanced since; "" during a run."""
        frame, node = self.source.graph.frame_of(ref.node), self.source.graph.nodes[ref.node]
        if self._running or len(iteration) != len(frame):
            return ""
        # the start value of a loop holds in all its iterations
        around = iteration[:-1] if node.op == "Enter" else iteration
        old = any(i < self._progress.get(frame[: k + 1], -1) for k, i in enumerate(around))
        return ", ".join(map(numeral, iteration)) if old else ""

    def _side(self, predicate: Ref, switches: list[str]) -> tuple[bool, bool] | None:
        """The side, and True if it is that of an earlier iteration."""
        if self._moment is not None:
            value = self._at_moment(predicate).value
            return None if value is None else (bool(np.asarray(value).reshape(-1)[0]), False)
        trace = self.source.trace
        if trace is None:
            return None
        for switch in switches[:4]:
            last = trace.last_branch(switch)
            if last is not None:
                newest = self._newest(predicate)
                return bool(last), newest is not None and bool(self._age(predicate, newest[1]))
        return None

    def _loop(self, path: tuple[str, ...]) -> str:
        condition = self.source.graph.frames[path].loop_cond
        if condition is None:
            return ""
        if self._moment is not None:
            shown = self._at_moment(Ref(condition, 0))
            if shown.value is None or not shown.iteration:
                return "not reached" if shown.note else ""
            return self._iteration(path, shown.iteration, bool(np.asarray(shown.value).reshape(-1)[0]))
        now = self._progress.get(path, -1)
        if path not in self._last:
            return "not reached" if now < 0 else f"iteration {numeral(now)}"
        if not self._running and any(
            at < self._progress.get(path[: k + 1], -1) for k, at in enumerate(self._last[path][:-1])
        ):
            return "not reached"  # in this iteration of an enclosing loop
        newest_test = self._last[path][-1]
        newest = self._newest(Ref(condition, 0))
        goes_on = newest is not None and bool(np.asarray(newest[0]).reshape(-1)[0])
        last = (*self._last[path][:-1], max(now, newest_test) if goes_on else newest_test)
        return self._iteration(path, last, goes_on or now > newest_test)

    def _iteration(self, path: tuple[str, ...], iteration: tuple[int, ...], goes_on: bool) -> str:
        """The iteration of a loop, or how it ended in the present iteration of the enclosing ones."""
        number = numeral(iteration[-1])
        if goes_on or self.source.trace is None:
            return f"iteration {number}"
        return f"{ended(self.source.trace, path, tuple(iteration)).end.word} after {number}"


class _Recorded:
    """The source without its session: during a run nothing is recomputed for a picture."""

    session = None

    def __init__(self, source: ViewSource) -> None:
        self.trace = source.trace


def badness(value: Any) -> str:
    """ "NaN", "Inf" or "", for a float or complex value that is not too long to search."""
    array = np.asarray(value) if isinstance(value, (np.ndarray, np.generic, float, complex)) else np.zeros(0)
    if array.dtype.kind not in "fc" or not array.size or array.size > MAX_SEARCHED:
        return ""
    if np.isfinite(array).all():
        return ""
    return "NaN" if np.isnan(array).any() else "Inf"


def first_of(
    boxes: Iterable[Mapping[str, Any]], near: Iterable[str], variables: Iterable[str]
) -> list[tuple[str, str]]:
    """(name, op) of the boxes of nodes by importance: first those near the selected node, then the loop variables, then
    the others in order.
    """
    named = {b["name"]: b["op"] for b in boxes if b["name"] is not None}
    order = dict.fromkeys([*(n for n in near if n in named), *(v for v in variables if v in named), *named])
    return [(name, named[name]) for name in order]
