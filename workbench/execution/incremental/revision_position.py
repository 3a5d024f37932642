"""The position of the executor during a revision, and a valid position at which the revision can end."""

from __future__ import annotations

from workbench.execution.incremental.steps import RevisionSteps
from workbench.execution.run import Run
from workbench.kernels import machine as core

#: counts of an empty store
EMPTY = (-1, 0, -1, -1)


class RevisionPosition:
    """The position of one revision, in events of the new run."""

    def __init__(self, run: Run, steps: RevisionSteps) -> None:
        self.run, self.steps = run, steps
        #: first instruction of a revised loop -> number of events in it
        self.events_within: dict[int, int] = {}
        #: frame -> number of events before it
        self.events_before: dict[int, int] = {}
        #: everything before this instruction is revised; None: the executor's position is valid
        self.revised_to: int | None = None
        #: True once the executor has reached a position of the new run at which the revision ends
        self.landed = False

    def land(self) -> None:
        """Keep the executor's position, which is that of the new run."""
        self.landed, self.revised_to = True, None

    def leave(self) -> None:
        """Move the executor to the end of the revised part; everything later in the program is dropped."""
        if self.revised_to is not None:
            self.set_before(self.revised_to, forget=True)
        elif not self.landed:
            machine, ip = self.run.machine, self.run.view.ip
            current = self.steps.step_at(ip)  # a loop: its stores also contain earlier iterations
            later = self.steps.stores_from(ip if current is None else current.stop)
            core.set_position(machine, ip, core.base_events(machine), dict.fromkeys(later, EMPTY), self.events_before)
            self.forget_later(later)

    def set_before(self, ip: int, *, empty: tuple[int, ...] = (), forget: bool = False) -> None:
        """Set the position before an instruction of the outermost level, or to the instruction to which its guards
        lead."""
        machine, steps = self.run.machine, self.steps
        at, outside, entered = core.outermost_events(machine, ip, steps.ends)
        stores = dict.fromkeys(steps.stores(empty), EMPTY)
        if forget:
            stores |= dict.fromkeys(steps.stores_from(ip), EMPTY)
            self.forget_later(steps.stores_from(ip))
        events = outside + sum(self.events_within.get(k, 0) for k in entered)
        core.set_position(machine, at, events, stores, self.events_before)
        self.run.continue_from(self.run.checkpoints)

    def forget_later(self, stores: list[int]) -> None:
        """Remove outdated rows of later loops from the checkpoints."""
        for checkpoint in self.run.checkpoints:
            core.drop_stores(checkpoint, stores)
