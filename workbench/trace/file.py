"""Trace files: a zip of JSON and .npy members, version 2. No pickle anywhere.

::

    trace.json                   {"format": "workbench-trace", "version": 2, "frames": [...], "stores": [frame, ...],
                                  "nodes": [...], "values": [...], "extents": [[first, stop, partial, ip], ...],
                                  "firsts": [first row of each further store, ...], "columns": [...], "pool": [...]}
    graph.txt                    the graph's text form
    f<frame>.starts.npy          int64, init row of each activation;  f<frame>.parents.npy: its parent's row
    c<k>.npy                     column k: numbers or arrays of rows first ... last of its store, or, of an object
                                 column whose arrays agree in dtype and shape, those arrays stacked
    c<k>.<row>.npy               otherwise: one array per row; rows whose value is no array are left out
    p<k>.npy                     constant k of the pool

A column entry is {"base", "offset", "dtype", "shape", "kind": "numbers" | "stacked" | "ragged", "first",
"rows"}. Strings are stored as UTF-8 JSON in c<k>.<row>.json. Readers refuse other versions and members that are
larger than they say. Where iterations in between are not kept, the file has version 3 (see ``retention.saved``).
"""

from __future__ import annotations

import io
import json
import math
import zipfile
from os import PathLike
from typing import Any

import numpy as np

from workbench.errors import TraceError, WorkbenchError
from workbench.graph.text import parse
from workbench.graph.types import dtype_name, numpy_dtype
from workbench.kernels.layout import Condition, FrameLayout, Layout, NodeLayout, Place, ValueLayout
from workbench.trace.retention.saved import KeptRows, spans_of
from workbench.trace.retention.tracks import all_places
from workbench.trace.slots import slot_key, slots
from workbench.trace.source import Extent, take_columns
from workbench.trace.spans import FOREVER, Rows, Spans, as_array, holding
from workbench.trace.trace import Trace

FORMAT, VERSION = "workbench-trace", 2
#: version of files that have a part of the rows only (see retention.saved)
PARTIAL = 3
MAX_BYTES = 8 << 30


def load_trace(path: str | PathLike[str]) -> Trace:
    """Read a trace file; raises TraceError with slug ``not-a-trace``, ``trace-version`` or ``bad-trace``."""
    try:
        with zipfile.ZipFile(path) as file:
            if "trace.json" not in file.namelist():
                raise TraceError(f"{path} is no workbench trace: it has no trace.json.", slug="not-a-trace")
            if sum(m.file_size for m in file.infolist()) > MAX_BYTES:
                raise TraceError(f"{path} unpacks to more than {MAX_BYTES >> 30} GiB.", slug="too-large")
            head = json.loads(file.read("trace.json"))
            if not isinstance(head, dict) or head.get("format") != FORMAT:
                raise TraceError(f"{path} is no workbench trace.", slug="not-a-trace")
            if head.get("version") not in (VERSION, PARTIAL):
                raise TraceError(
                    f"{path} has trace format version {head.get('version')!r}; this workbench reads version {VERSION}.",
                    slug="trace-version", fix="save it again with the workbench that wrote it, or update this one.",
                )  # fmt: skip
            graph = parse(file.read("graph.txt").decode())
            layout = _read_layout(head)
            source = SavedSource(file, head, layout)
            source.check(layout)
            return Trace(graph, layout, source)
    except WorkbenchError:
        raise
    except FileNotFoundError:
        raise TraceError(f"There is no file {path}.", slug="no-such-file") from None
    except (zipfile.BadZipFile, IsADirectoryError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise TraceError(f"{path} is no workbench trace: {error}.", slug="not-a-trace") from error
    except Exception as error:  # zipfile and NumPy's header reader raise a dozen kinds on damaged bytes
        raise TraceError(f"{path} is damaged: {error}.", slug="bad-trace") from error


class SavedSource:
    """Rows of a loaded file."""

    epoch = revision = 0

    def changed_from(self, store: int, revision: int) -> int:
        return FOREVER

    def __init__(self, file: zipfile.ZipFile, head: dict[str, Any], layout: Layout) -> None:
        frames = len(layout.frames)
        self._layout = layout
        self._extents = [Extent(*(int(i) for i in e)) for e in head["extents"]]
        self._activations = [
            (_read_array(file, f"f{f}.starts.npy"), _read_array(file, f"f{f}.parents.npy")) for f in range(frames)
        ]
        self._columns = {}
        for entry in head["columns"]:
            self._columns[slot_key(_place(entry | {"shift": 0}))] = (int(entry["first"]), _read_column(file, entry))
        self.partial = bool(head.get("partial", False))
        self._kept: KeptRows | None = None
        self._begun = [len(starts) for starts, _ in self._activations]
        self._known = [int(starts[0]) if len(starts) else 0 for starts, _ in self._activations]
        if self.partial:
            self._kept = _kept_rows_of(head, layout, self._extents, self._columns)
            self._begun, self._known = [[int(i) for i in head[name]] for name in ("begun", "known")]
            if len(self._begun) != frames or len(self._known) != frames:
                raise ValueError("the activations do not fit the frames")
        self._firsts = [int(f) for f in head["firsts"]]
        self._pool = {entry["offset"]: _read_item(file, entry) for entry in head["pool"]}
        if len(self._extents) != frames or len(self._firsts) != len(layout.stores) - frames:
            raise ValueError("the extents do not fit the frames")

    def check(self, layout: Layout) -> None:
        """Every slot that the layout names must be there, with all its rows; raises ValueError."""
        for place in slots(layout):
            if place.base == 0:
                item = self._pool[place.offset]
                if place.dtype is not None and np.shape(item) != place.shape:
                    raise ValueError("a constant is of another shape than its place")
                continue
            first, items = self._columns[slot_key(place)]
            frame = layout.frame_of(place)
            extent = self._extents[frame]
            last = max(extent.stop, extent.partial + 1) if not self.partial or frame == 0 else 0
            least = max(extent.first, self.first(place))
            if last > extent.first and (first > least or first + len(items) < last):
                raise ValueError(f"a column of frame {frame} lacks rows")
            if isinstance(items, np.ndarray) != (place.dtype is not None):
                raise ValueError(f"a column of frame {frame} is of another kind")
            if isinstance(items, np.ndarray) and items.shape[1:] != place.shape:
                raise ValueError(f"a column of frame {frame} holds arrays of another shape")
        for starts, parents in self._activations:
            if (
                starts.shape != parents.shape
                or starts.ndim != 1
                or {starts.dtype.name, parents.dtype.name} != {"int64"}
            ):
                raise ValueError("activations are (n,) int64 arrays")
        for frame, (starts, parents) in enumerate(self._activations):
            if frame == 0 or not len(starts):
                continue
            above = self._extents[layout.frames[frame].parent]
            ordered = (np.diff(starts) >= 0).all() and (np.diff(parents) >= 0).all()
            if not ordered or parents[0] < 0 or parents[-1] >= max(above.stop, above.partial + 1):
                raise ValueError(f"the activations of frame {frame} are not in order, or of rows that are not there")

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
        return self._pool[place.offset]

    def activations(self, frame: int) -> tuple[np.ndarray, np.ndarray]:
        return self._activations[frame]

    def begun(self, frame: int) -> int:
        return self._begun[frame]

    def known(self, frame: int) -> int:
        return self._known[frame]


def shifts_of(layout: Layout) -> dict[Any, set[int]]:
    """With which shifts each column is seen."""
    found: dict[Any, set[int]] = {}
    for place in all_places(layout):
        found.setdefault(slot_key(place), set()).add(place.shift)
    return found


def _kept_rows_of(head: dict[str, Any], layout: Layout, extents: list[Extent], columns: dict[Any, Any]) -> KeptRows:
    """The rows of each column of a loop; ValueError if they do not fit its items."""
    stops, shifts = [max(e.stop, e.partial + 1) for e in extents], shifts_of(layout)
    found = {}
    for entry in head["columns"]:
        place = _place(entry | {"shift": 0})
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


def _place(p: Any) -> Place:
    shape = tuple(int(d) for d in p["shape"])
    return Place(int(p["base"]), int(p["offset"]), int(p["shift"]), p["dtype"], shape, int(p.get("until", -1)))


def _read_array(file: zipfile.ZipFile, name: str) -> np.ndarray:
    data = io.BytesIO(file.read(name))
    reader = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    shape, _, dtype = reader[np.lib.format.read_magic(data)](data)
    if dtype.hasobject or math.prod(shape) * dtype.itemsize != data.getbuffer().nbytes - data.tell():
        raise ValueError(f"{name} does not hold the numbers that it promises")
    data.seek(0)
    array = np.lib.format.read_array(data, allow_pickle=False)
    array.flags.writeable = False
    return array


def _read_item(file: zipfile.ZipFile, entry: dict[str, Any]) -> Any:
    if entry["kind"] == "absent":
        return None
    if entry["kind"] == "text":
        data = json.loads(file.read(f"{entry['name']}.json"))
        out = np.empty(len(data["text"]), object)
        out[:] = data["text"]
        return out.reshape(data["shape"])
    array = _read_array(file, f"{entry['name']}.npy")
    if entry["kind"] != "array":
        raise ValueError(f"{entry['name']} is of kind {entry['kind']!r}")
    if "view" in entry:
        return array.view(numpy_dtype(dtype_name(entry["view"])))
    return array


def _read_column(file: zipfile.ZipFile, entry: dict[str, Any]) -> Any:
    if entry["kind"] not in ("ragged", "numbers", "stacked"):
        raise ValueError(f"column {entry['name']} is of kind {entry['kind']!r}")
    if entry["kind"] == "ragged":
        items = [_read_item(file, e) for e in entry["items"]]
    else:
        array = _read_array(file, f"{entry['name']}.npy")
        if entry["kind"] == "numbers":
            dtype = numpy_dtype(dtype_name(entry["dtype"]))
            array = array.view(dtype) if dtype.isbuiltin == 2 else array  # written as integers of the same bits
        items = array if entry["kind"] == "numbers" else list(array)
    if len(items) != entry["rows"]:
        raise ValueError(f"column {entry['name']} has {len(items)} rows, {entry['rows']} were promised")
    return items


def _read_layout(head: dict[str, Any]) -> Layout:
    def place(p: Any) -> Place | None:
        return None if p is None else _place(p)

    def condition(c: Any) -> Condition:
        found = place(c["place"])
        if found is None:
            raise ValueError("a condition without a place")
        return Condition(found, int(c["expect"]))

    def guard(g: Any) -> tuple[Condition, ...]:
        return tuple(condition(c) for c in g)

    frames = tuple(
        FrameLayout(tuple(f["path"]), int(f["parent"]), int(f["row_bytes"]), int(f["start"]), int(f["stop"]),
                    None if f["cond"] is None else condition(f["cond"]))
        for f in head["frames"]
    )  # fmt: skip
    for number, frame in enumerate(frames):
        if not -1 <= frame.parent < max(number, 1) or (number > 0 and frame.parent < 0):
            raise ValueError(f"frame {number} has no proper parent")
    nodes = tuple(
        NodeLayout(
            n["name"], n["op"], int(n["frame"]), int(n["ip"]), guard(n["guard"]), bool(n["silent"]), bool(n["first"])
        )
        for n in head["nodes"]
    )
    values = {}
    for v in head["values"]:
        branches = tuple((int(i), guard(g)) for i, g in v["branches"])
        values[v["node"], int(v["output"])] = ValueLayout(
            v["node"], int(v["output"]), int(v["frame"]), v["kind"], place(v["place"]), guard(v["guard"]), branches,
            place(v["statistics"]),
        )
    if {v.node for v in values.values()} - {n.name for n in nodes}:
        raise ValueError("a value is of a node that is not there")
    if any(not 0 <= n.frame < len(frames) for n in (*nodes, *values.values())):
        raise ValueError("a node is in a frame that is not there")
    stores = tuple(int(f) for f in head["stores"])
    if stores[: len(frames)] != tuple(range(len(frames))) or any(not 0 <= f < len(frames) for f in stores):
        raise ValueError("the stores do not fit the frames")
    layout = Layout(frames, nodes, values, stores)
    if any(not 0 <= p.base <= len(stores) for p in slots(layout)):
        raise ValueError("a place is in a store that is not there")
    return layout
