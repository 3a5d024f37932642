"""The ledger's record of one array, and the tombstone that replaces it after the release.

A user's handle has only a ``Key``: a unique number and, once the array is released, the record of that release. So the
tombstone of an array lives exactly as long as a handle can refer to it, and no list of released numbers grows. A handle
also has a *token*, to which only handles on that array refer: when the token is deleted, no handle is left.
"""

from __future__ import annotations

import os
import sys
import weakref
from types import FrameType
from typing import Any, NamedTuple, Protocol

import numpy as np

from workbench.text import harmless

#: frames of these folders are not the user's: they belong to the handles, and to NumPy's dispatch to them
_INSIDE = (os.path.dirname(os.path.abspath(__file__)) + os.sep, os.path.dirname(np.__file__) + os.sep)


class Site(NamedTuple):
    """A line of the user's code."""

    file: str
    line: int

    @harmless
    def __str__(self) -> str:
        if f"{os.sep}ipykernel_" in self.file:  # IPython's file name of a cell is meaningless to users
            return f"line {self.line} of a notebook cell"
        return f"{os.path.basename(self.file)}:{self.line}"


def call_site() -> Site:
    """The innermost line outside of this folder."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_INSIDE):
        frame = frame.f_back
    return Site("?", 0) if frame is None else Site(frame.f_code.co_filename, frame.f_lineno)


class Origin(NamedTuple):
    """The origin of an array: the op or call, the line, and for values of a run the node with its tag."""

    op: str
    site: Site | None = None
    tag: Any = None

    @harmless
    def __str__(self) -> str:
        return self.op + (f" as {self.tag}" if self.tag else "") + (f" at {self.site}" if self.site else "")


class Tombstone(NamedTuple):
    """The release of an array: its kind, the manager or holder, the line, and the ``event`` of the ledger before it."""

    how: str  #: "release", "close", "collection" or "hold" (the last hold of an array without an owner was dropped)
    by: str
    site: Site | None
    event: int
    thread: str
    made: Origin  #: the origin of the array

    @harmless
    def __str__(self) -> str:
        words = {
            "release": f"released by release() in manager {self.by!r}",
            "close": f"released when manager {self.by!r} was closed",
            "collection": "collected because no handle was left",
            "hold": f"released by {self.by!r}",
        }[self.how]
        where = f" at {self.site}" if self.site else ""
        return f"{words}{where} (event {self.event:,} of the ledger, thread {self.thread})"


def new_token() -> Any:
    """Make an object that can be weakly referenced and is not tracked by the cyclic garbage collector.

    The collector clears the weak references to objects of a garbage cycle *before* it runs their finalizers, which may
    still use a handle or store it. An untracked token is deleted after them, with the last handle. NumPy's arrays are
    untracked; instances of Python classes are not.
    """
    return np.empty(0, np.bool_)


class Key:
    """The unique number of an array; ``released`` is set when the array is released. Shared by its handles and the
    ledger.
    """

    __slots__ = ("released", "uid")

    def __init__(self, uid: int) -> None:
        self.uid = uid
        self.released: Tombstone | None = None


class ArrayLedger(Protocol):
    """The part of the ledger that handles and holds use; its own module imports this one."""

    detached: Any

    def read(self, key: Key) -> np.ndarray: ...
    def buffer(self, key: Key) -> Buffer: ...
    def replace(self, key: Key, array: np.ndarray) -> None: ...
    def release(self, key: Key) -> None: ...
    def move(self, key: Key, scope: Any) -> None: ...
    def hold(self, key: Key, by: str) -> Any: ...
    def read_held(self, hold: Any) -> np.ndarray: ...
    def drop(self, hold: Any) -> None: ...
    def drain(self) -> int: ...


class Handle:
    """Base of handles: a key, the ledger in which it is looked up, and the token that all handles on one array
    share."""

    __slots__ = ("_key", "_ledger", "_token")

    def __init__(self, key: Key, token: Any, ledger: ArrayLedger) -> None:
        self._key = key
        self._token = token
        self._ledger = ledger


class TokenReference(weakref.ref):  # type: ignore[type-arg]
    """A weak reference to the token of handles or of a hold; its callback puts it into the reference queue. ``uid`` is
    the number of the array, ``hold`` that of the hold (0: the handles)."""

    __slots__ = ("hold", "uid")

    uid: int
    hold: int

    def __new__(cls, of: Any, callback: Any, uid: int, hold: int = 0) -> TokenReference:
        self = super().__new__(cls, of, callback)
        self.uid, self.hold = uid, hold
        return self

    def __init__(self, of: Any, callback: Any, uid: int, hold: int = 0) -> None:
        super().__init__(of, callback)  # type: ignore[call-arg]


class Buffer:
    """One array in the ledger: its owner, holds and origin. ``array`` is None once it is freed."""

    __slots__ = ("array", "gone", "holds", "key", "nbytes", "origin", "scope", "uid")

    def __init__(self, key: Key, gone: TokenReference, array: np.ndarray, scope: Any, origin: Origin) -> None:
        self.key = key
        self.gone = gone
        self.uid = key.uid
        self.array: np.ndarray | None = array
        self.nbytes = array.nbytes
        self.scope = scope
        self.origin = origin
        #: number of a hold -> (its weak reference, name of the holder); None if there was never a hold
        self.holds: dict[int, tuple[TokenReference, str]] | None = None


class ArrayInfo(NamedTuple):
    """The record of one array in ``manager.arrays()``; it keeps nothing alive."""

    uid: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    nbytes: int
    origin: Origin
    holders: tuple[str, ...]
    in_use: bool  #: True while a handle on it exists


def owned(array: Any, *inputs: Any) -> np.ndarray:
    """The array in separate memory, read-only: a buffer has one owner, so views and inputs are copied."""
    found = np.asarray(array)
    if not found.flags.owndata or any(found is x for x in inputs):
        found = found.copy()
    found.flags.writeable = False
    return found
