"""A live plotly figure for JupyterLab: plotly's FigureWidget with a small loader instead of 5 MB of JavaScript each.

Everything a ``FigureWidget`` can do works here too (adding traces, clicks, hover). On top of it:

- ``push`` sends one update and counts it, and the browser acknowledges it after the redraw (see ``pump.py``);
- one lock per figure lets the pump thread and the kernel's main thread share it;
- a figure in the browser that lost an update is drawn anew from the whole state;
- the figure follows the width of its container and JupyterLab's light or dark theme, all in the browser.

Works with plotly 6.5 to 7. Default values that the browser fills in (automatic axis ranges) are not reported back.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from math import isfinite
from typing import Any

import plotly.graph_objects as go
import traitlets
from plotly.basedatatypes import Undefined

from workbench.widgets import theme
from workbench.widgets.answers import Answers
from workbench.widgets.bundle import shared
from workbench.widgets.esm import LOADER, joined

#: redraws in a row that did not help; a browser that cannot show the figure must not be asked for ever
MAX_REDRAWS = 3


class LiveFigure(Answers, go.FigureWidget):
    """A FigureWidget whose JavaScript is shared, and whose updates are acknowledged.

    Parameters
    ----------
    figure:
        What to show, a plain plotly figure.
    on_view:
        Called on any thread, with True when a browser has drawn the figure for the first time, and with False when a
        view has come back to sight or to life.
    on_range:
        Called with what a browser shows of the horizontal axis after people have zoomed or moved it: (low, high), or
        None for the whole.
    """

    _esm = LOADER
    _script = traitlets.Unicode(joined("wire.js", "imported.js", "figure.js")).tag(sync=True)
    _css = joined("workbench.css")
    _bundle_id = traitlets.Unicode().tag(sync=True)
    _themes = traitlets.Dict(theme.THEMES).tag(sync=True)
    _push = traitlets.Int(0).tag(sync=True)

    def __init__(
        self, figure: go.Figure, on_view: Callable[[bool], None] | None = None,
        on_range: Callable[[tuple[float, float] | None], None] | None = None,
    ) -> None:  # fmt: skip
        self._shared_bundle = shared.acquire()
        self._lock = threading.RLock()
        self._on_view, self._on_range = on_view, on_range
        self._redraws = 0
        super().__init__(figure)
        self._config = dict(theme.CONFIG)  # plotly sets its own in between
        # plotly has the browser count its views in the model, also when the model's comm has just been closed
        self._view_count = None
        self.on_msg(self._browser_says)

    # a default and no assignment: the loader needs it when the comm opens, within ``__init__``
    @traitlets.default("_bundle_id")
    def _bundle_default(self) -> str:
        return self._shared_bundle.model_id

    # -- browser to kernel ------------------------------------------------------------------------------------------
    def set_state(self, sync_data: dict[str, Any]) -> None:
        """State from the browser (zoom, clicks); not while a push is being built."""
        with self._lock:
            super().set_state(sync_data)

    def _browser_says(self, _widget: Any, content: Mapping[str, Any], _buffers: Any) -> None:
        self._heard(content)
        self._look_for_lost_updates(content)
        kind = content.get("kind")
        woken = self._has_woken()
        if self._on_view is not None and (woken or kind == "view"):
            self._on_view(kind == "view")
        if self._on_range is not None and kind == "range":
            self._on_range(_range_of(content.get("range")))

    def _look_for_lost_updates(self, content: Mapping[str, Any]) -> None:
        """Redraw a figure in the browser that lost an update: it holds another number of traces than this one."""
        traces = content.get("traces")
        newest = content.get("kind") == "view" or content.get("push") == self._push
        if not isinstance(traces, int) or not newest:
            return
        with self._lock:
            if traces == len(self._data):
                self._redraws = 0
            elif self._redraws < MAX_REDRAWS:
                self._redraws += 1
                self._redraw()

    # -- kernel to browser ------------------------------------------------------------------------------------------
    def _redraw(self) -> None:
        """Send the whole state, and have the browser draw it from scratch."""
        if self.comm is None:
            return
        self._widget_data = deepcopy(self._data)
        self._widget_layout = deepcopy(self._layout)
        self.send_state(["_widget_data", "_widget_layout"])
        self.send({"kind": "redraw"})

    @property
    def sent(self) -> int:
        return self._push

    def push(self, traces: Mapping[int, Mapping[str, Any]], layout: Mapping[str, Any] | None = None) -> None:
        """Send one coalesced update: new properties by trace index, and layout properties, with dotted names.

        The properties come from this package's own specifications and are not validated again. Everything is sent, also
        what the kernel's copy already holds, because a browser that has just drawn the figure may lag behind.
        Arrays should be float32, float64 or int32: those travel as binary (int64 would become JSON text).
        """
        keys = sorted({key for properties in traces.values() for key in properties})
        indexes = sorted(traces)
        with self._lock:
            if self.comm is None:
                return
            for i, properties in traces.items():
                for key, value in properties.items():
                    self._set_in(self._data[i], key, value)
            for key, value in (layout or {}).items():
                self._set_in(self._layout, key, value)
            restyle = {key: [traces[i].get(key, Undefined) for i in indexes] for key in keys}
            trace_edit, layout_edit = self._last_trace_edit_id + 1, self._last_layout_edit_id + 1
            update = {
                "style_data": restyle, "layout_data": dict(layout or {}), "style_traces": indexes,
                "trace_edit_id": trace_edit, "layout_edit_id": layout_edit, "source_view_id": None,
            }  # fmt: skip
            # all in one message, where plotly's own way takes four; another thread may be setting other properties
            self._trait_values |= {
                "_last_trace_edit_id": trace_edit, "_last_layout_edit_id": layout_edit, "_py2js_update": update,
                "_push": self._push + 1,
            }  # fmt: skip
            self._sending()
            self.send_state(["_last_trace_edit_id", "_last_layout_edit_id", "_py2js_update", "_push"])
            self._trait_values["_py2js_update"] = None  # not for browsers that open the figure later

    def replace(self, spec: Mapping[str, Any], gone: Iterable[str] = ()) -> None:
        """Exchange all traces, when their number or kinds have changed, and update the layout; the properties ``gone``,
        with dotted names, are taken away before."""
        with self._lock:
            if self.comm is None:
                return
            taken = dict.fromkeys(gone)
            if taken:
                for key in taken:
                    self._set_in(self._layout, key, None)
                self._send_relayout_msg(taken)
            self.data = ()
            self.add_traces(list(spec["data"]))
            layout = dict(spec["layout"])
            for key in ("annotations", "shapes"):  # an update merges lists item by item, and leaves old items there
                self.layout[key] = layout.pop(key, ())
            self.update_layout(layout)
            # browsers that open the figure later start from these two
            self._widget_data = deepcopy(self._data)
            self._widget_layout = deepcopy(self._layout)
            self._sent()

    def _sent(self) -> None:
        self._push += 1
        self._sending()
        # the loader does not report default values back, so no edit is ever pending
        self._layout_edit_in_process = self._trace_edit_in_process = False

    def close(self) -> None:
        """Close the comm; the last figure takes the shared bundle with it. Closing twice is harmless."""
        with self._lock:
            if self.comm is not None:
                super().close()
                shared.release(self._shared_bundle)
            self._views = 0

    def __repr__(self) -> str:
        return f"LiveFigure({len(self.data)} traces, {self.views} views)"


def _range_of(told: Any) -> tuple[float, float] | None:
    """The range that a browser told, low before high; None for anything else."""
    try:
        low, high = sorted(float(v) for v in told)
    except (TypeError, ValueError, OverflowError):
        return None
    return (low, high) if isfinite(low) and isfinite(high) and low < high else None
