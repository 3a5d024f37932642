"""A small node of each op outside the standard that has a CPU kernel in onnxruntime."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import helper

MS, NCHWC, ML = "com.microsoft", "com.microsoft.nchwc", "ai.onnx.ml"


@dataclass
class Case:
    """A node: ``feeds`` and ``weights`` are its inputs in the order of ``order`` ("" for an omitted one)."""

    op: str
    feeds: dict[str, np.ndarray]
    weights: dict[str, np.ndarray] = field(default_factory=dict)
    outputs: int | tuple[str, ...] = 1
    attrs: dict[str, Any] = field(default_factory=dict)
    domain: str = MS
    order: tuple[str, ...] | None = None
    label: str = ""

    def __str__(self) -> str:
        return f"{self.domain.rpartition('.')[2]}-{self.op}{self.label and '-'}{self.label}"

    def model(self, opset: int = 21, fed: bool = False) -> onnx.ModelProto:
        """The model of the node; with ``fed`` the weights are inputs too."""
        names = self.order or (*self.feeds, *self.weights)
        outputs = [f"out{k}" for k in range(self.outputs)] if isinstance(self.outputs, int) else list(self.outputs)
        node = helper.make_node(self.op, list(names), outputs, domain=self.domain, **self.attrs)
        every = {**self.feeds, **self.weights}
        inputs = every if fed else self.feeds
        graph = helper.make_graph(
            [node],
            "g",
            [info(n, a) for n, a in inputs.items()],
            [onnx.ValueInfoProto(name=o) for o in outputs if o],
            [] if fed else [onnx.numpy_helper.from_array(a, n) for n, a in self.weights.items()],
        )
        sets = [helper.make_opsetid("", opset), helper.make_opsetid(self.domain, 3 if self.domain == ML else 1)]
        return helper.make_model(graph, opset_imports=sets, ir_version=9)


def info(name: str, array: np.ndarray) -> onnx.ValueInfoProto:
    number = 8 if array.dtype == object else helper.np_dtype_to_tensor_dtype(array.dtype)
    return helper.make_tensor_value_info(name, number, array.shape)


def cases() -> Iterator[Case]:
    rng = np.random.default_rng(5)

    def f(*shape: int, dtype: Any = np.float32) -> np.ndarray:
        return (rng.standard_normal(shape) * 0.5).astype(dtype)

    def u8(*shape: int) -> np.ndarray:
        return rng.integers(0, 256, shape).astype(np.uint8)

    def i8(*shape: int) -> np.ndarray:
        return rng.integers(-128, 128, shape).astype(np.int8)

    def n(value: Any, dtype: Any = np.float32) -> np.ndarray:
        return np.asarray(value, dtype)

    def ints(high: int, *shape: int, dtype: Any = np.int64) -> np.ndarray:
        return rng.integers(0, high, shape).astype(dtype)

    make: Callable[..., Case] = Case
    # activations and normalisations
    yield make("Gelu", {"x": f(2, 3)})
    yield make("QuickGelu", {"x": f(2, 3)}, attrs={"alpha": 1.5})
    yield make("FastGelu", {"x": f(2, 3)}, {"b": f(3)})
    yield make("FastGelu", {"x": f(2, 3)}, label="no-bias")
    yield make("BiasGelu", {"x": f(2, 3)}, {"b": f(3)})
    yield make("ScaledSiLU", {"x": f(2, 4)}, {"s": n(0.7)})
    yield make("GatedAdd", {"x": f(2, 4), "y": f(2, 4), "g": f(2, 1)})
    yield make("BranchwiseRMSNorm", {"x": f(2, 4)}, {"s": f(2, 2)}, attrs={"num_branches": 2})
    yield make("GatedRMSNorm", {"x": f(2, 4)}, {"s": f(4), "g": f(2, 4)}, order=("x", "s", "g"))
    yield make("SkipLayerNormalization", {"x": f(1, 2, 4), "s": f(1, 2, 4)}, {"g": f(4), "b": f(4), "c": f(4)})
    yield make(
        "SkipLayerNormalization",
        {"x": f(1, 2, 4), "s": f(1, 2, 4)},
        {"g": f(4), "b": f(4)},
        ("y", "", "", "sum"),
        label="sum",
    )
    yield make(
        "SkipSimplifiedLayerNormalization", {"x": f(1, 2, 4), "s": f(1, 2, 4)}, {"g": f(4)}, ("y", "", "", "sum")
    )
    embeds = {"w": f(10, 4), "p": f(5, 4), "t": f(2, 4), "g": f(4), "b": f(4)}
    tokens = {"ids": ints(10, 2, 3, dtype=np.int32), "seg": ints(2, 2, 3, dtype=np.int32)}
    yield make("EmbedLayerNormalization", tokens, embeds, 2)
    yield make(
        "EmbedLayerNormalization",
        {**tokens, "m": np.ones((2, 3), np.int32)},
        embeds,
        ("y", "mask", "sum"),
        {"epsilon": 1e-5},
        order=("ids", "seg", "w", "p", "t", "g", "b", "m"),
        label="mask",
    )
    quantised = {k: u8(*v.shape) for k, v in embeds.items()}
    scales = {f"{k}s": n(0.01) for k in embeds} | {f"{k}z": n(128, np.uint8) for k in embeds}
    yield make(
        "QEmbedLayerNormalization",
        tokens,
        quantised | scales,
        2,
        order=("ids", "seg", *embeds, "", *(f"{k}s" for k in embeds), *(f"{k}z" for k in embeds)),
    )
    # products of matrices
    yield make("FusedMatMul", {"a": f(2, 3, 4), "b": f(2, 5, 4)}, attrs={"transB": 1, "alpha": 0.5})
    yield make("TransposeMatMul", {"a": f(4, 3)}, {"b": f(4, 5)}, attrs={"transA": 1})
    yield make("FusedGemm", {"a": f(2, 3)}, {"b": f(3, 4), "c": f(4)}, attrs={"activation": "Relu"})
    yield make("MatMulInteger16", {"a": ints(99, 2, 3, dtype=np.int16), "b": ints(99, 3, 2, dtype=np.int16)})
    yield make(
        "MatMulIntegerToFloat",
        {"a": u8(2, 4), "as": n(0.1)},
        {"b": u8(4, 3), "bs": n(0.2), "az": n(3, np.uint8), "bz": n(4, np.uint8), "c": f(3)},
        order=("a", "b", "as", "bs", "az", "bz", "c"),
    )
    yield make("DynamicQuantizeMatMul", {"a": f(2, 4)}, {"b": u8(4, 3), "s": n(0.2), "z": n(9, np.uint8), "c": f(3)})
    for bits in (2, 4, 8):
        packed = u8(6, 2, 32 * bits // 8)
        yield make(
            "MatMulNBits",
            {"a": f(2, 64)},
            {"b": packed, "s": f(6, 2)},
            label=f"{bits}-bits",
            attrs={"K": 64, "N": 6, "bits": bits, "block_size": 32},
        )
    yield make(
        "MatMulNBits",
        {"a": f(2, 64)},
        {"b": u8(6, 2, 16), "s": f(6, 2), "z": u8(6, 1)},
        label="zeros",
        attrs={"K": 64, "N": 6, "bits": 4, "block_size": 32},
    )
    yield make(
        "MatMulBnb4",
        {"a": f(2, 64)},
        {"b": u8(192), "s": f(6)},
        attrs={"K": 64, "N": 6, "block_size": 64, "quant_type": 1},
    )
    import ml_dtypes

    for dtype in (ml_dtypes.uint4, ml_dtypes.int4):
        yield make(
            "GatherBlockQuantized",
            {"i": ints(6, 3)},
            {"d": ints(7, 6, 32).astype(dtype), "s": f(6, 2)},
            order=("d", "i", "s"),
            attrs={"block_size": 16, "quantize_axis": 1, "gather_axis": 0},
            label=np.dtype(dtype).name,
        )
    yield make(
        "GatherBlockQuantized",
        {"i": ints(6, 3)},
        {"d": u8(6, 16), "s": f(6, 2)},
        order=("d", "i", "s"),
        attrs={"block_size": 16, "quantize_axis": 1, "gather_axis": 0, "bits": 4},
        label="uint8",
    )
    # convolutions and pools
    yield make("FusedConv", {"x": f(1, 3, 8, 8)}, {"w": f(4, 3, 3, 3), "b": f(4)}, attrs={"activation": "Relu"})
    yield make(
        "FusedConv",
        {"x": f(1, 3, 8, 8), "z": f(1, 4, 6, 6)},
        {"w": f(4, 3, 3, 3)},
        label="sum",
        order=("x", "w", "", "z"),
        attrs={"activation": "LeakyRelu", "activation_params": [0.1]},
    )
    yield make("NhwcMaxPool", {"x": u8(1, 6, 6, 4)}, attrs={"kernel_shape": [2, 2]})
    yield make(
        "MaxpoolWithMask",
        {"x": f(1, 1, 4, 4), "m": np.ones((1, 1, 4, 4), np.int32)},
        attrs={"kernel_shape": [2, 2], "strides": [2, 2]},
    )
    yield make(
        "ConvTransposeWithDynamicPads",
        {"x": f(1, 2, 4, 4)},
        {"w": f(2, 3, 3, 3), "p": n([1, 1, 1, 1], np.int64)},
        attrs={"strides": [2, 2]},
    )
    yield make(
        "CropAndResize",
        {"x": f(1, 2, 6, 6), "r": n([[0, 0, 1, 1], [0.2, 0.2, 0.8, 0.8]])},
        {"i": n([0, 0], np.int32), "s": n([3, 3], np.int32)},
    )
    yield make("GridSample", {"x": f(1, 2, 4, 4), "g": np.tanh(f(1, 3, 3, 2))})
    yield make(
        "Conv",
        {"x": f(1, 16, 6, 6)},
        {"w": f(16, 16, 3, 3), "b": f(16)},
        domain=NCHWC,
        attrs={"activation": "Relu", "pads": [1, 1, 1, 1], "kernel_shape": [3, 3]},
    )
    for op in ("MaxPool", "AveragePool"):
        yield make(op, {"x": f(1, 16, 6, 6)}, domain=NCHWC, attrs={"kernel_shape": [2, 2], "strides": [2, 2]})
    for op in ("GlobalMaxPool", "GlobalAveragePool"):
        yield make(op, {"x": f(1, 16, 6, 6)}, domain=NCHWC)
    yield make("ReorderInput", {"x": f(1, 16, 4, 4)}, domain=NCHWC)
    yield make("ReorderOutput", {"x": f(1, 16, 4, 4)}, domain=NCHWC, attrs={"channels": 12})
    yield make("Upsample", {"x": f(1, 16, 4, 4)}, domain=NCHWC, attrs={"scales": [1, 1, 2, 2]})
    # quantised
    half = {"xs": n(0.02), "xz": n(120, np.uint8)}
    out = {"ys": n(0.03), "yz": n(10, np.uint8)}
    yield make("QuantizeLinear", {"x": f(2, 3)}, half)
    yield make("QuantizeLinear", {"x": f(2, 3)}, {"s": n(0.001), "z": n(7, np.uint16)}, label="16-bits")
    yield make("DequantizeLinear", {"x": u8(2, 3)}, half)
    yield make("DequantizeLinear", {"x": ints(7, 2, 3).astype(ml_dtypes.int4)}, {"s": n(0.1)}, label="int4")
    for op in ("QLinearSigmoid", "QLinearLeakyRelu"):
        yield make(op, {"x": u8(2, 3)}, half | out)
    yield make(
        "QLinearSoftmax",
        {"x": u8(2, 5)},
        half | {"ys": n(1 / 256), "yz": n(0, np.uint8)},
        attrs={"opset": 13, "axis": -1},
    )
    for op in ("QLinearAdd", "QLinearMul"):
        b = {"b": u8(3), "bs": n(0.05), "bz": n(100, np.uint8)}
        yield make(op, {"x": u8(2, 3)}, half | b | out)
    yield make(
        "QLinearWhere",
        {"c": np.array([True, False, True]), "x": u8(3), "b": u8(3)},
        half | {"bs": n(0.1), "bz": n(2, np.uint8)} | out,
        order=("c", "x", "xs", "xz", "b", "bs", "bz", "ys", "yz"),
    )
    yield make(
        "QLinearConcat",
        {"x": u8(2, 3), "b": u8(2, 2)},
        half | {"bs": n(0.1), "bz": n(2, np.uint8)} | out,
        order=("ys", "yz", "x", "xs", "xz", "b", "bs", "bz"),
        attrs={"axis": 1},
    )
    yield make("QLinearAveragePool", {"x": u8(1, 3, 6, 6)}, half | out, attrs={"kernel_shape": [2, 2]})
    yield make("QLinearGlobalAveragePool", {"x": u8(1, 3, 6, 6)}, half | out)
    yield make(
        "QLinearConv",
        {"x": u8(1, 6, 6, 3)},
        half
        | {"w": i8(4, 3, 3, 3), "ws": n([0.01] * 4), "wz": n([0] * 4, np.int8)}
        | out
        | {"B": ints(99, 4, dtype=np.int32)},
        attrs={"channels_last": 1},
        order=("x", "xs", "xz", "w", "ws", "wz", "ys", "yz", "B"),
    )
    yield make(
        "QGemm",
        {"x": u8(2, 4)},
        half | {"b": i8(4, 3), "bs": n(0.05), "bz": n(0, np.int8), "c": ints(9, 3, dtype=np.int32)} | out,
    )
    yield make("QGemm", {"x": u8(2, 4)}, half | {"b": i8(4, 3), "bs": n(0.05), "bz": n(0, np.int8)}, label="float")
    lstm = {"W": u8(1, 3, 16), "R": u8(1, 4, 16), "B": f(1, 32)}
    lstm_scales = {"Ws": n([0.01]), "Wz": n([128], np.uint8), "Rs": n([0.01]), "Rz": n([128], np.uint8)}
    yield make(
        "DynamicQuantizeLSTM",
        {"X": f(5, 2, 3)},
        lstm | lstm_scales,
        3,
        {"hidden_size": 4},
        order=("X", "W", "R", "B", "", "", "", "", "Ws", "Wz", "Rs", "Rz"),
    )
    # attention
    yield make("Attention", {"x": f(2, 3, 8)}, {"w": f(8, 24), "b": f(24)}, attrs={"num_heads": 2})
    yield make(
        "Attention",
        {"x": f(2, 3, 8), "m": n([3, 2], np.int32), "past": f(2, 2, 2, 4, 4)},
        {"w": f(8, 24), "b": f(24)},
        2,
        {"num_heads": 2, "unidirectional": 1},
        order=("x", "w", "b", "", "past"),
        label="past",
    )
    yield make(
        "QAttention",
        {"x": u8(2, 3, 8)},
        {"w": i8(8, 24), "b": f(24), "xs": n(0.01), "ws": n(0.01), "xz": n(128, np.uint8), "wz": n(0, np.int8)},
        attrs={"num_heads": 2},
        order=("x", "w", "b", "xs", "ws", "", "xz", "wz"),
    )
    qkv = {k: f(1, 3, 8) for k in "qkv"}
    yield make("MultiHeadAttention", qkv, attrs={"num_heads": 2})
    yield make(
        "MultiHeadAttention",
        qkv,
        {"b": f(24), "mask": np.ones((1, 3), np.int32)},
        3,
        {"num_heads": 2, "scale": 0.3},
        label="present",
    )
    buffers = {"pk": f(1, 2, 5, 4), "pv": f(1, 2, 5, 4), "n": n([3], np.int32)}
    yield make(
        "DecoderMaskedMultiHeadAttention",
        {k: f(1, 1, 8) for k in "qkv"} | buffers,
        {},
        3,
        {"num_heads": 2, "past_present_share_buffer": 1},
        order=("q", "k", "v", "", "", "pk", "pv", "n"),
    )
    cache = {"cos": np.cos(f(16, 2)), "sin": np.sin(f(16, 2))}
    yield make("RotaryEmbedding", {"x": f(1, 3, 8), "p": n([0], np.int64)}, cache, attrs={"num_heads": 2})
    past = {"pk": f(1, 1, 4, 16), "pv": f(1, 1, 4, 16)}
    lengths = {"n": n([4], np.int32), "t": n(5, np.int32)}
    grouped = {"q": f(1, 1, 32), "k": f(1, 1, 16), "v": f(1, 1, 16)} | past | lengths
    yield make("GroupQueryAttention", grouped, {}, 3, {"num_heads": 2, "kv_num_heads": 1})
    cache = {"cos": np.cos(f(16, 8)), "sin": np.sin(f(16, 8))}
    yield make(
        "GroupQueryAttention",
        grouped,
        cache,
        3,
        {"num_heads": 2, "kv_num_heads": 1, "do_rotary": 1, "local_window_size": 3},
        label="rotary",
    )
    yield make(
        "LinearAttention",
        {"q": f(1, 3, 8), "k": f(1, 3, 8), "v": f(1, 3, 8)},
        {},
        2,
        {"q_num_heads": 2, "kv_num_heads": 2, "update_rule": "linear"},
    )
    yield make("CausalConvWithState", {"x": f(1, 4, 5)}, {"w": f(4, 1, 3), "b": f(4)}, 2, {"activation": "silu"})
    yield make(
        "MoE",
        {"x": f(3, 8), "r": f(3, 2)},
        {"w1": f(2, 16, 8), "b1": f(2, 16), "w2": f(2, 8, 16), "b2": f(2, 8)},
        attrs={"k": 1, "activation_type": "relu"},
    )
    yield make(
        "AttnLSTM",
        {"X": f(4, 1, 2)},
        {
            "W": f(1, 12, 4),
            "R": f(1, 12, 3),
            "B": f(1, 24),
            "QW": f(1, 3, 2),
            "MW": f(1, 3, 2),
            "V": f(1, 2),
            "M": f(1, 4, 3),
            "L": n([4], np.int32),
            "A": f(1, 6, 2),
        },
        3,
        {"hidden_size": 3},
        order=("X", "W", "R", "B", "", "", "", "", "QW", "MW", "V", "M", "L", "A"),
    )
    # the rest
    yield make("Inverse", {"x": f(3, 3) + np.eye(3, dtype=np.float32)})
    yield make("Range", {"a": n(1, np.int32), "b": n(9, np.int32), "c": n(2, np.int32)})
    yield make("Pad", {"x": f(2, 2)}, {"p": n([0, 1, 0, 1], np.int64), "v": n(3)})
    yield make("Trilu", {"x": f(3, 3)}, {"k": n(1, np.int64)}, attrs={"upper": 0})
    yield make("UnfoldTensor", {"x": f(2, 6)}, attrs={"dim": 1, "size": 3, "step": 2})
    yield make("ExpandDims", {"x": f(2, 3)}, {"a": n(1, np.int32)})
    yield make("GatherND", {"x": f(3, 4)}, {"i": n([[0, 1], [2, 3]], np.int64)})
    yield make("Unique", {"x": n([3, 1, 3, 2])}, {}, 3)
    yield make("CDist", {"a": f(3, 2), "b": f(4, 2)}, attrs={"metric": "sqeuclidean"})
    yield make("SampleOp", {"x": f(2, 2)})
    yield make("MurmurHash3", {"x": ints(99, 4, dtype=np.int32)}, attrs={"seed": 3})
    yield make("MurmurHash3", {"x": np.array(["ab", "gr\u00fcn", ""], object)}, label="text")
    yield make("NGramRepeatBlock", {"i": n([[1, 2, 1, 2]], np.int64), "s": f(1, 5)}, attrs={"ngram_size": 2})
    yield make("DynamicTimeWarping", {"x": np.abs(f(3, 4))})
    yield make(
        "BifurcationDetector",
        {
            "a": n([1, 2, 3, 4], np.int64),
            "b": n([1, 2], np.int64),
            "c": n(0, np.int64),
            "d": n([2, 3, 4, 5, 6], np.int64),
        },
        {},
        2,
    )
    yield make(
        "WordConvEmbedding",
        {"s": n([[1, 2, 3, 0]], np.int32)},
        {"w": f(3, 1, 2, 4), "b": f(3), "c": f(9, 4)},
        attrs={"conv_window_size": 2, "embedding_size": 3, "char_embedding_size": 4},
    )
    yield make(
        "Tokenizer",
        {"x": np.array(["a b", "cd ef gh"], object)},
        attrs={"mark": 1, "mincharnum": 1, "pad_value": "#", "separators": [" "]},
    )
    yield make(
        "Tokenizer",
        {"x": np.array(["a1b", "\u00e4\u00f6"], object)},
        label="expression",
        attrs={"mark": 0, "mincharnum": 1, "pad_value": "", "tokenexp": "[a-z]"},
    )
