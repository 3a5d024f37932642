"""Large arrays of the outermost level that share memory: the same values, statistics and replays as without."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb

SIDE = 96  # arrays of 36 KiB; 40 of them are more than what is simply kept


def mesh(seed: int) -> tuple[wb.Graph, list[str]]:
    """Some 60 large arrays that read each other: element by element, views, reductions, joins, NumPy's own."""
    rng = np.random.default_rng(seed)
    b = wb.GraphBuilder(f"mesh {seed}")
    values = [b.placeholder("x", "float32", (SIDE, SIDE)), b.placeholder("y", "float32", (SIDE, SIDE))]
    names = []
    for k in range(60):
        recent = values[-6:]
        one, two = (recent[int(i)] for i in rng.integers(0, len(recent), 2))
        kind = int(rng.integers(0, 8))
        if kind == 0:
            made = b.transpose(one, perm=(1, 0), name=f"v{k}")
        elif kind == 1:
            made = b.softmax(one, axis=1, name=f"v{k}")
        elif kind == 2:
            joined = b.concat(b.relu(one), b.negative(two), axis=0, name=f"joined{k}")
            made = b.add(joined[SIDE // 2 : SIDE // 2 + SIDE], two, name=f"v{k}")
        elif kind == 3:
            made = b.reshape(b.reshape(one, shape=(SIDE * SIDE,)), shape=(SIDE, SIDE), name=f"v{k}")
        elif kind == 4:
            made = b.subtract(one, b.mean(two, axis=0), name=f"v{k}")
        elif kind == 5:
            made = b.relu(b.sin(one), name=f"v{k}")
        else:
            made = b.add(b.multiply(one, np.float32(0.5)), two, name=f"v{k}")
        values.append(made)
        names.append(f"v{k}")
    total = values[-1]
    for value in values[-6:-1]:
        total = b.add(total, value)
    return b.build({"total": total}), names


def feeds(seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {n: rng.standard_normal((SIDE, SIDE)).astype(np.float32) for n in "xy"}


def computed(session: wb.Session, names: list[str]) -> list[str]:
    return [n for n in names if (n, 0) in session.plan.layout.values]


@pytest.mark.parametrize("seed", range(12))
def test_values_statistics_and_replays(seed):
    graph, names = mesh(seed)
    with wb.Session(graph, feeds(seed), trace="all") as every, wb.Session(graph, feeds(seed), trace="stats") as lean:
        every.run()
        lean.run()
        np.testing.assert_array_equal(lean.outputs["total"], every.outputs["total"])
        gone = 0
        for name in computed(every, names):
            wanted = every.trace[name][-1]
            gone += len(lean.trace[name]) == 0
            np.testing.assert_array_equal(lean.value(name), wanted, err_msg=name)
            if name in lean.plan.reasons and lean.plan.layout.values[name, 0].statistics is not None:
                record = lean.trace[name].statistics[0]
                assert record["size"] == wanted.size and record["nan"] == 0
                assert record["min"] == wanted.min() and record["max"] == wanted.max()
                np.testing.assert_allclose(record["sum"], wanted.astype(np.float64).sum(), rtol=1e-9, atol=1e-6)
        assert gone > 10


@pytest.mark.parametrize("seed", range(3))
def test_every_value_stands_there_when_its_node_has_fired(seed):
    graph, names = mesh(seed)
    with wb.Session(graph, feeds(seed), trace="all") as every, wb.Session(graph, feeds(seed), trace="stats") as lean:
        every.run()
        named, seen = set(computed(every, names)), 0
        while lean.state != "finished":
            node = lean.position.node
            lean.step()
            if node in named:
                np.testing.assert_array_equal(lean.trace[node][-1], every.trace[node][-1], err_msg=node)
                seen += 1
        assert seen == len(named)
        lean.step_back(15)
        node = lean.position.node
        lean.step()
        np.testing.assert_array_equal(lean.trace[node][-1], every.trace[node][-1])
        lean.run()
        np.testing.assert_array_equal(lean.outputs["total"], every.outputs["total"])


def test_memory_is_that_of_the_arrays_in_use():
    graph, _ = mesh(0)
    with wb.Session(graph, feeds(0), trace="all") as every, wb.Session(graph, feeds(0), trace="stats") as lean:
        every.run()
        lean.run()
        assert lean._run.view.bytes * 3 < every._run.view.bytes


def test_a_value_that_gave_its_place_up_is_said_to_be_gone():
    graph, names = mesh(1)
    with wb.Session(graph, feeds(1), trace="stats") as lean:
        lean.run()
        gone = next(n for n in computed(lean, names) if len(lean.trace[n]) == 0)
        assert lean.trace[gone].values.shape[0] == 0 and lean.trace.firings(gone) == []
        with pytest.raises(wb.WorkbenchError) as caught:
            lean.trace[gone].at(())
        assert caught.value.slug == "not-recorded"
        assert lean.trace.count(gone) == 1


def test_a_saved_trace_keeps_what_is_there_and_the_statistics(tmp_path):
    graph, names = mesh(2)
    with wb.Session(graph, feeds(2), trace="stats") as lean:
        lean.run()
        lean.trace.save(tmp_path / "lean.wbt")
        loaded = wb.Trace.load(tmp_path / "lean.wbt")
        for name in computed(lean, names):
            assert len(loaded[name]) == len(lean.trace[name]), name
            if len(loaded[name]):
                np.testing.assert_array_equal(loaded[name][-1], lean.trace[name][-1])
            if lean.plan.layout.values[name, 0].statistics is not None:
                np.testing.assert_array_equal(loaded[name].statistics, lean.trace[name].statistics)
        np.testing.assert_array_equal(loaded["total"][-1], lean.outputs["total"])


def test_arrays_around_a_loop_and_checkpoints_inside_it():
    """A loop in the middle: what it reads stays, and going back into it finds what was there then."""
    b = wb.GraphBuilder("around")
    x = b.placeholder("x", "float64", (200, 200))
    early = x
    for k in range(8):
        early = b.add(b.multiply(early, 0.5), x, name=f"early{k}")
    start = b.sum(early, name="start")

    def body(i, total):
        return [i + 1, b.add(total, b.mean(early)) * 0.999]

    _, total = b.while_loop(lambda i, total: i < 3000, body, [0, start], name="loop")
    late = early
    for k in range(8):
        late = b.multiply(b.add(late, total), 0.25, name=f"late{k}")
    graph = b.build({"late": late, "total": total})
    fed = {"x": np.random.default_rng(0).random((200, 200))}
    with wb.Session(graph, fed, trace="all") as every, wb.Session(graph, fed, trace="stats") as lean:
        every.run()
        lean.run()
        for name in ("late", "total"):
            np.testing.assert_array_equal(lean.outputs[name], every.outputs[name])
        for name in (*(f"early{k}" for k in range(8)), *(f"late{k}" for k in range(8))):
            np.testing.assert_array_equal(lean.value(name), every.trace[name][-1], err_msg=name)
        lean.previous_iteration()
        lean.step_back(500)
        lean.run()
        for name in ("late", "total"):
            np.testing.assert_array_equal(lean.outputs[name], every.outputs[name])


def test_fills_of_constants_are_made_once_for_all_plans():
    b = wb.GraphBuilder("fill")
    x = b.placeholder("x", "float32", (3, 4))
    weights = b.constant_of_shape(np.array([4, 500]), value=np.array([0.25], np.float32), name="weights")
    graph = b.build({"y": x @ weights})
    with wb.Session(graph, {"x": np.zeros((3, 4), np.float32)}, trace="stats") as other:
        other.run()
        again = other.value("weights")
    with wb.Session(graph, {"x": np.ones((3, 4), np.float32)}) as session:
        session.run()
        np.testing.assert_array_equal(session.outputs["y"], np.full((3, 500), 1, np.float32))
        assert session.plan.reasons["weights"][0] == "constant"
        np.testing.assert_array_equal(session.value("weights"), np.full((4, 500), 0.25, np.float32))
        assert np.shares_memory(session.value("weights"), again)
        assert session.trace.count("weights") == 1
