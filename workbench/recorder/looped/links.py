"""How an input of a module is made from an earlier tensor: the same, or a constant added or joined to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from workbench.recorder.looped.calls import leaves

#: kinds of links, the most certain first
KINDS = ("equal", "residual", "sum", "joined")


@dataclass(frozen=True, eq=False)
class CarryLink:
    """``kind`` says how a tensor is made from an earlier one: "equal"; "residual", the input of module ``of`` added to
    it; "sum", a ``constant`` added; "joined", a constant after (``front``) or before it along the last dimension.
    """

    kind: str
    constant: Any = None
    front: bool = True
    of: int = 0

    def apply(self, torch: Any, value: Any, entered: dict[int, Any], scale: Any) -> Any:
        """The tensor made from ``value`` and, for a residual, from the input ``entered`` of a module; constants are
        scaled.
        """
        if self.kind == "equal":
            return value
        if self.kind == "residual":
            return entered[self.of] + value
        constant = self.constant.to(value.dtype) * scale
        if self.kind == "sum":
            return value + constant
        return torch.cat((value, constant) if self.front else (constant, value), dim=-1)


def same(torch: Any, a: Any, b: Any) -> bool:
    """True for tensors with equal elements."""
    if a is b:
        return True
    return bool(a.shape == b.shape and a.dtype == b.dtype and torch.allclose(a, b, rtol=0, atol=0, equal_nan=True))


def near(torch: Any, a: Any, b: Any, size: Any) -> bool:
    """True for tensors that differ by at most a few roundings of numbers as large as ``size``."""
    if a.shape != b.shape:
        return False
    apart = (a.double() - b.double()).abs()
    return bool((apart <= 8 * torch.finfo(b.dtype).eps * (size.double().abs() + b.double().abs()) + 1e-30).all())


def tensors(torch: Any, value: Any) -> list[tuple[tuple[Any, ...], Any]]:
    """The real floating-point tensors of at least one dimension in a value, with their paths."""
    return [
        (path, leaf)
        for path, leaf in leaves(value)
        if isinstance(leaf, torch.Tensor)
        and not isinstance(leaf, torch.nn.Parameter)
        and leaf.is_floating_point()
        and leaf.ndim
    ]


def find_link(torch: Any, values: list[Any], nexts: list[Any], entered: dict[int, list[Any]]) -> CarryLink | None:
    """The link that holds for all pairs of ``values`` and ``nexts``, one pair per loop; None if there is none.

    ``entered`` has the inputs of modules, one per loop, that may have been added to the value.
    """
    pairs = list(zip(values, nexts, strict=True))
    if not pairs or any(a is None or b is None for a, b in pairs):
        return None
    first, second = pairs[0]
    if first.shape == second.shape:
        if all(same(torch, a, b) for a, b in pairs):
            return CarryLink("equal")
        if any(a.shape != b.shape for a, b in pairs):
            return None
        for of, befores in entered.items():
            found = zip(values, befores, nexts, strict=True)
            if all(b.shape == v.shape and near(torch, v.double() + b.double(), n, v) for v, b, n in found):
                return CarryLink("residual", of=of)
        return _sum(torch, pairs)
    if first.ndim == second.ndim and first.shape[:-1] == second.shape[:-1] and first.shape[-1] < second.shape[-1]:
        d = first.shape[-1]
        for front in (True, False):
            parts = [(n[..., :d], n[..., d:]) if front else (n[..., -d:], n[..., :-d]) for n in nexts]
            constant = parts[0][1]
            if all(same(torch, p, v) for (p, _), v in zip(parts, values, strict=True)) and all(
                same(torch, c, constant) for _, c in parts
            ):
                return CarryLink("joined", constant.clone(), front)
    return None


def _sum(torch: Any, pairs: list[tuple[Any, Any]]) -> CarryLink | None:
    """A constant that is added in each loop; a single pair cannot show that."""
    if len(pairs) < 2:
        return None
    added = [b.double() - a.double() for a, b in pairs]
    constant = added[0]
    good = [k for k, c in enumerate(added) if bool(torch.isfinite(c).all())]
    if 0 not in good or len(good) < 2:
        return None
    if not all(near(torch, pairs[k][0].double() + constant, pairs[k][1], pairs[k][0]) for k in good):
        return None
    sharpest = min(good, key=lambda k: float(pairs[k][0].abs().max()))  # the one with the smallest rounding
    return CarryLink("sum", added[sharpest])
