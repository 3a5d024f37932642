"""Threads that look at runs, and what they wait with: a signal handler may come between any two steps of its thread.

A handler that waits for a thread which waits for the one that the handler has interrupted waits for ever. Three rules
exclude that; ``tests/session/lock_protocol.py`` goes through every order of their steps:

* A :class:`Lock` is held for a few steps, in which its thread waits for nothing but other locks of a fixed order. It is
  reentrant: the same steps may come again, in a handler, between any two of them.
* Who is about to wait for another thread asks :func:`holds_a_lock` first, and does not wait where it does: only a
  handler can come to that.
* Waiting itself holds no lock (:class:`Waiters`, :class:`Event`); ``threading.Event`` and ``threading.Condition`` do.

No thread is left at the end of the process: one that is in compiled code while the interpreter goes away would take the
process down with it ("terminate called without an active exception").
"""

from __future__ import annotations

import _thread
import atexit
import os
import threading
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:

    class ReentrantLock:  # it is final in typeshed, and can be inherited from all the same
        def acquire(self, blocking: bool = True, timeout: float = -1) -> bool: ...
        def release(self) -> None: ...
        def __enter__(self) -> bool: ...
        def __exit__(self, *_: object) -> None: ...
        def _is_owned(self) -> bool: ...
else:
    ReentrantLock = _thread.RLock

#: methods that end threads and join them, of views that are still there
_ENDS: set[weakref.WeakMethod[Callable[[], None]]] = set()
#: all locks of the class ``Lock``
_LOCKS: set[weakref.ref[Lock]] = set()
#: the lock of Python that a thread needs to begin and to end
_STARTING: Any = threading._active_limbo_lock  # type: ignore[attr-defined]


class OwnedLock(ReentrantLock):
    """A reentrant lock that tells its owner. Taking it and noting the owner are one step, and so is letting go."""

    @property
    def is_mine(self) -> bool:
        """True on the thread that holds the lock."""
        return self._is_owned()  # threading.Condition asks so, too


class Lock(OwnedLock):
    """The lock around a few steps that wait for no other thread; see the rules above."""

    def __init__(self) -> None:
        _LOCKS.add(weakref.ref(self, _LOCKS.discard))


def holds_a_lock() -> bool:
    """True if this thread holds a :class:`Lock`: waiting for another thread, which may want it, could last for ever."""
    locks = (reference() for reference in _LOCKS.copy())
    return _STARTING._is_owned() or any(lock is not None and lock.is_mine for lock in locks)


class Waiters:
    """The threads that wait for a change, each with a lock of its own, which only the one that wakes it lets go."""

    def __init__(self) -> None:
        self._waiting: list[_thread.LockType] = []

    def wake(self) -> None:
        """Wake all of them up. Never waits."""
        while self._waiting:
            with suppress(IndexError):
                self._waiting.pop().release()

    def wait(self, done: Callable[[], bool], timeout: float | None = None) -> bool:
        """Wait for the next change, at most ``timeout`` seconds, unless it is ``done`` already; returns ``done()``."""
        mine = _thread.allocate_lock()
        mine.acquire()
        try:
            self._waiting.append(mine)
            if not done():  # asked after this thread is on the list: a change before that is seen, a later one wakes it
                mine.acquire(timeout=-1 if timeout is None else max(0.0, timeout))
        finally:
            with suppress(ValueError):
                self._waiting.remove(mine)
        return done()


class Event:
    """A flag to wait for, as ``threading.Event``; it can also be set by a signal handler of a thread that waits."""

    def __init__(self) -> None:
        self._flag = False
        self._waiters = Waiters()

    def is_set(self) -> bool:
        """Return the flag."""
        return self._flag

    def set(self) -> None:
        """Set the flag, and wake all up that wait for it."""
        self._flag = True
        self._waiters.wake()

    def clear(self) -> None:
        """Take the flag back."""
        self._flag = False

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the flag is set, at most ``timeout`` seconds; returns the flag."""
        limit = None if timeout is None else time.monotonic() + timeout
        while not self._flag:
            rest = None if limit is None else limit - time.monotonic()
            if rest is not None and rest <= 0:
                break
            self._waiters.wait(self.is_set, rest)
        return self._flag


def ended_at_exit(end: Callable[[], None]) -> None:
    """Call the method ``end``, which ends a thread and joins it, before the interpreter goes away."""
    _ENDS.add(weakref.WeakMethod(end, _ENDS.discard))


@atexit.register
def _end_all() -> None:
    for reference in list(_ENDS):
        end = reference()
        if end is not None:
            end()


os.register_at_fork(after_in_child=_ENDS.clear)  # a child has none of these threads, and locks that nobody releases


def started(work: Callable[[], object], name: str) -> threading.Thread | None:
    """A daemon thread that does ``work``; None where the system gives no thread (limits of the process or the user, no
    memory for its stack, the end of the interpreter)."""
    thread = threading.Thread(target=work, name=name, daemon=True)
    try:
        thread.start()
    except (RuntimeError, MemoryError):
        return None
    return thread
