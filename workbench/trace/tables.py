"""Tables of a trace: every firing as an event, every Switch decision."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from workbench.errors import TraceError
from workbench.ir.node import Tag
from workbench.kernels.layout import NodeLayout
from workbench.libraries import needed
from workbench.trace.row_ranges import as_array
from workbench.trace.rows import RowReader


@dataclass(frozen=True, slots=True, eq=False)
class EventTable:
    """Events in firing order, as columns; made by :meth:`Trace.events`.

    Attributes
    ----------
    nodes : tuple of str
        The names of the nodes, which ``code`` indexes.
    frames : tuple
        The paths of the frames, outermost name first, which ``frame_code`` indexes.
    number : array of int, (n,)
        Index of the event in the run, counted from 0 (if rows were dropped, from the oldest kept row).
    code, frame_code : array of int, (n,)
        Node and frame of each event.
    iteration : array of int, (n, depth)
        One column per level of frames, -1 beyond the frames of the event.
    partial : bool
        Whether events are missing because some iterations are not kept; :meth:`Trace.coverages` lists those that are.
    """

    nodes: tuple[str, ...]
    frames: tuple[tuple[str, ...], ...]
    number: np.ndarray
    code: np.ndarray
    frame_code: np.ndarray
    iteration: np.ndarray
    partial: bool = field(default=False, kw_only=True)

    def __len__(self) -> int:
        return len(self.number)

    @property
    def node(self) -> list[str]:
        return [self.nodes[c] for c in self.code]

    def tag(self, index: int) -> Tag:
        path = self.frames[self.frame_code[index]]
        return Tag(self.nodes[self.code[index]], 0, path, tuple(int(i) for i in self.iteration[index][: len(path)]))

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        mine, theirs = self.columns(), other.columns()
        return mine.keys() == theirs.keys() and all(np.array_equal(mine[k], theirs[k]) for k in mine)

    __hash__ = None  # type: ignore[assignment]

    def __iter__(self) -> Iterator[Tag]:
        return (self.tag(i) for i in range(len(self)))

    def columns(self) -> dict[str, Any]:
        """The table as plain columns."""
        out: dict[str, Any] = {"event": self.number, "node": self.node}
        out["frame"] = ["/".join(self.frames[c]) for c in self.frame_code]
        for level in range(self.iteration.shape[1]):
            out[f"iteration_{level}"] = self.iteration[:, level]
        return out

    def to_pandas(self) -> Any:
        """A pandas DataFrame (needs pandas)."""
        return needed("pandas", error=TraceError).DataFrame(self.columns())

    def to_arrow(self) -> Any:
        """A pyarrow Table (needs pyarrow)."""
        return needed("pyarrow", error=TraceError).table(self.columns())


@dataclass(frozen=True, slots=True, eq=False)
class BranchTable(EventTable):
    """Decisions of the Switches in firing order; made by :meth:`Trace.branches`.

    The columns are those of :class:`EventTable`, but ``number`` counts decisions, not events.

    Attributes
    ----------
    taken : array of bool, (n,)
        True if output 1 was alive, that is, if the predicate was true.
    """

    taken: np.ndarray

    def columns(self) -> dict[str, Any]:
        columns = EventTable.columns(self)
        return {"decision": columns.pop("event"), **columns, "taken": self.taken}


def order_events(reader: RowReader, picked: list[tuple[NodeLayout, np.ndarray]]) -> tuple[np.ndarray, ...]:
    """(node index, frame, row, iteration) of all firings of the selected nodes, in firing order.

    Firing order is by row and instruction of the outermost level, then of each inner level.
    """
    frames = reader.layout.frames
    depth = max((len(f.path) for f in frames), default=0)
    parts, keys, iterations = [], [], []
    for index, (node, rows) in enumerate(picked):
        n = len(rows)
        parts.append((np.full(n, index, np.int32), np.full(n, node.frame, np.int32), rows))
        key = np.full((n, 2 * (depth + 1)), -1, np.int64)
        frame, current, ip = node.frame, rows, node.ip
        for level in range(len(frames[frame].path), -1, -1):
            key[:, 2 * level], key[:, 2 * level + 1] = current, ip
            if level:
                current = reader.parent_rows(frame, current)
                ip, frame = frames[frame].start, frames[frame].parent
        keys.append(key)
        own = np.full((n, max(depth, 1)), -1, np.int64)
        own[:, : len(frames[node.frame].path)] = reader.iterations(node.frame, rows)
        iterations.append(own)
    if not parts:
        return (
            np.empty(0, np.int32),
            np.empty(0, np.int32),
            np.empty(0, np.int64),
            np.empty((0, max(depth, 1)), np.int64),
        )
    key = np.concatenate(keys)
    order = np.lexsort(key.T[::-1])
    code, frame_code, row = (np.concatenate(c)[order] for c in zip(*parts, strict=True))
    return code, frame_code, row, np.concatenate(iterations)[order]


def truths(predicate: str, items: Any) -> np.ndarray:
    """Values of a predicate as booleans; TraceError if one is not a single number (which means that the file was
    changed).
    """
    if isinstance(items, np.ndarray) and items.ndim == 1:
        return items.astype(bool)
    if any(np.size(item) != 1 or item is None for item in items):
        raise TraceError(
            f"The predicate {predicate!r} is not one number everywhere.",
            slug="bad-trace",
            fix="the file was changed in transfer: get it again.",
        )
    return np.array([bool(np.ravel(item)[0]) for item in items], bool)


def fired_rows(reader: RowReader, node: NodeLayout) -> np.ndarray:
    return as_array(reader.rows_of(node, node.guard))
