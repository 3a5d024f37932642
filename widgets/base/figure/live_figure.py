"""A live plotly figure for JupyterLab: the kernel keeps its traces and layout, and plotly.js draws them in the browser.

- ``push`` sends one update, and the browser acknowledges it after the redraw (see ``pump.py``);
- updates are numbered: a browser that has missed one requests the whole figure, and a zoom of the user is kept;
- arrays are sent as binary, and plotly.js once for all figures of a page (``plotly_bundle.py``);
- the figure follows the width of its container and JupyterLab's light or dark theme, all in the browser;
- one lock per figure lets the pump thread and the kernel's main thread share it.

The browser's part is in ``figure.js``. Values that it computes itself (automatic ranges of axes) are not reported back.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any

import plotly.graph_objects as go
import traitlets

from workbench.text import harmless
from workbench.widgets.base import theme
from workbench.widgets.base.addressed import AddressedWidget
from workbench.widgets.base.esm import LOADER, joined
from workbench.widgets.base.figure.figure_data import pack, plain, put
from workbench.widgets.base.figure.plotly_bundle import shared
from workbench.widgets.base.figure.point_event import PointEvent, read_event
from workbench.widgets.base.spec import Spec
from workbench.widgets.live.acknowledgement import Acknowledgement


class LiveFigure(Acknowledgement, AddressedWidget):
    """A plotly figure whose updates are acknowledged.

    Parameters
    ----------
    figure:
        The figure to show: of plotly, or a specification, with ``data`` and ``layout``. It is copied.
    on_view:
        Called on any thread, with True when a browser has drawn the figure for the first time, and with False when a
        view is visible or responds again.
    on_range:
        Called with the visible range of the horizontal axis after the user has zoomed or moved it: (low, high), or None
        for the whole.
    on_click, on_hover:
        Called with the point (:class:`PointEvent`) that was clicked, or to which the pointer has moved.
    on_box:
        Called with the box dragged in a figure with ``dragmode="select"``: (low, high) of x and of y.

    Examples
    --------
    >>> from plotly.graph_objects import Figure, Scatter
    >>> live = wb.widgets.LiveFigure(Figure(Scatter(y=[1.0, 1.5])))
    >>> live.push({0: {"y": [1.0, 1.5, 1.42]}}, {"title.text": "x"})
    >>> live.figure.data[0].y, live.figure.layout.title.text, live.sent
    ((1.0, 1.5, 1.42), 'x', 1)
    >>> live.replace(Figure(Scatter(y=[3.0])))
    >>> live
    LiveFigure(1 traces, 0 views)
    >>> live.close()
    """

    _esm = LOADER
    _script = traitlets.Unicode(
        joined(
            "base/comm.js",
            "base/late.js",
            "base/imported.js",
            "base/figure/tokens.js",
            "base/figure/figure_data.js",
            "base/room.js",
            "base/figure/figure.js",
        )
    ).tag(sync=True)
    _css = joined("base/workbench.css")
    _bundle_id = traitlets.Unicode().tag(sync=True)
    _themes = traitlets.Dict({name: {**t, "tokens": theme.TOKENS[name]} for name, t in theme.THEMES.items()}).tag(
        sync=True
    )
    _config = traitlets.Dict(theme.CONFIG).tag(sync=True)
    _hears_hover = traitlets.Bool().tag(sync=True)
    # The trait has no value: a browser that opens the figure receives the figure of that moment, serialised then.
    _whole = traitlets.Any().tag(sync=True, to_json=lambda _value, figure: figure._in_one_piece())

    def __init__(
        self,
        figure: go.Figure | Spec,
        on_view: Callable[[bool], None] | None = None,
        on_range: Callable[[tuple[float, float] | None], None] | None = None,
        on_click: Callable[[PointEvent], None] | None = None,
        on_hover: Callable[[PointEvent], None] | None = None,
        on_box: Callable[[tuple[float, float], tuple[float, float]], None] | None = None,
    ) -> None:
        self._lock = threading.RLock()
        self._spec = plain(figure)
        self._sent = 0
        self._on_view, self._on_range, self._on_box = on_view, on_range, on_box
        self._on_point = {"click": on_click, "hover": on_hover}
        self._bundle = shared.acquire()
        super().__init__(_bundle_id=self._bundle.model_id, _hears_hover=on_hover is not None)
        self.on_msg(self._browser_says)

    # -- browser to kernel ------------------------------------------------------------------------------------------
    def _browser_says(self, _widget: Any, content: Mapping[str, Any], _buffers: Any) -> None:
        self._heard(content)
        kind = content.get("kind")
        if kind == "lost" or (kind == "view" and content.get("push", self._sent) != self._sent):
            self._send_whole()
        woken = self._has_woken()
        if self._on_view is not None and (woken or kind == "view"):
            self._on_view(kind == "view")
        if self._on_range is not None and kind == "range":
            self._on_range(_range_of(content.get("range")))
        if self._on_box is not None and kind == "box":
            x, y = _range_of(content.get("x")), _range_of(content.get("y"))
            if x is not None and y is not None:
                self._on_box(x, y)
        on_point = self._on_point.get(kind) if isinstance(kind, str) else None
        if on_point is not None:
            with self._lock:
                event = read_event(content, self._spec["data"])
            if event is not None:
                on_point(event)

    # -- kernel to browser ------------------------------------------------------------------------------------------
    def _in_one_piece(self) -> dict[str, Any]:
        """The whole figure in the browser's format, and the buffers of its arrays."""
        buffers: list[memoryview] = []
        with self._lock:
            return {"figure": {"push": self._sent, **pack(self._spec, buffers)}, "buffers": buffers}

    def _send_whole(self) -> None:
        with self._lock:
            if self.comm is not None:
                message = self._in_one_piece()
                self.send({"kind": "whole", **message["figure"]}, message["buffers"])

    @property
    def sent(self) -> int:
        """The number of the newest update sent."""
        return self._sent

    def push(self, traces: Mapping[int, Mapping[str, Any]], layout: Mapping[str, Any] | None = None) -> None:
        """Send one coalesced update: new properties by trace index, and layout properties, with dotted names; None
        removes a property.

        The properties come from this package's own specifications and are not validated. All of them are sent, even
        unchanged ones, because the user may have changed them in the browser. Until a browser has reported a view, the
        whole figure is sent, because its state is unknown.
        """
        layout = layout or {}
        with self._lock:
            if self.comm is None:
                return
            for k, properties in traces.items():
                for name, value in properties.items():
                    put(self._spec["data"][k], name, value)
            for name, value in layout.items():
                put(self._spec["layout"], name, value)
            self._sent += 1
            self._sending()
            if not self._views:
                self._send_whole()
                return
            buffers: list[memoryview] = []
            changed = [[k, pack(traces[k], buffers)] for k in sorted(traces)]
            message = {"kind": "push", "push": self._sent, "traces": changed, "layout": pack(layout, buffers)}
            self.send(message, buffers)

    def replace(self, figure: go.Figure | Spec) -> None:
        """Replace the figure; a zoom of the user is kept."""
        with self._lock:
            if self.comm is not None:
                self._spec = plain(figure)
                self._sent += 1
                self._sending()
                self._send_whole()

    def refit(self) -> None:
        """Show the whole figure in all views, because a zoomed range no longer exists."""
        with self._lock:
            if self.comm is not None:
                self.send({"kind": "refit"})

    # -- for users --------------------------------------------------------------------------------------------------
    @property
    def spec(self) -> Spec:
        """The present state as dictionaries; they must not be changed."""
        return self._spec

    @property
    def figure(self) -> go.Figure:
        """The present state as an ordinary plotly figure, a copy."""
        with self._lock:
            return go.Figure(theme.resolved(self._spec, "light"))

    def close(self) -> None:
        """Close the comms; the last figure also closes the shared bundle. Closing twice is harmless."""
        with self._lock:
            if self.comm is not None:
                layout = self.layout
                super().close()
                layout.close()
                shared.release(self._bundle)
            self._views = 0

    @harmless
    def __repr__(self) -> str:
        return f"LiveFigure({len(self._spec['data'])} traces, {self.views} views)"


def _range_of(limits: Any) -> tuple[float, float] | None:
    """The range sent by a browser, low before high; None for anything else."""
    try:
        low, high = sorted(float(v) for v in limits)
    except (TypeError, ValueError, OverflowError):
        return None
    return (low, high) if isfinite(low) and isfinite(high) and low < high else None
