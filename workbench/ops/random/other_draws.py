"""Draws that a run could have made but does not make: random numbers of the same distributions from other streams.

A firing's random numbers are fixed by its seeds, its node and its iteration. Within ``other_draws(k)`` they are fixed
by the number ``k`` as well, so that a simulation with k = 1, 2, 3, ... shows what else could happen, and shows the same
again.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

_thread = threading.local()


def variant() -> int:
    """The number of this thread's other draws; 0 where it makes those of the run."""
    return getattr(_thread, "variant", 0)


@contextmanager
def other_draws(number: int) -> Iterator[None]:
    """Let the random ops that are computed on this thread inside of the block draw other numbers.

    Parameters
    ----------
    number : int
        From 1 up; each gives other numbers, and always the same.
    """
    before, _thread.variant = variant(), number
    try:
        yield
    finally:
        _thread.variant = before
