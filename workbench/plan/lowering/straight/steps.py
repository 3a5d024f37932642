"""A straight run as it is carried out: its steps, one after the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from workbench.plan.lowering.straight.calls import Call
from workbench.plan.lowering.straight.joined_arrays import Guarded

#: runs in a row that were left to the executor, from which on all are
MOST_FAILURES = 2


class StraightStep(NamedTuple):
    """One call: the positions of its operands and results in the list of values, those to be freed, its decisions."""

    call: Call
    takes: tuple[int, ...]
    gives: tuple[int, ...]
    frees: tuple[int, ...] = ()
    guard: Guarded = ()


@dataclass(frozen=True, slots=True)
class StraightRun:
    """A whole run of a graph: feeds, by name, to outputs. ``feeds`` has the place of each and whether it must be dense;
    ``values`` the constants in their places, ``outputs`` the place of each output. Once ``failures``, in a row, are
    too many, as where a node gives another type than it declares, all runs are left to the executor."""

    feeds: tuple[tuple[str, int, bool], ...]
    values: tuple[Any, ...]
    steps: tuple[StraightStep, ...]
    outputs: tuple[tuple[str, int], ...]
    failures: list[str] = field(default_factory=list)

    def __call__(self, feeds: Mapping[str, Any]) -> dict[str, Any] | None:
        """The outputs, arrays of the caller's own; None where the executor must run."""
        if len(self.failures) >= MOST_FAILURES:
            return None
        values = list(self.values)
        for name, place, dense in self.feeds:
            fed = feeds[name]
            values[place] = np.ascontiguousarray(fed) if dense and not fed.flags.c_contiguous else fed
        taken = {id(v) for v in values}
        given = values[:]  # so that no other object takes one of these identities
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
        except Exception:  # the executor says what is wrong, with the node and all its operands
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
