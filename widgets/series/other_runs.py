"""The runs beside the one of a panel: copies, runs before an edit or other inputs, and added runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.debugger.replay.history import History
from workbench.errors import WorkbenchError
from workbench.text import printable
from workbench.threads import Lock
from workbench.widgets.live.background import BackgroundTasks
from workbench.widgets.text.labels import value_text

if TYPE_CHECKING:
    from workbench.trace import Trace
    from workbench.widgets.live.view_source import ViewSource

#: maximum number of other runs known (the newest ones), drawn by default, and added
MOST, DRAWN, MOST_ADDED = 6, 2, 8
#: events of an earlier run that are recomputed to draw it
MOST_EVENTS = 2_000_000
#: the name of the run itself
THIS = "this run"


@dataclass(frozen=True, slots=True)
class OtherRun:
    """``label`` is its name in all views, ``words`` its difference from this run, ``run`` a session, a history, a trace
    or a watch; ``slot`` numbers its dashes, and ``added`` says that the user added it."""

    label: str
    words: str
    run: Any
    slot: int = 0
    added: bool = False


class OtherRuns:
    """Which runs there are beside the one of ``source``, and which of them are drawn beside it.

    The run before an edit is recomputed on a separate thread when it is first drawn; ``on_change`` is called then, and
    when a choice changes.
    """

    def __init__(self, source: ViewSource) -> None:
        self.source = source
        self.difference = False
        self._chosen: dict[str, bool] = {}
        self._added: dict[str, Any] = {}
        self._listeners: list[Callable[[], None]] = []
        self._traces: dict[int, tuple[Any, Any]] = {}
        self._lock = Lock()
        self._aside = BackgroundTasks("workbench-ghosts")
        self._busy = self._closed = False

    def on_change(self, callback: Callable[[], None]) -> None:
        """Call ``callback``, on any thread, when the set of drawn runs changes."""
        self._listeners.append(callback)

    def changed(self) -> None:
        """Report that there are other runs, or that one of them has advanced."""
        for callback in self._listeners:
            callback()

    # -- known runs --------------------------------------------------------------------------------------------
    def all(self) -> list[OtherRun]:
        """The other runs, with added ones last."""
        session = self.source.session
        found = [(f"copy {k}", "", fork) for k, fork in enumerate(getattr(session, "forks", ()), 1)][-MOST:]
        found += [(h.name, self._inputs_of(h), h) for h in getattr(session, "histories", ())][-MOST:]
        runs = [(label, words or label, run, False) for label, words, run in found]
        runs += [(label, label, run, True) for label, run in self._added.items()]
        return [OtherRun(label, words, run, k, added) for k, (label, words, run, added) in enumerate(runs)]

    def _inputs_of(self, history: Any) -> str:
        """``a = 2``: the inputs in which a run before an update differs from this one."""
        if history.edit is not None or self.source.session is None:
            return ""
        now = self.source.session.inputs
        differences = [
            f"{printable(name)} = {value_text(np.asarray(value))}"
            for name, value in history.feeds.items()
            if name in now and np.asarray(value).ndim == 0 and not np.array_equal(now[name], value)
        ]
        return ", ".join(differences[:2])

    def add(self, label: str, run: Any) -> None:
        """Add a run: a session, a trace, a watch, or another framework's values (``wb.run_with``).

        Raises
        ------
        WorkbenchError
            For the label of another run (``side-exists``).
        """
        if label == THIS or label in {other.label for other in self.all()}:
            raise WorkbenchError(
                f"A run labelled {label!r} exists already.", slug="side-exists", fix="choose another label."
            )
        while len(self._added) >= MOST_ADDED:
            del self._added[next(iter(self._added))]
        self._added[label] = run
        self.changed()

    def remove(self, label: str) -> None:
        """Remove an added run; without effect for another."""
        if self._added.pop(label, None) is not None:
            self.changed()

    # -- drawn runs --------------------------------------------------------------------------------------------
    def choose(self, label: str, on: bool) -> None:
        """Switch the drawing of a run beside this one on or off."""
        self._chosen[label] = bool(on)
        self.changed()

    def differ(self, on: bool) -> None:
        """Also draw the difference from the newest run drawn, or stop doing so."""
        self.difference = bool(on)
        self.changed()

    def drawn(self) -> list[OtherRun]:
        """The runs to draw: those chosen by the user, else the newest ones."""
        runs = self.all()
        usual = {run.label for run in runs[-DRAWN:]}
        return [run for run in runs if self._chosen.get(run.label, run.label in usual)]

    def traces(self) -> list[tuple[OtherRun, Trace]]:
        """The drawn runs with their values; a run that is recomputed is included when that is done."""
        drawn = self.drawn()
        slow = [run.run for run in drawn if _recomputed(run.run) and run.run.event <= MOST_EVENTS]
        with self._lock:
            known = {id(h): h for h in slow}
            self._traces = {k: v for k, v in self._traces.items() if k in known and v[0] is known[k]}
            missing = [h for h in slow if id(h) not in self._traces]
            begin = bool(missing) and not self._busy and not self._closed
            self._busy |= begin
        if begin:
            self._aside.do(lambda: self._read(missing))
        with self._lock:
            ready = dict(self._traces)
        found = []
        for run in drawn:
            trace = ready.get(id(run.run), (None, None))[1] if _recomputed(run.run) else _trace_of(run.run)
            if trace is not None:
                found.append((run, trace))
        return found

    def _read(self, histories: list[Any]) -> None:
        for history in histories:
            try:
                trace = history.trace
            except Exception:  # a run that cannot be recomputed has no line
                trace = None
            with self._lock:
                if self._closed:
                    break
                self._traces[id(history)] = (history, trace)
        with self._lock:
            self._busy = False
            closed = self._closed
        if not closed:
            self.changed()

    def close(self) -> None:
        """Stop recomputing."""
        with self._lock:
            self._closed = True
            self._traces.clear()
            self._listeners.clear()
        self._aside.close()


def _recomputed(run: Any) -> bool:
    return isinstance(run, History)


def _trace_of(run: Any) -> Any:
    """The values of a session, a trace or a watch; None for another object."""
    if hasattr(run, "names") and hasattr(run, "source"):
        return run
    try:
        return getattr(run, "trace", None)
    except WorkbenchError:  # a watch that has recorded nothing
        return None
