"""Where the machine stands while a run is revised, and where it can be left."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.execution.incremental.changes import Changes
from workbench.execution.incremental.steps import Steps
from workbench.execution.run import Run
from workbench.kernels import machine as core

#: counts of a store of which nothing is there
EMPTY = (-1, 0, -1, -1)


class Standing(Changes):
    """The position of one revision, in events of the new run."""

    def __init__(self, run: Run, steps: Steps, feeds: Mapping[str, Any]) -> None:
        super().__init__(run, steps, feeds)
        self._within: dict[int, int] = {}  # first instruction of a loop -> events in it, of those that are revised
        self._opened: dict[int, int] = {}  # frame -> events in front of it
        self._at: int | None = None  # instruction in front of which all is revised; None: the machine stands right
        self._landed = False

    def leave(self) -> None:
        """Stand where what has been revised ends; what comes later in the program is forgotten."""
        if self._at is not None:
            self._stand(self._at, forget=True)
        elif not self._landed:
            machine, ip = self.run.machine, self.run.view.ip
            amid = self.steps.step_at(ip)  # a loop: what is in it belongs to earlier iterations too
            later = self.steps.stores_from(ip if amid is None else amid.stop)
            core.stand(machine, ip, core.base_events(machine), dict.fromkeys(later, EMPTY), self._opened)
            self._forget_later(later)

    def _stand(self, ip: int, *, empty: tuple[int, ...] = (), forget: bool = False) -> None:
        """Stand in front of an instruction of the outermost level, or where its guards lead from there."""
        machine, steps = self.run.machine, self.steps
        at, outside, entered = core.outermost_events(machine, ip, steps.ends)
        stores = dict.fromkeys(steps.stores(empty), EMPTY)
        if forget:
            stores |= dict.fromkeys(steps.stores_from(ip), EMPTY)
            self._forget_later(steps.stores_from(ip))
        events = outside + sum(self._within.get(k, 0) for k in entered)
        core.stand(machine, at, events, stores, self._opened)
        self.run.continue_from(self.run.checkpoints)

    def _forget_later(self, stores: list[int]) -> None:
        """Checkpoints were made while rows of later loops still lay there."""
        for checkpoint in self.run.checkpoints:
            core.without(checkpoint, stores)
