"""Nominal time: the seconds that the work of an analysis takes on a reference core, counted instead of measured.

A budget in measured seconds gives one answer on an idle machine and another on a busy one. Here every part of an
analysis charges the time that its work takes on one core of about 3 GHz, from the tables below, and budgets are
compared with the sum: the same analysis of the same state gives the same answer everywhere. The sum is kept per thread,
like ``time.thread_time``.

A question has one :class:`QuestionBudget` for all parts of its answer: when it is used up, nominal time jumps ahead at
each reading, so that the limit of each part is exceeded as well. It is used up by counted work, which is the same
everywhere, or at the latest by processor time, for nodes that take longer than their tabulated cost.

>>> begin = now()
>>> charge(2e-6)
>>> round((now() - begin) * 1e6)
2
"""

from __future__ import annotations

import math
import threading
import time

import numpy as np

from workbench.ir.types import TensorType, numpy_dtype
from workbench.plan import ExecutionPlan

#: how a node is computed (the slug of ``plan.reasons``) -> seconds per firing, and per byte of its results
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
#: assumed bytes of a result of unknown size
UNKNOWN_BYTES = 4096
#: one call of the executor; one step whose state is compared and passed to a forecast; one new runner
CALL, STEP, FORK = 3e-6, 40e-6, 120e-6
#: each byte of a state that is compared with many others; one node of a formula, and each of its pieces
STATE_BYTE, FORMULA, PIECE = 3e-9, 10e-6, 30e-9
#: measured seconds, as a multiple of the nominal ones and at least, after which a look-ahead ends even with little
#: counted work: a node may sleep or wait
PATIENCE, LEAST_PATIENCE = 20.0, 2.0

#: nominal seconds of all parts of an answer together, as a multiple of those of one part; processor seconds, also as a
#: multiple, and at least: far more than the counted work takes, so that slow machines give the same answers as fast
#: ones
PARTS, PROCESSOR, LEAST_PROCESSOR = 5.0, 80.0, 20.0
#: nominal seconds by which each reading of the time jumps ahead when the budget is used up
RUNS_AWAY = 1e6


class _Thread(threading.local):
    """State of one thread: nominal seconds charged, seconds added by a used-up budget, and the budget in use."""

    seconds = 0.0
    away = 0.0
    budget: QuestionBudget | None = None


_thread = _Thread()


class QuestionBudget:
    """The work that one question may take, in all of its parts; a context manager, at most one per thread.

    Inside another one it does nothing: a part of an answer that contains another question gets no further time.

    Parameters
    ----------
    seconds : float
        Nominal seconds of one part.

    Attributes
    ----------
    spent : float
        Nominal seconds charged since it began.
    """

    def __init__(self, seconds: float) -> None:
        self.limit = PARTS * max(seconds, 0.05)
        self.processor = max(PROCESSOR * seconds, LEAST_PROCESSOR)
        self._outer = False

    def __enter__(self) -> QuestionBudget:
        self._outer = _thread.budget is not None
        if not self._outer:
            self._begun, self._clock = counted(), time.thread_time()
            _thread.budget = self
        return self

    def __exit__(self, *error: object) -> None:
        if not self._outer:
            _thread.budget = None

    @property
    def spent(self) -> float:
        return counted() - self._begun

    @property
    def over(self) -> bool:
        """True if the counted work or the processor time is used up."""
        return _thread.seconds - self._begun > self.limit or time.thread_time() - self._clock > self.processor


def counted() -> float:
    """Nominal seconds that this thread has charged, without those added by a used-up budget."""
    return _thread.seconds


def now() -> float:
    """Nominal seconds of all work that this thread has charged so far; far ahead once the budget is used up."""
    budget = _thread.budget
    if budget is not None and budget.over:
        _thread.away += RUNS_AWAY
    return _thread.seconds + _thread.away


def charge(seconds: float) -> None:
    """Add work, in nominal seconds."""
    _thread.seconds += seconds


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
    """The bytes of a value by its type; ``UNKNOWN_BYTES`` if the type does not determine them."""
    if not kind.is_static or kind.shape is None:
        return UNKNOWN_BYTES
    try:
        return math.prod(d or 1 for d in kind.shape) * np.dtype(numpy_dtype(kind.dtype)).itemsize
    except (TypeError, ValueError, KeyError):  # a sequence or another value without a fixed size
        return UNKNOWN_BYTES
