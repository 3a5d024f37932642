"""Proposed fixes, tried before they are told: each in a copy of the session, whose loop must then end."""

from __future__ import annotations

import time
from typing import Any

from workbench.analysis.fix import Fix
from workbench.analysis.report.loop import Loop
from workbench.analysis.text import count
from workbench.errors import WorkbenchError

#: nodes of a graph that is edited and planned again for a trial
MOST_NODES = 2_000
#: seconds that one look-ahead of a trial may take
SECONDS = 0.1


def fixes_that_help(session: Any, loop: Loop, until: float) -> list[str]:
    """The fixes of a loop's termination, without those with which the loop still never ends.

    What was tried says after how many iterations the loop then ends. Nothing is tried of a trace, of a session that
    runs, of a large graph, or after ``until`` (``time.monotonic()``).
    """
    t = loop.termination
    quiet = session is not None and session.state not in ("running", "closed")
    if not quiet or t.outcome != "never" or len(session.graph.nodes) > MOST_NODES:
        return [str(fix) for fix in t.fix]
    told = []
    for fix in t.fix:
        if not isinstance(fix, Fix) or not fix.applies or time.monotonic() > until:
            told.append(str(fix))
            continue
        try:
            outcome = session.try_fix(t, fix, SECONDS)
        except WorkbenchError:  # it could not be tried, which says nothing about its use
            told.append(str(fix))
            continue
        after = outcome.after
        if after.outcome == "never" or fix.kind != "stop-at-nan" and "nan" in (after.blocking_clause or ""):
            continue  # what ends as soon as a number has gone bad is not mended
        known = outcome.works and after.remaining is not None
        left = f" Tried: it then ends after {count(after.remaining or 0, 'iteration')}." if known else ""
        told.append(f"{fix}{left}")
    return told
