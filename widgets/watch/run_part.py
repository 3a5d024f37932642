"""The part that shows one watched loop, and the check of the source of a view."""

from __future__ import annotations

import threading
from typing import Any

import ipywidgets

from workbench.errors import WatchError
from workbench.recorder.remote.message import OPEN
from workbench.widgets.base.esm import joined, script
from workbench.widgets.base.figure.figure_diff import FigureDiff
from workbench.widgets.base.figure.figure_view import close_parts
from workbench.widgets.base.figure.live_figure import LiveFigure
from workbench.widgets.base.json_widget import Act, ActPart
from workbench.widgets.base.stage.stage import Staged
from workbench.widgets.base.standing_style import STYLE
from workbench.widgets.text.numerals import numeral, spaced
from workbench.widgets.watch.run_strips import run_strips

#: entries of a status that are sentences or parts of them; ``residual >= 1e-10`` in them is written as in a panel
WORDS = ("sentence", "bad", "rate", "headline", "why", "reached")
SIGNS = {">=": "\u2265", "<=": "\u2264", "!=": "\u2260"}


class RunCards(ActPart):
    """The state of a watched loop, its first bad value, its expected end, and a button that stops it."""

    _script = script("base/figure/numerals.js", "watch/watch_view.js")
    _css = joined("base/style/flow.css", "base/style/cards.css", "watch/watch.css") + STYLE


class RunPart(Staged, ipywidgets.VBox):
    """One watched loop: its cards, and below them a strip for each variable.

    ``act(name, value)`` is called when a control is used; ``status`` is the newest report
    (:func:`workbench.recorder.outlook.plain`).
    """

    def __init__(self, act: Act, **status: Any) -> None:
        self._lock = threading.RLock()
        self.status: dict[str, Any] = on_screen(status)
        self.cards = RunCards(act, **on_cards(self.status))
        spec = run_strips(self.status)
        self._in_browser = FigureDiff(spec)
        self._late = False  # strips wait until the browser has drawn the previous ones
        self.live = LiveFigure(spec, on_view=self._drawn)
        self.live.on_msg(self._answered)
        parts = self._parts()
        self._bare = len(parts) < 2
        super().__init__(parts)
        self.add_class("workbench-watch")

    def offer(self, status: dict[str, Any]) -> None:
        """Show a status, if it is new, with the numerals of a screen. May be called on any thread."""
        with self._lock:
            shown = on_screen(status)
            if self.comm is None or shown == self.status:
                return
            self.status = shown
            self.cards.offer(on_cards(shown))
            self._late = self.live.holding
            if not self._late or shown.get("state") not in OPEN:
                self._draw()

    def amend(self, **changes: Any) -> None:
        """Show the status with ``changes``. May be called on any thread: a status that another thread offers meanwhile
        is not lost.
        """
        with self._lock:
            self.offer({**self.status, **changes})

    def _answered(self, *_: Any) -> None:
        with self._lock:
            if self._late and self.comm is not None and not self.live.holding:
                self._draw()

    def _draw(self) -> None:
        self._late = False
        spec = run_strips(self.status)
        traces, layout = self._in_browser.news(spec)
        if traces is None:
            self.live.replace(spec)
        elif traces or layout:
            self.live.push(traces, layout)
        if self._bare and (parts := self._parts())[1:]:
            self._bare, self.children = False, parts

    def _drawn(self, fresh: bool) -> None:
        """Handle that a browser has drawn the strips, or shows them again and may have missed updates."""
        with self._lock:
            if self.comm is not None:
                self._in_browser.forget(fresh)
                self._draw()

    def _parts(self) -> tuple[ipywidgets.Widget, ...]:
        """The cards, and the strips if there are any."""
        drawn = any(row["x"] for row in self.status.get("variables", ()))
        return (self.cards, self.live) if drawn else (self.cards,)

    def close(self) -> None:
        """Close the comms. Closing twice is harmless."""
        if hasattr(self, "live"):  # missing if the constructor failed
            self.live.close()
        close_parts(self)
        super().close()


def on_screen(status: dict[str, Any]) -> dict[str, Any]:
    """The texts of an outlook, plain on terminals, with the numerals of a screen."""
    shown: dict[str, Any] = {key: _prose(status[key]) for key in WORDS if status.get(key)}
    shown |= {key: [_prose(words) for words in status[key]] for key in ("found", "gap") if status.get(key)}
    rows = [
        row | {key: spaced(row[key]) for key in ("label", "limit") if row.get(key)} | {"value": _numeral(row["value"])}
        for row in status.get("variables", ())
    ]
    return {**status, **shown, "variables": rows}


def _prose(words: str) -> str:
    for plain, sign in SIGNS.items():
        words = words.replace(f" {plain} ", f" {sign} ")
    return spaced(words)


def _numeral(digits: str | None) -> str | None:
    """The text of a number, which a worker may have sent, in the format of screens."""
    try:
        return None if digits is None else numeral(float(digits))
    except ValueError:
        return digits


def on_cards(status: dict[str, Any]) -> dict[str, Any]:
    """A status for the cards, which need only the names of the variables."""
    return {**status, "variables": [row["name"] for row in status["variables"]]}


def check_source(view: str, source: object, kind: type, expected: str, fix: str) -> None:
    """Raise WatchError (``no-view-source``) if the source of a view is not a ``kind``."""
    if not isinstance(source, kind):
        message = f"{view}: expected {expected}, got {type(source).__name__}."
        raise WatchError(message, slug="no-view-source", fix=fix)
