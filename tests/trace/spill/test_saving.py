"""Saving a trace that is larger than memory: block by block, with progress, and no half file when the disk is full."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from tests.execution.test_retire import arrays, numbers, objects
from tests.ir.programs import nested
from tests.trace.spill.made import same
from tests.trace.spill.tiny import tiny_chunks  # noqa: F401  every session here has tiny chunks
from workbench.errors import TraceError
from workbench.ir.node import Ref

pytest.importorskip("pyarrow")

ROOT = Path(__file__).parents[3]
CASES = {
    "numbers": (lambda: numbers(3_000), {}),
    "arrays": (lambda: arrays(500), {}),
    "objects": (lambda: objects(300), {}),
    "nested": (lambda: nested(30), {"start": np.float64(0.0)}),
}


@pytest.mark.parametrize("name", CASES)
def test_a_saved_trace_has_what_was_on_disk_too(name, tmp_path):
    make, feeds = CASES[name]
    graph = make()
    retention = wb.Retention(spill=tmp_path / "spill", memory=2)
    with wb.Session(graph, feeds) as whole, wb.Session(graph, feeds, trace=retention) as session:
        whole.run()
        session.run()
        spill = session.trace.spill
        assert any(spill.extent(s)[1] for s in range(len(session.plan.layout.stores)))
        seen: list[tuple[int, int]] = []
        session.trace.save(tmp_path / "t.wbtrace", progress=lambda done, total: seen.append((done, total)))
        loaded = wb.Trace.load(tmp_path / "t.wbtrace")
        for key in whole.plan.layout.values:
            ours, theirs = loaded[Ref(*key)].values, whole.trace[Ref(*key)].values
            assert ours.shape == theirs.shape and ours.dtype == theirs.dtype, key
            if ours.dtype == object:
                assert all(same(a, b) for a, b in zip(ours, theirs, strict=True)), key
            else:
                assert ours.tobytes() == theirs.tobytes(), key
        assert loaded.events() == whole.trace.events() and not loaded.dropped
        assert len({total for _, total in seen}) == 1 and seen[-1][0] == seen[-1][1] > 0
        assert [d for d, _ in seen] == sorted(d for d, _ in seen)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["spill", "t.wbtrace"]


def test_saving_takes_blocks_and_not_the_whole(tmp_path):
    with wb.Session(arrays(100_000), trace=wb.Retention(spill=tmp_path / "s", memory=8 << 20)) as session:
        session.run()
        session.trace.spill.flush()
        assert session.trace.spill.status.on_disk > 60 << 20
        tracemalloc.start()
        session.trace.save(tmp_path / "t.wbtrace")
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 40 << 20, f"{peak >> 20} MiB"


def test_what_could_not_be_loaded_again_is_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr("workbench.trace.saved.writer.MAX_BYTES", 100_000)
    with wb.Session(numbers(5000)) as session:
        session.run()
        with pytest.raises(TraceError) as caught:
            session.trace.save(tmp_path / "t.wbtrace")
        assert caught.value.slug == "too-large" and caught.value.fix
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_full_disk_leaves_no_half_file_and_the_old_one(tmp_path):
    (tmp_path / "t.wbtrace").write_text("an older trace")
    code = (
        f"import resource, sys; sys.path.append({str(ROOT)!r})\n"
        "import workbench as wb\n"
        "from tests.execution.test_retire import numbers\n"
        "session = wb.Session(numbers(100_000)); session.run()\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))\n"
        "try: session.trace.save('t.wbtrace')\n"
        "except wb.WorkbenchError as error: print(error.slug, len(session.trace['i']))\n"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, timeout=300, cwd=tmp_path, check=False
    )
    assert done.stdout.split() == ["disk-full", "100001"], done.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["t.wbtrace"]
    assert (tmp_path / "t.wbtrace").read_text() == "an older trace"


def test_narrow_floats_of_known_shape_come_back(tmp_path):
    """bfloat16 has no portable form in .npy files; its bits are written."""
    b = wb.GraphBuilder("bits")
    x, i = b.while_loop(
        lambda x, i: i < 50, lambda x, i: (x * b.constant(0.75, "bfloat16"), i + 1), [b.constant(3, "bfloat16"), 0]
    )
    with wb.Session(b.build({"x": x, "i": i})) as session:
        session.run()
        session.trace.save(tmp_path / "t.wbtrace")
        loaded, wanted = wb.Trace.load(tmp_path / "t.wbtrace")["x"].values, session.trace["x"].values
        assert loaded.dtype == wanted.dtype and loaded.tobytes() == wanted.tobytes()
