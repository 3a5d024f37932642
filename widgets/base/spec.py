"""Figure specifications: plain dicts of data and layout, and the difference between two of them.

A view makes a new specification each time (cheap: no validation), and only differences from the last one are sent to
the browser.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

import numpy as np
import plotly.graph_objects as go

from workbench.text import lines
from workbench.widgets.base import theme

Spec = dict[str, Any]


def text(value: Any) -> str:
    """A name or message for a plotly text or for HTML, with its tags escaped.

    plotly.js decodes numeric entities, and only a few named ones: it would show ``&quot;`` literally.
    """
    return escape(lines(value), quote=True).replace("&quot;", "&#34;")


def title(words: str) -> dict[str, Any]:
    """A small title at the top left; ``words`` must be escaped."""
    return {"text": words, "font": {"size": 12.5}, "x": 0.01, "xanchor": "left", "y": 0.98, "yanchor": "top"}


def base_layout(height: int, **more: Any) -> dict[str, Any]:
    """The layout common to all figures."""
    return {
        "height": height,
        "margin": {"l": 52, "r": 14, "t": 30, "b": 40},
        "uirevision": "keep",
        "hovermode": "closest",
        "showlegend": False,
        **more,
    }


def count_axis(title: str, data: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """An x axis for counts from 0; short ones have a tick at each count."""
    last = max((float(t["x"][-1]) for t in data if len(t["x"])), default=0.0)
    return {"title": {"text": text(title)}, "rangemode": "tozero", **whole_ticks(last)}


def whole_ticks(last: float) -> dict[str, Any]:
    """Ticks of an axis of whole numbers up to ``last``: one at each if there are few.

    The mode is always set: a step of 1 left over on a range of a thousand million would make plotly lay out labels for
    more than half a minute.
    """
    return {"tickmode": "linear", "dtick": 1} if 0 < last <= 12 else {"tickmode": "auto"}


def log_axis(lines: Iterable[np.ndarray]) -> dict[str, Any]:
    """A logarithmic y axis with about five ticks; for less than two decades plotly places them."""
    good = [y[np.isfinite(y) & (y > 0)] for y in lines]
    good = [y for y in good if len(y)]
    # the difference of logarithms: the ratio of the largest and the smallest float overflows
    decades = np.log10(max(y.max() for y in good)) - np.log10(min(y.min() for y in good)) if good else 0.0
    step = int(-(-decades // 5)) if decades >= 2 else "D2"
    return {"type": "log", "tickmode": "linear", "dtick": step, "tickformat": "~g"}


def plain_figure(spec: Spec, name: str = "light") -> go.Figure:
    """An ordinary plotly figure."""
    spec = theme.resolved(spec, name)
    figure = go.Figure(data=spec["data"], layout=spec["layout"])
    figure.update_layout(template=theme.THEMES[name], paper_bgcolor=theme.PAGE[name])
    return figure


def flatten(tree: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """``{"marker": {"color": 1}}`` as ``{"marker.color": 1}``; lists and arrays are kept."""
    out: dict[str, Any] = {}
    for key, value in tree.items():
        if isinstance(value, Mapping) and key != "meta":  # plotly uses meta unchanged
            out |= flatten(value, f"{prefix}{key}.")
        else:
            out[prefix + key] = value
    return out


def changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Properties of ``new`` (both flattened) that differ from ``old``; removed ones are None."""
    out = {key: value for key, value in new.items() if key not in old or not _same(old[key], value)}
    out |= {key: None for key in old if key not in new}
    return out


def _same(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        a, b = np.asarray(a), np.asarray(b)
        return a.shape == b.shape and a.dtype == b.dtype and bool(np.array_equal(a, b, equal_nan=a.dtype.kind in "fc"))
    return type(a) is type(b) and bool(a == b)
