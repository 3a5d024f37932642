"""Work that a call does, in numbers that are the same on every machine: no test is bounded by a clock."""

from __future__ import annotations

import sys
from collections.abc import Callable


class Work:
    """Counts the calls of functions on this thread, in Python and compiled ones, inside of its block."""

    calls = 0

    def __enter__(self) -> Work:
        self._before = sys.getprofile()
        sys.setprofile(self._count)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(self._before)
        self.calls -= 1  # this one

    def _count(self, _frame: object, event: str, _argument: object) -> None:
        self.calls += event in ("call", "c_call")


def work_of(call: Callable[[], object]) -> int:
    """The calls of functions that a call makes."""
    with Work() as work:
        call()
    return work.calls
