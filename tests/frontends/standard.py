"""A small node of each op of the standard in each version: ``recipe(schema)``."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper

#: inputs in their order (None: omitted; a name that ends with "!" is a constant), attributes, and the outputs of a
#: node: their number, or their kinds
Made = tuple[dict[str, Any], dict[str, Any]] | tuple[dict[str, Any], dict[str, Any], Any]
F, I64 = np.float32, np.int64


def f(*shape: int) -> np.ndarray:
    """Numbers between 0.1 and 0.9, for which every op is defined."""
    count = int(np.prod(shape))
    return (0.1 + 0.8 * ((np.arange(count) * 7 + 3) % 11) / 10).astype(F).reshape(shape)


def i(*values: Any) -> np.ndarray:
    return np.array(values, I64)


def n(value: Any, dtype: Any = F) -> np.ndarray:
    return np.asarray(value, dtype)


def u8(*shape: int) -> np.ndarray:
    return ((np.arange(int(np.prod(shape))) * 37) % 251).astype(np.uint8).reshape(shape)


def text(*values: str) -> np.ndarray:
    return np.array(values, object)


def info(name: str, number: int, shape: Any = None) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, number, shape)


def body(nodes: list, inputs: list, outputs: list) -> onnx.GraphProto:
    return helper.make_graph(nodes, "body", inputs, outputs)


def _if(version: int) -> Made:
    held = [helper.make_tensor("v", 1, [1], [value]) for value in (1.0, 2.0)]
    one = body([helper.make_node("Constant", [], ["t"], value=held[0])], [], [info("t", 1)])
    other = body([helper.make_node("Constant", [], ["e"], value=held[1])], [], [info("e", 1)])
    return {"c": n(True, bool)}, {"then_branch": one, "else_branch": other}


def _loop(version: int) -> Made:
    inner = body(
        [helper.make_node("Exp", ["v"], ["w"]), helper.make_node("Identity", ["c"], ["d"])],
        [info("k", 7, []), info("c", 9, []), info("v", 1, [2])],
        [info("d", 9, []), info("w", 1, [2])],
    )
    return {"m": n(2, I64), "c": n(True, bool), "x": f(2)}, {"body": inner}


def _scan(version: int) -> Made:
    inner = body([helper.make_node("Exp", ["v"], ["w"])], [info("v", 1, [2])], [info("w", 1, [2])])
    if version == 8:
        return {"lengths": None, "x": f(1, 3, 2)}, {"body": inner, "num_scan_inputs": 1}
    return {"x": f(3, 2)}, {"body": inner, "num_scan_inputs": 1}


def _sequence_map(version: int) -> Made:
    inner = body([helper.make_node("Exp", ["v"], ["w"])], [info("v", 1, [2])], [info("w", 1, [2])])
    return {"x": [f(2), f(2)]}, {"body": inner}


def _elementwise(version: int) -> Made:
    return {"x": f(2, 3)}, {}


def _binary(version: int) -> Made:
    return {"x": f(2, 3), "y": f(2, 3)}, {}


def _logical(version: int) -> Made:
    return {"x": n([True, False], bool), "y": n([True, True], bool)}, {}


def _bits(version: int) -> Made:
    return {"x": u8(3), "y": u8(3)}, {}


def _norm(version: int) -> Made:
    feeds = {"x": f(2, 3, 2), "s": f(3), "b": f(3), "m": f(3), "v": f(3)}
    if version < 7:
        return feeds, {"is_test": 1} | ({"consumed_inputs": [0, 0, 0, 1, 1]} if version == 1 else {})
    return feeds, {}


def _dropout(version: int) -> Made:
    return {"x": f(2, 3)}, {"is_test": 1} if version < 7 else {}


def _recurrent(gates: int, outputs: int = 2) -> Callable[[int], Made]:
    def made(version: int) -> Made:
        return (
            {"x": f(3, 1, 2), "w": f(1, gates * 4, 2) - n(0.5), "r": f(1, gates * 4, 4) - n(0.5)},
            {"hidden_size": 4},
            outputs,
        )

    return made


def _reduce(inputs_since: int) -> Callable[[int], Made]:
    def made(version: int) -> Made:
        if version < inputs_since:
            return {"x": f(2, 3)}, {"axes": [1]}
        return {"x": f(2, 3), "a": i(1)}, {}

    return made


def _by_version(since: int, before: Made, after: Made) -> Callable[[int], Made]:
    return lambda version: before if version < since else after


def _pad(version: int) -> Made:
    if version < 11:
        return {"x": f(2, 3)}, {"paddings" if version == 1 else "pads": [0, 1, 0, 1]}
    return {"x": f(2, 3), "p": i(0, 1, 0, 1)}, {}


def _split(version: int) -> Made:
    if version >= 18:
        return {"x": f(2, 4)}, {"axis": 1, "num_outputs": 2}, 2
    return {"x": f(2, 4)}, {"axis": 1}, 2


def _upsample(version: int) -> Made:
    if version == 1:
        return {"x": f(1, 1, 2, 2)}, {"width_scale": 2.0, "height_scale": 2.0}
    if version < 9:
        return {"x": f(1, 1, 2, 2)}, {"scales": [1.0, 1.0, 2.0, 2.0]}
    return {"x": f(1, 1, 2, 2), "s": n([1, 1, 2, 2])}, {}


def _resize(version: int) -> Made:
    scales = {"s": n([1, 1, 2, 2])}
    return {"x": f(1, 1, 2, 2)} | ({} if version < 11 else {"roi": None}) | scales, {}


def _cast(version: int) -> Made:
    return {"x": f(2, 3) * n(9)}, {"to": "INT32" if version == 1 else TensorProto.INT32}


def _quantize(version: int) -> Made:
    return {"x": f(2, 3), "s": n(0.01), "z": n(3, np.uint8)}, {}


def _dequantize(version: int) -> Made:
    return {"x": u8(2, 3), "s": n(0.01), "z": n(3, np.uint8)}, {}


def _image(version: int) -> Made:
    from PIL import Image

    held = io.BytesIO()
    Image.fromarray(u8(4, 4, 3)).save(held, "PNG")
    return {"x": np.frombuffer(held.getvalue(), np.uint8)}, {"pixel_format": "RGB"}


def _optional(version: int) -> Made:
    return {"x": f(2, 3)}, {}, ("optional",)


def _trees(targets: bool) -> Callable[[int], Made]:
    def made(version: int) -> Made:
        kind = "target" if targets else "class"
        attrs = {
            "nodes_treeids": [0, 0, 0],
            "nodes_nodeids": [0, 1, 2],
            "nodes_featureids": [0, 0, 0],
            "nodes_values": [0.5, 0.0, 0.0],
            "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"],
            "nodes_truenodeids": [1, 0, 0],
            "nodes_falsenodeids": [2, 0, 0],
            f"{kind}_treeids": [0, 0],
            f"{kind}_nodeids": [1, 2],
            f"{kind}_ids": [0, 1],
            f"{kind}_weights": [1.0, 2.0],
        }
        attrs |= {"n_targets": 2} if targets else {"classlabels_int64s": [4, 7]}
        return {"x": f(3, 2)}, attrs, 1 if targets else 2

    return made


def _ensemble(version: int) -> Made:
    t = helper.make_tensor
    return {"x": f(3, 2)}, {
        "n_targets": 2,
        "tree_roots": [0],
        "nodes_featureids": [0],
        "nodes_splits": t("s", 1, [1], [0.5]),
        "nodes_modes": t("m", TensorProto.UINT8, [1], [0]),
        "nodes_truenodeids": [0],
        "nodes_trueleafs": [1],
        "nodes_falsenodeids": [1],
        "nodes_falseleafs": [1],
        "leaf_targetids": [0, 1],
        "leaf_weights": t("w", 1, [2], [1.0, 2.0]),
    }


def _labels(version: int) -> Made:
    if version == 1:
        return {"x": text("a", "b")}, {"classes_strings": ["b", "a"]}
    return {"x": text("a", "b")}, {"keys_strings": ["a", "b"], "values_int64s": [3, 4]}


def _svm(classifier: bool) -> Callable[[int], Made]:
    def made(version: int) -> Made:
        attrs: dict[str, Any] = {
            "coefficients": [1.0, -1.0],
            "support_vectors": [0.1, 0.2, 0.3, 0.4],
            "rho": [0.2],
            "kernel_type": "LINEAR",
            "kernel_params": [1.0, 0.0, 3.0],
        }
        if not classifier:
            return {"x": f(3, 2)}, attrs | {"n_supports": 2}
        return {"x": f(3, 2)}, attrs | {"vectors_per_class": [1, 1], "classlabels_ints": [2, 5]}, 2

    return made


def _training(*more: str) -> Callable[[int], Made]:
    def made(version: int) -> Made:
        attrs = {"norm_coefficient": 0.01}
        if "momentum" in more:
            attrs |= {"alpha": 0.9, "beta": 1.0, "mode": "standard"}
        states = {f"h{k}": f(2) for k in range(2 if "two" in more else 1)}
        return {"r": n(0.1), "t": n(1, I64), "x": f(2), "g": f(2), **states}, attrs, 1 + len(states)

    return made


_IMAGE = {"x": f(1, 2, 6, 6)}
_RECIPES: dict[str, Callable[[int], Made]] = {
    "AffineGrid": lambda v: ({"t": f(1, 2, 3), "s": i(1, 1, 3, 3)}, {}),
    "Attention": lambda v: ({"q": f(1, 2, 3, 8), "k": f(1, 2, 3, 8), "v": f(1, 2, 3, 8)}, {}),
    "AveragePool": lambda v: (_IMAGE, {"kernel_shape": [2, 2]}),
    "BatchNormalization": _norm,
    "BitCast": lambda v: ({"x": f(2, 3)}, {"to": TensorProto.INT32}),
    "BitShift": lambda v: ({"x": u8(3), "y": n([1, 2, 3], np.uint8)}, {"direction": "LEFT"}),
    "BlackmanWindow": lambda v: ({"n": n(6, I64)}, {}),
    "HammingWindow": lambda v: ({"n": n(6, I64)}, {}),
    "HannWindow": lambda v: ({"n": n(6, I64)}, {}),
    "Cast": _cast,
    "CastLike": lambda v: ({"x": f(2, 3) * n(9), "y": n([1], np.int32)}, {}),
    "CausalConvWithState": lambda v: ({"x": f(1, 2, 4), "w": f(2, 1, 3)}, {}, 2),
    "CenterCropPad": lambda v: ({"x": f(4, 5), "s": i(2, 7)}, {}),
    "Clip": _by_version(11, ({"x": f(2, 3)}, {"min": 0.2, "max": 0.6}), ({"x": f(2, 3), "a": n(0.2), "b": n(0.6)}, {})),
    "Col2Im": lambda v: ({"x": f(1, 4, 4), "s": i(4, 4), "b": i(2, 2)}, {"strides": [2, 2]}),
    "Compress": lambda v: ({"x": f(2, 3), "c": n([False, True], bool)}, {"axis": 0}),
    "Concat": lambda v: ({"x": f(2, 3), "y": f(2, 2)}, {"axis": 1}),
    "ConcatFromSequence": lambda v: ({"x": [f(2), f(3)]}, {"axis": 0}),
    "Constant": lambda v: ({}, {"value": helper.make_tensor("v", 1, [2], [1.0, 2.0])}),
    "ConstantOfShape": lambda v: ({"x": i(2, 3)}, {"value": helper.make_tensor("v", 7, [1], [5])}),
    "Conv": lambda v: ({"x": f(1, 2, 5, 5), "w": f(3, 2, 3, 3), "b": f(3)}, {"kernel_shape": [3, 3]}),
    "ConvInteger": lambda v: ({"x": u8(1, 2, 5, 5), "w": u8(3, 2, 3, 3), "z": n(7, np.uint8)}, {}),
    "ConvTranspose": lambda v: ({"x": f(1, 2, 3, 3), "w": f(2, 3, 3, 3)}, {"strides": [2, 2]}),
    "CumSum": lambda v: ({"x": f(2, 3), "a": n(1, I64)}, {}),
    "CumProd": lambda v: ({"x": f(2, 3), "a": n(1, I64)}, {}),
    "DFT": _by_version(20, ({"x": f(1, 4, 1)}, {}), ({"x": f(1, 4, 1)}, {"inverse": 0})),
    "DeformConv": lambda v: ({"x": f(1, 1, 3, 3), "w": f(1, 1, 2, 2), "o": f(1, 8, 2, 2)}, {"kernel_shape": [2, 2]}),
    "DepthToSpace": lambda v: ({"x": f(1, 4, 2, 2)}, {"blocksize": 2}),
    "DequantizeLinear": _dequantize,
    "QuantizeLinear": _quantize,
    "Det": lambda v: ({"x": f(2, 3, 3)}, {}),
    "Dropout": _dropout,
    "DynamicQuantizeLinear": lambda v: ({"x": f(2, 3)}, {}, 3),
    "Einsum": lambda v: ({"x": f(2, 3), "y": f(3, 2)}, {"equation": "ij,jk->ik"}),
    "Expand": lambda v: ({"x": f(3, 1), "s": i(2, 3, 4)}, {}),
    "GRU": _recurrent(3),
    "RNN": _recurrent(1),
    "LSTM": _recurrent(4, 3),
    "Gather": lambda v: ({"x": f(3, 2), "i": i(0, 2)}, {}),
    "GatherElements": lambda v: ({"x": f(3, 2), "i": n([[0, 1]], I64)}, {}),
    "GatherND": lambda v: ({"x": f(3, 2), "i": n([[0, 1]], I64)}, {}),
    "Gemm": lambda v: ({"a": f(2, 3), "b": f(3, 4), "c": f(2, 4)}, {"alpha": 0.5}),
    "GlobalAveragePool": lambda v: (_IMAGE, {}),
    "GlobalMaxPool": lambda v: (_IMAGE, {}),
    "GlobalLpPool": lambda v: (_IMAGE, {}),
    "GridSample": lambda v: ({"x": f(1, 1, 4, 4), "g": f(1, 2, 2, 2)}, {}),
    "GroupNormalization": lambda v: ({"x": f(1, 4, 2), "s": f(4), "b": f(4)}, {"num_groups": 2}),
    "If": _if,
    "Loop": _loop,
    "Scan": _scan,
    "SequenceMap": _sequence_map,
    "ImageDecoder": _image,
    "InstanceNormalization": lambda v: (
        {"x": f(1, 2, 6), "s": f(2), "b": f(2)},
        {"consumed_inputs": [0, 0, 0]} if v == 1 else {},
    ),
    "LRN": lambda v: (_IMAGE, {"size": 3}),
    "LayerNormalization": lambda v: ({"x": f(2, 3), "s": f(3), "b": f(3)}, {}),
    "LinearAttention": lambda v: (
        {"q": f(1, 3, 8), "k": f(1, 3, 8), "v": f(1, 3, 8)},
        {"q_num_heads": 2, "kv_num_heads": 2, "update_rule": "linear"},
        2,
    ),
    "LpPool": lambda v: (_IMAGE, {"kernel_shape": [2, 2], "p": 2.0 if v == 1 else 2}),
    "MatMul": lambda v: ({"x": f(2, 3), "y": f(3, 2)}, {}),
    "MatMulInteger": lambda v: ({"x": u8(2, 3), "y": u8(3, 2)}, {}),
    "MaxPool": lambda v: (_IMAGE, {"kernel_shape": [2, 2]}),
    "MaxRoiPool": lambda v: (_IMAGE | {"r": n([[0, 0, 0, 3, 3]])}, {"pooled_shape": [2, 2]}),
    "MaxUnpool": lambda v: (
        {"x": f(1, 1, 2, 2), "i": n([[[[0, 2], [8, 10]]]], I64)},
        {"kernel_shape": [2, 2], "strides": [2, 2]},
    ),
    "MeanVarianceNormalization": lambda v: ({"x": f(2, 2, 3, 3)}, {}),
    "MelWeightMatrix": lambda v: ({"b": n(4, I64), "d": n(16, I64), "r": n(8000, I64), "lo": n(0), "hi": n(4000)}, {}),
    "Mod": lambda v: ({"x": i(5, -7), "y": i(3, 3)}, {}),
    "Multinomial": lambda v: ({"x": f(1, 3)}, {"sample_size": 4, "seed": 1.0}),
    "Bernoulli": lambda v: ({"x": f(2, 3)}, {"seed": 1.0}),
    "NegativeLogLikelihoodLoss": lambda v: ({"x": f(3, 4), "t": i(0, 1, 2)}, {}),
    "SoftmaxCrossEntropyLoss": lambda v: ({"x": f(3, 4), "t": i(0, 1, 2)}, {}),
    "NonMaxSuppression": lambda v: (
        {"b": n([[[0, 0, 1, 1], [0, 0, 1, 1.1], [2, 2, 3, 3]]]), "s": f(1, 1, 3), "m": i(2), "t": n([0.5])},
        {},
    ),
    "OneHot": lambda v: ({"x": i(0, 2), "d": n(3, I64), "v": n([0.0, 1.0])}, {}),
    "Optional": _optional,
    "OptionalGetElement": lambda v: ({"x": ["optional", f(2)] if v < 18 else f(2)}, {}),
    "OptionalHasElement": lambda v: ({"x": ["optional", f(2)] if v < 18 else f(2)}, {}),
    "PRelu": lambda v: ({"x": f(2, 3) - n(0.5), "s": f(2, 3) if v < 7 else f(3)}, {}),
    "Pad": _pad,
    "QLinearConv": lambda v: (
        {
            "x": u8(1, 2, 4, 4),
            "xs": n(0.02),
            "xz": n(3, np.uint8),
            "w": u8(3, 2, 3, 3),
            "ws": n(0.01),
            "wz": n(4, np.uint8),
            "ys": n(0.1),
            "yz": n(5, np.uint8),
        },
        {},
    ),
    "QLinearMatMul": lambda v: (
        {
            "x": u8(2, 3),
            "xs": n(0.02),
            "xz": n(3, np.uint8),
            "w": u8(3, 2),
            "ws": n(0.01),
            "wz": n(4, np.uint8),
            "ys": n(0.1),
            "yz": n(5, np.uint8),
        },
        {},
    ),
    "RMSNormalization": lambda v: ({"x": f(2, 3), "s": f(3)}, {}),
    "RandomNormal": lambda v: ({}, {"shape": [2, 3], "seed": 1.0}),
    "RandomUniform": lambda v: ({}, {"shape": [2, 3], "seed": 1.0}),
    "RandomNormalLike": lambda v: ({"x": f(2, 3)}, {"seed": 1.0}),
    "RandomUniformLike": lambda v: ({"x": f(2, 3)}, {"seed": 1.0}),
    "Range": lambda v: ({"a": n(1), "b": n(4), "c": n(0.5)}, {}),
    "RegexFullMatch": lambda v: ({"x": text("ab", "b")}, {"pattern": "a.*"}),
    "Reshape": _by_version(5, ({"x": f(2, 3)}, {"shape": [3, 2]}), ({"x": f(2, 3), "s": i(3, -1)}, {})),
    "Resize": _resize,
    "ReverseSequence": lambda v: ({"x": f(3, 2), "l": i(2, 3)}, {}),
    "RoiAlign": lambda v: (_IMAGE | {"r": n([[0, 0, 3, 3]]), "b": i(0)}, {"output_height": 2, "output_width": 2}),
    "RotaryEmbedding": lambda v: ({"x": f(1, 2, 3, 4), "c": f(5, 2), "s": f(5, 2), "p": n([[0, 1, 2]], I64)}, {}),
    "STFT": lambda v: ({"x": f(1, 16, 1), "s": n(4, I64), "w": f(8)}, {}),
    "Scatter": lambda v: ({"x": f(3, 2), "i": n([[1, 0]], I64), "u": f(1, 2)}, {}),
    "ScatterElements": lambda v: ({"x": f(3, 2), "i": n([[1, 0]], I64), "u": f(1, 2)}, {}),
    "ScatterND": lambda v: ({"x": f(3, 2), "i": n([[1, 0]], I64), "u": f(1)}, {}),
    "SequenceAt": lambda v: ({"x": [f(2), f(3)], "i": n(1, I64)}, {}),
    "SequenceConstruct": lambda v: ({"x": f(2), "y": f(3)}, {}, ("sequence",)),
    "SequenceEmpty": lambda v: ({}, {}, ("sequence",)),
    "SequenceErase": lambda v: ({"x": [f(2), f(3)], "i": n(1, I64)}, {}, ("sequence",)),
    "SequenceInsert": lambda v: ({"x": [f(2)], "y": f(3)}, {}, ("sequence",)),
    "SequenceLength": lambda v: ({"x": [f(2), f(3)]}, {}),
    "Slice": _by_version(
        10, ({"x": f(4, 3)}, {"starts": [1], "ends": [3]}), ({"x": f(4, 3), "s": i(1), "e": i(3)}, {})
    ),
    "SpaceToDepth": lambda v: ({"x": f(1, 1, 4, 4)}, {"blocksize": 2}),
    "Split": _split,
    "SplitToSequence": lambda v: ({"x": f(4, 2), "s": n(2, I64)}, {}, ("sequence",)),
    "Squeeze": _by_version(13, ({"x": f(2, 1, 3)}, {"axes": [1]}), ({"x": f(2, 1, 3), "a": i(1)}, {})),
    "Unsqueeze": _by_version(13, ({"x": f(2, 3)}, {"axes": [1]}), ({"x": f(2, 3), "a": i(1)}, {})),
    "StringConcat": lambda v: ({"x": text("a", "b"), "y": text("c", "d")}, {}),
    "StringNormalizer": lambda v: ({"x": text("a", "B", "The")}, {"case_change_action": "LOWER", "stopwords": ["a"]}),
    "StringSplit": lambda v: ({"x": text("a b", "c")}, {}, 2),
    "SwiGLU": lambda v: ({"x": f(2, 4), "y": f(2, 4)}, {}),
    "TensorScatter": lambda v: ({"x": f(1, 1, 4, 2), "u": f(1, 1, 1, 2), "i": i(1)}, {}),
    "TfIdfVectorizer": lambda v: (
        {"x": i(1, 2, 3)},
        {
            "mode": "TF",
            "min_gram_length": 1,
            "max_gram_length": 1,
            "max_skip_count": 0,
            "ngram_counts": [0],
            "ngram_indexes": [0, 1],
            "pool_int64s": [2, 3],
        },
    ),
    "Tile": _by_version(6, ({"x": f(2, 3), "t!": n(2), "a!": n(1)}, {}), ({"x": f(2, 3), "t": i(1, 2)}, {})),
    "TopK": _by_version(10, ({"x": f(2, 5)}, {"k": 2}, 2), ({"x": f(2, 5), "k": i(2)}, {}, 2)),
    "Trilu": lambda v: ({"x": f(3, 3)}, {}),
    "Unique": lambda v: ({"x": n([3, 1, 3])}, {}, 4),
    "Upsample": _upsample,
    "Where": lambda v: ({"c": n([True, False], bool), "x": f(2), "y": f(2)}, {}),
    "Not": lambda v: ({"x": n([True, False], bool)}, {}),
    "BitwiseNot": lambda v: ({"x": u8(3)}, {}),
    "IsInf": lambda v: ({"x": n([1, np.inf])}, {}),
    "NonZero": lambda v: ({"x": n([1, 0, 2])}, {}),
    "EyeLike": lambda v: ({"x": f(3, 3)}, {}),
    "Acosh": lambda v: ({"x": f(2, 3) + n(1)}, {}),
    "ArrayFeatureExtractor": lambda v: ({"x": f(2, 3), "i": i(0, 2)}, {}),
    "Binarizer": lambda v: ({"x": f(2, 3)}, {"threshold": 0.5}),
    "CastMap": lambda v: ({"x": {1: 0.5, 3: 2.0}}, {"cast_to": "TO_FLOAT", "map_form": "SPARSE", "max_map": 5}),
    "CategoryMapper": lambda v: ({"x": text("a", "z")}, {"cats_strings": ["a", "b"], "cats_int64s": [4, 5]}),
    "DictVectorizer": lambda v: ({"x": {"a": 1.0, "c": 2.0}}, {"string_vocabulary": ["a", "b", "c"]}),
    "FeatureVectorizer": lambda v: ({"x": f(2, 3), "y": f(2, 2)}, {"inputdimensions": [3, 2]}),
    "Imputer": lambda v: ({"x": n([[1, 0, 3]])}, {"imputed_value_floats": [7.0], "replaced_value_float": 0.0}),
    "LabelEncoder": _labels,
    "LinearClassifier": lambda v: (
        {"x": f(2, 2)},
        {
            "coefficients": [1.0, 2, 3, 4, 5, 6],
            "intercepts": [0.0, 1, 2],
            "classlabels_ints": [1, 5, 9],
            "multi_class": 1,
        },
        2,
    ),
    "LinearRegressor": lambda v: ({"x": f(2, 2)}, {"coefficients": [1.0, 2], "intercepts": [3.0]}),
    "Normalizer": lambda v: ({"x": f(2, 3)}, {"norm": "L2"}),
    "OneHotEncoder": lambda v: ({"x": i(1, 5)}, {"cats_int64s": [1, 2, 5]}),
    "SVMClassifier": _svm(True),
    "SVMRegressor": _svm(False),
    "Scaler": lambda v: ({"x": f(2, 3)}, {"offset": [1.0, 2.0, 3.0], "scale": [2.0, 2.0, 2.0]}),
    "TreeEnsemble": _ensemble,
    "TreeEnsembleClassifier": _trees(False),
    "TreeEnsembleRegressor": _trees(True),
    "ZipMap": lambda v: ({"x": f(2, 2)}, {"classlabels_strings": ["a", "b"]}, ("maps",)),
    "FlexAttention": lambda v: ({"q": f(1, 2, 3, 8), "k": f(1, 2, 3, 8), "v": f(1, 2, 3, 8)}, {}),
    "Adagrad": _training(),
    "Momentum": _training("momentum"),
    "Adam": _training("two"),
}
for _op in ("And", "Or", "Xor"):
    _RECIPES[_op] = _logical
for _op in ("BitwiseAnd", "BitwiseOr", "BitwiseXor"):
    _RECIPES[_op] = _bits
for _op in (
    "Add",
    "Sub",
    "Mul",
    "Div",
    "Pow",
    "Equal",
    "Less",
    "LessOrEqual",
    "Greater",
    "GreaterOrEqual",
    "Max",
    "Min",
    "Mean",
    "Sum",
):
    _RECIPES[_op] = _binary
for _op in ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "SumSquare"):
    _RECIPES[f"Reduce{_op}"] = _reduce(18)
_RECIPES["ReduceSum"] = _reduce(13)


def recipe(op: str, version: int) -> tuple[dict[str, Any], dict[str, Any], tuple[str, ...]]:
    """Inputs, attributes and kinds of the outputs ("" for a tensor) of a small node."""
    made = _RECIPES.get(op, _elementwise)(version)
    feeds, attrs = made[0], made[1]
    kinds = made[2] if len(made) > 2 else 1
    if op == "Equal" and version < 11:
        feeds = {k: i(1, 2) for k in feeds}
    return feeds, attrs, ("",) * kinds if isinstance(kinds, int) else kinds


def model_of(schema: Any) -> tuple[onnx.ModelProto, dict[str, Any]]:
    """A model of the small node, and its feeds."""
    version = schema.since_version
    feeds, attrs, kinds = recipe(schema.name, version)
    outputs = [f"out{k}" for k in range(len(kinds))]
    node = helper.make_node(
        schema.name, [k if v is not None else "" for k, v in feeds.items()], outputs, domain=schema.domain, **attrs
    )
    if "p" in attrs and isinstance(attrs["p"], float):
        next(a for a in node.attribute if a.name == "p").type = onnx.AttributeProto.FLOAT
    given = {k: v for k, v in feeds.items() if v is not None}
    inputs = [helper.make_value_info(k, type_of(v)) for k, v in given.items() if not k.endswith("!")]
    constants = [onnx.numpy_helper.from_array(v, k) for k, v in given.items() if k.endswith("!")]
    graph = helper.make_graph([node], "g", inputs, [onnx.ValueInfoProto(name=o) for o in outputs], constants)
    # a domain other than the default one has separate operators; the rest of the model is of a late version
    sets = [helper.make_opsetid(schema.domain, version), *([helper.make_opsetid("", 18)] if schema.domain else [])]
    values = {
        k: v[1] if isinstance(v, list) and isinstance(v[0], str) else v for k, v in given.items() if not k.endswith("!")
    }
    return helper.make_model(graph, opset_imports=sets, ir_version=10), values


def type_of(value: Any) -> onnx.TypeProto:
    if isinstance(value, dict):
        key = TensorProto.STRING if isinstance(next(iter(value)), str) else TensorProto.INT64
        return helper.make_map_type_proto(key, helper.make_tensor_type_proto(TensorProto.FLOAT, []))
    if isinstance(value, list) and isinstance(value[0], str):
        return helper.make_optional_type_proto(type_of(value[1]))
    if isinstance(value, list):
        return helper.make_sequence_type_proto(helper.make_tensor_type_proto(TensorProto.FLOAT, None))
    number = TensorProto.STRING if value.dtype == object else helper.np_dtype_to_tensor_dtype(value.dtype)
    return helper.make_tensor_type_proto(number, value.shape)
