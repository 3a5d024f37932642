"""A full disk stops the run where it is: nothing is lost, and it goes on when there is room again.

The disk is full for real: a limit on file sizes in a process of its own, and a small file system where mounting one is
permitted; and the limit that users set.
"""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.execution.test_retire import arrays, numbers, objects
from tests.plan.checks import run_of
from tests.trace.spill import made
from tests.trace.spill.joined import check_columns, finish, spilling
from workbench.errors import ExecutionError
from workbench.execution.checkpoints import Checkpoints

pytest.importorskip("pyarrow")

from workbench.trace.spill import SpillError, SpillStore  # noqa: E402

ROOT = Path(__file__).parents[3]
GRAPHS = {"numbers": lambda: numbers(300_000), "arrays": lambda: arrays(20_000), "objects": lambda: objects(4_000)}


@pytest.mark.slow
@pytest.mark.parametrize("name", GRAPHS)
def test_at_the_limit_the_run_stops_and_goes_on_when_it_is_raised(tmp_path, name):
    graph = GRAPHS[name]()
    run, store = spilling(graph, {}, tmp_path, limit=300_000, queue_bytes=100_000)
    stops = 0
    while True:
        try:
            finish(run)
            store.flush()
            break
        except ExecutionError as error:
            cause = error.__cause__
            assert isinstance(cause, SpillError) and error.slug == cause.slug == "spill-limit"
            assert "Nothing is lost" in error.message and "limit" in error.fix and "resume" in error.fix
        except SpillError as error:
            assert error.slug == "spill-limit"
        stops += 1
        assert store.status.on_disk <= store.limit and store.status.state == "stopped"
        before = run.event, run.view.ip
        with pytest.raises((ExecutionError, SpillError)):
            finish(run)
            store.flush()
        assert (run.event, run.view.ip) == before or run.finished
        assert store.extent(1)[1] == run.view.rows(1)[0]
        store.limit = store.limit * 4
    assert stops >= 2
    assert check_columns(run, store, finish(run_of(graph, {}, 1 << 34))) > 1000
    store.close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", GRAPHS)
def test_a_run_that_finds_no_room_for_a_checkpoint_stays_where_it_is(tmp_path, monkeypatch, name):
    """Checkpoints so close that one of them is the first to want room where the disk has none."""
    monkeypatch.setattr(Checkpoints, "due", property(lambda kept: kept.all[-1].events + 64))
    run, store = spilling(GRAPHS[name](), {}, tmp_path, limit=100_000, queue_bytes=50_000)
    at_checkpoints = 0
    for _ in range(6):
        with pytest.raises(ExecutionError) as caught:
            finish(run)
        at_checkpoints += any(entry.name == "checkpoint" for entry in caught.traceback)
        before, kept = (run.event, run.view.ip), len(run.checkpoints)
        for _ in range(3):
            with pytest.raises(ExecutionError):
                finish(run)
            assert ((run.event, run.view.ip), len(run.checkpoints)) == (before, kept)
        assert store.limit is not None
        store.limit += 30_000
    assert at_checkpoints > 0 or name == "arrays"  # whose chunks are few rows: none is left for a checkpoint to drop
    store.close()


def in_a_process_with(limit: str, folder: Path) -> subprocess.CompletedProcess[str]:
    code = (
        f"import resource, sys; sys.path.append({str(ROOT)!r})\n"
        "from pathlib import Path\n"
        "from tests.trace.spill import test_full\n"
        f"test_full.run_into({limit}, Path({str(folder)!r}))\n"
    )
    return subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, timeout=100, cwd=folder, check=False
    )


def run_into(limit: int, folder: Path) -> None:
    """In a process of its own: files may have ``limit`` bytes until the run has stopped."""
    import resource

    graph = numbers(200_000)
    run, store = spilling(graph, {}, folder, queue_bytes=1 << 20)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    try:
        finish(run)
    except ExecutionError as error:
        print(error.slug, run.finished)
    on_disk = sum(f.stat().st_size for f in store.folder.glob("*.arrow"))
    assert on_disk == store.status.on_disk <= limit  # what did not fit was taken back
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    finish(run)
    store.flush()
    print(check_columns(run, store, finish(run_of(graph, {}, 1 << 34))) > 0)
    store.keep = True
    store.close()
    import pyarrow as pa

    tables = [pa.ipc.open_file(str(f)).read_all() for f in sorted(store.folder.glob("*.arrow"))]
    assert sum(t.num_rows for t in tables) == store.status.rows
    shutil.rmtree(store.folder)


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.parametrize("limit", [100, 3_000_001])
def test_files_that_may_not_grow_are_a_stop_and_no_loss(tmp_path, limit):
    done = in_a_process_with(str(limit), tmp_path)
    assert done.stdout.split() == ["disk-full", "False", "True"], done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 6 MiB; skipped where mounting is not permitted."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = shutil.which("mount")
    command = [mount or "", "-t", "tmpfs", "-o", "size=6m", "none", str(place)]
    if mount is None or os.geteuid() != 0 or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("mounting a small disk is not permitted here")
    yield place
    subprocess.run([shutil.which("umount") or "umount", "--lazy", str(place)], check=True)


def test_a_full_disk_is_a_stop_and_no_loss(small_disk):
    graph = numbers(400_000)
    (small_disk / "ballast").write_bytes(bytes(5 << 19))
    run, store = spilling(graph, {}, small_disk, queue_bytes=1 << 20, segment_bytes=1 << 19)
    with pytest.raises(ExecutionError) as caught:
        finish(run)
    assert caught.value.slug == "disk-full" and "no space left" in caught.value.message
    (small_disk / "ballast").unlink()
    stopped = run.event
    with pytest.raises(ExecutionError) as caught:
        finish(run)
    assert caught.value.slug == "disk-full" and run.event > stopped
    subprocess.run(["mount", "-o", "remount,size=100m", str(small_disk)], check=True)
    finish(run)
    store.flush()
    assert check_columns(run, store, finish(run_of(graph, {}, 1 << 34))) > 0
    store.close()
    assert list(small_disk.iterdir()) == []


@pytest.mark.parametrize(
    ("number", "slug"),
    [
        (errno.EROFS, "spill-read-only"),
        (errno.EACCES, "spill-read-only"),
        (errno.EDQUOT, "disk-full"),
        (errno.EMFILE, "spill-failed"),
        (errno.EIO, "spill-failed"),
    ],
)
def test_every_error_of_the_disk_stops_and_loses_nothing(tmp_path, monkeypatch, number, slug):
    rows, things = made.make_rows(50, 1)
    place = made.slots()[27]
    store = SpillStore(tmp_path, made.tiny(), made.layout(), made.live)
    store.retire(1, 0, rows, things)
    store.flush()

    def refuse(*_: object) -> int:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as broken:
        broken.setattr(os, "pwritev", refuse)
        store.retire(1, 50, rows, things)
        for _ in range(2):
            with pytest.raises(SpillError) as caught:
                store.flush()
            assert caught.value.slug == slug and "Nothing is lost" in caught.value.message and caught.value.fix
        with pytest.raises(SpillError):
            store.retire(1, 100, rows, things)
        assert store.extent(1) == (0, 100) and store.status.state == "stopped" and slug in store.status.error
        assert store.column(place, 0, 100)[1].tobytes() == 2 * made.expected(place, rows, {}, range(50)).tobytes()
    store.retire(1, 100, rows, things)
    store.flush()
    assert store.column(place, 0, 150)[1].tobytes() == 3 * made.expected(place, rows, {}, range(50)).tobytes()
    store.close()


def test_a_folder_that_is_removed_meanwhile(tmp_path):
    rows, things = made.make_rows(50, 1)
    store = SpillStore(tmp_path / "here", made.tiny(), made.layout(), made.live)
    store.retire(1, 0, rows, things)
    store.flush()
    shutil.rmtree(tmp_path / "here")
    with pytest.raises(SpillError) as caught:
        store.retire(1, 50, rows, things)
        store.flush()
    assert caught.value.slug == "spill-missing" and "resume" in caught.value.fix
    waits = store.column(made.slots()[27], 50, 100)[1]
    assert waits.tobytes() == made.expected(made.slots()[27], rows, {}, range(50)).tobytes()
    with pytest.raises(SpillError) as caught:
        store.column(made.slots()[27], 0, 50)
    assert caught.value.slug == "spill-missing"
    store.folder.mkdir(parents=True)
    store.flush()  # a new file takes what waited
    assert len(store.column(made.slots()[27], 50, 100)[1]) == 50
    store.close()
