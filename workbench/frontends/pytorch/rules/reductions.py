"""Reductions and sorting: sums, means, extrema, order."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from workbench.frontends.pytorch.promote import kind_of
from workbench.frontends.pytorch.rules.table import dim_of, dims, out_dtype, plain, rule, wide, working
from workbench.ir.builder.value import Value

if TYPE_CHECKING:
    from workbench.frontends.pytorch.lower import TorchLowering


def over(lowering: TorchLowering, op: str, x: Value, dim: Any, keepdim: bool, **attrs: Any) -> Value:
    """A reduction with the result dtype of the program, computed in that dtype (16-bit floats in float32)."""
    dtype = out_dtype(lowering)
    value = lowering.cast(x, working(dtype))
    if not x.type.rank:
        value = lowering.part("reshape", value, shape=(1,))
        return lowering.cast(lowering.op(op, value, axis=(0,), **attrs), dtype)
    made = lowering.op(op, value, axis=dims(x, dim), keepdims=bool(keepdim), **attrs)
    return lowering.cast(made, dtype)


@rule("sum.default", "sum.dim_IntList", "mean.default", "mean.dim", "prod.default", "prod.dim_int")
def _sum(lowering: TorchLowering, self: Value, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Value:
    return over(lowering, lowering.call.target.split(".")[1], self, dim, keepdim)


@rule("amax.default", "amin.default", "max.default", "min.default")
def _extreme(lowering: TorchLowering, self: Value, dim: Any = None, keepdim: bool = False) -> Value:
    return over(lowering, "max" if "max" in lowering.call.target else "min", self, dim, keepdim)


@rule("any.default", "any.dim", "any.dims", "all.default", "all.dim", "all.dims")
def _any(lowering: TorchLowering, self: Value, dim: Any = None, keepdim: bool = False) -> Value:
    op = lowering.call.target.split(".")[1]
    test = lowering.cast(self, "bool")
    if not self.type.rank:
        return test
    return lowering.op(op, test, axis=dims(self, dim), keepdims=bool(keepdim))


@rule("max.dim", "min.dim")
def _extreme_at(lowering: TorchLowering, self: Value, dim: int, keepdim: bool = False) -> list[Value]:
    name = "max" if "max" in lowering.call.target else "min"
    if not self.type.rank:
        return [lowering.op("Identity", self), lowering.number(0, "int64")]
    at = dim_of(self, dim)
    value = lowering.op(name, self, axis=(at,), keepdims=bool(keepdim))
    return [value, lowering.op(f"arg{name}", self, axis=at, keepdims=bool(keepdim))]


@rule("argmax.default", "argmin.default")
def _arg(lowering: TorchLowering, self: Value, dim: Any = None, keepdim: bool = False) -> Value | None:
    if not self.type.rank:
        return lowering.number(0, "int64")
    if dim is None and keepdim:
        return None
    x = self if dim is not None else lowering.part("reshape", self, shape=(-1,))
    at = dim_of(self, dim) if dim is not None else 0
    return lowering.op(lowering.call.target.split(".")[1], x, axis=at, keepdims=bool(keepdim))


@rule("var.correction", "std.correction", "var.dim", "std.dim", "var.default", "std.default", "var_mean.correction")
def _var(
    lowering: TorchLowering,
    self: Value,
    dim: Any = None,
    unbiased: bool = True,
    keepdim: bool = False,
    correction: Any = None,
) -> Any:
    packet = lowering.call.target.split(".")[1]
    ddof = int(unbiased) if correction is None else correction
    if type(ddof) not in (int, float) or ddof != int(ddof) or kind_of(self.dtype) != "f" or not self.type.rank:
        return None
    found = over(lowering, packet.removesuffix("_mean"), self, dim, keepdim, ddof=int(ddof))
    return [found, over(lowering, "mean", self, dim, keepdim)] if packet == "var_mean" else found


@rule("logsumexp.default")
def _logsumexp(lowering: TorchLowering, self: Value, dim: Any, keepdim: bool = False) -> Value:
    return over(lowering, "logsumexp", self, dim, keepdim)


@rule(
    "linalg_vector_norm.default",
    "norm.ScalarOpt_dim",
    "norm.Scalar",
    "norm.ScalarOpt_dim_dtype",
    "norm.ScalarOpt_dtype",
)
def _norm(
    lowering: TorchLowering,
    self: Value,
    p: Any = 2,
    dim: Any = None,
    keepdim: bool = False,
    dtype: Any = None,
    ord: Any = 2,
) -> Value | None:
    order = (2 if p is None else p) if ord == 2 else ord
    if kind_of(self.dtype) != "f" or not self.type.rank:
        return None
    if order == 2:
        inside = wide(lowering, self)
        total = lowering.part("sum", lowering.part("square", inside), axis=dims(self, dim), keepdims=bool(keepdim))
        return lowering.cast(lowering.op("sqrt", total), out_dtype(lowering))
    op = {1: "sum", math.inf: "max", -math.inf: "min"}.get(order)
    return None if op is None else over(lowering, op, lowering.part("abs", self), dim, keepdim)


@rule("cumsum.default", "cumprod.default")
def _cumulative(lowering: TorchLowering, self: Value, dim: int, dtype: Any = None) -> Value:
    wanted = out_dtype(lowering)
    value = lowering.cast(self, working(wanted))
    if not self.type.rank:
        return lowering.cast(value, wanted)
    return lowering.cast(lowering.op(lowering.call.target.split(".")[1], value, axis=dim_of(self, dim)), wanted)


@rule("topk.default")
def _topk(
    lowering: TorchLowering, self: Value, k: Any, dim: int = -1, largest: bool = True, sorted: bool = True
) -> list[Value] | None:
    if not plain(k) or not self.type.rank:
        return None
    return lowering.several("top_k", self, axis=dim_of(self, dim), largest=bool(largest), k=int(k))


@rule("sort.default", "sort.stable", "argsort.default", "argsort.stable")
def _sort(lowering: TorchLowering, self: Value, dim: int = -1, descending: bool = False, stable: Any = True) -> Any:
    if not self.type.rank:
        return None
    attrs = {"axis": dim_of(self, dim), "descending": bool(descending)}
    order = lowering.cast(lowering.op("argsort", self, **attrs), "int64")
    if "argsort" in lowering.call.target:
        return order
    return [lowering.op("take_along_axis", self, order, axis=attrs["axis"]), order]
