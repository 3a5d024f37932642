"""Rows on disk are what they were in memory, bit for bit: written, waiting, cut off by going back and written anew."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.trace.spill import made

pytest.importorskip("pyarrow")

from workbench.trace.spill import SpillError, SpillStore  # noqa: E402


def make_store(folder: Path, **options: Any) -> SpillStore:
    return SpillStore(folder, made.tiny(), made.layout(), made.live, **options)


def check(found: tuple[int, Any], place: Any, rows: Any, objects: Any, at: range, first: int) -> None:
    assert found[0] == first
    wanted = made.expected(place, rows, objects, at)
    if place.dtype is None:
        assert len(found[1]) == len(wanted)
        assert all(made.same(a, b) for a, b in zip(found[1], wanted, strict=True))
    else:
        assert made.same(np.ascontiguousarray(found[1]), wanted)


@pytest.mark.parametrize("compression", [None, "lz4", "zstd"])
def test_every_kind_of_column_comes_back_bit_for_bit(tmp_path, compression):
    rows, objects = made.make_rows(200, 1)
    store = make_store(tmp_path, compression=compression, segment_bytes=20_000)
    for start in range(0, 200, 25):
        part = {o: items[start : start + 25] for o, items in objects.items()}
        store.retire(1, start, rows[start : start + 25], part)
        store.flush()  # else they would go into one batch
    store.flush()
    assert store.extent(1) == (0, 200)
    assert len(list(store.folder.glob("*.arrow"))) > 2
    for place in made.slots():
        check(store.column(place, 0, 200), place, rows, objects, range(200), 0)
        check(store.column(place, 13, 190, 7), place, rows, objects, range(13, 190, 7), 13)
        check(store.column(place, 77, 78), place, rows, objects, range(77, 78), 77)
        before = replace(place, shift=-1)
        check(store.column(before, 78, 79), place, rows, objects, range(77, 78), 78)
        assert store.first(before) == 1
    store.close()


@given(st.lists(st.tuples(st.integers(1, 30), st.integers(0, 200), st.booleans()), min_size=1, max_size=12))
@settings(max_examples=30, deadline=None)
def test_rows_written_and_made_anew_read_as_the_newest_ones(steps):
    """A model: the rows as one array in memory. Each step appends some rows or goes back to one."""
    import tempfile

    place = made.slots()[9 * 3]
    thing = made.slots()[-1]
    with tempfile.TemporaryDirectory() as folder:
        store = make_store(Path(folder), segment_bytes=4000, queue_bytes=20_000)
        held = np.empty((0, made.row_bytes()), np.uint8)
        objects: list[Any] = []
        for number, (n, back, go_back) in enumerate(steps):
            if go_back:
                store.rewind(1, back)
                held, objects = held[:back], objects[:back]
            rows, things = made.make_rows(n, number)
            store.retire(1, len(held), rows, things)
            held, objects = np.concatenate([held, rows]), objects + things[thing.offset]
            if back % 3 == 0:
                store.flush()
            assert store.extent(1) == (0, len(held))
            check(store.column(place, 0, len(held)), place, held, {}, range(len(held)), 0)
            check(store.column(thing, 0, len(held)), thing, held, {thing.offset: objects}, range(len(held)), 0)
        store.flush()
        check(store.column(place, 0, len(held), 3), place, held, {}, range(0, len(held), 3), 0)
        on_disk = sum(f.stat().st_size for f in store.folder.glob("*.arrow"))
        assert on_disk == store.status.on_disk
        store.close()
        assert list(Path(folder).iterdir()) == []


def test_rows_that_overlap_what_is_there_are_taken_once(tmp_path):
    """Going back to a row in the middle of a chunk: its first rows are here already, and are the right ones."""
    rows, objects = made.make_rows(60, 3)
    other, _ = made.make_rows(60, 4)
    place = made.slots()[9 * 3]
    with_store = make_store(tmp_path)
    with_store.retire(1, 0, rows[:40], {o: i[:40] for o, i in objects.items()})
    mixed = np.concatenate([other[20:40], rows[40:60]])
    with_store.retire(1, 20, mixed, {o: i[20:60] for o, i in objects.items()})
    check(with_store.column(place, 0, 60), place, rows, objects, range(60), 0)
    with_store.close()


def test_a_gap_hides_what_is_in_front_of_it(tmp_path):
    rows, objects = made.make_rows(60, 3)
    place = made.slots()[9 * 3]
    store = make_store(tmp_path)
    store.retire(1, 0, rows[:10], {o: i[:10] for o, i in objects.items()})
    store.retire(1, 30, rows[30:60], {o: i[30:60] for o, i in objects.items()})
    assert store.extent(1) == (30, 60)
    check(store.column(place, 0, 60), place, rows, objects, range(30, 60), 30)
    check(store.column(place, 0, 60, 7), place, rows, objects, range(35, 60, 7), 35)
    store.close()


def test_the_outermost_level_is_never_kept(tmp_path):
    store = make_store(tmp_path)
    store.retire(0, 0, np.zeros((1, 8), np.uint8), {})
    assert store.extent(0) == (0, 0)
    store.close()


def test_readers_on_other_threads_see_whole_rows_while_it_is_written(tmp_path):
    place = made.slots()[9 * 3]
    rows, objects = made.make_rows(20, 5)
    store = make_store(tmp_path, segment_bytes=50_000, queue_bytes=100_000)
    wrong: list[Any] = []
    ended = threading.Event()

    def read() -> None:
        r = np.random.default_rng(threading.get_ident() % 1000)
        try:
            while not ended.is_set():
                stop = store.extent(1)[1]
                if stop:
                    row = int(r.integers(stop))
                    check(store.column(place, row, row + 1), place, rows, objects, range(row % 20, row % 20 + 1), row)
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for k in range(300):
        store.retire(1, 20 * k, rows, objects)
    store.flush()
    time.sleep(0.05)
    ended.set()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert len(store._writer.files.maps) <= 32
    store.close()


def test_only_so_many_files_are_mapped(tmp_path):
    rows, objects = made.make_rows(5, 6)
    store = make_store(tmp_path, segment_bytes=1)
    for k in range(50):
        store.retire(1, 5 * k, rows, objects)
        store.flush()
    store.flush()
    place = made.slots()[9 * 3]
    for row in range(0, 250, 3):
        check(store.column(place, row, row + 1), place, rows, objects, range(row % 5, row % 5 + 1), row)
    assert 0 < len(store._writer.files.maps) <= 32
    mapped = Path("/proc/self/maps")
    if mapped.exists():
        assert sum(str(store.folder) in line for line in mapped.read_text().splitlines()) <= 33
    store.close()


def test_status_tells_bytes_rows_and_state(tmp_path):
    rows, objects = made.make_rows(50, 7)
    store = make_store(tmp_path, limit=10 << 20)
    assert store.status.state == "idle" and store.status.on_disk == 0
    store.retire(1, 0, rows, objects)
    store.flush()
    status = store.status
    assert status.state == "idle" and status.rows == 50 and status.waiting == 0
    assert status.on_disk == sum(f.stat().st_size for f in store.folder.glob("*.arrow")) > 50 * 400
    assert status.fraction == pytest.approx(status.on_disk / (10 << 20))
    assert "of 10.0 MiB" in str(status) and "50 rows" in str(status)
    store.close()
    assert store.status.state == "closed"


def test_a_closed_store_takes_nothing_and_holds_nothing(tmp_path):
    rows, objects = made.make_rows(50, 7)
    store = make_store(tmp_path)
    store.retire(1, 0, rows, objects)
    store.close()
    store.close()
    assert store.extent(1) == (0, 0) and len(store.column(made.slots()[0], 0, 50)[1]) == 0
    with pytest.raises(SpillError) as caught:
        store.retire(1, 50, rows, objects)
    assert caught.value.slug == "spill-closed"
