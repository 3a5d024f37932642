"""Values recorded by another program (a framework's own run, arrays from a file) as one side of a comparison.

A :class:`Record` is read like a trace: ``record["x"].values``, ``record.firings("x")``, ``record.names()``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from workbench.analysis.diff.side import Column, Key, Path
from workbench.errors import TraceError, WorkbenchError
from workbench.ir.graph import Graph
from workbench.ir.types import TensorType
from workbench.text import harmless
from workbench.trace.series import as_value, stack


@dataclass(frozen=True, eq=False)
class RecordedSeries:
    """All firings of one value, oldest first. ``iterations`` (n, depth) is None if only their order is known."""

    name: str
    op: str
    frame: tuple[str, ...]
    iterations: np.ndarray | None
    items: Any

    @property
    def values(self) -> np.ndarray:
        """(n, ...) array; an object array if the shapes of firings differ."""
        first = self.items[0] if len(self.items) else None
        return stack(list(self.items), TensorType.of(first) if first is not None else TensorType("float64", ()))

    def firings(self) -> list[Any]:
        return [as_value(v) for v in self.items]

    def at(self, iteration: int | Path) -> Any:
        """The value at one iteration path; TraceError if there is none."""
        path = (iteration,) if isinstance(iteration, int | np.integer) else tuple(iteration)
        if path in self._places:
            return as_value(self.items[self._places[path]])
        raise TraceError(f"{self.name!r} has no record in iteration {path}.", slug="not-recorded")

    @cached_property
    def _places(self) -> dict[Path, int]:
        rows = [] if self.iterations is None else self.iterations.tolist()
        return {tuple(row): k for k, row in enumerate(rows)}

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, index: int | slice) -> Any:
        return as_value(self.items[index]) if isinstance(index, int) else self.items[index]

    @harmless
    def __repr__(self) -> str:
        return f"<RecordedSeries {self.name!r}: {len(self)} firings>"


class Record:
    """Values computed by another program, to be compared with a run; :func:`workbench.run_with` makes one.

    ``record[name]`` is the series of a value, as in a trace.

    Parameters
    ----------
    label : str
        Name of the program.
    values : mapping
        Name -> the firings, oldest first, or name -> {iteration path: value}. A name outside all loops has one value.
    frames : mapping of str to tuple, optional
        Frame path of each value of a loop; () for all others.
    ops : mapping of str to str, optional
        Op of each value, if known.
    graph : Graph, optional
        The graph to which the names belong.
    outputs : mapping, optional
        The results by name.
    notes : iterable of str, default ()
        Sentences on missing parts.

    Raises
    ------
    WorkbenchError
        For names that are not strings, or iteration paths of different lengths (``bad-record``).

    Examples
    --------
    >>> record = wb.Record("by hand", {"x": [2.0, 1.5, 1.4167, 1.41422, 1.41421]}, frames={"x": ("while",)})
    >>> wb.diff(session, record, atol=1e-4).equal
    True
    """

    def __init__(
        self,
        label: str,
        values: Mapping[str, Any],
        *,
        frames: Mapping[str, tuple[str, ...]] | None = None,
        ops: Mapping[str, str] | None = None,
        graph: Graph | None = None,
        outputs: Mapping[str, Any] | None = None,
        notes: Iterable[str] = (),
    ) -> None:
        self.label, self.graph, self.outputs, self.notes = label, graph, dict(outputs or {}), tuple(notes)
        self._series: dict[str, RecordedSeries] = {}
        for name, given in values.items():
            if not isinstance(name, str):
                raise WorkbenchError(
                    f"record: expected value names as text, got {type(name).__name__}.",
                    slug="bad-record",
                    fix="give a mapping of value names to arrays.",
                )
            frame = tuple((frames or {}).get(name, ()))
            iterations, items = _firings(name, given, frame)
            self._series[name] = RecordedSeries(name, (ops or {}).get(name, ""), frame, iterations, items)

    def __getitem__(self, name: str) -> RecordedSeries:
        try:
            return self._series[name]
        except KeyError:
            raise TraceError(f"{self.label} recorded nothing named {name!r}.", slug="not-recorded") from None

    def __contains__(self, name: object) -> bool:
        return name in self._series

    def names(self) -> list[str]:
        """Return the names of the recorded values."""
        return list(self._series)

    def firings(self, name: str) -> list[Any]:
        """Return every firing of a value, oldest first."""
        return self[name].firings()

    @harmless
    def __repr__(self) -> str:
        return f"<Record of {self.label}: {len(self._series)} values>"


def _firings(name: str, given: Any, frame: tuple[str, ...]) -> tuple[np.ndarray | None, Any]:
    if isinstance(given, Mapping):
        paths = [(k,) if isinstance(k, int | np.integer) else tuple(k) for k in given]
        if len({len(p) for p in paths}) > 1 or any(isinstance(k, str) for p in paths for k in p):
            raise WorkbenchError(
                f"The firings of {name!r} are keyed by iteration paths of different lengths, or by text.",
                slug="bad-record",
                fix="key them by one number for each loop around the value.",
            )
        items = list(given.values())
        depth = len(paths[0]) if paths else len(frame)
        return np.array(paths, np.int64).reshape(len(paths), depth), items
    if isinstance(given, list | tuple):
        return (None if frame or len(given) != 1 else np.empty((1, 0), np.int64)), [_array(v) for v in given]
    if frame:
        return None, np.asarray(given)
    return np.empty((1, 0), np.int64), [_array(given)]


def _array(value: Any) -> Any:
    return np.asarray(value) if isinstance(value, int | float | complex | np.generic) else value


class RecordSide:
    """A record as one side. A value of which only the order is known takes its iterations from the other side."""

    def __init__(self, record: Record) -> None:
        self.record, self.label = record, record.label
        self.graph: Graph | None = None
        self._place: dict[str, int] = {}
        starts: dict[tuple[str, ...], int] = {}
        for at, name in enumerate(record.names()):
            self._place[name] = at
            frame = record[name].frame
            for depth in range(1, len(frame) + 1):
                starts.setdefault(frame[:depth], at)
        self._starts = starts

    def keys(self) -> list[Key]:
        return list(self.record.names())

    def find(self, name: str) -> Key | None:
        return name if name in self.record else None

    def like(self, key: Key, other: Column) -> Column | None:
        """The firings of a value with the iterations of a column of a trace; None if they do not fit."""
        mine = self.column(key)
        if mine is None:
            return None
        mine = replace(
            mine, node=other.node, op=mine.op or other.op, source=other.source, frame=other.frame, order=other.order
        )
        its = mine.iterations()
        if its is None or its.shape[1] == other.depth:
            return mine
        series = self.record[str(key)]
        if its.shape[1] == 0 and other.depth and len(series) == 1 and np.ndim(series.items[0]):
            whole = np.asarray(series.items[0])  # one array whose first axis is the order of the firings
            return replace(mine, length=len(whole), iterations=lambda: None, take=lambda at: whole[at])
        return None

    def at(self, key: Key, path: Path) -> Any:
        """The value at an iteration path; if only the order is known, for a loop with one activation."""
        series = self.record[str(key)]
        if series.iterations is not None and series.iterations.shape[1] == len(path):
            return series.at(path) if path else series[0]
        items = series.items[0] if series.iterations is not None and len(series) == 1 else series.items
        if len(path) > 1:
            raise TraceError(f"It is not known where {series.name!r} has its value of {path}.", slug="not-recorded")
        return items[path[0] if path else -1]

    def column(self, key: Key) -> Column | None:
        assert isinstance(key, str)
        series = self.record[key]

        def order(iteration: Path) -> tuple[int, ...]:
            found: list[int] = []
            for depth, count in enumerate(iteration):
                found += [self._starts.get(series.frame[: depth + 1], self._place[key]), count]
            return (*found, self._place[key])

        def take(at: Any) -> Any:
            if isinstance(series.items, np.ndarray) or isinstance(at, slice):
                return series.items[at]
            return [series.items[k] for k in at.tolist()]

        return Column(key, key, key, series.op, None, series.frame, len(series), lambda: series.iterations, take, order)

    def trips(self, frame: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray] | None:
        return None

    def unfinished(self, frame: tuple[str, ...]) -> bool:
        return False

    def missing(self, key: Key, path: Path) -> str:
        return ""

    def is_last(self, key: Key, path: Path) -> bool:
        return False
