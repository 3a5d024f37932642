"""Ops that TensorFlow lacks, composed of others: functions, distances along axes, sums over several arrays,
assignment.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from workbench.frontends.samediff.rules.base import FlatRule, Parts, as_result, dtype_attr, is_float, is_number
from workbench.frontends.samediff.rules.reductions import RULES as REDUCTIONS
from workbench.frontends.samediff.rules.reductions import axes_of, keeps
from workbench.frontends.tf.graphdef import TensorName
from workbench.ir.types import numpy_dtype

REDUCE_3 = 16


def _floats(p: Parts) -> tuple[TensorName, str] | None:
    """The first input as floats, and their dtype."""
    dtype = p.out_dtype(p.dtypes[0] if p.has(1) else None)
    if not p.has(1) or not is_float(dtype):
        return None
    return as_result(p, p.inputs[0], p.dtypes[0]), str(dtype)


def _function(build: Callable[[Parts, TensorName, str], bool]) -> FlatRule:
    def rule(p: Parts) -> bool:
        found = _floats(p)
        return found is not None and build(p, *found)

    return rule


def _hard_tanh(p: Parts, x: TensorName, dtype: str) -> bool:
    return p.result("ClipByValue", x, p.value("low", -1, dtype), p.value("high", 1, dtype))


def _rectified_tanh(p: Parts, x: TensorName, dtype: str) -> bool:
    return p.result("Relu", p.add("tanh", "Tanh", x))


def _log_sigmoid(p: Parts, x: TensorName, dtype: str) -> bool:
    return p.result("Neg", p.add("softplus", "Softplus", p.add("neg", "Neg", x)))


def _mish(p: Parts, x: TensorName, dtype: str) -> bool:
    return p.result("Mul", x, p.add("tanh", "Tanh", p.add("softplus", "Softplus", x)))


def _times_one_minus(p: Parts, x: TensorName, dtype: str) -> bool:
    return p.result("Mul", x, p.add("rest", "Sub", p.value("one", 1, dtype), x))


def _thresholded(p: Parts, x: TensorName, dtype: str) -> bool:
    above = p.add("above", "Greater", x, p.value("cutoff", p.float_at(0), dtype))
    return p.result("SelectV2", above, x, p.add("zeros", "ZerosLike", x))


def _replace_nans(p: Parts, x: TensorName, dtype: str) -> bool:
    return p.result("SelectV2", p.add("nan", "IsNan", x), p.value("set", p.float_at(0), dtype), x)


def _summed(p: Parts, part: str, x: TensorName) -> TensorName:
    axes = axes_of(p, 2)
    return p.add(part, "Sum", x, *([] if axes is None else [axes]), keep_dims=keeps(p))


def _distance(build: Callable[[Parts, TensorName, TensorName], bool]) -> FlatRule:
    """A rule for the distance between two float arrays of equal shape along axes, not of all pairs of rows."""

    def rule(p: Parts) -> bool:
        if not p.has(2) or not is_float(p.dtypes[0]) or p.dtypes[0] != p.dtypes[1]:
            return False
        return not p.prop("isComplexAccumulation", False) and build(p, *p.inputs[:2])

    return rule


def _dot(p: Parts, x: TensorName, y: TensorName) -> bool:
    if p.node.op_class != REDUCE_3:  # libnd4j also uses the name for a matrix product
        return p.result("MatMul", x, y) if not p.node.ints else False
    return p.result("Identity", _summed(p, "sum", p.add("products", "Mul", x, y)))


def _euclidean(p: Parts, x: TensorName, y: TensorName) -> bool:
    return p.result("Sqrt", _summed(p, "sum", p.add("squares", "SquaredDifference", x, y)))


def _manhattan(p: Parts, x: TensorName, y: TensorName) -> bool:
    return p.result("Identity", _summed(p, "sum", p.add("sizes", "Abs", p.add("difference", "Sub", x, y))))


def _cosine(p: Parts, x: TensorName, y: TensorName) -> tuple[TensorName, TensorName]:
    dot = _summed(p, "dot", p.add("products", "Mul", x, y))
    norms = [
        p.add(f"norm_{k}", "Sqrt", _summed(p, f"sum_{k}", p.add(f"squares_{k}", "Square", v)))
        for k, v in enumerate((x, y))
    ]
    return dot, p.add("norms", "Mul", *norms)


def _cosine_similarity(p: Parts, x: TensorName, y: TensorName) -> bool:
    return p.result("Div", *_cosine(p, x, y))


def _cosine_distance(p: Parts, x: TensorName, y: TensorName) -> bool:
    return p.result("Sub", p.value("one", 1, str(p.dtypes[0])), p.add("cosine", "Div", *_cosine(p, x, y)))


def _entropy(p: Parts) -> bool:
    """- sum of x log x, with the axes of a reduction."""
    if not p.has(1) or not is_float(p.dtypes[0]):
        return False
    x, axes = p.inputs[0], axes_of(p)
    terms = p.add("terms", "Mul", x, p.add("log", "Log", x))
    total = p.add("sum", "Sum", terms, *([] if axes is None else [axes]), keep_dims=keeps(p))
    return p.result("Neg", total)


def _of_sizes(op: str) -> FlatRule:
    """A rule for a search among the absolute values."""

    def rule(p: Parts) -> bool:
        if not p.has(1) or not is_number(p.dtypes[0]):
            return False
        p.inputs = (p.add("sizes", "Abs", p.inputs[0]), *p.inputs[1:])
        return REDUCTIONS[op](p)

    return rule


def _any(test: str) -> FlatRule:
    def rule(p: Parts) -> bool:
        if not p.has(1):
            return False
        axes = axes_of(p)
        return p.result("Any", p.add("found", test, p.inputs[0]), *([] if axes is None else [axes]), keep_dims=keeps(p))

    return rule


def _assign(p: Parts) -> bool:
    """The second array in the shape and type of the first; with one input, that input."""
    if not p.has(2):
        return p.has(1) and p.result("Identity", p.inputs[0])
    x, y, wanted = p.inputs[0], p.inputs[1], p.dtypes[0]
    if wanted is not None and p.dtypes[1] not in (None, wanted):
        if "string" in (wanted, p.dtypes[1]):
            return False
        y = p.cast("cast", y, wanted)
    return p.result("BroadcastTo", y, p.add("shape", "Shape", x))


def _set_scalar(p: Parts) -> bool:
    dtype, found = p.dtypes[0] if p.has(1) else None, p.node.scalar
    if dtype is None or not is_number(dtype) or found is None or found.size != 1 or found.dtype == object:
        return False
    value = p.value("scalar", found.reshape(()).astype(numpy_dtype(dtype)), dtype)
    return p.result("BroadcastTo", value, p.add("shape", "Shape", p.inputs[0]))


def _merged(op: str) -> FlatRule:
    """A rule for an elementwise reduction over all inputs."""

    def rule(p: Parts) -> bool:
        if not p.has(1) or len(set(p.dtypes)) != 1:
            return False
        more = {"output_type": dtype_attr(p.out_dtype() or "int64")} if op == "ArgMax" else {}
        return p.result(op, p.add("stacked", "Pack", *p.inputs, axis=0), p.value("axis", 0), **more)

    return rule


def _axpy(p: Parts) -> bool:
    """y + a x."""
    if len(p.inputs) != 2 or not is_float(p.dtypes[0]) or p.dtypes[0] != p.dtypes[1]:
        return False
    scaled = p.add("scaled", "Mul", p.inputs[0], p.value("a", p.float_at(0, 1.0), str(p.dtypes[0])))
    return p.result("AddV2", scaled, p.inputs[1])


def _every(p: Parts, x: TensorName) -> TensorName:
    """All axes of an array."""
    return p.add("every", "Range", p.value("from", 0), p.add("rank", "Rank", x), p.value("by", 1))


def _moments(p: Parts) -> bool:
    """Mean and variance, without Bessel's correction."""
    if not p.has(1) or not is_float(p.dtypes[0]) or len(p.node.outputs) != 2:
        return False
    axes = axes_of(p)
    over = [_every(p, p.inputs[0]) if axes is None else axes]
    keep = bool(p.prop("keepDims", p.bool_at(0, bool(p.float_at(0)))))
    wide = p.add("wide", "Mean", p.inputs[0], *over, keep_dims=True)
    squares = p.add("squares", "SquaredDifference", p.inputs[0], wide)
    mean = p.add("mean", "Mean", p.inputs[0], *over, keep_dims=keep)
    return p.result("IdentityN", mean, p.add("variance", "Mean", squares, *over, keep_dims=keep))


def _to(dtype: str) -> FlatRule:
    return lambda p: p.has(1) and is_number(p.dtypes[0]) and p.result("Cast", p.inputs[0], DstT=dtype_attr(dtype))


def _clip_by_norm(p: Parts) -> bool:
    """The array, scaled to a norm if the norm of all elements is larger."""
    found = _floats(p)
    if found is None or p.node.dimensions or p.node.ints or not p.node.floats:
        return False
    x, dtype = found
    most = p.value("most", np.float64(p.float_at(0)), dtype)
    norm = p.add("norm", "Sqrt", p.add("sum", "Sum", p.add("squares", "Square", x), _every(p, x)))
    scaled = p.add("scaled", "Mul", x, p.add("ratio", "Div", most, norm))
    return p.result("SelectV2", p.add("above", "Greater", norm, most), scaled, x)


RULES: dict[str, FlatRule] = {
    "hardtanh": _function(_hard_tanh),
    "rectifiedtanh": _function(_rectified_tanh),
    "logsigmoid": _function(_log_sigmoid),
    "mish": _function(_mish),
    "timesoneminus": _function(_times_one_minus),
    "thresholdedrelu": _function(_thresholded),
    "replace_nans": _function(_replace_nans),
    "dot": _distance(_dot),
    "euclidean": _distance(_euclidean),
    "manhattan": _distance(_manhattan),
    "cosinesimilarity": _distance(_cosine_similarity),
    "cosinedistance": _distance(_cosine_distance),
    "entropy": _entropy,
    "argamax": _of_sizes("argmax"),
    "argamin": _of_sizes("argmin"),
    "hasnan": _any("IsNan"),
    "hasinf": _any("IsInf"),
    "assign": _assign,
    "set_scalar": _set_scalar,
    "mergemax": _merged("Max"),
    "mergeavg": _merged("Mean"),
    "mergemaxindex": _merged("ArgMax"),
    "axpy": _axpy,
    "moments": _moments,
    "clipbynorm": _clip_by_norm,
    "to_double": _to("float64"),
    "to_float16": _to("float16"),
    "to_float32": _to("float32"),
    "to_int32": _to("int32"),
    "to_int64": _to("int64"),
    "to_uint32": _to("uint32"),
    "to_uint64": _to("uint64"),
}
