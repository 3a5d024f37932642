"""Export of views from Python: a plain figure, and one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import plotly.graph_objects as go

from workbench.errors import WorkbenchError
from workbench.widgets.base import theme


class Face:
    """A subclass gives ``in_theme``."""

    source: Any

    def in_theme(self, name: str) -> go.Figure:
        """The present state as an ordinary plotly figure in a theme that there is."""
        raise NotImplementedError

    @property
    def figure(self) -> go.Figure:
        """The present state as an ordinary plotly figure; lists become a table."""
        return self.figure_in("light")

    def figure_in(self, name: str) -> go.Figure:
        """The present state as an ordinary plotly figure in the ``"light"`` or ``"dark"`` theme."""
        if name not in theme.THEMES:
            raise WorkbenchError(f"Unknown theme {name!r}.", slug="no-theme", fix='use "light" or "dark".')
        return self.in_theme(name)

    def to_html(self, path: str | Path, theme_name: str = "light") -> Path:
        """Write one self-contained file that works offline (about 5 MB, most of it plotly.js); returns its path."""
        target = Path(path)
        figure = self.figure_in(theme_name)
        figure.write_html(target, include_plotlyjs=True, full_html=True, config=dict(theme.CONFIG))
        return target

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.source.graph.name!r}>"
