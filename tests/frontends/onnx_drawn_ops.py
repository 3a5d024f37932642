"""Random inputs and attributes of each op; a drawer returns (inputs, attributes), and the number of outputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.frontends.onnx_drawn_moves import MOVES
from workbench.frontends.onnx.tensors import NUMBERS

Draw = Callable[[Any, str], Any]
FLOATS = ("float16", "bfloat16", "float32", "float64")
SHORT = ("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz")


def unary(**attrs: Callable[[Any], Any]) -> Draw:
    def draw(m: Any, op: str) -> Any:
        given = {k: f(m) for k, f in attrs.items() if m.chance(0.6)}
        return [m.value(m.allowed(op, 0))], given

    return draw


def number(*of: float) -> Callable[[Any], float]:
    return lambda m: float(m.rng.choice(of))


def binary(m: Any, op: str) -> Any:
    x = m.value(m.allowed(op, 0))
    if op == "PRelu":  # the slope is broadcast to the input, not the reverse
        array = m.values[x]
        return [x, m.fresh([array.dtype.name], array.shape[m.integer(0, array.ndim) :])], {}
    pair = [x, m.like(x)]
    if op in ("Add", "Sub", "Mul", "Div", "Max", "Min") and m.chance(0.5):
        pair.reverse()
    return pair, {}


def power(m: Any, op: str) -> Any:
    x = m.value(m.allowed(op, 0))
    if m.values[x].dtype.kind in "iu":  # a value that is not an integer of the dtype is unspecified
        kind = m.values[x].dtype.name
        base = m.rng.integers(-3 if "u" not in kind else 0, 4, m.shape())
        return [m.add(base.astype(kind)), m.add(m.rng.integers(0, 5, base.shape[-1:]).astype(kind))], {}
    y = m.like(x) if m.chance(0.5) or m.opset < 12 else m.fresh(m.allowed(op, 1), m.values[x].shape[-1:])
    return [x, y], {}


def shift(m: Any, op: str) -> Any:
    x = m.value(m.allowed(op, 0))
    array = m.values[x]
    by = m.rng.integers(0, 8 * array.itemsize, array.shape).astype(array.dtype)
    return [x, m.add(by)], {"direction": str(m.rng.choice(["LEFT", "RIGHT"]))}


def variadic(m: Any, op: str) -> Any:
    x = m.value(m.allowed(op, 0))
    return [x, *(m.like(x) for _ in range(m.integer(0, 3)))], {}


def where(m: Any, op: str) -> Any:
    x = m.value(m.allowed(op, 1))
    shape = m.values[x].shape
    return [m.fresh(["bool"], shape if m.chance(0.6) else shape[-1:]), x, m.like(x)], {}


def clip(m: Any, op: str) -> Any:
    x = m.value(m.allowed(op, 0))
    name = m.values[x].dtype.name
    bounds = [m.fresh([name], ()) if m.chance(0.7) else "" for _ in range(2)]
    return [x, *bounds], {}


def cast(m: Any, op: str) -> Any:
    x = m.value(m.allowed(op, 0))
    to = m.dtype(m.results(op, 0))
    if not m.castable(x, to):
        return None
    attrs: dict[str, Any] = {"to": NUMBERS[to]}
    if to in SHORT and m.chance(0.5):
        attrs["saturate"] = 0
    return [x], attrs


def cast_like(m: Any, op: str) -> Any:
    x, like = m.value(m.allowed(op, 0)), m.value(m.allowed(op, 1))
    return ([x, like], {}) if m.castable(x, m.values[like].dtype.name) else None


def axes_of(m: Any, rank: int) -> list[int]:
    return [int(a) - (rank if m.chance(0.3) else 0) for a in m.rng.permutation(rank)[: m.integer(0, rank)]]


def reduction(m: Any, op: str) -> Any:
    x = m.value(m.allowed(op, 0))
    if m.values[x].dtype.kind in "iu" and op in (
        "ReduceMean",
        "ReduceProd",
        "ReduceSumSquare",
    ):  # overflow is unspecified
        x = m.add(m.rng.integers(0, 3, [max(d, 1) for d in m.shape()]).astype(m.values[x].dtype))
    axes, attrs = axes_of(m, m.values[x].ndim), {}
    if m.chance(0.6):
        attrs["keepdims"] = m.integer(0, 1)
    as_input = m.opset >= (13 if op == "ReduceSum" else 18)
    if not axes and m.chance(0.7):
        return [x], attrs
    if not as_input:
        return [x], {**attrs, "axes": axes} if axes else attrs
    if m.chance(0.3):
        attrs["noop_with_empty_axes"] = m.integer(0, 1)
    return [x, m.ints(np.array(axes, np.int64))], attrs


def arg(m: Any, op: str) -> Any:
    x = m.value(m.allowed(op, 0), range(1, 5))
    attrs = {"axis": m.axis(x), "keepdims": m.integer(0, 1)}
    if m.opset >= 12:
        attrs["select_last_index"] = m.integer(0, 1)
    return [x], attrs


def cumulative(m: Any, op: str) -> Any:
    x = m.value(m.allowed(op, 0), range(1, 5))
    return [x, m.ints(m.axis(x), m.rng.choice([np.int32, np.int64]))], {
        k: m.integer(0, 1) for k in ("exclusive", "reverse")
    }


def top_k(m: Any, op: str) -> Any:
    x = m.value(m.allowed(op, 0), range(1, 5))
    axis = m.axis(x)
    k = m.integer(0, m.values[x].shape[axis])
    return [x, m.ints([k])], {"axis": axis, "largest": m.integer(0, 1), "sorted": 1}, 2


def along(**attrs: Callable[[Any], Any]) -> Draw:
    """An axis of one input."""

    def draw(m: Any, op: str) -> Any:
        x = m.value(m.allowed(op, 0), range(1, 5))
        return [x], {"axis": m.axis(x), **{k: f(m) for k, f in attrs.items() if m.chance(0.6)}}

    return draw


def hardmax(m: Any, op: str) -> Any:
    made = along()(m, op)
    return None if np.isnan(m.values[made[0][0]].astype(np.float64)).any() else made


def layer_norm(m: Any, op: str) -> Any:
    x = m.value(m.allowed(op, 0), range(1, 5))
    axis = m.axis(x)
    name, part = m.values[x].dtype.name, m.values[x].shape[axis:]
    bias = [m.fresh([name], part)] if op == "LayerNormalization" and m.chance(0.5) else []
    return [x, m.fresh([name], part), *bias], {"axis": axis, "epsilon": 1e-5}


def channel_norm(m: Any, op: str) -> Any:
    x = m.value(m.allowed(op, 0), range(3, 5))
    if op != "BatchNormalization" and (np.abs(m.values[x].astype(np.float64)) > 1e15).any():
        return None  # float32 does not represent their variance
    name, channels = m.values[x].dtype.name, m.values[x].shape[1]
    sides = [m.add(np.asarray(m.rng.uniform(-2, 2, channels)).astype(m.kind(name))) for _ in range(2)]
    if op == "InstanceNormalization":
        return [x, *sides], {}
    if op == "GroupNormalization":
        groups = [g for g in (1, 2, 3, channels) if g and channels % g == 0]
        return ([x, *sides], {"num_groups": int(m.rng.choice(groups))}) if groups and m.opset >= 21 else None
    mean, variance = (m.add(m.rng.uniform(0.1, 2, channels).astype(m.kind(name))) for _ in range(2))
    return [x, *sides, mean, variance], {}


def matmul(m: Any, op: str) -> Any:
    a = m.value(m.allowed(op, 0), range(1, 5))
    array = m.values[a]
    kind = array.dtype.name if op == "MatMul" else m.dtype(m.allowed(op, 1))
    rank = m.integer(1, max(2, array.ndim))
    inner = array.shape[-1]
    shape = (inner,) if rank == 1 else (*array.shape[:-2][-(rank - 2) :][: rank - 2], inner, m.integer(0, 5))
    b = m.fresh([kind], shape)
    if op == "MatMul":
        return [a, b], {}
    zeros = [m.fresh([m.values[v].dtype.name], ()) for v in (a, b)][: m.integer(0, 2)]
    return [a, b, *zeros], {}


def gemm(m: Any, op: str) -> Any:
    a = m.value(m.allowed(op, 0), range(2, 3))
    if m.values[a].dtype.kind in "iu":  # onnxruntime sums in floats
        a = m.add(m.rng.integers(0, 9, m.shape(2)).astype(m.values[a].dtype))
    flip = [m.integer(0, 1) for _ in range(2)]
    rows, inner = m.values[a].shape[:: -1 if flip[0] else 1]
    columns = m.integer(0, 5)
    name = m.values[a].dtype.name

    def other(*shape: int) -> str:
        whole = m.values[a].dtype.kind in "iu"
        return m.add(m.rng.integers(0, 9, shape).astype(m.kind(name))) if whole else m.fresh([name], shape)

    b = other(columns, inner) if flip[1] else other(inner, columns)
    c = [other(*[(), (columns,), (1, columns), (rows, 1), (rows, columns)][m.integer(0, 4)])]
    scale = {k: float(m.rng.choice([0.5, 1, 2, -1, 0])) for k in ("alpha", "beta") if m.chance(0.5)}
    if m.values[a].dtype.kind in "iu":
        scale = {k: float(abs(round(v))) for k, v in scale.items()}
    return [a, b, *c[: m.integer(0, 1)]], {"transA": flip[0], "transB": flip[1], **scale}


def einsum(m: Any, op: str) -> Any:
    a = m.value(m.allowed(op, 0), range(2, 3))
    rows, inner = m.values[a].shape
    name = m.values[a].dtype.name
    equation = str(m.rng.choice(["ij,jk->ik", "ij,jk->ki", "ij,jk"]))
    return [a, m.fresh([name], (inner, m.integer(0, 4)))], {"equation": equation}


def quantize(m: Any, op: str) -> Any:
    x = m.value(m.allowed(op, 0), range(0, 4))
    shape = m.values[x].shape
    axis = m.axis(x) if shape and m.chance(0.4) else None
    part = () if axis is None else (shape[axis],)
    kind = m.values[x].dtype.name if m.opset >= 19 or op == "QuantizeLinear" else "float32"
    scale = "float32" if op == "DequantizeLinear" or m.opset < 19 else kind
    if scale not in m.allowed(op, 1):
        scale = "float32"
    scales = np.abs(m.rng.standard_normal(part) * 0.2 + 0.05).astype(m.kind(scale))
    zero = m.dtype(m.allowed(op, 2)) if op == "QuantizeLinear" else m.values[x].dtype.name
    zeros = m.fresh([zero], part) if m.chance(0.8) and zero not in SHORT and zero != "int32" else ""
    if zero in SHORT or zero == "int32":
        zeros = m.add(np.zeros(part, m.kind(zero)))
    return [x, m.add(scales), *([zeros] if zeros else [])], {} if axis is None else {"axis": axis}


def dynamic_quantize(m: Any, op: str) -> Any:
    return [m.value(["float32"])], {}, 3


_ALPHA = number(0.5, 1, 2, 0.01)
OPS: dict[str, Draw] = {
    **dict.fromkeys(
        (
            "Abs",
            "Neg",
            "Sign",
            "Floor",
            "Ceil",
            "Round",
            "Sqrt",
            "Exp",
            "Log",
            "Sin",
            "Cos",
            "Tan",
            "Asin",
            "Acos",
            "Atan",
            "Sinh",
            "Cosh",
            "Tanh",
            "Asinh",
            "Acosh",
            "Atanh",
            "Sigmoid",
            "Relu",
            "Softplus",
            "Softsign",
            "Erf",
            "Reciprocal",
            "IsNaN",
            "Not",
            "BitwiseNot",
            "Identity",
            "HardSwish",
            "Mish",
            "NonZero",
            "Size",
        ),
        unary(),
    ),
    "IsInf": unary(detect_negative=lambda m: m.integer(0, 1), detect_positive=lambda m: m.integer(0, 1)),
    "Elu": unary(alpha=_ALPHA),
    "Celu": unary(alpha=_ALPHA),
    "LeakyRelu": unary(alpha=_ALPHA),
    "Selu": unary(alpha=_ALPHA, gamma=_ALPHA),
    "HardSigmoid": unary(alpha=_ALPHA, beta=_ALPHA),
    "ThresholdedRelu": unary(alpha=_ALPHA),
    "Shrink": unary(lambd=_ALPHA, bias=_ALPHA),
    "Gelu": unary(approximate=lambda m: str(m.rng.choice(["none", "tanh"]))),
    "Swish": unary(alpha=_ALPHA),
    **dict.fromkeys(
        (
            "Add",
            "Sub",
            "Mul",
            "Div",
            "PRelu",
            "Equal",
            "Less",
            "LessOrEqual",
            "Greater",
            "GreaterOrEqual",
            "And",
            "Or",
            "Xor",
            "BitwiseAnd",
            "BitwiseOr",
            "BitwiseXor",
        ),
        binary,
    ),
    "Mod": lambda m, op: (binary(m, op)[0], {"fmod": 1}) if m.chance(0.5) else binary(m, op),
    "Pow": power,
    "BitShift": shift,
    "Where": where,
    "Clip": clip,
    "Cast": cast,
    "CastLike": cast_like,
    **dict.fromkeys(("Max", "Min", "Sum", "Mean"), variadic),
    **dict.fromkeys(
        [f"Reduce{k}" for k in ("Sum", "Prod", "Mean", "Max", "Min", "L1", "L2", "LogSum", "LogSumExp", "SumSquare")],
        reduction,
    ),
    "ArgMax": arg,
    "ArgMin": arg,
    "CumSum": cumulative,
    "TopK": top_k,
    "Softmax": along(),
    "LogSoftmax": along(),
    "Hardmax": hardmax,
    "LpNormalization": along(p=lambda m: m.integer(1, 2)),
    "LayerNormalization": layer_norm,
    "RMSNormalization": layer_norm,
    "InstanceNormalization": channel_norm,
    "GroupNormalization": channel_norm,
    "BatchNormalization": channel_norm,
    "MatMul": matmul,
    "MatMulInteger": matmul,
    "Gemm": gemm,
    "Einsum": einsum,
    "QuantizeLinear": quantize,
    "DequantizeLinear": quantize,
    "DynamicQuantizeLinear": dynamic_quantize,
    **MOVES,
}
