"""The columns that a store has on disk: one for each slot of the layout, named after the value in it."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

from workbench.ir.graph import Graph
from workbench.ir.node import Ref
from workbench.ir.types import numpy_dtype
from workbench.kernels.layout import Layout, Place
from workbench.trace.layout_columns import slots
from workbench.trace.spill.errors import pyarrow
from workbench.trace.spill.objects import object_type

FORMAT, VERSION = "workbench-spill", 1
#: key of the description in a file's schema
METADATA = b"workbench.spill"
ROW = "row"
#: bytes of a reference in a row
REFERENCE = 8

#: dtypes whose bits Arrow stores under another name; complex numbers are pairs
_BITS = {"bool": "uint8", "bfloat16": "uint16", "complex64": "float32", "complex128": "float64"}


@dataclass(frozen=True, slots=True)
class Named:
    """A value that can be read from a column: in its own row, or with shift -1 in the next one."""

    name: str
    shift: int


@dataclass(frozen=True, slots=True)
class SpillColumn:
    """Bytes ``offset`` to ``offset + size`` of a row; if dtype is None, a reference to an object."""

    name: str
    offset: int
    size: int
    dtype: str | None
    shape: tuple[int, ...]
    values: tuple[Named, ...] = ()

    @property
    def count(self) -> int:
        """Numbers per row in Arrow's layout."""
        return math.prod(self.shape) * (2 if self.dtype in ("complex64", "complex128") else 1)

    @property
    def arrow(self) -> Any:
        """The Arrow type."""
        pa = pyarrow()
        if self.dtype is None:
            return object_type()
        name = _BITS.get(self.dtype, self.dtype)
        if not hasattr(pa, name):  # 8 bits and less
            name = "uint8"
        item = getattr(pa, name)()
        if self.shape == () and self.count == 1:
            return item
        return pa.list_(pa.field("item", item, nullable=False), self.count)


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of one store, ordered by offset."""

    store: int
    frame: tuple[str, ...]
    row_bytes: int
    columns: tuple[SpillColumn, ...]

    def find(self, place: Place) -> tuple[int, int]:
        """(index of the column that contains a place, offset of the place in it); KeyError if there is none."""
        size = size_of(place)
        for number, column in enumerate(self.columns):
            if column.offset <= place.offset and place.offset + size <= column.offset + column.size:
                if (column.dtype is None) == (place.dtype is None):
                    return number, place.offset - column.offset
        raise KeyError(f"no column holds {place}")

    def schema(self, graph: Graph) -> Any:
        """The Arrow schema: row numbers, then the columns; the metadata contains the description as JSON."""
        pa = pyarrow()
        fields = [pa.field(ROW, pa.int64(), nullable=False)]
        for column in self.columns:
            metadata = {"dtype": column.dtype or "object", "shape": json.dumps(column.shape)}
            metadata["values"] = json.dumps([n.name for n in column.values])
            fields.append(pa.field(column.name, column.arrow, nullable=column.dtype is None, metadata=metadata))
        head = {
            "format": FORMAT,
            "version": VERSION,
            "graph": graph.name,
            "fingerprint": graph.fingerprint,
            "frame": list(self.frame),
            "store": self.store,
            "columns": [asdict(c) for c in self.columns],
        }
        return pa.schema(fields, metadata={METADATA: json.dumps(head)})


def size_of(place: Place) -> int:
    """Bytes of a place in a row."""
    if place.dtype is None:
        return REFERENCE
    return numpy_dtype(place.dtype).itemsize * math.prod(place.shape)


def columns_of(graph: Graph, layout: Layout) -> dict[int, Columns]:
    """The columns of every store whose rows can be dropped: all except those of the outermost level."""
    names = _names(graph, layout)
    by_store: dict[int, list[Place]] = {}
    for place in slots(layout):
        if place.base > 0 and layout.frame_of(place) > 0 and size_of(place):
            by_store.setdefault(place.base - 1, []).append(place)
    found = {}
    for store, frame in enumerate(layout.stores or range(len(layout.frames))):
        if frame > 0:
            columns = _columns(by_store.get(store, []), names)
            row_bytes = max((c.offset + c.size for c in columns), default=0)
            found[store] = Columns(store, layout.frames[frame].path, row_bytes, columns)
    return found


def _names(graph: Graph, layout: Layout) -> dict[tuple[int, int, int], list[Named]]:
    """(base, offset, size) -> the values at that place; those with shift 0 first."""
    found: dict[tuple[int, int, int], list[Named]] = {}
    for (node, output), value in layout.values.items():
        name = graph.name_of(Ref(node, output))
        for place, text in ((value.place, name), (value.statistics, f"{name} statistics")):
            if place is not None and place.base > 0:
                found.setdefault((place.base, place.offset, size_of(place)), []).append(Named(text, place.shift))
    for named in found.values():
        named.sort(key=lambda n: -n.shift)
    return found


def _columns(slots: Iterable[Place], names: dict[tuple[int, int, int], list[Named]]) -> tuple[SpillColumn, ...]:
    """Slots that contain others (an array whose part is also a value) form one column with them."""
    columns: list[SpillColumn] = []
    taken = {ROW}
    for place in sorted(slots, key=lambda p: (p.offset, -size_of(p), p.dtype or "", p.shape)):
        size = size_of(place)
        last = columns[-1] if columns else None
        if last is not None and place.offset < last.offset + last.size:
            end = max(last.offset + last.size, place.offset + size)
            if end > last.offset + last.size:  # neither contains the other: store their raw bytes
                columns[-1] = replace(last, size=end - last.offset, dtype="uint8", shape=(end - last.offset,))
            continue
        values = tuple(names.get((place.base, place.offset, size), ()))
        name = values[0].name if values else f"slot {place.offset}"
        while name in taken:
            name += "_"
        taken.add(name)
        columns.append(SpillColumn(name, place.offset, size, place.dtype, place.shape, values))
    return tuple(columns)
