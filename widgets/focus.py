"""What the views of one panel look at together: a node, and a moment of the run.

::

    a click, a slider, a key ──► Focus.select / Focus.look_at ──► every view of the panel draws itself again

A moment is only a parameter of what is shown: looking at the past neither moves the session nor stops a run. To go
there, the session has its own commands (``run_to``).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from workbench.errors import WorkbenchError

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Moment:
    """An iteration of a frame, with the iterations of the frames around it: one number per name in ``frame``.

    It means the iteration as a whole: views show the values that it gave.
    """

    frame: Path
    iteration: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.frame) != len(self.iteration) or any(i < 0 for i in self.iteration):
            raise WorkbenchError(
                f"{self.iteration} is no iteration of the frame {'/'.join(self.frame) or 'at the top'}.",
                slug="bad-moment", fix="give one number from 0 on for each frame of the path.",
            )  # fmt: skip

    def __str__(self) -> str:
        return " \u203a ".join(f"{f} {i}" for f, i in zip(self.frame, self.iteration, strict=True)) or "top level"


#: what stays as it is
KEEP: Any = object()
#: lines of code that are kept of what was done
MAX_LINES = 500


class Focus:
    """The selected node and the moment that is looked at (None: the newest state). Right on any thread."""

    def __init__(self) -> None:
        self.node: str | None = None
        self.moment: Moment | None = None
        self._lock = threading.Lock()
        self._listeners: list[Callable[[Focus], None]] = []
        self._readers: list[Callable[[], None]] = []
        self._lines: list[tuple[str, str]] = []

    def select(self, node: str | None) -> None:
        """Select a node (or a public value name) in all views."""
        self._set(node, KEEP)

    def look_at(self, moment: Moment | None, node: Any = KEEP) -> None:
        """Show this moment in all views, None for the newest state; with ``node`` select that, too."""
        self._set(node, moment)

    def did(self, line: str, about: str = "") -> None:
        """Note a line of Python that does what the user has just done by hand, for "copy as code".

        A line with the same ``about`` as the one before replaces it: only the last place of a slider matters.
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
        """What was done by hand, oldest first, as lines of Python."""
        with self._lock:
            return tuple(line for _, line in self._lines)

    def forget_lines(self) -> None:
        """Begin the list of what was done anew."""
        with self._lock:
            self._lines.clear()
            readers = list(self._readers)
        for reader in readers:
            reader()

    def on_did(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call ``callback()`` after each line; it must not block. Returns the function that ends it."""
        with self._lock:
            self._readers.append(callback)
        return lambda: self._readers.remove(callback) if callback in self._readers else None

    def subscribe(self, callback: Callable[[Focus], None]) -> Callable[[], None]:
        """Call ``callback(focus)`` after each change; it must not block. Returns the function that ends it."""
        with self._lock:
            self._listeners.append(callback)
        return lambda: self._forget(callback)

    def _forget(self, callback: Callable[[Focus], None]) -> None:
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

    def __repr__(self) -> str:
        return f"Focus({self.node!r}, {'newest' if self.moment is None else str(self.moment)!r})"
