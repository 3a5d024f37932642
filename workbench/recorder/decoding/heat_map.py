"""Heat map of two decoding runs: the distance of their values by module and token."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.errors import WatchError
from workbench.libraries import needed
from workbench.text import printable

#: the smallest distance with a distinct colour: roundings of float64 are below
LEAST = 1e-12


def heat_map(modules: list[str], positions: list[int], distances: np.ndarray, tokens: list[str], limit: float) -> Any:
    """A plotly figure: modules in the order of execution from top to bottom, tokens from left to right.

    Distances are relative to the size of the values and drawn by their logarithms; those up to ``limit`` have pale
    colours.
    """
    go = needed("plotly.graph_objects", error=WatchError)
    shown = np.log10(np.clip(distances, LEAST, 10.0))
    low, high = np.log10(LEAST), 1.0
    edge = float((np.log10(limit) - low) / (high - low))
    colours = [[0.0, "#F4F6F8"], [edge, "#C9D3DE"], [edge, "#F6C38B"], [1.0, "#B03A06"]]
    labels = [f"{p}<br>{printable(t, 10)}" for p, t in zip(positions, tokens, strict=True)]
    figure = go.Figure(
        go.Heatmap(
            z=shown,
            x=list(range(len(positions))),
            y=[printable(m, 48) or "(the model)" for m in modules],
            customdata=distances,
            zmin=low,
            zmax=high,
            colorscale=colours,
            xgap=1,
            ygap=1,
            hovertemplate="%{y}<br>token %{x}: %{customdata:.2g}<extra></extra>",
            colorbar={
                "title": {"text": "apart / size"},
                "tickvals": [-12, -9, -6, -3, 0],
                "ticktext": ["1e-12", "1e-9", "1e-6", "1e-3", "1"],
            },
        )
    )
    step = max(1, len(positions) // 24)
    figure.update_xaxes(
        title_text="token", tickvals=list(range(0, len(positions), step)), ticktext=labels[::step], showgrid=False
    )
    figure.update_yaxes(autorange="reversed", automargin=True, showgrid=False)
    figure.update_layout(height=140 + 17 * len(modules), margin={"l": 10, "r": 10, "t": 20, "b": 60})
    return figure
