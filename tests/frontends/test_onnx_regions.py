"""Regions: nodes that onnxruntime computes in one call have the same bits as node by node."""

from __future__ import annotations

import os

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import workbench as wb
from tests.frontends.onnx_regions import RegionMaker
from tests.plan.test_straight import both_ways
from workbench.execution import NEWEST_ROWS, Run, prepare_feeds
from workbench.frontends import from_onnx
from workbench.frontends.onnx.foreign import region_nodes, regions, runtime
from workbench.frontends.onnx.foreign.region_parts import DividedRegion
from workbench.ir import Ref
from workbench.kernels.machine import same_bits
from workbench.ops.foreign import RegionStep
from workbench.session import plan_for

pytest.importorskip("onnxruntime", reason="the extra onnx is not installed")
if isinstance(runtime.runtime(), str):
    pytest.skip(f"no onnxruntime to call: {runtime.runtime()}", allow_module_level=True)

N = helper.make_node


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[regions.RegionSession]:
    """The regions that plans create meanwhile."""
    found: list[regions.RegionSession] = []
    before = regions.RegionSession.__init__

    def noted(self: regions.RegionSession, *arguments: object) -> None:
        before(self, *arguments)
        found.append(self)

    monkeypatch.setattr(regions.RegionSession, "__init__", noted)
    wb.plan_cache.clear()  # existing plans of the same models
    return found


def finished(graph: wb.Graph, feeds: dict, regions: bool, **kind: bool) -> Run:
    """A run by regions or node by node, to its end."""
    arrays = prepare_feeds(graph, feeds)
    run = Run(plan_for(graph, arrays, None, **kind), arrays, 1 << 30 if not kind else NEWEST_ROWS, back=False)
    run.machine.regions = regions
    while run.go() != "halt":
        pass
    return run


def plain(value: np.ndarray) -> np.ndarray:
    """A value with one NaN in place of all: IEEE 754 leaves open which operand's sign and payload a sum of two NaN has,
    and compilers, NumPy and onnxruntime differ between processors.
    """
    found = np.array(value, order="C")
    if found.dtype.kind == "f":
        found[np.isnan(found)] = np.nan
    return found


def check(graph: wb.Graph, feeds: dict) -> int:
    """All values, all statistics and the outputs are the same; returns how many regions the plan has."""
    alone, together = (finished(graph, feeds, regions) for regions in (False, True))
    assert alone.event == together.event
    for key in alone.plan.layout.values:
        one, other = (run.trace[Ref(*key)] for run in (alone, together))
        assert one.iterations.tolist() == other.iterations.tolist()
        for a, b in zip(one.firings(), other.firings(), strict=True):
            assert same_bits(plain(a), plain(b)), key
    at_once = graph.run(feeds)  # as one call, where it is one region
    for name, value in alone.outputs().items():
        assert at_once[name].dtype == value.dtype and same_bits(plain(at_once[name]), plain(value)), name
    for kind in ("statistics", "lean"):
        one, other = (finished(graph, feeds, regions, **{kind: True}) for regions in (False, True))
        assert other.event == alone.event
        for name, value in alone.outputs().items():
            assert same_bits(plain(other.outputs()[name]), plain(one.outputs()[name])), (kind, name)
            assert same_bits(plain(one.outputs()[name]), plain(value)), (kind, name)
        for key, value in one.plan.layout.values.items() if kind == "statistics" else ():
            if value.statistics is not None:
                a, b = (run.trace[Ref(*key)].statistics.tobytes() for run in (one, other))
                assert a == b, key
    return len(together.plan.regions)


def check_seeds(seeds: range, made: list[regions.RegionSession]) -> None:
    found, refused = 0, []
    for seed in seeds:
        model, feeds = RegionMaker(seed).make()
        found += check(from_onnx(model), feeds)
        refused += [(seed, r.refused) for r in made if r.refused]
        made.clear()
    assert found >= len(seeds) // 2
    # values after an array that NumPy transposed keep its memory order
    assert len(refused) <= found // 10, refused


def test_random_models(made: list[regions.RegionSession]):
    check_seeds(range(30), made)


def test_a_graph_that_is_one_region_runs_as_one_call():
    """Also with sizes known only at run time, and with an output under two names."""
    nodes = [
        N("Conv", ["x", "w"], ["c"], pads=[1] * 4),
        N("Conv", ["c", "w"], ["a"], pads=[1] * 4),
        N("Shape", ["x"], ["s"]),
        N("Relu", ["a"], ["b"]),
        N("Reshape", ["b", "s"], ["y"]),
        N("Identity", ["y"], ["z"]),
    ]
    weights = {"w": np.random.default_rng(0).standard_normal((3, 3, 3, 3)).astype(np.float32)}
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3, 8, 8])],
        [helper.make_empty_tensor_value_info(o) for o in "yz"],
        [numpy_helper.from_array(v, k) for k, v in weights.items()],
    )
    read = from_onnx(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8))
    for size in (1, 2):
        feeds = {"x": np.random.default_rng(size).standard_normal((size, 3, 8, 8)).astype(np.float32)}
        plan = plan_for(read, prepare_feeds(read, feeds), None, lean=True)
        assert plan.straight is not None and len(plan.straight.steps) == 2  # the region, and y in the shape that it has
        for _ in range(2):  # compared with node by node, then alone
            outputs = read.run(feeds)
            alone = finished(read, feeds, False).outputs()
            assert all(outputs[name].tobytes() == alone[name].tobytes() for name in ("y", "z"))
            assert not np.shares_memory(outputs["y"], outputs["z"])


@pytest.mark.timeout(900)  # a minute for each thousand; the test bounds work, not time
@pytest.mark.parametrize(
    ("after", "count"), [pytest.param(0, 500, marks=pytest.mark.slow), pytest.param(500, 1500, marks=pytest.mark.sweep)]
)
def test_random_models_at_large(after: int, count: int, made: list[regions.RegionSession]):
    first = int(os.environ.get("REGION_SEED", "1000")) + after
    check_seeds(range(first, first + count), made)


@pytest.mark.parametrize("name", ["squeezenet", "shufflenet"])
def test_real_networks(name: str, made: list[regions.RegionSession]):
    """The light models of the onnx package, with random weights: their own are all equal."""
    from tests.benchmarks.light_models import feeds_of, path_of

    model, rng = onnx.load(path_of(name)), np.random.default_rng(0)
    shapes = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    filled = [n for n in model.graph.node if n.op_type == "ConstantOfShape"]
    for node in filled:
        values = np.abs(rng.standard_normal([int(d) for d in shapes[node.input[0]]])) * 0.1
        model.graph.initializer.append(numpy_helper.from_array(values.astype(np.float32), node.output[0]))
        model.graph.node.remove(node)
    graph = from_onnx(model)
    assert check(graph, feeds_of(graph)) and made and all(not r.refused for r in made), [r.refused for r in made]


def block(opset: int = 17) -> tuple[onnx.ModelProto, dict[str, np.ndarray]]:
    rng = np.random.default_rng(0)
    weights = {"w": rng.standard_normal((16, 16, 3, 3)), "v": rng.standard_normal((16, 16, 3, 3))}
    nodes = [
        N("Conv", ["x", "w"], ["a"], pads=[1] * 4),
        N("Relu", ["a"], ["b"]),
        N("Conv", ["b", "v"], ["c"], pads=[1] * 4),
        N("Add", ["c", "x"], ["d"]),
        N("MaxPool", ["d"], ["y"], kernel_shape=[2, 2], strides=[2, 2]),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 16, 8, 8])],
        [helper.make_empty_tensor_value_info("y")],
        [numpy_helper.from_array(v.astype(np.float32), k) for k, v in weights.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    return model, {"x": rng.standard_normal((1, 16, 8, 8)).astype(np.float32)}


def test_a_breakpoint_and_an_edit_inside():
    model, feeds = block()
    graph = from_onnx(model)
    with wb.Session(graph, feeds) as session, wb.Session(graph, feeds) as steps:
        session.breakpoints.add("c")
        stop = session.run()
        assert session.plan.regions and (stop.reason.name, stop.tag.node) == ("BREAKPOINT", "c")
        while steps.position.node != "c":
            steps.step()
        assert steps.position == session.position  # as node by node
        with pytest.raises(wb.WorkbenchError):
            session.value("c")
        session.set_value("b", np.array(session.value("b")) + 1)
        session.run()
        edited = np.array(session.value("y"))
        session.restart()
        session.breakpoints.clear()
        session.run()
        plain = np.array(session.value("y"))
        steps.run()
        assert steps.position == session.position
    assert not same_bits(plain, edited) and same_bits(plain, graph.run(feeds)["y"])


def test_a_condition_on_a_value_inside_stops_there():
    model, feeds = block()
    with wb.Session(from_onnx(model), feeds) as session:
        session.breakpoints.add("b", when="value > 0")
        assert session.run().reason.name == "BREAKPOINT"
        session.breakpoints.clear()
        assert session.run().reason.name == "FINISHED" and session.value("y").shape == (1, 16, 4, 4)


def test_what_fails_inside_names_the_node_and_its_operands():
    model, feeds = block()
    model.graph.node[3].CopyFrom(N("Reshape", ["c", "s"], ["d"]))
    model.graph.initializer.append(numpy_helper.from_array(np.array([1, 16, -1, 8]), "s"))
    model.graph.node.append(N("Gather", ["d", "i"], ["z"], axis=2))
    model.graph.input.append(helper.make_tensor_value_info("i", TensorProto.INT64, [1]))
    model.graph.output.append(helper.make_empty_tensor_value_info("z"))
    graph = from_onnx(model)
    assert graph.run({**feeds, "i": np.array([3])})["z"].shape == (1, 16, 1, 8)
    with pytest.raises(wb.errors.ExecutionError) as failed:
        graph.run({**feeds, "i": np.array([99])})
    assert failed.value.report.op == "gather" and "float32[1,16,8,8]" in failed.value.report.text()


def test_in_a_loop(made: list[regions.RegionSession]):
    """Rows of a loop: the addresses differ in every iteration."""
    rng = np.random.default_rng(0)
    weights = {"w": rng.standard_normal((8, 8, 3, 3)) * 0.05}
    body = helper.make_graph(
        [
            N("Conv", ["s", "w"], ["a"], pads=[1] * 4),
            N("Relu", ["a"], ["b"]),
            N("MaxPool", ["b"], ["m"], kernel_shape=[3, 3], pads=[1] * 4),
            N("Sub", ["s", "m"], ["next"]),
            N("Identity", ["c"], ["more"]),
        ],
        "body",
        [
            helper.make_tensor_value_info("i", TensorProto.INT64, []),
            helper.make_tensor_value_info("c", TensorProto.BOOL, []),
            helper.make_tensor_value_info("s", TensorProto.FLOAT, [1, 8, 6, 6]),
        ],
        [
            helper.make_tensor_value_info("more", TensorProto.BOOL, []),
            helper.make_tensor_value_info("next", TensorProto.FLOAT, [1, 8, 6, 6]),
        ],
    )
    graph = helper.make_graph(
        [N("Loop", ["n", "", "x"], ["y"], body=body)],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 8, 6, 6])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 8, 6, 6])],
        [numpy_helper.from_array(v.astype(np.float32), k) for k, v in weights.items()]
        + [numpy_helper.from_array(np.array(50), "n")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    assert check(from_onnx(model), {"x": rng.standard_normal((1, 8, 6, 6)).astype(np.float32)})
    assert made and all(not r.refused for r in made)


def test_what_has_other_bits_beside_its_neighbours_runs_alone(
    monkeypatch: pytest.MonkeyPatch, made: list[regions.RegionSession]
):
    """Simulated here by a factor that only regions have."""

    def odd(graph: region_nodes.RegionGraph, step: RegionStep) -> None:
        region_nodes._foreign(graph, step)
        if step.op == "onnx:GlobalAveragePool":
            node, factor = graph.proto.node[-1], graph.constant(np.array(1.000001, np.float32))
            graph.proto.node.add(op_type="Mul", input=[f"{node.output[0]}_odd", factor], output=[node.output[0]])
            node.output[0] += "_odd"

    monkeypatch.setitem(region_nodes._ADD, "foreign", odd)
    rng = np.random.default_rng(0)
    weights = {"w": rng.standard_normal((12, 3, 3, 3)), "v": rng.standard_normal((12, 12, 1, 1))}
    nodes = [
        N("Conv", ["x", "w"], ["a"], pads=[1] * 4),
        N("Relu", ["a"], ["b"]),
        N("GlobalAveragePool", ["b"], ["c"]),
        N("Conv", ["c", "v"], ["d"]),
        N("Relu", ["d"], ["e"]),
        N("Mul", ["e", "b"], ["f"]),
        N("Conv", ["f", "v"], ["g"]),
        N("GlobalAveragePool", ["g"], ["h"]),
        N("Sub", ["g", "h"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 37, 29])],
        [helper.make_empty_tensor_value_info("y")],
        [numpy_helper.from_array(v.astype(np.float32), k) for k, v in weights.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    assert check(from_onnx(model), {"x": rng.standard_normal((1, 3, 37, 29)).astype(np.float32)}) == 1
    ran = [r for r in made if r._session is not None]
    assert ran and all(isinstance(r._session, DividedRegion) and not r.refused for r in ran), [r.refused for r in ran]
    for region in ran:
        assert isinstance(region._session, DividedRegion)
        alone = [part.steps[0].op for part in region._session.parts if part.joined is None]
        assert alone[:2] == ["onnx:GlobalAveragePool"] * 2 and set(alone[2:]) <= {"subtract"}


def test_a_region_with_one_bit_of_difference_is_not_used(
    monkeypatch: pytest.MonkeyPatch, made: list[regions.RegionSession]
):
    monkeypatch.setattr(regions, "SWITCHED_OFF", "NchwcTransformer")  # without the layout the bits differ
    model, feeds = block()
    graph = from_onnx(model)
    wanted = finished(graph, feeds, regions=False).outputs()["y"]
    assert same_bits(finished(graph, feeds, regions=True).outputs()["y"], wanted)
    assert made and all("differs from what it gives alone" in r.refused for r in made)
    assert both_ways(graph, feeds) > 0  # a straight run executes its nodes one by one
