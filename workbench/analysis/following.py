"""The streaming states of loop variables, fed from a trace while it grows.

::

    trace rows --ReadingOn, piece by piece--> ScalarState | VectorState --classify--> Evolution

A state takes in each row once: a question reads only the rows that are new since the last one, so that its cost does
not depend on how long the loop has run, and its size never does. Rows that are rewritten (going back, edits, other
inputs) make the state begin again with what the trace holds. Rows that the trace let go of before they were read are
counted as missed; later iterations keep their true numbers.
"""

from __future__ import annotations

import threading
from typing import Any

from workbench.analysis.classify import classify
from workbench.analysis.evolution import Evolution, Pattern
from workbench.analysis.followed import Followed, FollowError, State, Trips
from workbench.graph.frames import FramePath
from workbench.graph.node import Ref
from workbench.kernels.streaming import ScalarState
from workbench.trace import Trace

__all__ = ["FollowError", "Follower", "State"]


class Follower:
    """Follows values of a trace, or of a session's trace; any thread may ask at any time, also while it runs.

    >>> follower = Follower(session)
    >>> session.run(wait=False)
    >>> follower.evolution("x")         # of all iterations so far
    >>> follower.state("x").count
    >>> follower.trips("inner")         # a series of the loop around it

    In nested loops a value is followed through all executions of its loop, one after the other; with ``newest=True``
    through the newest one, whose iterations count from 0.
    """

    def __init__(self, trace_or_session: Any) -> None:
        self._owner = trace_or_session
        self._lock = threading.RLock()
        self._forget()

    def _forget(self, trace: Trace | None = None) -> None:
        self._trace = trace
        self._followed: dict[tuple[str, int, bool], Followed] = {}
        self._trips: dict[FramePath, Trips] = {}

    @property
    def trace(self) -> Trace:
        """The trace that is followed: of a session, its present one."""
        trace: Trace = self._owner if isinstance(self._owner, Trace) else self._owner.trace
        with self._lock:
            if trace is not self._trace:
                self._forget(trace)
        return trace

    def frames(self) -> list[FramePath]:
        """Paths of the loops of the run, outermost first."""
        return sorted(dict.fromkeys(f.path for f in self.trace.layout.frames if f.path), key=len)

    def names(self, frame: Any = None) -> list[str]:
        """Loop variables of a loop (its name or path), or of all loops, outermost first: those that this run computes.

        FollowError for a loop that the run does not have.
        """
        paths = self.frames() if frame is None else [self._path(frame)]
        values = self.trace.layout.values
        return [v.name for p in paths for v in self.trace.graph.frames[p].variables if (v.merge, 0) in values]

    def state(self, name: str | Ref, frame: Any = None, *, newest: bool = False) -> State:
        """The state of a value, caught up to all rows that the trace holds now.

        Of a scalar (or an array of one element) it is a ScalarState, a copy that stays as it is; of other arrays the
        VectorState itself, which the next question brings up to date: do not feed it. Where the shape or the dtype
        changes, the state begins anew. TraceError for a name that this run does not compute, FollowError for a value
        that is no real number, or that does not live in ``frame``.
        """
        with self._lock:
            state = self._caught_up(name, frame, newest).state
            assert state is not None
            return state.clone() if isinstance(state, ScalarState) else state

    def evolution(self, name: str | Ref, frame: Any = None, *, newest: bool = False) -> Evolution:
        """How a value evolves, by all of its rows so far: UNKNOWN for fewer than five values, or before the first one.

        The same object comes again until there are new rows: do not change it. Errors as of :meth:`state`.
        """
        with self._lock:
            followed = self._caught_up(name, frame, newest)
            if followed.answer is None:
                followed.answer = _evolution(followed)
            return followed.answer

    def missed(self, name: str | Ref, frame: Any = None, *, newest: bool = False) -> list[tuple[int, int]]:
        """Stretches (first, behind the last) of rows of the loop that were let go of before they could be read; in a
        loop that runs once row k + 1 is iteration k."""
        with self._lock:
            return list(self._caught_up(name, frame, newest).missed)

    def trips(self, frame: Any) -> ScalarState:
        """How often the body of a loop ran, execution by execution: for an inner loop a variable of the loop around it.

        Only executions that have ended count; those that were forgotten before they could be read are skipped.
        FollowError for a loop that is not ended by one condition.
        """
        with self._lock:
            path = self._path(frame)
            if path not in self._trips:
                numbers = [i for i, f in enumerate(self.trace.layout.frames) if f.path == path]
                cond = self.trace.graph.frames[path].loop_cond
                if len(numbers) > 1 or cond is None or (cond, 0) not in self.trace.layout.values:
                    raise FollowError(
                        f"The loop {'/'.join(path)} is not ended by one condition, so its trips cannot be counted.",
                        slug="raw-frame", fix="follow one of its values instead.",
                    )  # fmt: skip
                self._trips[path] = Trips(self.trace, numbers[0], Ref(cond))
            self._trips[path].catch_up()
            return self._trips[path].state.clone()

    # -- parts ------------------------------------------------------------------------------------------------------
    def _caught_up(self, name: str | Ref, frame: Any, newest: bool) -> Followed:
        trace = self.trace
        ref = trace.ref(name)
        if frame is not None:
            path = self._path(frame)
            home = trace.layout.frames[trace.layout.values[ref.node, ref.index].frame].path
            if home != path:
                raise FollowError(
                    f"{str(name)!r} lives in {'/'.join(home) or 'the outermost level'}, not in {'/'.join(path)}.",
                    slug="other-frame", fix="leave the frame out, or name the variable of that loop.",
                )  # fmt: skip
        key = ref.node, ref.index, newest
        if key not in self._followed:
            self._followed[key] = Followed(trace, ref, str(name), newest, self._forks)
        self._followed[key].catch_up()
        return self._followed[key]

    def _forks(self) -> int | None:
        """How often a session was edited or got other inputs; of a trace nobody knows."""
        histories = getattr(self._owner, "histories", None)
        return None if histories is None else len(histories)

    def _path(self, frame: Any) -> FramePath:
        paths = self.frames()
        if isinstance(frame, tuple | list):
            path = tuple(frame)
        else:
            path = next((p for p in paths if p[-1] == frame or "/".join(p) == frame), ())
        if path not in paths:
            raise FollowError(
                f"There is no loop {frame!r} in this run.", slug="no-such-frame",
                fix=f"there are {', '.join('/'.join(p) for p in paths) or 'none'}.",
            )  # fmt: skip
        return path


def _evolution(followed: Followed) -> Evolution:
    state = followed.state
    assert state is not None
    if state.count == 0 or isinstance(state, ScalarState) and len(state.values()) == 0:
        answer = Evolution(Pattern.UNKNOWN, method="few", count=state.count, why=["No values could be read yet."])
    else:
        answer = classify(state)
    lost = sum(b - a for a, b in followed.missed)
    if lost:
        answer.why.append(
            f"{lost:,} rows were no longer kept when they were to be read: what stood in them is not in this answer."
        )
    return answer
