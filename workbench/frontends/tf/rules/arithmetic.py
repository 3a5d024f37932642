"""Elementwise arithmetic, functions, comparisons, and matrix products."""

from __future__ import annotations

from workbench.frontends.tf.graphdef import NodeDef
from workbench.frontends.tf.rules.base import Constant, LoweredNode, Rule, attrs, is_integer, same
from workbench.frontends.tf.tensor_proto import DTypeAttr
from workbench.ir.types import STRING


def _div(node: NodeDef, constant: Constant) -> LoweredNode:
    return LoweredNode("truncate_divide" if is_integer(node) else "divide", node.inputs)


def _add(node: NodeDef, constant: Constant) -> LoweredNode:
    """Add, also of strings, which are concatenated."""
    dtype = node.attrs.get("T")
    return LoweredNode("string_join" if isinstance(dtype, DTypeAttr) and dtype.name == STRING else "add", node.inputs)


_ONE_TO_ONE = {
    "AddV2": "add",
    "Sub": "subtract",
    "Mul": "multiply",
    "RealDiv": "divide",
    "FloorDiv": "floor_divide",
    "FloorMod": "remainder",
    "Mod": "fmod",
    "TruncateMod": "fmod",
    "TruncateDiv": "truncate_divide",
    "Pow": "power",
    "Maximum": "maximum",
    "Minimum": "minimum",
    "SquaredDifference": "squared_difference",
    "Neg": "negative",
    "Abs": "abs",
    "Sign": "sign",
    "Reciprocal": "reciprocal",
    "Inv": "reciprocal",
    "Square": "square",
    "Floor": "floor",
    "Ceil": "ceil",
    "Round": "round",
    "Rint": "round",
    "Sqrt": "sqrt",
    "Rsqrt": "rsqrt",
    "Exp": "exp",
    "Expm1": "expm1",
    "Log": "log",
    "Log1p": "log1p",
    "Sin": "sin",
    "Cos": "cos",
    "Tan": "tan",
    "Asin": "asin",
    "Acos": "acos",
    "Atan": "atan",
    "Atan2": "atan2",
    "Sinh": "sinh",
    "Cosh": "cosh",
    "Tanh": "tanh",
    "Asinh": "asinh",
    "Acosh": "acosh",
    "Atanh": "atanh",
    "Sigmoid": "sigmoid",
    "Relu": "relu",
    "Relu6": "relu6",
    "Softplus": "softplus",
    "Softsign": "softsign",
    "Elu": "elu",
    "Selu": "selu",
    "Erf": "erf",
    "Softmax": "softmax",
    "LogSoftmax": "log_softmax",
    "Equal": "equal",
    "NotEqual": "not_equal",
    "Less": "less",
    "LessEqual": "less_equal",
    "Greater": "greater",
    "GreaterEqual": "greater_equal",
    "LogicalAnd": "logical_and",
    "LogicalOr": "logical_or",
    "LogicalNot": "logical_not",
    "IsNan": "isnan",
    "IsInf": "isinf",
    "IsFinite": "isfinite",
    "BitwiseAnd": "bitwise_and",
    "BitwiseOr": "bitwise_or",
    "BitwiseXor": "bitwise_xor",
    "Invert": "invert",
    "LeftShift": "left_shift",
    "RightShift": "right_shift",
    "LogicalXor": "logical_xor",
    "NextAfter": "nextafter",
    "ClipByValue": "clip",
    "Complex": "complex",
    "Real": "real",
    "Imag": "imag",
    "Conj": "conj",
    "Angle": "angle",
    "ComplexAbs": "abs",
    "PopulationCount": "popcount",
}

RULES: dict[str, Rule] = {
    **{theirs: same(ours) for theirs, ours in _ONE_TO_ONE.items()},
    "Div": _div,
    "Add": _add,
    "BiasAddV1": same("add"),
    "Cast": attrs("cast", dtype="DstT"),
    "Bitcast": attrs("bitcast", dtype="type"),
    "ApproximateEqual": attrs("approximate_equal", tolerance="tolerance"),
    "LeakyRelu": attrs("leaky_relu", alpha="alpha"),
    "MatMul": attrs("matmul", transpose_a="transpose_a", transpose_b="transpose_b"),
}
