"""Effects that happen once for each firing of a run: a replay uses the results of the first time.

A callback to Python prints, counts or asks the user; stepping back and forth in a run must not repeat this. A run
records the inputs and results of each firing of such a node. The same firing with the same inputs returns the recorded
results without another call; with other inputs, after an edit, it is a new step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

#: (node, iteration path) -> inputs of the firing, as bytes, and its results
EffectLog = dict[tuple[str, tuple[int, ...]], tuple[tuple[Any, ...], tuple[Any, ...]]]
_LOG: ContextVar[EffectLog | None] = ContextVar("effect_log", default=None)


@contextmanager
def noted_in(log: EffectLog) -> Iterator[None]:
    """Inside this block firings are looked up and recorded in ``log``."""
    token = _LOG.set(log)
    try:
        yield
    finally:
        _LOG.reset(token)


def once(
    node: str, path: tuple[int, ...], arrays: Sequence[Any], evaluate: Callable[[], Sequence[Any]]
) -> Sequence[Any]:
    """The results of a firing: the recorded ones, or those of a call."""
    log = _LOG.get()
    if log is None:
        return evaluate()
    given = tuple((a.dtype.str, a.shape, a.tobytes()) if isinstance(a, np.ndarray) else a for a in arrays)
    known = log.get((node, path))
    if known is not None and known[0] == given:
        return [np.array(r) for r in known[1]]
    results = evaluate()
    log[node, path] = given, tuple(np.array(r) for r in results)
    return results
