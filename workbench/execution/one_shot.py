"""Runs without a session: the plan for some feeds, and a run to the end in the calling thread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from workbench.device import Device, checked_device
from workbench.errors import ExecutionError
from workbench.execution.feeds import prepare_feeds
from workbench.execution.memory_budget import NEWEST_ARRAYS, NEWEST_ROWS
from workbench.execution.run import Run
from workbench.ir.graph import Graph
from workbench.ir.types import TensorType
from workbench.plan import PLANS, ExecutionPlan, choose_outputs, signature_of


def plan_for(
    graph: Graph,
    arrays: Mapping[str, np.ndarray],
    outputs: Sequence[str] | None,
    statistics: bool = False,
    lean: bool = False,
    device: Device | None = None,
) -> ExecutionPlan:
    """Return the plan for some feeds, from the plan cache if it is there.

    Parameters
    ----------
    graph : Graph
        The graph.
    arrays : mapping of str to array
        The feeds; only their dtypes and shapes matter.
    outputs : sequence of str or None
        The outputs to compute; None for those of the graph.
    statistics : bool, default False
        Whether statistics of arrays are computed with the arrays.
    lean : bool, default False
        Whether values are freed after their last use.
    device : Device, optional
        Where large arrays are stored; None for the host.

    Returns
    -------
    ExecutionPlan
    """
    kinds = tuple([(n, a.dtype, a.shape) if type(a) is np.ndarray else None for n, a in arrays.items()])
    names = None if outputs is None else (outputs,) if isinstance(outputs, str) else tuple(outputs)
    seen = None if None in kinds else (kinds, names, statistics, lean, device)
    plan = None if seen is None else PLANS.again(graph, seen)
    if plan is not None:
        return plan
    signature = signature_of(graph, {n: TensorType.of(a) for n, a in arrays.items()})
    return PLANS.get(graph, choose_outputs(graph, outputs), signature, statistics, lean, device, seen)


def run_graph(graph: Graph, feeds: Mapping[str, Any], device: str | Device | None = None) -> dict[str, np.ndarray]:
    """Run a graph to its end in this thread, without a trace.

    Parameters
    ----------
    graph : Graph
        The graph.
    feeds : mapping of str to array
        Values of the inputs by name.
    device : str or Device, optional
        Where large arrays are stored during the run, such as "cuda"; None for the host.

    Returns
    -------
    dict of str to array
        The outputs by name, as NumPy arrays on the host.

    Raises
    ------
    ExecutionError
        If a node fails.
    """
    place = checked_device(device)
    arrays = prepare_feeds(graph, feeds, copy=False)
    plan = plan_for(graph, arrays, None, lean=True, device=place)
    found = None if plan.straight is None else plan.straight(arrays)
    if found is not None:
        return found
    arrays = prepare_feeds(graph, arrays)
    try:
        return _outputs(plan, arrays, regions=bool(plan.regions))
    except ExecutionError:
        if not plan.regions:
            raise
    return _outputs(plan, arrays, regions=False)  # raises the error of the node, with all its operands


def _outputs(plan: ExecutionPlan, arrays: Mapping[str, np.ndarray], regions: bool) -> dict[str, np.ndarray]:
    run = Run(plan, arrays, NEWEST_ROWS, NEWEST_ARRAYS, back=False)
    run.machine.regions = regions
    while run.go() != "halt":
        pass  # between two slices, Python handles signals
    return run.outputs()
