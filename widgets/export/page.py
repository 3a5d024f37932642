"""All views of a panel in one HTML file that needs no network, with a time slider that moves them.

Each view is drawn from a specification; the file holds that of the newest state and, for each of some moments, only the
differences from it. The data is JSON in which no tag can end the script, and the page may load nothing from anywhere.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from plotly.io.json import to_json_plotly
from plotly.offline import get_plotlyjs

from workbench.errors import WorkbenchError
from workbench.files import write_text
from workbench.widgets.base import theme
from workbench.widgets.base.esm import joined
from workbench.widgets.base.spec import Spec, changes, flatten

#: bytes of data in a page, beside plotly.js
MAX_BYTES = 24 << 20
_POLICY = "default-src 'none'; script-src 'unsafe-inline' blob:; style-src 'unsafe-inline'; img-src data: blob:"


@dataclass
class Picture:
    """One view: its title, the figure of the newest state, and what differs at each moment."""

    title: str
    spec: Spec
    moments: list[Mapping[str, Any]] = field(default_factory=list)

    def add(self, spec: Spec | None) -> None:
        """Add the figure at the next moment; None: as in the newest state."""
        if spec is None or len(spec["data"]) != len(self.spec["data"]):
            self.moments.append({} if spec is None else {"all": spec})
            return
        traces = {
            str(k): found
            for k, (old, new) in enumerate(zip(self.spec["data"], spec["data"], strict=True))
            if (found := changes(flatten(old), flatten(new)))
        }
        layout = changes(flatten(self.spec["layout"]), flatten(spec["layout"]))
        self.moments.append({"traces": traces, "layout": layout})


def write_page(
    path: str | Path,
    name: str,
    status: str,
    pictures: Sequence[Picture],
    moments: Sequence[str] = (),
    theme_name: str = "light",
    note: str = "",
    edits: Sequence[str] = (),
) -> Path:
    """Write the pictures one below the other, each under its title; ``moments`` are the slider's places in words.

    ``theme_name`` is "light", "dark" or "auto", which follows the browser. ``note`` is the user's text, and ``edits``
    are sentences on values that were set by hand; both are shown above the pictures.
    """
    if theme_name not in (*theme.THEMES, "auto"):
        raise WorkbenchError(f"Unknown theme {theme_name!r}.", slug="no-theme", fix='use "light", "dark" or "auto".')
    target = Path(path)
    data = to_json_plotly(
        {
            "moments": list(moments),
            "told": {"note": note.split("\n") if note.strip() else [], "edits": list(edits)},
            "themes": theme.THEMES,
            "tokens": theme.TOKENS,
            "pages": theme.PAGE,
            "theme": theme_name,
            "config": {**theme.CONFIG, "responsive": True},
            "pictures": [{"title": p.title, "spec": p.spec, "moments": p.moments} for p in pictures],
        }
    )
    if any(mark in data for mark in ("<", ">")):  # whichever JSON engine plotly has taken
        data = data.replace("<", "\\u003c").replace(">", "\\u003e")
    write_text(
        target,
        "\n".join(
            [
                "<!DOCTYPE html><html lang='en'><head><meta charset='utf-8'>",
                f'<meta http-equiv="Content-Security-Policy" content="{escape(_POLICY, quote=True)}">',
                "<meta name='viewport' content='width=device-width,initial-scale=1'>",
                f"<title>{escape(name[:200])}</title>",
                f"<style>{joined('export/page.css')}</style></head><body>",
                f"<h1>{escape(name[:2000])}</h1><p>{escape(status[:4000])}</p>",
                "<noscript>The figures need JavaScript. This page loads nothing from the network.</noscript>",
                "<main></main>",
                f"<script>{get_plotlyjs()}</script>",
                f"<script type='application/json' id='workbench-data'>{data}</script>",
                f"<script>{joined('base/dom.js', 'base/figure/tokens.js', 'export/page.js')}</script>",
                "</body></html>",
            ]
        ),
    )
    return target


def size_of(pictures: Sequence[Picture]) -> int:
    """Bytes of the newest moment of all pictures, nearly."""
    return sum(len(to_json_plotly(p.moments[-1])) if p.moments else len(json.dumps(p.title)) for p in pictures)
