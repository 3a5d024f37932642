"""Which way the graph went at each decision, over time."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.widgets import theme
from workbench.widgets.focus import Focus
from workbench.widgets.models.controlflow_model import ControlFlowModel
from workbench.widgets.models.labels import shorten
from workbench.widgets.views.base import Source, View, is_running
from workbench.widgets.views.spec import Spec, base_layout, count_axis, text, title


class ControlFlowView(View):
    """One row per predicate: a line at the top of the row where it was true, at the bottom where it was false."""

    title = "Control flow"

    def __init__(self, source: Any, *, focus: Focus | None = None) -> None:
        self.source = source if isinstance(source, Source) else Source(source)
        self._follow = ControlFlowModel(self.source.graph)
        super().__init__(self.source, focus)

    def model(self, snapshot: Any) -> dict[str, Any]:
        return self._follow.update(self.source.trace, running=is_running(snapshot))

    @property
    def behind(self) -> bool:
        return self._follow.behind

    def spec(self, model: dict[str, Any]) -> Spec:
        return controlflow_spec(model)


def controlflow_spec(model: dict[str, Any]) -> Spec:
    """Steps, one row of height 1 each; colour and dash tell loops from branches."""
    rows = model["rows"]
    data: list[dict[str, Any]] = []
    for k, row in enumerate(rows):
        base = float(len(rows) - 1 - k)
        colour = theme.ORANGE if row["loop"] else theme.SKY
        data.append(
            {
                "type": "scatter", "mode": "lines+markers" if len(row["x"]) <= 60 else "lines",
                "x": np.asarray(row["x"]), "y": base + 0.12 + 0.5 * np.asarray(row["y"], dtype=np.float64),
                "line": {"shape": "hv", "color": colour, "width": 2}, "marker": {"size": 5},
                "customdata": ["true" if v else "false" for v in row["y"]],
                "hovertemplate": f"{text(row['name'])}<br>decision %{{x}}: %{{customdata}}<extra></extra>",
            }
        )  # fmt: skip
    if not data:
        data.append({"type": "scatter", "mode": "lines", "x": np.empty(0), "y": np.empty(0), "name": ""})
    notes = []
    for k, row in enumerate(rows):
        base = len(rows) - 1 - k
        now = "" if row["last"] is None else ("now true" if row["last"] else "now false")
        words = ", ".join(t for t in (now, row["text"]) if t)
        notes.append(
            {"xref": "paper", "x": 0.0, "y": base + 0.97, "xanchor": "left", "yanchor": "top", "showarrow": False,
             "text": f"<b>{text(shorten(row['name'], 30))}</b> {text(words)}", "font": {"size": 11}}
        )  # fmt: skip
    ticks: list[float] = []
    names: list[str] = []
    for k in range(len(rows)):
        base = float(len(rows) - 1 - k)
        ticks += [base + 0.12, base + 0.62]
        names += ["false", "true"]
    layout = base_layout(
        70 + 80 * max(1, len(rows)),
        title=title("Control flow" if rows else "This graph has no Switch"),
        xaxis=count_axis(model["x_title"], data),
        yaxis={"range": [0, max(1, len(rows)) + 0.05], "tickvals": ticks, "ticktext": names, "zeroline": False,
               "fixedrange": True},
        annotations=notes,
        margin={"l": 44, "r": 14, "t": 26, "b": 40},
    )  # fmt: skip
    return {"data": data, "layout": layout}
