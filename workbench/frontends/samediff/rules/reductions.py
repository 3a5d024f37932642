"""Reductions, scans and searches along axes.

The axes are an input, or the op's dimensions, of which INT_MAX means all. An input takes precedence unless it is a
constant that contradicts the dimensions, as in the earliest files.
"""

from __future__ import annotations

from typing import Any

from workbench.frontends.samediff.rules.base import ALL, OURS, FlatRule, Parts, as_result, dtype_attr, is_float
from workbench.frontends.tf.graphdef import TensorName


def axes_of(p: Parts, at: int = 1) -> TensorName | None:
    """The axes as a tensor; None for all."""
    stated = p.node.dimensions or (tuple(p.node.ints) if p.node.op_class == 21 else ())
    listed = () if ALL in stated else stated
    if p.has(at + 1):
        value = p.constant(p.inputs[at])
        given = None if value is None or value.dtype == object else [int(v) for v in value.reshape(-1)]
        if given is None or not listed or sorted(given) == sorted(listed):
            return p.inputs[at]
        p.notes.append(
            f"{p.node.op} {p.name!r} reads the axes {given[:8]}, but its own dimensions are {list(listed)[:8]}; these "
            "are used."
        )
    return p.value("axes", list(listed)) if listed else None


def keeps(p: Parts) -> bool:
    return bool(p.prop("keepDims", p.bool_at(0)))


def reduction(op: str, to_float: bool = False, **attrs: Any) -> FlatRule:
    def rule(p: Parts) -> bool:
        if not p.has(1):
            return False
        x = as_result(p, p.inputs[0], p.dtypes[0]) if to_float else p.inputs[0]
        axes = axes_of(p)
        named = "keepdims" if op.startswith(OURS) else "keep_dims"
        return p.result(op, x, *([] if axes is None else [axes]), **{named: keeps(p)}, **attrs)

    return rule


def _of(inner: str, reduced: str, outer: str = "") -> FlatRule:
    """A rule for a reduction of a function of x, and a function of the result."""

    def rule(p: Parts) -> bool:
        if not p.has(1):
            return False
        x = p.add(inner.lower(), inner, as_result(p, p.inputs[0], p.dtypes[0]))
        axes = axes_of(p)
        inputs = [x] if axes is None else [x, axes]
        if not outer:
            return p.result(reduced, *inputs, keep_dims=keeps(p))
        return p.result(outer, p.add("reduced", reduced, *inputs, keep_dims=keeps(p)))

    return rule


def _count(op: str) -> FlatRule:
    """A rule that counts the elements that are (not) 0."""

    def rule(p: Parts) -> bool:
        if not p.has(1) or p.dtypes[0] in (None, "string", "bool"):
            return False
        zero = p.value("zero", 0, str(p.dtypes[0]))
        found = p.add("found", op, p.inputs[0], zero)
        axes = axes_of(p)
        return p.result(
            "Sum",
            p.cast("cast", found, p.out_dtype() or "int64"),
            *([] if axes is None else [axes]),
            keep_dims=keeps(p),
        )

    return rule


def _moment(op: str) -> FlatRule:
    """A rule for variance or standard deviation, with Bessel's correction if the op requests it."""

    def rule(p: Parts) -> bool:
        corrected = bool(p.prop("biasCorrected", p.bool_at(1)))
        return reduction(OURS + op, True, ddof=int(corrected))(p)

    return rule


def _arg(op: str) -> FlatRule:
    """A rule for argmax and the like, over one axis or all elements; the axis may be an input."""

    def rule(p: Parts) -> bool:
        if not p.has(1):
            return False
        dtype = p.out_dtype() or "int64"
        axes = axes_of(p)
        keep = keeps(p)
        if axes is None:
            if keep:
                return False
            flat = p.add("flat", "Reshape", p.inputs[0], p.value("shape", [-1]))
            return p.result(op, flat, p.value("axis", 0), output_type=dtype_attr(dtype))
        value = p.known(axes)
        if value is None:  # a computed axis must be one number, which cannot be checked here
            return not keep and p.result(op, p.inputs[0], axes, output_type=dtype_attr(dtype))
        if value.size != 1:
            return False
        axis = p.value("axis", int(value.reshape(())))
        if not keep:
            return p.result(op, p.inputs[0], axis, output_type=dtype_attr(dtype))
        return p.result("ExpandDims", p.add("found", op, p.inputs[0], axis, output_type=dtype_attr(dtype)), axis)

    return rule


def _scan(op: str) -> FlatRule:
    """A rule for a scan along axes given by an input, or by the arguments after the two flags; by default along the
    first axis.
    """

    def rule(p: Parts) -> bool:
        flags = {"exclusive": bool(p.int_at(0)), "reverse": bool(p.int_at(1))}
        axes = [*p.node.ints[2:], *p.node.dimensions]
        if p.has(2):
            return p.result(op, *p.inputs[:2], **flags)
        if len(axes) != 1 or not p.has(1):
            return False
        return p.result(op, p.inputs[0], p.value("axis", int(axes[0])), **flags)

    return rule


def _log_sum_exp(p: Parts) -> bool:
    return reduction(OURS + "logsumexp", True)(p)


def _normalize_axes(p: Parts) -> tuple[int, ...]:
    return tuple(int(v) for v in (p.node.dimensions or p.node.ints))


def _standardize(p: Parts) -> bool:
    """(x - mean) / deviation along the axes; 0 if the deviation is 0."""
    axes = _normalize_axes(p)
    if not p.has(1) or not axes or not is_float(p.dtypes[0]):
        return False
    x, along = p.inputs[0], p.value("axes", list(axes))
    centred = p.add("centred", "Sub", x, p.add("mean", "Mean", x, along, keep_dims=True))
    spread = p.add("spread", "Mean", p.add("squares", "Square", centred), along, keep_dims=True)
    return p.result("DivNoNan", centred, p.add("deviation", "Sqrt", spread))


RULES: dict[str, FlatRule] = {
    "reduce_sum": reduction("Sum"),
    "sum": reduction("Sum"),
    "reduce_mean": reduction("Mean", True),
    "mean": reduction("Mean", True),
    "reduce_prod": reduction("Prod"),
    "prod": reduction("Prod"),
    "reduce_max": reduction("Max"),
    "max": reduction("Max"),
    "reduce_min": reduction("Min"),
    "min": reduction("Min"),
    "all": reduction("All"),
    "any": reduction("Any"),
    "reduce_all": reduction("All"),
    "reduce_any": reduction("Any"),
    "reduce_norm2": reduction("EuclideanNorm", True),
    "norm2": reduction("EuclideanNorm", True),
    "reduce_norm1": _of("Abs", "Sum"),
    "norm1": _of("Abs", "Sum"),
    "asum": _of("Abs", "Sum"),
    "reduce_norm_max": _of("Abs", "Max"),
    "normmax": _of("Abs", "Max"),
    "amax": _of("Abs", "Max"),
    "amin": _of("Abs", "Min"),
    "amean": _of("Abs", "Mean"),
    "reduce_sqnorm": _of("Square", "Sum"),
    "sqnorm": _of("Square", "Sum"),
    "reduce_logsumexp": _log_sum_exp,
    "logsumexp": _log_sum_exp,
    "reduce_variance": _moment("var"),
    "var": _moment("var"),
    "reduce_stdev": _moment("std"),
    "std": _moment("std"),
    "countNonZero": _count("NotEqual"),
    "countZero": _count("Equal"),
    "argmax": _arg("ArgMax"),
    "imax": _arg("ArgMax"),
    "argmin": _arg("ArgMin"),
    "imin": _arg("ArgMin"),
    "cumsum": _scan("Cumsum"),
    "cumprod": _scan("Cumprod"),
    "standardize": _standardize,
}
#: ops that are stored by class and number alone, before their names were stored: (class, number) -> name
UNNAMED = {
    (6, 0): "reduce_sum",
    (6, 1): "reduce_max",
    (6, 2): "reduce_min",
    (6, 3): "reduce_prod",
    (5, 0): "reduce_mean",
}
