"""Which values of the outermost level differ from before, and whose turn it is therefore to be computed again."""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from typing import Any

import numpy as np

from workbench.execution.incremental.counting import Tally
from workbench.execution.incremental.steps import Step, Steps, size_of
from workbench.execution.run import Run
from workbench.graph.node import Ref
from workbench.kernels import machine as core
from workbench.kernels.layout import Place

#: arrays up to so many bytes are kept apart
SMALL = 4096
#: larger ones are no longer compared after so many of them in a row differed, but for one of so many
MISSES = 4
#: a value of before that was not kept
UNKNOWN = object()


class Changes:
    """Of one revision: the run, the values that differ, and the steps that read them."""

    def __init__(self, run: Run, steps: Steps, feeds: Mapping[str, Any]) -> None:
        self.run, self.steps, self.feeds = run, steps, dict(feeds)
        self.changed_feeds = tuple(n for n, a in feeds.items() if not core.same_bits(a, run.feeds[n]))
        #: values of the outermost level that differ -> where they stand, what stood there (None: nothing)
        self.changed: dict[Ref, tuple[Place, Any]] = {}
        self.tally = Tally(run)
        self._fired: set[int] = set()  # steps that the old run had done
        self._todo: list[int] = []
        self._queued: set[int] = set()
        self._scratch = np.empty(0, np.uint8)
        self._misses = 0  # large arrays in a row that differed

    def _feed(self) -> None:
        """Put the changed feeds in their places."""
        run, layout = self.run, self.steps.plan.layout
        for name in self.changed_feeds:
            ref = run.plan.graph.inputs[name]
            found = layout.values.get(tuple(ref))
            if found is not None and found.place is not None:
                run.put(found.place, self.feeds[name])
                if self.steps.by_name[ref.node].number in self._fired:
                    self.tally.add(ref.node, 1)
                    self._differs(ref, found.place, run.feeds[name])
        run.feeds = dict(self.feeds)

    def _push(self, number: int) -> None:
        if number not in self._queued:
            self._queued.add(number)
            heapq.heappush(self._todo, number)

    def _differs(self, ref: Ref, place: Place, before: Any) -> None:
        self.changed[ref] = (place, before)
        for number in self.steps.readers.get(ref, ()):
            self._push(number)

    def _read(self, place: Place) -> Any:
        """What stands at a place of the outermost level; an array is a window on it."""
        if place.dtype is None:
            return self.run.trace.source.column(place, 0, 1)[1][0]
        base, offset = self.steps.plan.layout.operand(place)
        return core.window(self.run.machine, base, offset, np.dtype(place.dtype), place.shape)

    def _keep(self, step: Step) -> list[Any]:
        """What the outputs of a step are before it is done again; arrays in memory that the next step uses again.
        UNKNOWN where a copy is not worth its while."""
        found, at = [], 0
        for ref, place in step.outputs:
            value, size = self._read(place), -(-size_of(place) // 64) * 64
            if place.dtype is not None and (ref in self.steps.looped or size <= SMALL):
                value = np.array(value)
            elif place.dtype is not None and self._misses >= MISSES and self._misses % MISSES:
                self._misses += 1  # downstream of a change most differ, and copies cost as much as many a node
                value = UNKNOWN
            elif place.dtype is not None:
                if at + size > len(self._scratch):
                    self._scratch = np.empty(2 * (at + size), np.uint8)
                held = self._scratch[at : at + value.nbytes].view(value.dtype).reshape(value.shape)
                np.copyto(held, value)
                value, at = held, at + size
            found.append(value)
        return found

    def _compare(self, step: Step, before: list[Any] | None) -> bool:
        """Mark the outputs that differ from before (None: there was nothing); whether any does."""
        any_one = False
        for k, (ref, place) in enumerate(step.outputs):
            # what stands in the memory of another value was changed with that, before it could be read
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
            self._misses = 0 if same else self._misses + 1
        return same
