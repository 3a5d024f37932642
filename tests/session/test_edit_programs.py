"""Edits on random programs, raw frames among them: no change changes nothing, and every replay has a change."""

from __future__ import annotations

import random

import numpy as np
import pytest

import workbench as wb
from tests.plan.random_graphs import Maker
from tests.plan.random_raw import RawMaker
from workbench import StopReason as R
from workbench.errors import SessionError
from workbench.graph.node import Ref


def firings(session: wb.Session) -> dict[tuple[str, int], list]:
    """Every firing of every value, as bytes."""
    found = {}
    for node, output in session.plan.layout.values:
        series = session.trace[Ref(node, output)]
        found[node, output] = [np.asarray(v).tobytes() for v in series.firings()]
    return found


def somewhere(session: wb.Session, r: random.Random, length: int) -> None:
    session.restart()
    session.step(r.randrange(1, max(2, length)))


def editable(session: wb.Session, r: random.Random) -> tuple[str, np.ndarray] | None:
    """A value that can be edited here, and what it is; the edit is made with the same value."""
    names = [str(Ref(*key)) for key in session.plan.layout.values]
    r.shuffle(names)
    for name in names[:40]:
        try:
            before = np.array(session.value(name), copy=True)
        except wb.WorkbenchError:
            continue
        try:
            session.set_value(name, before)
        except SessionError:
            continue
        return name, before
    return None


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("kind", ["nesting", "raw"])
def test_edits_of_random_programs(kind, seed):
    graph, feeds = Maker(seed).make() if kind == "nesting" else RawMaker(random.Random(seed)).make()
    r = random.Random(seed)
    with wb.Session(graph, feeds) as session:
        if session.run().reason is not R.FINISHED:
            pytest.skip("this program fails (an Exit that is alive twice)")
        wanted, length = firings(session), session.position.event
        somewhere(session, r, length)
        found = editable(session, r)
        if found is None:
            return
        session.run()
        assert firings(session) == wanted, "an edit that changes nothing has changed something"

        somewhere(session, r, length)
        found = editable(session, r)
        if found is None:
            return
        name, before = found
        if before.dtype.kind not in "if":
            return
        at = session.position.event
        session.set_value(name, before + before.dtype.type(1))
        session.run()
        changed = firings(session)
        for back in (1, 3, 20, length):
            session.step_back(min(back, length))
            if session.position.event < at:
                session.run()
                assert firings(session) == changed, "a replay from in front of the edit differs"
            else:
                session.run()
                assert firings(session) == changed, "a replay behind the edit differs"
