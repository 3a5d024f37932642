"""Pictures of one parameter: curves, and all newest values of a loop variable."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.sweep import Sweep
from workbench.widgets.base.spec import text
from workbench.widgets.sweep.kinds import kinds_of
from workbench.widgets.sweep.maps import MAX_POINTS


def curve_traces(sweep: Sweep, column: str, name: str) -> list[dict[str, Any]]:
    """A column against one parameter; kinds as rows of points."""
    order = np.argsort(sweep.points[name], kind="stable")
    order = order[sweep.computed(column)[order]]
    x, values = np.asarray(sweep.points[name][order], float), sweep[column][order]
    hover = f"{text(name)} %{{x}}<br>{text(column)} %{{y}}<extra></extra>"
    kinds = kinds_of(values, column)
    if kinds is None:
        y = values.astype(np.float64)
        return [
            {"type": "scatter", "mode": "lines+markers", "x": x, "y": np.where(np.isfinite(y), y, np.nan),
             "line": {"color": "@data", "width": 1.6}, "marker": {"size": 4, "color": "@data"}, "hovertemplate": hover}
        ]  # fmt: skip
    codes = kinds.codes(values)
    return [
        {"type": "scatter", "mode": "markers", "x": x[codes == k], "y": [text(kind)] * int((codes == k).sum()),
         "marker": {"size": 7, "color": kinds.colours[k], "symbol": k % 4}, "hovertemplate": hover}
        for k, kind in enumerate(kinds.names)
    ]  # fmt: skip


def newest_traces(sweep: Sweep, column: str, name: str, at: dict[str, int]) -> list[dict[str, Any]]:
    """All newest values of a loop variable against one parameter: the bifurcation diagram of a map. ``at`` holds the
    indices of other parameters of a grid.
    """
    values = sweep[column].astype(np.float64)
    counts = sweep.columns.all.counts[column[: column.rindex("[")]]
    there = np.arange(values.shape[1])[None, :] >= values.shape[1] - counts[:, None]
    mine = sweep["outcome"] != "waiting"
    for other, place in at.items():
        mine = mine & (sweep.points[other] == sweep.design.axes[other][place])
    point, k = np.nonzero(there & np.isfinite(values) & mine[:, None])
    if len(point) > MAX_POINTS:  # every k-th, which covers all parts of the picture
        pick = np.random.default_rng(0).choice(len(point), MAX_POINTS, replace=False)
        point, k = point[pick], k[pick]
    return [
        {"type": "scattergl", "mode": "markers", "x": np.asarray(sweep.points[name][point], float),
         "y": values[point, k], "marker": {"size": 2, "color": "@data", "opacity": 0.6},
         "hovertemplate": f"{text(name)} %{{x}}<br>{text(column)} %{{y}}<extra></extra>"}
    ]  # fmt: skip
