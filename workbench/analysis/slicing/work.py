"""Nominal time: the seconds that the work of an analysis takes on a reference core, counted instead of measured.

A budget in measured seconds gives one answer on an idle machine and another on a busy one. Here every part of an
analysis charges what its work takes on one core of about 3 GHz, from the tables below, and budgets are compared with
the sum: the same question on the same state gets the same answer everywhere. The count is kept per thread, like
``time.thread_time``.

>>> begin = now()
>>> charge(2e-6)
>>> round((now() - begin) * 1e6)
2
"""

from __future__ import annotations

import math
import threading

import numpy as np

from workbench.ir.types import TensorType, numpy_dtype
from workbench.plan import ExecutionPlan

#: how a node is computed (the slug of ``plan.reasons``) -> seconds of one firing, and of each byte of its results
COST = {
    "": (2e-9, 0.0),  # renames, control flow
    "compiled": (4e-9, 0.0),
    "checked": (6e-9, 0.0),
    "numpy-loop": (60e-9, 0.0),
    "compiled-array": (120e-9, 0.15e-9),
    "arrays": (4e-6, 0.4e-9),
    "no-kernel": (4e-6, 0.4e-9),
    "foreign": (15e-6, 1e-9),
}
#: all other ways to compute a node
OTHER = (4e-6, 0.4e-9)
#: bytes that a result of unknown size is taken to have
UNKNOWN_BYTES = 4096
#: one call of the executor; one step whose state is compared and shown to a forecast; one new runner
CALL, STEP, FORK = 3e-6, 40e-6, 120e-6
#: each byte of a state that is compared with many others; one node of a formula, and each of its pieces
STATE_BYTE, FORMULA, PIECE = 3e-9, 10e-6, 30e-9
#: measured seconds after which even a look-ahead of little counted work ends: a node that sleeps, or waits
PATIENCE, LEAST_PATIENCE = 20.0, 2.0

_thread = threading.local()


def now() -> float:
    """Nominal seconds of all the work that this thread has charged so far."""
    return getattr(_thread, "seconds", 0.0)


def charge(seconds: float) -> None:
    """Add work, in nominal seconds."""
    _thread.seconds = now() + seconds


def event_seconds(plan: ExecutionPlan, frame: tuple[str, ...]) -> float:
    """Mean nominal seconds of an event in the loop ``frame`` and in the loops inside it."""
    depth, costs = len(frame), [COST[""][0]]
    for node in plan.layout.nodes:
        if plan.layout.frames[node.frame].path[:depth] != frame:
            continue
        slug = plan.reasons.get(node.name, ("", ""))[0]
        each, of_a_byte = COST.get(slug, OTHER)
        costs.append(each + of_a_byte * sum(map(_bytes, plan.types.get(node.name, ()))) if of_a_byte else each)
    return sum(costs) / len(costs)


def _bytes(kind: TensorType) -> int:
    """Size of a value, as far as its type says."""
    if not kind.is_static or kind.shape is None:
        return UNKNOWN_BYTES
    try:
        return math.prod(d or 1 for d in kind.shape) * np.dtype(numpy_dtype(kind.dtype)).itemsize
    except (TypeError, ValueError, KeyError):  # a sequence, or another thing without a size
        return UNKNOWN_BYTES
