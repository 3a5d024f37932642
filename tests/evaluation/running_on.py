"""Truth about a loop, by a fresh run with the same inputs and edits until it ends, fails or takes too long; tallies."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from workbench.errors import ExecutionError
from workbench.execution import Run

#: events of nested loops are run one by one, so fewer of them
NESTED_EVENTS = 3_000


@dataclass
class End:
    """How a loop goes on: it ``ends`` or ``fails`` in an iteration, or is ``open`` after that many."""

    how: str
    iteration: int


def run_on(fresh: Run, number: int, bound: int) -> End:
    """The end of a loop outside of all others, from the beginning of the run."""
    each = 4 * fresh.plan.program.length
    with np.errstate(all="ignore"):
        while not fresh.finished and fresh.view.iteration(number) < bound:
            before = fresh.event
            try:
                fresh.go(fresh.event + 50 * each)
            except ExecutionError:
                return End("fails", max(fresh.view.iteration(number), 0))
            if fresh.event == before and not fresh.finished:
                fresh.go(fresh.event + 1, exact=True)
    return End("ends" if fresh.finished else "open", max(fresh.view.iteration(number), 0))


def nested_end(fresh: Run, run: Run, number: int) -> End:
    """The end of the present activation of a loop, or of the next one, seen from the position of ``run``."""
    fresh.to_event(run.event, skip_silent=True)
    entered = number in run.active_frames()
    around = run.iteration_of(number)[:-1] if entered else ()
    last, most = fresh.view.iteration(number), run.event + NESTED_EVENTS
    while not fresh.finished and fresh.event < most:
        try:
            fresh.go(fresh.event + 1, exact=True, skip_silent=False)
        except ExecutionError:
            return End("fails", last)
        if number in fresh.active_frames():
            if entered and fresh.iteration_of(number)[:-1] != around:
                return End("ends", last)
            entered, around = True, fresh.iteration_of(number)[:-1]
            last = fresh.iteration_of(number)[-1]
        elif entered:
            return End("ends", max(last, 0))
    return End("ends" if fresh.finished else "open", max(last, 0))


@dataclass
class Tally:
    """Counts of all programs, and the wrong answers as text, with the key that tells causes apart."""

    counts: Counter[str] = field(default_factory=Counter)
    found: list[tuple[str, str]] = field(default_factory=list)

    def report(self) -> str:
        names = (
            "programs",
            "not built",
            "questions",
            "PROVED",
            "PREDICTED",
            "UNKNOWN",
            "confirmed",
            "beyond the bound",
        )
        lines = [
            f"{name}: {self.counts[name]:,}" for name in (*names, "conditional", "wrong failures", "wrong", "raised")
        ]
        smallest: dict[str, str] = {}
        for key, text in sorted(self.found, key=lambda item: len(item[1])):
            smallest.setdefault(key, text)
        return "\n".join([*lines, *(f"\n{key}\n{text}" for key, text in smallest.items())])
