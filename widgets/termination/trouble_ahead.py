"""The first value of a loop that will be NaN or infinite according to the look-ahead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.widgets.text.labels import short_name
from workbench.widgets.text.numerals import numeral

if TYPE_CHECKING:
    from workbench.ir.graph import Graph

Path = tuple[str, ...]


def trouble_ahead(found: Any, graph: Graph, path: Path, now: float | None = None, loop: str = "") -> str:
    """``loss will be NaN in iteration 2`` for the first variable of a loop to become so; "" if there is none.

    ``found`` is the :class:`workbench.analysis.termination.look_ahead.LookAhead`, or None; ``now`` the computed
    iteration, which is reported as recorded; ``loop`` the loop's name, if the graph has others. A variable that is
    infinite already is left out: a search for a minimum begins with an infinity.
    """
    first: tuple[int, str, Any] | None = None
    for variable in graph.frames[path].variables if found is not None else ():
        column = found.of(f"{variable.merge}:0")
        if column is None or column[1].dtype.kind not in "fc" or not len(column[1]):
            continue
        values = column[1].reshape(len(column[1]), -1)
        bad = ~np.isfinite(values) if np.isfinite(values[0]).all() else np.isnan(values)
        later = np.ones(len(bad), bool) if now is None else found.iterations > now
        at = np.flatnonzero(bad.any(axis=1) & later)
        if len(at) and (first is None or at[0] < first[0]):
            first = int(at[0]), variable.name, values[at[0]]
    if first is None:
        return ""
    row, name, value = first
    iterations = found.iterations
    # of many iterations not all are kept: then only a bound on the iteration is known
    exact = row == 0 or iterations[row] - iterations[row - 1] == 1
    word = "NaN" if np.isnan(value).any() else "infinite"
    where = f"{'in' if exact else 'by'} iteration {numeral(int(iterations[row]))}"
    return f"{short_name(name)} will be {word} {where}" + (f" of {loop}" if loop else "")
