"""Handwritten base models, and their versions by onnxruntime's quantiser, converter and offline optimiser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

N = helper.make_node


def _model(nodes: list[Any], inputs: dict, outputs: dict, weights: dict, opset: int) -> onnx.ModelProto:
    rng = np.random.default_rng(0)
    arrays = {
        k: rng.standard_normal(v).astype(np.float32) * 0.3 if isinstance(v, tuple) else np.asarray(v)
        for k, v in weights.items()
    }
    graph = helper.make_graph(
        nodes,
        "g",
        *([helper.make_tensor_value_info(k, TensorProto.FLOAT, v) for k, v in d.items()] for d in (inputs, outputs)),
        [numpy_helper.from_array(a, k) for k, a in arrays.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)


def convnet(opset: int) -> onnx.ModelProto:
    three = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}
    nodes = [
        N("Conv", ["x", "w0", "b0"], ["c0"], "conv0", **three),
        N("Relu", ["c0"], ["r0"], "relu"),
        N("MaxPool", ["r0"], ["p0"], "pool", kernel_shape=[2, 2], strides=[2, 2]),
        N("Conv", ["p0", "w1", "b1"], ["c1"], "conv1", **three),
        N("Add", ["c1", "p0"], ["a1"], "add"),
        N("Sigmoid", ["a1"], ["s1"], "sigmoid"),
        N("LeakyRelu", ["s1"], ["l1"], "leaky", alpha=0.1),
        N("Concat", ["l1", "p0"], ["k"], "concat", axis=1),
        N("GlobalAveragePool", ["k"], ["m"], "mean"),
        N("Flatten", ["m"], ["f"], "flatten"),
        N("Gemm", ["f", "w2", "b2"], ["g"], "gemm"),
        N("Softmax", ["g"], ["y"], "softmax"),
    ]
    weights = {"w0": (8, 3, 3, 3), "b0": (8,), "w1": (8, 8, 3, 3), "b1": (8,), "w2": (16, 5), "b2": (5,)}
    return _model(nodes, {"x": [1, 3, 8, 8]}, {"y": [1, 5]}, weights, opset)


def mlp(opset: int) -> onnx.ModelProto:
    nodes = [
        N("MatMul", ["x", "w0"], ["m0"], "mm0"),
        N("Add", ["m0", "b0"], ["a0"], "add0"),
        N("Relu", ["a0"], ["r"], "relu"),
        N("MatMul", ["r", "w1"], ["m1"], "mm1"),
        N("Add", ["m1", "b1"], ["a1"], "add1"),
        N("Tanh", ["a1"], ["t"], "tanh"),
        N("Gemm", ["t", "w2", "b2"], ["y"], "gemm"),
    ]
    weights = {"w0": (32, 64), "b0": (64,), "w1": (64, 32), "b1": (32,), "w2": (32, 4), "b2": (4,)}
    return _model(nodes, {"x": [2, 32]}, {"y": [2, 4]}, weights, opset)


def lstm(opset: int) -> onnx.ModelProto:
    nodes = [
        N("LSTM", ["x", "w", "r", "b"], ["ys", "h", "c"], "lstm", hidden_size=8),
        N("Squeeze", ["h", "axis"], ["s"], "squeeze"),
        N("MatMul", ["s", "w2"], ["y"], "mm"),
    ]
    weights = {"w": (1, 32, 6), "r": (1, 32, 8), "b": (1, 64), "w2": (8, 3), "axis": np.array([0])}
    return _model(nodes, {"x": [5, 2, 6]}, {"y": [2, 3], "c": [1, 2, 8]}, weights, opset)


def attention(opset: int) -> onnx.ModelProto:
    nodes = []
    for k in "qkv":
        order = [0, 2, 3, 1] if k == "k" else [0, 2, 1, 3]
        nodes += [
            N("MatMul", ["x", "w" + k], ["m" + k], "mm" + k),
            N("Add", ["m" + k, "b" + k], ["a" + k], "add" + k),
            N("Reshape", ["a" + k, "heads"], ["h" + k], "split" + k),
            N("Transpose", ["h" + k], ["t" + k], "turn" + k, perm=order),
        ]
    nodes += [
        N("MatMul", ["tq", "tk"], ["qk"], "qk"),
        N("Mul", ["qk", "half"], ["scaled"], "scale"),
        N("Softmax", ["scaled"], ["p"], "softmax", axis=-1),
        N("MatMul", ["p", "tv"], ["ctx"], "pv"),
        N("Transpose", ["ctx"], ["back"], "back", perm=[0, 2, 1, 3]),
        N("Reshape", ["back", "flat"], ["one"], "join"),
        N("MatMul", ["one", "wo"], ["mo"], "mmo"),
        N("Add", ["mo", "bo"], ["ao"], "addo"),
        N("Add", ["ao", "x"], ["sum"], "skip"),
        N("LayerNormalization", ["sum", "g", "be"], ["y"], "norm", axis=-1),
    ]
    weights = {
        **{"w" + k: (16, 16) for k in "qkvo"},
        **{"b" + k: (16,) for k in "qkvo"},
        "g": (16,),
        "be": (16,),
        "heads": np.array([0, 0, 4, 4]),
        "flat": np.array([0, 0, 16]),
        "half": np.float32(0.5),
    }
    return _model(nodes, {"x": [1, 6, 16]}, {"y": [1, 6, 16]}, weights, opset)


def loop(opset: int) -> onnx.ModelProto:
    inner = [
        N("MatMul", ["s", "wl"], ["bm"], "bmm"),
        N("Tanh", ["bm"], ["s2"], "btanh"),
        N("Identity", ["c"], ["c2"]),
        N("Identity", ["s2"], ["each"]),
    ]
    part = _model(inner, {"s": [2, 16]}, {"s2": [2, 16], "each": [2, 16]}, {"wl": (16, 16)}, opset).graph
    scalar = helper.make_tensor_value_info
    body = helper.make_graph(
        inner,
        "body",
        [scalar("i", TensorProto.INT64, []), scalar("c", TensorProto.BOOL, []), *part.input],
        [scalar("c2", TensorProto.BOOL, []), *part.output],
        list(part.initializer),
    )
    nodes = [
        N("MatMul", ["x", "w0"], ["m0"], "mm0"),
        N("Loop", ["n", "true", "m0"], ["end", "all"], "loop", body=body),
        N("MatMul", ["end", "w1"], ["y"], "mm1"),
    ]
    weights = {"w0": (16, 16), "w1": (16, 3), "n": np.array(4), "true": np.array(True)}
    return _model(nodes, {"x": [2, 16]}, {"y": [2, 3], "all": [4, 2, 16]}, weights, opset)


BASES: dict[str, Callable[[int], onnx.ModelProto]] = {
    "convnet": convnet,
    "mlp": mlp,
    "lstm": lstm,
    "attention": attention,
    "loop": loop,
}


def feeds_of(model: onnx.ModelProto, seed: int = 7) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    constants = {i.name for i in model.graph.initializer}
    return {
        i.name: rng.standard_normal([d.dim_value for d in i.type.tensor_type.shape.dim]).astype(
            helper.tensor_dtype_to_np_dtype(i.type.tensor_type.elem_type)
        )
        for i in model.graph.input
        if i.name not in constants
    }


def quantised(name: str, folder: Path) -> Iterator[tuple[str, onnx.ModelProto]]:
    """(label, model) for dynamic, QDQ and QOperator quantisation in their modes."""
    import onnxruntime.quantization as q

    made, base = folder / "made.onnx", folder / "base.onnx"
    kinds, formats = q.QuantType, q.QuantFormat

    class Samples(q.CalibrationDataReader):
        def __init__(self, model: onnx.ModelProto) -> None:
            self.left = [feeds_of(model, k) for k in range(3)]

        def get_next(self) -> Any:
            return self.left.pop() if self.left else None

    for label, options in {
        "u8": {"weight_type": kinds.QUInt8},
        "i8": {"weight_type": kinds.QInt8},
        "channel": {"weight_type": kinds.QInt8, "per_channel": True},
        "reduced": {"reduce_range": True},
        "inside": {"extra_options": {"EnableSubgraph": True}},
    }.items():
        onnx.save(BASES[name](17), base)
        q.quantize_dynamic(base, made, **options)
        yield f"dynamic-{label}", onnx.load(made)
    static = [
        (f, 17, a, w, False)
        for f in ("QDQ", "QOperator")
        for a, w in (("QUInt8", "QInt8"), ("QUInt8", "QUInt8"), ("QInt8", "QInt8"))
    ]
    static += [(f, 17, "QUInt8", "QInt8", True) for f in ("QDQ", "QOperator")]
    narrow = (("QInt16", "QInt16"), ("QUInt16", "QUInt8"), ("QInt8", "QInt4"), ("QInt16", "QUInt4"))
    static += [("QDQ", opset, a, w, False) for opset in (17, 21) for a, w in narrow]
    for form, opset, act, weight, channel in static:
        model = BASES[name](opset)
        onnx.save(model, base)
        q.quantize_static(
            base,
            made,
            Samples(model),
            quant_format=formats[form],
            per_channel=channel,
            activation_type=kinds[act],
            weight_type=kinds[weight],
        )
        yield f"{form}-{opset}-{act}-{weight}{'-channel' * channel}", onnx.load(made)


def halved(name: str) -> Iterator[tuple[str, onnx.ModelProto]]:
    from onnxruntime.transformers.float16 import convert_float_to_float16

    yield "half", convert_float_to_float16(BASES[name](17))
    yield "half-inside", convert_float_to_float16(BASES[name](17), keep_io_types=True)


def optimised(model: onnx.ModelProto, folder: Path) -> Iterator[tuple[str, onnx.ModelProto]]:
    """(level, model) as ``SessionOptions.optimized_model_filepath`` writes it."""
    import onnxruntime as ort

    for level in ("BASIC", "EXTENDED", "LAYOUT", "ALL"):
        options = ort.SessionOptions()
        options.log_severity_level = 4
        options.graph_optimization_level = getattr(ort.GraphOptimizationLevel, f"ORT_ENABLE_{level}")
        options.optimized_model_filepath = str(folder / "optimised.onnx")
        ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        yield level.lower(), onnx.load(folder / "optimised.onnx")
