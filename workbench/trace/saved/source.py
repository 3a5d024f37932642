"""Rows of a trace loaded from a file; inconsistent data is a ValueError."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.ir.types import dtype_name, numpy_dtype
from workbench.kernels.layout import Layout, Place, ValueLayout
from workbench.trace.layout_columns import slot_key, slots
from workbench.trace.retention.saved import KeptRows, spans_of
from workbench.trace.retention.tracks import all_places
from workbench.trace.row_ranges import FOREVER, Rows, Spans, as_array, holding
from workbench.trace.saved.items import held_item
from workbench.trace.saved.layout import place_of, whole
from workbench.trace.saved.mapping import HeldItems, MappedNumbers, taken
from workbench.trace.saved.members import MemberReader
from workbench.trace.source import Extent, take_columns


class SavedSource:
    """Rows of a loaded file."""

    epoch = revision = 0

    def changed_from(self, store: int, revision: int) -> int:
        return FOREVER

    def __init__(self, file: MemberReader, head: dict[str, Any], layout: Layout) -> None:
        frames = len(layout.frames)
        self._layout = layout
        self._extents = [_extent_of(e) for e in head["extents"]]
        self._activations = [(file.array(f"f{f}.starts.npy"), file.array(f"f{f}.parents.npy")) for f in range(frames)]
        if len(self._extents) != frames:
            raise ValueError("the extents do not fit the frames")
        self._check_activations()
        self._columns: dict[Any, tuple[int, Any]] = {}
        for entry in head["columns"]:
            key = slot_key(place_of(entry | {"shift": 0}))
            if not 0 < key[0] <= len(layout.stores) or key in self._columns:
                raise ValueError("a column belongs to a store that does not exist, or occurs twice")
            self._columns[key] = whole(entry["first"]), _read_column(file, entry)
        self.partial = bool(head.get("partial", False))
        self._kept: KeptRows | None = None
        self._begun = [len(starts) for starts, _ in self._activations]
        self._known = [int(starts[0]) if len(starts) else 0 for starts, _ in self._activations]
        if self.partial:
            self._kept = _kept_rows_of(head, layout, self._extents, self._columns)
            self._begun, self._known = [[whole(i, name, -1) for i in head[name]] for name in ("begun", "known")]
            if len(self._begun) != frames or len(self._known) != frames:
                raise ValueError("the activations do not fit the frames")
        self._firsts = [whole(f) for f in head["firsts"]]
        self._pool = {whole(entry["offset"]): held_item(file, entry) for entry in head["pool"]}
        if len(self._firsts) != len(layout.stores) - frames:
            raise ValueError("the first rows do not fit the stores")

    def _check_activations(self) -> None:
        """Activations must be consecutive in the rows of their frame, and belong to rows of the enclosing frame."""
        for frame, (starts, parents) in enumerate(self._activations):
            if starts.shape != parents.shape or starts.ndim != 1:
                raise ValueError("activations are two arrays of one length")
            if starts.dtype != np.int64 or parents.dtype != np.int64:
                raise ValueError("activations are int64 numbers")
            if frame == 0 or not len(starts):
                continue
            own, above = self._extents[frame], self._extents[self._layout.frames[frame].parent]
            ordered = (starts[1:] > starts[:-1]).all() and (parents[1:] >= parents[:-1]).all()
            within = starts[0] >= 0 and starts[-1] < own.end and parents[0] >= 0 and parents[-1] < max(above.end, 1)
            if not ordered or not within:
                raise ValueError(
                    f"the activations of frame {frame} are not in order, or belong to rows that do not exist"
                )

    def check(self, layout: Layout) -> None:
        """Check that every slot named by the layout is present, with all its rows; otherwise ValueError."""
        for place in slots(layout):
            if place.base == 0:
                item = self._pool[place.offset]
                if place.dtype is not None:
                    _check_type(item, place, place.shape, "a constant")
                continue
            first, items = self._columns[slot_key(place)]
            frame = layout.frame_of(place)
            extent = self._extents[frame]
            last = extent.end if not self.partial or frame == 0 else 0
            least = max(extent.first, self.first(place))
            if last > extent.first and (first > least or first + len(items) < last):
                raise ValueError(f"a column of frame {frame} lacks rows")
            if place.dtype is not None:
                _check_type(items, place, (len(items), *place.shape), f"a column of frame {frame}")
            elif not isinstance(items, HeldItems):
                raise ValueError(f"a column of frame {frame} is of another kind")

    def extent(self, frame: int) -> Extent:
        return self._extents[frame]

    def column(self, place: Place, start: int, stop: int, step: int = 1) -> tuple[int, Any]:
        if self._kept is not None and self._layout.frame_of(place) > 0:
            return start, self.take(place, range(start, stop, step))
        first, items = self._columns[slot_key(place)]
        low = max(0, start + place.shift - first)
        low += -(low - (start + place.shift - first)) % step  # keep the phase where rows are missing at the front
        return low + first - place.shift, items[low : max(low, stop + place.shift - first) : step]

    def first(self, place: Place) -> int:
        if place.until >= 0 and not (place.dtype or len(self._columns[slot_key(place)][1])):
            return 1  # an object that was released
        if place.dtype and 0 <= place.until < self._extents[0].ip:
            return 1
        if place.base <= len(self._layout.frames):
            return 0 if place.base == 0 else self._extents[place.base - 1].first
        return self._firsts[place.base - 1 - len(self._layout.frames)] - place.shift

    def held(self, place: Place) -> Spans:
        if self._kept is not None and place.base > 0 and self._layout.frame_of(place) > 0:
            return self._kept.held(slot_key(place), place.shift)
        return (range(self.first(place), FOREVER),)

    def complete(self, frame: int) -> Spans:
        if self._kept is not None and frame > 0:
            return self._kept.complete(frame)
        return (range(self._extents[frame].first, FOREVER),)

    def take(self, place: Place, rows: Rows) -> Any:
        if self._kept is not None and self._layout.frame_of(place) > 0:
            return self._kept.take(slot_key(place), place, rows)
        return take_columns(self, place, rows)

    def blocks(self, value: ValueLayout, first_only: bool) -> tuple[np.ndarray, int, int] | None:
        return None

    def pool(self, place: Place) -> Any:
        return taken(self._pool[place.offset])

    def activations(self, frame: int) -> tuple[np.ndarray, np.ndarray]:
        return self._activations[frame]

    def begun(self, frame: int) -> int:
        return self._begun[frame]

    def known(self, frame: int) -> int:
        return self._known[frame]


def shifts_of(layout: Layout) -> dict[Any, set[int]]:
    """The shifts with which each column is read."""
    found: dict[Any, set[int]] = {}
    for place in all_places(layout):
        found.setdefault(slot_key(place), set()).add(place.shift)
    return found


def _kept_rows_of(head: dict[str, Any], layout: Layout, extents: list[Extent], columns: dict[Any, Any]) -> KeptRows:
    """The rows of each column of a loop; ValueError if they do not match its items."""
    stops, shifts = [e.end for e in extents], shifts_of(layout)
    found = {}
    for entry in head["columns"]:
        place = place_of(entry | {"shift": 0})
        frame = layout.frame_of(place)
        if frame > 0:
            spans = spans_of(entry["runs"], stops[frame])
            if sum(map(len, spans)) != len(columns[slot_key(place)][1]):
                raise ValueError("the runs of a column do not fit its items")
            seen = {shift: spans_of(entry["seen"][str(shift)], stops[frame]) for shift in shifts[slot_key(place)]}
            for shift, rows in seen.items():
                if not all(holding(spans, as_array(r) + shift).all() for r in rows):
                    raise ValueError("rows see items that a column does not have")
            found[slot_key(place)] = seen, spans, columns[slot_key(place)][1]
    return KeptRows(found, [spans_of(runs, stop) for runs, stop in zip(head["complete"], stops, strict=True)])


def _extent_of(entry: Any) -> Extent:
    first, stop, partial, ip = entry
    partial, ip = whole(partial, "the row in progress", -1), whole(ip, "an instruction", -1)
    extent = Extent(whole(first), whole(stop), partial, ip)
    if extent.first > extent.stop or extent.partial not in (-1, extent.stop):
        raise ValueError("the rows of a frame do not follow one another")
    return extent


def _check_type(items: Any, place: Place, shape: tuple[int, ...], what: str) -> None:
    """Check that numbers have the dtype and shape declared by their place."""
    dtype = numpy_dtype(place.dtype or "")
    if not isinstance(items, np.ndarray | np.generic | MappedNumbers) or items.dtype != dtype or items.shape != shape:
        raise ValueError(f"{what} is of another dtype or shape than its place")


def _parts(array: np.ndarray | MappedNumbers) -> list[Any]:
    return array.parts() if isinstance(array, MappedNumbers) else list(array)


def _read_column(file: MemberReader, entry: dict[str, Any]) -> Any:
    if entry["kind"] not in ("ragged", "numbers", "stacked"):
        raise ValueError(f"column {entry['name']} is of kind {entry['kind']!r}")
    if entry["kind"] == "ragged":
        items = HeldItems([held_item(file, e) for e in entry["items"]])
    else:
        array = file.held(f"{entry['name']}.npy")
        if entry["kind"] == "numbers":
            dtype = numpy_dtype(dtype_name(entry["dtype"]))
            array = array.view(dtype) if dtype.isbuiltin == 2 else array  # written as integers with the same bits
        items = array if entry["kind"] == "numbers" else HeldItems(_parts(array))
    if len(items) != whole(entry["rows"]):
        raise ValueError(f"column {entry['name']} has {len(items)} rows, not {entry['rows']} as declared")
    return items
