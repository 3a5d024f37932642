"""onnxruntime: a step over arrays as the body of a Loop, built by running the step on symbols. One thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tests.benchmarks.peers import need

DOUBLE, INTEGER, BOOLEAN = 11, 7, 9  # onnx.TensorProto.DOUBLE, INT64, BOOL
LAST = 1 << 62


class _Nodes:
    """Nodes of a body in the making, with their constants."""

    def __init__(self, onnx: Any) -> None:
        self.onnx, self.nodes, self.constants = onnx, list[Any](), list[Any]()

    def constant(self, value: Any) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(self.onnx.numpy_helper.from_array(np.asarray(value), name))
        return name

    def add(self, kind: str, *operands: str, **attributes: Any) -> NodeResult:
        name = f"v{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(kind, list(operands), [name], **attributes))
        return NodeResult(self, name)


class NodeResult:
    """A value of the body."""

    def __init__(self, nodes: _Nodes, name: str) -> None:
        self.nodes, self.name = nodes, name

    def _two(self, kind: str, a: Any, b: Any) -> NodeResult:
        operands = [v.name if isinstance(v, NodeResult) else self.nodes.constant(np.float64(v)) for v in (a, b)]
        return self.nodes.add(kind, *operands)

    def __add__(self, other: Any) -> NodeResult:
        return self._two("Add", self, other)

    def __sub__(self, other: Any) -> NodeResult:
        return self._two("Sub", self, other)

    def __rsub__(self, other: Any) -> NodeResult:
        return self._two("Sub", other, self)

    def __mul__(self, other: Any) -> NodeResult:
        return self._two("Mul", self, other)

    def __rmul__(self, other: Any) -> NodeResult:
        return self._two("Mul", other, self)

    def __truediv__(self, other: Any) -> NodeResult:
        return self._two("Div", self, other)

    def __matmul__(self, other: Any) -> NodeResult:
        return self._two("MatMul", self, other)

    def __getitem__(self, key: slice | tuple[slice, ...]) -> NodeResult:
        parts = key if isinstance(key, tuple) else (key,)
        starts = self.nodes.constant(np.array([p.start or 0 for p in parts]))
        stops = self.nodes.constant(np.array([LAST if p.stop is None else p.stop for p in parts]))
        return self.nodes.add("Slice", self.name, starts, stops, self.nodes.constant(np.arange(len(parts))))


def prepare(step: Callable[..., Sequence[Any]], start: tuple[np.ndarray, ...]) -> Callable[[int], Any]:
    onnx, ort = need("onnx"), need("onnxruntime")
    need("onnx.numpy_helper")
    nodes, h = _Nodes(onnx), onnx.helper
    ranks = [a.ndim for a in start]

    class Functions:
        sqrt = staticmethod(lambda x: nodes.add("Sqrt", x.name))
        total = staticmethod(lambda x: nodes.add("ReduceSum", x.name, keepdims=0))
        pad = staticmethod(lambda x: nodes.add("Pad", x.name, nodes.constant(np.ones(2 * ranks[0], np.int64))))

    def info(name: str, kind: int, shape: Sequence[int]) -> Any:
        return h.make_tensor_value_info(name, kind, shape)

    made = step(Functions, *(NodeResult(nodes, f"in{k}") for k in range(len(start))))
    outputs = [h.make_node("Identity", [v.name], [f"out{k}"]) for k, v in enumerate(made)]
    go = h.make_node("Identity", ["go_in"], ["go"])
    carried = [info(f"in{k}", DOUBLE, a.shape) for k, a in enumerate(start)]
    body = h.make_graph(
        [*nodes.nodes, *outputs, go],
        "body",
        [info("trip", INTEGER, []), info("go_in", BOOLEAN, []), *carried],
        [info("go", BOOLEAN, []), *(info(f"out{k}", DOUBLE, a.shape) for k, a in enumerate(start))],
    )
    names = [f"x{k}" for k in range(len(start))]
    loop = h.make_node("Loop", ["n", "", *names], [f"y{k}" for k in range(len(start))], body=body)
    graph = h.make_graph(
        [loop],
        "loop",
        [info("n", INTEGER, []), *(info(x, DOUBLE, a.shape) for x, a in zip(names, start, strict=True))],
        [info("y0", DOUBLE, start[0].shape)],
        nodes.constants,
    )
    model = h.make_model(graph, opset_imports=[h.make_opsetid("", 17)], ir_version=9)
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    feeds = dict(zip(names, start, strict=True))
    return lambda n: session.run(None, {**feeds, "n": np.array(n)})[0]
