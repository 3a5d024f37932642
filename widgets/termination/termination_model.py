"""The verdict on a loop in words, and the gap of each comparison over the iterations, as plain data."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from workbench.analysis.ends.how_it_ended import ending_of_record
from workbench.analysis.termination.query import observe, over
from workbench.analysis.text import loop_named
from workbench.analysis.verdict import Termination, unknown
from workbench.errors import WorkbenchError
from workbench.widgets.series.loop_state import ended_in, has_ended
from workbench.widgets.termination.termination_clauses import ClauseModel, clauses_of
from workbench.widgets.termination.termination_words import UNKNOWN, describe
from workbench.widgets.text.loop_names import loop_name, loops_spoken

if TYPE_CHECKING:
    from workbench.ir.graph import Graph
    from workbench.trace import Trace


def loops(graph: Graph) -> list[tuple[str, ...]]:
    """Paths of the frames that have a condition, outermost first."""
    return [p for p in sorted(graph.frames, key=lambda p: (len(p), p)) if p and graph.frames[p].loop_cond]


class TerminationModel:
    """Follows the comparisons of one loop; reads only what is new at each update.

    ``outer`` is the iteration of the enclosing loops: only that activation is followed then, else all in order.
    """

    def __init__(self, graph: Graph, path: tuple[str, ...] | None = None, outer: tuple[int, ...] | None = None) -> None:
        known = loops(graph)
        self.graph, self.outer = graph, outer
        self.path = path if path is not None else (known[0] if known else None)
        self.clauses = [ClauseModel(graph, c, outer) for c in (clauses_of(graph, self.path) if self.path else [])]

    @property
    def behind(self) -> bool:
        """True if recorded values are left to read; call ``update`` again."""
        return any(c.follow.behind for c in self.clauses)

    def update(
        self, trace: Trace | None, verdict: Callable[[], Any] | None = None, *, running: bool = False
    ) -> dict[str, Any]:
        """``clauses``: text, node, left, right, gap now, holds, x and y of \\|left - right\\|; ``verdict``: see
        :func:`describe`; ``ended``.

        With a verdict the clauses have ``trend``, ``blocks`` and ``ahead`` (x, y, low, high of the gap's forecast), and
        ``end`` is the expected last evaluation with its interval (at, low, high). A loop that has ended has no
        forecast.
        """
        rows = [clause.update(trace, running) for clause in self.clauses]
        path = self.path
        ended = path is not None and has_ended(trace, self.graph, path, self.outer)
        words = answer = None
        spoken = partial(loops_spoken, self.graph)
        if verdict is not None and path is not None:
            try:
                answer = verdict()
                words = describe(answer, spoken)
            except WorkbenchError as error:
                words = {**UNKNOWN, "reason": spoken(error.message)}
        end = None
        if words is not None:
            now = max((float(row["x"][-1]) for row in rows if len(row["x"])), default=None)
            end = None if ended or words["ended"] else _end(words, now)
            for row, clause in zip(rows, self.clauses, strict=True):
                wanted = None if end is None or now is None else end[2] - now
                over = ended or words["ended"]
                row["ahead"] = None if over else clause.ahead(trace, wanted, words["status"] == "PROVED")
                row["trend"] = clause.trend(trace)
                if words["outcome"] == "never" and words["trend"] and words["clause"] == row["node"]:
                    row["trend"] = words["trend"]  # looked ahead further than the record extends
                row["blocks"] = words["clause"] == row["node"] if words["clause"] else len(rows) == 1
        return {
            "loop": loop_name(self.graph, path) if path else None,
            "clauses": rows,
            "verdict": words,
            "end": end,
            "ended": ended,
            "ended_in": None if path is None or not ended else ended_in(trace, self.graph, path, self.outer),
            "answer": answer,
        }


def answer_of_trace(trace: Trace, graph: Graph, path: tuple[str, ...]) -> Termination:
    """The answer about a loop from a record alone: that it has ended, else the forecast from its values."""
    ending = ending_of_record(trace, path)
    if ending.end.standing.over:
        return over(path, ending)
    try:
        return observe(trace, graph, path).prediction()
    except (StopIteration, LookupError, ValueError, TypeError):
        return unknown(
            "no-data", f"The recorded run contains no evaluation of the condition of the {loop_named(path)}."
        )


def _end(verdict: dict[str, Any], now: float | None) -> tuple[float, float, float] | None:
    """The evaluation at which the loop is expected to end, and its interval."""
    if now is None or verdict["outcome"] != "terminates" or not verdict["remaining"]:
        return None
    at = now + verdict["remaining"]
    low, high = verdict["interval"] or (verdict["remaining"], verdict["remaining"])
    return at, now + low, at if high is None else now + high
