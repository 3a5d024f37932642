"""The icicle of a shape trie as a figure."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.widgets.base import theme
from workbench.widgets.base.spec import Spec, base_layout, text, title
from workbench.widgets.text.numerals import numeral

MIN_HEIGHT, MAX_HEIGHT, ROW_HEIGHT = 220, 900, 19
#: on these colours, in both themes
INK = "#111111"
KIND_COLOURS = {"root": theme.GREY, "rank": theme.SKY, "dim": theme.GREEN, "shape": theme.ORANGE, "more": theme.GREY}


def _shapes(count: int) -> str:
    return f"{numeral(count)} shape{'' if count == 1 else 's'}"


def _references(count: int | None) -> str:
    """``, 3 references``; empty if it is unknown."""
    return "" if count is None else f", {numeral(count)} reference{'' if count == 1 else 's'}"


def shapetrie_spec(model: dict[str, Any], height: int | None = None) -> Spec:
    """One icicle; colours tell ranks, dims and descriptors apart, a thick edge is around the selected value's."""
    rows = model["rows"]
    dims, dtype = model.get("selected") or ("", "")
    chosen = [r["kind"] == "shape" and r["path"] == dims and r["label"].split(" ")[0] == dtype for r in rows]
    empty = model["stats"]["entries"] == 0
    if height is None:
        height = int(min(max(ROW_HEIGHT * rows[0]["weight"] + 50, MIN_HEIGHT), MAX_HEIGHT))
    data = [
        {
            "type": "icicle",
            "ids": [r["id"] for r in rows],
            "parents": [r["parent"] for r in rows],
            "labels": [text(r["shown"]) for r in rows],
            "values": np.asarray([r["weight"] for r in rows], dtype=np.float64),
            "text": ["" if r["kind"] == "shape" else _shapes(r["entries"]) for r in rows],
            "customdata": [f"{text(r['path'])}<br>{_shapes(r['entries'])}{_references(r['references'])}" for r in rows],
            "branchvalues": "total",
            "tiling": {"orientation": "h", "pad": 1},
            "pathbar": {"visible": True, "thickness": 18},
            "marker": {
                "colors": [KIND_COLOURS[r["kind"]] for r in rows],
                "line": {
                    "width": [4.0 if c else 0.5 for c in chosen],
                    "color": [theme.VERMILION if c else INK for c in chosen],
                },
            },
            "root": {"color": "rgba(0,0,0,0)"},
            "texttemplate": "%{label}  <i>%{text}</i>",
            "hovertemplate": "%{customdata}<extra></extra>",
            "textfont": {"color": INK},
            "maxdepth": 6,
            "sort": False,
            "visible": not empty,
        }
    ]
    notes = []
    if empty:
        notes.append(
            {
                "xref": "paper",
                "yref": "paper",
                "x": 0.5,
                "y": 0.5,
                "showarrow": False,
                "font": {"size": 13},
                "text": model["nothing"],
            }
        )
    layout = base_layout(
        height,
        title=title(text(model["headline"])),
        annotations=notes,
        margin={"l": 8, "r": 8, "t": 34, "b": 8},
        uniformtext={"minsize": 9, "mode": "hide"},
        xaxis={"visible": False},
        yaxis={"visible": False},
    )
    return {"data": data, "layout": layout}
