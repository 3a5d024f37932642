"""The part that shows one watched loop, and the check of what a view of such loops is given."""

from __future__ import annotations

from typing import Any

from workbench.errors import WatchError
from workbench.widgets.base.esm import joined, script
from workbench.widgets.base.json_widget import ActPart
from workbench.widgets.base.standing_style import STYLE
from workbench.widgets.text.numerals import spaced


class RunPart(ActPart):
    """One watched loop: its state, its outlook, a strip for each variable and a button that asks it to stop."""

    _script = script("base/figure/numerals.js", "watch/watch_strip.js", "watch/watch_view.js")
    _css = joined("base/style/flow.css", "base/style/cards.css", "watch/watch.css") + STYLE

    def offer(self, status: dict[str, Any]) -> None:
        """Show a status, if it is another one, with the numerals of a screen. Right on any thread."""
        super().offer(on_screen(status))


def on_screen(status: dict[str, Any]) -> dict[str, Any]:
    """The words of an outlook, which a terminal shows in plain characters, with the numerals of a screen."""
    told: dict[str, Any] = {key: spaced(status[key]) for key in ("sentence", "bad", "rate") if status.get(key)}
    told |= {key: [spaced(words) for words in status[key]] for key in ("found", "gap") if status.get(key)}
    rows = [
        row | {key: spaced(row[key]) for key in ("value", "label", "limit") if row.get(key)}
        for row in status.get("variables", ())
    ]
    return {**status, **told, "variables": rows}


def check_source(view: str, source: object, kind: type, told: str, fix: str) -> None:
    """WatchError (``no-view-source``) where a view is given anything but ``kind``."""
    if not isinstance(source, kind):
        message = f"{view}: expected {told}, got {type(source).__name__}."
        raise WatchError(message, slug="no-view-source", fix=fix)
