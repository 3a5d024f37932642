"""The folder of a run: made fresh, cleaned of its own files only, leftovers of dead processes removed, others' kept."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.trace.spill import made

pytest.importorskip("pyarrow")

from workbench.trace.spill import SpillError, SpillStore  # noqa: E402
from workbench.trace.spill.folder import clean  # noqa: E402

ROOT = Path(__file__).parents[3]


def make_store(folder: Path, **options: object) -> SpillStore:
    store = SpillStore(folder, made.tiny(), made.layout(), made.live, **options)  # type: ignore[arg-type]
    rows, objects = made.make_rows(20, 1)
    store.retire(1, 0, rows, objects)
    store.flush()
    return store


def in_a_process_that_dies(parent: Path, ending: str = "os._exit(1)") -> None:
    """A run in ``parent`` whose process ends without closing it."""
    code = (
        f"import os, sys; sys.path.append({str(ROOT)!r})\n"
        "from pathlib import Path\n"
        "from tests.trace.spill.test_folder import made, make_store\n"
        f"store = make_store(Path({str(parent)!r}))\n{ending}\n"
    )
    subprocess.run([sys.executable, "-P", "-c", code], timeout=300, cwd=parent, check=False)


def test_runs_have_folders_of_their_own_and_remove_them(tmp_path):
    one, two = make_store(tmp_path / "deep" / "er"), make_store(tmp_path / "deep" / "er")
    assert one.folder != two.folder and one.folder.parent == two.folder.parent == tmp_path / "deep" / "er"
    assert {p.name for p in one.folder.iterdir()} == {"lock", "manifest.json", "s1-0.arrow"}
    one.close()
    assert not one.folder.exists() and two.folder.exists()
    two.close()
    assert list((tmp_path / "deep" / "er").iterdir()) == []


def test_what_others_put_there_stays(tmp_path):
    store = make_store(tmp_path)
    (store.folder / "notes.txt").write_text("mine")
    (store.folder / "s1-7.arrow").write_text("looks like ours, but is not")
    store.close()
    assert sorted(p.name for p in store.folder.iterdir()) == ["notes.txt", "s1-7.arrow"]


def test_kept_files_stay_complete_and_are_no_leftovers(tmp_path):
    import pyarrow as pa

    store = make_store(tmp_path)
    store.keep = True
    store.close()
    assert {p.name for p in store.folder.iterdir()} == {"manifest.json", "s1-0.arrow"}
    assert pa.ipc.open_file(str(store.folder / "s1-0.arrow")).read_all().num_rows == 20
    assert store.column(made.slots()[0], 5, 9)[1].shape == (4,)
    assert clean(tmp_path) == [] and store.folder.exists()


def test_a_store_that_nobody_holds_removes_its_folder(tmp_path):
    import gc

    store = make_store(tmp_path)
    folder = store.folder
    del store
    gc.collect()
    assert not folder.exists()


def test_the_end_of_the_process_removes_the_folder(tmp_path):
    in_a_process_that_dies(tmp_path, ending="sys.exit(0)")
    assert list(tmp_path.iterdir()) == []


def test_leftovers_of_dead_processes_go_and_living_ones_stay(tmp_path):
    in_a_process_that_dies(tmp_path)
    (dead,) = tmp_path.iterdir()
    assert (dead / "s1-0.arrow").exists()
    alive = make_store(tmp_path)
    assert alive.cleaned == [dead] and not dead.exists()
    assert clean(tmp_path) == [] and alive.folder.exists()
    alive.close()


@pytest.mark.slow
def test_leftovers_with_something_else_in_them_keep_that(tmp_path):
    in_a_process_that_dies(tmp_path)
    (dead,) = tmp_path.iterdir()
    (dead / "thesis.txt").write_text("dear to someone")
    assert clean(tmp_path) == []
    assert [p.name for p in dead.iterdir()] == ["thesis.txt"]


def test_folders_that_only_look_like_leftovers_stay(tmp_path):
    lookalike = tmp_path / f"workbench-spill-{os.getpid()}-0123abcd"
    lookalike.mkdir()
    (lookalike / "s1-0.arrow").write_text("data")
    (lookalike / "lock").write_text("of another program")
    elsewhere = tmp_path / "elsewhere"
    in_a_process_that_dies(tmp_path)
    (dead,) = (p for p in tmp_path.iterdir() if p != lookalike)
    elsewhere.mkdir()
    dead.rename(elsewhere / dead.name)
    (tmp_path / dead.name).symlink_to(elsewhere / dead.name)
    assert clean(tmp_path) == []
    assert len(list(lookalike.iterdir())) == 2 and (elsewhere / dead.name / "s1-0.arrow").exists()


def test_a_parent_that_is_no_folder_is_refused(tmp_path):
    (tmp_path / "file").write_text("x")
    for place in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(SpillError) as caught:
            SpillStore(place, made.tiny(), made.layout(), made.live)
        assert caught.value.slug in ("spill-folder", "spill-missing") and caught.value.fix


@pytest.mark.skipif(os.geteuid() == 0, reason="everything is permitted to root")
def test_a_folder_without_permission_is_refused(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(SpillError) as caught:
        SpillStore(tmp_path, made.tiny(), made.layout(), made.live)
    tmp_path.chmod(0o700)
    assert caught.value.slug == "spill-read-only"


@pytest.mark.slow
def test_a_fork_does_not_remove_what_its_parent_made(tmp_path):
    in_a_process_that_dies(
        tmp_path,
        ending="pid = os.fork()\n"
        "if pid == 0: sys.exit(0)\n"  # runs what is to run at the end of a process
        "os.waitpid(pid, 0)\n"
        "assert store.folder.exists() and store.column(made.slots()[0],"
        " 0, 20)[1].shape == (20,)\n"
        "Path('right').write_text('')\n"
        "store.close()",
    )
    assert [p.name for p in tmp_path.iterdir()] == ["right"]
