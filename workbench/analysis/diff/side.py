"""The interface of one side of a comparison: columns, one a value, each firing with its iteration path."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from workbench.ir.graph import Graph
from workbench.ir.node import Ref, Source

Path = tuple[int, ...]
#: of a trace a reference into its graph, of a record a name
Key = Ref | str


@dataclass(frozen=True, eq=False)
class Column:
    """All firings of one value.

    ``iterations`` gives (n, depth) iteration paths, None where nothing but the order of the firings is known. ``take``
    reads the values at some positions (a slice or an index array): an array (n, ...) or a list. ``order`` sorts the
    firings of all columns of a side as they were executed. ``once``: all firings are the same (constants).
    """

    key: Key
    name: str
    node: str
    op: str
    source: Source | None
    frame: tuple[str, ...]
    length: int
    iterations: Callable[[], np.ndarray | None]
    take: Callable[[Any], Any]
    order: Callable[[Path], tuple[int, ...]]
    once: bool = False
    guarded: bool = False
    decides: str = ""

    @property
    def depth(self) -> int:
        return len(self.frame)


class Side(Protocol):
    """One of the two runs that are compared."""

    label: str

    @property
    def graph(self) -> Graph | None: ...

    def keys(self) -> list[Key]:
        """The values that can be compared, in execution order where that is known."""

    def find(self, name: str) -> Key | None:
        """The value that a public name refers to."""

    def column(self, key: Key) -> Column | None:
        """The firings of a value; None if there is nothing of it."""

    def trips(self, frame: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray] | None:
        """(paths of the iterations around (n, depth - 1), iterations of each activation); None if it is not known. The
        last activation may still go on: see :meth:`unfinished`."""

    def unfinished(self, frame: tuple[str, ...]) -> bool:
        """True if the run is inside a frame (for the outermost level: has not ended)."""

    def missing(self, key: Key, path: Path) -> str:
        """Why a value has no firing at ``path``: "dead", "ended" if its loop ended there, or "" if the run did not get
        so far or the value is not kept.
        """

    def is_last(self, key: Key, path: Path) -> bool:
        """True if ``path`` is the last iteration of a loop in which a value lives."""
