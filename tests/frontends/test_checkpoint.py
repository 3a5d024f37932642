"""Checkpoints: tensor bundles, handwritten and by TensorFlow, and the slices of a graph."""

from __future__ import annotations

import shutil
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.frontends.protobytes import data, integer, key, shape
from tests.frontends.test_sstable import block, table
from workbench.errors import LoadError
from workbench.frontends.tf.checkpoint import Bundle
from workbench.frontends.tf.checkpoint.crc32c import crc32c, masked
from workbench.frontends.tf.checkpoint.slices import parse_slice
from workbench.frontends.tf.checkpoint.sstable import TableError

HERE = Path(__file__).parent / "data"


def test_what_tensorflow_wrote():
    bundle = Bundle(HERE / "bundle")
    expected = {
        "f": np.arange(600, dtype=np.float32).reshape(20, 30) / 7,
        "h": np.array([1.5, -2], np.float16),
        "d": np.array(np.pi),
        "i8": np.array([-1, 2], np.int8),
        "u16": np.array([65535], np.uint16),
        "i64": np.array([[-(2**63)], [5]]),
        "b": np.array([True, False, True]),
        "c": np.array([1 + 2j], np.complex64),
        "e": np.zeros((0, 4), np.float32),
        "s": np.array([[b"", b"abc"], [b"\x00\xff", b"x" * 300]], object),
        "deep/name/with/a/long/path": np.array(9, np.int32),
        "sliced": np.arange(200 * 3, dtype=np.int32).reshape(200, 3),
    }
    assert set(bundle) == set(expected) and len(bundle) == len(expected)
    for name, array in expected.items():
        found = bundle[name]
        assert found.dtype == array.dtype and found.shape == array.shape and found.tolist() == array.tolist()
        assert not found.flags.writeable


def fixed32(number: int, value: int) -> bytes:
    return key(number, 5) + struct.pack("<I", value)


def entry(raw: bytes, dtype: int = 1, dims=(2,), offset: int = 0, size: int | None = None, shard: int = 0) -> bytes:
    return (
        integer(1, dtype)
        + data(2, shape(*dims))
        + integer(3, shard)
        + integer(4, offset)
        + integer(5, len(raw) if size is None else size)
        + fixed32(6, masked(crc32c(raw)))
    )


def bundle(folder: Path, entries: dict[bytes, bytes], raw: bytes, header: bytes = integer(1, 1)) -> Bundle:
    rows = [(0, k, v) for k, v in sorted({b"": header, **entries}.items())]
    (folder / "v.index").write_bytes(table(block(rows)))
    (folder / "v.data-00000-of-00001").write_bytes(raw)
    return Bundle(folder / "v")


FLOATS = struct.pack("<2f", 1.5, -2.0)


def test_a_bundle_by_hand(tmp_path):
    found = bundle(tmp_path, {b"x": entry(FLOATS), b"y": entry(FLOATS[4:], dims=(), offset=4)}, FLOATS)
    assert found["x"].tolist() == [1.5, -2.0] and found["y"].tolist() == -2.0 and "z" not in found
    with pytest.raises(LoadError) as caught:
        found["z"]
    assert caught.value.slug == "no-such-variable"


def test_the_other_byte_order(tmp_path):
    raw = struct.pack(">2f", 1.5, -2.0)
    found = bundle(tmp_path, {b"x": entry(raw)}, raw, header=integer(1, 1) + integer(2, 1))
    assert found["x"].tolist() == [1.5, -2.0]


SLICE = b"\x00x\x00\x01\x01\x01\x80\x81"  # slice 0,1 of the only dimension of "x"
BAD_BUNDLES = {
    "wrong checksum": (entry(b"other"), "bad-checkpoint"),
    "one bit": (entry(FLOATS[:-1] + b"\xc1", size=8), "bad-checksum"),
    "more elements than bytes": (entry(FLOATS, dims=(3,)), "bad-checkpoint"),
    "dimensions beyond all numbers": (entry(FLOATS, dims=(2**62, 2**62)), "bad-checkpoint"),
    "a negative dimension": (entry(FLOATS, dims=(-2,)), "bad-shape"),
    "an unknown dimension": (entry(FLOATS, dims=(-1,)), "bad-checkpoint"),
    "2 GB of a small file": (entry(FLOATS, dims=(2**29,), size=2**31), "truncated"),
    "a negative size": (entry(FLOATS, size=-8), "bad-checkpoint"),
    "a negative offset": (entry(FLOATS, offset=-8), "bad-checkpoint"),
    "another shard": (entry(FLOATS, shard=1), "bad-checkpoint"),
    "a dtype without values": (entry(FLOATS, dtype=20), "unknown-dtype"),
    "no dtype": (entry(FLOATS, dtype=0), "unknown-dtype"),
    "no message": (b"\xff", "bad-checkpoint"),
    "strings beyond the file": (entry(FLOATS, dtype=7, dims=(2**40,)), "bad-checkpoint"),
    "damaged strings": (entry(FLOATS, dtype=7, dims=(3,)), "bad-checkpoint"),
    "a slice that is not there": (entry(b"") + data(7, data(1, integer(2, 2))), "bad-checkpoint"),
    "a slice beyond its tensor": (entry(b"") + data(7, data(1, integer(2, 3))), "bad-checkpoint"),
    "a slice of another rank": (entry(b"") + data(7, b""), "bad-checkpoint"),
    "a slice that does not fill it": (entry(b"") + data(7, data(1, integer(1, 0) + integer(2, 1))), "bad-checkpoint"),
    "a terabyte out of slices": (
        entry(b"", dims=(2**40,)) + data(7, data(1, integer(1, 0) + integer(2, 1))) * 2,
        "bad-checkpoint",
    ),
    "one slice twice": (entry(b"") + data(7, data(1, integer(1, 0) + integer(2, 1))) * 2, "bad-checkpoint"),
}


@pytest.mark.parametrize("row, slug", BAD_BUNDLES.values(), ids=BAD_BUNDLES)
def test_bad_bundles(tmp_path, row, slug):
    found = bundle(tmp_path, {b"x": row, SLICE: entry(FLOATS[:4], dims=(1,))}, FLOATS)
    with pytest.raises(LoadError) as caught:
        found["x"]
    assert caught.value.slug == slug, caught.value


def test_bad_headers_and_missing_files(tmp_path):
    for header in (integer(1, 0), integer(1, -1), integer(1, 10**6), b"\xff"):
        with pytest.raises(TableError):
            bundle(tmp_path, {}, b"", header=header)
    found = bundle(tmp_path, {b"x": entry(FLOATS)}, FLOATS)
    (tmp_path / "v.data-00000-of-00001").unlink()
    for wrong in (found.__getitem__, lambda _: Bundle(tmp_path / "nothing")):
        with pytest.raises(LoadError) as caught:
            wrong("x")
        assert caught.value.slug == "no-such-file"


@settings(max_examples=150, deadline=None)
@given(choice=st.data())
def test_damaged_bundles(tmp_path_factory, choice):
    folder = tmp_path_factory.mktemp("damaged")
    for path in HERE.glob("bundle.*"):
        shutil.copy(path, folder)
    victim = choice.draw(st.sampled_from(sorted(folder.iterdir())))
    raw = bytearray(victim.read_bytes())
    for at in choice.draw(st.lists(st.integers(0, len(raw) - 1), max_size=3)):
        raw[at] ^= choice.draw(st.integers(1, 255))
    victim.write_bytes(raw[: choice.draw(st.one_of(st.none(), st.integers(0, len(raw))))])
    good = Bundle(HERE / "bundle")
    try:
        found = Bundle(folder / "bundle")
        for name in found:
            assert found[name].tolist() == good[name].tolist()  # a valid checksum means the same values
    except LoadError as error:
        assert error.slug and str(error)


def test_slices_of_a_graph():
    assert parse_slice("") is None
    assert parse_slice("10 20 0,5:-") == ((10, 20), ((0, 5), (0, None)))
    for bad in ("10", "10 20 0,5", "10 0,11", "10 -1,2", "x 0,1", "10 1", "10 0,1,2", " "):
        with pytest.raises(LoadError):
            parse_slice(bad)
