"""Several figures in one HTML file that needs no network."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

import plotly.graph_objects as go

from workbench.widgets import theme


def write_page(
    path: str | Path, name: str, status: str, figures: Sequence[tuple[str, go.Figure]], theme_name: str = "light"
) -> Path:
    """Write the figures one below the other, each under its title; plotly.js is in the file once."""
    target = Path(path)
    colours = theme.THEMES[theme_name]["layout"]["font"]
    parts = [
        "<!DOCTYPE html><html lang='en'><head><meta charset='utf-8'>",
        f"<title>{escape(name)}</title>",
        f"<style>body{{background:{theme.PAGE[theme_name]};color:{colours['color']};font-family:{colours['family']};"
        "max-width:1000px;margin:1em auto;padding:0 1em}h2{font-size:1.1em;margin:1.2em 0 0}</style></head><body>",
        f"<h1>{escape(name)}</h1><p>{escape(status)}</p>",
    ]
    for index, (title, figure) in enumerate(figures):
        body = figure.to_html(full_html=False, include_plotlyjs=index == 0, config=dict(theme.CONFIG))
        parts.append(f"<h2>{escape(title)}</h2>{body}")
    parts.append("</body></html>")
    target.write_text("\n".join(parts), encoding="utf-8")
    return target
