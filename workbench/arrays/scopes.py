"""Owners of arrays, and holds on them."""

from __future__ import annotations

import weakref
from types import TracebackType
from typing import Any

import numpy as np

from workbench.arrays.accounts import Account, arrays_text
from workbench.arrays.buffers import ArrayLedger, Key, Site, Tombstone
from workbench.errors import ManagerError
from workbench.text import harmless


class Scope:
    """An owner of arrays: a manager, or the user. With ``always``, an array is freed with its last handle, whether
    collection is on or off, because it has no manager that would release it.
    """

    def __init__(self, path: str, *, limit: int | None = None, always: bool = False) -> None:
        self.path = path
        self.limit = limit
        self.always = always
        self.named = False
        self.account = Account()
        self.uids: dict[int, None] = {}
        self.children: weakref.WeakSet[Scope] = weakref.WeakSet()
        self.closed_at: Site | None = None
        self.capped_at: Site | None = None

    def check_room(self, nbytes: int) -> None:
        """Raise ManagerError if an array of ``nbytes`` bytes cannot be attached."""
        if self.closed_at is not None:
            raise ManagerError(
                f"Manager {self.path!r} was closed at {self.closed_at}; it accepts no more arrays.",
                slug="manager-closed",
                fix="make the array in a manager that is open.",
            )
        if self.capped_at is not None:
            raise ManagerError(
                f"Manager {self.path!r} was capped at {self.capped_at}: no array may be attached to it. The result of "
                "an operation belongs to the manager of its first operand.",
                slug="manager-capped",
                fix="put the operand of a submanager first, or make the array in a submanager.",
            )
        if self.limit is not None and self.account.bytes + nbytes > self.limit:
            raise ManagerError(
                f"Manager {self.path!r} may hold {self.limit:,} bytes; {self.account.bytes:,} are in use by "
                f"{arrays_text(self.account.live)} and {nbytes:,} more were requested.",
                slug="manager-full",
                fix="release arrays, or let unused ones be collected (workbench.collect_unused).",
            )


class Hold:
    """Keeps the memory of one array until :meth:`drop`, also after its owner has released it. A context manager.

    A hold that is lost without ``drop`` ends at the next call of any handle or manager.
    """

    __slots__ = ("_ledger", "_token", "by", "dropped", "number", "uid")

    def __init__(self, ledger: ArrayLedger, key: Key, number: int, by: str, token: Any) -> None:
        self._ledger = ledger
        self._token = token
        self.uid = key.uid
        self.number = number
        self.by = by
        self.dropped: Tombstone | None = None

    @property
    def array(self) -> np.ndarray:
        """The array, read-only. ReleasedError once the hold is dropped."""
        return self._ledger.read_held(self).view()

    def drop(self) -> None:
        """End the hold. ReleasedError (slug ``double-release``) if it was dropped before."""
        self._ledger.drop(self)

    def __enter__(self) -> Hold:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self.dropped is None:
            self.drop()

    @harmless
    def __repr__(self) -> str:
        return f"<Hold of {self.by!r} on array {self.uid}{': dropped' if self.dropped else ''}>"
