"""Tracks the values of the outermost level that differ from before, and queues the steps that read them."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from workbench.execution.incremental.steps import RevisionStep, RevisionSteps, size_of
from workbench.execution.incremental.work_counter import WorkCounter
from workbench.execution.run import Run
from workbench.ir.node import Ref
from workbench.kernels import machine as core
from workbench.kernels.layout import Place

#: old values of arrays of at most this many bytes are always kept
SMALL = 4096
#: after this many larger arrays in succession have differed, only every MISSES-th array is still compared
MISSES = 4
#: placeholder for an old value that was not kept
UNKNOWN = object()


class Changes:
    """The values of a run that differ, and the queue of steps that read them."""

    def __init__(self, run: Run, steps: RevisionSteps, feeds: Mapping[str, Any]) -> None:
        self.run, self.steps, self.feeds = run, steps, dict(feeds)
        self.changed_feeds = tuple(n for n, a in feeds.items() if not core.same_bits(a, run.feeds[n]))
        #: values of the outermost level that differ -> (their place, their old value or None)
        self.changed: dict[Ref, tuple[Place, Any]] = {}
        self.work = WorkCounter(run)
        #: steps that the old run had executed
        self.fired: set[int] = set()
        #: number of large arrays in succession that differed
        self.misses = 0
        self._todo: list[int] = []
        self._queued: set[int] = set()
        self._scratch = np.empty(0, np.uint8)

    def put_feeds(self) -> None:
        """Write the changed feeds to their places."""
        run, layout = self.run, self.steps.plan.layout
        for name in self.changed_feeds:
            ref = run.plan.graph.inputs[name]
            found = layout.values.get(ref)
            if found is not None and found.place is not None:
                run.put(found.place, self.feeds[name])
                if self.steps.by_name[ref.node].number in self.fired:
                    self.work.add(ref.node, 1)
                    self._differs(ref, found.place, run.feeds[name])
        run.feeds = dict(self.feeds)

    def push(self, number: int) -> None:
        """Queue a step."""
        if number not in self._queued:
            self._queued.add(number)
            heapq.heappush(self._todo, number)

    def steps_in_order(self) -> Iterator[RevisionStep]:
        """The queued steps in program order, including those queued meanwhile."""
        while self._todo:
            yield self.steps.all[heapq.heappop(self._todo)]

    def _differs(self, ref: Ref, place: Place, before: Any) -> None:
        self.changed[ref] = (place, before)
        for number in self.steps.readers.get(ref, ()):
            self.push(number)

    def _read(self, place: Place) -> Any:
        """The value at a place of the outermost level; an array is a view of the executor's memory."""
        if place.dtype is None:
            return self.run.trace.source.column(place, 0, 1)[1][0]
        base, offset = self.steps.plan.layout.operand(place)
        return core.window(self.run.machine, base, offset, np.dtype(place.dtype), place.shape)

    def keep_outputs(self, step: RevisionStep) -> list[Any]:
        """The old outputs of a step, before it is executed again; arrays are in scratch memory that the next step
        reuses. UNKNOWN if a copy would cost more than it saves."""
        found, at = [], 0
        for ref, place in step.outputs:
            value, size = self._read(place), -(-size_of(place) // 64) * 64
            if place.dtype is not None and (ref in self.steps.looped or size <= SMALL):
                value = np.array(value)
            elif place.dtype is not None and self.misses >= MISSES and self.misses % MISSES:
                self.misses += 1  # after a change most arrays differ, and a copy costs as much as many nodes
                value = UNKNOWN
            elif place.dtype is not None:
                if at + size > len(self._scratch):
                    self._scratch = np.empty(2 * (at + size), np.uint8)
                held = self._scratch[at : at + value.nbytes].view(value.dtype).reshape(value.shape)
                np.copyto(held, value)
                value, at = held, at + size
            found.append(value)
        return found

    def compare(self, step: RevisionStep, before: list[Any] | None) -> bool:
        """Mark the outputs that differ from ``before`` (None: the step had no outputs); True if any of them differs."""
        any_one = False
        for k, (ref, place) in enumerate(step.outputs):
            # a value that shares memory with a changed one was changed with it, before it could be read
            others = [self.changed[r] for r in self.steps.shared.get(ref, ()) if r in self.changed]
            if others:
                same = next((value for at, value in others if at == place), None)
                self._differs(ref, place, None if before is None else same)
                any_one = True
            elif before is None or not self._same(place, before[k]):
                lasting = before is not None and (ref in self.steps.looped or size_of(place) <= SMALL)
                self._differs(ref, place, before[k] if before is not None and lasting else None)
                any_one = True
        return any_one

    def _same(self, place: Place, before: Any) -> bool:
        same = before is not UNKNOWN and core.same_bits(before, self._read(place))
        if before is not UNKNOWN and place.dtype is not None and size_of(place) > SMALL:
            self.misses = 0 if same else self.misses + 1
        return same
