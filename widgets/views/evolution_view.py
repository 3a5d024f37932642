"""Values over the iterations, with limit and label."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ipywidgets
import numpy as np

from workbench.errors import WorkbenchError
from workbench.widgets import theme
from workbench.widgets.focus import Focus
from workbench.widgets.models.evolution_model import SCALES, EvolutionModel, default_names
from workbench.widgets.models.labels import number
from workbench.widgets.views.base import Source, View, is_running
from workbench.widgets.views.convergence_spec import forecast_traces, level_shape
from workbench.widgets.views.spec import Spec, base_layout, count_axis, log_axis, text, title

HEIGHT = 250


def _classify(values: Any) -> Any:
    from workbench.analysis import classify  # late: a view of a graph alone needs no analysis

    return classify(values)


class EvolutionView(View):
    """Lines of the loop variables (or of ``names``) over the iterations, with their forecasts and 90 % bands.

    ``log`` shows the magnitude on a log axis. ``scale`` is "linear", "log" or "error": the last shows the distance to
    the limit of what converges, with ``tolerance`` as a line across.
    """

    title = "Evolution"
    words: ipywidgets.HTML

    def __init__(
        self, source: Any, names: Sequence[str] | None = None, log: bool = False, height: int = HEIGHT, *,
        scale: str | None = None, tolerance: float | None = None, focus: Focus | None = None,
    ) -> None:  # fmt: skip
        self.scale = scale if scale is not None else "log" if log else "linear"
        if self.scale not in SCALES:
            raise WorkbenchError(
                f"There is no scale {scale!r}.", slug="no-scale", fix=f"use one of {', '.join(SCALES)}."
            )
        self.tolerance = tolerance if tolerance is not None and tolerance > 0 else None
        self.source = source if isinstance(source, Source) else Source(source)
        self.names = list(names) if names is not None else default_names(self.source.graph)
        self.height = height
        self._follow = EvolutionModel(self.names, _classify)
        self._verdict_event = -1
        self._verdicts: list[dict[str, Any]] = []
        super().__init__(self.source, focus)

    def model(self, snapshot: Any) -> dict[str, Any]:
        # a verdict looks at thousands of values: not more often than the run has grown by a tenth
        event = int(getattr(snapshot, "event", 0) or 0)
        running = is_running(snapshot)
        due = not running or abs(event - self._verdict_event) > 0.1 * max(1, self._verdict_event)
        model = self._follow.update(self.source.trace, running=running, verdicts=due, log=self.scale == "log")
        if due:
            self._verdict_event, self._verdicts = event, model["verdicts"]
        return {**model, "verdicts": self._verdicts, "error": self.scale == "error", "tolerance": self.tolerance}

    @property
    def behind(self) -> bool:
        return self._follow.behind

    def spec(self, model: dict[str, Any]) -> Spec:
        return evolution_spec(model, self.height)

    def arrange(self) -> tuple[ipywidgets.Widget, ...]:
        scale = ipywidgets.ToggleButtons(
            options=[(s, s) for s in SCALES], value=self.scale,
            tooltips=["Values as they are", "Magnitude on a logarithmic axis",
                      "Distance to the limit, on a logarithmic axis"],
            style={"button_width": "64px"}, layout={"width": "auto"},
        )  # fmt: skip
        scale.observe(self._scale_chosen, names="value")
        scale.add_class("workbench-scale")
        self.words = ipywidgets.HTML()
        return (scale, self.live, self.words)

    def refresh(self, model: dict[str, Any]) -> None:
        html = evolution_html(model)
        if html != self.words.value:
            self.words.value = html

    @property
    def log_scale(self) -> bool:
        """Whether magnitudes are shown on a logarithmic axis."""
        return self.scale == "log"

    @log_scale.setter
    def log_scale(self, log: bool) -> None:
        self.scale = "log" if log else "linear"

    def _scale_chosen(self, change: Any) -> None:
        self.scale = str(change["new"])
        self.update_now()


def evolution_html(model: dict[str, Any]) -> str:
    """What the plot shows, in words: folded up, and opened by mouse or keyboard; names are escaped."""
    told = [[v["text"] + ".", *v.get("why", ())[:2], v.get("told", "")] for v in model["verdicts"]]
    items = "".join(f"<li>{text(' '.join(t for t in sentences if t))}</li>" for sentences in told)
    if not items:
        return ""
    return f'<details class="workbench-words"><summary>In words</summary><ul>{items}</ul></details>'


def evolution_spec(model: dict[str, Any], height: int = HEIGHT) -> Spec:
    """One line per value, a dashed line per limit, a cross at the first NaN or infinity; forecasts with their bands.

    With ``error`` the lines are distances to the limit; what has none is left out.
    """
    data: list[dict[str, Any]] = []
    error = bool(model.get("error"))
    log = model["log"] or error
    limits = {v["name"]: v["limit"] for v in model["verdicts"] if v["label"] in ("converging", "stable")}
    for k, line in enumerate(model["lines"]):
        last = "" if line["last"] is None else f" = {number(line['last'], 8)}"
        y = np.asarray(line["y"], dtype=np.float64)
        if error:
            limit = limits.get(line["name"])
            y = np.full(len(y), np.nan) if limit is None else np.abs(y - limit)
            y = np.where(y > 0, y, np.nan)
        data.append(
            {
                "type": "scatter", "mode": "lines+markers" if len(line["x"]) <= 60 else "lines",
                "x": np.asarray(line["x"], dtype=np.float64), "y": y,
                "name": text(line["name"] + last), "marker": {"size": 5},
                "line": {"width": 2, "dash": ("solid", "dash", "dot", "dashdot")[k % 4], "color": _colour(k)},
                "hovertemplate": f"{text(line['name'])}<br>{model['x_title']} %{{x}}<br>%{{y:.12g}}<extra></extra>",
            }
        )  # fmt: skip
    if not data:
        data.append({"type": "scatter", "mode": "lines", "x": np.empty(0), "y": np.empty(0), "name": "no values yet"})
    lines = [t["y"] for t in data]
    drawn = _forecasts(model, error)
    data += drawn
    if log:
        lines += [t["y"] for t in drawn]
    shapes = [
        {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": v["limit"], "y1": v["limit"],
         "line": {"color": theme.GREY, "width": 1, "dash": "dash"}}
        for v in model["verdicts"] if v["limit"] is not None and not log
    ]  # fmt: skip
    tolerance = model.get("tolerance")
    if error and tolerance is not None:
        shapes.append(level_shape(tolerance))
        lines.append(np.array([tolerance]))
    bad = [(line["bad"], line["name"]) for line in model["lines"] if line["bad"]]
    notes = [
        {"x": b[0], "y": 1, "yref": "paper", "text": f"\u26a0 {text(name)} is {number(b[1])}", "showarrow": False,
         "font": {"color": theme.BAD, "size": 11}, "xanchor": "right", "yanchor": "top"}
        for b, name in bad[:3]
    ]  # fmt: skip
    told = " \u00b7 ".join(text(v["text"]) for v in model["verdicts"])
    layout = base_layout(
        height,
        title=title(told or "Evolution"),
        xaxis=count_axis(model["x_title"], data),
        yaxis=log_axis(lines) if log else {"type": "linear", "exponentformat": "e"},
        showlegend=True,
        legend={"orientation": "h", "x": 1, "xanchor": "right", "y": 1.0, "yanchor": "bottom", "font": {"size": 11}},
        shapes=shapes,
        annotations=notes,
        margin={"l": 56, "r": 14, "t": 44, "b": 40},
    )
    if error:
        layout["yaxis"]["title"] = {"text": "distance to the limit"}
    return {"data": data, "layout": layout}


def _forecasts(model: dict[str, Any], error: bool) -> list[dict[str, Any]]:
    """Two traces for each verdict, also where there is no forecast, so that their number stays."""
    data = []
    names = [line["name"] for line in model["lines"]]
    for verdict in model["verdicts"]:
        if "line" not in verdict:
            continue
        own = [k for k, n in enumerate(names) if n == verdict["name"] or n.startswith(f"{verdict['name']}[")]
        k = own[min(verdict["line"], len(own) - 1)] if own else 0
        ahead = verdict["distance"] if error else verdict["forecast"]
        if model["log"] and ahead is not None and not error:
            ends = np.abs(ahead["low"]), np.abs(ahead["high"])
            ahead = {**ahead, "y": np.abs(ahead["y"]), "low": np.minimum(*ends), "high": np.maximum(*ends)}
        data += forecast_traces(ahead, verdict["name"], _colour(k), model["log"] or error)
    return data


def _colour(k: int) -> str:
    # sky first: of the set it keeps the most contrast on both a white and a dark page
    order = (theme.SKY, theme.ORANGE, theme.GREEN, theme.PURPLE, theme.VERMILION, theme.BLUE, theme.GREY)
    return order[k % len(order)]
