"""Files that a stranger changed are errors that say so, and never a crash or a wrong length."""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.trace.spill import made

pytest.importorskip("pyarrow")

from workbench.errors import TraceError  # noqa: E402
from workbench.trace.spill import SpillError, SpillStore  # noqa: E402

N = 40


def written(folder: Path, compression: str | None = None) -> SpillStore:
    store = SpillStore(folder, made.tiny(), made.layout(), made.live, compression=compression)
    store.retire(1, 0, *made.make_rows(N, 1))
    store.flush()
    store._writer.files.maps.clear()
    return store


def data_file(store: SpillStore) -> Path:
    (found,) = store.folder.glob("*.arrow")
    return found


def read_everything(store: SpillStore) -> None:
    for place in made.slots():
        first, items = store.column(place, 0, N)
        assert first == 0 and len(items) == N
        if place.dtype is None:
            assert all(i is None or isinstance(i, np.ndarray) and i.nbytes < 1 << 20 for i in items)
        else:
            assert items.shape == (N, *place.shape)


@pytest.mark.parametrize("compression", [None, "zstd"])
@pytest.mark.parametrize("seed", range(60))
def test_changed_bytes_are_an_error_or_other_numbers(tmp_path, seed, compression):
    """Bytes of numbers cannot be told from others; all that says how long something is can."""
    r = random.Random(seed)
    store = written(tmp_path, compression)
    path = data_file(store)
    with open(path, "r+b") as file:
        for _ in range(r.choice([1, 4, 40])):
            at = r.randrange(path.stat().st_size)
            file.seek(at if seed % 3 else min(at, r.randrange(1, 6000)))
            file.write(bytes([r.randrange(256)]) * r.choice([1, 1, 8]))
            file.truncate(store.status.on_disk)
    for _ in range(2):
        try:
            read_everything(store)
        except TraceError as error:
            assert isinstance(error, SpillError) and error.slug == "spill-changed" and error.fix
    store.close()


def test_every_byte_of_the_message_may_be_anything(tmp_path):
    """The description of a batch, byte by byte: lengths that are negative, huge or wrong."""
    store = written(tmp_path)
    path = data_file(store)
    whole = path.read_bytes()
    offset = store._writer.files._open[1].blocks[0][0]
    length = 8 + int.from_bytes(whole[offset + 4 : offset + 8], "little")
    refused = 0
    for at in range(offset, offset + length, 8):
        for byte in (0x00, 0x7F, 0xFF):
            with open(path, "r+b") as file:
                file.seek(at)
                file.write(bytes([byte]))
            store._writer.files.maps.clear()
            try:
                read_everything(store)
            except SpillError as error:
                assert error.slug == "spill-changed"
                refused += 1
            with open(path, "r+b") as file:
                file.seek(at)
                file.write(whole[at : at + 1])
    assert refused > 50
    store._writer.files.maps.clear()
    read_everything(store)
    store.close()


def test_a_file_that_became_shorter_while_it_was_mapped(tmp_path):
    store = written(tmp_path)
    read_everything(store)
    os.truncate(data_file(store), 4096)
    for _ in range(2):
        with pytest.raises(SpillError, match="fewer|bytes of") as caught:
            read_everything(store)
        assert caught.value.slug == "spill-changed"
        store._writer.files.maps.clear()
    store.close()


def test_another_file_in_its_place_a_link_and_none_at_all(tmp_path):
    store = written(tmp_path / "a")
    other = tmp_path / "copy"
    shutil.copy(data_file(store), other)
    path = data_file(store)
    path.unlink()
    shutil.copy(other, path)
    with pytest.raises(SpillError) as caught:
        read_everything(store)
    assert caught.value.slug in ("spill-changed",)
    path.unlink()
    path.symlink_to(other)
    with pytest.raises(SpillError) as caught:
        read_everything(store)
    assert caught.value.slug == "spill-changed"
    path.unlink()
    with pytest.raises(SpillError) as caught:
        read_everything(store)
    assert caught.value.slug == "spill-missing"
    store.close()
    assert other.exists()


def test_a_manifest_is_never_believed(tmp_path):
    """It is written for others; what is read comes from memory."""
    store = written(tmp_path)
    (store.folder / "manifest.json").write_text('{"files": [{"file": "../../etc/passwd", "first": 0, "stop": 1e300}]}')
    read_everything(store)
    store.close()
    assert list(tmp_path.iterdir()) == []
