"""The spectral norm of the update: the largest factor by which one loop can enlarge a small change of the state."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from typing import Any, NamedTuple

#: maximum rounds of the power iteration, and the relative change at which it ends
ROUNDS, SETTLED = 100, 1e-4


class SpectralNorm(NamedTuple):
    """``value`` is a lower bound of the largest singular value from power iteration; ``change`` is its relative change
    in the last round, and ``settled`` says whether that was small enough.
    """

    value: float
    change: float
    rounds: int

    @property
    def settled(self) -> bool:
        return self.change <= SETTLED


def spectral_norm(torch: Any, update: Callable[[Any], Any], state: Any, rounds: int = ROUNDS) -> SpectralNorm:
    """The largest singular value of the Jacobian J of ``update`` at ``state``, by power iteration.

    A round costs two backward passes of one loop: J v is the derivative by u of the product of v and J transposed times
    u. The length of J v for a unit vector v never exceeds the spectral norm, so the result is a lower bound; it is
    close if the largest singular value is separated from the others.
    """
    kernels = importlib.import_module("torch.nn.attention")
    generator = torch.Generator(device="cpu").manual_seed(0)
    v = torch.randn(state.shape, generator=generator, dtype=torch.float64).to(state)
    v = v / v.norm()
    before, change, made = 0.0, float("inf"), 0
    # the other attention kernels have no second derivatives
    with torch.enable_grad(), kernels.sdpa_kernel(kernels.SDPBackend.MATH):
        at = state.detach().clone().requires_grad_()
        u = torch.zeros_like(at).requires_grad_()
        after = update(at)
        (pulled,) = torch.autograd.grad(after, at, u, create_graph=True)
        for made in range(1, rounds + 1):  # noqa: B007 - of the last round, too
            (pushed,) = torch.autograd.grad(pulled, u, v, retain_graph=True)
            now = float(pushed.double().norm())
            change = abs(now - before) / now if now else 0.0
            before = now
            if not now or change <= SETTLED:
                break
            (v,) = torch.autograd.grad(after, at, pushed, retain_graph=True)
            size = float(v.norm())
            if not size or not math.isfinite(size):
                break
            v = v / size
    return SpectralNorm(before, change, made)
