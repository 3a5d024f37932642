"""What the ledger keeps of one array, and what stays of it for those who ask too late.

A user's handle has nothing but a ``Key``: a number that is never given twice, and, once the array is gone, who released
it. So the story of a released array lives exactly as long as somebody can still ask for it, and no list of released
numbers grows anywhere. Beside the key it has a *token*, which nobody but handles on that array hold: when the token
dies, no handle is left.
"""

from __future__ import annotations

import os
import sys
import weakref
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

#: frames of these folders are not the user's: the handles themselves, and NumPy's dispatch to them
_INSIDE = (os.path.dirname(os.path.abspath(__file__)) + os.sep, os.path.dirname(np.__file__) + os.sep)


class Site(NamedTuple):
    """A line of the user's code."""

    file: str
    line: int

    def __str__(self) -> str:
        if f"{os.sep}ipykernel_" in self.file:  # IPython's name of a cell says nothing to a reader
            return f"line {self.line} of a notebook cell"
        return f"{os.path.basename(self.file)}:{self.line}"


def call_site() -> Site:
    """The innermost line outside of this folder."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_INSIDE):
        frame = frame.f_back
    return Site("?", 0) if frame is None else Site(frame.f_code.co_filename, frame.f_lineno)


class Origin(NamedTuple):
    """Who made an array: the op or call, the line, and for values of a run the node with its tag."""

    op: str
    site: Site | None = None
    tag: Any = None

    def __str__(self) -> str:
        return self.op + (f" as {self.tag}" if self.tag else "") + (f" at {self.site}" if self.site else "")


class Released(NamedTuple):
    """Who released an array, and when: ``event`` counts what the ledger has seen so far."""

    how: str  #: "release", "close", "collection" or "hold" (the last hold of an array without an owner was dropped)
    by: str
    site: Site | None
    event: int
    thread: str
    made: Origin  #: where the array came from

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
    """An object that can be referred to weakly and that the cyclic garbage collector does not know.

    Of the objects in a cycle that has become garbage, the collector clears the weak references *before* it runs their
    finalizers, which may still use a handle, or save it. A token that it does not know dies after them, with the last
    handle. NumPy's arrays are such objects; instances of Python classes are not.
    """
    return np.empty(0, np.bool_)


class Key:
    """The number of an array; ``released`` is set when the array is given up. Shared by its handles and the ledger."""

    __slots__ = ("released", "uid")

    def __init__(self, uid: int) -> None:
        self.uid = uid
        self.released: Released | None = None


class Handle:
    """What makes an object a handle: a key, the ledger that it is looked up in, and the token that all handles on one
    array share."""

    __slots__ = ("_key", "_ledger", "_token")

    def __init__(self, key: Key, token: Any, ledger: Any) -> None:
        self._key = key
        self._token = token
        self._ledger: Any = ledger


class Gone(weakref.ref):  # type: ignore[type-arg]
    """A weak reference to the token of handles or of a hold, which its callback puts into the reference queue; ``uid``
    tells the array, ``hold`` the hold's number (0: the handles)."""

    __slots__ = ("hold", "uid")

    uid: int
    hold: int

    def __new__(cls, of: Any, callback: Any, uid: int, hold: int = 0) -> Gone:
        self = super().__new__(cls, of, callback)
        self.uid, self.hold = uid, hold
        return self

    def __init__(self, of: Any, callback: Any, uid: int, hold: int = 0) -> None:
        super().__init__(of, callback)  # type: ignore[call-arg]


class Buffer:
    """One array in the ledger: its owner, its holds, where it came from. ``array`` is None once it is freed."""

    __slots__ = ("array", "gone", "holds", "key", "nbytes", "origin", "scope", "uid")

    def __init__(self, key: Key, gone: Gone, array: np.ndarray, scope: Any, origin: Origin) -> None:
        self.key = key
        self.gone = gone
        self.uid = key.uid
        self.array: np.ndarray | None = array
        self.nbytes = array.nbytes
        self.scope = scope
        self.origin = origin
        #: number of a hold -> (its weak reference, who holds); None where there never was one
        self.holds: dict[int, tuple[Gone, str]] | None = None


class ArrayInfo(NamedTuple):
    """What ``manager.arrays()`` tells of one array; it keeps nothing alive."""

    uid: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    nbytes: int
    origin: Origin
    holders: tuple[str, ...]
    in_use: bool  #: whether a handle on it is left


def owned(array: Any, *inputs: Any) -> np.ndarray:
    """The array in memory of its own, read-only: one buffer has one owner, so views and inputs are copied."""
    found = np.asarray(array)
    if not found.flags.owndata or any(found is x for x in inputs):
        found = found.copy()
    found.flags.writeable = False
    return found
