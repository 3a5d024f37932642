"""A straight run: its steps, executed one after the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from workbench.plan.lowering.straight.calls import Call
from workbench.plan.lowering.straight.joined_arrays import Guarded

#: number of consecutive runs left to the executor after which all are
MOST_FAILURES = 2


class StraightStep(NamedTuple):
    """One call: the positions of its operands and results in the list of values, those freed after it, decisions."""

    call: Call
    takes: tuple[int, ...]
    gives: tuple[int, ...]
    frees: tuple[int, ...] = ()
    guard: Guarded = ()


@dataclass(frozen=True, slots=True)
class StraightRun:
    """A whole run of a graph, from feeds by name to outputs. ``feeds`` has the place of each and whether it must be
    contiguous; ``values`` the constants in their places, ``outputs`` the place of each output. After too many
    consecutive ``failures``, for instance if a node returns another type than it declares, all runs are left to the
    executor.
    """

    feeds: tuple[tuple[str, int, bool], ...]
    values: tuple[Any, ...]
    steps: tuple[StraightStep, ...]
    outputs: tuple[tuple[str, int], ...]
    failures: list[str] = field(default_factory=list)

    def __call__(self, feeds: Mapping[str, Any]) -> dict[str, Any] | None:
        """The outputs, as arrays owned by the caller; None if the executor must run."""
        if len(self.failures) >= MOST_FAILURES:
            return None
        values = list(self.values)
        for name, place, dense in self.feeds:
            fed = feeds[name]
            values[place] = np.ascontiguousarray(fed) if dense and not fed.flags.c_contiguous else fed
        taken = {id(v) for v in values}
        given = values[:]  # keeps them alive, so that no other object gets one of these identities
        try:
            with np.errstate(all="ignore"):
                for call, takes, gives, frees, guard in self.steps:
                    if guard and any(bool(values[k]) is not wanted for k, wanted in guard):
                        continue
                    results = call([values[k] for k in takes])
                    if results is None:
                        self.failures.append("left to the executor")
                        return None
                    for place, result in zip(gives, results, strict=True):
                        values[place] = result
                    for place in frees:
                        values[place] = None
        except Exception:  # the executor reports the error, with the node and all its operands
            return None
        self.failures.clear()
        found: dict[str, Any] = {}
        for name, place in self.outputs:
            value = values[place]
            if isinstance(value, np.ndarray):
                if id(value) in taken or not value.flags.owndata:
                    value = np.array(value)
                taken.add(id(value))
                value.flags.writeable = True  # it owns its memory
            found[name] = value
        del given
        return found
