"""Values over the iterations, with limit and label."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ipywidgets
import numpy as np

from workbench.widgets import theme
from workbench.widgets.models.evolution_model import EvolutionModel, default_names
from workbench.widgets.models.labels import number
from workbench.widgets.views.base import Source, View, is_running
from workbench.widgets.views.spec import Spec, base_layout, count_axis, log_axis, text, title

HEIGHT = 250


def _classify(values: Any) -> Any:
    from workbench.analysis import classify  # late: a view of a graph alone needs no analysis

    return classify(values)


class EvolutionView(View):
    """Lines of the loop variables (or of ``names``) over the iterations; ``log`` shows the magnitude on a log axis."""

    title = "Evolution"

    def __init__(
        self, source: Any, names: Sequence[str] | None = None, log: bool = False, height: int = HEIGHT
    ) -> None:
        self.source = source if isinstance(source, Source) else Source(source)
        self.names = list(names) if names is not None else default_names(self.source.graph)
        self.log_scale = log
        self.height = height
        self._follow = EvolutionModel(self.names, _classify)
        self._verdict_event = -1
        self._verdicts: list[dict[str, Any]] = []
        super().__init__(self.source)

    def model(self, snapshot: Any) -> dict[str, Any]:
        # a verdict looks at thousands of values: not more often than the run has grown by a tenth
        event = int(getattr(snapshot, "event", 0) or 0)
        running = is_running(snapshot)
        due = not running or abs(event - self._verdict_event) > 0.1 * max(1, self._verdict_event)
        model = self._follow.update(self.source.trace, running=running, verdicts=due, log=self.log_scale)
        if due:
            self._verdict_event, self._verdicts = event, model["verdicts"]
        return {**model, "verdicts": self._verdicts}

    @property
    def behind(self) -> bool:
        return self._follow.behind

    def spec(self, model: dict[str, Any]) -> Spec:
        return evolution_spec(model, self.height)

    def arrange(self) -> tuple[ipywidgets.Widget, ...]:
        scale = ipywidgets.ToggleButtons(
            options=[("linear", False), ("log", True)], value=self.log_scale,
            tooltips=["Values as they are", "Magnitude on a logarithmic axis"],
            style={"button_width": "64px"}, layout={"width": "auto"},
        )  # fmt: skip
        scale.observe(self._scale_chosen, names="value")
        scale.add_class("workbench-scale")
        return (scale, self.live)

    def _scale_chosen(self, change: Any) -> None:
        self.log_scale = bool(change["new"])
        self.update_now()


def evolution_spec(model: dict[str, Any], height: int = HEIGHT) -> Spec:
    """One line per value, a dashed line per limit, a cross at the first NaN or infinity."""
    data: list[dict[str, Any]] = []
    log = model["log"]
    for k, line in enumerate(model["lines"]):
        last = "" if line["last"] is None else f" = {number(line['last'], 8)}"
        data.append(
            {
                "type": "scatter", "mode": "lines+markers" if len(line["x"]) <= 60 else "lines",
                "x": np.asarray(line["x"], dtype=np.float64), "y": np.asarray(line["y"], dtype=np.float64),
                "name": text(line["name"] + last), "marker": {"size": 5},
                "line": {"width": 2, "dash": ("solid", "dash", "dot", "dashdot")[k % 4], "color": _colour(k)},
                "hovertemplate": f"{text(line['name'])}<br>{model['x_title']} %{{x}}<br>%{{y:.12g}}<extra></extra>",
            }
        )  # fmt: skip
    if not data:
        data.append({"type": "scatter", "mode": "lines", "x": np.empty(0), "y": np.empty(0), "name": "no values yet"})
    shapes = [
        {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": v["limit"], "y1": v["limit"],
         "line": {"color": theme.GREY, "width": 1, "dash": "dash"}}
        for v in model["verdicts"] if v["limit"] is not None and not log
    ]  # fmt: skip
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
        yaxis=log_axis([t["y"] for t in data]) if log else {"type": "linear", "exponentformat": "e"},
        showlegend=True,
        legend={"orientation": "h", "x": 1, "xanchor": "right", "y": 1.0, "yanchor": "bottom", "font": {"size": 11}},
        shapes=shapes,
        annotations=notes,
        margin={"l": 56, "r": 14, "t": 44, "b": 40},
    )
    return {"data": data, "layout": layout}


def _colour(k: int) -> str:
    # sky first: of the set it keeps the most contrast on both a white and a dark page
    order = (theme.SKY, theme.ORANGE, theme.GREEN, theme.PURPLE, theme.VERMILION, theme.BLUE, theme.GREY)
    return order[k % len(order)]
