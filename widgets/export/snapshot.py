"""A finding: one file with the recorded run, its position, its breakpoints and the selected moment.

The file is a trace file (``workbench.trace.saved.format``) with one more member, ``finding.json``::

    {"format": "workbench-finding", "version": 1, "state": "paused", "node": "x" or null,
     "moment": {"frame": [...], "iteration": [...]} or null,
     "position": {"node": ..., "event": ..., "frame": [...], "iteration": [...]} or null, "breakpoints": [...],
     "note": "a text by hand", "bookmarks": [{"words": ..., "moment": as above, "node": ...}],
     "inputs": [{"input": name, ...} as ``trace.save`` writes an array]}

so ``wb.Trace.load`` reads it too. It may come from a stranger: it is bounded, checked, and holds no code.
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from workbench.errors import TraceError, WorkbenchError
from workbench.session import Session
from workbench.trace import Trace
from workbench.trace.saved.items import read_item, write_item
from workbench.trace.saved.members import MemberReader, MemberWriter
from workbench.trace.saved.writer import save_trace
from workbench.widgets.export.bookmarks import Bookmark, bookmarks_of_data
from workbench.widgets.export.notes import MOST_NOTE
from workbench.widgets.live.selection import Moment, Selection

FORMAT, VERSION = "workbench-finding", 1
MEMBER = "finding.json"
#: bytes of finding.json, and characters of a name in it
MAX_HEAD, MAX_NAME, MAX_DEPTH = 1 << 20, 10_000, 100
#: what to do about a file that cannot be read
NO_FINDING = "give a file that panel.save wrote. If it is one, it was truncated or changed: copy it again."


@dataclass(frozen=True, slots=True)
class DebugSnapshot:
    """A recorded run and the place to be shown."""

    trace: Trace
    state: str = ""
    node: str | None = None
    moment: Moment | None = None
    position: Mapping[str, Any] | None = None
    breakpoints: list[Any] = field(default_factory=list)
    inputs: Mapping[str, np.ndarray] = field(default_factory=dict)
    note: str = ""
    bookmarks: tuple[Bookmark, ...] = ()

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write it as one file; returns the path. TraceError if it cannot be written."""
        head: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            "state": self.state,
            "node": self.node,
            "moment": None
            if self.moment is None
            else {"frame": list(self.moment.frame), "iteration": list(self.moment.iteration)},
            "position": self.position,
            "breakpoints": self.breakpoints,
            "note": self.note[:MOST_NOTE],
            "bookmarks": [mark.to_data() for mark in self.bookmarks],
        }

        def more(file: MemberWriter) -> None:
            inputs = [
                {**write_item(file, f"input{k}", array), "input": name}
                for k, (name, array) in enumerate(self.inputs.items())
            ]
            file.json(MEMBER, head | {"inputs": inputs})

        save_trace(self.trace, path, more=more)
        return Path(path)

    def session(self, go: bool = True) -> Session:
        """A live session on the same graph and inputs, with the breakpoints; with ``go`` run to the recorded place,
        with the recorded edits.

        The run is exact: it computes everything again. SessionError if an input was not recorded.
        """
        session = Session(self.trace.graph, self.inputs)
        try:
            place, edits = self.position, list(self.trace.edits())
            if go and place is not None and edits:
                session.repeat(edits, place["event"])
            elif go and place is not None and place["event"] > 0:
                if place["node"] is None:
                    session.run()
                else:
                    session.run_to(place["node"], tuple(place["iteration"]) or None)
            session.breakpoints.load_data(self.breakpoints, strict=False)
        except WorkbenchError:
            session.close()
            raise
        return session

    def selection(self) -> Selection:
        """The selection that was saved."""
        selection = Selection()
        selection.node, selection.moment = self.node, self.moment
        return selection


def finding_of(
    session: Session | None, trace: Trace, selection: Selection, note: str = "", marks: Sequence[Bookmark] = ()
) -> DebugSnapshot:
    """The finding that a panel shows now."""
    if session is None:
        return DebugSnapshot(
            trace, "", selection.node, selection.moment, inputs=_recorded(trace), note=note, bookmarks=tuple(marks)
        )
    if session.state == "running":
        raise WorkbenchError("The session is running.", slug="running", fix="pause it before saving.")
    position = session.position
    place = {
        "node": position.node,
        "event": int(position.event),
        "frame": list(position.frame),
        "iteration": [int(i) for i in position.iteration],
    }
    return DebugSnapshot(
        trace,
        session.state,
        selection.node,
        selection.moment,
        place,
        session.breakpoints.to_data(),
        session.inputs,
        note,
        tuple(marks),
    )


def _recorded(trace: Trace) -> dict[str, np.ndarray]:
    """The inputs that a trace has."""
    found = {}
    for name in trace.graph.inputs:
        try:
            found[name] = np.asarray(trace[name][-1])
        except (WorkbenchError, IndexError):
            continue  # missing parts are requested when a session is made
    return found


def read_finding(path: str | os.PathLike[str]) -> DebugSnapshot:
    """Read a file of :meth:`DebugSnapshot.save`. TraceError with slug ``not-a-finding``, ``finding-version`` or
    ``bad-finding``, and what ``wb.Trace.load`` raises."""
    try:
        before = _identity(path)
        with zipfile.ZipFile(path) as file:
            if MEMBER not in file.namelist():
                raise TraceError(
                    f"{path} is not a saved panel: {MEMBER} is missing.",
                    slug="not-a-finding",
                    fix="open a trace file with wb.Trace.load.",
                )
            if file.getinfo(MEMBER).file_size > MAX_HEAD:
                raise TraceError(f"{MEMBER} has more than {MAX_HEAD:,} bytes.", slug="bad-finding", fix=NO_FINDING)
            members = MemberReader(file)
            head = members.json(MEMBER)
            inputs = _inputs(members, head) if isinstance(head, dict) and head.get("version") == VERSION else {}
    except WorkbenchError:
        raise
    except FileNotFoundError:
        raise TraceError(f"There is no file {path}.", slug="no-such-file", fix="check the path.") from None
    except Exception as error:  # zipfile and what unpacks its members raise a dozen kinds on damaged bytes
        raise TraceError(
            f"{path} is not a saved panel: {str(error)[:500]}.", slug="not-a-finding", fix=NO_FINDING
        ) from error
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise TraceError(f"{path} is not a saved panel.", slug="not-a-finding", fix=NO_FINDING)
    if head.get("version") != VERSION:
        raise TraceError(
            f"{path} is a saved panel of version {str(head.get('version'))[:40]!r}; this workbench reads {VERSION}.",
            slug="finding-version",
            fix="save it again with the workbench that wrote it, or update this one.",
        )
    trace = Trace.load(path)
    if _identity(path) != before:
        raise TraceError(f"{path} was written while it was read.", slug="bad-finding", fix="read it again.")
    try:
        return replace(_checked(trace, head), inputs=inputs)
    except (KeyError, TypeError, ValueError, WorkbenchError) as error:
        reason = error.message if isinstance(error, WorkbenchError) else str(error)
        raise TraceError(f"{path} is damaged: {reason[:500]}.", slug="bad-finding", fix=NO_FINDING) from error


def _identity(path: str | os.PathLike[str]) -> tuple[int, ...]:
    """Facts that change when a file is written or another one takes its name."""
    found = os.stat(path)
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _inputs(file: MemberReader, head: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """The stored inputs; ValueError for other entries. Inputs that the workbench could not store are left out."""
    entries = head.get("inputs") or []
    if not isinstance(entries, list):
        raise ValueError("the inputs are not a list")
    found = {}
    for entry in entries:
        if not isinstance(entry, dict) or not isinstance(entry.get("name", ""), str):
            raise ValueError("an input is not an entry")
        try:
            array = read_item(file, entry)
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"an input is damaged: {error}") from error
        if array is not None:
            found[_name(entry.get("input"))] = array
    return found


def _checked(trace: Trace, head: Mapping[str, Any]) -> DebugSnapshot:
    node = head.get("node")
    if node is not None:
        trace.graph.value(_name(node))
    moment = None
    if head.get("moment") is not None:
        moment = Moment(*_place(head["moment"]))
        if moment.frame not in trace.graph.frames:
            raise ValueError(f"unknown frame {'/'.join(moment.frame)[:200]}")
    position = None
    if head.get("position") is not None:
        found = head["position"]
        frame, iteration = _place(found)
        at, event = found["node"], found["event"]
        if not isinstance(event, int) or isinstance(event, bool) or event < 0:
            raise ValueError("the event is not a number")
        if at is not None and _name(at) not in trace.graph.nodes:
            raise ValueError(f"unknown node {at[:200]}")
        position = {"node": at, "event": event, "frame": list(frame), "iteration": list(iteration)}
    points = head.get("breakpoints") or []
    if not isinstance(points, list):
        raise ValueError("the breakpoints are not a list")
    note = head.get("note", "")
    if not isinstance(note, str):
        raise ValueError("the note is not a text")
    marks = bookmarks_of_data(head.get("bookmarks", []), trace.graph)
    state = str(head.get("state", ""))[:20]
    return DebugSnapshot(trace, state, node, moment, position, points, note=note[:MOST_NOTE], bookmarks=marks)


def _name(value: Any) -> str:
    if not isinstance(value, str) or len(value) > MAX_NAME:
        raise ValueError("a name is not a string")
    return value


def _place(found: Any) -> tuple[tuple[str, ...], tuple[int, ...]]:
    frame, iteration = found["frame"], found["iteration"]
    if not isinstance(frame, list) or not isinstance(iteration, list) or len(frame) > MAX_DEPTH:
        raise ValueError("a place is not a list")
    if any(not isinstance(i, int) or isinstance(i, bool) or i < 0 for i in iteration):
        raise ValueError("an iteration is not a number")
    return tuple(_name(f) for f in frame), tuple(iteration)
