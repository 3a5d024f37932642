"""The buttons of the fixes in a termination view: try one, and open, use or discard its copy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from workbench.errors import WorkbenchError

if TYPE_CHECKING:
    from workbench.analysis.fixes.copies import FixCopies
    from workbench.session import Session
    from workbench.widgets.base.figure.figure_view import FigureView as _Part
    from workbench.widgets.live.background import BackgroundTasks
else:
    _Part = object


#: maximum iterations of a copy that runs automatically
MOST_BESIDE = 100_000


class CopyPlace(Protocol):
    """The place where a panel shows copies; it owns the open ones."""

    def open(self, session: Session, words: str) -> Any:
        """Show a copy below the panel; ``words`` describe the change."""

    def use(self, session: Session, words: str) -> Any:
        """Show it in place of the panel."""

    def discard(self, session: Session) -> None:
        """Close it, if it is open."""


class FixActions(_Part):
    """The fixes of a :class:`~workbench.widgets.termination.termination_view.TerminationView`."""

    if TYPE_CHECKING:  # of the view
        _fixes: list[Any]
        _path: tuple[str, ...] | None
        _trials: FixCopies
        _copies: CopyPlace | None
        _threads: BackgroundTasks
        _beside: Callable[[], None] | None
        _begun: set[str]

    def try_fix(self, number: int = 0) -> None:
        """Try a proposed fix in a copy of the session, on a separate thread, and show the result beside it.

        Parameters
        ----------
        number : int, default 0
            Index of the fix.

        Raises
        ------
        WorkbenchError
            If there is no such fix (``no-fix``).
        """
        if self.source.session is None or not 0 <= number < len(self._fixes):
            raise WorkbenchError(
                "This fix is not available.",
                slug="no-fix",
                fix="open the view on a session, and choose a fix that it shows.",
            )
        self._trials.begin(self.source.session, self._fixes[number], self._path)
        did = getattr(self.selection, "did", None)
        if callable(did):
            did(f"fork = session.apply_fix({number}, frame={self._path!r})")
        self.update_now()

    def on_copy(self, copies: CopyPlace) -> None:
        """Let ``copies`` open and discard the copies in which fixes were tried."""
        self._copies = copies

    def on_tried(self, callback: Callable[[], None]) -> None:
        """Run each copy whose loop ends to its end, to be drawn beside this run; ``callback`` is called when a copy is
        made and when it has run.
        """
        self._beside = callback

    def _run_beside(self, trials: Mapping[str, Mapping[str, Any]]) -> None:
        """Run copies that have not begun, on a separate thread."""
        for sentence, trial in trials.items() if self._beside is not None else ():
            copy = self._trials.copy(sentence)
            if trial["state"] == "works" and copy is not None and copy.state == "ready" and sentence not in self._begun:
                self._begun.add(sentence)
                self._threads.do(partial(self._to_its_end, copy))

    def _to_its_end(self, copy: Session) -> None:
        assert self._beside is not None  # else none is run
        self._beside()
        with suppress(WorkbenchError):  # it was discarded meanwhile
            left = copy.termination(self._path or ()).remaining
            if left is not None and left <= MOST_BESIDE:
                copy.run()
        self._beside()

    def _with_copy(self, what: str, number: int) -> None:
        """Open the copy of a fix, use it in place of this panel, or discard it."""
        sentence = str(self._fixes[number]) if 0 <= number < len(self._fixes) else ""
        copy = self._trials.copy(sentence)
        if copy is None or self._copies is None:
            return
        if what == "discard":
            self._trials.forget(sentence)
            self._copies.discard(copy)
            copy.close()
        else:
            self._trials.hand_over(sentence)
            (self._copies.open if what == "open" else self._copies.use)(copy, sentence)
            if self._trials.state().get(sentence, {}).get("state") == "works" and copy.state == "ready":
                copy.run(wait=False)  # to its end, which is what the user wants to see
            self.selection.did(f"panel = wb.debug(session.apply_fix({number}, frame={self._path!r}))")
        self.update_now()

    def on_fork(self, callback: Callable[[Any], None]) -> None:
        """Call ``callback(session)`` with each copy in which a fix is tried; the copy then belongs to the callee."""
        self._trials.on_fork(callback)

    @property
    def forks(self) -> tuple[Any, ...]:
        """The sessions in which fixes were tried and that have not been handed out."""
        return tuple(self._trials.forks)
