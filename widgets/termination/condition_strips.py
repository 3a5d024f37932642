"""The condition of a loop below the curves of its variables: both sides of each comparison, and true or false."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.errors import WorkbenchError
from workbench.widgets.evolution.condition_rows import LoopShown
from workbench.widgets.evolution.evolution_ahead import drawn_part
from workbench.widgets.strips.strip import Strip, StripCell
from workbench.widgets.strips.strip_marks import STOP
from workbench.widgets.termination.termination_clauses import ClauseModel, clauses_of
from workbench.widgets.termination.termination_spec import clause_strip

if TYPE_CHECKING:
    from workbench.ir.graph import Graph
    from workbench.trace import Trace

#: maximum comparisons with a strip, if so many strips are above them; maximum iterations with a cell each
MOST, ABOVE, EACH = 2, 2, 10
#: height of the cells in units of a strip
LOW = 0.4


class ConditionStrips:
    """Follows the comparisons of the loops of one graph; reads only what is new at each update.

    Examples
    --------
    >>> strips = ConditionStrips(session.graph)
    >>> [s.name for s in strips.update(LoopShown(("while",), (), session.trace, now=3, above=1))]
    ['|x × x − a| > 1e−12', 'go on?']
    """

    def __init__(self, graph: Graph | None) -> None:
        self.graph = graph
        self._key: Any = None
        self._clauses: list[ClauseModel] = []

    def update(self, shown: LoopShown) -> list[Strip]:
        """The strips of one activation; none for a loop without a comparison that was evaluated or looked ahead."""
        path, outer, trace = shown.path, shown.outer, shown.trace
        if self.graph is None or path not in self.graph.frames:
            return []
        if self._key != (path, outer):
            self._key = (path, outer)
            self._clauses = [ClauseModel(self.graph, clause, outer) for clause in clauses_of(self.graph, path)[:MOST]]
        strips = []
        if shown.above <= ABOVE:
            rows = [clause.update(trace, shown.running) for clause in self._clauses]
            model = {"look_ahead": shown.ahead, "now": shown.now}
            strips = [clause_strip(model, row, k) for k, row in enumerate(rows)]
        return [s for s in strips if s.lines] + go_on(self._evaluated(trace, path, outer), shown.ahead, shown.ended)

    def fresh(self) -> ConditionStrips:
        """A new instance for another record of the graph, of which nothing is read yet."""
        return ConditionStrips(self.graph)

    @property
    def behind(self) -> bool:
        """True if recorded values are left to read; call ``update`` again."""
        return any(clause.follow.behind for clause in self._clauses)

    def _evaluated(self, trace: Trace | None, path: tuple[str, ...], outer: tuple[int, ...] | None) -> int:
        """The number of evaluations of the condition in the activation."""
        cond = self.graph.frames[path].loop_cond if self.graph is not None else None
        try:
            if trace is None or cond is None or not len(series := trace[f"{cond}:0"]):
                return 0
            paths = series.window(len(series) - 1, len(series))[0]
            return int(paths[0][-1]) + 1 if outer is None or tuple(paths[0][:-1]) == tuple(outer) else 0
        except (WorkbenchError, LookupError, ValueError, TypeError):
            return 0


def go_on(evaluated: int, ahead: Any, ended: int | None) -> list[Strip]:
    """The strip of the condition's values: an evaluated condition was true in all iterations except the last."""
    cells = []
    if ended is not None:
        cells = [*_stretch(0, ended - 1, False), StripCell(ended, ended, STOP)]
    else:
        cells = _stretch(0, evaluated - 1, False)
        shown = np.empty(0) if ahead is None else ahead.iterations
        shown = shown[drawn_part(shown, None if ahead is None else ahead.end, max(0, evaluated - 1))]
        if len(shown):
            last = int(shown[-1])
            stops = ahead.end is not None and ahead.end == last
            cells += _stretch(evaluated, last - 1 if stops else last, True)
            cells += [StripCell(last, last, STOP, True)] if stops and last >= evaluated else []
    if not cells:
        return []
    if cells[-1].last < EACH:
        cells = [StripCell(i, i, c.word, c.ahead) for c in cells for i in range(c.first, c.last + 1)]
    return [Strip("go on?", [], cells=cells, share=LOW)]


def _stretch(first: int, last: int, ahead: bool) -> list[StripCell]:
    return [StripCell(first, last, "on", ahead)] if first <= last else []
