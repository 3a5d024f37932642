"""Decides whether a node introduces an error or passes one on, by whether its inputs agree when its output differs."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from workbench.analysis.diff.compare_values import Row
from workbench.analysis.diff.measure import measure
from workbench.analysis.diff.side import Path
from workbench.analysis.diff.tolerance import Tolerance
from workbench.analysis.diff.trace_side import HANDS_ON
from workbench.errors import WorkbenchError
from workbench.ir.node import Ref
from workbench.trace import Trace
from workbench.trace.provenance import sources_of

#: maximum number of values visited on the way up from one node
_LOOKED = 256
#: b's value for a reference and iteration of a; raises WorkbenchError if there is none
Other = Callable[[Ref, Path], Any]


def introduces(row: Row, trace: Trace, other: Other, tolerance: Tolerance) -> bool | None:
    """True if all values from which the firing was computed agree (inputs and constants have none); None if none of
    them can be compared.

    Inputs that the other side has not recorded are replaced by the values from which they were computed.
    """
    if not isinstance(row.key, Ref):
        return None
    if row.op in HANDS_ON:
        return False
    start = (row.key, row.iteration)
    if not trace.graph.nodes[row.key.node].inputs:
        return True
    waiting, seen, compared = deque(sources_there(trace, *start)), {start}, 0
    while waiting and len(seen) < _LOOKED:
        key = waiting.popleft()
        if key in seen:
            continue
        seen.add(key)
        ref, path = key
        try:
            mine, theirs = value_at(trace, ref, path), other(ref, path)
        except (WorkbenchError, IndexError):
            waiting.extend(sources_there(trace, ref, path))
            continue
        compared += 1
        if measure(_block(mine), _block(theirs), tolerance).differs[0]:
            return False
    return True if compared else None


def sources_there(trace: Trace, ref: Ref, path: Path) -> list[tuple[Ref, Path]]:
    """The firings from which a firing was computed, as far as they are recorded."""
    try:
        return sources_of(trace, ref, path)
    except WorkbenchError:
        return []


def value_at(trace: Trace, ref: Ref, path: Path) -> Any:
    """The value of a firing; raises WorkbenchError or IndexError if it is not recorded."""
    return trace[ref].at(path) if path else trace[ref][-1]


def _block(value: Any) -> Any:
    return np.asarray(value)[None] if isinstance(value, np.ndarray | np.generic) else [value]
