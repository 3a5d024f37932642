"""The nodes of a graph as a table: name, op, type, and of the newest value range, NaN, zeros and megabytes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.errors import WorkbenchError
from workbench.ir.node import Ref
from workbench.ir.op_names import bare_op
from workbench.widgets.base.esm import joined, script
from workbench.widgets.base.html_view import HtmlView
from workbench.widgets.graph.model.moves import node_of
from workbench.widgets.graph.model.search import GraphSearch
from workbench.widgets.live.selection import Selection
from workbench.widgets.live.view_source import ViewSource
from workbench.widgets.nodes.node_facts import NewestFacts, facts_of_nodes
from workbench.widgets.text.labels import short_name, shorten
from workbench.widgets.text.numerals import numeral

if TYPE_CHECKING:
    from workbench.widgets.live.view_source import Viewable

#: rows in sight; the others are found by the filter, or by sorting
MAX_ROWS = 200
#: key and head of a column
COLUMNS = {
    "order": "#",
    "name": "node",
    "op": "op",
    "type": "type",
    "least": "least",
    "largest": "largest",
    "bad": "NaN, Inf",
    "zeros": "zeros",
    "size": "MB",
}
#: columns of the value, which are sorted with the most first
OF_VALUES = ("least", "largest", "bad", "zeros", "size")
NAME, OP, TYPE = 32, 20, 28


class NodeTable(HtmlView):
    """The nodes of a graph as a table that can be sorted and filtered; a row that is clicked is selected in all views.

    The columns are name, op, type of the first output, and of its newest value the least and the largest finite item,
    how many items are NaN or infinite and how many are zero, and its megabytes. 200 rows are shown at once.

    Parameters
    ----------
    source : Session, Trace or Graph
        The run.
    selection : Selection, optional
        A selection to share.

    Examples
    --------
    >>> table = wb.widgets.NodeTable(session)
    >>> table.sort("bad")
    >>> table.filter("op:Conv")
    """

    title = "Nodes"
    _script = script("nodes/node_table.js")
    _css = joined("base/style/flow.css", "nodes/node_table.css")

    def __init__(self, source: ViewSource | Viewable, *, selection: Selection | None = None) -> None:
        self._error, self._query = "", ""
        self._by, self._down = "order", False
        self._facts: NewestFacts | None = None
        self._by_words: tuple[Any, list[str]] = (None, [])  # what they were sorted by, and the names
        super().__init__(source, selection)

    # -- model ------------------------------------------------------------------------------------------------------
    def model(self, snapshot: Any) -> dict[str, Any]:
        graph = self.source.graph
        if self._facts is None:
            self._facts = facts_of_nodes(self.source)
            self._search = GraphSearch(graph)
            self._number = {name: k for k, name in enumerate(graph.nodes)}
            self._found = list(graph.nodes)
        self._facts.look(self.source.trace, snapshot)
        names = self._sorted(self._found)
        selected = node_of(graph, self.selection.node)
        shown = names[:MAX_ROWS]
        rows = [self._row(name) for name in shown]
        self.behind = self._facts.behind  # then there is another look
        return {
            "rows": rows,
            "selected": self._number.get(selected, -1) if selected is not None else -1,
            "total": numeral(len(graph.nodes)),
            "found": numeral(len(names)),
            "more": numeral(len(names) - len(shown)) if len(names) > len(shown) else "",
            "by": self._by,
            "down": self._down,
            "query": self._query,
            "error": self._error,
            "reading": self.behind,
        }

    def _sorted(self, names: Sequence[str]) -> Sequence[str]:
        if self._by == "order":
            return names[::-1] if self._down else names
        if self._by not in OF_VALUES:
            key = (self._by, self._down, self._query)
            if self._by_words[0] != key:
                self._by_words = key, sorted(names, key=self._words, reverse=self._down)
            return self._by_words[1]
        facts = self._facts
        assert facts is not None
        numbers = np.array([facts.places.number[name] for name in names], np.int64)
        rank = np.where(facts.counted, facts.nan + facts.inf if self._by == "bad" else self._column(facts), np.nan)
        rank = rank[numbers]
        order = np.argsort(-rank if self._down else rank, kind="stable")  # NaN, what has no value, comes last
        return [names[k] for k in order]

    def _column(self, facts: NewestFacts) -> np.ndarray:
        column: np.ndarray = getattr(facts, {"size": "bytes"}.get(self._by, self._by))
        return column

    def _words(self, name: str) -> str:
        node = self.source.graph.nodes[name]
        return {"name": name, "op": bare_op(node.op), "type": _type(node)}[self._by].lower()

    def _row(self, name: str) -> dict[str, Any]:
        assert self._facts is not None
        graph, facts = self.source.graph, self._facts.of(name)
        node, public = graph.nodes[name], graph.name_of(Ref(name, 0))
        row: dict[str, Any] = {
            "number": self._number[name],
            "order": numeral(self._number[name] + 1),
            "name": shorten(short_name(public if public != f"{name}:0" else name), NAME),
            "full": shorten(name, 200),
            "op": shorten(bare_op(node.op), OP),
            "type": shorten(_type(node), TYPE),
            "wrong": facts is not None and bool(facts.nan or facts.inf),
            **dict.fromkeys(OF_VALUES, ""),
        }
        if facts is not None:
            wrong = [f"{numeral(n)} {word}" for n, word in ((facts.nan, "NaN"), (facts.inf, "Inf")) if n]
            row |= {
                "least": _number(facts.least),
                "largest": _number(facts.largest),
                "bad": ", ".join(wrong) or "0",
                "zeros": numeral(facts.zeros),
                "size": numeral(facts.bytes / 1e6, 3),
            }
        return row

    def table(self, model: dict[str, Any]) -> tuple[Sequence[str], Sequence[Sequence[str]], str]:
        rows = [[str(row[key]) for key in COLUMNS] for row in model["rows"]]
        return list(COLUMNS.values()), rows, f"{model['found']} of {model['total']} nodes"

    # -- commands: right on any thread ------------------------------------------------------------------------------
    def sort(self, by: str, down: bool | None = None) -> None:
        """Sort the rows.

        Parameters
        ----------
        by : {"order", "name", "op", "type", "least", "largest", "bad", "zeros", "size"}
            The column; "order" is that of the graph.
        down : bool, optional
            The largest first; by default so for columns of values, and the other way for one that is sorted by.

        Raises
        ------
        WorkbenchError
            For another column (``bad-column``).
        """
        if by not in COLUMNS:
            raise WorkbenchError(
                f"The table of nodes has no column {shorten(str(by), 40)!r}.",
                slug="bad-column",
                fix=f"sort by one of {', '.join(COLUMNS)}.",
            )
        self._down = bool(down) if down is not None else not self._down if by == self._by else by in OF_VALUES
        self._by = by
        self.update_now()

    def filter(self, query: str) -> None:
        """Show the nodes that a search finds, as in the graph: ``op:Conv``, ``dtype:float32``, ``shape:3,3``, a part
        of a name; all of them for an empty one.

        Raises
        ------
        WorkbenchError
            For a query that cannot be read (``bad-search``).
        """
        self._found = self._search.find(query) if query.strip() else list(self.source.graph.nodes)
        self._query = query
        self.update_now()

    def choose(self, number: int) -> None:
        """Select a node in all views by its number in the graph, from 0."""
        names = list(self.source.graph.nodes)
        if 0 <= number < len(names):
            self.selection.select(names[number])

    def handle_message(self, kind: str, content: Mapping[str, Any]) -> None:
        number = content.get("number")
        try:
            if kind == "sort":
                self.sort(str(content.get("by"))[:20])
            elif kind == "filter":
                self.filter(str(content.get("text") or "")[:1000])
            elif kind == "choose" and isinstance(number, int):
                self.choose(number)
            self._error = ""
        except WorkbenchError as error:
            self._error = f"{error.message} {error.fix or ''}".strip()
        self.update_now()


def _type(node: Any) -> str:
    return str(node.types[0]) if node.types else ""


def _number(value: Any) -> str:
    return "" if value is None or isinstance(value, float) and math.isnan(value) else numeral(value, 4)
