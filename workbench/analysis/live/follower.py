"""``Follower``: streaming states of loop variables, updated from a growing trace.

::

    trace rows --IncrementalReader, piece by piece--> ScalarState | VectorState
    trace rows --label_of, the newest ones--> Evolution, as on every other screen

A state takes in each row once: a call reads only the rows that are new since the last call, so that its cost does not
depend on how long the loop has run; nor does the size of the state. When rows are rewritten (going back, edits, other
inputs), the state begins again with the rows that the trace holds. Rows that the trace dropped before they were read
count as missed; later iterations keep their true numbers.
"""

from __future__ import annotations

import threading
from typing import Any

from workbench.analysis.live.label import label_of
from workbench.analysis.live.value_stream import FollowError, State, Trips, ValueStream
from workbench.analysis.series.result import Evolution
from workbench.ir.frames.frame_tree import FramePath
from workbench.ir.node import Ref
from workbench.kernels.streaming import ScalarState
from workbench.trace import Trace

__all__ = ["FollowError", "Follower", "State"]


class Follower:
    """Follows the values of a trace while it grows; any thread may call it at any time.

    A call reads only the rows that are new since the last call, so that its cost does not depend on how long the loop
    has run. In nested loops a value is followed through all activations of its loop, one after the other, or with
    ``newest=True`` only through the newest one, whose iterations count from 0.

    Parameters
    ----------
    trace_or_session : Trace or Session
        The trace, or a session whose current trace is followed.

    Examples
    --------
    >>> follower = wb.Follower(session)
    >>> follower.names()
    ['x']
    >>> follower.evolution("x").label.name, follower.state("x").count
    ('CONVERGING', 5)
    """

    def __init__(self, trace_or_session: Any) -> None:
        self._owner = trace_or_session
        self._lock = threading.RLock()
        self._forget()

    def _forget(self, trace: Trace | None = None) -> None:
        self._trace = trace
        self._followed: dict[tuple[str, int, bool], ValueStream] = {}
        self._trips: dict[FramePath, Trips] = {}

    @property
    def trace(self) -> Trace:
        """The trace that is followed; for a session, its current one."""
        trace: Trace = self._owner if isinstance(self._owner, Trace) else self._owner.trace
        with self._lock:
            if trace is not self._trace:
                self._forget(trace)
        return trace

    def frames(self) -> list[FramePath]:
        """Return the paths of the loops of the run, outermost first."""
        return sorted(dict.fromkeys(f.path for f in self.trace.layout.frames if f.path), key=len)

    def names(self, frame: Any = None) -> list[str]:
        """Return the names of the loop variables that this run computes.

        Parameters
        ----------
        frame : str or tuple of str, optional
            Name or path of a loop; by default all loops, outermost first.

        Returns
        -------
        list of str

        Raises
        ------
        FollowError
            For a loop that the run does not have (``no-such-frame``).
        """
        paths = self.frames() if frame is None else [self._path(frame)]
        values = self.trace.layout.values
        return [v.name for p in paths for v in self.trace.graph.frames[p].variables if (v.merge, 0) in values]

    def state(self, name: str | Ref, frame: Any = None, *, newest: bool = False) -> State:
        """Return the streaming state of a value, up to date with all rows that the trace holds now.

        Parameters
        ----------
        name : str or Ref
            The value.
        frame : str or tuple of str, optional
            The loop to which it must belong.
        newest : bool, default False
            Whether to follow the newest activation only.

        Returns
        -------
        ScalarState or VectorState
            For a scalar (or an array of one element) an independent copy; for other arrays the state itself, which the
            next call updates: do not update it yourself. When shape or dtype change, the state begins anew.

        Raises
        ------
        TraceError
            For a name that this run does not compute (``unknown-value``, ``not-computed``).
        FollowError
            For a value that is not a real number (``not-numeric``), or does not belong to ``frame`` (``other-frame``).
        """
        with self._lock:
            state = self._caught_up(name, frame, newest).state
            assert state is not None
            return state.clone() if isinstance(state, ScalarState) else state

    def evolution(self, name: str | Ref, frame: Any = None) -> Evolution:
        """Return how a value evolves, by its newest rows, as the panel, reports, watches and breakpoints show it.

        In nested loops only the newest activation counts.

        Parameters
        ----------
        name : str or Ref
            The value.
        frame : str or tuple of str, optional
            The loop to which it must belong.

        Returns
        -------
        Evolution
            UNKNOWN for fewer than five values, and for values that are not numbers.

        Raises
        ------
        TraceError
            For a name that this run does not compute (``unknown-value``, ``not-computed``).
        FollowError
            For a value that does not belong to ``frame`` (``other-frame``).
        """
        with self._lock:
            return label_of(self.trace, self._ref(name, frame))

    def missed(self, name: str | Ref, frame: Any = None, *, newest: bool = False) -> list[tuple[int, int]]:
        """Return the ranges of rows that were dropped before they could be read.

        Parameters
        ----------
        name : str or Ref
            The value.
        frame : str or tuple of str, optional
            The loop to which it must belong.
        newest : bool, default False
            Whether to follow the newest activation only.

        Returns
        -------
        list of tuple
            (first, end) of each range, without the end. In a loop with one activation, row k + 1 is iteration k.
        """
        with self._lock:
            return list(self._caught_up(name, frame, newest).missed)

    def trips(self, frame: Any) -> ScalarState:
        """Return how often the body of a loop ran in each of its activations, as the state of a series.

        For an inner loop this is a variable of the loop around it. Only activations that have ended count; those that
        were dropped before they could be read are skipped.

        Parameters
        ----------
        frame : str or tuple of str
            Name or path of the loop.

        Returns
        -------
        ScalarState

        Raises
        ------
        FollowError
            For a loop that does not exist (``no-such-frame``), or does not end by one condition (``raw-frame``).

        Examples
        --------
        >>> wb.Follower(session).trips("while").values()
        array([4])
        """
        with self._lock:
            path = self._path(frame)
            if path not in self._trips:
                numbers = [i for i, f in enumerate(self.trace.layout.frames) if f.path == path]
                cond = self.trace.graph.frames[path].loop_cond
                if len(numbers) > 1 or cond is None or (cond, 0) not in self.trace.layout.values:
                    raise FollowError(
                        f"The loop {'/'.join(path)} is not ended by one condition, so its trips cannot be counted.",
                        slug="raw-frame",
                        fix="follow one of its values instead.",
                    )
                self._trips[path] = Trips(self.trace, numbers[0], Ref(cond))
            self._trips[path].catch_up()
            return self._trips[path].state.clone()

    # -- parts ------------------------------------------------------------------------------------------------------
    def _ref(self, name: str | Ref, frame: Any) -> Ref:
        """The value of a name, which must belong to ``frame`` if given."""
        trace = self.trace
        ref = trace.ref(name)
        if frame is not None:
            path = self._path(frame)
            home = trace.layout.frames[trace.layout.values[ref.node, ref.index].frame].path
            if home != path:
                raise FollowError(
                    f"{str(name)!r} is in {'/'.join(home) or 'the outermost level'}, not in {'/'.join(path)}.",
                    slug="other-frame",
                    fix="leave the frame out, or name the variable of that loop.",
                )
        return ref

    def _caught_up(self, name: str | Ref, frame: Any, newest: bool) -> ValueStream:
        trace, ref = self.trace, self._ref(name, frame)
        key = ref.node, ref.index, newest
        if key not in self._followed:
            self._followed[key] = ValueStream(trace, ref, str(name), newest, self._forks)
        self._followed[key].catch_up()
        return self._followed[key]

    def _forks(self) -> int | None:
        """How often a session was edited or received other inputs; None (unknown) for a trace."""
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
                f"There is no loop {frame!r} in this run.",
                slug="no-such-frame",
                fix=f"its loops are {', '.join('/'.join(p) for p in paths) or 'none'}.",
            )
        return path
