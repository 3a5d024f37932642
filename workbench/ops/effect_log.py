"""Effects that happen once for each firing of a run: a replay finds the results of the first time.

A callback to Python prints, counts or asks; going back and forth in a run must not do that again. A run notes what each
firing of such a node was given and gave. The same firing with the same inputs gives the same results without another
call; with other inputs, after an edit, it is a new step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

#: (node, iteration path) -> what the firing was given, as bytes, and what it gave
EffectLog = dict[tuple[str, tuple[int, ...]], tuple[tuple[Any, ...], tuple[Any, ...]]]
_LOG: ContextVar[EffectLog | None] = ContextVar("effect_log", default=None)


@contextmanager
def noted_in(log: EffectLog) -> Iterator[None]:
    """Inside of this block firings are looked up in ``log`` and noted there."""
    token = _LOG.set(log)
    try:
        yield
    finally:
        _LOG.reset(token)


def once(
    node: str, path: tuple[int, ...], arrays: Sequence[Any], evaluate: Callable[[], Sequence[Any]]
) -> Sequence[Any]:
    """The results of a firing: those noted before, or those of a call."""
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
