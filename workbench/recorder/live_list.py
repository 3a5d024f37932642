"""The open sessions and the watches of this process as JSON, for the list that JupyterLab shows of all kernels.

The front end evaluates one fixed expression that imports nothing: it looks this module up among the loaded ones. It may
do so on a thread other than the kernel's main one, and repeatedly, so an answer must be cheap.
"""

from __future__ import annotations

import contextlib
import weakref
from typing import Any, NamedTuple

from workbench.analysis.verdict import after
from workbench.errors import WorkbenchError
from workbench.recorder.registry import live
from workbench.session import Session, live_sessions

#: maximum number of listed runs, and of characters of a name or verdict
MOST, LONGEST = 50, 200


class _Verdict(NamedTuple):
    """The verdict on a session at a stop: with the count from there (``sentence``), and what holds while it runs."""

    version: int = -1
    run: tuple[Any, ...] = ()  # its edits and inputs
    sentence: str = ""
    onward: str = ""


#: session -> its latest verdict
_VERDICTS: weakref.WeakKeyDictionary[Session, _Verdict] = weakref.WeakKeyDictionary()


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
    """The first line of the answer at a stop; while the session runs, what still holds of that of the stop before.

    Nothing is known of a run with another input or edit until it stops.
    """
    known = _VERDICTS.get(session, _Verdict())
    if state == "running":
        return known.onward if _same(known.run, _run_of(session)) else ""
    if known.version != version:
        sentence = onward = ""
        with contextlib.suppress(WorkbenchError):  # a graph without loops, or closed in between
            sentence, onward = _first_lines(session.termination(seconds=0.02))
        _VERDICTS[session] = known = _Verdict(version, _run_of(session), sentence, onward)
    return known.sentence


def _run_of(session: Session) -> tuple[Any, ...]:
    """The objects that determine a run of the session: its edits so far and its inputs."""
    return *session.trace.edits(), *session.inputs.values()


def _same(one: tuple[Any, ...], two: tuple[Any, ...]) -> bool:
    return len(one) == len(two) and all(a is b for a, b in zip(one, two, strict=True))


def _first_lines(answer: Any) -> tuple[str, str]:
    """(the first line, the part of it that holds while the loop runs on: without a count, nothing of an end)."""
    if answer.outcome is None:
        return "", ""
    never = answer.outcome == "never"
    if answer.over and not never:
        return str(answer.end.headline), ""
    sentence = f"{answer.status.name}: the loop {'never ends' if never else 'ends'}"
    return sentence if never or answer.remaining is None else f"{sentence} {after(answer.remaining)}", sentence
