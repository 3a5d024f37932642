"""The fixes of a report: those that do not help left out, the others with their outcome."""

from __future__ import annotations

import time
from typing import Any

from workbench.analysis.fixes.trial import can_be_tried, is_useless, tried
from workbench.analysis.report.loop import Loop
from workbench.analysis.text import count


def fixes_that_help(session: Any, loop: Loop, until: float) -> list[str]:
    """The fixes of a loop's termination, without those with which the loop still never ends.

    A fix that was tried says after how many iterations the loop then ends. Nothing is tried of a trace, of a session
    that runs, of a large graph, or after ``until`` (``time.monotonic()``).
    """
    t = loop.termination
    if not can_be_tried(session, t):
        return [str(fix) for fix in t.fix]
    told = []
    for fix in t.fix:
        outcome = tried(session, t, fix) if time.monotonic() <= until else None
        if is_useless(outcome):
            continue
        known = outcome is not None and outcome.works and outcome.after.remaining is not None
        left = count(outcome.after.remaining or 0, "iteration") if known and outcome is not None else ""
        told.append(f"{fix} Tried: it then ends after {left}." if known else str(fix))
    return told
