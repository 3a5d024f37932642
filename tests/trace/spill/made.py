"""A made-up layout of one loop with a column of every kind, and rows for it, drawn from a seed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import workbench as wb
from workbench.ir.types import numpy_dtype
from workbench.kernels.layout import FrameLayout, Layout, NodeLayout, Place, ValueLayout

DTYPES = (
    "bool",
    "int8",
    "uint16",
    "int32",
    "int64",
    "uint64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "complex64",
    "complex128",
    "float8_e4m3fn",
    "int4",
)
SHAPES: tuple[tuple[int, ...], ...] = ((), (3,), (2, 2))


def tiny() -> wb.Graph:
    b = wb.GraphBuilder("made up")
    return b.build(b.placeholder("a", "float64", ()))


def slots() -> list[Place]:
    """Of store 1: every dtype in every shape, two objects at the end."""
    found, offset = [], 0
    for dtype in DTYPES:
        for shape in SHAPES:
            offset = -(-offset // 16) * 16
            found.append(Place(2, offset, 0, dtype, shape))
            offset += numpy_dtype(dtype).itemsize * math.prod(shape)
    offset = -(-offset // 16) * 16
    return [*found, Place(2, offset, 0, None), Place(2, offset + 16, 0, None)]


def row_bytes() -> int:
    return slots()[-1].offset + 16


def layout() -> Layout:
    frames = (FrameLayout((), -1, 8, 0, 9, None), FrameLayout(("loop",), 0, row_bytes(), 1, 8, None))
    values = {("a", k): ValueLayout("a", k, 1, "slot", p, ()) for k, p in enumerate(slots())}
    return Layout(frames, (NodeLayout("a", "placeholder", 1, 2, (), False),), values, (0, 1))


def live(frame: int) -> tuple[np.ndarray, np.ndarray]:
    """One activation of the loop, from the beginning."""
    return np.zeros(1, np.int64), np.zeros(1, np.int64)


def texts(r: np.random.Generator) -> np.ndarray:
    pool: list[Any] = ["", "a", "\u00e9\u4e2d", "x" * 40, "\ud800", b"", b"\xff\x00", b"raw"]
    items = np.empty(int(r.integers(0, 4)), object)
    items[:] = [pool[int(r.integers(len(pool)))] for _ in items]
    return items


def an_object(r: np.random.Generator) -> Any:
    kind = r.integers(5)
    if kind == 0:
        return None
    if kind == 1:
        return texts(r)
    shape = tuple(int(d) for d in r.integers(0, 4, int(r.integers(0, 4))))
    dtype = numpy_dtype(DTYPES[int(r.integers(len(DTYPES)))])
    raw = r.integers(0, 2 if dtype.kind == "b" else 256, (*shape, dtype.itemsize), np.uint8)
    out = np.ascontiguousarray(raw).reshape(-1).view(dtype).reshape(shape)
    return np.asfortranarray(out) if kind == 4 else out


def make_rows(n: int, seed: int) -> tuple[np.ndarray, dict[int, list[Any]]]:
    """(rows, objects) as a machine shows them; bools are 0 or 1."""
    r = np.random.default_rng(seed)
    rows = r.integers(0, 256, (n, row_bytes()), np.uint8)
    for place in slots():
        if place.dtype == "bool":
            rows[:, place.offset : place.offset + math.prod(place.shape)] &= 1
    rows.flags.writeable = False
    return rows, {p.offset: [an_object(r) for _ in range(n)] for p in slots() if p.dtype is None}


def same(one: Any, two: Any) -> bool:
    """Bit for bit; the layout in memory does not count."""
    if not isinstance(one, np.ndarray) or not isinstance(two, np.ndarray):
        return one is two
    if one.dtype != two.dtype or one.shape != two.shape:
        return False
    if one.dtype == object:
        return one.tolist() == two.tolist()
    return one.tobytes() == two.tobytes()


def expected(place: Place, rows: np.ndarray, objects: dict[int, list[Any]], at: range) -> Any:
    """The content of a place in some rows, worked out from the bytes of each row alone."""
    if place.dtype is None:
        return [objects[place.offset][k] for k in at]
    dtype = numpy_dtype(place.dtype)
    size = dtype.itemsize * math.prod(place.shape)
    items = [np.frombuffer(rows[k, place.offset : place.offset + size].tobytes(), dtype) for k in at]
    return np.array(items, dtype).reshape(len(at), *place.shape)
