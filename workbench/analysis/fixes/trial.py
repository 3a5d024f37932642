"""Proposed fixes, tried before they are shown: each in a copy of the session, whose loop must then end."""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable
from typing import Any

from workbench.analysis.fixes.fix import Fix
from workbench.analysis.fixes.outcome import FixOutcome
from workbench.analysis.text import count
from workbench.analysis.verdict import Termination
from workbench.errors import WorkbenchError

#: maximum number of nodes of a graph that is edited and planned again for a trial
MOST_NODES = 2_000
#: maximum seconds of a reference core for one look-ahead of a trial, and maximum number of fixes tried per answer
SECONDS, MOST_FIXES = 0.1, 4


def can_be_tried(session: Any, answer: Termination) -> bool:
    """True if fixes of the answer can be tried: for an endless loop, in a paused session."""
    quiet = session is not None and session.state not in ("running", "closed")
    return quiet and answer.outcome == "never" and len(session.graph.nodes) <= MOST_NODES


def tried(session: Any, answer: Termination, fix: str) -> FixOutcome | None:
    """The outcome of a fix in a temporary copy; None if it could not be tried."""
    if not isinstance(fix, Fix) or not fix.applies:
        return None
    try:
        outcome: FixOutcome = session.try_fix(answer, fix, SECONDS)
    except WorkbenchError:
        return None
    return outcome


def is_useless(outcome: FixOutcome | None) -> bool:
    """True if, with the fix, the loop still never ends, ends because of a bad number, or does not begin."""
    if outcome is None:
        return False
    after, kind = outcome.after, outcome.fix.kind
    if after.outcome == "terminates" and after.remaining == 0 and outcome.before.first_bad != 0:
        return True
    return after.outcome == "never" or kind != "stop-at-nan" and "nan" in (after.blocking_clause or "")


def ends_then(outcome: FixOutcome | None) -> str:
    """When the loop ends with a fix that works, such as ``ends after 4 iterations.``; empty if unknown."""
    if outcome is None or not outcome.works or outcome.after.remaining is None:
        return ""
    return f"ends after {count(outcome.after.remaining, 'iteration')}."


def offered(answer: Any, most: int | None = None) -> list[Any]:
    """At most ``most`` fixes of the cause, and last the limit that ends every loop."""
    fuse = getattr(answer, "fuse", None)
    return [*(getattr(answer, "fix", None) or ())[:most], *([fuse] if fuse is not None else [])]


def fixes_that_help(session: Any, answer: Termination, until: float) -> list[str]:
    """The fixes of an answer for a report, without those with which the loop still never ends.

    A tried fix says after how many iterations the loop then ends. No fix is tried for a trace, a running session, a
    large graph, or after ``until`` (``time.monotonic()``).
    """
    if not can_be_tried(session, answer):
        return [str(fix) for fix in answer.fix]
    sentences = []
    for fix in answer.fix:
        outcome = tried(session, answer, fix) if time.monotonic() <= until else None
        if is_useless(outcome):
            continue
        then = ends_then(outcome)
        sentences.append(f"{fix} Tried: it then {then}" if then else str(fix))
    return sentences


class FixTrials:
    """Returns the fixes of a session's answer without those that turn out not to help; they are tried once, on demand.

    The answer holds it, but it does not keep the session alive.  Copies and pickles of an answer return untried fixes.
    """

    def __init__(self, session: Any) -> None:
        self._session: Callable[[], Any] = weakref.ref(session)
        self._helpful: list[str] | None = None

    def __call__(self, answer: Termination) -> list[str]:
        session = self._session()
        if self._helpful is None and can_be_tried(session, answer):
            outcomes = [None if k >= MOST_FIXES else tried(session, answer, fix) for k, fix in enumerate(answer.fix)]
            self._helpful = [fix for fix, outcome in zip(answer.fix, outcomes, strict=True) if not is_useless(outcome)]
        return answer.fix if self._helpful is None else self._helpful

    def __reduce__(self) -> tuple[Callable[[], None], tuple[()]]:
        return _untried, ()


def _untried() -> None:
    return None
