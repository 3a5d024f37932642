"""Memory live: the arrays of managers over time, the rows of a run over its events, or a record by value."""

from __future__ import annotations

import threading
import time
import weakref
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import ipywidgets

from workbench.arrays import LEDGER, ArrayManager
from workbench.errors import WorkbenchError
from workbench.text import harmless
from workbench.widgets.base.figure.figure_view import FigureView
from workbench.widgets.base.figure.point_event import PointEvent
from workbench.widgets.base.json_widget import Controls
from workbench.widgets.base.spec import Spec
from workbench.widgets.live.selection import Selection
from workbench.widgets.live.view_source import ViewSource, is_running
from workbench.widgets.memory.memory_bars import lifetime_bars, variable_bars
from workbench.widgets.memory.memory_model import SessionMemory, ledger_model, trace_model
from workbench.widgets.memory.memory_spec import memory_html, memory_spec

if TYPE_CHECKING:
    from workbench.session import Session
    from workbench.trace import Trace

HEIGHT = 260
#: bytes of an array whose lifetime counts
LARGE = 1024
#: seconds that reading what is recorded may take while the session runs
SLOW_S = 0.002
_WATCHES: weakref.WeakKeyDictionary[Any, LedgerWatch] = weakref.WeakKeyDictionary()


class LedgerWatch:
    """The ledger as the pump expects a session: its version grows, without notifications."""

    def __init__(self, ledger: Any) -> None:
        self._ledger = weakref.ref(ledger)

    @property
    def version(self) -> int:
        ledger = self._ledger()
        return 0 if ledger is None else ledger.version

    def snapshot(self) -> Any:
        return SimpleNamespace(state="paused", event=self.version, iterations={}, stop=None, version=self.version)

    def subscribe(self, callback: Any) -> Any:
        return lambda: None


class MemorySource(ViewSource):
    """A session, a trace, a manager, or the whole ledger."""

    def __init__(self, source: ArrayManager | Session | Trace | None) -> None:
        # not that of Source: there may be no graph
        self.manager = source if isinstance(source, ArrayManager) else None
        self.ledger = None
        self.session: Any = None  # a session, or a LedgerWatch in its place
        self._trace: Trace | None = None
        if source is None or self.manager is not None:
            self.ledger = LEDGER if self.manager is None else self.manager.ledger
            self.session = _WATCHES.setdefault(self.ledger, LedgerWatch(self.ledger))
            self.graph: Any = None
        else:
            try:
                super().__init__(cast("Session | Trace", source))
            except WorkbenchError:
                source = self._trace = None
            if self.session is None and self._trace is None:
                raise WorkbenchError(
                    f"MemoryView: expected a manager, a session or a trace, got {type(source).__name__}.",
                    slug="no-view-source",
                    fix="pass a wb.ArrayManager, a wb.Session, a trace, or nothing for all arrays of this process.",
                )

    @property
    def trace(self) -> Trace | None:
        return self._trace


class MemoryView(FigureView):
    """Live bytes over time, with peak and limit, and what was released and collected; a table of values beside.

    Parameters
    ----------
    source : ArrayManager, Session or Trace, optional
        None shows all arrays of this process; a manager its own and those of its submanagers; a session rows,
        checkpoints and inputs over the events as soon as they change, its budget, and the lifetimes of its arrays, or
        where all are small the bytes that are recorded by variable; a trace its values by size.
    log : bool, default False
        Whether bytes are shown on a logarithmic axis.
    height : int
        Height in pixels.
    selection : Selection, optional
        A selection to share: a click on a bar selects its value.

    Examples
    --------
    >>> wb.widgets.MemoryView(session).title
    'Memory'
    """

    title = "Memory"

    def __init__(
        self,
        source: ArrayManager | Session | Trace | None = None,
        log: bool = False,
        height: int = HEIGHT,
        *,
        selection: Selection | None = None,
    ) -> None:
        self.source: MemorySource = MemorySource(source)
        self.log_scale = log
        self.height = height
        self.words = ipywidgets.HTML()
        self._follow = SessionMemory()
        self._lifetimes: list[dict[str, Any]] | None = None
        self._recorded: list[dict[str, Any]] | None = None
        self._took = 0.0
        self._named: list[str] = []  # the values of the bars that are drawn
        self._displayed = self._heard = False
        self._follower = 0  # the thread that makes the switch follow the ledger, while it does
        super().__init__(self.source, selection)

    def _clicked(self, event: PointEvent) -> None:
        """A click on the bar of a value selects it."""
        if event.trace["type"] == "bar" and isinstance(event.point, int) and event.point < len(self._named):
            self.selection.select(self._named[event.point].removesuffix(":0"))

    def model(self, snapshot: Any) -> dict[str, Any]:
        source = self.source
        if source.ledger is not None:
            figures = source.ledger.figures(levels=True)
            model = ledger_model(figures, None if source.manager is None else source.manager.path)
        elif source.session is not None:
            model = self._follow.update(source.session.memory_now()) | self._values(source.session, snapshot)
        else:
            assert source.trace is not None
            model = trace_model(source.trace)
        self._named = [bar["name"] for bar in model["bars"]]
        return {**model, "log": self.log_scale, "selected": self.selection.node}

    def _values(self, session: Session, snapshot: Any) -> dict[str, Any]:
        """The bars of a session: the lifetimes of its arrays, or where all of them are small what is recorded by
        variable. That is read again and again only while it is fast against the run."""
        if self._lifetimes is None:
            self._lifetimes = lifetime_bars(session.dag)
        if any(bar["bytes"] is None or bar["bytes"] >= LARGE for bar in self._lifetimes):
            return {"bars": self._lifetimes, "lifetimes": True}
        if self._recorded is None or self._took < SLOW_S or not is_running(snapshot):
            started = time.perf_counter()
            self._recorded = variable_bars(session.trace)
            self._took = time.perf_counter() - started
        return {"bars": self._recorded, "lifetimes": False}

    def spec(self, model: dict[str, Any]) -> Spec:
        return memory_spec(model, self.height, headline=False)

    def plain_spec(self, model: dict[str, Any]) -> Spec:
        return memory_spec(model, self.height)

    # -- a cell that works on arrays keeps the kernel busy: it may not hear for long that a browser drew the view ---
    @property
    def views(self) -> int:
        return self.live.views if self._heard else int(self._displayed)

    def show(self, snapshot: Any) -> None:
        if not self._heard:
            self._forget()
        super().show(snapshot)

    def _drawn(self, fresh: bool = True) -> None:
        self._heard = True
        super()._drawn(fresh)

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        self._displayed = True
        if self.pump is not None:
            self.pump.wake()
        return super()._repr_mimebundle_(**kwargs)

    def arrange(self) -> tuple[ipywidgets.Widget, ...]:
        controls: list[ipywidgets.Widget] = []
        self.scale: Any = None
        if self.source.session is not None:
            self.scale = Controls(self._scale_chosen, **self._settings())
            controls.append(self.scale)
        self.switch: Any = None
        if self.source.ledger is not None:
            self.switch = ipywidgets.ToggleButton(
                value=self.source.ledger.collecting,
                layout={"width": "auto"},
                tooltip="Release the arrays of this process that no handle refers to",
            )
            self._name_switch()
            self.switch.observe(self._switched, names="value")
            controls.append(self.switch)
        self.refresh(self.model(self.source.snapshot()))
        if not controls:
            return (self.live, self.words)
        bar = ipywidgets.HBox(controls)
        bar.add_class("workbench-scale")
        return (bar, self.live, self.words)

    def refresh(self, model: dict[str, Any]) -> None:
        html = memory_html(model)
        if html != self.words.value:
            self.words.value = html
        shown = "" if model["curves"] else "none"  # without curves there is nothing to scale
        if self.scale is not None and self.scale.layout.display != shown:
            self.scale.layout.display = shown
        if self.switch is not None and self.switch.value != model["collecting"]:
            self._follower = threading.get_ident()
            try:
                self.switch.value = model["collecting"]
            finally:
                self._follower = 0

    def _name_switch(self) -> None:
        self.switch.description = f"Collect unused arrays: {'on' if self.switch.value else 'off'}"

    def _switched(self, change: Any) -> None:
        self._name_switch()
        if self._follower == threading.get_ident():
            return  # the ledger may have been switched again since the model was made
        ledger: Any = self.source.ledger
        if ledger.collecting != change["new"]:
            ledger.collect(bool(change["new"]))
            self.update_now()

    def _settings(self) -> dict[str, Any]:
        tips = {"linear": "Bytes as they are", "log": "Bytes on a logarithmic axis"}
        control = {
            "name": "scale",
            "type": "choice",
            "label": "Scale",
            "value": "log" if self.log_scale else "linear",
            "options": [{"value": v, "text": v, "tip": tip} for v, tip in tips.items()],
        }
        return {"label": "Linear or logarithmic scale of bytes", "controls": [control], "error": ""}

    def _scale_chosen(self, _name: str, value: Any) -> None:
        self.log_scale = value == "log"
        self.scale.offer(self._settings())
        self.update_now()

    @harmless
    def __repr__(self) -> str:
        return f"<MemoryView: {self.model(None)['headline']}>"
