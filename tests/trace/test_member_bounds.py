"""Limits of unpacking a trace file: small files that promise gigabytes are refused before memory is taken, and all that
``save`` writes can be read."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import textwrap
import tracemalloc
import zipfile

import numpy as np
import pytest

import workbench as wb
from tests.trace.mutations import members_of
from tests.trace.test_file import recorded
from workbench.errors import TraceError
from workbench.trace.saved.members import MemberReader, MemberWriter

MIB = 1 << 20


@pytest.fixture(scope="module")
def members(tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "t.trace"
    recorded("nested").save(path)
    return members_of(path)


def pack(path, members, extra=None):
    """The file, with more members; what is repeated is written piece by piece."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as file:
        for name, data in members.items():
            file.writestr(name, data)
        for name, (piece, times) in (extra or {}).items():
            with file.open(name, "w", force_zip64=True) as member:
                for _ in range(times):
                    member.write(piece)
    return path


def npy_header(shape):
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(buffer, {"descr": "<i8", "fortran_order": False, "shape": shape})
    return buffer.getvalue()


BOMBS = {
    "a member that nobody asks for": {"c99.npy": (bytes(MIB), 300)},
    "numbers": {"f1.starts.npy": (bytes(MIB), 300)},
    "text": {"more.json": (b"[" * MIB, 40)},
    "many texts": {f"c0.{k}.json": (b'{"shape": [], "text": ["a"]}' + b" " * (MIB // 2), 1) for k in range(60)},
    "the head": {"trace.json": (b"[]," * MIB, 12)},
    "the graph": {"graph.txt": (b'node "a" = Const()\n' * 60_000, 30)},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", BOMBS)
def test_a_small_file_that_unpacks_to_much_is_refused_before_it_is_read(name, members, tmp_path):
    kept = {n: d for n, d in members.items() if n not in BOMBS[name]}
    path = pack(tmp_path / "t.trace", kept, BOMBS[name])
    assert path.stat().st_size < 2 * MIB
    tracemalloc.start()
    try:
        with pytest.raises(TraceError) as caught:
            wb.Trace.load(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert caught.value.slug == "too-large" and "trusted=True" in str(caught.value)
    assert peak < 4 * MIB


def test_the_directory_of_the_file_is_not_believed_twice(members, tmp_path):
    """Two members of one name, and members that are compressed in another way."""
    path = tmp_path / "t.trace"
    with zipfile.ZipFile(path, "w") as file, pytest.warns(UserWarning, match="Duplicate"):
        for name, data in [*members.items(), ("trace.json", b"{}")]:
            file.writestr(name, data)
    with pytest.raises(TraceError, match="same name"):
        wb.Trace.load(path)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as file:
        for name, data in members.items():
            file.writestr(name, data)
    with pytest.raises(TraceError, match="compressed in a way"):
        wb.Trace.load(path)


def test_a_graph_of_too_many_nodes_is_refused_before_it_is_parsed(members, tmp_path):
    lines = "".join(f'node "{k}" = Const()\n' for k in range(600_000))
    changed = {**members, "graph.txt": f'graph "big" version 1\n{lines}'.encode()}
    with zipfile.ZipFile(tmp_path / "t.trace", "w") as file:  # as it is: nothing is hidden by compression
        for name, data in changed.items():
            file.writestr(name, data)
    with pytest.raises(TraceError, match="more than 524,288 nodes") as caught:
        wb.Trace.load(tmp_path / "t.trace")
    assert caught.value.slug == "too-large"


def test_a_header_takes_no_memory(members, tmp_path):
    path = pack(tmp_path / "t.trace", {**members, "f1.starts.npy": npy_header((1 << 40,)) + bytes(800)})
    with pytest.raises(TraceError, match="does not contain the declared numbers"):
        wb.Trace.load(path)


@pytest.mark.parametrize("kind", ["numbers", "text"])
def test_what_is_written_can_be_read(kind, tmp_path):
    """A member that shrinks a hundredfold is stored uncompressed once the file could be refused otherwise."""
    path = tmp_path / "members.zip"
    zeros, words = np.zeros(20 * MIB, np.int64), json.dumps(["the same words"] * 150_000)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
        writer = MemberWriter(file)
        for k in range(3):
            if kind == "numbers":
                writer.array(f"{k}.npy", zeros)
            else:
                writer.text(f"{k}.txt", words)
        methods = [m.compress_type for m in file.infolist()]
    assert methods[0] == zipfile.ZIP_DEFLATED and zipfile.ZIP_STORED in methods
    with zipfile.ZipFile(path) as file:
        reader = MemberReader(file)
        if kind == "numbers":
            assert np.array_equal(reader.array("2.npy"), zeros)
        else:
            assert reader.text("2.txt") == words


def test_a_trusted_file_is_read(members, tmp_path):
    path = pack(tmp_path / "t.trace", members, {"padding.npy": (bytes(MIB), 300)})
    assert wb.Trace.load(path, trusted=True).names() == wb.Trace.load(pack(tmp_path / "u", members)).names()


@pytest.mark.slow
def test_numbers_are_held_once(members, tmp_path):
    """Reading takes the memory of the numbers and no second copy: a limit of the address space between the two."""
    path = tmp_path / "members.zip"
    with zipfile.ZipFile(path, "w") as file:
        MemberWriter(file).array("big.npy", np.arange(12 * MIB, dtype=np.int64))
    code = f"""
        import resource, zipfile
        from workbench.trace.saved.members import MemberReader
        size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (size + {150 * MIB}, -1))
        with zipfile.ZipFile({str(path)!r}) as file:
            print(int(MemberReader(file).array("big.npy")[-1]))
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=300)
    assert done.stdout.strip() == str(12 * MIB - 1), done.stderr[-500:]


def test_numbers_are_compressed_where_a_piece_of_them_shrinks(tmp_path):
    noise, count = np.random.default_rng(0).standard_normal(1 << 17), np.zeros(1 << 17)
    with zipfile.ZipFile(tmp_path / "t.trace", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
        writer = MemberWriter(file)
        writer.array("noise.npy", noise)
        writer.array("count.npy", count)
        writer.array("few.npy", noise[:100])
        assert [m.compress_type for m in file.infolist()] == [
            zipfile.ZIP_STORED,
            zipfile.ZIP_DEFLATED,
            zipfile.ZIP_DEFLATED,
        ]
    with zipfile.ZipFile(tmp_path / "t.trace") as file:
        reader = MemberReader(file)
        assert reader.array("noise.npy").tobytes() == noise.tobytes()
        assert not reader.array("count.npy").any() and reader.array("few.npy").tobytes() == noise[:100].tobytes()
