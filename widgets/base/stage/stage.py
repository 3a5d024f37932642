"""A widget that draws another one and its parts, for front ends that support only widgets of anywidget.

marimo draws those, each in a separate shadow root, but no boxes of ipywidgets. The stage is one such widget; its script
(``stage.js``) makes the boxes itself and lets the front end draw the parts inside, so that a panel is one page with one
set of styles, as in JupyterLab.
"""

from __future__ import annotations

from typing import Any

import ipywidgets
import traitlets

from workbench.widgets.base.addressed import AddressedWidget
from workbench.widgets.base.esm import LOADER, joined, script


class Stage(AddressedWidget):
    """Draws ``widget``, which is not closed with it."""

    _esm = LOADER
    _script = script("base/stage/stage.js")
    _css = joined("base/stage/stage.css")
    _shown = traitlets.Unicode().tag(sync=True)

    def __init__(self, widget: ipywidgets.Widget) -> None:
        super().__init__(_shown=widget.model_id)

    def close(self) -> None:
        """Close the comms. Closing twice is harmless."""
        if self.comm is not None:
            layout = self.layout
            super().close()
            layout.close()


class Staged:
    """Base of boxes that marimo can show by a stage, which is closed with the box."""

    _stage: Stage | None = None

    def _on_stage(self) -> Any:
        """The widget to draw."""
        return self

    def _display_(self) -> Stage:
        """The widget that marimo shows for the box."""
        if self._stage is None or self._stage.comm is None:
            self._stage = Stage(self._on_stage())
        return self._stage

    def close(self) -> None:
        """Close the stage and the box."""
        if self._stage is not None:
            self._stage.close()
        super().close()  # type: ignore[misc]
