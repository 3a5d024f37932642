"""Loops with different trip counts in the two runs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workbench.analysis.diff.side import Path, Side
from workbench.text import harmless


@dataclass(frozen=True)
class Length:
    """A loop whose activation at ``around`` (iterations of the outer loops) has ``a`` iterations in one run and ``b``
    in the other; the last iteration is the one in which the condition was false. ``count`` activations of this loop
    differ, of which this is the first.
    """

    frame: tuple[str, ...]
    around: Path
    a: int
    b: int
    count: int = 1

    @harmless
    def __str__(self) -> str:
        where = ", ".join(f"{f} {i}" for f, i in zip(self.frame, self.around, strict=False))
        more = f" ({self.count} of its activations differ)" if self.count > 1 else ""
        return f"{self.frame[-1]}{f' in {where}' if where else ''}: {self.a} iterations in a, {self.b} in b{more}"


def lengths(a: Side, b: Side, frames: dict[tuple[str, ...], tuple[str, ...]]) -> tuple[Length, ...]:
    """For each pair of frames, the first activation with different lengths."""
    found = []
    for mine, theirs in frames.items():
        one, other = a.trips(mine), b.trips(theirs)
        if one is None or other is None or len(one[1]) == 0 or len(other[1]) == 0:
            continue
        both = _common(one[0], other[0])
        if both is None:
            continue
        at_a, at_b = both
        x, y = one[1][at_a], other[1][at_b]
        unlike = x != y
        if a.unfinished(mine):  # the last activation is unfinished: it has at least so many iterations
            unlike &= ~((at_a == len(one[1]) - 1) & (x < y))
        if b.unfinished(theirs):
            unlike &= ~((at_b == len(other[1]) - 1) & (y < x))
        unequal = np.flatnonzero(unlike)
        if len(unequal):
            k = int(unequal[0])
            around = tuple(one[0][at_a[k]].tolist())
            found.append(Length(mine, around, int(one[1][at_a[k]]), int(other[1][at_b[k]]), len(unequal)))
    return tuple(found)


def _common(one: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    if one.shape[1] != other.shape[1]:
        return None
    n = min(len(one), len(other))
    if np.array_equal(one[:n], other[:n]):
        return np.arange(n), np.arange(n)
    theirs = {tuple(p): k for k, p in enumerate(other.tolist())}
    pairs = [(k, theirs[tuple(p)]) for k, p in enumerate(one.tolist()) if tuple(p) in theirs]
    if not pairs:
        return None
    left, right = zip(*pairs, strict=True)
    return np.array(left), np.array(right)
