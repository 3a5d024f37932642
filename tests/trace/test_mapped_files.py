"""Large arrays of a trace file are mapped, not read: equal values, damage found, odd files read as before."""

from __future__ import annotations

import mmap
import random
import struct
import zipfile

import numpy as np
import pytest

import workbench as wb
from workbench.errors import TraceError
from workbench.trace.saved import mapping


def noise(points: int = 60_000) -> wb.Graph:
    """Three arrays of noise, which hardly shrink and are stored as they are."""
    b = wb.GraphBuilder("noise")
    x = b.placeholder("x", "float64", (points,))
    out, _ = b.while_loop(lambda x, i: i < 3, lambda x, i: (x * 1.7 + b.op("sin", x), i + 1), [x, 0], name="loop")
    return b.build({"x": out})


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A file, and the values in it."""
    path = tmp_path_factory.mktemp("mapped") / "noise.wbtrace"
    with wb.Session(noise(), {"x": np.random.default_rng(3).normal(size=60_000)}) as session:
        session.run()
        session.trace.save(path)
        return path, session.trace["x"].values.copy()


def whole_base(array: np.ndarray) -> object:
    while isinstance(array, np.ndarray) and array.base is not None:
        array = array.base
    return array


def column(trace: wb.Trace) -> np.ndarray:
    place = trace.layout.values[trace.ref("x")].place
    return trace.source.column(place, 0, 4)[1]


def test_large_columns_are_mapped_and_equal(saved):
    path, values = saved
    trace = wb.Trace.load(path)
    mapped = column(trace)
    base = whole_base(mapped)
    assert isinstance(base.obj if isinstance(base, memoryview) else base, mmap.mmap)
    assert mapped.flags.aligned and not mapped.flags.writeable
    assert trace["x"].values.tobytes() == values.tobytes()
    assert list(trace) == trace.names()


def test_a_file_that_is_saved_again_leaves_loaded_traces_as_they_are(saved, tmp_path):
    path, values = saved
    here = tmp_path / "again.wbtrace"
    here.write_bytes(path.read_bytes())
    trace = wb.Trace.load(here)
    with wb.Session(noise(), {"x": np.zeros(60_000)}) as session:
        session.run()
        session.trace.save(here)
    assert trace["x"].values.tobytes() == values.tobytes()
    assert not wb.Trace.load(here)["x"].values.any()


def test_members_at_other_places_are_read(saved, tmp_path):
    """As other writers of zip files leave them: not aligned."""
    path, values = saved
    other = tmp_path / "other.wbtrace"
    with zipfile.ZipFile(path) as file, zipfile.ZipFile(other, "w", zipfile.ZIP_STORED) as into:
        into.writestr("odd.txt", "123")
        for name in file.namelist():
            into.writestr(name, file.read(name))
    trace = wb.Trace.load(other)
    assert trace["x"].values.tobytes() == values.tobytes()


def test_a_changed_byte_of_a_mapped_member_is_found(saved, tmp_path):
    path, _ = saved
    data = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as file:
        large = max(file.infolist(), key=lambda m: m.file_size)
    assert large.compress_type == zipfile.ZIP_STORED and large.file_size >= mapping.LEAST
    data[large.header_offset + large.file_size // 2] ^= 64
    damaged = tmp_path / "damaged.wbtrace"
    damaged.write_bytes(data)
    with pytest.raises(TraceError) as caught:
        wb.Trace.load(damaged)
    assert caught.value.slug == "bad-trace" and caught.value.fix


def test_local_headers_that_lie_are_errors_or_read_as_before(saved, tmp_path):
    path, values = saved
    whole, rng = path.read_bytes(), random.Random(7)
    with zipfile.ZipFile(path) as file:
        large = [m for m in file.infolist() if m.file_size >= mapping.LEAST]
    assert large
    for _ in range(40):
        data, member = bytearray(whole), rng.choice(large)
        at = member.header_offset + rng.randrange(mapping.HEADER)
        data[at] = rng.randrange(256)
        if rng.random() < 0.5:  # the lengths of the name and of the extra fields
            struct.pack_into("<H", data, member.header_offset + rng.choice((26, 28)), rng.randrange(1 << 16))
        odd = tmp_path / "odd.wbtrace"
        odd.write_bytes(data)
        try:
            found = wb.Trace.load(odd)["x"].values
        except TraceError:
            continue
        assert found.tobytes() == values.tobytes()
