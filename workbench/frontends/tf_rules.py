"""TensorFlow op -> op of ours: the table.

A rule gets one NodeDef and says what stands for it. Nearly all are one to one, so that a node, its tensors and its
firings keep their TensorFlow names. Inputs that TensorFlow gives as tensors (axes, shapes, permutations) stay inputs;
an input that ours needs as an attribute must be a constant, and becomes a control input, so that it still fires.
Source: https://www.tensorflow.org/api_docs/python/tf/raw_ops.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from workbench.frontends.graphdef import NodeDef, TensorName
from workbench.frontends.tensor_proto import DType


@dataclass(frozen=True, slots=True)
class Lowered:
    """What stands for one NodeDef.

    ``inputs`` are tensors of TensorFlow. ``also_after`` names nodes whose constant value went into an attribute.
    ``outputs[i]`` is the output of our op that is the tensor ``i`` of TensorFlow's (None: the same one). ``via`` is
    an op that is applied to the inputs first, as a node of its own.
    """

    op: str
    inputs: tuple[TensorName, ...]
    attrs: Mapping[str, Any] = field(default_factory=dict)
    also_after: tuple[str, ...] = ()
    outputs: tuple[int, ...] | None = None
    via: str | None = None


#: value of a tensor that is a constant, or None
Constant = Callable[[TensorName], "np.ndarray | None"]
#: None where the node uses a variant of the op that ours does not have
Rule = Callable[[NodeDef, Constant], "Lowered | None"]


def _same(op: str, **fixed: Any) -> Rule:
    return lambda node, constant: Lowered(op, node.inputs, fixed)


def _attrs(op: str, **names: str) -> Rule:
    """Our attribute = TensorFlow's attribute, for attributes that are plain numbers, bools and texts."""

    def rule(node: NodeDef, constant: Constant) -> Lowered:
        found = {
            ours: _plain(node.attrs[theirs]) for ours, theirs in names.items() if node.attrs.get(theirs) is not None
        }
        return Lowered(op, node.inputs, found)

    return rule


def _plain(value: Any) -> Any:
    if isinstance(value, DType):
        return value.name
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return tuple(value) if isinstance(value, list) else value


def _reduce(op: str, **fixed: Any) -> Rule:
    def rule(node: NodeDef, constant: Constant) -> Lowered:
        return Lowered(op, node.inputs, {"keepdims": bool(node.attrs.get("keep_dims", False)), **fixed})

    return rule


def _is_integer(node: NodeDef) -> bool:
    dtype = node.attrs.get("T")
    return isinstance(dtype, DType) and np.dtype(dtype.name if dtype.name != "bfloat16" else "f4").kind in "biu"


def _div(node: NodeDef, constant: Constant) -> Lowered:
    return Lowered("truncate_divide" if _is_integer(node) else "divide", node.inputs)


def _bias_add(node: NodeDef, constant: Constant) -> Lowered | None:
    return Lowered("add", node.inputs) if node.attrs.get("data_format", b"NHWC") == b"NHWC" else None


def _enter(node: NodeDef, constant: Constant) -> Lowered:
    return Lowered("Enter", node.inputs, {
        "frame_name": _plain(node.attrs.get("frame_name", b"")),
        "is_constant": bool(node.attrs.get("is_constant", False)),
        "parallel_iterations": int(node.attrs.get("parallel_iterations", 10)),
    })  # fmt: skip


def _const(node: NodeDef, constant: Constant) -> Lowered | None:
    value = node.attrs.get("value")
    return Lowered("Const", (), {"value": value}) if isinstance(value, np.ndarray) else None


def _placeholder(node: NodeDef, constant: Constant) -> Lowered | None:
    dtype = node.attrs.get("dtype")
    shape = node.attrs.get("shape")
    return Lowered("Placeholder", (), {"dtype": dtype.name, "shape": shape}) if isinstance(dtype, DType) else None


def _constant_attr(op: str, position: int, attr: str, **more: str) -> Rule:
    """The input at ``position``, one constant integer, becomes the attribute ``attr``."""

    def rule(node: NodeDef, constant: Constant) -> Lowered | None:
        if position >= len(node.inputs):
            return None
        value = constant(node.inputs[position])
        if value is None or value.size != 1:
            return None
        rest = tuple(t for i, t in enumerate(node.inputs) if i != position)
        attrs = {ours: _plain(node.attrs[theirs]) for ours, theirs in more.items() if theirs in node.attrs}
        return Lowered(op, rest, {attr: int(value.reshape(())), **attrs}, (node.inputs[position].node,))

    return rule


def _squeeze(node: NodeDef, constant: Constant) -> Lowered:
    axes = node.attrs.get("squeeze_dims") or node.attrs.get("axis") or None
    return Lowered("squeeze", node.inputs, {"axis": tuple(axes) if axes else None})


def _gather_v2(node: NodeDef, constant: Constant) -> Lowered | None:
    return Lowered("gather", node.inputs) if not node.attrs.get("batch_dims", 0) else None


def _concat_first(node: NodeDef, constant: Constant) -> Lowered:
    return Lowered("concat", (*node.inputs[1:], node.inputs[0]), {"axis_input": True})


def _cumulative(op: str) -> Rule:
    def rule(node: NodeDef, constant: Constant) -> Lowered:
        flags = {k: bool(node.attrs.get(k, False)) for k in ("exclusive", "reverse")}
        return Lowered(op, node.inputs, {"dtype": "same", **flags})

    return rule


def _shape(op: str) -> Rule:
    def rule(node: NodeDef, constant: Constant) -> Lowered:
        out = node.attrs.get("out_type")
        return Lowered(op, node.inputs, {"dtype": out.name if isinstance(out, DType) else "int32"})

    return rule


def _arg(op: str) -> Rule:
    def rule(node: NodeDef, constant: Constant) -> Lowered:
        out = node.attrs.get("output_type")
        return Lowered(op, node.inputs, {"dtype": out.name if isinstance(out, DType) else "int64"})

    return rule


_ONE_TO_ONE = {
    "Merge": "Merge", "RefMerge": "Merge", "Switch": "Switch", "RefSwitch": "Switch",
    "NextIteration": "NextIteration", "RefNextIteration": "NextIteration", "Exit": "Exit", "RefExit": "Exit",
    "LoopCond": "LoopCond", "NoOp": "NoOp", "ControlTrigger": "NoOp", "Identity": "Identity",
    "RefIdentity": "Identity", "StopGradient": "Identity", "PreventGradient": "Identity", "Snapshot": "Identity",
    "DeepCopy": "Identity", "PlaceholderWithDefault": "Identity", "Add": "add", "AddV2": "add", "Sub": "subtract",
    "Mul": "multiply", "RealDiv": "divide", "FloorDiv": "floor_divide", "FloorMod": "remainder", "Mod": "fmod",
    "TruncateMod": "fmod", "TruncateDiv": "truncate_divide", "Pow": "power", "Maximum": "maximum",
    "Minimum": "minimum", "SquaredDifference": "squared_difference", "Neg": "negative", "Abs": "abs", "Sign": "sign",
    "Reciprocal": "reciprocal", "Inv": "reciprocal", "Square": "square", "Floor": "floor", "Ceil": "ceil",
    "Round": "round", "Rint": "round", "Sqrt": "sqrt", "Rsqrt": "rsqrt", "Exp": "exp", "Expm1": "expm1", "Log": "log",
    "Log1p": "log1p", "Sin": "sin", "Cos": "cos", "Tan": "tan", "Asin": "asin", "Acos": "acos", "Atan": "atan",
    "Atan2": "atan2", "Sinh": "sinh", "Cosh": "cosh", "Tanh": "tanh", "Asinh": "asinh", "Acosh": "acosh",
    "Atanh": "atanh", "Sigmoid": "sigmoid", "Relu": "relu", "Relu6": "relu6", "Softplus": "softplus",
    "Softsign": "softsign", "Elu": "elu", "Selu": "selu", "Erf": "erf", "Softmax": "softmax",
    "LogSoftmax": "log_softmax", "Equal": "equal", "NotEqual": "not_equal", "Less": "less", "LessEqual": "less_equal",
    "Greater": "greater", "GreaterEqual": "greater_equal", "LogicalAnd": "logical_and", "LogicalOr": "logical_or",
    "LogicalNot": "logical_not", "IsNan": "isnan", "IsInf": "isinf", "IsFinite": "isfinite",
    "BitwiseAnd": "bitwise_and", "BitwiseOr": "bitwise_or", "BitwiseXor": "bitwise_xor", "Invert": "invert",
    "LeftShift": "left_shift", "RightShift": "right_shift", "Reshape": "reshape", "Transpose": "transpose",
    "ExpandDims": "expand_dims", "Tile": "tile", "Fill": "fill", "Range": "range", "LinSpace": "linspace",
    "ReverseV2": "reverse", "BroadcastTo": "broadcast_to", "Slice": "slice_size", "Gather": "gather",
    "ResourceGather": "gather", "SelectV2": "where", "ZerosLike": "zeros_like", "OnesLike": "ones_like",
    "ScatterNd": "scatter_nd",
}  # fmt: skip

RULES: dict[str, Rule] = {
    **{theirs: _same(ours) for theirs, ours in _ONE_TO_ONE.items()},
    "Const": _const,
    "Placeholder": _placeholder,
    "PlaceholderV2": _placeholder,
    "Enter": _enter,
    "RefEnter": _enter,
    "Assert": _attrs("assert", summarize="summarize"),
    "CheckNumerics": _attrs("check_numerics", message="message"),
    "Div": _div,
    "BiasAdd": _bias_add,
    "BiasAddV1": _same("add"),
    "Cast": _attrs("cast", dtype="DstT"),
    "LeakyRelu": _attrs("leaky_relu", alpha="alpha"),
    "MatMul": _attrs("matmul", transpose_a="transpose_a", transpose_b="transpose_b"),
    "Sum": _reduce("sum", dtype="same"),
    "Prod": _reduce("prod", dtype="same"),
    "Mean": _reduce("mean", dtype="same"),
    "Max": _reduce("max"),
    "Min": _reduce("min"),
    "All": _reduce("all"),
    "Any": _reduce("any"),
    "ArgMax": _arg("argmax"),
    "ArgMin": _arg("argmin"),
    "Cumsum": _cumulative("cumsum"),
    "Cumprod": _cumulative("cumprod"),
    "Shape": _shape("shape"),
    "Size": _shape("size"),
    "Rank": _same("rank", dtype="int32"),
    "Squeeze": _squeeze,
    "GatherV2": _gather_v2,
    "GatherNd": _attrs("gather_nd"),
    "ConcatV2": _same("concat", axis_input=True),
    "Concat": _concat_first,
    "Pack": _attrs("stack", axis="axis"),
    "Unpack": _attrs("unstack", axis="axis", num="num"),
    "Split": _constant_attr("split", 0, "axis", num="num_split"),
    "SplitV": _constant_attr("split", 2, "axis", _num="num_split"),
    "Where": lambda node, constant: Lowered("transpose", node.inputs, via="nonzero"),
    "Unique": lambda node, constant: Lowered("unique", node.inputs, {"sorted": False}, outputs=(0, 2)),
    "StridedSlice": _attrs(
        "strided_slice",
        **{m: m for m in ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")},
    ),
}
