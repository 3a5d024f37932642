"""Pictures of a sweep as plain specifications: maps of two parameters, and curves and newest values against one.

For a further parameter of a grid there is a picture for each of several values (small multiples).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.sweep import Sweep
from workbench.sweep.basins import columns_for
from workbench.widgets.base.spec import Spec, base_layout, text, title
from workbench.widgets.strips.strip_axes import spans_decades
from workbench.widgets.sweep.curves import curve_traces, newest_traces
from workbench.widgets.sweep.maps import COUNTS, map_traces, scatter_traces
from workbench.widgets.text.numerals import numeral

#: two ranges are drawn to one scale if the longer is at most so many times the other
ALIKE = 2.0
#: maximum pictures of one column
MULTIPLES = 9


def columns_to_show(sweep: Sweep) -> list[str]:
    """The columns that a picture can show, the outcome first."""
    found = []
    for name in sweep.names:
        column = sweep[name] if name != "failure" else None
        if column is None or name in sweep.points:
            continue
        if (column.ndim == 1 and column.dtype.kind in "biufUO") or is_newest(sweep, name):
            found.append(name)
    basin = ["basin"] if columns_for(sweep) and "basin" not in found else []
    return [*sorted(found, key=lambda name: name != "outcome"), *basin]


def first_column(sweep: Sweep, known: list[str]) -> str:
    """The column shown at first: newest values against the one parameter that varies, if they were collected."""
    varied = [n for n, values in sweep.points.items() if values.ndim == 1 and len(np.unique(values)) > 1]
    newest = [name for name in known if is_newest(sweep, name)]
    return newest[0] if newest and len(varied) == 1 else "outcome"


def is_newest(sweep: Sweep, column: str) -> bool:
    """True for newest values of a loop variable that are single numbers."""
    return (
        column.endswith(":]")
        and column in sweep.names
        and sweep[column].ndim == 2
        and sweep[column].dtype.kind in "iuf"
    )


def is_grid(sweep: Sweep) -> bool:
    return sweep.design.kind == "grid" and len(sweep.shape) == len(sweep.points)


def shown_axes(sweep: Sweep, column: str) -> list[str]:
    """The parameters along the axes of a picture: one or two."""
    varied = [name for name, values in sweep.points.items() if values.ndim == 1 and len(np.unique(values)) > 1]
    return (varied or list(sweep.points))[: 1 if is_newest(sweep, column) else 2]


def multiples(sweep: Sweep, column: str) -> list[dict[str, int]]:
    """For each picture the indices of the parameters that it does not show: evenly spaced values of the first of them,
    the first value of the others.
    """
    names = shown_axes(sweep, column)
    others = [name for name in sweep.points if name not in names]
    if not is_grid(sweep) or not others:
        return [{}]
    along = next((name for name in others if len(sweep.design.axes[name]) > 1), others[0])
    n = len(sweep.design.axes[along])
    places = np.unique(np.linspace(0, n - 1, min(n, MULTIPLES)).round().astype(int))
    return [{name: int(k) if name == along else 0 for name in others} for k in places]


def sweep_spec(sweep: Sweep, column: str, height: int = 420, at: dict[str, int] | None = None) -> Spec:
    """The picture of one column, at the first or the given values of the parameters that it does not show."""
    names = shown_axes(sweep, column)
    at = multiples(sweep, column)[0] if at is None else at
    upwards = column
    if is_newest(sweep, column):
        data = newest_traces(sweep, column, names[0], at)
    elif len(names) == 1:
        data = curve_traces(sweep, column, names[0])
    else:
        upwards = names[1]
        data = map_traces(sweep, column, names, at) if is_grid(sweep) else scatter_traces(sweep, column, names)
    heading = f"{column} of {sweep.graph.name!r}"
    varied = [n for n in at if len(sweep.design.axes[n]) > 1 and sweep.design.axes[n].ndim == 1]
    heading += "".join(f" · {n} = {sweep.design.axes[n][at[n]]:.6g}" for n in varied)
    left = int(((sweep["outcome"] == "waiting") & sweep.wanted).sum())
    if left:
        heading += f" · {numeral(len(sweep) - left)} of {numeral(len(sweep))} points"
    legend = any(trace.get("showlegend") for trace in data)
    layout = base_layout(
        height,
        title=title(text(heading)),
        xaxis={"title": {"text": text(names[0])}, "constrain": "domain", **_axis(sweep, names[0])},
        yaxis={"title": {"text": text(upwards)}, **_upwards(sweep, column, upwards, names)},
        showlegend=legend,
        legend={"orientation": "h", "x": 0, "y": -0.2, "yanchor": "top", "itemclick": False, "itemdoubleclick": False},
        margin={"l": 64, "r": 14, "t": 40, "b": 44},
        dragmode="select",
        meta={"config": {"modeBarButtonsToRemove": ["lasso2d", "autoScale2d"], "modeBarButtonsToAdd": ["select2d"]}},
    )
    return {"data": data, "layout": layout}


def _upwards(sweep: Sweep, column: str, upwards: str, names: list[str]) -> dict[str, Any]:
    """The vertical axis: two parameters with ranges of similar length have one scale; counts that span two decades have
    a logarithmic one.
    """
    if upwards not in sweep.points:
        ran = sweep[column][sweep.computed(column)] if column in COUNTS else np.empty(0)
        return {"type": "log"} if spans_decades([np.asarray(ran, float)]) else {}
    axes = [_axis(sweep, name) for name in names]
    spans = [float(np.ptp(np.asarray(sweep.points[name], float))) for name in names]
    alike = min(spans) > 0 and max(spans) <= ALIKE * min(spans)
    square = alike and all(axis["type"] == "linear" for axis in axes)
    return axes[1] | ({"scaleanchor": "x", "constrain": "domain"} if square else {})


def _axis(sweep: Sweep, name: str) -> dict[str, Any]:
    """The axis of a parameter, logarithmic if its values grow by a factor."""
    values = np.unique(sweep.points[name])
    if len(values) > 3 and values.dtype.kind == "f" and values[0] > 0:
        ratios = values[1:] / values[:-1]
        if values[-1] > 30 * values[0] and np.allclose(ratios, ratios[0]):
            return {"type": "log"}
    return {"type": "linear"}
