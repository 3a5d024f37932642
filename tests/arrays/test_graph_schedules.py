"""Random graphs under random release schedules: outputs and intermediates as handles, held, used, released, dropped.

The oracle of every value is a run of its own that nothing is released in. A second part carries random programs out
node by node on handles and releases each array at its last consumer: the peak is the one that counting by hand gives.
"""

from __future__ import annotations

import gc
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import workbench as wb
from tests.plan.random_graphs import Maker
from workbench.arrays import LEDGER, Ledger


def same(a, b):
    a, b = np.asarray(a), np.asarray(b)
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def held_now():
    return next((m for m in LEDGER.figures().managers if m.name == "held"), None)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 1 << 30), st.booleans())
def test_every_value_of_a_random_graph_can_be_held_while_the_run_goes_on(seed, schedule, on):
    graph, feeds = Maker(seed).make()
    r = random.Random(schedule)
    with wb.Session(graph, feeds) as oracle, wb.Session(graph, feeds, trace="off") as session, wb.collect_unused(on):
        oracle.run()
        known = [n for n in oracle.trace.names() if len(oracle.trace[n])]
        before = held_now().live if held_now() else 0
        handles: list[tuple[wb.Array, np.ndarray]] = []
        session.run()
        for _ in range(40):
            action = r.choice(("hold", "hold", "read", "release", "drop", "back", "run", "restart", "compute", "gc"))
            if action == "hold" and known and session.state == "finished":
                name = r.choice(known)
                tag = oracle.trace[name].tag(r.randrange(len(oracle.trace[name])))
                handle = session.hold(name, tag.iteration or None)
                assert handle.origin.tag == tag and handle.manager is None
                handles.append((handle, oracle.value(name, tag.iteration or None)))
            elif action == "back":
                session.step_back(r.randint(1, 5))
            elif action == "run":
                session.run()
            elif action == "restart":
                session.restart()
            elif action == "gc":
                gc.collect(0)
            elif handles:
                k = r.randrange(len(handles))
                handle, value = handles[k]
                if action == "drop":
                    handles.pop(k)
                elif action == "release":
                    handle.release()
                    with pytest.raises(wb.ReleasedError, match="double-release"):
                        handle.release()
                    handles.pop(k)
                elif action == "compute" and value.dtype.kind in "fi":
                    with np.errstate(all="ignore"):
                        handles.append((-handle, -value))
                else:
                    assert same(handle, value)
                handle = None
            assert all(same(h, v) for h, v in handles)
            assert (held_now().live if held_now() else 0) == before + len(handles)
        session.close()
        assert all(same(h, v) for h, v in handles)
        handle = handles.clear()
        assert (held_now().live if held_now() else 0) == before


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 1 << 30), st.booleans())
def test_outputs_of_random_graphs_belong_to_the_manager_that_ran_them(seed, schedule, on):
    graph, feeds = Maker(seed).make()
    r = random.Random(schedule)
    ledger = Ledger()
    ledger.collect(on)
    base = wb.ArrayManager("base", ledger=ledger)
    expected = graph.run(feeds)
    inputs = base.new_submanager("inputs")
    fed = {name: inputs.array(value) for name, value in feeds.items()}
    step = base.new_submanager("step")
    results = step.run(graph, fed)
    assert results.keys() == expected.keys()
    assert all(same(results[n], expected[n]) and results[n].manager is step for n in expected)
    assert len({h.uid for h in results.values()}) == len(results)  # no two names share a buffer
    kept = {n: step.ret(h) for n, h in results.items() if r.random() < 0.5}
    held = {n: h.hold("test") for n, h in results.items() if n not in kept and r.random() < 0.5}
    for closing in r.sample([inputs, step], 2):
        closing.close()
    for name, handle in results.items():
        if name in kept:
            assert same(handle, expected[name])
        else:
            with pytest.raises(wb.ReleasedError, match="'base/step' was closed"):
                handle.numpy()
    assert all(same(hold.array, expected[n]) for n, hold in held.items())
    assert ledger.figures().live == len(kept) + len(held)
    del handle, results
    kept.clear(), held.clear()
    gc.collect(0)
    base.close()
    assert ledger.figures().live == 0


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 1 << 30), st.booleans())
def test_released_at_the_last_consumer_memory_peaks_where_lifetimes_say(seed, explicit):
    """Either released by hand after the last use, or by dropping the handle with collection on: the same peak."""
    r = random.Random(seed)
    ledger = Ledger()
    ledger.collect(not explicit)
    base = wb.ArrayManager("base", ledger=ledger)
    count, n_inputs = r.randint(3, 25), r.randint(1, 3)
    sizes = (8, 64, 1000)
    shape = [(r.choice(sizes),) for _ in range(n_inputs)]
    program: list[tuple[int, int]] = []  # node n_inputs + k: the operands; the second is summed up to one number
    for k in range(count):
        a, b = (r.randrange(max(0, n_inputs + k - 6), n_inputs + k) for _ in range(2))
        program.append((a, b))
        shape.append(shape[a])
    last = {}
    for k, operands in enumerate(program):
        for o in operands:
            last[o] = k
    outputs = {v for v in range(n_inputs + count) if v not in last}
    plain: dict[int, np.ndarray] = {k: np.arange(shape[k][0]) % 7 for k in range(n_inputs)}
    for k, (a, b) in enumerate(program):
        plain[n_inputs + k] = plain[a] - plain[b][0]
    # by hand: what is live while node k is computed, its operands and its result and the number among them
    live = set(range(n_inputs))
    bound = 8 * sum(shape[v][0] for v in live)
    for k, operands in enumerate(program):
        live.add(n_inputs + k)
        bound = max(bound, 8 * sum(shape[v][0] for v in live) + 8)
        live -= {o for o in operands if last[o] == k}
    handles = {k: base.array(plain[k]) for k in range(n_inputs)}
    for k, (a, b) in enumerate(program):
        number = handles[b][0]
        handles[n_inputs + k] = handles[a] - number
        if explicit:
            number.release()
        del number
        for o in {a, b}:
            if last[o] == k:
                gone = handles.pop(o)
                if explicit:
                    gone.release()
                del gone
    assert handles.keys() == outputs and all(same(handles[v], plain[v]) for v in outputs)
    assert ledger.figures().live == len(outputs)
    assert ledger.figures().peak == bound
