"""Sessions that keep a part of their trace: what is kept, what is said of it, and that memory stays bounded."""

from __future__ import annotations

import time

import numpy as np
import pytest

import workbench as wb
from tests.execution.loops import draws
from workbench.errors import TraceError, WorkbenchError
from workbench.execution import Run, prepare_feeds
from workbench.session import plan_for

TRIPS, MIB = 200_000, 1 << 20
ROOM_FOR_CARRIED = 12 * MIB  # for what the loop carries in TRIPS iterations, not for all of its rows


def graph() -> wb.Graph:
    """x is carried, y is not, and z only in every third iteration."""
    b = wb.GraphBuilder("logistic")
    n = b.placeholder("n", "int64")

    def body(x, i):
        y = b.alias("y", x * (1.0 - x))
        z = b.cond(i % 3 == 0, lambda: b.alias("z", y * 3.9), lambda: y * 3.7)
        return z, i + 1

    x, i = b.while_loop(lambda x, i: i < n, body, [b.constant(0.3), 0], name="loop")
    return b.build({"x": x, "i": i})


POLICIES = [
    "carried",
    "off",
    wb.Retention("carried", memory=2 * MIB),
    wb.Retention("statistics", memory=2 * MIB),
    wb.Retention("window", window=20_000, memory=4 * MIB),
    wb.Retention("none", every=100, memory=2 * MIB),
    wb.Retention("carried", every=50, window=1000, names=("y",), memory=8 * MIB),
    wb.Retention("all", every=7, memory=2 * MIB),
    wb.Retention("none", memory=2 * MIB),
]


@pytest.fixture(scope="module")
def whole():
    with wb.Session(graph(), {"n": TRIPS}) as session:
        session.run()
        yield session


def name_of(session: wb.Session, part: str) -> str:
    return next(n for n in session.trace.names() if n.split("/")[-1] == part)


@pytest.mark.slow
@pytest.mark.parametrize("policy", POLICIES, ids=repr)
def test_every_value_is_kept_or_recomputed(policy, whole):
    with wb.Session(graph(), {"n": TRIPS}, trace=policy) as session:
        session.run()
        for part in ("x", "i", "y", "z"):
            name = part if part in session.trace else name_of(session, part)
            full = whole.trace[name]
            series = session.trace[name]
            places = np.searchsorted(full.iterations[:, 0], series.iterations[:, 0])
            assert np.array_equal(full.iterations[places], series.iterations)
            assert np.array_equal(full.values[places], series.values)
            cover = session.trace.coverage(name)
            assert cover.happened == TRIPS + 1 and cover.whole == (cover.kept == cover.happened)
            assert len(series) <= cover.kept == sum(len(range(a, b + 1, k)) for a, b, k in cover.stretches)
            for start, stop, step in ((0, 50, 1), (TRIPS // 2, TRIPS // 2 + 3000, 7), (0, None, TRIPS // 10)):
                paths, values = session.values(name, start, stop, step)
                wanted = np.isin(full.iterations[:, 0], np.arange(start, stop or TRIPS + 1, step))
                assert np.array_equal(paths, full.iterations[wanted]) and np.array_equal(values, full.values[wanted])
        assert session.value("x", TRIPS // 3) == whole.trace["x"].values[TRIPS // 3]
        if isinstance(policy, wb.Retention):
            assert session._run.held_bytes <= policy.memory


def test_carried_values_of_all_iterations_and_all_decisions(whole):
    with wb.Session(graph(), {"n": TRIPS}, trace=wb.Retention("carried", memory=ROOM_FOR_CARRIED)) as session:
        session.run()
        assert session._run.keeper.bytes > 0 and session.trace.dropped
        for name in ("x", "i"):
            assert session.trace.coverage(name).whole
            assert np.array_equal(session.trace[name].values, whole.trace[name].values)
        assert not session.trace.coverage(name_of(session, "y")).whole
        decisions = session.trace.branches()
        assert not decisions.partial and decisions == whole.trace.branches()
        assert session.trace.branch_counts() == whole.trace.branch_counts()


def test_thinning_spreads_what_is_kept_evenly():
    with wb.Session(graph(), {"n": TRIPS}, trace=wb.Retention("carried", memory=2 * MIB)) as session:
        session.run()
        (first, last, step), newest = session.trace.coverage("x").stretches
        assert first == 0 and step in (2, 4, 8, 16) and newest[2] == 1 and newest[1] == TRIPS
        assert 0 < newest[0] - last <= step + 1 and session.trace.branches().partial
        assert "every" in str(session.trace.coverage("x"))
        assert session.trace["x"].gaps


def test_a_window_has_the_newest_iterations():
    with wb.Session(graph(), {"n": TRIPS}, trace=wb.Retention("window", window=60_000, memory=16 * MIB)) as session:
        session.run()
        iterations = session.trace["x"].iterations[:, 0]
        assert 60_000 <= len(iterations) < TRIPS and np.array_equal(iterations, np.arange(iterations[0], TRIPS + 1))
        assert len(session.trace[name_of(session, "y")]) in (len(iterations) - 1, len(iterations))


@pytest.mark.parametrize("trace", ["all", wb.Retention("statistics", memory=2 * MIB)])
@pytest.mark.parametrize("part", ["x", "y", "z"])
def test_an_envelope_bounds_every_block(trace, part, whole):
    with wb.Session(graph(), {"n": TRIPS}, trace=trace) as session:
        session.run()
        name = part if part in session.trace else name_of(session, part)
        full = whole.trace[name]
        found = session.trace[name].envelope(200)
        assert 20 <= len(found) <= 201 and found.count.sum() == len(full)
        iterations, values = full.iterations[:, 0], full.values
        for k in range(0, len(found), 7):
            mine = (iterations >= found.first[k, 0]) & (iterations <= found.last[k, 0])
            block = values[mine]
            assert len(block) == found.count[k] == found.numbers["size"][k]
            assert (found.numbers["min"][k], found.numbers["max"][k]) == (block.min(), block.max())
            assert np.isclose(found.mean[k], block.mean(), rtol=1e-12)


def test_envelopes_of_arrays_come_from_their_statistics():
    b = wb.GraphBuilder("arrays")
    start = b.constant(np.linspace(0.0, 1.0, 16))
    v, _ = b.while_loop(lambda v, i: i < 20_000, lambda v, i: (b.alias("sine", np.sin(v)), i + 1), [start, 0])
    made = b.build({"v": v})
    name = "sine"
    with wb.Session(made) as all_of_it, wb.Session(made, trace=wb.Retention("statistics", memory=MIB)) as session:
        all_of_it.run()
        session.run()
        found, values = session.trace[name].envelope(), all_of_it.trace[name].values
        assert found.count.sum() == len(values) == 20_000 and found.numbers["size"].sum() == values.size
        assert found.numbers["min"].min() == values.min() and found.numbers["max"].max() == values.max()
        with pytest.raises(TraceError, match="envelope"):
            all_of_it.trace[name].envelope()


@pytest.mark.parametrize("policy", POLICIES[2:], ids=repr)
def test_the_memory_is_never_exceeded(policy):
    """Sampled whenever rows leave, which is when most is held; nested loops, whose activations count too."""
    b = wb.GraphBuilder("nested")

    def outer(y, i):
        y, _ = b.while_loop(lambda y, j: j < i % 5, lambda y, j: (y * 0.9 + 1.0, j + 1), [y, 0], name="inner")
        return b.alias("y", y), i + 1

    made = b.build(list(b.while_loop(lambda y, i: i < 40_000, outer, [b.constant(0.0), 0], name="outer")))
    for source, feeds in ((graph(), {"n": TRIPS}), (made, {})):
        arrays = prepare_feeds(source, feeds)
        run = Run(plan_for(source, arrays, None), arrays, policy.memory, keeping=policy)
        most, samples = 0, 0
        inner = run.machine.retire

        def retire(*what, run=run, inner=inner):
            nonlocal most, samples
            if inner is not None:
                inner(*what)
            most, samples = max(most, run.held_bytes), samples + 1

        run.machine.retire = retire
        while run.go() != "halt":
            most = max(most, run.held_bytes)
        assert samples > 3 and most <= policy.memory


def test_random_draws_are_recomputed_bit_for_bit():
    trips = 3000
    policy = wb.Retention("carried", memory=128 << 10)
    with wb.Session(draws(trips)) as all_of_it, wb.Session(draws(trips), trace=policy) as session:
        all_of_it.run()
        session.run()
        x = all_of_it.trace["x"].values
        assert not session.trace.coverage("x").whole
        assert np.array_equal(session.values("x")[1], x)
        assert all(session.value("x", k) == x[k] for k in (0, 1, 7, 1000, 2999, 3000))


def test_values_of_inner_loops():
    b = wb.GraphBuilder("nested")

    def outer(y, i):
        y, _ = b.while_loop(lambda y, j: j < 50, lambda y, j: (y * 0.9 + 1.0, j + 1), [y, 0], name="inner")
        return y, i + 1

    y, _ = b.while_loop(lambda y, i: i < 2000, outer, [b.constant(0.0), 0], name="outer")
    made = b.build({"out": y})
    name = "inner/y"
    with wb.Session(made) as all_of_it, wb.Session(made, trace="off") as session:
        name = next(n for n in all_of_it.trace.names() if n.startswith("inner") and n.endswith("y"))
        all_of_it.run()
        session.run()
        full = all_of_it.trace[name]
        for around in (0, 3, 777, 1999):
            wanted = full.iterations[:, 0] == around
            paths, values = session.values(name, within=around)
            assert np.array_equal(paths, full.iterations[wanted]) and np.array_equal(values, full.values[wanted])
            paths, values = session.values(name, 5, 20, 3, within=around)
            assert paths[:, 1].tolist() == [5, 8, 11, 14, 17] and np.array_equal(values, full.values[wanted][5:20:3])
        assert len(session.values(name, within=5000)[1]) == 0
        with pytest.raises(TraceError) as caught:
            session.values(name)
        assert caught.value.slug == "bad-iteration" and "within" in str(caught.value)


def test_a_range_costs_one_replay():
    """Twice the range takes about twice the time, not four times: no replay for each value."""
    with wb.Session(graph(), {"n": TRIPS}, trace="off") as session:
        session.run()
        forks = []
        made, session._run.fork = session._run.fork, lambda *a: forks.append(a) or made(*a)
        session.values("x", 0, TRIPS, 10)
        assert len(forks) == 1


def test_reading_while_it_runs(whole):
    x = whole.trace["x"].values
    with wb.Session(graph(), {"n": 3_000_000}, trace=wb.Retention("carried", memory=4 * MIB)) as session:
        session.run(wait=False)
        looks, end = 0, time.monotonic() + 3
        while session.state == "running" and time.monotonic() < end or looks < 3:
            series = session.trace["x"]
            iterations, values = series.window(0, len(series))
            known = iterations[:, 0] < len(x)
            assert np.array_equal(values[known], x[iterations[known, 0]])
            assert np.all(np.diff(iterations[:, 0]) > 0)
            session.trace.coverages()
            looks += 1
        session.pause()


@pytest.mark.parametrize(
    "make",
    [
        lambda: wb.Retention("some"),
        lambda: wb.Retention(every=0),
        lambda: wb.Retention("window"),
        lambda: wb.Retention("all", window=5),
        lambda: wb.Retention(memory=-1),
        lambda: wb.Retention(memory=1.5),
        lambda: wb.Retention(every=True),
        lambda: wb.Retention(names="x"),
        lambda: wb.Session(graph(), {"n": 1}, trace="most"),
        lambda: wb.Session(graph(), {"n": 1}, trace=7),
        lambda: wb.Session(graph(), {"n": 1}, trace=wb.Retention(), memory_budget=5),
    ],
)
def test_policies_that_make_no_sense(make):
    with pytest.raises(WorkbenchError) as caught:
        make()
    assert caught.value.slug == "bad-retention" and caught.value.fix


def test_a_name_that_is_not_computed_is_said_at_once():
    with pytest.raises(WorkbenchError, match="nobody"):
        wb.Session(graph(), {"n": 1}, trace=wb.Retention(names=("nobody",)))


@pytest.mark.parametrize("policy", [wb.Retention(), *[p for p in POLICIES if not isinstance(p, str)]], ids=repr)
def test_a_policy_is_written_as_code(policy):
    assert eval(repr(policy), {"Retention": wb.Retention}) == policy


@pytest.mark.parametrize("size", [1, 4, 1000])
def test_rows_stay_as_they_are_while_there_is_room(size):
    """Nothing is copied out of rows before the memory is full; then as much is kept as it holds."""
    b = wb.GraphBuilder("decay")
    n = b.placeholder("n", "int64")
    x, i = b.while_loop(lambda x, i: i < n, lambda x, i: (x * 0.99, i + 1), [b.constant(np.ones(size)), 0], name="loop")
    feeds, policy = {"n": 24_000_000 // (8 * (size + 2))}, wb.Retention("carried", memory=256 * MIB)
    with wb.Session(b.build({"x": x}), feeds, trace=policy) as session:
        session.run()
        assert session._run.keeper.bytes == 0 and not session.trace.dropped
        assert session.trace["x"].values.shape == (feeds["n"] + 1, size)
    with wb.Session(b.build({"x": x}), feeds, trace=wb.Retention("carried", memory=12 * MIB)) as small:
        small.run()  # no room for all: what is kept is spread over the run, and the rest computed again
        assert small._run.keeper.bytes > MIB and small._run.held_bytes <= 12 * MIB
        value = small.value("x", feeds["n"] // 3)
        assert value.tobytes() == session.value("x", feeds["n"] // 3).tobytes()
