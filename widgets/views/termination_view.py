"""When will the loop stop: the verdict in words, and the gap of each comparison."""

from __future__ import annotations

import time
from typing import Any

import ipywidgets
import numpy as np

from workbench.widgets import theme
from workbench.widgets.models.labels import number
from workbench.widgets.models.termination_model import TerminationModel
from workbench.widgets.views.base import Source, View, is_running
from workbench.widgets.views.spec import Spec, base_layout, count_axis, log_axis, text, title

HEIGHT = 200
#: A forecast may run ahead of the loop. It is asked at stops; while running not more often than this, and for a tenth
#: of the time at most.
EVERY_S = 0.5
MARKS = {"PROVED": "\u2713", "PREDICTED": "\u2248", "UNKNOWN": "?"}


class TerminationView(View):
    """The termination verdict of one loop (``frame``: its path; the outermost loop by default)."""

    title = "Termination"

    def __init__(self, source: Any, frame: tuple[str, ...] | None = None, height: int = HEIGHT) -> None:
        self.source = source if isinstance(source, Source) else Source(source)
        self.height = height
        self._follow = TerminationModel(self.source.graph, frame)
        self._asked = -EVERY_S
        self._took = 0.0
        self._told: dict[str, Any] | None = None
        self.words = ipywidgets.HTML()
        super().__init__(self.source)

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
        return {**model, "verdict": self._told}

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
    """\\|left - right\\| of each comparison over the iterations on a log axis, and the forecast as title."""
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
    told = model["verdict"]
    now = "; ".join(_now(c) for c in model["clauses"])
    words = [told["headline"] if told else "Termination"] if headline else []
    told_now = "<br>".join(map(text, [*words, *([now] if now else [])]))
    layout = base_layout(
        height,
        title=title(told_now),
        xaxis=count_axis("evaluation of the condition", data),
        yaxis={"title": {"text": "gap"}, **log_axis([t["y"] for t in data])},
        margin={"l": 60, "r": 14, "t": 50 if headline else 30, "b": 40},
    )  # fmt: skip
    return {"data": data, "layout": layout}


def _now(clause: dict[str, Any]) -> str:
    if clause["gap"] is None:
        return clause["text"]
    state = "true" if clause["holds"] else "false"
    return f"{clause['text']} is {state}: {number(clause['left'])} against {number(clause['right'])}"
