"""An updated session held against one that was run with the new inputs from the start, bit for bit."""

from __future__ import annotations

import random

import numpy as np

import workbench as wb
from workbench import StopReason as R
from workbench.errors import DeadValueError
from workbench.execution.incremental import Update
from workbench.ir import Graph, Ref

Feeds = dict[str, np.ndarray]


def bits(value: object) -> tuple:
    if not isinstance(value, (np.ndarray, np.generic)):
        return ("object", repr(value))
    array = np.asarray(value)
    return (array.dtype.str, array.shape, array.tobytes() if not array.dtype.hasobject else tuple(array.reshape(-1)))


def outputs(session: wb.Session) -> object:
    try:
        return {n: bits(v) for n, v in session.outputs.items()}
    except DeadValueError as error:
        return (error.slug, error.message)


def record(session: wb.Session) -> dict[str, object]:
    """All that a trace tells: every value with its tags, the events in their order, the decisions, where it stands."""
    trace, found = session.trace, {}
    for node, output in session.plan.layout.values:
        series = trace[Ref(node, output)]
        tags = list(map(tuple, series.iterations.tolist()))
        found[f"{node}:{output}"] = list(zip(tags, map(bits, series.firings()), strict=True))
        if session.plan.layout.values[node, output].statistics is not None:
            found[f"{node}:{output} statistics"] = bits(series.statistics)
    events, branches = trace.events(), trace.branches()
    found["events"] = [str(t) for t in events]
    found["branches"] = [(str(t), bool(b)) for t, b in zip(branches, branches.taken, strict=True)]
    found["position"] = str(session.position), session.position.event, session.state
    return found


def check_same(session: wb.Session, fresh: wb.Session) -> None:
    ours, theirs = record(session), record(fresh)
    assert ours.keys() == theirs.keys()
    for name in theirs:
        assert ours[name] == theirs[name], f"{name} is {ours[name]}, expected {theirs[name]}; at {theirs['position']}"
    if fresh.state == "finished":
        assert outputs(session) == outputs(fresh)


def check_update(session: wb.Session, update: Update, graph: Graph, feeds: Feeds, r: random.Random, **how) -> None:
    """The session is as one that was run with ``feeds``, and every way back in it leads to the same states."""
    with wb.Session(graph, feeds, **how) as fresh:
        stop = fresh.run()
        assert session.state == fresh.state
        if stop.reason is R.FINISHED:
            assert update.finished
            assert update.firings == fresh.position.event
        assert 0 <= update.recomputed <= fresh.position.event
        assert sum(update.nodes.values()) == update.recomputed, update
        check_same(session, fresh)
        for _ in range(2):
            back = r.randrange(1, fresh.position.event + 2)
            for each in (session, fresh):
                each.step_back(back)
            check_same(session, fresh)
            for each in (session, fresh):
                each.step(2)
                each.run()
        check_same(session, fresh)
        for checkpoint in list(session._run.checkpoints):  # each is one of the new run
            session._run.seek(checkpoint.events)
            fresh._run.seek(checkpoint.events)
            assert str(session._run.position()) == str(fresh._run.position())
            session._run.restore(session._run.before(checkpoint.events))
        session.run()
        fresh.run()
        check_same(session, fresh)


def change(feeds: Feeds, r: random.Random) -> Feeds:
    """Some inputs otherwise: one element, all of them, a sign of zero, a NaN; or the same again."""
    changes: Feeds = {}
    for name in r.sample(sorted(feeds), r.randint(1, min(2, len(feeds)))):
        array = np.array(feeds[name], copy=True)
        flat = array.reshape(-1)
        kind = r.random()
        if flat.size and kind < 0.55:
            at = r.randrange(flat.size)
            if array.dtype.kind == "b":
                flat[at] = not flat[at]
            elif array.dtype.kind == "f" and kind < 0.1:
                flat[at] = r.choice([np.nan, -0.0, 0.0, np.inf])
            else:
                flat[at] = r.randint(-4, 5)
        elif array.dtype.kind in "if" and kind < 0.85:
            flat[...] = [r.randint(-4, 5) for _ in range(flat.size)]
        changes[name] = array
    return changes
