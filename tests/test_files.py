"""Files that are written: under a name there is always a whole file, whoever else writes it, whatever goes wrong."""

from __future__ import annotations

import ast
import errno
import os
import stat
import subprocess
import sys
import textwrap
import threading
import zipfile
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from workbench import files
from workbench.errors import TraceError, WorkbenchError

ROOT = Path(__file__).resolve().parents[1]


def test_a_file_takes_its_place_as_a_whole(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with files.replacing(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_text() == "old"
        (other,) = set(tmp_path.iterdir()) - {path}
        assert files.UNFINISHED.fullmatch(other.name)
    assert path.read_text() == "new" and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path, error):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(error), files.replacing(path) as file:
        file.write(b"new")
        raise error
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


def test_permissions_are_those_of_the_umask_or_of_the_file_that_is_replaced(tmp_path):
    path, plain = tmp_path / "a.txt", tmp_path / "plain"
    before = os.umask(0o027)
    try:
        files.write_text(path, "new")
        plain.write_text("new")
    finally:
        os.umask(before)
    assert path.stat().st_mode == plain.stat().st_mode and stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o604)
    files.write_text(path, "newer")
    assert stat.S_IMODE(path.stat().st_mode) == 0o604 and path.read_text() == "newer"


def test_links_are_followed_and_pipes_are_written(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    files.write_text(link, "new")
    assert link.is_symlink() and target.read_text() == "new"
    files.write_text("/dev/null", "new")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    pipe, got = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: got.append(pipe.read_text()))
    reader.start()
    files.write_text(pipe, "new")
    reader.join()
    assert got == ["new"] and stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.parametrize(
    ("number", "slug"), [(errno.ENOSPC, "disk-full"), (errno.EDQUOT, "disk-full"), (errno.EIO, "not-written")]
)
def test_a_disk_that_fails_is_an_error_of_ours(tmp_path, monkeypatch, number, slug):
    def fails(_):
        raise OSError(number, os.strerror(number))

    path = files.write_text(tmp_path / "a.txt", "old")
    monkeypatch.setattr(files.os, "fsync", fails)
    with pytest.raises(TraceError, match="The page cannot be written") as caught:
        files.write_text(path, "new", "The page", TraceError)
    assert caught.value.slug == slug and path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


def test_places_where_nothing_can_be_written(tmp_path):
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "none" / "a", tmp_path / "folder", tmp_path / ("x" * 300)):
        with pytest.raises(WorkbenchError) as caught:
            files.write_text(path, "new")
        assert caught.value.slug == "not-written"
    files.write_text(tmp_path / ("ü" * 120), "new")
    assert (tmp_path / ("ü" * 120)).read_text() == "new"


def test_unfinished_files_of_the_dead_are_removed_and_those_of_the_living_stay(tmp_path):
    dead = tmp_path / ".a.0123456789abcdef.unfinished"
    dead.write_text("half")
    other = tmp_path / ".a.unfinished"
    other.write_text("not ours")
    with files.replacing(tmp_path / "b") as file:
        files.remove_unfinished(tmp_path)
        file.write(b"whole")
    assert sorted(p.name for p in tmp_path.iterdir()) == [".a.unfinished", "b"]


WRITERS, ROUNDS = 4, 6
#: what each writer of a path runs; all write the same path with other contents
SCRIPT = """
import sys, workbench as wb
path, number, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
b = wb.GraphBuilder("count")
graph = b.build({"x": b.while_loop(lambda x: x < 400.0 + number, lambda x: x + 1.0, b.constant(0.0))})
with wb.Session(graph, {}, trace="all") as session:
    session.run()
    print("ready", flush=True)
    sys.stdin.readline()
    for _ in range(rounds):
        session.trace.save(path)
"""


def loop(number: int) -> wb.Session:
    b = wb.GraphBuilder("count")
    graph = b.build({"x": b.while_loop(lambda x: x < 400.0 + number, lambda x: x + 1.0, b.constant(0.0))})
    session = wb.Session(graph, {}, trace="all")
    session.run()
    return session


def ends(path: Path) -> float:
    """The last value in a trace file; an error if it is not a whole one."""
    return float(wb.Trace.load(path)["x"].values[-1])


def test_threads_that_save_to_one_path(tmp_path):
    path, failed = tmp_path / "run.wbtrace", []
    sessions = [loop(k) for k in range(WRITERS)]
    start = threading.Barrier(WRITERS + 1)

    def save(session):
        start.wait()
        try:
            for _ in range(ROUNDS):
                session.trace.save(path)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=save, args=(s,)) for s in sessions]
    for thread in threads:
        thread.start()
    start.wait()
    seen = set()
    while any(t.is_alive() for t in threads):
        if path.exists():
            seen.add(ends(path))
    for thread in threads:
        thread.join()
    seen.add(ends(path))
    assert failed == [] and list(tmp_path.iterdir()) == [path]
    assert seen <= {400.0 + k for k in range(WRITERS)}
    for session in sessions:
        session.close()


@pytest.mark.slow
def test_processes_that_save_to_one_path(tmp_path):
    path = tmp_path / "run.wbtrace"
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(SCRIPT), path, str(k), str(ROUNDS)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for k in range(WRITERS)
    ]  # fmt: skip
    for run in runs:
        assert run.stdout is not None and run.stdout.readline() == "ready\n"
    for run in runs:
        assert run.stdin is not None
        run.stdin.write("go\n")
        run.stdin.flush()
    seen = set()
    while any(run.poll() is None for run in runs):
        if path.exists():
            seen.add(ends(path))
    assert [run.wait() for run in runs] == [0] * WRITERS
    assert {*seen, ends(path)} <= {400.0 + k for k in range(WRITERS)} and list(tmp_path.iterdir()) == [path]
    for run in runs:
        run.communicate()


#: writers that make a file under its own name: (file, why)
OTHERS = {
    ("kernels_pyx/types/generate.py", "write_text"): "a step of the build, which meson runs once",
    ("workbench/files.py", "open"): "pipes and devices",
    ("workbench/frontends/pytorch/archive.py", "ZipFile"): "in memory",
    ("workbench/recorder/eager/journal.py", "open"): "it grows while the loop runs; what was cut off is not read",
    ("workbench/trace/saved/writer.py", "ZipFile"): "into what files.replacing gave",
    ("workbench/trace/saved/members.py", "open"): "a member of a zip",
    ("workbench/cli/grade/worker.py", "write_text"): "into a folder of its own, which goes with the run",
    ("workbench/cli/grade/sheet.py", "open"): "it grows while a notebook runs; what was cut off is not read",
    ("workbench/cli/run.py", "ZipFile"): "into what files.replacing gave",
    ("workbench/cli/run.py", "open"): "a member of a zip",
}


def writers() -> set[tuple[str, str]]:
    """Calls in the sources that write a file: open for writing, write_text, savez and their like."""
    found = set()
    for folder in ("workbench", "widgets", "kernels_pyx"):
        for path in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if not isinstance(node, ast.Call):
                    continue
                name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                texts = [
                    a.value for a in [*node.args, *(k.value for k in node.keywords)] if isinstance(a, ast.Constant)
                ]
                opens = name in ("open", "fdopen", "ZipFile") and any(
                    isinstance(t, str) and len(t) <= 3 and t[:1] in "wxa" and t for t in texts
                )
                makes = name in ("write_html", "savez", "savez_compressed", "savetxt", "tofile", "NamedTemporaryFile",
                                 "mkstemp", "to_parquet", "to_csv", "write_image")  # fmt: skip
                plain = isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value) != "files"
                makes |= name in ("write_text", "write_bytes") and plain
                if opens or makes:
                    found.add((str(path.relative_to(ROOT)), name))
    return found


@pytest.mark.slow
def test_every_other_writer_is_known():
    found = writers()
    assert ("workbench/files.py", "open") in found or ("workbench/files.py", "fdopen") in found  # the search sees them
    assert found - set(OTHERS) - {("workbench/files.py", "fdopen")} == set()


def test_public_writers_leave_the_old_file_where_the_disk_fails(tmp_path, monkeypatch):
    with loop(0) as session:
        analysis = wb.analyze(session)
        writers = {"trace": session.trace.save, "json": analysis.to_json, "page": analysis.to_html}
        for name in writers:
            (tmp_path / name).write_text("old")
        monkeypatch.setattr(files.os, "replace", lambda *_: (_ for _ in ()).throw(OSError(errno.EIO, "broken")))
        for name, write in writers.items():
            with pytest.raises(WorkbenchError) as caught:
                write(tmp_path / name)
            assert caught.value.slug == "not-written" and (tmp_path / name).read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 3


def test_outputs_of_the_command_line_are_written_whole(tmp_path):
    from workbench.cli.run import _save

    _save(tmp_path / "a.npz", {"x": np.arange(3)})
    with zipfile.ZipFile(tmp_path / "a.npz") as archive:
        assert archive.namelist() == ["x.npy"]
    assert np.load(tmp_path / "a.npz")["x"].tolist() == [0, 1, 2]
