"""The one ledger of this process, its switch and its figures."""

from __future__ import annotations

import os
from types import TracebackType

from workbench.execution.memory.accounts import Memory
from workbench.execution.memory.ledger import Ledger

#: the ledger of this process
LEDGER = Ledger()


class _Switch:
    """What ``collect_unused`` gives: as a context manager it puts the switch back at the end."""

    def __init__(self, ledger: Ledger, before: bool) -> None:
        self._ledger, self._before = ledger, before

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._ledger.collect(self._before)

    def __repr__(self) -> str:
        return f"<collection of unused arrays is {'on' if self._ledger.collecting else 'off'}>"


def collect_unused(on: bool = True) -> _Switch:
    """Switch the collection of unused arrays on or off, for the whole process; it is off at first.

    On, an array is released when no handle on it is left: at the next call of any handle or manager, on that thread.
    What was dropped before is collected too. ``with collect_unused():`` switches it back at the end of the block.

    >>> with wb.collect_unused():
    ...     wb.memory().collecting
    True
    """
    before = LEDGER.collecting
    LEDGER.collect(bool(on))
    return _Switch(LEDGER, before)


def memory() -> Memory:
    """Live bytes and counts of all arrays and of each open manager, the peak, what was made, released, collected."""
    return LEDGER.figures()


# a child process gets the ledger as it is between two changes, with nobody inside
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=LEDGER.lock.acquire, after_in_parent=LEDGER.lock.release, after_in_child=LEDGER.lock.release
    )
