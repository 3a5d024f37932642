"""Expected results of a single ONNX node: by onnxruntime, by ONNX's reference evaluator, and by the latter in
float64.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
from onnx import helper
from onnx.reference import ReferenceEvaluator
from scipy import special

from workbench.ir.types import numpy_dtype

_OPTIONS = ort.SessionOptions()
_OPTIONS.log_severity_level = 4
_OPTIONS.intra_op_num_threads = 1
_OPTIONS.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
ort.set_default_logger_severity(4)


@dataclass(frozen=True)
class Node:
    op: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attrs: dict[str, Any]
    opset: int

    @property
    def given(self) -> list[str]:
        return [n for n in self.inputs if n]

    def proto(self) -> onnx.NodeProto:
        return helper.make_node(self.op, list(self.inputs), list(self.outputs), **self.attrs)

    def model(self, arrays: list[np.ndarray], plain: bool = False) -> onnx.ModelProto:
        """The model of the single node; with ``plain``, outputs of dtypes that NumPy lacks are cast to float32."""
        feeds = dict(zip(self.given, arrays, strict=True))
        inputs = [
            helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
            for n, a in feeds.items()
        ]
        graph = helper.make_graph([self.proto()], "g", inputs, [onnx.ValueInfoProto(name=o) for o in self.outputs])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=10)
        if plain:
            known = onnx.shape_inference.infer_shapes(model, strict_mode=True)
            for out, said in zip(model.graph.output, known.graph.output, strict=True):
                out.type.tensor_type.elem_type = number = said.type.tensor_type.elem_type
                if helper.tensor_dtype_to_np_dtype(number).kind == "V" or number in _EXTENSION:
                    model.graph.node.append(helper.make_node("Cast", [out.name], [f"{out.name}_"], to=1))
                    out.name += "_"
                    out.type.tensor_type.elem_type = 1
        return model


_EXTENSION = {16: "bfloat16", 17: "float8_e4m3fn", 18: "float8_e4m3fnuz", 19: "float8_e5m2", 20: "float8_e5m2fnuz"}


def by_runtime(node: Node, arrays: list[np.ndarray]) -> list[np.ndarray] | None:
    """The results by onnxruntime; None if it does not compute the node."""
    if node.op == "InstanceNormalization" and not all(a.size for a in arrays):
        return None  # it ends the process
    try:
        known = onnx.shape_inference.infer_shapes(node.model(arrays), strict_mode=True)
        numbers = [o.type.tensor_type.elem_type for o in known.graph.output]
        session = ort.InferenceSession(
            node.model(arrays, True).SerializeToString(), _OPTIONS, providers=["CPUExecutionProvider"]
        )
        feeds = {n: _value(a) for n, a in zip(node.given, arrays, strict=True)}
        found = [v.numpy() for v in session.run_with_ort_values(None, feeds)]
    except Exception:  # its errors have no common base
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [
            a.astype(numpy_dtype(_EXTENSION[n])) if n in _EXTENSION else a for a, n in zip(found, numbers, strict=True)
        ]


def _value(array: np.ndarray) -> Any:
    array = np.array(array, order="C")
    number = helper.np_dtype_to_tensor_dtype(array.dtype)
    if number not in _EXTENSION:
        return ort.OrtValue.ortvalue_from_numpy(array)
    return ort.OrtValue.ortvalue_from_numpy_with_onnx_type(array.view(f"uint{8 * array.itemsize}"), number)


def by_reference(node: Node, arrays: list[np.ndarray]) -> list[np.ndarray] | None:
    """The results by the reference evaluator; None if it fails."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            evaluator = ReferenceEvaluator(node.model(arrays))
            found = evaluator.run(None, dict(zip(node.given, arrays, strict=True)))
        known = onnx.shape_inference.infer_shapes(node.model(arrays), strict_mode=True)
        wanted = [helper.tensor_dtype_to_np_dtype(o.type.tensor_type.elem_type) for o in known.graph.output]
    except Exception:  # the library raises many kinds
        return None
    found = [np.asarray(a) for a in found]
    return found if [a.dtype for a in found] == wanted else None


def evaluated(node: Node, arrays: list[np.ndarray]) -> list[np.ndarray] | None:
    """The results by onnxruntime, otherwise by the reference evaluator; None if both fail."""
    found = by_runtime(node, arrays)
    return by_reference(node, arrays) if found is None else found


def in_float64(node: Node, arrays: list[np.ndarray]) -> list[np.ndarray] | None:
    """The same node on the same numbers in float64; None if that is not comparable with its results."""
    if node.op in _OF_ITS_DTYPE or not any(a.dtype.name in _FLOATS for a in arrays):
        return None
    if node.op in EXACT:
        with np.errstate(all="ignore"):
            return [np.asarray(EXACT[node.op](arrays[0].astype(np.float64), node))]
    if node.op == "PRelu":
        x, slope = (a.astype(np.float64) for a in arrays)
        return [np.where(x < 0, slope * x, x)]
    wide = [a.astype(np.float64) if a.dtype.name in _FLOATS else a for a in arrays]
    attrs = {k: v for k, v in node.attrs.items() if k != "stash_type"}
    if "stash_type" in node.attrs:
        attrs["stash_type"] = 11
    return by_reference(Node(node.op, node.inputs, node.outputs, attrs, node.opset), wide)


def _log_softmax(x: np.ndarray, node: Node) -> np.ndarray:
    shape, axis = x.shape, node.attrs["axis"]
    if node.opset < 13:  # the axes from this one on are flattened
        axis %= x.ndim
        x, axis = x.reshape(int(np.prod(shape[:axis])), int(np.prod(shape[axis:]))), 1
    if not x.size:
        return x.reshape(shape)
    moved = x - x.max(axis, keepdims=True)
    return (moved - np.log(np.exp(moved).sum(axis, keepdims=True))).reshape(shape)


def _lp_normalization(x: np.ndarray, node: Node) -> np.ndarray:
    size = np.linalg.norm(x, node.attrs.get("p", 2), node.attrs["axis"], keepdims=True)
    return np.where(size == 0, 0 * x, x / size)


def _gelu(x: np.ndarray, node: Node) -> np.ndarray:
    if node.attrs.get("approximate") == "tanh":
        return x / (1 + np.exp(-np.sqrt(8 / np.pi) * (x + 0.044715 * x**3)))
    return x * special.ndtr(x)


#: ops that the evaluator computes in float32, or by a formula that loses digits
EXACT: dict[str, Callable[[np.ndarray, Node], np.ndarray]] = {
    "Erf": lambda x, node: special.erf(x),
    "Gelu": _gelu,
    "Mish": lambda x, node: x * np.tanh(np.logaddexp(x, 0)),
    "Softsign": lambda x, node: x / (1 + np.abs(x)),
    "LogSoftmax": _log_softmax,
    "LpNormalization": _lp_normalization,
    "Softmax": lambda x, node: np.exp(_log_softmax(x, node)),
}

_FLOATS = ("float16", "bfloat16", "float32", "float64")
#: results whose dtype differs from the input floats, or that depend on it
_OF_ITS_DTYPE = (
    "Cast",
    "CastLike",
    "QuantizeLinear",
    "DequantizeLinear",
    "DynamicQuantizeLinear",
    "QLinearMatMul",
    "EyeLike",
)
