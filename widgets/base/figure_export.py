"""Export of views from Python: a plain figure, one HTML file, and pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import plotly.graph_objects as go

from workbench.errors import WorkbenchError
from workbench.files import write_bytes, write_text
from workbench.libraries import install, needed
from workbench.text import harmless
from workbench.widgets.base import theme

#: file extensions of pictures
PICTURES = ("svg", "png", "jpg", "webp", "pdf")


class Face:
    """A subclass defines ``in_theme``."""

    source: Any

    def in_theme(self, name: str) -> go.Figure:
        """The present state as an ordinary plotly figure in a known theme."""
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
        page = figure.to_html(include_plotlyjs=True, full_html=True, config=dict(theme.CONFIG))
        return write_text(target, page, "The page")

    def to_image(self, path: str | Path, theme_name: str = "light", scale: float = 2.0) -> Path:
        """Write a picture; its format follows the extension of ``path``: ``.svg``, ``.png``, ``.jpg``, ``.webp`` or
        ``.pdf``.

        Parameters
        ----------
        path:
            The file to write.
        theme_name:
            ``"light"`` or ``"dark"``.
        scale:
            Pixels of the file per pixel of the view, for raster pictures.

        Returns
        -------
        Path
            The path of the file.

        Raises
        ------
        WorkbenchError
            ``missing-library`` if kaleido, or Chrome or Chromium, is missing; ``bad-picture`` for another extension.
        """
        target = Path(path)
        kind = target.suffix.lower().lstrip(".")
        if kind not in PICTURES:
            raise WorkbenchError(
                f"A picture cannot be written as {target.name!r}.",
                slug="bad-picture",
                fix=f"end its name in {', '.join('.' + p for p in PICTURES)}.",
            )
        figure = self.figure_in(theme_name)
        needed("kaleido", "Writing a picture", f"{install('images')}; view.to_html(path) needs nothing.")
        try:
            data = figure.to_image(format=kind, scale=scale)
        except Exception as error:
            if "chrome" not in f"{type(error).__name__} {error}".lower():
                raise
            raise WorkbenchError(
                "Writing a picture needs Chrome, which kaleido does not find.",
                slug="missing-library",
                fix="run plotly_get_chrome, or set BROWSER_PATH to Chrome or Chromium.",
            ) from error
        return write_bytes(target, data, "The picture")

    @harmless
    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.source.graph.name!r}>"
