"""All nodes of a graph in the order in which they run, as one strip: what the newest value of each of them is like."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import traitlets

from workbench.ir.node import Ref
from workbench.ir.op_names import bare_op
from workbench.widgets.base.esm import joined, script
from workbench.widgets.base.html_view import HtmlView
from workbench.widgets.graph.model.moves import node_of
from workbench.widgets.live.selection import Selection
from workbench.widgets.live.view_source import ViewSource, is_running
from workbench.widgets.nodes.node_facts import FINE, INFINITE, NOT_A_NUMBER, NOTHING, NodePlaces, facts_of_nodes
from workbench.widgets.text.display_names import Spoken
from workbench.widgets.text.labels import shorten, value_text
from workbench.widgets.text.loop_names import loop_name, place_words
from workbench.widgets.text.numerals import numeral

if TYPE_CHECKING:
    from workbench.widgets.live.view_source import Viewable

#: cells of the strip: about one a pixel
MAX_CELLS = 1200
#: what a cell shows of the nodes in it, the worst of them; those with "older" are of an earlier iteration
LEVELS = ("not computed", "older", "computed", "older Inf", "Inf", "older NaN", "NaN", "failed")
FAILED = LEVELS.index("failed")
LEVEL_OF = {NOTHING: (0, 0), FINE: (2, 1), INFINITE: (4, 3), NOT_A_NUMBER: (6, 5)}
MAX_LOOPS = 40
NAME = 40


class NodeStrip(HtmlView):
    """A strip of all nodes in the order of the program, a cell for each of up to 1,200, else for a few in a row.

    The height of a bar, its colour and the text under the pointer show whether the newest value is finite, infinite or
    NaN, of an earlier iteration, or not there yet. A click or the arrow keys select a node in all views.

    Parameters
    ----------
    source : Session, Trace or Graph
        The run.
    selection : Selection, optional
        A selection to share.
    """

    title = "All nodes"
    _script = script("nodes/node_strip.js")
    _css = joined("base/style/flow.css", "nodes/node_strip.css")
    names: Any = traitlets.List().tag(sync=True)

    def __init__(self, source: ViewSource | Viewable, *, selection: Selection | None = None) -> None:
        self._source = source if isinstance(source, ViewSource) else ViewSource(source)
        self._facts = facts_of_nodes(self._source)
        self._places: NodePlaces | None = None
        super().__init__(self._source, selection)
        self.names = self._names

    # -- model ------------------------------------------------------------------------------------------------------
    def model(self, snapshot: Any) -> dict[str, Any]:
        facts, graph, running = self._facts, self.source.graph, is_running(snapshot)
        facts.look(self.source.trace, snapshot)
        if self._places is not facts.places:
            self._arrange(facts.places)
        position = None if running else node_of(graph, getattr(getattr(snapshot, "position", None), "node", None))
        failed = str(getattr(snapshot, "state", "")) == "failed"
        levels = np.zeros(len(facts.state), np.uint8)
        for state, (now, before) in LEVEL_OF.items():
            levels[facts.state == state] = now
            levels[(facts.state == state) & facts.older] = before
        number = facts.places.number
        if failed and position in number:
            levels[number[position]] = FAILED
        self._levels = levels
        selected = node_of(graph, self.selection.node)
        at = number.get(selected or "", number.get(position or "", 0))
        self.behind = facts.behind
        return {
            "cells": "".join(map(str, np.maximum.reduceat(levels, self._starts))) if len(levels) else "",
            "total": f"{numeral(len(levels))} node{'' if len(levels) == 1 else 's'}",
            "count": len(levels),
            "at": at,
            "now": self._cell(number.get(position or "", -1)),
            "selected": self._cell(number.get(selected or "", -1)),
            "words": self._words(at) if len(levels) else "",
            "wrong": [self._wrong("NaN", (5, 6)), self._wrong("Inf", (3, 4))],
            "loops": self._loops,
            "running": running,
            "past": self._looked_at(),
            "reading": self.behind,
        }

    def _arrange(self, places: NodePlaces) -> None:
        """The cells of the nodes, their names and the loops; made once for a run."""
        self._places, names, graph = places, places.names, self.source.graph
        count, spoken = len(names), Spoken(graph)
        self._cells = max(1, min(MAX_CELLS, count))
        self._starts = -(-np.arange(self._cells) * count // self._cells)
        ends = np.append(self._starts[1:], count)
        self._names = []
        for start, end in zip(self._starts, ends, strict=True):
            if start < count:
                more = f" and {numeral(int(end - start - 1))} more" if end - start > 1 else ""
                self._names.append(self._called(spoken, names[start]) + more)
        spans: dict[tuple[str, ...], tuple[int, int]] = {}
        for k, name in enumerate(names):
            frame = graph.frame_of(name)
            for depth in range(1, len(frame) + 1):
                first, _ = spans.get(frame[:depth], (k, k))
                spans[frame[:depth]] = first, k
        self._loops = [
            [self._cell(first), self._cell(last), loop_name(graph, path, NAME), len(path)]
            for path, (first, last) in list(spans.items())[:MAX_LOOPS]
        ]
        if self.comm is not None:
            self.names = self._names

    def _looked_at(self) -> str:
        moment = self.selection.moment
        return "" if moment is None else place_words(self.source.graph, moment.frame, moment.iteration)

    def _called(self, spoken: Spoken, name: str) -> str:
        nodes = self.source.graph.nodes
        called, op = spoken.called(Ref(name, 0)), bare_op(nodes[name].op)
        if called == "constant":
            made = spoken.origin(name)
            return f"{shorten(value_text(nodes[made].attrs.get('value')), NAME)} ({'constant' if made == name else op})"
        return shorten(called if op.lower() in called.lower() else f"{called} ({op})", NAME)

    def _cell(self, number: int) -> int:
        return -1 if number < 0 else number * self._cells // len(self._facts.state)

    def _words(self, number: int) -> str:
        name = self._facts.places.names[number]
        return f"{shorten(name, 80)}: {LEVELS[self._levels[number]]}"

    def _wrong(self, word: str, levels: tuple[int, int]) -> dict[str, Any]:
        """How many nodes are so now, and the first of them."""
        found = np.flatnonzero(np.isin(self._levels, levels))
        if not len(found):
            return {"text": ""}
        first = int(found[0])
        tip = f"Go to the first of them, {shorten(self._facts.places.names[first], 80)}"
        return {"text": f"{numeral(len(found))} {word}", "tip": tip, "number": first}

    def table(self, model: dict[str, Any]) -> tuple[Sequence[str], Sequence[Sequence[str]], str]:
        counts = np.bincount(self._levels, minlength=len(LEVELS))
        rows = [[word, numeral(int(n))] for word, n in zip(LEVELS, counts, strict=True) if n]
        return ("newest value", "nodes"), rows, model["total"]

    # -- commands ---------------------------------------------------------------------------------------------------
    def choose(self, number: int) -> None:
        """Select a node in all views by its number in the order of the program, from 0."""
        names = self._facts.places.names
        if names:
            self.selection.select(names[max(0, min(len(names) - 1, number))])

    def choose_cell(self, cell: int) -> None:
        """Select a node of a cell: the first of those that are not finite, else the first."""
        if not 0 <= cell < self._cells:
            return
        start = int(self._starts[cell])
        end = int(self._starts[cell + 1]) if cell + 1 < self._cells else len(self._levels)
        inside = self._levels[start:end]
        if len(inside):
            self.choose(start + (int(inside.argmax()) if inside.max() >= LEVELS.index("older Inf") else 0))

    def handle_message(self, kind: str, content: Mapping[str, Any]) -> None:
        number = content.get("number")
        if isinstance(number, bool) or not isinstance(number, int):
            return
        if kind == "cell":
            self.choose_cell(number)
        elif kind == "choose":
            self.choose(number)
