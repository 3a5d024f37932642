"""Content of an evolution view: values of one loop, each followed separately."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from workbench.widgets.evolution.evolution_model import EvolutionModel

if TYPE_CHECKING:
    from workbench.trace import Trace

#: values that remain followed when they are no longer shown
KEPT = 24

Outer = tuple[int, ...] | None


class EvolutionGroup:
    """Followed values by name; values chosen again are not read anew. See :class:`EvolutionModel`."""

    def __init__(self, judged: bool) -> None:
        self.judged = judged
        self._models: OrderedDict[tuple[str, Outer, bool], EvolutionModel] = OrderedDict()
        self._active: list[EvolutionModel] = []

    @property
    def behind(self) -> bool:
        return any(m.behind for m in self._active)

    def of(self, name: str, outer: Outer = None, statistics: bool = False) -> EvolutionModel:
        """The model of one value, made on first use."""
        key = (name, outer, statistics)
        if key not in self._models:
            judged = self.judged and not statistics
            self._models[key] = EvolutionModel([name], judged, statistics=statistics, outer=outer)
            while len(self._models) > KEPT:
                self._models.popitem(last=False)
        self._models.move_to_end(key)
        return self._models[key]

    def update(
        self,
        trace: Trace | None,
        names: Sequence[str],
        *,
        outer: Outer = None,
        statistics: bool = False,
        running: bool = False,
        verdicts: bool = True,
        log: bool = False,
        zoom: tuple[float, float] | None = None,
    ) -> dict[str, Any]:
        """The models of ``names`` as one; keys as in :meth:`EvolutionModel.update`."""
        self._active = [self.of(name, outer, statistics) for name in names]
        found: dict[str, Any] = {"lines": [], "verdicts": [], "empty": {}, "x_title": "iteration", "log": log}
        for model in self._active:
            one = model.update(trace, running=running, verdicts=verdicts, log=log, zoom=zoom)
            found["lines"] += [{**line, "number": len(found["lines"]) + k} for k, line in enumerate(one["lines"])]
            found["verdicts"] += one["verdicts"]
            found["empty"] |= one["empty"]
            if one["x_title"] != "iteration":
                found["x_title"] = one["x_title"]
        return found
