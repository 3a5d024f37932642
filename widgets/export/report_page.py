"""The page of an analysis: its report with live plots, in one file that works offline, light and dark."""

from __future__ import annotations

import json
from html import escape
from typing import Any

from workbench.analysis.report.html import STYLE, body
from workbench.errors import WorkbenchError
from workbench.widgets.base import theme
from workbench.widgets.base.spec import plain_figure
from workbench.widgets.evolution.convergence_model import convergence_model
from workbench.widgets.evolution.convergence_spec import convergence_spec

#: puts the figures into the browser's light or dark colours, and follows when they change
_SCRIPT = """<script>
(() => {
  const themes = %s, choice = "%s", query = matchMedia("(prefers-color-scheme: dark)");
  const draw = () => {
    const name = choice === "auto" ? (query.matches ? "dark" : "light") : choice;
    document.querySelectorAll(".plotly-graph-div").forEach(
      (g) => Plotly.relayout(g, {template: themes[name], paper_bgcolor: "rgba(0,0,0,0)"}));
  };
  query.addEventListener("change", draw);
  draw();
})();
</script>"""


def report_page(analysis: Any, theme_name: str = "auto") -> str:
    """The page as HTML text; ``theme_name`` is "light", "dark" or "auto", which asks the browser."""
    if theme_name not in (*theme.THEMES, "auto"):
        raise WorkbenchError(f"Unknown theme {theme_name!r}.", slug="no-theme", fix='use "light", "dark" or "auto".')
    plots = 0

    def draw(variable: Any) -> str:
        nonlocal plots
        if len(variable.picture[0]) < 2:
            return ""
        model = convergence_model(variable)
        figure = plain_figure(convergence_spec(model), "dark" if theme_name == "dark" else "light")
        html = figure.to_html(
            full_html=False,
            include_plotlyjs=plots == 0,
            div_id=f"wb-plot-{plots}",
            config={**theme.CONFIG, "responsive": True},
        )
        plots += 1
        return (
            f'<figure role="group" aria-label="{escape(model["sentence"], quote=True)}">{html}'
            f"<figcaption>{escape(model['sentence'])}{_table(model)}</figcaption></figure>"
        )

    inner = body(analysis, draw)
    light, dark = theme.PAGE["light"], theme.PAGE["dark"]
    page = light if theme_name != "dark" else dark
    follow = f"@media(prefers-color-scheme:dark){{body{{background:{dark}}}}}" if theme_name == "auto" else ""
    return "\n".join(
        [
            f"<!DOCTYPE html><html lang='en' class='wb-{theme_name}'><head><meta charset='utf-8'>",
            "<meta name='viewport' content='width=device-width,initial-scale=1'>",
            f"<title>Analysis of {escape(analysis.graph[:200])}</title>",
            f"<style>body{{background:{page};margin:1em auto;max-width:1000px;padding:0 1em}}{follow}"
            f"figure{{margin:.3em 0}}figcaption{{font-size:13px}}{STYLE}</style></head><body>",
            inner,
            _SCRIPT % (json.dumps(theme.THEMES), theme_name) if plots else "",
            "</body></html>",
        ]
    )


def _table(model: dict[str, Any]) -> str:
    """The plot as numbers, folded up; a keyboard can open it."""
    what = "distance to the limit" if model["log"] else "value"
    head = "".join(f"<th>{h}</th>" for h in ("iteration", what, "90 % from", "to"))
    rows = "".join("<tr>" + "".join(f"<td>{escape(c)}</td>" for c in row) + "</tr>" for row in model["rows"])
    return f"<details><summary>The plot as numbers</summary><table><tr>{head}</tr>{rows}</table></details>"
