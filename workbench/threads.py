"""Threads that watch runs and the objects they wait with; a signal handler may run between any two steps of a thread.

A signal handler deadlocks if it waits for a thread that waits for the thread which the handler has interrupted. Three
rules exclude this; ``tests/session/lock_protocol.py`` checks every order of their steps:

* A :class:`Lock` is held for a few steps, in which its thread waits for nothing except other locks in a fixed order. It
  is reentrant, because a handler may execute the same steps between any two of them.
* A thread that is about to wait for another thread calls :func:`holds_a_lock` first, and does not wait if the result is
  True, which happens only in a handler.
* Waiting holds no lock (:class:`Waiters`, :class:`Event`), unlike ``threading.Event`` and ``threading.Condition``.

No thread is left at the end of the process: a thread in compiled code while the interpreter is finalised would crash
the process ("terminate called without an active exception").
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

    class ReentrantLock:  # it is final in typeshed, but can be subclassed
        def acquire(self, blocking: bool = True, timeout: float = -1) -> bool: ...
        def release(self) -> None: ...
        def __enter__(self) -> bool: ...
        def __exit__(self, *_: object) -> None: ...
        def _is_owned(self) -> bool: ...
else:
    ReentrantLock = _thread.RLock

#: methods, of objects that still exist, that end threads and join them
_ENDS: set[weakref.WeakMethod[Callable[[], None]]] = set()
#: all instances of ``Lock``
_LOCKS: set[weakref.ref[Lock]] = set()
#: Python's lock that a thread takes when it starts and ends
_STARTING: Any = threading._active_limbo_lock  # type: ignore[attr-defined]


class OwnedLock(ReentrantLock):
    """A reentrant lock that knows its owner. Acquiring it and recording the owner are a single step, and so is
    releasing it."""

    @property
    def is_mine(self) -> bool:
        """True on the thread that holds the lock."""
        return self._is_owned()  # threading.Condition calls this method too


class Lock(OwnedLock):
    """A lock for a few steps that wait for no other thread; see the rules above."""

    def __init__(self) -> None:
        _LOCKS.add(weakref.ref(self, _LOCKS.discard))


def holds_a_lock() -> bool:
    """True if this thread holds a :class:`Lock`: waiting for another thread, which may need the lock, could last for
    ever."""
    locks = (reference() for reference in _LOCKS.copy())
    return _STARTING._is_owned() or any(lock is not None and lock.is_mine for lock in locks)


class Waiters:
    """The threads that wait for a change, each with a separate lock, which only the waking thread releases."""

    def __init__(self) -> None:
        self._waiting: list[_thread.LockType] = []

    def wake(self) -> None:
        """Wake all of them. Never waits."""
        while self._waiting:
            with suppress(IndexError):
                self._waiting.pop().release()

    def wait(self, done: Callable[[], bool], timeout: float | None = None) -> bool:
        """Wait at most ``timeout`` seconds for the next change, unless ``done()`` is already True; returns
        ``done()``."""
        mine = _thread.allocate_lock()
        mine.acquire()
        try:
            self._waiting.append(mine)
            # checked once this thread is in the list: an earlier change is seen here, a later one wakes the thread
            if not done():
                mine.acquire(timeout=-1 if timeout is None else max(0.0, timeout))
        finally:
            with suppress(ValueError):
                self._waiting.remove(mine)
        return done()


class Event:
    """A flag to wait for, like ``threading.Event``; a signal handler of a waiting thread can also set it."""

    def __init__(self) -> None:
        self._flag = False
        self._waiters = Waiters()

    def is_set(self) -> bool:
        """Return the flag."""
        return self._flag

    def set(self) -> None:
        """Set the flag, and wake all threads that wait for it."""
        self._flag = True
        self._waiters.wake()

    def clear(self) -> None:
        """Reset the flag."""
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
    """Call the method ``end``, which ends a thread and joins it, before the interpreter exits."""
    _ENDS.add(weakref.WeakMethod(end, _ENDS.discard))


@atexit.register
def _end_all() -> None:
    for reference in list(_ENDS):
        end = reference()
        if end is not None:
            end()


# a child has none of these threads, and their locks would never be released
os.register_at_fork(after_in_child=_ENDS.clear)


def started(work: Callable[[], object], name: str) -> threading.Thread | None:
    """A daemon thread that executes ``work``; None if the system refuses a thread (limits of the process or the user,
    no memory for its stack, end of the interpreter)."""
    thread = threading.Thread(target=work, name=name, daemon=True)
    try:
        thread.start()
    except (RuntimeError, MemoryError):
        return None
    return thread
