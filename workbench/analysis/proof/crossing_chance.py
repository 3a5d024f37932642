"""The chance that an irregular motion crosses a threshold: from the edge of its support, not from its tail.

The nearest of many values of a chaotic motion are counted: N(y) grows like (y - e)^a from the edge e of the support on.
The edge follows from three order statistics at ratios of two, as for any geometric sequence (A. C. Aitken, 1926), with
an error of one part in the root of their number (P. Hall, "On estimating the endpoint of a distribution", Annals of
Statistics 10, 1982). Where the edge is not certainly in front of the threshold, the motion may cross it: then there is
a chance per iteration, and no "never".
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from workbench.analysis.proof.lookahead_search import Search
from workbench.analysis.series.value_series import changes
from workbench.analysis.slicing import work
from workbench.analysis.slicing.protocol import SliceFailed, SliceTimeout

#: values that are looked at, the fewest that say anything, and errors of the edge that must fit in front of it
VALUES, FEWEST, ERRORS = 4096, 512, 4.0
#: different values, and turns, as a share of all, of what is irregular
DIFFERENT, TURNS = 0.5, 0.1


def may_cross(search: Search, logic: str) -> tuple[float | None] | None:
    """None where the clauses do not come to an open edge; else the chance per iteration, where it is known."""
    rows = _values(search)
    found = [_clause(side) for side in rows]
    open_ = [f for f in found if f is not None]
    if not open_ or logic == "or" and len(open_) < len(found):
        return None
    known = [p for (p,) in open_ if p is not None]
    return (max(known) if known and logic != "or" else None,)


def _values(search: Search) -> list[list[tuple[Any, str, Any]]]:
    scout = search.ahead.fork()
    rows: list[list[tuple[Any, str, Any]]] = []
    try:
        while len(rows) < VALUES and scout.cond():
            work.charge(work.STEP / 2)
            rows.append(scout.clause_values())
            if scout.advance(1) != 1:
                break
    except (SliceFailed, SliceTimeout):
        return []
    return [list(column) for column in zip(*rows, strict=True)] if rows else []


def _clause(values: list[tuple[Any, str, Any]]) -> tuple[float | None] | None:
    """The chance (None: not known) of a clause whose operands may meet; None for others."""
    if len(values) < FEWEST or values[0][1] in ("==", "!="):
        return None
    try:
        left, right = (np.array([float(v[k]) for v in values]) for k in (0, 2))
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
    threshold = right[0] if values[0][1] in (">", ">=") else left[0]
    if np.ptp(right if values[0][1] in (">", ">=") else left) == 0 and 0 < threshold and near[0] + threshold > 0:
        # a residual is never negative: of those below the k-th smallest, as many are below the threshold as fit there
        return (float(k / n * min(threshold / (near[k - 1] + threshold), 1.0)),)
    return (None,)


def _edge(near: np.ndarray) -> tuple[float, float]:
    """(the edge of the support, its error) from sorted values."""
    k = math.isqrt(len(near))
    a, b, c = (float(near[j * k - 1]) for j in (1, 2, 4))
    bend = (c - b) - (b - a)
    edge = a - (b - a) ** 2 / bend if bend > 0 else float(near[0])
    edge = min(edge, float(near[0]))
    return edge, (a - edge) / math.sqrt(k)
