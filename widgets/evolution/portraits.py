"""Cobwebs and phase portraits of one value, with the map computed from the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.errors import WorkbenchError
from workbench.widgets.evolution.portrait_model import cobweb_model, phase_model

if TYPE_CHECKING:
    from workbench.widgets.evolution.evolution_choice import Choice
    from workbench.widgets.evolution.evolution_group import EvolutionGroup
    from workbench.widgets.live.view_source import ViewSource

#: number of points of a cobweb's curve
CURVE = 120
FAILED = (KeyError, IndexError, ValueError, TypeError, WorkbenchError)


class Portraits:
    """Reads the first value of ``choice``; the curve of a cobweb is kept while the run is the same."""

    def __init__(self, source: ViewSource, choice: Choice, group: EvolutionGroup) -> None:
        self.source, self.choice, self.group = source, choice, group
        self._map: Any = None  # the curve, with the key of its run

    def series(self, outer: tuple[int, ...] | None, name: str | None = None) -> Any:
        """The values of a name (by default the first) in an activation."""
        model = self.group.of(name or self.choice.first, outer)
        model.attach(self.source.trace)
        return model.series(name or self.choice.first)

    def model(self, outer: tuple[int, ...] | None, at: int | None) -> dict[str, Any]:
        """The portrait of an activation, with the iteration ``at`` marked."""
        series = self.series(outer)
        suffix, other, other_suffix = self.choice.parts(series)
        if self.choice.kind == "cobweb":
            found = cobweb_model(series, suffix, at)
            return {**found, "curve": None if suffix else self._curve(found)}
        return phase_model(series, suffix, None if other is None else self.series(outer, other), other_suffix, at)

    def _curve(self, cobweb: dict[str, Any]) -> Any:
        """The map of the first value as (x, y) over the range of its cobweb; None if the graph has none."""
        session, x = self.source.session, np.concatenate([cobweb["x"], cobweb["y"]])
        x = x[np.isfinite(x)]
        if session is None or session.state in ("running", "closed") or not len(x):
            return None
        low, high = float(x.min()), float(x.max())
        key = (self.choice.first, session.trace, len(session.histories))
        if self._map is None or self._map[0] != key or low < self._map[1][0] or high > self._map[1][1]:
            room = 0.05 * (high - low) or 0.05 * abs(high) or 1.0
            grid = np.linspace(low - room, high + room, CURVE)
            try:
                values = session.next_values(key[0], grid)
            except FAILED:
                values = None
            self._map = (key, (grid[0], grid[-1]), (grid, values))
        grid, values = self._map[2]
        return None if values is None else (grid, values)
