"""Estimates the chance that an irregular motion in a look-ahead crosses a threshold, from the edge of its support."""

from __future__ import annotations

from typing import Any

from workbench.analysis.forecast.edge_of_support import may_meet, together
from workbench.analysis.proof.lookahead_search import Search
from workbench.analysis.slicing import work
from workbench.analysis.slicing.protocol import SliceFailed, SliceTimeout

#: maximum and minimum number of values that are used
VALUES, FEWEST = 4096, 512


def may_cross(search: Search, logic: str) -> tuple[float | None] | None:
    """None unless the operands of the clauses may meet; else a tuple of the chance per iteration, or of None if it is
    unknown.
    """
    rows = _values(search)
    found = [may_meet([v[0] for v in side], side[0][1], [v[2] for v in side], FEWEST) for side in rows]
    return together(found, logic)


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
