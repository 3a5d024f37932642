"""When will the loop stop: the verdict in words, and the gap of each comparison."""

from __future__ import annotations

import time
from typing import Any

import ipywidgets
import numpy as np

from workbench.widgets import theme
from workbench.widgets.focus import Focus
from workbench.widgets.models.labels import number
from workbench.widgets.models.termination_model import TerminationModel
from workbench.widgets.views.base import Source, View, is_running
from workbench.widgets.views.convergence_spec import crossing_shapes, forecast_traces
from workbench.widgets.views.spec import Spec, base_layout, count_axis, log_axis, text, title

HEIGHT = 200
#: A forecast may run ahead of the loop. It is asked at stops; while running not more often than this, and for a tenth
#: of the time at most.
EVERY_S = 0.5
MARKS = {"PROVED": "\u2713", "PREDICTED": "\u2248", "UNKNOWN": "?"}


class TerminationView(View):
    """The termination verdict of one loop (``frame``: its path; the outermost loop by default)."""

    title = "Termination"

    def __init__(
        self, source: Any, frame: tuple[str, ...] | None = None, height: int = HEIGHT, *, focus: Focus | None = None
    ) -> None:
        self.source = source if isinstance(source, Source) else Source(source)
        self.height = height
        self._follow = TerminationModel(self.source.graph, frame)
        self._asked = -EVERY_S
        self._took = 0.0
        self._told: dict[str, Any] | None = None
        self._ahead: list[Any] = []
        self._end: tuple[float, float, float] | None = None
        self.words = ipywidgets.HTML()
        super().__init__(self.source, focus)

    def model(self, snapshot: Any) -> dict[str, Any]:
        session = self.source.session
        running = is_running(snapshot)
        pause = max(EVERY_S, 10 * self._took)
        ask = session is not None and (not running or time.monotonic() - self._asked >= pause)
        path, started = self._follow.path, time.monotonic()
        verdict = (lambda: session.termination(path)) if ask else None
        model = self._follow.update(self.source.trace, verdict, running=running)
        if ask:
            self._asked, self._told = time.monotonic(), model["verdict"]
            self._took = self._asked - started
            self._ahead, self._end = [c.get("ahead") for c in model["clauses"]], model["end"]
        for clause, ahead in zip(model["clauses"], self._ahead, strict=False):
            clause["ahead"] = ahead
        return {**model, "verdict": self._told, "end": self._end}

    @property
    def behind(self) -> bool:
        return self._follow.behind

    def spec(self, model: dict[str, Any]) -> Spec:
        return termination_spec(model, self.height, headline=False)

    def plain_spec(self, model: dict[str, Any]) -> Spec:
        return termination_spec(model, self.height)

    def arrange(self) -> tuple[ipywidgets.Widget, ...]:
        return (self.words, self.live)

    def refresh(self, model: dict[str, Any]) -> None:
        html = termination_html(model)
        if html != self.words.value:
            self.words.value = html


def termination_html(model: dict[str, Any]) -> str:
    """The verdict for a widget; every name in it is escaped."""
    told = model["verdict"]
    if model["loop"] is None:
        return '<div class="workbench-words">This graph has no loop.</div>'
    if told is None:
        return '<div class="workbench-words"><b>No forecast yet</b></div>'
    parts = [f'<b>{MARKS.get(told["status"], "?")} {text(told["headline"])}</b>']
    if told["reason"]:
        parts.append(text(told["reason"]))
    if told["proof"] and told["proof"] != told["reason"]:
        parts.append(f"<i>Proof:</i> {text(told['proof'])}")
    if told["root"]:
        parts.append(f"<i>Root:</i> {text(', '.join(told['root']))}")
    parts += [f"<i>To fix it:</i> {text(fix)}" for fix in told["fix"]]
    return '<div class="workbench-words">' + "<br>".join(parts) + "</div>"


def termination_spec(model: dict[str, Any], height: int = HEIGHT, headline: bool = True) -> Spec:
    """\\|left - right\\| of each comparison over the iterations on a log axis, its forecast with the 90 % band, the
    expected end as a line down the plot with its interval as a stripe, and the forecast as title."""
    data: list[dict[str, Any]] = []
    for k, clause in enumerate(model["clauses"]):
        y = np.asarray(clause["y"], dtype=np.float64)
        y = np.where(np.isfinite(y) & (y > 0), y, np.nan)
        data.append(
            {
                "type": "scatter", "mode": "lines+markers" if len(y) <= 60 else "lines", 
                "x": np.asarray(clause["x"]), "y": y, "name": text(clause["text"]), "marker": {"size": 5},
                "line": {"color": (theme.ORANGE, theme.GREEN, theme.PURPLE)[k % 3], "width": 2,
                         "dash": ("solid", "dash", "dot")[k % 3]},
                "hovertemplate": "evaluation %{x}<br>gap %{y:.6g}<extra></extra>",
            }
        )  # fmt: skip
    if not data:
        data.append({"type": "scatter", "mode": "lines", "x": np.empty(0), "y": np.empty(0), "name": ""})
    for k, clause in enumerate(model["clauses"]):
        colour = (theme.ORANGE, theme.GREEN, theme.PURPLE)[k % 3]
        data += forecast_traces(clause.get("ahead"), clause["text"], colour, log=True)
    end, last = model.get("end"), max((float(t["x"][-1]) for t in data if len(t["x"])), default=0.0)
    # an end far away would press everything seen against the axis: then the words alone tell it
    shapes = crossing_shapes(*end) if end is not None and end[0] <= 1.5 * last + 16 else []
    told = model["verdict"]
    now = "; ".join(_now(c) for c in model["clauses"])
    words = [told["headline"] if told else "Termination"] if headline else []
    told_now = "<br>".join(map(text, [*words, *([now] if now else [])]))
    layout = base_layout(
        height,
        title={**title(told_now), "y": 0.98 if "<br>" not in told_now else 0.93},  # plotly lifts a second line
        xaxis=count_axis("evaluation of the condition", data), shapes=shapes,
        yaxis={"title": {"text": "gap"}, **log_axis([t["y"] for t in data if len(t["y"])])},
        margin={"l": 60, "r": 14, "t": 50 if headline else 30, "b": 40},
    )  # fmt: skip
    return {"data": data, "layout": layout}


def _now(clause: dict[str, Any]) -> str:
    if clause["gap"] is None:
        return clause["text"]
    state = "true" if clause["holds"] else "false"
    return f"{clause['text']} is {state}: {number(clause['left'])} against {number(clause['right'])}"
