"""Large arrays of a trace file are mapped, not read: equal values, damage found, odd files read as before."""

from __future__ import annotations

import os
import random
import struct
import subprocess
import sys
import threading
import zipfile

import numpy as np
import pytest

import workbench as wb
from workbench.errors import TraceError
from workbench.ir.buffers import memory_of
from workbench.trace.saved import mapping
from workbench.trace.saved.mapping import HeldItems, MappedNumbers


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


def column(trace: wb.Trace) -> np.ndarray:
    place = trace.layout.values[trace.ref("x")].place
    return trace.source.column(place, 0, 4)[1]


def held(trace: wb.Trace) -> list[object]:
    """The columns and items that a loaded trace holds."""
    found = [items for _, items in trace.source._columns.values()]
    return [*found, *(i for items in found if isinstance(items, HeldItems) for i in items._items)]


def test_large_columns_are_mapped_and_equal(saved):
    path, values = saved
    trace = wb.Trace.load(path)
    assert any(isinstance(item, MappedNumbers) for item in held(trace))
    shown = column(trace)
    assert all(isinstance(memory_of(item), np.ndarray) for item in shown)  # a copy, which nobody else can change
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


def copied(saved, folder):
    path = folder / "run.wbtrace"
    path.write_bytes(saved[0].read_bytes())
    os.utime(path, (1, 1))
    return path


def test_a_file_that_is_written_in_place_is_an_error_and_never_other_numbers(saved, tmp_path):
    path = copied(saved, tmp_path)
    trace = wb.Trace.load(path)
    with path.open("r+b") as file:
        file.write(bytes(path.stat().st_size))
    for ask in (lambda: trace["x"].values, lambda: trace["x"][-1], lambda: trace.save(tmp_path / "other.wbtrace")):
        with pytest.raises(TraceError) as caught:
            ask()
        assert caught.value.slug == "file-changed" and "run.wbtrace" in str(caught.value) and caught.value.fix
    assert [p.name for p in tmp_path.iterdir()] == ["run.wbtrace"]


def test_a_file_that_is_replaced_or_removed_stays_as_it_was_loaded(saved, tmp_path):
    path = copied(saved, tmp_path)
    traces = [wb.Trace.load(path)]
    (tmp_path / "new").write_bytes(bytes(1000))
    os.replace(tmp_path / "new", path)
    path.write_bytes(saved[0].read_bytes())
    traces.append(wb.Trace.load(path))
    path.unlink()
    for trace in traces:
        assert trace["x"].values.tobytes() == saved[1].tobytes()


def test_a_file_that_others_can_write_is_copied(saved, tmp_path):
    for mode, shared in ((0o777, False), (0o1777, True), (0o755, True)):
        folder = tmp_path / oct(mode)
        folder.mkdir()
        folder.chmod(mode)
        path = copied(saved, folder)
        trace = wb.Trace.load(path)
        assert any(isinstance(item, MappedNumbers) for item in held(trace)) == shared
        path.write_bytes(bytes(10))
        if not shared:
            assert trace["x"].values.tobytes() == saved[1].tobytes()
    path = copied(saved, tmp_path)
    path.chmod(0o666)
    assert not any(isinstance(item, MappedNumbers) for item in held(wb.Trace.load(path)))


#: in a process of its own, which would die
CUT = """
import faulthandler, os, sys, threading
import workbench as wb
from workbench.errors import WorkbenchError
path, when = sys.argv[1:]
if when == "with a handler in front":
    faulthandler.enable()
trace = wb.Trace.load(path)
size = os.path.getsize(path)
def slugs(count):
    for _ in range(count):
        try:
            trace["x"].values
            yield "read"
        except WorkbenchError as error:
            yield error.slug
if when == "while it is read":
    cut = threading.Timer(0.05, os.truncate, (path, 4096))
    cut.start()
    seen = []
    while "file-changed" not in seen:
        seen += slugs(1)
    cut.join()
else:
    os.truncate(path, 4096)
    seen = list(slugs(2))
print(*sorted(set(seen)))
"""


@pytest.mark.slow
@pytest.mark.parametrize("when", ["before", "with a handler in front", "while it is read"])
def test_a_file_that_is_cut_short_is_an_error_and_not_the_end_of_the_process(saved, tmp_path, when):
    path = copied(saved, tmp_path)
    done = subprocess.run([sys.executable, "-c", CUT, path, when], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, (done.returncode, done.stderr[-2000:])
    assert done.stdout.split()[0] == "file-changed"


def test_reading_while_another_program_writes(saved, tmp_path):
    """Whatever is read is what was loaded, or an error: never a mixture."""
    path, stop = copied(saved, tmp_path), threading.Event()
    trace, junk = wb.Trace.load(path), bytes(1 << 16)

    def write():
        with path.open("r+b", buffering=0) as file:
            while not stop.is_set():
                file.seek(0)
                for _ in range(path.stat().st_size >> 16):
                    file.write(junk)

    writer, changed = threading.Thread(target=write), 0
    writer.start()
    try:
        while not changed:
            try:
                assert trace["x"].values.tobytes() == saved[1].tobytes()
            except TraceError as error:
                assert error.slug == "file-changed"
                changed += 1
    finally:
        stop.set()
        writer.join()
    with pytest.raises(TraceError, match="has changed"):
        _ = trace["x"].values
