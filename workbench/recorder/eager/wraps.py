"""Integers whose exact result does not fit their dtype."""

from __future__ import annotations

from typing import Any


def wraps(torch: Any, op: str, args: Any, result: Any) -> tuple[int, ...] | None:
    """The index of the first number of ``result`` that differs from the exact one; None if all are exact.

    Ops are done again in float64; numbers of 64 bits are compared by their size only, which a wrap changes by 2**64.
    In-place ops are not looked at: what they read is gone.
    """
    plain = op.rstrip("_")
    if op != plain or not result.numel() or result.dtype == torch.bool:
        return None
    given = [a.double() if isinstance(a, torch.Tensor) else a for a in args]
    if not all(isinstance(a, (torch.Tensor, int, float, list, tuple, type(None))) for a in given):
        return None
    try:
        exact = getattr(torch, plain)(*given)
    except (TypeError, RuntimeError, AttributeError):
        return None
    if exact.shape != result.shape:
        return None
    span = 2.0 ** (8 * result.element_size())
    odd = (exact - result.double()).abs() > span / 4
    if not bool(odd.any()):
        return None
    return tuple(int(i) for i in odd.nonzero()[0])
