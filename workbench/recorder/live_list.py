"""The open sessions and the watches of this process as JSON, for the list that JupyterLab shows of all kernels.

The front end evaluates one fixed expression that imports nothing: it looks this module up among the loaded ones. It may
do so on a thread other than the kernel's main one, and repeatedly, so an answer must be cheap.
"""

from __future__ import annotations

import contextlib
import weakref
from typing import Any

from workbench.analysis.verdict import after
from workbench.errors import WorkbenchError
from workbench.recorder.registry import live
from workbench.session import Session, live_sessions

#: maximum number of listed runs, and of characters of a name or verdict
MOST, LONGEST = 50, 200
#: session -> the version that its verdict describes, and the verdict
_VERDICTS: weakref.WeakKeyDictionary[Session, tuple[int, str]] = weakref.WeakKeyDictionary()


class LiveList:
    """Runs of this process as JSON: ``kind``, ``number``, ``name``, ``state``, ``iteration`` and ``verdict`` of each.

    Examples
    --------
    >>> import workbench.recorder
    >>> entry = workbench.recorder.live_list.live_list().runs[-1]
    >>> sorted(entry)
    ['iteration', 'kind', 'name', 'number', 'state', 'verdict']
    """

    def __init__(self, runs: list[dict[str, Any]]) -> None:
        self.runs = runs

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        return {"application/json": {"runs": self.runs}, "text/plain": f"{len(self.runs)} runs"}


def live_list() -> LiveList:
    """List the open sessions and the watches of this process, the newest first."""
    entries = [_session(number, session) for number, session in live_sessions.sessions().items()]
    entries += [{"kind": "watch", **entry} for entry in live()]
    for entry in entries:
        entry["name"], entry["verdict"] = str(entry["name"])[:LONGEST], str(entry["verdict"] or "")[:LONGEST]
    return LiveList(entries[::-1][:MOST])


def _session(number: int, session: Session) -> dict[str, Any]:
    snapshot = session.snapshot()
    counts = [count for path, count in sorted(snapshot.iterations.items(), key=lambda at: len(at[0])) if count >= 0]
    return {
        "kind": "session",
        "number": number,
        "name": session.graph.name,
        "state": snapshot.state,
        "iteration": counts[0] if counts else None,
        "verdict": _verdict(session, snapshot.state, snapshot.version),
    }


def _verdict(session: Session, state: str, version: int) -> str:
    """The first line of the verdict at the last stop; while a session runs, that of the stop before."""
    known = _VERDICTS.get(session, (-1, ""))
    if state != "running" and known[0] != version:
        known = (version, "")
        with contextlib.suppress(WorkbenchError):  # a graph without loops, or closed in between
            answer = session.termination(seconds=0.02)
            known = (version, _first_line(answer))
        _VERDICTS[session] = known
    return known[1]


def _first_line(answer: Any) -> str:
    status, outcome, remaining = answer.status.name, answer.outcome, answer.remaining
    if outcome is None:
        return ""
    if outcome == "never":
        return f"{status}: the loop never ends"
    if answer.over:
        return str(answer.end.headline)
    return f"{status}: the loop ends" + ("" if remaining is None else f" {after(remaining)}")
