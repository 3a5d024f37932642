"""Installs breakpoint conditions in the executor and makes the final decision when it reports a candidate.

::

    executor, before a node    --"break"--> plain breakpoints decide
              after its firing --"hit"----> breakpoints with a condition on its value decide

The executor stops if a condition that it evaluates holds or may hold (``machine_conditions``); this module then
evaluates the condition again, in the whole language. For conditions that the executor decides exactly, it also counts
the hits at which the run does not stop.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from workbench.debugger.breakpoints.armed import ArmedBreakpoint
from workbench.debugger.breakpoints.breakpoint import Breakpoint
from workbench.debugger.breakpoints.machine_conditions import ConditionCompiler
from workbench.debugger.conditions.logpoint_template import LogLine
from workbench.debugger.conditions.value_checks import first_failing_check
from workbench.debugger.control.context import DebugContext
from workbench.debugger.control.firing_values import FiringValues
from workbench.debugger.control.hit_policy import LIVE, HitPolicy
from workbench.debugger.stop import Stop, StopReason
from workbench.execution import Position
from workbench.kernels import machine as core
from workbench.trace.describe import short


class BreakpointChecks:
    """Decides at which firings the run stops."""

    def __init__(self, context: DebugContext, policy: HitPolicy = LIVE) -> None:
        """``policy`` counts the hits."""
        self.context = context
        self._values = FiringValues(context)
        #: index of a condition in the executor -> its breakpoint; the second only for those whose hits the executor
        #: counts
        self._armed: list[ArmedBreakpoint] = []
        self._counted_by_executor: dict[int, Breakpoint] = {}
        self._policy = policy
        #: numbers of the breakpoints that are checked; None for all
        self._only: set[int] | None = None

    @property
    def any_installed(self) -> bool:
        """True if the executor has conditions."""
        return bool(self._armed)

    # -- installing ------------------------------------------------------------------------------------------------
    def rearm(self) -> None:
        """Replace the conditions in the executor if breakpoints have changed."""
        context = self.context
        if not context.breakpoints_changed:
            return
        self.absorb()
        context.breakpoints_changed = False
        compiler = ConditionCompiler(context.run)
        self._armed, self._counted_by_executor = [], {}
        for name, at in context.breakpoints.armed().items():
            node = context.nodes.get(name)
            if node is None or node.silent:
                continue
            for armed in at:
                if compiler.add(node, armed) and armed.point.counted and len(armed.point.refs) == 1:
                    self._counted_by_executor[len(self._armed)] = armed.point
                self._armed.append(armed)
        core.set_conditions(context.run.machine, [q.spec for q in compiler.conditions], compiler.sites)
        self.set_hits_to_skip()

    def disarm(self) -> None:
        """Remove all conditions from the executor until the next forward command."""
        self.absorb()
        core.set_conditions(self.context.run.machine, [], [])
        self._armed, self._counted_by_executor = [], {}
        self.context.breakpoints_changed = True

    # -- counting --------------------------------------------------------------------------------------------------
    @contextmanager
    def counting_with(self, policy: HitPolicy, points: list[Breakpoint] | None) -> Iterator[None]:
        """Check only these breakpoints (None: all), count their hits with another policy, and write no log lines."""
        self.absorb()
        before = self._policy, self._only
        self._policy, self._only = policy, None if points is None else {p.number for p in points}
        try:
            yield
        finally:
            self.absorb()
            self._policy, self._only = before
            self.set_hits_to_skip()

    def set_hits_to_skip(self) -> None:
        """Let the executor count the hits at which the run does not stop."""
        for number, point in self._counted_by_executor.items():
            core.skip_hits(self.context.run.machine, number, self._policy.hits_to_skip(point))

    def absorb(self) -> None:
        """Add the hits that the executor has counted."""
        if self._counted_by_executor:
            for number, count, events in core.drain_hits(self.context.run.machine):
                self._policy.count_skipped(self._counted_by_executor[number], count, events)

    def _count(self, point: Breakpoint, event: int) -> bool:
        """Count a hit; True if the run stops at it."""
        due = self._policy.count(point, event)
        if point in self._counted_by_executor.values():
            self.set_hits_to_skip()
        return due

    # -- deciding --------------------------------------------------------------------------------------------------
    def _reported(self, after: bool) -> list[ArmedBreakpoint]:
        """The breakpoints whose conditions the executor reported."""
        self.absorb()
        numbers = core.reported(self.context.run.machine)
        return [
            armed
            for armed in (self._armed[k] for k in numbers if k < len(self._armed))
            if armed.point.after == after
            and armed.point.enabled
            and (self._only is None or armed.point.number in self._only)
        ]

    def check_node_ahead(self) -> Stop | None:
        """The stop of plain breakpoints before the next node; None if the run continues."""
        position, stop = self.context.run.position(), None
        assert position.node is not None
        for armed in self._reported(after=False):
            point, detail = armed.point, ""
            if not point.matches(position.iteration, position.node):
                continue
            if point.probe is not None:
                detail = point.probe(position)
                if not detail:
                    continue
            if self._count(point, position.event) and stop is None:
                reason = StopReason.TARGET if point.internal else StopReason.BREAKPOINT
                detail = detail if point.internal else f"Breakpoint: {point}."
                stop = Stop(reason, position, detail, fired=position.tag)
        return stop

    def check_fired_value(self) -> Stop | None:
        """The stop of breakpoints with a condition on the value that has just fired; None if the run continues."""
        candidates, hit = self._reported(after=True), None
        if not candidates:
            return None
        run = self.context.run
        node = self.context.nodes[candidates[0].ref.node]
        path = run.plan.layout.frames[node.frame].path
        fired = Position(node.name, run.event - 1, path, run.iteration_of(node.frame) if path else ())
        for armed in candidates:
            detail = self._hit_detail(armed, fired)
            if detail and hit is None:
                stop = self.stop_at_next_node(StopReason.BREAKPOINT)
                tag = fired.tag._replace(output=armed.ref.index) if fired.tag is not None else None
                hit = replace(stop, reason=StopReason.BREAKPOINT, detail=detail, fired=tag)
        return hit

    def _hit_detail(self, armed: ArmedBreakpoint, fired: Position) -> str:
        """Evaluate one breakpoint for the latest firing; returns the reason to stop, or an empty string."""
        point = armed.point
        if not point.matches(fired.iteration, fired.node):
            return ""
        batch = self._values.batch(armed, fired)
        if batch is None or not point.holds(batch, armed.health)[-1]:
            return ""
        tag = fired.tag
        assert tag is not None
        tag = tag._replace(output=armed.ref.index)
        if not self._count(point, fired.event):
            return ""
        if point.log is not None:
            if self._policy is LIVE:  # a replay repeats firings whose lines were already written
                line = point.log.line(batch, tag, point.hits_seen)
                self.context.breakpoints.write(LogLine(line, point.number, fired.event + 1, tag))
            return ""
        why = ""
        if point.watch is not None:
            why = f": {short(np.asarray(batch.previous[0][-1]))} became {short(np.asarray(batch.values[-1]))}"
        elif armed.health:
            why = f": {first_failing_check(armed.health, batch)}"
        return f"Breakpoint: {point}, at {tag}{why}."

    # -- the end of a command --------------------------------------------------------------------------------------
    def stop_at_next_node(self, reason: StopReason) -> Stop:
        """Run to the next node that is not silent, where a user can inspect the run, and stop there."""
        run = self.context.run
        position = run.position()
        if position.silent or position.node is None and not run.finished:
            run.go(0, exact=True, ignore_current=True)
        return Stop(StopReason.FINISHED if run.finished else reason, run.position())
