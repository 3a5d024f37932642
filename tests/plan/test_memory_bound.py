"""The lifetime lower bound: worked examples, an independent count on random graphs, and what real runs come to."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import workbench as wb
from tests.plan.test_lifetimes import feeds, mesh
from workbench.execution import NEWEST_ROWS, Run, prepare_feeds
from workbench.ir import Value
from workbench.ir.opspec import REGISTRY
from workbench.ir.types import TensorType
from workbench.plan import PLANS, ExecutionPlan, make_plan, memory_of, signature_of
from workbench.plan.memory.memory_bound import LiveBytes, lower_bound
from workbench.session import plan_for

SIDE = 128
#: bytes of one array
A = SIDE * SIDE * 8


def plan_of(graph: wb.Graph, fed: dict[str, np.ndarray]) -> ExecutionPlan:
    arrays = prepare_feeds(graph, fed)
    signature = signature_of(graph, {n: TensorType.of(a) for n, a in arrays.items()})
    return make_plan(graph, graph.outputs, signature, lean=True)


def bound_of(build: Callable[[wb.GraphBuilder, Value], object]) -> float:
    """The bound in arrays of SIDE x SIDE doubles; ``x`` is one that is fed."""
    b = wb.GraphBuilder("bound")
    x = b.placeholder("x", "float64", (SIDE, SIDE))
    graph = b.build(build(b, x))
    return memory_of(plan_of(graph, {"x": np.ones((SIDE, SIDE))})).bound / A


def straight(b: wb.GraphBuilder, x: Value) -> Value:
    y = b.transpose(x, perm=(1, 0))  # 1
    y = b.transpose(y, perm=(1, 0))  # 2: y and its source
    return b.transpose(y, perm=(1, 0))


def in_place(b: wb.GraphBuilder, x: Value) -> Value:
    y = b.add(x, 1.0)  # x is fed: not counted, and not to be overwritten
    return b.multiply(b.add(y, 2.0), 3.0)  # over y


def not_in_place(b: wb.GraphBuilder, x: Value) -> Value:
    y = b.add(x, 1.0)
    z = b.multiply(y, 3.0)  # y is read again
    return b.add(z, y)


def views(b: wb.GraphBuilder, x: Value) -> Value:
    y = b.transpose(x, perm=(1, 0))
    return b.reshape(y, shape=(SIDE * SIDE,))


def joined(b: wb.GraphBuilder, x: Value) -> Value:
    parts = [b.add(x, float(k)) for k in range(3)]
    return b.concat(*parts, axis=0)  # they stand in it at once


def diamond(b: wb.GraphBuilder, x: Value) -> Value:
    y = b.transpose(x, perm=(1, 0))
    one, two = b.cumsum(y, axis=0), b.cumsum(y, axis=1)  # three at once
    return b.add(one, two)


def branch(b: wb.GraphBuilder, x: Value) -> Value:
    def large() -> Value:
        y = b.transpose(x, perm=(1, 0))
        return b.add(b.cumsum(y, axis=0), b.cumsum(y, axis=1))  # 3

    return b.cond(b.sum(x) > 0.0, large, lambda: b.transpose(x, perm=(1, 0)))


def loop(b: wb.GraphBuilder, x: Value) -> Value:
    kept = b.transpose(x, perm=(1, 0))  # read in every iteration
    y, _ = b.while_loop(
        lambda y, i: i < 3,
        lambda y, i: (b.transpose(b.add(b.transpose(y, perm=(1, 0)), kept), perm=(1, 0)), i + 1),
        [x, 0],
    )
    return y


@pytest.mark.parametrize(
    ("build", "arrays"),
    [(straight, 2), (in_place, 1), (not_in_place, 2), (views, 1), (joined, 3), (diamond, 3), (branch, 3), (loop, 3)],
    ids=lambda v: getattr(v, "__name__", ""),
)
def test_worked_examples(build, arrays):
    assert bound_of(build) == arrays


def test_of_two_sides_the_larger_counts():
    taken, not_taken = frozenset({("p", True)}), frozenset({("p", False)})
    pieces = [LiveBytes(100, 0, 3), LiveBytes(30, 1, 3, taken), LiveBytes(50, 2, 3, not_taken)]
    pieces.append(LiveBytes(7, 1, 2, taken | {("q", True)}))
    guards = [frozenset(), taken, not_taken, frozenset()]
    assert lower_bound(pieces, guards, {3: 10}) == [100, 137, 150, 140]


def counted(plan: ExecutionPlan, fed: dict[str, np.ndarray]) -> int:
    """The bound once more, of a graph without loops and branches: all nodes are evaluated by NumPy, and what shares
    memory there counts once. It lives from the node that made it to the last reader of any of its names."""
    graph, storage = plan.graph, plan.storage
    assert storage is not None
    values: dict[object, np.ndarray] = {}
    order = [n.name for n in plan.layout.nodes]
    for name in order:
        node = graph.nodes[name]
        if node.op in ("Const", "Placeholder"):
            values[node.ref()] = node.attrs["value"] if node.op == "Const" else fed[name]
            continue
        results = REGISTRY.lookup(node.op, node.attrs).evaluate([values[r] for r in node.inputs], node.attrs)
        # arrays of a run are contiguous: another order of the elements is a copy
        values.update({node.ref(k): np.ascontiguousarray(r) if np.ndim(r) else r for k, r in enumerate(results)})
    free = [np.asarray(v) for r, v in values.items() if graph.nodes[r.node].op in ("Const", "Placeholder")]
    mine = {r: v for r, v in values.items() if np.shape(v) and not any(np.may_share_memory(v, f) for f in free)}
    born = {r: order.index(r.node) for r in mine}
    read = {r: max([born[r], *(k for k, n in enumerate(order) if r in graph.nodes[n].inputs)]) for r in mine}
    for r in plan.outputs.values():
        read[r] = len(order)
    dies = {r: max(read[s] for s in mine if np.may_share_memory(mine[r], mine[s])) for r in mine}
    most = 0
    for at, name in enumerate(order):
        bytes_: set[int] = set()
        for r, v in mine.items():
            if born[r] <= at <= read[r]:
                start = v.__array_interface__["data"][0]
                bytes_.update(range(start // 4, (start + v.nbytes) // 4))
        operands = [graph.nodes[name].inputs[k] for k in storage.flat.get(name, ())]
        size = np.asarray(values[graph.nodes[name].ref()]).nbytes
        over = [r for r in operands if r in mine and dies[r] == at and mine[r].nbytes == size]
        most = max(most, 4 * len(bytes_) - (mine[over[0]].nbytes if over else 0))
    return most


def random_dag(seed: int) -> wb.Graph:
    """Element by element, reductions, transposes and reshapes of a few sizes."""
    rng = np.random.default_rng(seed)
    b = wb.GraphBuilder(f"dag {seed}")
    pool = [b.placeholder("x", "float32", (16, 24)), b.placeholder("y", "float32", (16, 24))]
    for _ in range(25):
        one = pool[int(rng.integers(max(0, len(pool) - 5), len(pool)))]
        fitting = [v for v in pool if v.shape == one.shape]
        two = fitting[int(rng.integers(len(fitting)))]
        kind = int(rng.integers(6))
        if kind == 0:
            made = b.transpose(one, perm=(1, 0))
        elif kind == 1:
            made = b.reshape(one, shape=(one.shape[1], one.shape[0]))
        elif kind == 2:
            made = b.cumsum(one, axis=0)
        elif kind == 3 and seed % 2:
            made = b.concat(one, two, axis=0)[: one.shape[0]]
            made = b.multiply(made, np.float32(2))
        else:
            made = b.add(b.multiply(one, np.float32(0.5)), two)
        pool.append(made)
    return b.build({"one": pool[-1], "two": pool[-4]})


@pytest.mark.parametrize("seed", range(25))
def test_against_an_independent_count(seed):
    graph = random_dag(seed)
    rng = np.random.default_rng(seed)
    fed = {n: rng.random((16, 24), np.float32) for n in "xy"}
    plan = plan_of(graph, fed)
    found, wanted = memory_of(plan).bound, counted(plan, fed)
    if seed % 2:
        assert found <= wanted  # parts may stand in what joins them
    else:
        assert found == wanted


@pytest.mark.parametrize("trace", ["off", "stats"])
@pytest.mark.parametrize("seed", range(8))
def test_random_meshes_come_near_the_bound(seed, trace):
    graph, _ = mesh(seed)
    with wb.Session(graph, feeds(seed), trace=trace) as session:
        session.run()
        report = session.memory()
        # but for what NumPy's own functions have on its way into the rows, and the statistics
        assert 0.99 * report.bound <= report.arrays - report.feeds <= 1.2 * report.bound, report


@pytest.fixture(autouse=True)
def _forget_the_models() -> Iterator[None]:
    """Their constants are large, and plans keep them."""
    yield
    PLANS.clear()


def light(name: str) -> tuple[wb.Graph, dict[str, np.ndarray]]:
    pytest.importorskip("onnxruntime", reason="the extra onnx is not installed")
    from tests.benchmarks.light_models import feeds_of, path_of

    graph = wb.load(path_of(name))
    return graph, feeds_of(graph)


MODELS = (
    "bvlc_alexnet",
    "densenet121",
    "inception_v1",
    "inception_v2",
    "resnet50",
    "shufflenet",
    "squeezenet",
    "vgg19",
    "zfnet512",
)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_light_models_come_within_a_fifth_of_the_bound(name):
    """Sessions and graph.run: what rows and objects hold at most, and what NumPy allocates besides."""
    graph, fed = light(name)
    from tests.benchmarks.light_memory import WANTED, measure

    found = measure(name)
    assert found.bound and found.worst <= WANTED == 1.2, found.line()
    arrays = prepare_feeds(graph, fed)
    run = Run(plan_for(graph, arrays, None, lean=True), arrays, NEWEST_ROWS, back=False)
    while run.go() != "halt":
        pass
    assert run.view.peak - sum(a.nbytes for a in arrays.values()) <= WANTED * found.bound
    assert len(run.checkpoints) == 1


def test_the_report_names_the_largest_values():
    graph, fed = light("squeezenet")
    with wb.Session(graph, fed, trace="off") as session:
        session.run()
        report = session.memory()
    assert report.lifetimes[0].bytes == max(t.bytes for t in report.lifetimes) == 64 * 111 * 111 * 4
    assert report.lifetimes[0].begin < report.lifetimes[0].end
    assert "times that" in report.text() and report.lifetimes[0].name in report.text()


SCRIPT = """
import gc, numpy as np, workbench as wb
b = wb.GraphBuilder("chain")
x = y = b.placeholder("x", "float64", (1 << 20,))
for k in range(40):
    y = b.op("sort", b.add(b.multiply(y, 0.5), x))
graph = b.build({"y": b.sum(y)})
small = {"x": np.ones(1 << 20)}
graph.run(small)
gc.collect()
def rss(name):
    return int(next(l for l in open("/proc/self/status") if l.startswith(name)).split()[1])
open("/proc/self/clear_refs", "w").write("5")
before = rss("VmRSS")
graph.run(small)
print((rss("VmHWM") - before) / 8192)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_resident_memory_of_a_chain_is_that_of_a_few_arrays():
    """40 arrays of 8 MiB, seen from outside of the process."""
    found = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=120)
    assert found.returncode == 0, found.stderr
    assert float(found.stdout) < 8
