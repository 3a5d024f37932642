"""Shared selection of the views of one panel: a node and an iteration.

::

    a click, a slider, a key ──► Selection.select / Selection.look_at ──► every view of the panel draws itself again

A moment only selects the values shown: looking at the past neither moves the session nor stops a run. The session has
commands that move it (``run_to``).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from workbench.errors import WorkbenchError
from workbench.text import harmless
from workbench.threads import Lock

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Moment:
    """An iteration of a frame, with the iterations of the enclosing frames.

    Views show the values at the end of the iteration.

    Parameters
    ----------
    frame : tuple of str
        Path of the frame.
    iteration : tuple of int
        One iteration per name in ``frame``, counted from 0.

    Attributes
    ----------
    frame : tuple of str
        Path of the frame.
    iteration : tuple of int
        One iteration per name in ``frame``, counted from 0.

    Raises
    ------
    WorkbenchError
        For iterations that do not fit the path (``bad-moment``).

    Examples
    --------
    >>> print(wb.widgets.Moment(("outer", "inner"), (2, 7)))
    outer 2 › inner 7
    """

    frame: Path
    iteration: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.frame) != len(self.iteration) or any(i < 0 for i in self.iteration):
            raise WorkbenchError(
                f"{self.iteration} is not an iteration of the frame {'/'.join(self.frame) or 'at the top'}.",
                slug="bad-moment",
                fix="give one number (0 or more) for each frame of the path.",
            )

    @harmless
    def __str__(self) -> str:
        return " \u203a ".join(f"{f} {i}" for f, i in zip(self.frame, self.iteration, strict=True)) or "top level"


#: marks an unchanged setting
KEEP: Any = object()
#: maximum lines of code kept of the user's actions
MAX_LINES = 500
#: seconds between the last played iteration and the end of playing
PLAYED_S = 0.5


class Selection:
    """The selection that several views share: a node and a moment. It may be used from any thread.

    Looking at a past moment neither moves the session nor stops a run.

    Attributes
    ----------
    node : str or None
        The selected node or value.
    moment : Moment or None
        The moment that all views show; None for the newest state.

    Examples
    --------
    >>> selection = wb.widgets.Selection()
    >>> graph_view = wb.widgets.GraphView(session, selection=selection)
    >>> slider = wb.widgets.TimeSlider(session, selection=selection)
    >>> graph_view.select("x")
    >>> slider.look(2)
    >>> selection
    Selection('x', 'while 2')
    """

    def __init__(self) -> None:
        self.node: str | None = None
        self.moment: Moment | None = None
        self._played = -PLAYED_S
        self._lock = Lock()
        self._listeners: list[Callable[[Selection], None]] = []
        self._readers: list[Callable[[], None]] = []
        self._lines: list[tuple[str, str]] = []

    def select(self, node: str | None) -> None:
        """Select a node or a value in all views; None selects nothing."""
        self._set(node, KEEP)

    def look_at(self, moment: Moment | None, node: Any = KEEP) -> None:
        """Show a moment in all views.

        Parameters
        ----------
        moment : Moment or None
            The moment; None for the newest state.
        node : str, optional
            A node to select as well.
        """
        self._set(node, moment)

    def plays(self) -> None:
        """Note that the next moment is played by a slider: slow views skip moments."""
        self._played = time.monotonic()

    @property
    def playing(self) -> bool:
        """True while a slider plays the iterations one after the other."""
        return time.monotonic() - self._played < PLAYED_S

    def did(self, line: str, about: str = "") -> None:
        """Record a line of Python equivalent to the user's latest action, for "copy as code".

        Parameters
        ----------
        line : str
            The line.
        about : str, default ""
            A topic: a line replaces the previous one if that has the same topic, so that only the last position of a
            slider is kept.
        """
        line = " ".join(str(line).split("\n"))
        with self._lock:
            if about and self._lines and self._lines[-1][0] == about:
                self._lines.pop()
            self._lines.append((about, line))
            del self._lines[:-MAX_LINES]
            readers = list(self._readers)
        for reader in readers:
            reader()

    @property
    def lines(self) -> tuple[str, ...]:
        """The user's actions as lines of Python, oldest first; at most 500."""
        with self._lock:
            return tuple(line for _, line in self._lines)

    def forget_lines(self) -> None:
        """Clear the list of the user's actions."""
        with self._lock:
            self._lines.clear()
            readers = list(self._readers)
        for reader in readers:
            reader()

    def on_did(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call ``callback()`` after each action; it must not block. Returns a function that ends it."""
        with self._lock:
            self._readers.append(callback)
        return lambda: self._readers.remove(callback) if callback in self._readers else None

    def subscribe(self, callback: Callable[[Selection], None]) -> Callable[[], None]:
        """Call ``callback(selection)`` after each change; it must not block. Returns a function that ends it."""
        with self._lock:
            self._listeners.append(callback)
        return lambda: self._forget(callback)

    def _forget(self, callback: Callable[[Selection], None]) -> None:
        with self._lock:
            if callback in self._listeners:
                self._listeners.remove(callback)

    def _set(self, node: Any, moment: Any) -> None:
        with self._lock:
            new = (self.node if node is KEEP else node, self.moment if moment is KEEP else moment)
            if new == (self.node, self.moment):
                return
            self.node, self.moment = new
            listeners = list(self._listeners)
        for listener in listeners:
            listener(self)

    @harmless
    def __repr__(self) -> str:
        return f"Selection({self.node!r}, {'newest' if self.moment is None else str(self.moment)!r})"
