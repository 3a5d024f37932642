"""plotly.js for the browser: one model per kernel, shared by all figures.

The code (5 MB) is sent once, gzipped (about 1.5 MB), in a model without a view; the script of each figure
(``base/figure/figure.js``) requests it, and the browser's additions to figures (``base/figure/strips.js``). The model
lives as long as a figure uses it, so that closing the last figure leaves no comm behind.
"""

from __future__ import annotations

import gzip
import json
from functools import cache
from typing import Any

import ipywidgets
import plotly
import traitlets
from plotly.offline import get_plotlyjs

from workbench.threads import OwnedLock
from workbench.widgets.base.esm import joined


@cache
def _packed() -> bytes:
    """plotly.js of the installed plotly package, gzipped."""
    return gzip.compress(get_plotlyjs().encode(), compresslevel=6)


class PlotlyBundle(ipywidgets.Widget):
    """Holds the code of plotly.js for the browser; it has no view."""

    code = traitlets.Bytes(help="plotly.js, gzipped").tag(sync=True)
    version = traitlets.Unicode(help="version of the plotly package").tag(sync=True)
    tools = traitlets.Unicode(help="module of what the browser adds to figures").tag(sync=True)

    def __init__(self, **kwargs: Any) -> None:
        style = f"const STYLE = {json.dumps(joined('base/figure/strips.css'))};\n"
        names = ("numerals", "ticks", "wheel", "strip_heads", "strips")
        tools = style + joined(*(f"base/figure/{name}.js" for name in names))
        super().__init__(code=_packed(), version=plotly.__version__, tools=tools, **kwargs)


class _Shared:
    """Counts the users of the one bundle."""

    def __init__(self) -> None:
        self._lock = OwnedLock()
        self._users = 0
        self._bundle: PlotlyBundle | None = None

    def acquire(self) -> PlotlyBundle:
        with self._lock:
            # ``Widget.close_all()`` closes the bundle, too; then a new one is needed
            if self._bundle is None or self._bundle.comm is None:
                self._bundle = PlotlyBundle()
                self._users = 0
            self._users += 1
            return self._bundle

    def release(self, bundle: PlotlyBundle) -> None:
        with self._lock:
            if bundle is not self._bundle:
                bundle.close()
                return
            self._users -= 1
            if self._users <= 0:
                bundle.close()
                self._bundle = None


shared = _Shared()
