"""Integers whose exact result does not fit their dtype."""

from __future__ import annotations

from typing import Any


def overwritten(torch: Any, op: str, args: Any) -> Any:
    """A copy of the integers that an op is about to write in place; None for 64 bits, which rarely wrap."""
    target = args[0]
    if op[-1] != "_" or not isinstance(target, torch.Tensor) or target.is_floating_point() or target.is_complex():
        return None
    return target.clone() if 1 <= target.element_size() < 8 and target.dtype != torch.bool else None


def wraps(torch: Any, op: str, args: Any, result: Any) -> tuple[int, ...] | None:
    """The index of the first element of ``result`` that differs from the exact one; None if all are exact.

    Ops are computed again in float64; 64-bit integers are compared by their magnitude only, which a wrap changes by
    2**64. For an op in place, the first of ``args`` is the copy of :func:`overwritten`.
    """
    plain = op.rstrip("_")
    if not result.numel() or result.dtype == torch.bool or result.is_complex():
        return None
    if op == "_to_copy" and args[0].dtype == result.dtype:
        return None
    given = [a.double() if isinstance(a, torch.Tensor) else a for a in args]
    if not all(isinstance(a, (torch.Tensor, int, float, list, tuple, type(None))) for a in given):
        return None
    try:
        exact = given[0].trunc() if op == "_to_copy" else getattr(torch, plain)(*given)
    except (TypeError, RuntimeError, AttributeError):
        return None
    if exact.shape != result.shape:
        return None
    span = 2.0 ** (8 * result.element_size())
    odd = (exact - result.double()).abs() > span / 4
    if not bool(odd.any()):
        return None
    return tuple(int(i) for i in odd.nonzero()[0])
