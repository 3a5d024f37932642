"""Colours and the two plotly templates of all views.

The hues are the colour-blind-safe set of Okabe and Ito (2008); they keep enough contrast on white and on dark grey.
Backgrounds are transparent so that a figure sits on whatever JupyterLab theme is on; text and grid follow the template,
which the browser exchanges (``base/figure/figure.js``) when the theme changes.
"""

from __future__ import annotations

from typing import Any

ORANGE = "#E69F00"
SKY = "#56B4E9"
GREEN = "#009E73"
YELLOW = "#F0E442"
BLUE = "#0072B2"
VERMILION = "#D55E00"
PURPLE = "#CC79A7"
GREY = "#8C8C8C"

#: order of line colours; yellow is left out because it is too faint on white
SERIES = (BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILION, GREY)
#: NaN and infinities
BAD = "#E8467C"
#: breakpoints
BREAKPOINT = "#E51400"

#: configuration of every figure: no button that talks to a cloud, no logo with a link
CONFIG: dict[str, Any] = {
    "showSendToCloud": False,
    "displaylogo": False,
    "plotlyServerURL": "",
    "responsive": False,
    "displayModeBar": "hover",
    "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"],
}

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"


def _template(text: str, grid: str, zero: str, hover: str) -> dict[str, Any]:
    axis = {"gridcolor": grid, "zerolinecolor": zero, "linecolor": zero, "automargin": True, "title": {"standoff": 6}}
    return {
        "layout": {
            "font": {"color": text, "family": FONT, "size": 12},
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "colorway": list(SERIES),
            "xaxis": axis,
            "yaxis": axis,
            "hoverlabel": {"bgcolor": hover, "bordercolor": zero, "font": {"color": text, "size": 12}},
            "legend": {"bgcolor": "rgba(0,0,0,0)"},
            "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": GREY, "activecolor": text},
        }
    }


LIGHT = _template(text="#1F1F1F", grid="#E3E3E3", zero="#B5B5B5", hover="#FFFFFF")
DARK = _template(text="#E6E6E6", grid="#3A3A3A", zero="#6A6A6A", hover="#222222")
THEMES = {"light": LIGHT, "dark": DARK}
#: colours by meaning: a figure refers to one as "@data" and is drawn in that of the theme; a shape or word repeats the
#: meaning
TOKENS: dict[str, dict[str, str]] = {
    "light": {
        "ground": "#FFFFFF",
        "ink": "#1F2328",
        "muted": "#5C636B",
        "grid": "#ECEFF2",
        "data": "#0866C4",
        "ahead": "#EAF3FB",
        "other": "#592E02",
        "now": "#C93A02",
        "good": "#014524",
        "bad": "#B31F72",
        "badground": "#FBE9F3",
        "edit": "#3F065F",
        "forecast": "#5B6470",
        "band": "#C9D1DA",
        "control": "#8A6100",
        "input": "#00614A",
    },
    "dark": {
        "ground": "#1B1C1E",
        "ink": "#E8EAED",
        "muted": "#AEB4BB",
        "grid": "#2D3034",
        "data": "#4A93EF",
        "ahead": "#16283C",
        "other": "#E8CC35",
        "now": "#F56441",
        "good": "#67F2B5",
        "bad": "#CF7193",
        "badground": "#3A2230",
        "edit": "#C1A1E1",
        "forecast": "#A7B0BA",
        "band": "#454C54",
        "control": "#EEC262",
        "input": "#7FD6BD",
    },
}
#: page colour behind a figure in a separate file
PAGE = {"light": "#FFFFFF", "dark": "#111111"}


def tint(colour: str, alpha: float) -> str:
    """``#RRGGBB`` as an rgba() string with the given opacity (0 to 1)."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{alpha:g})"


def resolved(tree: Any, name: str) -> Any:
    """A specification whose colours of :data:`TOKENS` are those of a theme; the rest is shared."""
    if isinstance(tree, dict):
        known = TOKENS[name]
        return {
            key: known.get(value[1:], value)
            if isinstance(value, str) and value.startswith("@") and key.endswith("color")
            else resolved(value, name)
            for key, value in tree.items()
        }
    return [resolved(value, name) for value in tree] if isinstance(tree, list) else tree
