"""Trials of fixes on request, each in a copy of the session, which is then opened, used or discarded."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from workbench.analysis.fixes.aside import FixesAside
from workbench.threads import Lock


class FixCopies:
    """``changed`` is called, on any thread, after each change; ``do`` runs a function on a separate thread.

    Outcomes of trials are kept by the fix's sentence.
    """

    def __init__(self, changed: Callable[[], None], do: Callable[[Callable[[], None]], None]) -> None:
        self._changed, self._do = changed, do
        self._lock = Lock()
        self._state: dict[str, dict[str, Any]] = {}
        self._listeners: list[Callable[[Any], None]] = []
        self._closed = False
        #: copies without an owner; they are closed with the view
        self.forks: list[Any] = []
        self._copies: dict[str, Any] = {}
        #: outcomes of fixes that were tried in advance
        self.aside = FixesAside(changed, do)

    def state(self) -> dict[str, dict[str, Any]]:
        """Sentence of a fix -> ``state`` ("trying", "works", "fails"), ``text``, and ``copy``: its copy exists."""
        with self._lock:
            return {k: {**v, "copy": self._there(k)} for k, v in self._state.items()}

    def _there(self, sentence: str) -> bool:
        copy = self._copies.get(sentence)
        return copy is not None and copy.state != "closed"

    def copy(self, sentence: str) -> Any:
        """The copy in which a fix was tried; None if it was discarded or does not exist yet."""
        with self._lock:
            return self._copies[sentence] if self._there(sentence) else None

    def forget(self, sentence: str) -> Any:
        """Release a copy and return it; the caller closes or keeps it. Its outcome stays."""
        with self._lock:
            copy = self._copies.pop(sentence, None)
            self.forks = [fork for fork in self.forks if fork is not copy]
        return copy

    def hand_over(self, sentence: str) -> Any:
        """Give a copy to an owner who closes it; it can still be found by its fix."""
        with self._lock:
            copy = self._copies.get(sentence)
            self.forks = [fork for fork in self.forks if fork is not copy]
        return copy

    def on_fork(self, callback: Callable[[Any], None]) -> None:
        self._listeners.append(callback)

    def begin(self, session: Any, fix: Any, path: tuple[str, ...] | None) -> None:
        """Try a fix of the loop ``path``, unless it is being tried already."""
        sentence = str(fix)
        with self._lock:
            if self._closed or self._state.get(sentence, {}).get("state") == "trying":
                return
            self._state[sentence] = {"state": "trying", "text": ""}
        self._do(partial(self._try, session, fix, path))

    def _try(self, session: Any, fix: Any, path: tuple[str, ...] | None) -> None:
        fork = None
        try:
            fork = session.apply_fix(fix, frame=path)
            fixed = session.fixed
            assert fixed is not None  # apply_fix has set it
            sign = "\u2713" if fixed.works else "\u2717"
            state = {"state": "works" if fixed.works else "fails", "text": f"{sign} {fixed}"}
        except Exception as error:  # any error is reported next to the button
            state = {"state": "fails", "text": f"\u2717 {getattr(error, 'message', error)}"}
        with self._lock:
            self._state[str(fix)] = state
            closed = self._closed
            if fork is not None and not closed and not self._listeners:
                self.forks.append(fork)
                self._copies[str(fix)] = fork
        if closed:
            if fork is not None:
                fork.close()
            return
        if fork is not None:
            for listener in list(self._listeners):
                listener(fork)
        self._changed()

    def close(self) -> None:
        """Close the remaining copies, and start no further trials."""
        with self._lock:
            self._closed = True
            forks, self.forks = self.forks, []
            self._copies.clear()
        for fork in forks:
            fork.close()
        self.aside.stop()


__all__ = ["FixCopies"]
