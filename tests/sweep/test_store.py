"""Results of a sweep as Parquet files: resumed, refused if from another sweep, complete on a full disk."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import workbench as wb
from tests.sweep.graphs import DRAWN, descent, newton
from workbench.errors import SweepError

pytest.importorskip("pyarrow")


def same(a: wb.Sweep, b: wb.Sweep) -> None:
    for name in a.names:
        one, other = a[name], b[name]
        assert (
            one.dtype == other.dtype and one.tobytes() == other.tobytes()
            if one.dtype != object
            else (one == other).all()
        )
    assert a.failures == b.failures


def test_what_is_stored_is_read_again_and_not_run_again(tmp_path):
    made, draw = DRAWN["raising"]
    points = draw(np.random.default_rng(2), 60)
    whole = wb.sweep(made(), points, design="list", store=tmp_path / "runs")
    assert len(list((tmp_path / "runs").glob("part-*.parquet"))) >= 8
    again = wb.sweep(made(), points, design="list", store=tmp_path / "runs")
    assert again._engine._runners == []  # nothing was run
    same(whole, again)
    assert {"ended", "failed"} <= set(again["outcome"])


def test_arrays_series_and_facts_come_back(tmp_path):
    arguments = {"collect": ["x", "x[-3:]", "label", "rate", "proof"], "inputs": {"start": [1.0, 2.0, -1.0]}}
    whole = wb.sweep(descent(), {"lr": [0.1, 0.3, 0.9]}, store=tmp_path, **arguments)
    same(whole, wb.sweep(descent(), {"lr": [0.1, 0.3, 0.9]}, store=tmp_path, **arguments))


def test_points_that_are_missing_run(tmp_path):
    points = {"a": np.linspace(1, 50, 300)}
    whole = wb.sweep(newton(), points, inputs={"tol": 1e-9}, store=tmp_path)
    parts = sorted(tmp_path.glob("part-*.parquet"))
    for path in parts[::2]:
        path.unlink()
    left = tmp_path / ".part-000003-12345678.parquet.0123456789abcdef.unfinished"
    left.write_bytes(b"half a file of a process that was killed")
    again = wb.sweep(newton(), points, inputs={"tol": 1e-9}, store=tmp_path)
    assert len(again._engine._runners) > 0 and not left.exists()
    same(whole, again)


def test_files_of_another_sweep_are_refused(tmp_path):
    wb.sweep(newton(), {"a": [1.0]}, inputs={"tol": 1e-9}, store=tmp_path)
    with pytest.raises(SweepError) as caught:
        wb.sweep(newton(), {"a": [1.0]}, inputs={"tol": 1e-8}, store=tmp_path)
    assert caught.value.slug == "another-sweep"
    next(tmp_path.glob("*.parquet")).write_bytes(b"PAR1 not")
    with pytest.raises(SweepError) as caught:
        wb.sweep(newton(), {"a": [1.0]}, inputs={"tol": 1e-9}, store=tmp_path)
    assert caught.value.slug == "bad-part"


def test_a_folder_that_cannot_be_written_is_one_clear_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(SweepError) as caught:
        wb.sweep(newton(), {"a": [1.0]}, inputs={"tol": 1e-9}, store=tmp_path / "file" / "runs")
    assert caught.value.slug == "not-stored"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="limits of file sizes are those of POSIX")
def test_a_full_disk_stops_the_sweep_and_loses_nothing(tmp_path):
    """A limit on file size simulates the disk: writing fails in the middle of a file."""
    code = """
        import os, resource, sys
        sys.path.append(os.getcwd())
        import numpy as np
        import workbench as wb
        from workbench.errors import SweepError
        from tests.sweep.graphs import newton
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1500, before[1]))
        points = {"a": np.linspace(1, 50, 300)}
        try:
            wb.sweep(newton(), points, inputs={"tol": 1e-9}, store=sys.argv[1])
        except SweepError as error:
            found = error.sweep
            print(error.slug, found.state, len(os.listdir(sys.argv[1])))
        ran = int((found["outcome"] != "waiting").sum())
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        found.resume()
        again = wb.sweep(newton(), points, inputs={"tol": 1e-9}, store=sys.argv[1])
        print(0 < ran < 300, found.state, bool((found["x"] == again["x"]).all()), again._engine._runners)
    """
    arguments = [sys.executable, "-P", "-c", textwrap.dedent(code), str(tmp_path)]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=100, check=True)
    assert done.stdout.split("\n")[:2] == ["not-stored stopped 0", "True finished True []"]
