"""Updates of random programs, several in a row: the session is as one that was run with the new inputs."""

from __future__ import annotations

import os
import random

import numpy as np
import pytest
from hypothesis import HealthCheck, currently_in_test_context, given, note, settings
from hypothesis import strategies as st

import workbench as wb
from tests.plan.random_arrays import ArrayMaker
from tests.plan.random_graphs import SCALARS, Maker, numbers
from tests.plan.random_raw import RawMaker
from tests.session.test_edit_programs import editable, somewhere
from tests.session.updates import change, check_update, record
from workbench.ir import Graph, Value
from workbench.kernels import machine as core

COMMON = {"deadline": None, "suppress_health_check": list(HealthCheck), "print_blob": True}
SEEDS = st.integers(0, 1 << 32)


class Reader(Maker):
    """Programs whose loops begin with constants and read single elements of the inputs, or limits from them; they draw
    numbers too, and fail where one is not finite."""

    def make(self) -> tuple[Graph, dict[str, np.ndarray]]:
        r, feeds, pool = self.r, {}, []
        for k in range(r.randint(2, 4)):
            dtype, shape = r.choice(SCALARS), r.choice([(), (5,), (5,)])
            feeds[f"in{k}"] = np.asarray(np.random.default_rng(r.randrange(1 << 30)).integers(-2, 6, shape), dtype)
            pool.append(self.b.placeholder(f"in{k}", dtype, shape if r.random() < 0.8 else None))
        self.inputs = [v for v in pool if v.shape not in (None, ())]
        self.loop(pool, 0)
        self.block(pool, 0)
        picked = r.sample(pool, min(len(pool), 4))
        return self.b.build({f"out{k}": v for k, v in enumerate(picked)}), feeds

    def movable(self, pool: list[Value]) -> list[Value]:
        return numbers(pool) if self.r.random() < 0.3 else []

    def op(self, pool: list[Value]) -> Value:
        b, r = self.b, self.r
        chance = r.random()
        if chance < 0.4 and self.inputs:
            x = r.choice(self.inputs)
            (size,) = x.shape or (1,)
            index = b.op("cast", self.pick([v for v in pool if v.shape == () and v.dtype != "bool"]), dtype="int64")
            read = b.op("gather", x, b.op("maximum", b.op("minimum", index, np.int64(size - 1)), np.int64(-size)))
            return b.op(r.choice(["add", "multiply", "minimum"]), read, self.pick([], x.dtype))
        x = self.pick(numbers(pool))
        if chance < 0.45 and x.dtype.startswith("float"):
            return b.op("check_numerics", x, message="not finite")
        if chance < 0.5 and x.dtype.startswith("float"):
            none = b.constant(np.array([], np.int32))
            draw = b.op("random_uniform", none, dtype=x.dtype, seed=r.randrange(9), seed2=1)
            return b.op("multiply", x, draw)
        return super().op(pool)


LONG = 20


class Long(Reader):
    """Programs with long loops, which read another element in each iteration, here and there in a loop within, and a
    limit that may be an input."""

    def make(self) -> tuple[Graph, dict[str, np.ndarray]]:
        r, feeds, pool = self.r, {}, []
        for k in range(r.randint(1, 3)):
            dtype = r.choice(SCALARS)
            feeds[f"in{k}"] = np.asarray(np.random.default_rng(r.randrange(1 << 30)).integers(-2, 6, LONG), dtype)
            pool.append(self.b.placeholder(f"in{k}", dtype, (LONG,)))
        feeds["n"] = np.asarray(r.randint(0, LONG), np.int64)
        self.inputs, self.limit = list(pool), self.b.placeholder("n", "int64", ())
        for _ in range(r.randint(1, 2)):
            pool.extend(self.long())
        self.block(pool, 0)
        picked = r.sample(pool, min(len(pool), 4))
        return self.b.build({f"out{k}": v for k, v in enumerate(picked)}), feeds

    def long(self, depth: int = 0) -> list[Value]:
        b, r = self.b, self.r
        x = r.choice(self.inputs)
        trips = self.limit if r.random() < 0.4 else b.constant(np.int64(r.randint(5, LONG)))

        def body(i: Value, v: Value) -> tuple[Value, Value]:
            read = b.op("gather", x, i)
            if r.random() < 0.4:
                read = b.op("minimum", read, b.constant(2, x.dtype))  # many a change goes no further
            if r.random() < 0.4:
                positive, before = b.op("greater", read, b.constant(0, x.dtype)), read
                (read,) = b.cond(positive, lambda: [b.op("add", before, v)], lambda: [v])
            inner = [i, read]
            if depth == 0:
                self.block(inner, 1, r.randint(0, 2) or None)
                if r.random() < 0.3:
                    inner.extend(self.long(1))
            more = self.pick([u for u in inner if u.shape == ()], x.dtype)
            return b.op("add", i, b.constant(np.int64(1))), b.op(r.choice(["add", "maximum"]), read, more)

        start = b.op("gather", x, b.constant(np.int64(3))) if r.random() < 0.15 else b.constant(0, x.dtype)
        return list(b.while_loop(lambda i, v: i < trips, body, [b.constant(np.int64(0)), start]))


def make(kind: str, seed: int):
    if kind == "long":
        return Long(seed).make()
    if kind == "readers":
        return Reader(seed).make()
    if kind == "nesting":
        return Maker(seed).make()
    return ArrayMaker(seed).make() if kind == "arrays" else RawMaker(random.Random(seed)).make()


def drive(kind: str, seed: int, **how) -> None:
    """Run, or run a part; change inputs, some of them back to what they were; hold each state against a full run."""
    graph, feeds = make(kind, seed)
    if not feeds:
        return
    r = random.Random(seed)
    say = note if currently_in_test_context() else print
    say(f"{graph.text()}feeds {feeds}")
    with wb.Session(graph, feeds, **how) as session:
        session.run()
        length, earlier = session.position.event, [dict(feeds)]
        for _ in range(4):
            if r.random() < 0.5:  # from somewhere in the midst
                session.restart()
                session.step(r.randrange(1, max(2, length)))
            changes = change(feeds, r) if r.random() < 0.75 else r.choice(earlier)
            say(f"changes {changes} at {session.position}")
            before = len(session.histories)
            update = session.update(changes)
            feeds = {**feeds, **{n: np.array(a) for n, a in changes.items()}}
            assert len(session.histories) == before + bool(update.changed)
            check_update(session, update, graph, feeds, r, **how)
            earlier.append(dict(feeds))


def drive_interrupted(kind: str, seed: int) -> None:
    """A pause ends an update somewhere; running on from there ends where a full run does."""
    graph, feeds = make(kind, seed)
    r = random.Random(seed)
    say = note if currently_in_test_context() else print
    say(f"{graph.text()}feeds {feeds}")
    with wb.Session(graph, feeds) as session:
        debugger = session._state.debugger  # driven on this thread, slice by slice

        def command(name: str, slices: int = 1 << 30, **arguments) -> None:
            debugger.begin(name, **arguments)
            for _ in range(slices):
                core.request_stop(session._run.machine)  # slices end at every back jump
                if debugger.advance() is not None:
                    return
            core.request_stop(session._run.machine, False)
            debugger.interrupt()

        command("run")
        for _ in range(3):
            changes, slices = change(feeds, r), r.randrange(8)
            say(f"changes {changes}, {slices} slices")
            command("update", slices, changes=changes)
            if slices:  # else it was cancelled before it began
                feeds = {**feeds, **changes}
            assert debugger.updated is not None and debugger.updated.reused >= 0
            if r.random() < 0.7:
                command("run")
                with wb.Session(graph, feeds) as fresh:
                    fresh.run()
                    ours, theirs = record(session), record(fresh)
                    del ours["position"], theirs["position"]
                    assert ours == theirs
                    assert session._run.event == fresh._run.event


@pytest.mark.slow
@settings(max_examples=7, **COMMON)
@given(seed=SEEDS)
def test_programs_of_numbers(seed):
    drive("nesting", seed)


@pytest.mark.slow
@settings(max_examples=3, **COMMON)
@given(seed=SEEDS)
def test_programs_of_arrays(seed):
    drive("arrays", seed)


@pytest.mark.slow
@settings(max_examples=5, **COMMON)
@given(seed=SEEDS)
def test_loops_that_read(seed):
    drive("long", seed)


@pytest.mark.slow
@settings(max_examples=5, **COMMON)
@given(seed=SEEDS)
def test_draws_and_failures(seed):
    drive("readers", seed)


@pytest.mark.slow
@settings(max_examples=3, **COMMON)
@given(seed=SEEDS, trace=st.sampled_from(["stats", "off"]), kind=st.sampled_from(["nesting", "arrays", "long"]))
def test_sessions_that_keep_less(seed, trace, kind):
    drive(kind, seed, trace=trace)


@pytest.mark.slow
@settings(max_examples=4, **COMMON)
@given(seed=SEEDS)
def test_raw_frames_are_a_full_run(seed):
    drive("raw", seed)


@pytest.mark.slow
@settings(max_examples=7, **COMMON)
@given(seed=SEEDS, kind=st.sampled_from(["nesting", "arrays", "long"]))
def test_interrupted_updates(seed, kind):
    drive_interrupted(kind, seed)


@pytest.mark.slow
@settings(max_examples=5, **COMMON)
@given(seed=SEEDS, kind=st.sampled_from(["nesting", "long"]))
def test_edited_sessions(seed, kind):
    """Edits belong to the inputs that they were made with: the update is a full run without them."""
    graph, feeds = make(kind, seed)
    r = random.Random(seed)
    with wb.Session(graph, feeds) as session:
        session.run()
        somewhere(session, r, session.position.event)
        edited = editable(session, r) is not None
        session.run()
        changes = change(feeds, r)
        update = session.update(changes)
        assert (update.full is not None) == (edited and bool(update.changed))
        if update.changed or not edited:
            check_update(session, update, graph, {**feeds, **changes}, r)


@pytest.mark.sweep
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("kind", ["nesting", "arrays", "long", "readers"])
def test_sweep(kind):
    """Fixed seeds; WORKBENCH_SWEEP sets how many."""
    for seed in range(int(os.environ.get("WORKBENCH_SWEEP", "120")) // 4):
        drive(kind, seed)
        drive_interrupted(kind, seed)
