"""The chance that an irregular motion crosses a threshold: from the edge of its support, not from its tail.

The number N(y) of values of a chaotic motion within the distance y of the threshold grows like (y - e)^a above the edge
e of the support. The edge follows from the order statistics of index k, 2k and 4k by extrapolation as for a geometric
sequence (A. C. Aitken, 1926), with a relative error of 1 / sqrt(k) (P. Hall, "On estimating the endpoint of a
distribution", Annals of Statistics 10, 1982). Unless the edge is certainly short of the threshold, the motion may cross
it: then the answer is a chance per iteration instead of "never".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.analysis.series.value_series import changes

#: minimum distance from the edge to the threshold, in standard errors of the edge
ERRORS = 4.0
#: minimum shares of distinct values, and of turning points, in an irregular record
DIFFERENT, TURNS = 0.5, 0.1
#: slugs of a "never" for a motion that follows no law
IRREGULAR = frozenset(("cycle", "chaotic", "swings", "noise-floor", "floor"))


def may_meet(lhs: Sequence[Any], op: str, rhs: Sequence[Any], fewest: int) -> tuple[float | None] | None:
    """A tuple of the chance per iteration (None: unknown) that two sides meet; None instead of the tuple if they
    cannot, or for few values.
    """
    if len(lhs) < fewest or op in ("==", "!="):
        return None
    try:
        left, right = (np.array([float(v) for v in side]) for side in (lhs, rhs))
    except (TypeError, ValueError, OverflowError):
        return None
    gaps = np.abs(left - right)
    n = len(gaps)
    if not np.isfinite(gaps).all() or len(np.unique(gaps)) < DIFFERENT * n:
        return None
    if changes(gaps[1:] > gaps[:-1]) < TURNS * n:
        return None
    near, (edge, error), k = np.sort(gaps), _edge(np.sort(gaps)), math.isqrt(n)
    if edge > ERRORS * error:
        return None
    threshold = right[0] if op in (">", ">=") else left[0]
    if np.ptp(right if op in (">", ">=") else left) == 0 and 0 < threshold and near[0] + threshold > 0:
        # a residual is never negative: the share of values below the threshold follows from those below the k-th
        # smallest
        return (float(k / n * min(threshold / (near[k - 1] + threshold), 1.0)),)
    return (None,)


def together(found: Sequence[tuple[float | None] | None], logic: str) -> tuple[float | None] | None:
    """Combine the answers of :func:`may_meet` for the clauses of a condition: with "or" all of them must be
    undecided. The chance is known only for a clause that ends the loop when it becomes false.
    """
    open_ = [f for f in found if f is not None]
    if not open_ or logic == "or" and len(open_) < len(found):
        return None
    known = [p for (p,) in open_ if p is not None]
    return (max(known) if known and logic in ("single", "and") else None,)


def in_words(chance: float | None) -> str:
    """The sentence about a motion that may cross its threshold."""
    sentence = "The two sides of the clause move irregularly, and nothing keeps them from meeting."
    return f"{sentence} About one iteration in {round(1 / chance):,} ends the loop." if chance else sentence


def _edge(near: np.ndarray) -> tuple[float, float]:
    """(the edge of the support, its error) from sorted values."""
    k = math.isqrt(len(near))
    a, b, c = (float(near[j * k - 1]) for j in (1, 2, 4))
    bend = (c - b) - (b - a)
    edge = a - (b - a) ** 2 / bend if bend > 0 else float(near[0])
    edge = min(edge, float(near[0]))
    return edge, (a - edge) / math.sqrt(k)
