"""States fed from traces: they equal states fed with the trace's values, whatever the session did meanwhile."""

from __future__ import annotations

import random
import threading
import time

import numpy as np
import pytest

import workbench as wb
from workbench.analysis import Pattern
from workbench.analysis.live.follower import Follower, FollowError
from workbench.errors import TraceError
from workbench.ir.types import TensorType
from workbench.kernels.streaming import ScalarState, VectorState


def relaxation(n: int) -> wb.Graph:
    b = wb.GraphBuilder("relaxation")
    x0, a = b.placeholder("x0"), b.placeholder("a")
    out = b.while_loop(
        lambda i, x, low: i < n,
        lambda i, x, low: (i + 1, x * a + 0.125, x < 0.5),
        {"i": b.constant(np.int64(0)), "x": x0, "low": b.constant(False)},
    )
    return b.build({"x": out["x"], "low": out["low"]})


def nested(outer: int) -> wb.Graph:
    """The inner loop runs i + 2 times in the i-th iteration of the outer one."""
    b = wb.GraphBuilder("nested")
    s0 = b.placeholder("s")

    def body(i, s):
        inner = b.while_loop(
            lambda j, t: j < i + 2, lambda j, t: (j + 1, t * 0.5), {"j": b.constant(np.int64(0)), "t": s}, name="inner"
        )
        return i + 1, inner["t"] + 1.0

    out = b.while_loop(lambda i, s: i < outer, body, {"i": b.constant(np.int64(0)), "s": s0}, name="outer")
    return b.build({"s": out["s"]})


def vectors(n: int, dtype: str = "float64") -> wb.Graph:
    b = wb.GraphBuilder("vectors")
    v0 = b.placeholder("v0", dtype, (20,))
    half = b.constant(np.array(0.5, dtype))
    out = b.while_loop(
        lambda i, v: i < n, lambda i, v: (i + 1, v * half + half), {"i": b.constant(np.int64(0)), "v": v0}
    )
    return b.build({"v": out["v"]})


def same(state: ScalarState, values: np.ndarray) -> None:
    """Check that the state equals one fed with just these values."""
    fresh = ScalarState()
    fresh.update(values)
    for fact in ("count", "constant_run", "longest_constant_run", "monotone_run", "first_nan", "recurrence", "dtype"):
        assert getattr(state, fact) == getattr(fresh, fact), fact
    for part in ("values", "head", "sample", "blocks_array"):
        assert getattr(state, part)().tobytes() == getattr(fresh, part)().tobytes(), part


def test_variables_of_a_loop():
    with wb.Session(relaxation(3000), {"x0": 3.0, "a": 0.99}) as session:
        follower = Follower(session)
        assert follower.frames() == [("while",)] and set(follower.names()) == {"i", "x", "low"}
        before = follower.evolution("x")
        assert before.label is Pattern.UNKNOWN and before.count == 0 and follower.state("x").count == 0
        session.run()
        for name in follower.names("while"):
            same(follower.state(name), session.trace[name].values)
            assert follower.missed(name) == []
        assert follower.state("i").dtype == np.int64 and follower.state("low").dtype == np.bool_
        answer = follower.evolution("x")
        assert answer.label is Pattern.CONVERGING and answer.limit == pytest.approx(12.5)
        assert follower.evolution("x") == answer
        assert follower.evolution("i").label is Pattern.DIVERGING
        loaded = Follower(session.trace)
        same(loaded.state("x"), session.trace["x"].values)


def test_a_state_is_a_copy():
    with wb.Session(relaxation(50), {"x0": 3.0, "a": 0.99}) as session:
        follower = Follower(session)
        session.run()
        follower.state("x").update(7.0)
        same(follower.state("x"), session.trace["x"].values)


@pytest.mark.parametrize("seed", range(4))
def test_going_back_edits_and_other_inputs(seed):
    """After each of many random commands every state equals one fed with the trace's values."""
    rng, edits = random.Random(seed), 0
    with wb.Session(relaxation(400), {"x0": 3.0, "a": 0.99}) as session:
        follower = Follower(session)
        for _ in range(120):
            command = rng.choice(["step", "step_back", "next", "edit", "update", "run", "to", "restart"])
            if command == "step":
                session.step(rng.randrange(1, 40))
            elif command == "step_back":
                session.step_back(rng.randrange(1, 60))
            elif command == "next":
                session.next_iteration(rng.randrange(1, 20))
            elif command == "to":
                session.run_to("x", rng.randrange(0, 400))
            elif command == "edit" and session.state == "paused":
                try:
                    session.set_value("x", rng.random())
                    edits += 1
                except wb.WorkbenchError:
                    pass
            elif command == "update":
                session.update(a=rng.choice([0.9, 0.95, 0.99]))
            elif command == "run":
                session.run()
            elif command == "restart":
                session.restart()
            if rng.random() < 0.8:
                for name in ("x", "i", "low"):
                    values = session.trace[name].values
                    if len(values):
                        same(follower.state(name), values)
                    else:
                        assert follower.state(name).count == 0
        assert edits > 0


def test_another_plan_begins_anew():
    b = wb.GraphBuilder("any")
    x0 = b.placeholder("x0", "float64", (None,))
    out = b.while_loop(lambda i, x: i < 9, lambda i, x: (i + 1, x + x), {"i": b.constant(0), "x": x0})
    with wb.Session(b.build({"x": out["x"]}), {"x0": np.ones(4)}) as session:
        follower = Follower(session)
        session.run()
        assert follower.state("x").shape == (4,)
        session.update(x0=np.ones(6))
        assert follower.state("x").shape == (6,) and follower.state("x").count == 10


def test_shapes_that_change():
    b = wb.GraphBuilder("growing")
    x0 = b.placeholder("x0", "float64", (None,))
    types = {"x": wb_type((None,))}
    out = b.while_loop(
        lambda i, x: i < 6, lambda i, x: (i + 1, b.op("concat", x, x)), {"i": b.constant(0), "x": x0}, types=types
    )
    with wb.Session(b.build({"x": out["x"]}), {"x0": np.ones(1)}) as session:
        session.run()
        state = Follower(session).state("x")
        assert state.shape == (64,) and state.count == 7 and state.norm.values().tolist() == [8.0]


def test_nested_loops():
    with wb.Session(nested(40), {"s": 8.0}) as session:
        follower = Follower(session)
        seen = []
        while session.state != "finished":
            session.step(37)
            starts = follower.trips("inner")
            seen.append(starts.count)
            assert starts.values().tolist() == [k + 2 for k in range(starts.count)]
            same_or_none(follower.state("t", ("outer", "inner")), session.trace["t"].values)
        assert seen == sorted(seen) and seen[-1] == 40
        assert follower.trips("outer").values().tolist() == [40]
        assert follower.frames() == [("outer",), ("outer", "inner")]
        assert follower.names("inner") == ["j", "t"] and follower.names() == ["i", "s", "j", "t"]
        newest = follower.state("j", newest=True)
        assert newest.values().tolist() == list(range(42))
        assert follower.evolution("s").count == 41
        assert follower.evolution("j").count == 42


def same_or_none(state: ScalarState, values: np.ndarray) -> None:
    if len(values):
        same(state, values)
    else:
        assert state.count == 0


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_tensors(dtype):
    if dtype == "bfloat16":
        pytest.importorskip("ml_dtypes")
    with wb.Session(vectors(300, dtype), {"v0": np.arange(20).astype(wb_dtype(dtype))}) as session:
        follower = Follower(session)
        session.next_iteration(100)
        assert follower.state("v").count == len(session.trace["v"])
        session.run()
        state = follower.state("v")
        values = session.trace["v"].values
        assert isinstance(state, VectorState) and state.count == 301 and state.dtype == values.dtype
        fresh = VectorState()
        fresh.update_many(values)
        assert state.norm.values().tobytes() == fresh.norm.values().tobytes() and state.hash == fresh.hash
        assert follower.evolution("v").label is Pattern.CONVERGING
        assert follower.evolution("v").limit == pytest.approx(1.0, abs=0.02)
        session.step_back(40)
        assert follower.state("v").count == len(session.trace["v"])


def wb_type(shape: tuple[int | None, ...]) -> TensorType:
    return TensorType("float64", shape)


def wb_dtype(name: str) -> np.dtype:
    if name == "bfloat16":
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(name)


def test_rows_that_are_gone_are_counted():
    with wb.Session(relaxation(200_000), {"x0": 3.0, "a": 0.9999}, trace="off") as session:
        follower = Follower(session)
        session.next_iteration(50)
        read = len(session.trace["x"])
        assert read > 40 and follower.state("x").count == read and follower.missed("x") == []
        session.run()
        state, series = follower.state("x"), session.trace["x"]
        ((low, high),) = follower.missed("x")
        assert state.count == 200_001 and low == read + 1 and high - 1 == series.iterations[0, 0]
        assert state.skipped == high - low and state.head().tolist() == by_hand(3.0, 0.9999, 31)
        kept = series.values
        assert state.values().tobytes() == kept[-len(state.values()) :].tobytes()
        answer = follower.evolution("x")
        assert answer.count == 200_001


def by_hand(x: float, a: float, n: int) -> list[float]:
    found = [x]
    for _ in range(n):
        found.append(found[-1] * a + 0.125)
    return found


def test_thinned_rows_are_gaps():
    keep = wb.Retention("carried", memory=1 << 20)
    with wb.Session(relaxation(400_000), {"x0": 3.0, "a": 0.99999}, trace=keep) as session:
        session.run()
        series = session.trace["x"]
        follower = Follower(session)
        state = follower.state("x")
        assert state.count == 400_001 and state.count - state.skipped == len(series)
        tail = state.values()
        assert tail.tobytes() == series.values[-len(tail) :].tobytes()
        numbers = series.iterations[:, 0]
        assert np.all(np.diff(numbers[-len(tail) :]) == 1), "no ring reaches across a gap"


def test_what_cannot_be_followed():
    b = wb.GraphBuilder("complex")
    z0 = b.placeholder("z0", "complex128", ())
    out = b.while_loop(lambda i, z: i < 9, lambda i, z: (i + 1, z * 0.5), {"i": b.constant(0), "z": z0})
    with wb.Session(b.build({"z": out["z"]}), {"z0": 1j}) as session:
        session.run()
        follower = Follower(session)
        with pytest.raises(FollowError, match="complex128: only real numbers") as caught:
            follower.state("z")
        assert caught.value.slug == "not-numeric" and caught.value.fix
        with pytest.raises(FollowError, match="There is no loop 'x'") as caught:
            follower.names("x")
        assert caught.value.slug == "no-such-frame"
        with pytest.raises(FollowError, match="is in the outermost level") as caught:
            follower.state("z0", "while")
        assert caught.value.slug == "other-frame"
        with pytest.raises(TraceError):
            follower.state("nothing")


def test_a_running_loop_is_followed():
    """Ten million iterations on the worker thread, read all the while."""
    with wb.Session(relaxation(10_000_000), {"x0": 3.0, "a": 0.999999}) as session:
        follower = Follower(session)
        counts, answers = [], 0
        for stop in (1_000_000, 2_000_000, 3_000_000):  # so that it is read at different moments on any machine
            session.run_to("x", stop)
            counts.append(follower.state("x").count)
            answers += follower.evolution("x").count >= counts[-1]
        session.run(wait=False)
        while session.state != "finished":
            state = follower.state("x")
            counts.append(state.count)
            answers += follower.evolution("x").count >= state.count
            expected = 125_000.0 - (125_000.0 - 3.0) * 0.999999 ** (state.count - 1)
            if state.count:
                assert state.values()[-1] == pytest.approx(expected, rel=1e-6)
            time.sleep(0.01)
        assert counts == sorted(counts) and len(set(counts)) > 3 and answers == len(counts)
        same(follower.state("i"), np.arange(10_000_001))
        assert follower.state("x").count == 10_000_001 and follower.missed("x") == []


@pytest.mark.slow
@pytest.mark.parametrize("trace", ["off", wb.Retention("carried", memory=1 << 20), wb.Retention("window", window=3000)])
def test_asked_from_another_thread_whatever_the_session_does(trace):
    """A thread reads all the time while rows are dropped, rewritten and replaced; at rest the states are right."""
    rng, failures, halt = random.Random(3), [], threading.Event()
    with wb.Session(relaxation(60_000), {"x0": 3.0, "a": 0.9999}, trace=trace) as session:
        follower = Follower(session)

        def ask() -> None:
            while not halt.is_set():
                try:
                    state = follower.state("x")
                    follower.evolution("i")
                    newest = state.values()[-1:]  # none if all rows up to the newest were gone before they were read
                    if not np.all((newest > 0) & (newest < 2000)):
                        failures.append(newest)
                except TraceError as error:
                    if error.slug != "trace-busy":
                        failures.append(error)
                except Exception as error:
                    failures.append(error)

        asker = threading.Thread(target=ask)
        asker.start()
        try:
            for _ in range(25):
                command = rng.choice(["run", "back", "to", "update", "restart", "next"])
                if command == "run":
                    session.run()
                elif command == "back":
                    session.step_back(rng.randrange(1, 400))
                elif command == "to":
                    session.run_to("x", rng.randrange(60_000))
                elif command == "update":
                    session.update(a=rng.choice([0.999, 0.9999]))
                elif command == "next":
                    session.next_iteration(rng.randrange(1, 500))
                else:
                    session.restart()
                state, series = follower.state("x"), session.trace["x"]
                if not len(series):
                    assert state.count == 0
                    continue
                assert state.count == int(series.iterations[-1, 0]) + 1
                lost = sum(b - a for a, b in follower.missed("x"))
                assert state.skipped == lost and state.count - lost >= len(series)
                tail = state.values()
                assert len(tail) and tail.tobytes() == series[-len(tail) :].tobytes()
        finally:
            halt.set()
            asker.join()
        assert not failures, failures[:3]


@pytest.mark.parametrize("edited", [False, True])
def test_what_was_read_before_rows_went_is_not_lost_by_going_back(edited):
    """The trace keeps only the newest rows; the states know all that they have seen, on the way back too."""
    rng, a, n = random.Random(1), 0.9999, 400_000
    with wb.Session(relaxation(n), {"x0": 3.0, "a": a}, trace="off") as session:
        follower, known, gone_back = Follower(session), [3.0], 0
        at = 0
        while at < n - 10_000:
            at += rng.randrange(3000, 9000)
            session.run_to("x", at)
            session.step()
            count = follower.state("x").count
            while len(known) < count:
                known.append(known[-1] * a + 0.125)
            if rng.random() < 0.3:
                session.step_back(rng.randrange(1, 300))
                gone_back += 1
                if edited:
                    session.run_to("x", follower.state("x").count - 1)
                    session.step()
                    session.set_value("x", rng.random())
                    del known[follower.state("x").count - 1 :]
                    known.append(float(session.trace["x"][-1]))
            state = follower.state("x")
            if not edited:
                assert follower.missed("x") == [] and state.skipped == 0
                same(state, np.array(known[: state.count]))
            else:  # an edit may be anywhere behind the place to which the session went back: that is not taken on trust
                assert state.skipped == sum(b - a for a, b in follower.missed("x"))
                tail = state.values()
                assert tail.tolist() == known[state.count - len(tail) : state.count]
        assert gone_back > 5 and session.trace.dropped
