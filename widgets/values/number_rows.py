"""The rows below a number: its last iterations, the one shown, and those to come."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from workbench.widgets.live.view_source import ViewSource, is_running
from workbench.widgets.series.other_runs import OtherRuns
from workbench.widgets.values.images.pictures import ValueHistory, history_of, part_of
from workbench.widgets.values.images.samples import MISSING
from workbench.widgets.values.inspected_value import Inspected
from workbench.widgets.values.recent import recent, settled_digits
from workbench.widgets.values.rows_ahead import RowsAhead
from workbench.widgets.values.slices import Index


class NumberRows:
    """Finds the rows of one view."""

    def __init__(self, source: ViewSource, runs: OtherRuns | None = None) -> None:
        self.source, self.runs = source, runs
        self._ahead = RowsAhead(source)

    def of(self, name: str, shown: Inspected, kind: str, index: Sequence[Index], snapshot: Any) -> dict[str, Any]:
        """``recent`` (iteration, value and change of the last iterations, that of ``shown`` last), ``settled`` (the
        number of leading characters of its text that are the same in the previous iteration, or None), ``now`` (the
        last row is the run's present iteration) and ``ahead`` (rows of the iterations to come, with their kind), only
        for the newest value or one not computed yet. ``beside`` is the name of another run that is drawn: its value and
        the difference then replace the change."""
        found: dict[str, Any] = {"recent": [], "settled": None, "ahead": [], "now": False, "beside": ""}
        if not name or kind not in ("scalar", "none"):
            return found
        history = history_of(self.source, name, shown)
        if kind == "scalar" and history is not None:
            beside = self._beside(name, shown.iteration[:-1])
            found["beside"] = "" if beside is None else beside[0]
            found["recent"] = recent(history, shown.iteration[-1], index, None if beside is None else beside[1])
            found["settled"] = _settled(history, shown, index)
            path = self.source.graph.frame_of(self.source.graph.value(name).node)
            stands = (getattr(snapshot, "iterations", None) or {}).get(path)
            found["now"] = stands in (None, shown.iteration[-1])  # else its present value is not computed yet
        if not is_running(snapshot) and (shown.newest or kind == "none"):
            found["ahead"] = self._ahead.of(name, shown, history, index, snapshot)
        return found

    def _beside(self, name: str, prefix: tuple[int, ...]) -> tuple[str, Callable[[int], Any]] | None:
        """The name of the newest run drawn beside this one, and a reader of its values; None if there is none."""
        for other, trace in reversed(self.runs.traces() if self.runs is not None else []):
            try:
                series = trace[name]
                if len(series) and len(series.frame) == len(prefix) + 1:
                    return other.words, partial(_read, series, prefix)
            except MISSING:
                continue
        return None


def _read(series: Any, prefix: tuple[int, ...], iteration: int) -> Any:
    return series.at((*prefix, iteration))


def _settled(history: ValueHistory, shown: Inspected, index: Sequence[Index]) -> int | None:
    if shown.iteration[-1] < 1:
        return None
    try:
        before = part_of(history.read(shown.iteration[-1] - 1), index)
    except MISSING:
        return None
    return settled_digits(part_of(shown.value, index), before)
