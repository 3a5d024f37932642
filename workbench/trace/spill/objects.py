"""Objects of a row as Arrow values: arrays whose shapes are known only at run time, and strings. No pickle.

A column of objects is a struct: ``dtype`` (the workbench's name of it; "string" if all items are str, "bytes" if all
are bytes, "text" for both; "absent" for values other than arrays, which are not written but recomputed on demand),
``shape``, ``data`` (the items in C order), ``text`` (the items of a string array, in UTF-8; with "text" each is
preceded by a letter s or b). A row without a value is null.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.ir.types import NARROW, NUMERIC, dtype_name, numpy_dtype
from workbench.trace.spill.errors import pyarrow

ABSENT = "absent"
TEXTS = ("string", "bytes", "text")
#: maximum dimensions of an array in NumPy
MAX_RANK = 64


class Absent:
    """Placeholder for a value that is not on disk."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<a value that is not on disk>"


NOT_KEPT = Absent()


def object_type() -> Any:
    """The Arrow type of a column of objects."""
    pa = pyarrow()
    return pa.struct(
        [
            pa.field("dtype", pa.string()),
            pa.field("shape", pa.list_(pa.int64())),
            pa.field("data", pa.large_binary()),
            pa.field("text", pa.list_(pa.large_binary())),
        ]
    )


def encode(items: Sequence[Any]) -> tuple[Any, bool]:
    """(an Arrow struct array of these values, True if some of them are absent)."""
    pa = pyarrow()
    n = len(items)
    kinds = [_kind(i) for i in items]
    shapes = [i.shape if k not in (None, ABSENT) else () for i, k in zip(items, kinds, strict=True)]
    numbers = [
        np.ascontiguousarray(i) if k is not None and k != ABSENT and k not in TEXTS else None
        for i, k in zip(items, kinds, strict=True)
    ]
    texts = [_text(i, k) if k in TEXTS else [] for i, k in zip(items, kinds, strict=True)]
    children = [
        pa.array([k or "" for k in kinds], pa.string()),
        _lists(pa.int64(), [len(s) for s in shapes], pa.array(list(itertools.chain(*shapes)), pa.int64())),
        _binaries([a.reshape(-1).view(np.uint8) if a is not None and a.size else None for a in numbers]),
        _lists(
            pa.large_binary(),
            [len(t) for t in texts],
            _binaries([np.frombuffer(b, np.uint8) if b else None for t in texts for b in t]),
        ),
    ]
    present = np.packbits(np.array([k is not None for k in kinds], bool), bitorder="little")
    missing = sum(k is None for k in kinds)
    mask = None if missing == 0 else pa.py_buffer(present.tobytes())
    return pa.Array.from_buffers(object_type(), n, [mask], null_count=missing, children=children), ABSENT in kinds


class ObjectColumn:
    """A column of objects that was read back; ``part`` is a struct array. ValueError for data in another format."""

    def __init__(self, part: Any) -> None:
        part.validate(full=True)  # offsets that point outside would read foreign memory
        self._missing = np.zeros(len(part), bool) if part.null_count == 0 else ~np.asarray(part.is_valid())
        kinds, shapes, data, texts = (part.field(k) for k in range(4))
        if part.offset or any(f.null_count or f.offset or len(f) != len(part) for f in (kinds, shapes, data, texts)):
            raise ValueError("parts of a struct are missing")
        self._kinds: list[str] = kinds.to_pylist()
        self._dims, self._dim_at = _numpy(shapes.values, np.int64), shapes.offsets.to_numpy()
        self._data, self._data_at = _numpy_bytes(data)
        self._texts, self._text_at = texts.values, texts.offsets.to_numpy()

    def __getitem__(self, row: int) -> Any:
        """The value of a row: a read-only array, None, or NOT_KEPT."""
        if self._missing[row]:
            return None
        kind = self._kinds[row]
        if kind == ABSENT:
            return NOT_KEPT
        shape = tuple(self._dims[self._dim_at[row] : self._dim_at[row + 1]].tolist())
        if len(shape) > MAX_RANK or any(d < 0 for d in shape):
            raise ValueError(f"an array cannot have the shape {shape[:8]}")
        if kind in TEXTS:
            items = self._texts[int(self._text_at[row]) : int(self._text_at[row + 1])].to_pylist()
            if len(items) != math.prod(shape):
                raise ValueError(f"{len(items)} texts for an array of shape {shape}")
            out = np.empty(len(items), object)
            out[:] = [_read_text(i, kind) for i in items]
            out = out.reshape(shape)
        else:
            if kind not in NUMERIC and kind not in NARROW:
                raise ValueError(f"there is no dtype {kind[:40]!r}")
            dtype, data = numpy_dtype(kind), self._data[self._data_at[row] : self._data_at[row + 1]]
            if data.size != math.prod(shape) * dtype.itemsize:
                raise ValueError(f"{data.size} bytes for {kind} of shape {shape}")
            out = data.view(dtype).reshape(shape) if data.size else np.empty(shape, dtype)
        out.flags.writeable = False
        return out


def _numpy(array: Any, dtype: Any) -> np.ndarray:
    if array.null_count or array.offset:
        raise ValueError("numbers are missing")
    buffer = array.buffers()[-1]
    return np.frombuffer(buffer, dtype, len(array)) if buffer is not None and len(array) else np.empty(0, dtype)


def _numpy_bytes(array: Any) -> tuple[np.ndarray, np.ndarray]:
    """(bytes, offsets) of a large_binary array."""
    _, offsets, data = array.buffers()
    at = np.frombuffer(offsets, np.int64, len(array) + 1) if offsets is not None else np.zeros(1, np.int64)
    return np.frombuffer(data, np.uint8) if data is not None and data.size else np.empty(0, np.uint8), at


def weight(items: Sequence[Any]) -> int:
    """Bytes held by objects, each object counted once."""
    return sum(getattr(i, "nbytes", 0) for i in {id(i): i for i in items if i is not None}.values())


def _kind(item: Any) -> str | None:
    if item is None:
        return None
    if not isinstance(item, np.ndarray):
        return ABSENT
    if item.dtype == object:
        kinds = {type(t) for t in item.reshape(-1)}
        if not kinds <= {str, bytes}:
            return ABSENT
        return "bytes" if kinds == {bytes} else "text" if len(kinds) == 2 else "string"
    try:
        name = dtype_name(item.dtype)
    except TypeError:
        return ABSENT
    return name if name in NUMERIC or name in NARROW else ABSENT


def _text(item: np.ndarray, kind: str | None) -> list[bytes]:
    raw = [t if isinstance(t, bytes) else t.encode("utf-8", "surrogatepass") for t in item.reshape(-1)]
    if kind != "text":
        return raw
    return [(b"b" if isinstance(t, bytes) else b"s") + r for t, r in zip(item.reshape(-1), raw, strict=True)]


def _read_text(raw: bytes, kind: str) -> str | bytes:
    if kind == "text":
        raw, kind = raw[1:], "bytes" if raw[:1] == b"b" else "string"
    return raw if kind == "bytes" else raw.decode("utf-8", "surrogatepass")


def _offsets(sizes: Sequence[int], dtype: Any) -> Any:
    out = np.zeros(len(sizes) + 1, dtype)
    np.cumsum(np.asarray(sizes, np.int64), out=out[1:])
    return pyarrow().py_buffer(out)


def _lists(item: Any, lengths: Sequence[int], flat: Any) -> Any:
    pa = pyarrow()
    return pa.Array.from_buffers(
        pa.list_(item), len(lengths), [None, _offsets(lengths, np.int32)], null_count=0, children=[flat]
    )


def _binaries(parts: Sequence[Any]) -> Any:
    """A large_binary array; None stands for an empty item."""
    pa = pyarrow()
    sizes = [0 if p is None else p.nbytes for p in parts]
    data = np.empty(sum(sizes), np.uint8)
    at = 0
    for part, size in zip(parts, sizes, strict=True):
        if part is not None:
            data[at : at + size] = part
            at += size
    return pa.Array.from_buffers(
        pa.large_binary(), len(parts), [None, _offsets(sizes, np.int64), pa.py_buffer(data)], null_count=0
    )
