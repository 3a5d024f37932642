"""The ledger against a plain model: interleavings of make, compute, use, hold, release, close, move, drop, collect.

The model is a table of arrays with their values, owners and holders, and the rules in words; it counts references by
hand. After every step: never a value freed while its owner or a holder has it, never one left when nobody has, values
bit for bit, all figures; a second release or a use too late is always the right error with the right culprit.
"""

from __future__ import annotations

import copy
import gc
import itertools
import os
import weakref

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

import workbench as wb
from workbench.arrays import Ledger, Origin, held_value

SOME = st.integers(0, 1 << 16)


class Row:
    """One array, as the model sees it."""

    def __init__(self, handle, value, owner, ledger):
        self.uid, self.value, self.owner = handle.uid, value, owner
        self.handles, self.holds, self.dropped_holds = [handle], [], []
        self.culprit = None  # how it was given up, and by whom
        self.array = weakref.ref(ledger._live[handle.uid].array)

    @property
    def freed(self):
        return self.culprit is not None and not self.holds


class LedgerMachine(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.ledger = Ledger()
        self.on = False
        self.rows: list[Row] = []
        self.managers = [wb.ArrayManager("m0", ledger=self.ledger), wb.ArrayManager("m1", ledger=self.ledger)]
        self.closed: set[int] = set()
        self.step = 0

    # -- picking ----------------------------------------------------------------------------------------------------
    def with_handles(self):
        return [r for r in self.rows if r.handles]

    def pick(self, rows, at):
        return rows[at % len(rows)] if rows else None

    def open_manager(self, at):
        found = [k for k in range(len(self.managers)) if k not in self.closed]
        return found[at % len(found)] if found else None

    def add(self, handle, value, owner):
        self.rows.append(Row(handle, value, owner, self.ledger))
        assert handle.uid not in [r.uid for r in self.rows[:-1]]

    def settle(self):
        """The effect of the collector, or of the absence of a manager, on arrays without a handle."""
        for row in self.rows:
            if not row.handles and row.culprit is None and (self.on or row.owner == "held"):
                row.culprit = "collection", None

    def refused(self, call, slug, culprit):
        try:
            call()
        except wb.ReleasedError as error:
            assert error.slug == slug and error.released[: len(culprit)] == culprit, (error, culprit)
            assert str(error.released) in str(error)
        else:
            raise AssertionError(f"no error of kind {slug}")

    # -- rules ------------------------------------------------------------------------------------------------------
    @initialize(at=SOME, holds=st.integers(0, 5))
    def begin(self, at, holds):
        """A run that begins with nothing seldom gets far."""
        self.make_a_submanager(at)
        for k in range(5):
            self.make(at + k)
        for k in range(holds):
            self.hold(at // 7 + k)

    @rule(at=SOME)
    def make(self, at):
        k = self.open_manager(at)
        self.step += 1
        value = np.arange(self.step, self.step + 1 + self.step % 3)
        if k is None or at % 7 == 0:
            self.add(held_value(value, Origin("test"), self.ledger), value, "held")
        else:
            self.add(self.managers[k].array(value), value, k)

    @rule(a=SOME, b=SOME)
    def compute(self, a, b):
        x, y = self.pick(self.with_handles(), a), self.pick(self.with_handles(), b)
        if x is None:
            return
        late = next((r for r in (x, y) if r.culprit), None)
        if late is not None:
            self.refused(lambda: x.handles[-1] + y.handles[0], "use-after-release", late.culprit)
        else:
            kept = y.handles[0][:1]
            self.add(kept, y.value[:1], y.owner)
            self.add(x.handles[-1] + kept, x.value + y.value[:1], x.owner)

    @rule(a=SOME)
    def change_in_place(self, a):
        row = self.pick([r for r in self.with_handles() if not r.culprit], a)
        if row is None:
            return
        handle = row.handles[0]
        if row.holds:
            with pytest.raises(wb.WorkbenchError, match="held-array"):
                handle += 1
        else:
            handle += 1
            row.value = row.value + 1
            assert row.array() is None
            row.array = weakref.ref(self.ledger._live[row.uid].array)

    @rule(a=SOME)
    def read(self, a):
        row = self.pick(self.with_handles(), a)
        if row is None:
            return
        handle = row.handles[a % len(row.handles)]
        assert handle.released is (row.culprit is not None) and str(row.uid) in repr(handle)
        if row.culprit:
            for use in (handle.numpy, lambda: handle.shape, lambda: handle[0], lambda: handle.hold("late")):
                self.refused(use, "use-after-release", row.culprit)
        else:
            assert np.array_equal(handle.numpy(), row.value)

    @rule(a=SOME)
    def copy_a_handle(self, a):
        row = self.pick(self.with_handles(), a)
        if row is not None:
            row.handles.append(copy.copy(row.handles[0]))

    @rule(a=SOME, in_a_cycle=st.booleans())
    def drop_a_handle(self, a, in_a_cycle):
        row = self.pick(self.with_handles(), a)
        if row is not None and not in_a_cycle:
            row.handles.pop()
        elif row is not None:
            gc.disable()  # the cycle stays among the youngest objects until it is looked for
            cycle = [row.handles.pop()]
            cycle.append(cycle)
            del cycle
            gc.collect(0)
            gc.enable()

    @rule(a=SOME)
    def hold(self, a):
        row = self.pick([r for r in self.with_handles() if not r.culprit], a)
        if row is not None:
            row.holds.append(row.handles[0].hold(f"holder {a}"))

    @rule(a=SOME)
    def read_a_hold(self, a):
        row = self.pick([r for r in self.rows if r.holds], a)
        if row is not None:
            assert np.array_equal(row.holds[a % len(row.holds)].array, row.value)

    @rule(a=SOME, lost=st.booleans())
    def drop_a_hold(self, a, lost):
        row = self.pick([r for r in self.rows if r.holds], a)
        if row is not None and lost:
            row.holds.pop()
        elif row is not None:
            hold = row.holds.pop(a % len(row.holds))
            hold.drop()
            for late in (hold.drop, lambda: hold.array):
                slug = "double-release" if late == hold.drop else "use-after-release"
                self.refused(late, slug, ("hold", hold.by))

    @rule(a=SOME)
    def release(self, a):
        row = self.pick(self.with_handles(), a)
        if row is None:
            return
        if row.culprit:
            self.refused(row.handles[0].release, "double-release", row.culprit)
        else:
            row.handles[0].release()
            row.culprit = "release", self.path(row.owner)

    def path(self, owner):
        return self.managers[owner].path if isinstance(owner, int) else owner

    @rule(a=SOME, b=SOME)
    def move(self, a, b):
        row, k = self.pick([r for r in self.with_handles() if not r.culprit], a), self.open_manager(b)
        if row is None:
            return
        if b % 5 == 0 or k is None:
            row.handles[0].detach()
            row.owner = "detached"
        elif b % 5 == 1 and isinstance(row.owner, int) and self.managers[row.owner].parent is not None:
            parent = self.managers[row.owner].parent
            self.managers[row.owner].ret(row.handles[0])
            row.owner = self.managers.index(parent)
        else:
            row.handles[0].attach(self.managers[k])
            row.owner = k

    @precondition(lambda self: len(self.managers) < 8)
    @rule(a=SOME)
    def make_a_submanager(self, a):
        k = self.open_manager(a)
        if k is not None:
            self.managers.append(self.managers[k].new_submanager(f"m{len(self.managers)}"))

    @rule(a=SOME)
    def close_a_manager(self, a):
        if a % 3:
            return
        k = a % len(self.managers)
        self.settle()  # what was collected before is not what the closing released
        self.managers[k].close()
        for j, manager in enumerate(self.managers):
            above, chain = manager, []
            while above is not None:
                chain.append(self.managers.index(above))
                above = above.parent
            if k in chain and j not in self.closed:
                self.closed.add(j)
                for row in self.rows:
                    if row.owner == j and row.culprit is None:
                        row.culprit = "close", manager.path
        with pytest.raises(wb.WorkbenchError, match="manager-closed"):
            self.managers[k].ones(())

    @rule(on=st.booleans())
    def switch(self, on):
        self.ledger.collect(on)
        self.on = on

    # -- what always holds ------------------------------------------------------------------------------------------
    @invariant()
    def the_ledger_is_the_model(self):
        self.settle()
        figures = self.ledger.figures()
        live = [r for r in self.rows if not r.freed]
        assert {r.uid for r in live} == set(self.ledger._live)
        assert figures.live == len(live) and figures.bytes == sum(r.value.nbytes for r in live)
        unused = [r for r in live if r.culprit is None and not r.handles]
        assert (figures.unused, figures.unused_bytes) == (len(unused), sum(r.value.nbytes for r in unused))
        assert figures.made == len(self.rows) and figures.released == sum(r.culprit is not None for r in self.rows)
        assert figures.collected == sum(r.culprit == ("collection", None) for r in self.rows)
        for k, manager in enumerate(self.managers):
            mine = [r for r in live if r.owner == k and r.culprit is None]
            assert (manager.account.live, manager.account.bytes) == (len(mine), sum(r.value.nbytes for r in mine))
            assert sorted(info.uid for info in manager.arrays()) == sorted(r.uid for r in mine)

    @invariant()
    def what_is_freed_is_gone_and_nothing_else(self):
        for row in self.rows:
            assert (row.array() is None) == row.freed, (row.uid, row.culprit, len(row.holds))

    def teardown(self):
        for row in self.rows:
            row.handles.clear()
            row.holds.clear()
        for manager in self.managers:
            manager.close()
        self.ledger.collect(True)
        assert (self.ledger.figures().live, self.ledger.figures().bytes, len(self.ledger._unused)) == (0, 0, 0)


def some(examples, phases=tuple(Phase)):
    return settings(
        max_examples=examples,
        stateful_step_count=40,
        deadline=None,
        phases=phases,
        suppress_health_check=list(HealthCheck),
    )


def test_random_schedules():
    run_state_machine_as_test(LedgerMachine, settings=some(60))


@pytest.mark.sweep
@pytest.mark.timeout(600)
def test_many_random_schedules():
    run_state_machine_as_test(LedgerMachine, settings=some(int(os.environ.get("WORKBENCH_SWEEP", "400"))))


# -- every schedule of a small program ------------------------------------------------------------------------------
ACTIONS = ("read y", "drop hold", "release y", "close step", "drop y", "drop twin", "release twin", "switch")


@pytest.mark.slow
@pytest.mark.parametrize("on", [False, True])
def test_every_order_of_eight_events_on_one_array(on):
    """All 40,320 orders; after each event the value is there exactly as long as the rules say."""
    value = np.array([5.0, 7.0])
    for order in itertools.permutations(ACTIONS):
        ledger = Ledger()
        ledger.collecting = collecting = on
        step = wb.ArrayManager("step", ledger=ledger)
        y = step.array(value)
        twin, hold = copy.copy(y), y.hold("trace")
        handles, held, culprit = {"y": y, "twin": twin}, True, None
        del y, twin
        array = weakref.ref(ledger._live[handles["y"].uid].array)
        for action in order:
            verb, name = action.split(" ") if " " in action else (action, "")
            if action == "drop hold":
                assert hold.array.tolist() == [5.0, 7.0]
                hold.drop()
                held = False
            elif verb == "drop":
                handles.pop(name)
            elif action == "close step":
                step.close()
                culprit = culprit or "close"
            elif action == "switch":
                collecting = not collecting
                ledger.collect(collecting)
            elif name in handles:
                try:
                    if verb == "read":
                        assert handles[name].tolist() == [5.0, 7.0]
                    else:
                        handles[name].release()
                except wb.ReleasedError as error:
                    assert culprit == error.released.how
                    assert error.slug == ("use-after-release" if verb == "read" else "double-release")
                else:
                    assert culprit is None
                    culprit = "release" if verb == "release" else None
            ledger.drain()
            if not handles and collecting:
                culprit = culprit or "collection"
            assert (array() is None) == (culprit is not None and not held), (order, action)
        assert ledger.total.live == 0 and ledger.total.bytes == 0
