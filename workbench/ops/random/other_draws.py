"""Alternative draws of a run: random numbers of the same distributions from other streams.

A firing's random numbers are determined by its seeds, its node and its iteration. Within ``other_draws(k)`` they also
depend on the number ``k``, so that simulations with k = 1, 2, 3, ... show other possible outcomes, reproducibly.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

_thread = threading.local()


def variant() -> int:
    """The number ``k`` of this thread's alternative draws; 0 for the draws of the run."""
    return getattr(_thread, "variant", 0)


@contextmanager
def other_draws(number: int) -> Iterator[None]:
    """Let the random ops that this thread computes inside the block draw other numbers.

    Parameters
    ----------
    number : int
        1 or greater; each value selects other numbers, reproducibly.
    """
    before, _thread.variant = variant(), number
    try:
        yield
    finally:
        _thread.variant = before
