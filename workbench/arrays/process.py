"""The ledger of this process, the switch of collection, and the memory figures."""

from __future__ import annotations

import os
from types import TracebackType

from workbench.arrays.accounts import Memory
from workbench.arrays.ledger import Ledger
from workbench.text import harmless

#: the ledger of this process
LEDGER = Ledger()


class _Switch:
    """The result of ``collect_unused``: as a context manager it restores the switch at the end."""

    def __init__(self, ledger: Ledger, before: bool) -> None:
        self._ledger, self._before = ledger, before

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._ledger.collect(self._before)

    @harmless
    def __repr__(self) -> str:
        return f"<collection of unused arrays is {'on' if self._ledger.collecting else 'off'}>"


def collect_unused(on: bool = True) -> _Switch:
    """Switch the collection of unused arrays on or off for the whole process; it is initially off.

    While it is on, an array without handles is released at the next call of any handle or manager, on the thread of
    that call. Arrays that became unused before are collected, too.

    Parameters
    ----------
    on : bool, default True
        The new state.

    Returns
    -------
    context manager
        ``with wb.collect_unused():`` restores the former state at the end of the block; otherwise it need not be used.

    Examples
    --------
    >>> with wb.collect_unused():
    ...     wb.memory().collecting
    True
    """
    before = LEDGER.collecting
    LEDGER.collect(bool(on))
    return _Switch(LEDGER, before)


def memory() -> Memory:
    """Return live bytes and counts of all arrays of the process, and of each open manager.

    Returns
    -------
    Memory
        ``live``, ``bytes``, ``peak``, ``unused``, ``made``, ``released``, ``collected`` and the figures of
        ``managers``. ``print`` it.

    Examples
    --------
    >>> with wb.ArrayManager("figures") as manager:
    ...     x = manager.zeros((1000,))
    ...     [(m.live, m.bytes) for m in wb.memory().managers if m.name == "figures"]
    [(1, 8000)]
    """
    return LEDGER.figures()


# a child process receives the ledger between two changes, with its lock free
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=LEDGER.lock.acquire, after_in_parent=LEDGER.lock.release, after_in_child=LEDGER.lock.release
    )
