"""The interface of one side of a comparison: one column per value, each firing with its iteration path."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from workbench.ir.graph import Graph
from workbench.ir.node import Ref, Source

Path = tuple[int, ...]
#: for a trace a reference into its graph, for a record a name
Key = Ref | str


@dataclass(frozen=True, eq=False)
class Column:
    """All firings of one value.

    ``iterations`` returns (n, depth) iteration paths, None if only the order of the firings is known. ``take`` reads
    the values at some positions (a slice or an index array): an array (n, ...) or a list. ``order`` is the sort key of
    firings in the order of execution, across all columns of a side. ``once``: all firings are the same (constants).
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
        """The values that can be compared, in execution order if known."""

    def find(self, name: str) -> Key | None:
        """The value that a public name refers to."""

    def column(self, key: Key) -> Column | None:
        """The firings of a value; None if there are none."""

    def trips(self, frame: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray] | None:
        """(paths of the outer iterations (n, depth - 1), iterations of each activation); None if unknown. The last
        activation may be unfinished: see :meth:`unfinished`.
        """

    def unfinished(self, frame: tuple[str, ...]) -> bool:
        """True if the run is inside a frame, or for the outermost level if it has not ended."""

    def missing(self, key: Key, path: Path) -> str:
        """Why a value has no firing at ``path``: "dead" if its branch was not taken, "ended" if its loop ended there,
        or "" if the run did not reach it or the value is not kept.
        """

    def is_last(self, key: Key, path: Path) -> bool:
        """True if ``path`` is the last iteration of a value's loop."""
