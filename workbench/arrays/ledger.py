"""The ledger of arrays: one owner each, holds, and the reference queue of deleted handles.

::

    user's handle ──► Key(uid), token ◄┄┄ weak ┄┄ Buffer(uid): array, owner, holds ◄── ledger
                                  │ gone                          ▲
                                  └──► reference queue ──► drain() ┘   on the calling thread, at the next call

Its state is in ``ledger_state.py``; this module has the operations.

Rules
- A number is never reused. A buffer has one owner: a manager, or the user (``detached``, ``held``).
- A release ends the ownership: from then on no handle can read the array. Its memory is freed with the last hold.
- The callback of a weak reference is ``deque.append``: it takes no lock and runs no Python code, so it may run in any
  thread, inside the garbage collector, and while the interpreter ends. Its consequences are handled in ``drain``.
- With collection off, ``drain`` only records that an array is unused; with it on, it releases the array. No handle on
  such an array is left, so collection never causes a use after release.

Source: the proposal "NDArray garbage collection" for the Deep Java Library (https://djl.ai, versions 0.20 and later):
light proxies that have only a key, a weak map, a reference queue polled on the calling thread, off by default.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.arrays.accounts import Memory
from workbench.arrays.buffers import ArrayInfo, Buffer, Key, Origin, TokenReference, call_site, new_token
from workbench.arrays.errors import array_gone, hold_dropped
from workbench.arrays.ledger_state import LedgerState
from workbench.arrays.scopes import Hold, Scope
from workbench.errors import ManagerError


class Ledger(LedgerState):
    """Owners, keys and holds of all arrays (see the module). All methods may be called from any thread."""

    # -- arrays -----------------------------------------------------------------------------------------------------
    def make(self, array: np.ndarray, scope: Scope, origin: Origin) -> tuple[Key, Any]:
        """Enter an array (in separate memory, see ``owned``); returns key and token for a handle. ManagerError if the
        owner accepts no array.
        """
        self.drain()
        uid = next(self._numbers)
        key, token = Key(uid), new_token()
        buffer = Buffer(key, TokenReference(token, self.queue.append, uid), array, scope, origin)
        with self.lock:
            scope.check_room(buffer.nbytes)
            self._live[uid] = buffer
            scope.uids[uid] = None
            for account in (scope.account, self.total):
                account.made += 1
                account.add(buffer.nbytes)
            self.version += 1
        return key, token

    def read(self, key: Key) -> np.ndarray:
        """The array of a key. ReleasedError after its release."""
        buffer = self.buffer(key)
        array = buffer.array
        if array is None or key.released is not None:  # just released by another thread
            raise array_gone(key, "use-after-release")
        return array

    def buffer(self, key: Key) -> Buffer:
        """The ledger's entry of a key. ReleasedError after its release."""
        if self.queue:
            self.drain()
        buffer = self._live.get(key.uid)
        if buffer is None or key.released is not None:
            raise array_gone(key, "use-after-release")
        return buffer

    def replace(self, key: Key, array: np.ndarray) -> None:
        """Put another array of the same bytes under the key, for changes in place. ManagerError while it is held."""
        with self.lock:
            buffer = self.buffer(key)
            if buffer.holds:
                who = ", ".join(sorted({by for _, by in buffer.holds.values()}))
                raise ManagerError(
                    f"Array {key.uid} cannot be changed in place while it is held by {who}.",
                    slug="held-array",
                    fix="make a new array (a = a + b), or drop the hold before.",
                )
            before, buffer.array = buffer.array, array
            self.version += 1
        del before  # its destructor runs outside the lock

    def move(self, key: Key, scope: Scope) -> None:
        """Move an array to another owner. ReleasedError, or ManagerError if the new owner accepts no array."""
        with self.lock:
            buffer = self.buffer(key)
            if buffer.scope is scope:
                return
            scope.check_room(buffer.nbytes)
            self._leave(buffer, buffer.scope)
            buffer.scope = scope
            scope.uids[buffer.uid] = None
            scope.account.add(buffer.nbytes)
            self.version += 1

    def release(self, key: Key) -> None:
        """Release an array. ReleasedError with slug ``double-release`` if it was released before."""
        self.drain()
        site = call_site()
        with self.lock:
            buffer = self._live.get(key.uid)
            if buffer is None or key.released is not None:
                raise array_gone(key, "double-release")
            gone = self._give_up(buffer, "release", buffer.scope.path, site)
        del gone

    def close(self, scope: Scope) -> None:
        """Close the submanagers of a manager, then release all its arrays; harmless if it is already closed."""
        self.drain()
        site = call_site()
        with self.lock:
            gone = self._close(scope, site)
        del gone

    def _close(self, scope: Scope, site: Any) -> list[Any]:
        if scope.closed_at is not None:
            return []
        scope.closed_at = site
        gone: list[Any] = []
        for child in list(scope.children):
            gone += self._close(child, site)
        for buffer in self._of(scope):
            gone.append(self._give_up(buffer, "close", scope.path, site))
        self.version += 1
        return gone

    # -- holds ------------------------------------------------------------------------------------------------------
    def hold(self, key: Key, by: str) -> Hold:
        """Keep the array's memory, also after its release, until the hold is dropped (or lost)."""
        self.drain()
        number = next(self._numbers)
        token = new_token()
        with self.lock:
            buffer = self.buffer(key)
            if buffer.holds is None:
                buffer.holds = {}
            buffer.holds[number] = (TokenReference(token, self.queue.append, key.uid, number), by)
            self.version += 1
        return Hold(self, key, number, by, token)

    def read_held(self, hold: Hold) -> np.ndarray:
        """The array of a hold, whether or not its owner has released it. ReleasedError once the hold is dropped."""
        if self.queue:
            self.drain()
        buffer = self._live.get(hold.uid)
        array = None if buffer is None else buffer.array
        if array is None or hold.dropped is not None:
            raise hold_dropped(hold, "use-after-release")
        return array

    def drop(self, hold: Hold) -> None:
        """End a hold. ReleasedError with slug ``double-release`` if it was dropped before."""
        self.drain()
        site = call_site()
        with self.lock:
            buffer = self._live.get(hold.uid)
            if hold.dropped is not None or buffer is None:
                raise hold_dropped(hold, "double-release")
            hold.dropped = self._now("hold", hold.by, site, buffer.origin)
            gone = self._end_hold(buffer, hold.number)
        del gone

    def _end_hold(self, buffer: Buffer, number: int) -> np.ndarray | None:
        holds = buffer.holds or {}
        holds.pop(number, None)
        self.version += 1
        return self._free(buffer) if not holds and buffer.scope is None else None

    # -- collection -------------------------------------------------------------------------------------------------
    def drain(self) -> int:
        """Handle all entries of the reference queue on this thread; returns the number of arrays that were
        collected."""
        if not self.queue:
            return 0
        gone: list[Any] = []
        with self.lock:
            while self.queue:
                try:
                    reference = self.queue.popleft()
                except IndexError:  # another thread was quicker
                    break
                buffer = self._live.get(reference.uid)
                if buffer is None:
                    continue  # released before its handle was deleted
                if reference.hold:
                    gone.append(self._end_hold(buffer, reference.hold))
                elif buffer.scope is None:
                    continue  # released; holds keep it
                elif self.collecting or buffer.scope.always:
                    gone.append(self._collect(buffer))
                else:
                    self._unused[buffer.uid] = buffer.nbytes
                    self._unused_bytes += buffer.nbytes
                    self.version += 1
        return sum(g is not None for g in gone)

    def collect(self, on: bool) -> None:
        """Switch collection on or off; switching it on also collects arrays that became unused while it was off."""
        self.drain()
        gone: list[Any] = []
        with self.lock:
            self.collecting = on
            for uid in list(self._unused) if on else ():
                if (buffer := self._live.get(uid)) is not None and buffer.scope is not None:
                    gone.append(self._collect(buffer))
            self.version += 1

    def _collect(self, buffer: Buffer) -> Any:
        buffer.scope.account.collected += 1
        self.total.collected += 1
        return self._give_up(buffer, "collection", buffer.scope.path, None)

    def figures(self, levels: bool = False) -> Memory:
        """The current figures; with ``levels`` also the curves over time. O(managers)."""
        self.drain()
        return self.count(levels)

    def listing(self, scope: Scope) -> list[ArrayInfo]:
        """The arrays of an owner, oldest first."""
        self.drain()
        return self.entries(scope)
