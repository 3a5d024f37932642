"""Reads from a session: recorded, recomputed and held values, the trace, and memory."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, suppress

import numpy as np

from workbench.arrays import LEDGER, Array, Origin, held_value
from workbench.debugger.replay import step_back
from workbench.debugger.replay.full_replay import full_replay
from workbench.debugger.replay.on_demand import compute_unrequired
from workbench.debugger.replay.read_range import values_between
from workbench.errors import DeadValueError, SessionError, TraceError
from workbench.execution import MemoryReport, Run, memory_report
from workbench.ir.frames.frame_tree import output_frame
from workbench.ir.node import Ref, Tag
from workbench.kernels import SHAPES, ShapeInfo
from workbench.kernels import machine as core
from workbench.plan import PLANS, ExecutionPlan, PlanMemory, memory_of
from workbench.session.state import SessionState
from workbench.trace import Trace
from workbench.trace.checks import path_of


class SessionValues:
    """The values of the present run; readable from any thread, even during a run.

    ``stopped`` returns a context manager in which the run is stopped between two slices.
    """

    def __init__(self, state: SessionState, stopped: Callable[[], AbstractContextManager[None]]) -> None:
        self._state, self._stopped = state, stopped
        self._planned: tuple[ExecutionPlan, PlanMemory] | None = None
        self._traced: tuple[Run, Trace] = (state.run, state.run.trace_for(state.weak_is_running()))

    @property
    def trace(self) -> Trace:
        """The record of the run so far."""
        run = self._state.run
        if self._traced[0] is not run:  # inputs of other types created a new run
            self._traced = (run, run.trace_for(self._state.weak_is_running()))
        return self._traced[1]

    def outputs(self) -> dict[str, np.ndarray]:
        """The outputs by name, once the run has finished."""
        if self._state.progress != "finished":
            raise SessionError(
                f"The outputs are not computed yet: the session is {self._state.progress}.",
                slug="not-finished",
                fix="call session.run().",
            )
        return self._state.run.outputs()

    def value(self, name: str | Ref, iteration: int | tuple[int, ...] | None = None) -> np.ndarray:
        """One value: recorded, recomputed if it was dropped, or computed on demand if no output needs it."""
        run = self._state.run
        try:
            self.trace.ref(name)
        except TraceError as error:
            if error.slug != "not-computed":
                raise
            computed: np.ndarray = compute_unrequired(run, self._state.graph.value(name), iteration, self.value)
            return computed
        if iteration is None:
            # it has no firings; checking first would not help, because a step back may happen in between
            with suppress(IndexError):
                return self.trace[name][-1]
            found: np.ndarray | None = step_back.recompute_last(run, self.trace.ref(name))
            if found is not None:
                return found
            if self.trace.dropped and len(earlier := self.whole_trace()[name]):  # its firings are in dropped rows
                return earlier[-1]
            raise DeadValueError(
                f"{name!r} has not fired.", slug="not-fired", fix="step on, or check the branch that it is in."
            )
        try:
            return self.trace[name].at(iteration)
        except TraceError as error:
            if error.slug != "not-recorded":
                raise
            ref = self.trace.ref(name)
            again: np.ndarray | None = step_back.recompute(run, ref, iteration)
            if again is not None:
                return again
            if self.trace.dropped and self._state.graph.nodes[ref.node].attrs.get("is_constant"):
                # an invariant also fires if its loop is never started, which no row of the loop records
                if step_back.could_be_unstarted(run, ref, iteration):
                    return self.whole_trace()[name].at(iteration)
            raise

    def hold(self, name: str | Ref, iteration: int | tuple[int, ...] | None = None) -> Array:
        """A handle to a value, without a manager."""
        value, ref = self.value(name, iteration), self._state.graph.value(name)
        if not isinstance(value, np.ndarray | np.generic):
            raise SessionError(
                f"{name!r} is a {type(value).__name__} here, and only arrays can be held.",
                slug="not-an-array",
                fix="keep the result of session.value.",
            )
        tag = Tag(*ref)
        if iteration is not None:
            graph = self._state.graph
            frame = output_frame(graph.nodes[ref.node], graph.frame_of(ref.node))
            tag = Tag(*ref, frame, path_of(str(name), frame, iteration))
        elif ref in self.trace.layout.values and len(series := self.trace[ref]):
            tag = series.tag(-1)
        return held_value(value, Origin(f"session of {self._state.graph.name!r}", tag=tag), LEDGER)

    def between(
        self, name: str | Ref, start: int, stop: int | None, step: int, within: int | tuple[int, ...]
    ) -> tuple[np.ndarray, np.ndarray]:
        """(iterations, values) of a range of iterations: recorded ones from the trace, dropped ones from a replay."""
        return values_between(self._state.run, self.trace, self.trace.ref(name), start, stop, step, within)

    def whole_trace(self) -> Trace:
        """The trace, or if that has dropped rows and the session is not running, the trace of a replay."""
        if self.trace.dropped and self._state.name != "running":
            with self._stopped():
                found = full_replay(self._state.run)
            if found is not None:
                return found.trace
        return self.trace

    def shapes(self) -> tuple[ShapeInfo, ...]:
        """The shapes, dtypes and layouts of the run's arrays so far, without duplicates."""
        found = []
        for number in core.shapes_held(self._state.run.machine):
            with suppress(ValueError):  # released meanwhile, because the run was restarted
                found.append(SHAPES.get(number))
        return tuple(found)

    def memory(self) -> MemoryReport:
        """The memory of the run: present, peak, and the lower bound of its plan."""
        run, plan = self._state.run, self._state.run.plan
        if self._planned is None or self._planned[0] is not plan:
            wanted = plan.outputs, plan.signature, plan.statistics, True, plan.device
            self._planned = plan, memory_of(PLANS.get(self._state.graph, *wanted))
        return memory_report(run, self._planned[1])
