"""onnxruntime's Loop: untraced, or with every value of the body as scan output. One thread, as the workbench has."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.benchmarks.peers import Run, need
from tests.benchmarks.workloads import CENTRE, INNER, RATE, SIDE, UNKNOWNS, Workload

Shape = list[int]
DOUBLE, INTEGER, BOOLEAN = 11, 7, 9  # onnx.TensorProto.DOUBLE, INT64, BOOL
CONSTANTS: dict[str, Any] = {
    "one": np.int64(1),
    "two": np.int64(2),
    "three": np.int64(3),
    "zero": np.int64(0),
    "true": np.bool_(True),
    "inner_trips": np.int64(INNER),
    "half": 0.5,
    "unit": 1.0,
    "rate": RATE,
    "centre": CENTRE,
    "side": SIDE,
    "from_0": np.array([0]),
    "from_1": np.array([1]),
    "from_2": np.array([2]),
    "to_end": np.array([1 << 62]),
    "to_1": np.array([-1]),
    "to_2": np.array([-2]),
    "ends": np.array([1, 1]),
}


@dataclass
class Body:
    """``state`` maps the loop variable to (kind, shape); ``nodes`` give "x_out" from "x_in"; ``values`` are those worth
    tracing beside the carried ones."""

    start: str
    kind: int
    shape: Shape
    inputs: dict[str, tuple[int, Shape]]
    nodes: list[Any]
    values: dict[str, tuple[int, Shape]] = field(default_factory=dict)


def _loop(h: Any, body: Body, scan: bool, start: str, bound: str, prefix: str = "") -> tuple[Any, dict[str, Any]]:
    """A Loop node that runs ``body`` until the counter reaches ``bound``, and its scan outputs with their types."""

    def info(name: str, kind: int, shape: Shape) -> Any:
        return h.make_tensor_value_info(prefix + name, kind, shape)

    nodes = [
        *body.nodes,
        h.make_node("Add", [prefix + "i_in", "one"], [prefix + "i_out"]),
        h.make_node("Less", [prefix + "i_out", bound], [prefix + "go"]),
    ]
    outputs = [info("go", BOOLEAN, []), info("x_out", body.kind, body.shape), info("i_out", INTEGER, [])]
    kept: dict[str, Any] = {}
    if scan:
        kept = {
            f"{prefix}{k}": v
            for k, v in {"x_out": (body.kind, body.shape), "i_out": (INTEGER, []), "go": (BOOLEAN, [])}.items()
        } | body.values
        for name, (kind, shape) in kept.items():
            nodes.append(h.make_node("Identity", [name], [f"{name}_scan"]))
            outputs.append(h.make_tensor_value_info(f"{name}_scan", kind, shape))
    inputs = [
        info("trip", INTEGER, []),
        info("cond", BOOLEAN, []),
        info("x_in", body.kind, body.shape),
        info("i_in", INTEGER, []),
    ]
    graph = h.make_graph(nodes, f"{prefix}body", inputs, outputs)
    results = [f"{prefix}x", f"{prefix}i", *(f"{name}_all" for name in kept)]
    return h.make_node("Loop", ["", "true", start, "zero"], results, body=graph), kept


def _body(h: Any, workload: Workload, scan: bool) -> Body:
    node = h.make_node
    if workload.name == "newton":
        nodes = [
            node("Div", ["a", "x_in"], ["d"]),
            node("Add", ["x_in", "d"], ["s"]),
            node("Mul", ["s", "half"], ["x_out"]),
        ]
        return Body("a", DOUBLE, [], {"a": (DOUBLE, [])}, nodes, {"d": (DOUBLE, []), "s": (DOUBLE, [])})
    if workload.name == "nested":
        inner = Body(
            "x_in",
            DOUBLE,
            [],
            {},
            [node("Mul", ["in_x_in", "a"], ["in_p"]), node("Add", ["in_p", "unit"], ["in_x_out"])],
            {"in_p": (DOUBLE, [])},
        )
        loop, kept = _loop(h, inner, scan, "x_in", "inner_trips", "in_")
        values = {f"{k}_all": (kind, [INNER, *shape]) for k, (kind, shape) in kept.items()}
        return Body("a", DOUBLE, [], {"a": (DOUBLE, [])}, [loop, node("Identity", ["in_x"], ["x_out"])], values)
    if workload.name == "collatz":
        out = [h.make_tensor_value_info("taken", INTEGER, [])]
        even = h.make_graph([node("Div", ["x_in", "two"], ["taken"])], "even", [], out)
        odd = h.make_graph(
            [node("Mul", ["x_in", "three"], ["triple"]), node("Add", ["triple", "one"], ["taken"])], "odd", [], out
        )
        nodes = [
            node("Mod", ["x_in", "two"], ["r"]),
            node("Equal", ["r", "zero"], ["is_even"]),
            node("If", ["is_even"], ["x_out"], then_branch=even, else_branch=odd),
        ]
        values = {"r": (INTEGER, []), "is_even": (BOOLEAN, [])}
        return Body("start", INTEGER, [], {"start": (INTEGER, [])}, nodes, values)
    if workload.name == "gd":
        column = [UNKNOWNS, 1]
        nodes = [
            node("MatMul", ["A", "x_in"], ["p"]),
            node("Sub", ["p", "b"], ["r"]),
            node("Mul", ["rate", "r"], ["s"]),
            node("Sub", ["x_in", "s"], ["x_out"]),
        ]
        inputs = {"A": (DOUBLE, [UNKNOWNS, UNKNOWNS]), "b": (DOUBLE, column), "x0": (DOUBLE, column)}
        return Body("x0", DOUBLE, column, inputs, nodes, {k: (DOUBLE, column) for k in "prs"})
    size = len(workload.inputs["u"])
    nodes = [
        node("Slice", ["x_in", "from_1", "to_1"], ["mid"]),
        node("Slice", ["x_in", "from_0", "to_2"], ["left"]),
        node("Slice", ["x_in", "from_2", "to_end"], ["right"]),
        node("Add", ["left", "right"], ["both"]),
        node("Mul", ["side", "both"], ["weighed"]),
        node("Mul", ["centre", "mid"], ["own"]),
        node("Add", ["own", "weighed"], ["new"]),
        node("Pad", ["new", "ends"], ["x_out"]),
    ]
    values = {k: (DOUBLE, [size - 2]) for k in ("mid", "left", "right", "both", "weighed", "own", "new")}
    return Body("u", DOUBLE, [size], {"u": (DOUBLE, [size])}, nodes, values)


def model(workload: Workload, scan: bool) -> bytes:
    h, numpy_helper = need("onnx").helper, need("onnx.numpy_helper")
    body = _body(h, workload, scan)
    loop, kept = _loop(h, body, scan, body.start, "n")
    outputs = [h.make_tensor_value_info("x", body.kind, body.shape)]
    outputs += [h.make_tensor_value_info(f"{k}_all", kind, [None, *shape]) for k, (kind, shape) in kept.items()]
    inputs = [h.make_tensor_value_info(k, kind, shape) for k, (kind, shape) in body.inputs.items()]
    inputs.append(h.make_tensor_value_info("n", INTEGER, []))
    constants = [numpy_helper.from_array(np.asarray(v), k) for k, v in CONSTANTS.items()]
    graph = h.make_graph([loop], workload.name, inputs, outputs, constants)
    made = h.make_model(graph, opset_imports=[h.make_opsetid("", 17)], ir_version=9)
    need("onnx").checker.check_model(made, full_check=True)
    return made.SerializeToString()


def prepare(workload: Workload, scan: bool = False) -> Run:
    ort = need("onnxruntime")
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = ort.InferenceSession(model(workload, scan), options, providers=["CPUExecutionProvider"])
    feeds = {k: np.asarray(v) for k, v in workload.inputs.items()}
    if workload.name == "gd":
        feeds |= {k: feeds[k].reshape(UNKNOWNS, 1) for k in ("b", "x0")}
    shape = np.shape(workload.inputs.get("x0", workload.inputs.get("u", 0)))
    return lambda n: session.run(None, {**feeds, "n": np.array(n)})[0].reshape(shape)
