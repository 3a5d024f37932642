"""Newton's square root, five scalar ops an iteration, against onnxruntime's Loop and plain Python.

    make bench

onnxruntime runs untraced and, in another session, with scan outputs for every value; the workbench traces every value.
The rounds are interleaved in one process. Nothing here fails on timing but a plain mistake of more than twenty times.
"""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.benchmarks.timing import interleaved, ratios
from workbench.execution import Run, prepare_feeds
from workbench.session import OFF_BUDGET, plan_for

pytestmark = pytest.mark.bench
TRIPS = 1_000_000
ORT_TRIPS = 50_000


def newton_graph() -> wb.Graph:
    """while i < n: x = (x + a / x) * 0.5; i = i + 1"""
    b = wb.GraphBuilder("newton")
    a, n = b.placeholder("a", "float64"), b.placeholder("n", "int64")
    x, i = b.while_loop(lambda x, i: i < n, lambda x, i: ((x + a / x) * 0.5, i + 1), [a, 0])
    return b.build({"x": x, "i": i})


def newton_onnx(scan: bool) -> bytes:
    """The same loop as an ONNX model; with ``scan`` every value of the body is a scan output."""
    from onnx import TensorProto, helper

    def scalar(name: str, kind: int) -> object:
        return helper.make_tensor_value_info(name, kind, [])

    double, integer, boolean = TensorProto.DOUBLE, TensorProto.INT64, TensorProto.BOOL
    nodes = [
        helper.make_node("Div", ["a", "x_in"], ["d"]),
        helper.make_node("Add", ["x_in", "d"], ["s"]),
        helper.make_node("Mul", ["s", "half"], ["x_out"]),
        helper.make_node("Add", ["i_in", "one"], ["i_out"]),
        helper.make_node("Less", ["i_out", "n"], ["go"]),
    ]
    outputs = [scalar("go", boolean), scalar("x_out", double), scalar("i_out", integer)]
    kinds = {"d": double, "s": double, "x_out": double, "i_out": integer, "go": boolean} if scan else {}
    for name, kind in kinds.items():
        nodes.append(helper.make_node("Identity", [name], [f"{name}_scan"]))
        outputs.append(scalar(f"{name}_scan", kind))
    inputs = [scalar("trip", integer), scalar("cond", boolean), scalar("x_in", double), scalar("i_in", integer)]
    body = helper.make_graph(nodes, "body", inputs, outputs)
    results = ["x", "i", *(f"{n}_all" for n in kinds)]
    loop = helper.make_node("Loop", ["", "true", "a", "zero"], results, body=body)
    constants = [
        helper.make_tensor("half", double, [], [0.5]), helper.make_tensor("one", integer, [], [1]),
        helper.make_tensor("zero", integer, [], [0]), helper.make_tensor("true", boolean, [], [True]),
    ]  # fmt: skip
    infos = [scalar("x", double), scalar("i", integer)]
    infos += [helper.make_tensor_value_info(f"{n}_all", k, [None]) for n, k in kinds.items()]
    graph = helper.make_graph([loop], "newton", [scalar("a", double), scalar("n", integer)], infos, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    return model.SerializeToString()


def python_newton(a: float, n: int) -> float:
    x, i = a, 0
    while i < n:
        x = (x + a / x) * 0.5
        i = i + 1
    return x


def test_newton(capsys: pytest.CaptureFixture[str]) -> None:
    ort = pytest.importorskip("onnxruntime")
    graph, feeds = newton_graph(), {"a": np.float64(2.0), "n": np.int64(TRIPS)}
    arrays = prepare_feeds(graph, feeds)
    plan = plan_for(graph, arrays, None)
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    plain = ort.InferenceSession(newton_onnx(False), options, providers=["CPUExecutionProvider"])
    scans = ort.InferenceSession(newton_onnx(True), options, providers=["CPUExecutionProvider"])
    ort_feeds = {"a": np.array(2.0), "n": np.array(ORT_TRIPS)}

    def ours(budget: int) -> Run:
        run = Run(plan, arrays, budget)
        while run.go() != "halt":
            pass
        return run

    def session() -> wb.Session:
        with wb.Session(graph, feeds) as opened:
            opened.run()
            return opened

    cold = interleaved({"cold": lambda: ours(1 << 30)}, 1)["cold"]
    kept = session()
    assert len(kept.trace["x"]) == TRIPS + 1 and kept.trace["i"][-1] == TRIPS
    expected = plain.run(None, ort_feeds)[0]
    assert np.allclose(kept.trace["x"][-1], expected) and np.isclose(python_newton(2.0, 100), expected)
    del kept
    seconds = interleaved({
        "onnxruntime Loop, untraced": lambda: plain.run(None, ort_feeds),
        "onnxruntime Loop, scan outputs": lambda: scans.run(None, ort_feeds),
        "Python": lambda: python_newton(2.0, TRIPS),
        "workbench, untraced": lambda: ours(OFF_BUDGET),
        "workbench, every value traced": lambda: ours(1 << 30),
        "workbench session, every value traced": session,
    })  # fmt: skip
    each = {name: s / (ORT_TRIPS if "onnx" in name else TRIPS) for name, s in seconds.items()}
    each["workbench, traced, first run of the process"] = cold / TRIPS
    with capsys.disabled():
        print("\n" + ratios(f"Newton, {TRIPS:,} iterations", each, "onnxruntime Loop, untraced"))
        print(f"  traced / untraced: {each['workbench, every value traced'] / each['workbench, untraced']:.2f}")
    assert each["onnxruntime Loop, untraced"] / each["workbench, every value traced"] > 1, "slower than onnxruntime"
