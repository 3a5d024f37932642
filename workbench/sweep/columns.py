"""The columns of a whole sweep: one row per point, filled as chunks arrive."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.plan import ExecutionPlan
from workbench.sweep.chunk import FAILED, OUTCOMES, WAITING, Chunk, Failure, empty_chunk
from workbench.sweep.facts import empty_facts
from workbench.sweep.problem import Problem

#: outcomes by their code, in the order of the codes; the last one stands for all points that were not run
NAMES = np.array([*OUTCOMES, *["waiting"] * (WAITING + 1 - len(OUTCOMES))])


def as_slice(places: np.ndarray) -> np.ndarray | slice:
    """Ascending places as a slice if they are contiguous."""
    n = len(places)
    return slice(int(places[0]), int(places[0]) + n) if n and places[-1] - places[0] == n - 1 else places


class ResultColumns:
    """Results of all points. ``all`` is a :class:`Chunk` of the whole sweep."""

    def __init__(self, problem: Problem, plan: ExecutionPlan, n: int) -> None:
        self.all = empty_chunk(problem, plan, n)
        for name in set(self.all.series) - set(problem.series):  # only the facts needed them
            del self.all.series[name], self.all.counts[name]
        for name, length in problem.series.items():
            self.all.series[name] = self.all.series[name][:, -length:].copy()
        self.facts = empty_facts(problem, n)

    def put(self, places: np.ndarray, chunk: Chunk, facts: dict[str, Any]) -> np.ndarray:
        """Copy the points of a chunk that were run, and return the indices of their rows in the chunk."""
        done = np.flatnonzero(chunk.status != WAITING)
        at, rows, whole = (as_slice(places[done]), as_slice(done), self.all)  # slices copy thousands of points at once
        for name in ("events", "iterations", "periods"):
            getattr(whole, name)[at] = getattr(chunk, name)[rows]
        for mine, theirs in ((whole.values, chunk.values), (whole.alive, chunk.alive), (whole.counts, chunk.counts)):
            for name in mine:
                mine[name][at] = theirs[name][rows]
        for name, column in whole.series.items():
            column[at] = chunk.series[name][rows][:, -column.shape[1] :]
        for name, column in self.facts.items():
            column[at] = facts[name][rows]
        for k, failure in chunk.failures.items():
            whole.failures[int(places[k])] = failure
        whole.status[at] = chunk.status[rows]  # last, so that a visible status implies visible values
        return done

    def rows(self, places: np.ndarray) -> tuple[Chunk, dict[str, Any]]:
        """The results at given places."""
        whole = self.all

        def pick(table: dict[str, Any]) -> dict[str, Any]:
            return {name: column[places] for name, column in table.items()}

        where = {int(place): k for k, place in enumerate(places)}
        failures = {where[p]: f for p, f in whole.failures.items() if p in where}
        chunk = Chunk(
            whole.status[places],
            whole.events[places],
            whole.iterations[places],
            whole.periods[places],
            pick(whole.values),
            pick(whole.alive),
            pick(whole.series),
            pick(whole.counts),
            failures,
        )
        return chunk, pick(self.facts)

    @property
    def outcome(self) -> np.ndarray:
        """Names of the outcomes."""
        names: np.ndarray = NAMES[self.all.status]
        return names

    def failure_texts(self) -> np.ndarray:
        """Failures as strings, one per point; empty if nothing failed."""
        texts = np.full(len(self.all), "", object)
        for place in np.flatnonzero(self.all.status == FAILED):
            texts[place] = str(self.all.failures.get(int(place), Failure("?", (), "")))
        return texts
