"""A graph compared with itself in another precision: the distance between the two runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from workbench.analysis.diff.dtypes import FLOATS, in_dtype
from workbench.analysis.diff.result import Diff
from workbench.analysis.diff.run_diff import diff
from workbench.execution import Run, prepare_feeds
from workbench.execution.one_shot import plan_for
from workbench.ir.graph import Graph
from workbench.ir.types import numpy_dtype
from workbench.trace import Trace

#: maximum bytes of each of the two records
MEMORY = 1 << 30
#: maximum number of node executions of each run
MAX_EVENTS = 10_000_000


def diff_dtypes(
    graph: Graph,
    inputs: Mapping[str, Any] | None = None,
    dtype: str = "float32",
    *,
    memory: int = MEMORY,
    max_events: int = MAX_EVENTS,
    **tolerance: Any,
) -> Diff:
    """Run a graph unchanged and in another precision, and compare the two runs.

    The distances show the cost of the precision, value by value; with ``ulp=0`` only values that are not correctly
    rounded differ. Loops that end by a tolerance may take another number of iterations, or never end; therefore each
    run has a limit.

    Parameters
    ----------
    graph : Graph
        The graph.
    inputs : mapping, optional
        Values of its inputs by name.
    dtype : str, default "float32"
        The other precision; see :func:`in_dtype`.
    memory : int, default 1 GiB
        Limit of each of the two records in bytes.
    max_events : int, default 10,000,000
        Maximum number of node executions of each run; a note says if it was reached.
    **tolerance
        ``rtol``, ``atol`` and ``ulp`` of :func:`diff`.

    Returns
    -------
    Diff

    Raises
    ------
    WorkbenchError
        As for :func:`in_dtype` and :func:`diff`.
    FeedError
        For inputs that do not fit.

    Examples
    --------
    >>> found = wb.diff_dtypes(graph, {"a": 2.0}, "float32", rtol=1e-6, max_events=10_000)
    >>> found.a, found.b, found.equal
    ('as it is', 'float32', False)
    """
    other = in_dtype(graph, dtype)
    feeds = prepare_feeds(graph, inputs or {})
    narrow = {k: v.astype(numpy_dtype(dtype)) if _is_float(v) else v for k, v in feeds.items()}
    labels = ("as it is", dtype)
    traces = [_traced(g, f, memory, max_events) for g, f in ((graph, feeds), (other, narrow))]
    return diff(*traces, labels=labels, **tolerance)


def _traced(graph: Graph, feeds: Mapping[str, Any], memory: int, max_events: int) -> Trace:
    run = Run(plan_for(graph, dict(feeds), None), dict(feeds), memory)
    while run.event < max_events and run.go(max_events, exact=True) != "halt":
        pass
    return run.trace


def _is_float(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.name in FLOATS
