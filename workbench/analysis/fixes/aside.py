"""Tries fixes in the background, in advance, so that those that do not help are no longer shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workbench.analysis.fixes.trial import MOST_FIXES, can_be_tried, ends_then, is_useless, offered, tried
from workbench.threads import Lock

#: bytes above which inputs are identified by object, not by value; and maximum number of kept outcomes
SMALL, MAX_OUTCOMES = 4096, 64


class FixesAside:
    """Background trials: ``changed`` is called when a fix has been tried, ``do`` runs a function on another thread."""

    def __init__(self, changed: Callable[[], None], do: Callable[[Callable[[], None]], None]) -> None:
        self._changed, self._do = changed, do
        self._lock = Lock()
        self._outcomes: dict[Any, dict[str, Any]] = {}  # (inputs, loop, sentence) -> its outcome
        self._wanted: list[tuple[Any, Any, Any]] = []  # (key, answer, fix), of the newest answer only
        self._mark: Any = None
        self._busy = False

    def ask(self, session: Any, answer: Any, path: tuple[str, ...] | None) -> None:
        """Start trying the fixes of the newest answer; waiting fixes of earlier answers are dropped."""
        if answer is None or session is None or not can_be_tried(session, answer):
            return
        inputs = tuple((k, v.tobytes() if v.nbytes <= SMALL else id(v)) for k, v in session.inputs.items())
        with self._lock:
            self._mark = (inputs, path)
            new = [((inputs, path, str(fix)), answer, fix) for fix in offered(answer, MOST_FIXES)]
            self._wanted = [w for w in new if w[0] not in self._outcomes and getattr(w[2], "applies", False)]
            begin, self._busy = bool(self._wanted) and not self._busy, self._busy or bool(self._wanted)
        if begin:
            self._do(lambda: self._work(session))

    def of(self, sentence: str) -> dict[str, Any]:
        """``state`` ("", "useless" or "helps") and ``text`` of a fix of the newest answer."""
        with self._lock:
            key = (*self._mark, sentence) if self._mark is not None else None
            return self._outcomes.get(key, {})

    def _work(self, session: Any) -> None:
        while True:
            with self._lock:
                if not self._wanted:
                    self._busy = False
                    return
                key, answer, fix = self._wanted.pop(0)
            outcome_words = {"state": "", "text": ""}
            try:
                if can_be_tried(session, answer):
                    outcome = tried(session, answer, fix)
                    if is_useless(outcome):
                        outcome_words = {"state": "useless", "text": ""}
                    elif then := ends_then(outcome):
                        outcome_words = {"state": "helps", "text": f"Tried in a copy: the loop then {then}"}
            except Exception:  # the session was closed in the meantime or cannot be copied: no outcome
                outcome_words = {"state": "", "text": ""}
            with self._lock:
                if len(self._outcomes) >= MAX_OUTCOMES:
                    self._outcomes.pop(next(iter(self._outcomes)))
                self._outcomes[key] = outcome_words
            if outcome_words["state"]:
                self._changed()

    def stop(self) -> None:
        """Start no further trials."""
        with self._lock:
            self._wanted = []


__all__ = ["FixesAside"]
