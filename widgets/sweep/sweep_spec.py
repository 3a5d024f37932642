"""Pictures of a sweep as plain specifications: maps of two parameters, curves over one, newest values over one."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.sweep import Sweep
from workbench.widgets.base import theme
from workbench.widgets.base.spec import Spec, base_layout, text, title

#: outcomes and labels with their colours, of one blindness-safe set; what was not run has none
OUTCOMES = {
    "ended": theme.BLUE, "endless": theme.ORANGE, "undecided": theme.GREY, "failed": theme.VERMILION,
}  # fmt: skip
LABELS = {
    "CONVERGING": theme.BLUE,
    "STABLE": theme.SKY,
    "OSCILLATING": theme.GREEN,
    "CHAOTIC": theme.PURPLE,
    "DIVERGING": theme.VERMILION,
    "UNKNOWN": theme.GREY,
}
#: scales of numbers, all of which keep their order without colours; one for each kind of number
SCALES = {"iterations": "Cividis", "events": "Cividis", "rate": "Viridis", "period": "Viridis"}
OTHER_SCALE = "Inferno"
#: kinds of things that a map tells apart; of more only the most frequent have colours
KINDS = 7
#: most points of a scatter plot
DRAWN = 40_000


def columns_to_show(sweep: Sweep) -> list[str]:
    """Columns that a picture can show, the outcome first."""
    found = []
    for name in sweep.names:
        column = sweep[name] if name != "failure" else None
        if column is None or name in sweep.points:
            continue
        series = name.endswith(":]") and column.ndim == 2
        if (column.ndim == 1 and column.dtype.kind in "biufUO") or (series and column.dtype.kind in "iuf"):
            found.append(name)
    return sorted(found, key=lambda name: name != "outcome")


def sweep_spec(sweep: Sweep, column: str, height: int = 420) -> Spec:
    """The picture of one column: a map over the first two parameters, else over the first one."""
    varied = [name for name, values in sweep.points.items() if values.ndim == 1 and len(np.unique(values)) > 1]
    names = (varied or list(sweep.points))[:2]
    if sweep[column].ndim == 2:
        data, axis = _newest(sweep, column, names[0])
    elif len(names) == 1:
        data, axis = _curve(sweep, column, names[0])
    elif sweep.design.kind == "grid" and len(sweep.shape) == len(sweep.points):
        data, axis = _map(sweep, column, names)
    else:
        data, axis = _scatter(sweep, column, names)
    told = f"{column} of {sweep.graph.name!r}"
    left = int(((sweep["outcome"] == "waiting") & sweep.wanted).sum())
    if left:
        told += f" · {len(sweep) - left:,} of {len(sweep):,} points"
    layout = base_layout(
        height,
        title=title(text(told)),
        xaxis={"title": {"text": text(names[0])}, **_axis(sweep, names[0])},
        yaxis={"title": {"text": text(axis)}, **(_axis(sweep, axis) if axis in sweep.points else {})},
        showlegend=any(trace.get("showlegend") for trace in data),
        legend={"orientation": "h", "x": 0, "y": 1.0, "yanchor": "bottom"},
        margin={"l": 64, "r": 14, "t": 56, "b": 44},
    )
    return {"data": data, "layout": layout}


def _axis(sweep: Sweep, name: str) -> dict[str, Any]:
    """Logarithmic where the values of a parameter grow by a factor."""
    values = np.unique(sweep.points[name])
    if len(values) > 3 and values.dtype.kind == "f" and values[0] > 0:
        ratios = values[1:] / values[:-1]
        if values[-1] > 30 * values[0] and np.allclose(ratios, ratios[0]):
            return {"type": "log"}
    return {"type": "linear"}


def _kinds(column: np.ndarray) -> tuple[np.ndarray, list[str], list[str]] | None:
    """(number of the kind of each entry or NaN, names, colours); None for numbers."""
    if column.dtype.kind in "iuf":
        return None
    texts = column.astype(str)
    there = set(texts.reshape(-1).tolist())
    known = OUTCOMES if there <= {*OUTCOMES, "waiting"} else LABELS if there <= {*LABELS, ""} else None
    if known is None:
        found, counts = np.unique(texts[(texts != "") & (texts != "waiting")], return_counts=True)
        names = [str(name) for name in found[np.argsort(-counts, kind="stable")]][:KINDS]
        known = dict(zip(names, theme.SERIES, strict=False))
    names = [name for name in known if name in there] or list(known)[:1]
    codes = np.full(texts.shape, np.nan)
    for k, name in enumerate(names):
        codes[texts == name] = k
    return codes, names, [known[name] for name in names]


def _map(sweep: Sweep, column: str, names: list[str]) -> tuple[list[dict[str, Any]], str]:
    """A heatmap: the first parameter to the right, the second one upwards; of further ones their first value."""
    order = list(sweep.points)
    cut = tuple(slice(None) if name in names else 0 for name in order)
    picture = sweep.grid(column)[cut].T
    outcome = sweep.grid("outcome")[cut].T
    ran = sweep.on_grid(sweep.computed(column))[cut].T
    x, y = (sweep.design.axes[name] for name in names)
    shared = {"type": "heatmap", "x": np.asarray(x, float), "y": np.asarray(y, float)}
    hover = f"{text(names[0])} %{{x}}<br>{text(names[1])} %{{y}}<br>{text(column)} "
    kinds = _kinds(picture)
    if kinds is None:
        z = np.where(ran, picture.astype(np.float64), np.nan)
        bar = {"thickness": 10, "title": {"text": text(column), "side": "right"}}
        scale = SCALES.get(column, OTHER_SCALE)
        return [
            {**shared, "z": z, "colorscale": scale, "colorbar": bar, "text": outcome,
             "hovertemplate": hover + "%{z:.8g}<br>%{text}<extra></extra>"}
        ], names[1]  # fmt: skip
    codes, told, colours = kinds
    n = len(told)
    stops = [[edge, colours[k]] for k in range(n) for edge in (k / n, (k + 1) / n)]
    bar = {"thickness": 10, "tickvals": list(range(n)), "ticktext": [text(name) for name in told]}
    trace = {
        **shared,
        "z": codes,
        "zmin": -0.5,
        "zmax": n - 0.5,
        "colorscale": stops,
        "colorbar": bar,
        "text": picture.astype(str),
        "hovertemplate": hover + "%{text}<extra></extra>",
    }
    return [trace], names[1]


def _curve(sweep: Sweep, column: str, name: str) -> tuple[list[dict[str, Any]], str]:
    """A column over one parameter; kinds as rows of points."""
    order = np.argsort(sweep.points[name], kind="stable")
    order = order[sweep.computed(column)[order]]
    x, values = np.asarray(sweep.points[name][order], float), sweep[column][order]
    hover = f"{text(name)} %{{x}}<br>{text(column)} %{{y}}<extra></extra>"
    kinds = _kinds(values)
    if kinds is None:
        y = values.astype(np.float64)
        line = {"color": "@data", "width": 1.6}
        return [
            {"type": "scatter", "mode": "lines+markers", "x": x, "y": np.where(np.isfinite(y), y, np.nan), "line": line,
             "marker": {"size": 4, "color": "@data"}, "hovertemplate": hover}
        ], column  # fmt: skip
    codes, told, colours = kinds
    return [
        {"type": "scatter", "mode": "markers", "x": x[codes == k], "y": [text(kind)] * int((codes == k).sum()),
         "marker": {"size": 7, "color": colours[k], "symbol": k % 4}, "hovertemplate": hover}
        for k, kind in enumerate(told)
    ], column  # fmt: skip


def _newest(sweep: Sweep, column: str, name: str) -> tuple[list[dict[str, Any]], str]:
    """All newest values of a loop variable over one parameter: the bifurcation diagram of a map."""
    values = sweep[column].astype(np.float64)
    counts = sweep.columns.all.counts[column[: column.rindex("[")]]
    there = np.arange(values.shape[1])[None, :] >= values.shape[1] - counts[:, None]
    point, at = np.nonzero(there & np.isfinite(values) & (sweep["outcome"] != "waiting")[:, None])
    if len(point) > DRAWN:  # every so many, which hits all parts of the picture
        pick = np.random.default_rng(0).choice(len(point), DRAWN, replace=False)
        point, at = point[pick], at[pick]
    return [
        {"type": "scattergl", "mode": "markers", "x": np.asarray(sweep.points[name][point], float),
         "y": values[point, at], "marker": {"size": 2, "color": "@data", "opacity": 0.6},
         "hovertemplate": f"{text(name)} %{{x}}<br>{text(column)} %{{y}}<extra></extra>"}
    ], column  # fmt: skip


def _scatter(sweep: Sweep, column: str, names: list[str]) -> tuple[list[dict[str, Any]], str]:
    """Points of a list or a drawn design at their places."""
    ran = np.flatnonzero(sweep.computed(column))[:DRAWN]
    x, y = (np.asarray(sweep.points[name][ran], float) for name in names)
    values = sweep[column][ran]
    hover = f"{text(names[0])} %{{x}}<br>{text(names[1])} %{{y}}<br>{text(column)} "
    shared = {"type": "scattergl", "mode": "markers"}
    kinds = _kinds(values)
    if kinds is None:
        bar = {"thickness": 10, "title": {"text": text(column), "side": "right"}}
        marker = {"size": 6, "color": values.astype(np.float64), "colorscale": SCALES.get(column, OTHER_SCALE)}
        marker |= {"colorbar": bar, "showscale": True}
        return [
            {**shared, "x": x, "y": y, "marker": marker, "hovertemplate": hover + "%{marker.color:.8g}<extra></extra>"}
        ], names[1]
    codes, told, colours = kinds
    data = []
    for k, kind in enumerate(told):
        marker = {"size": 6, "color": colours[k], "symbol": k % 4}
        named = {"name": text(kind), "showlegend": True, "hovertemplate": f"{hover}{text(kind)}<extra></extra>"}
        data.append({**shared, **named, "x": x[codes == k], "y": y[codes == k], "marker": marker})
    return data, names[1]
