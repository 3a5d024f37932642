"""A piece of HTML inside of a figure view: one dictionary goes to the browser, messages come back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from workbench.widgets.esm import joined, module
from workbench.widgets.part import Part


class HtmlPart(Part):
    """Shows ``status`` by the JavaScript of ``static/<script>``; ``asked(kind, content)`` gets its messages.

    The view that it belongs to offers the status; there is no pump and no acknowledgement of its own. Without ``load``
    anywidget imports the script itself, which is then there as soon as the model is.
    """

    _css = joined("flow.css")

    def __init__(
        self, script: str, status: dict[str, Any], asked: Callable[[str, Mapping[str, Any]], None], load: bool = True
    ) -> None:
        self._asked = asked
        super().__init__(status=status, **{"_script" if load else "_esm": module(script)})

    def asked(self, kind: str, content: Mapping[str, Any]) -> None:
        self._asked(kind, content)
