"""The message in place of a view that could not be drawn, with a button; the details are folded."""

from __future__ import annotations

from collections.abc import Callable

import ipywidgets

from workbench.widgets.base.spec import text
from workbench.widgets.live.error_display import error_text

SORRY = "This view could not be drawn."


class Excuse(ipywidgets.VBox):
    """The button "Try again" calls ``again``; ``tell`` replaces the details."""

    def __init__(self, title: str, error: BaseException, again: Callable[[], None]) -> None:
        self._title = title
        self._words = ipywidgets.HTML()
        button = ipywidgets.Button(
            description="Try again", tooltip=f"Draw {title} again", layout={"width": "auto", "margin": "0 8px"}
        )
        button.on_click(lambda _button: again())
        super().__init__([self._words, button])
        self.tell(error)

    @property
    def value(self) -> str:
        """The message as HTML."""
        return str(self._words.value)

    def tell(self, error: BaseException) -> None:
        """Show another error; names in it are escaped."""
        self._words.value = (
            f'<div class="workbench-words" role="alert"><b>{text(self._title)}</b>: {SORRY}'
            "<details><summary>Details</summary>"
            f'<div class="workbench-bad">{text(error_text(error))}</div></details></div>'
        )
