"""One value: number, table with statistics, heat map."""

from __future__ import annotations

from typing import Any

import ipywidgets
import numpy as np

from workbench.errors import WorkbenchError
from workbench.widgets.focus import Focus
from workbench.widgets.models.follow import last_iterations, latest
from workbench.widgets.models.inspector_model import inspector_model
from workbench.widgets.views.base import Source, View
from workbench.widgets.views.spec import Spec, base_layout, text, title

HEIGHT = 190
MAX_NAMES = 1000


class ValueInspector(View):
    """The newest value of ``name`` (a public value name or ``node:output``; the first loop variable by default)."""

    title = "Value"

    def __init__(self, source: Any, name: str | None = None, *, focus: Focus | None = None) -> None:
        self.source = source if isinstance(source, Source) else Source(source)
        graph = self.source.graph
        variables = [v.name for p in sorted(graph.frames, key=len) for v in graph.frames[p].variables]
        known = [*variables, *graph.inputs, *graph.outputs, *graph.nodes]
        self.names = list(dict.fromkeys(known))[:MAX_NAMES]
        self.name = name or (self.names[0] if self.names else "")
        if self.name and self.name not in self.names:
            graph.value(self.name)  # an unknown name is an error that lists near ones
            self.names.insert(0, self.name)
        self.words = ipywidgets.HTML()
        super().__init__(self.source, focus)

    def select(self, name: str) -> None:
        """Show another value. Right on any thread."""
        self.source.graph.value(name)
        if name not in self.names:
            self.names.insert(0, name)
            self.choice.options = self.names
        self.choice.value = name

    def focused(self, focus: Focus) -> None:
        if focus.node is not None and focus.node != self.name:
            self.select(focus.node)
        super().focused(focus)

    def model(self, snapshot: Any) -> dict[str, Any]:
        trace = self.source.trace
        value = None
        if trace is not None and self.name:
            try:
                value = latest(trace, self.name, last_iterations(trace, self.source.graph))
            except (KeyError, IndexError, TypeError, ValueError, WorkbenchError):
                value = None
        return inspector_model(value, self.name)

    def spec(self, model: dict[str, Any]) -> Spec:
        return inspector_spec(model, titled=False)

    def plain_spec(self, model: dict[str, Any]) -> Spec:
        return inspector_spec(model)

    def arrange(self) -> tuple[ipywidgets.Widget, ...]:
        self.choice = ipywidgets.Dropdown(
            options=self.names, value=self.name or None, description="Value", tooltip="Which value to show",
            layout={"width": "auto", "max_width": "420px"}, style={"description_width": "48px"},
        )  # fmt: skip
        self.choice.observe(self._chosen, names="value")
        self.holder = ipywidgets.Box([self.live], layout={"display": "none"})
        self.refresh(self.model(self.source.snapshot()))
        return (self.choice, self.words, self.holder)

    def _chosen(self, change: Any) -> None:
        self.name = change["new"]
        self.update_now()

    def refresh(self, model: dict[str, Any]) -> None:
        html = inspector_html(model)
        if html != self.words.value:
            self.words.value = html
        display = "block" if model["heat"] is not None else "none"
        if self.holder.layout.display != display:
            self.holder.layout.display = display


def inspector_html(model: dict[str, Any]) -> str:
    """Header, number or table, and statistics; every text in it is escaped."""
    parts = [f'<div class="workbench-words"><b>{text(model["name"])}</b> {text(model["header"])}']
    if model["kind"] != "table":
        parts.append(f'<div class="workbench-scalar">{text(model["text"])}</div>')
    else:
        rows = "".join("<tr>" + "".join(f"<td>{text(c)}</td>" for c in row) + "</tr>" for row in model["cells"])
        parts.append(f'<div class="workbench-wide"><table class="workbench-table">{rows}</table></div>')
        if model["more"]:
            parts.append(f"<small>{text(model['more'])}</small><br>")
    bad = {"NaN", "Inf", "health"}
    facts = [
        f'<span class="workbench-bad">\u26a0 {text(k)} {text(v)}</span>' if k in bad else f"{text(k)} {text(v)}"
        for k, v in model["statistics"].items()
    ]
    parts.append(" \u00b7 ".join(facts) + "</div>")
    return "".join(parts)


def inspector_spec(model: dict[str, Any], titled: bool = True) -> Spec:
    """A heat map where there is a matrix or vector, and the words as title."""
    heat = model["heat"]
    facts = " \u00b7 ".join(f"{k} {v}" for k, v in model["statistics"].items())
    words = f"<b>{text(model['name'])}</b> {text(model['header'])} {text(model['text'])}<br><sub>{text(facts)}</sub>"
    data = [
        {
            "type": "heatmap", "z": heat if heat is not None else np.zeros((0, 0)), "colorscale": "Cividis",
            "showscale": heat is not None, "colorbar": {"thickness": 10},
            "hovertemplate": "[%{y}, %{x}] %{z:.8g}<extra></extra>",
        }
    ]  # fmt: skip
    layout = base_layout(
        HEIGHT,
        title=title(words if titled else ""),
        yaxis={"autorange": "reversed", "visible": heat is not None, "dtick": None},
        xaxis={"visible": heat is not None},
        margin={"l": 40, "r": 14, "t": 48 if titled else 8, "b": 28},
    )
    return {"data": data, "layout": layout}
