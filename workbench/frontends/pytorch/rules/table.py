"""The table of rules: ATen op -> function of (lowering, arguments as values and numbers, by PyTorch's names).

A rule returns the value of the result, or a list of values; None if its arguments need a feature that our ops lack.
Source: aten/src/ATen/native/native_functions.yaml of PyTorch 2.13.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from workbench.frontends.pytorch.numbers import Number
from workbench.frontends.pytorch.promote import kind_of
from workbench.frontends.pytorch.reading.archive import refused
from workbench.ir.builder.value import Value

if TYPE_CHECKING:
    from workbench.frontends.pytorch.lower import TorchLowering

Rule = Callable[..., Any]
RULES: dict[str, Rule] = {}
#: rules that receive tensors instead of values, because they write to some of them
WRITERS: dict[str, Rule] = {}
#: float dtypes for which PyTorch computes in float32 and rounds only the results
SHORT = ("float16", "bfloat16")
#: maximum number of elements of a constant, or nodes of one call, created before the run
FEW = 1 << 14


def rule(*targets: str) -> Callable[[Rule], Rule]:
    def register(found: Rule) -> Rule:
        for target in targets:
            if RULES.setdefault(f"aten.{target}", found) is not found:
                raise ValueError(f"{target} has two rules")
        return found

    return register


def also(names: dict[str, str]) -> None:
    """Register other names of ops, for every overload."""
    for target, found in list(RULES.items()):
        _, packet, overload = target.split(".")
        for other, own in names.items():
            if own == packet:
                RULES.setdefault(f"aten.{other}.{overload}", found)


def out_dtype(lowering: TorchLowering, k: int = 0) -> str:
    return lowering.metas[k].type.dtype


def working(dtype: str) -> str:
    """The dtype in which results of a dtype are computed."""
    return "float32" if dtype in SHORT else dtype


def wide(lowering: TorchLowering, x: Any) -> Value:
    """A value of 16-bit floats cast to float32, any other unchanged."""
    return lowering.cast(x, working(x.dtype))


def is_float(x: Value) -> bool:
    return kind_of(x.dtype) == "f"


def dims(x: Value, dim: Any) -> tuple[int, ...] | None:
    """Axes counted from the front; None for all of them."""
    rank = x.type.rank or 0
    if dim is None or dim == []:
        return None
    listed = dim if isinstance(dim, list) else [dim]
    if any(type(d) is not int or not -max(rank, 1) <= d < max(rank, 1) for d in listed):
        raise refused(f"it has the axes {listed} of {rank}")
    return tuple(d % max(rank, 1) for d in listed) if rank else ()


def dim_of(x: Value, dim: Any) -> int:
    found = dims(x, dim)
    return found[0] if found else 0


def plain(*given: Any) -> bool:
    """True if all numbers are known before the run."""
    return not any(
        isinstance(g, Number) or (isinstance(g, Sequence) and not isinstance(g, str) and not plain(*g)) for g in given
    )
