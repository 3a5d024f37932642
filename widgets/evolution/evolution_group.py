"""Content of an evolution view: some values of one loop, each followed on its own, and other histories."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.threads import Lock
from workbench.widgets.evolution.evolution_model import EvolutionModel
from workbench.widgets.live.background import BackgroundTasks

if TYPE_CHECKING:
    from workbench.session import Session
    from workbench.trace import Trace

#: values that stay followed after they are no longer shown, and other histories that are drawn
KEPT, GHOSTS = 24, 6
#: events of an earlier history that are recomputed to draw it
GHOST_EVENTS = 2_000_000

Outer = tuple[int, ...] | None


class EvolutionGroup:
    """Followed values by name; choosing others reads nothing again. See :class:`EvolutionModel`."""

    def __init__(self, classify: Callable[[np.ndarray], Any] | None) -> None:
        self.classify = classify
        self._models: OrderedDict[tuple[str, Outer, bool], EvolutionModel] = OrderedDict()
        self._active: list[EvolutionModel] = []

    @property
    def behind(self) -> bool:
        return any(m.behind for m in self._active)

    def of(self, name: str, outer: Outer = None, statistics: bool = False) -> EvolutionModel:
        """The model of one value, made on first use."""
        key = (name, outer, statistics)
        if key not in self._models:
            judged = None if statistics else self.classify
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


class Ghosts:
    """Lines of other histories of a session: its forks, and what it did before its inputs or a value were changed.

    An earlier history is recomputed on a thread of its own when it is first drawn; ``ready`` is called then.
    """

    def __init__(self, ready: Callable[[], None]) -> None:
        self._ready = ready
        self._models: dict[tuple[int, Outer], EvolutionGroup] = {}
        self._traces: dict[int, tuple[Any, Any]] = {}
        self._lock = Lock()
        self._aside = BackgroundTasks("workbench-ghosts")
        self._busy = False
        self._closed = False

    def update(self, session: Session, names: Sequence[str], outer: Outer, log: bool) -> list[dict[str, Any]]:
        """``line`` (the name of the own line that it goes with), ``label``, ``x`` and ``y`` of each."""
        found: list[dict[str, Any]] = []
        for label, key, trace in self._others(session):
            group = self._models.setdefault((key, outer), EvolutionGroup(None))
            lines = group.update(trace, list(names), outer=outer, verdicts=False, log=log)["lines"]
            found += [{"line": li["name"], "label": label, "x": li["x"], "y": li["y"]} for li in lines]
        return found[: 4 * GHOSTS]

    @staticmethod
    def there(session: Session) -> bool:
        """True if a session has other histories."""
        return bool(getattr(session, "forks", ())) or bool(getattr(session, "histories", ()))

    def _others(self, session: Session) -> list[tuple[str, int, Any]]:
        forks = list(getattr(session, "forks", ()))[-GHOSTS:]
        found = [(f"copy {k}", id(fork), fork.trace) for k, fork in enumerate(forks, 1)]
        histories = [h for h in getattr(session, "histories", ()) if h.event <= GHOST_EVENTS][-GHOSTS:]
        with self._lock:
            known = {id(h): h for h in histories}
            self._traces = {k: v for k, v in self._traces.items() if k in known and v[0] is known[k]}
            missing = [h for h in histories if id(h) not in self._traces]
            begin = bool(missing) and not self._busy and not self._closed
            self._busy |= begin
        if begin:
            self._aside.do(lambda: self._read(missing))
        with self._lock:
            found += [(h.name, id(h), self._traces[id(h)][1]) for h in histories if id(h) in self._traces]
        live = {key for _, key, _ in found}
        self._models = {k: v for k, v in self._models.items() if k[0] in live}
        return found

    def _read(self, histories: list[Any]) -> None:
        for history in histories:
            try:
                trace = history.trace
            except Exception:  # a history that cannot be computed again has no line
                trace = None
            with self._lock:
                if self._closed:
                    break
                self._traces[id(history)] = (history, trace)
        with self._lock:
            self._busy = False
            closed = self._closed
        if not closed:
            self._ready()

    def close(self) -> None:
        with self._lock:
            self._closed = True
            self._models.clear()
            self._traces.clear()
        self._aside.close()
