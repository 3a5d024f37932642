"""Nominal time: the seconds that the work of an analysis takes on a reference core, counted instead of measured.

A budget in measured seconds gives one answer on an idle machine and another on a busy one. Here every part of an
analysis charges what its work takes on one core of about 3 GHz, from the tables below, and budgets are compared with
the sum: the same question on the same state gets the same answer everywhere. The count is kept per thread, like
``time.thread_time``.

A question has one :class:`QuestionBudget`, whatever parts its answer has: when it is over, nominal time runs away at
each look, so that every part's own limit is over as well. It is over by counted work, which is the same everywhere, and
at the latest by processor time, for nodes that take longer than they are known to.

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

#: nominal seconds of all parts of an answer together, as a multiple of those of one part; processor seconds, likewise
#: and at least: many times what the counted work takes, so that a slow machine is answered as a fast one is
PARTS, PROCESSOR, LEAST_PROCESSOR = 5.0, 80.0, 20.0
#: nominal seconds by which a look at the time moves on when the budget is over
RUNS_AWAY = 1e6


class _Thread(threading.local):
    """Of one thread: nominal seconds charged, those that a budget has let run away, and the budget of its question."""

    seconds = 0.0
    away = 0.0
    budget: QuestionBudget | None = None


_thread = _Thread()


class QuestionBudget:
    """The work that one question may take, in all of its parts; a context manager, at most one per thread.

    Inside of another one it does nothing: a part of an answer that asks a question of its own has no further time.

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
        """True if neither counted work nor processor time is left."""
        return _thread.seconds - self._begun > self.limit or time.thread_time() - self._clock > self.processor


def counted() -> float:
    """Nominal seconds that this thread has charged, without those that a budget has let run away."""
    return _thread.seconds


def now() -> float:
    """Nominal seconds of all the work that this thread has charged so far; far ahead once the budget is over."""
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
    """Size of a value, as far as its type says."""
    if not kind.is_static or kind.shape is None:
        return UNKNOWN_BYTES
    try:
        return math.prod(d or 1 for d in kind.shape) * np.dtype(numpy_dtype(kind.dtype)).itemsize
    except (TypeError, ValueError, KeyError):  # a sequence, or another thing without a size
        return UNKNOWN_BYTES
