"""State of the ledger, and the accounting of each change.

Constant state: the lock, the queue, the two owners without a manager. State that changes under the lock: ``_live``
(number -> buffer), ``_unused`` (numbers of live arrays without a handle), ``collecting``, the accounts.

The lock is reentrant: the garbage collector can run a user's destructor at almost any line, and that may use handles.
So each change first removes the state on which it depends (a buffer's owner, its entry in ``_live``) in one step, and a
nested change then finds it removed. Arrays are deleted outside the lock.
"""

from __future__ import annotations

import itertools
import threading
import weakref
from collections import deque
from typing import Any

import numpy as np

from workbench.arrays.accounts import Account, EventLog, Memory, figures_of
from workbench.arrays.buffers import ArrayInfo, Buffer, Origin, TokenReference, Tombstone
from workbench.arrays.scopes import Scope
from workbench.threads import Lock


class LedgerState:
    """State and figures of a ledger."""

    def __init__(self) -> None:
        self.lock = Lock()  # reentrant: a destructor may run while it is held
        self.queue: deque[TokenReference] = deque()
        self.collecting = False
        self.version = 0  # grows with every change
        self.total = Account()
        self.managers: weakref.WeakSet[Scope] = weakref.WeakSet()
        self.detached = Scope("detached")
        self.held = Scope("held", always=True)
        self._numbers = itertools.count(1)
        self._live: dict[int, Buffer] = {}
        self._unused: dict[int, int] = {}  # number -> bytes
        self._unused_bytes = 0
        self._events = EventLog()

    # -- figures ----------------------------------------------------------------------------------------------------
    def count(self, levels: bool) -> Memory:
        """The current figures of all owners."""
        with self.lock:
            owners = [self.detached, self.held, *self.managers]
            open_ones = [s for s in owners if s.closed_at is None and (s.named or s.account.made or s.account.live)]
            rows = [figures_of(s.path, s.account, s.limit, levels) for s in open_ones]
            t = self.total
            return Memory(
                t.live,
                t.bytes,
                t.peak,
                len(self._unused),
                self._unused_bytes,
                t.made,
                t.released,
                t.collected,
                self.collecting,
                tuple(sorted(rows, key=lambda m: (-m.bytes, m.name))),
                tuple(t.levels.points()) if levels else (),
                self._events.all(),
            )

    def entries(self, scope: Scope) -> list[ArrayInfo]:
        """The records of an owner's arrays, oldest first."""
        with self.lock:
            return [self._info(b, a) for b in self._of(scope) if (a := b.array) is not None]

    def _of(self, scope: Scope) -> list[Buffer]:
        """The buffers of an owner as a new list, as destructors that run meanwhile may release some."""
        return [b for uid in list(scope.uids) if (b := self._live.get(uid)) is not None]

    def _info(self, b: Buffer, a: np.ndarray) -> ArrayInfo:
        holders = tuple(by for _, by in b.holds.values()) if b.holds else ()
        return ArrayInfo(b.uid, a.shape, a.dtype, b.nbytes, b.origin, holders, b.uid not in self._unused)

    # -- parts: all under the lock ----------------------------------------------------------------------------------
    def _now(self, how: str, by: str, site: Any, made: Origin) -> Tombstone:
        return Tombstone(how, by, site, self.version, threading.current_thread().name, made)

    def _give_up(self, buffer: Buffer, how: str, by: str, site: Any) -> np.ndarray | None:
        """End the ownership; returns the array if its memory is freed, to be deleted outside the lock."""
        scope, buffer.scope = buffer.scope, None
        if scope is None:  # a destructor run by the garbage collector on this thread has just released it
            return None
        buffer.key.released = self._now(how, by, site, buffer.origin)
        self._leave(buffer, scope)
        if self._unused.pop(buffer.uid, None) is not None:
            self._unused_bytes -= buffer.nbytes
        for account in (scope.account, self.total):
            account.released += 1
        self._events.note({"close": "closed", "collection": "collected"}.get(how, "released"), by, buffer.nbytes)
        self.version += 1
        return None if buffer.holds else self._free(buffer)

    def _leave(self, buffer: Buffer, scope: Scope) -> None:
        scope.uids.pop(buffer.uid, None)
        scope.account.remove(buffer.nbytes)

    def _free(self, buffer: Buffer) -> np.ndarray | None:
        if self._live.pop(buffer.uid, None) is None:
            return None
        self.total.remove(buffer.nbytes)
        array, buffer.array = buffer.array, None
        return array
