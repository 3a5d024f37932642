"""The iterations to come of a number: looked ahead if there is a proof, else forecast."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.analysis.forecast.convergence_curve import forecast_values
from workbench.analysis.live.histories import read_column
from workbench.analysis.live.label import evolution_of
from workbench.errors import WorkbenchError
from workbench.text import estimate
from workbench.widgets.evolution.evolution_ahead import ahead_of
from workbench.widgets.live.view_source import ViewSource
from workbench.widgets.series.loop_state import has_ended
from workbench.widgets.text.labels import number
from workbench.widgets.text.numerals import numeral, spaced
from workbench.widgets.values.images.pictures import ValueHistory, part_of
from workbench.widgets.values.images.samples import MISSING
from workbench.widgets.values.inspected_value import Inspected
from workbench.widgets.values.recent import change_of
from workbench.widgets.values.slices import Index

#: iterations to come, in addition to the last one, and the sign for those between
ROWS, GAP = 3, "\u22ef"


class RowsAhead:
    """Rows of iteration, value, change and kind ("ahead" or "forecast"), below the newest value of a number.

    The rows are the next iterations and the last one. A forecast has no row if its error leaves no digit. The rows of a
    state are kept until the run continues.
    """

    def __init__(self, source: ViewSource) -> None:
        self.source = source
        self._key: Any = None
        self._rows: list[list[str]] = []

    def of(
        self, name: str, one: Inspected, history: ValueHistory | None, index: Sequence[Index], snapshot: Any
    ) -> list[list[str]]:
        """The rows below ``one``, the newest value or None; empty if nothing is known of later iterations."""
        graph = self.source.graph
        ref = graph.value(name)
        path = graph.frame_of(ref.node)
        if self.source.session is None or not path:
            return []
        key = (name, one.iteration, str(index), getattr(snapshot, "event", None), len(self.source.session.histories))
        if key != self._key:
            outer = one.iteration[:-1] if len(path) > 1 else None
            found = ahead_of(self.source.session, path, outer, running=False)
            rows = [] if found is None else _ahead(found, str(ref), one, index)
            going = found is None and str(getattr(snapshot, "state", "")) != "failed"
            if going and history is not None and not index and name in {v.name for v in graph.frames[path].variables}:
                rows = self._expected(name, path, outer, one.iteration[-1])
            self._key, self._rows = key, rows
        return self._rows

    def _expected(self, name: str, path: tuple[str, ...], outer: tuple[int, ...] | None, last: int) -> list[list[str]]:
        """The values predicted by the model of the newest ones, up to iteration ``last``."""
        trace = self.source.trace
        if trace is None or last < 3 or has_ended(trace, self.source.graph, path, outer):
            return []
        try:
            column = read_column(trace, trace.ref(name), outer=outer)
            if column.values.ndim != 1 or column.of_sizes or column.values.dtype.kind not in "iuf":
                return []
            steps = np.arange(1.0, ROWS + 1.0)
            expected = forecast_values(evolution_of(column), last, steps, column.values.astype(np.float64))
        except (*MISSING, FloatingPointError, OverflowError):
            return []
        if expected is None:
            return []
        rows = []
        for k, value in enumerate(expected.value):
            error = float(expected.high[k] - expected.low[k]) / 2.0
            forecast = about(float(value), error)
            if forecast is None:
                break
            rows.append([numeral(int(expected.iterations[k])), forecast, "", "forecast"])
        return rows


def about(value: float, error: float) -> str | None:
    """A forecast with the digits that its error leaves, and the error; None if no digit is left.

    >>> about(3.20123, 0.012), about(3.2, 0.0), about(3.2, 2.0)
    ('3.2 \u00b1 0.01', '3.2', None)
    """
    words = estimate(value, error)
    if words is None:
        return None
    digits, _, within = words.partition(" (within ")
    return spaced(digits.replace("-", "\u2212", 1)) + (f" \u00b1 {numeral(float(within[:-1]), 1)}" if within else "")


def _ahead(found: Any, ref: str, one: Inspected, index: Sequence[Index]) -> list[list[str]]:
    """The next looked-ahead iterations, and the one in which the condition is false."""
    column = found.of(ref)
    if column is None:
        return []
    iterations, values = column
    before, last = None, -1
    if one.value is not None and one.iteration:
        before, last = part_of(one.value, index), one.iteration[-1]
    places = [int(k) for k in np.flatnonzero(iterations > last)]
    shown = places[:ROWS] + (places[-1:] if found.end is not None and len(places) > ROWS else [])
    rows: list[list[str]] = []
    for k in shown:
        try:
            value = part_of(values[k], index)
        except WorkbenchError:
            break
        if value.ndim:
            break
        change = change_of(value, before) if iterations[k] == last + 1 else ""
        if iterations[k] > last + 1 and rows:
            rows.append([GAP, "", "", ""])
        rows.append([numeral(int(iterations[k])), number(value[()], 10), change, "ahead"])
        before, last = value, int(iterations[k])
    return rows
