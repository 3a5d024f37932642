"""Hostile files raise one clear error, in bounded time and memory. The cases are in ``hostile.py``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from tests.frontends import hostile
from tests.frontends.hostile_onnx import ONNX_CASES
from tests.frontends.hostile_tf import GRAPHDEFS
from tests.frontends.protobytes import data, float32, integer
from tests.frontends.test_tensorflow import LOOP
from tests.fuzz.targets import check
from workbench.errors import LoadError, WorkbenchError

onnx = pytest.importorskip("onnx", reason="the extra onnx is not installed")

HERE = Path(__file__).parent
NAMES = [name for name, _, _ in hostile.doors()]
#: cases that are unusual but valid: they are read, and report an error when they run, if there is one
READ = {
    "graphdef: an attribute nested 10 deep",
    "graphdef: a placeholder of 2^63 rows",
    "graphdef: a range of 2^62",
    "graphdef: a name with NUL",
    "onnx: 10 branches in branches",
    "onnx: functions that double 12 times",
    "onnx: a negative dimension",
    "onnx: both raw and typed data",
    "onnx: an input of 2^63 rows",
    "onnx: an input of negative size",
    "onnx: an input of an unknown type",
    "onnx: a constant of a terabyte out of its shape",
    "onnx: a tile of 2^62",
    "onnx: a pad of 2^62",
    "onnx: a permutation of -1",
    "onnx: a window of 2^40",
    "onnx: strides of 0",
    "onnx: a convolution of negative size",
    "onnx: a cast to 10^9",
    "onnx: a name with NUL",
    "onnx: operator set 2^62",
    "onnx: operator set -5",
    "onnx: operator set 0",
    "onnx: an optional nested 20 deep",
}


@pytest.fixture(scope="module")
def reports() -> dict[str, dict]:
    # each case has a separate limit of processor time; wall-clock time depends on other load
    run = subprocess.run(
        [sys.executable, str(HERE / "hostile.py")], capture_output=True, text=True, timeout=590, cwd=HERE
    )
    assert run.returncode == 0, run.stderr[-2000:]
    return {found["case"]: found for found in map(json.loads, run.stdout.splitlines())}


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", NAMES)
def test_one_clear_error_soon_and_in_bounded_memory(reports, name):
    found = reports[name]
    assert found["slug"] != "?", found
    assert (found["slug"] == "") == (name in READ), found
    assert found["units"] <= 15 and found["megabytes"] <= 400, found
    assert found.get("length", 0) <= 20_000, found


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["loop.pb", "loop.pbtxt", "functions.pb", "functions.pbtxt", "saved_v1/saved_model.pb", "saved_v2/saved_model.pb"],
)
def test_cuts_and_flips(name):
    raw = (HERE / "data" / name).read_bytes()
    target = "saved_model" if "saved" in name else "graphdef"
    most = most_calls(target, raw)
    for broken in hostile.damaged(raw, 60):
        assert _calls(target, broken) <= most


@pytest.mark.slow
@pytest.mark.parametrize("name", ["functions that double 12 times", "10 branches in branches", "a loop over a matrix"])
def test_cuts_and_flips_of_onnx_models(name):
    """No damaged model takes many more calls than the intact one, which may have thousands of nodes in a thousand
    bytes.
    """
    raw = ONNX_CASES[name]()
    most = most_calls("onnx", raw)
    for broken in hostile.damaged(raw, 150):
        assert _calls("onnx", broken) <= most


def most_calls(target: str, raw: bytes) -> int:
    """The calls of functions that a damaged model may take."""
    check(target, raw, seconds=60.0)  # imports and compilation happen once
    return 200_000 + 2 * _calls(target, raw)


def _calls(target: str, raw: bytes) -> int:
    """The number of function calls for reading a model."""
    count = 0

    def counted(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counted)
    try:
        check(target, raw, seconds=60.0)
    finally:
        sys.setprofile(None)
    return count


def test_a_loop_s_every_cut():
    most = most_calls("graphdef", LOOP)
    for end in range(len(LOOP)):
        assert check("graphdef", LOOP[:end], seconds=60.0) or end > 40
        assert _calls("graphdef", LOOP[:end]) <= most


# -- data outside of the model ------------------------------------------------------------------------------------


def external(folder: Path, dims: tuple[int, ...] = (2,), dtype: int = 1, **entries: str) -> Path:
    """A model in ``folder``/m whose tensor is in another file."""
    rows = b"".join(data(13, data(1, key) + data(2, text)) for key, text in entries.items())
    raw = b"".join(integer(1, d) for d in dims) + integer(2, dtype) + data(8, "w") + rows + integer(14, 1)
    neg = data(1, data(1, "w") + data(2, "y") + data(4, "Neg"))
    model = integer(1, 9) + data(8, data(1, "") + integer(2, 17)) + data(7, neg + data(5, raw) + data(12, data(1, "y")))
    (folder / "m").mkdir()
    (folder / "m" / "w.bin").write_bytes(np.array([1.5, -2.0], "<f4").tobytes())
    (folder / "secret").write_bytes(bytes(8))
    (folder / "m" / "model.onnx").write_bytes(model)
    return folder / "m" / "model.onnx"


def test_data_beside_the_model_is_read(tmp_path):
    assert wb.load(external(tmp_path, location="w.bin")).run()["y"].tolist() == [-1.5, 2.0]


def test_a_part_of_a_file(tmp_path):
    path = external(tmp_path, dims=(1,), location="w.bin", offset="4", length="4")
    assert wb.load(path).run()["y"].tolist() == [2.0]


PLACES = {
    "the folder above": {"location": "../secret"},
    "the folder above, by a way round": {"location": "./sub/../../secret"},
    "an absolute path": {"location": "/etc/hostname"},
    "a Windows path": {"location": "C:\\secret"},
    "a Windows path above": {"location": "..\\secret"},
    "no path": {"location": ""},
    "no location": {},
    "a name with NUL": {"location": "w.bin\0"},
    "a folder": {"location": "."},
    "a link": {"location": "link"},
    "a link to a folder": {"location": "up/secret"},
    "a pipe": {"location": "pipe"},
    "a device": {"location": "zero"},
    "nothing": {"location": "nothing.bin"},
    "an offset of 2^62": {"location": "w.bin", "offset": str(2**62)},
    "a negative offset": {"location": "w.bin", "offset": "-8"},
    "an offset of words": {"location": "w.bin", "offset": "eight"},
    "a length of 2^62": {"location": "w.bin", "length": str(2**62)},
    "a length that does not fit the shape": {"location": "w.bin", "length": "4"},
    "a shape that does not fit the file": {"location": "w.bin", "dims": (2**40,)},
}


@pytest.mark.parametrize("entries", PLACES.values(), ids=PLACES)
def test_data_elsewhere_is_refused(tmp_path, entries):
    path = external(tmp_path, **entries)
    (path.parent / "link").symlink_to(tmp_path / "secret")
    (path.parent / "up").symlink_to(tmp_path)
    (path.parent / "zero").symlink_to("/dev/zero")
    os.mkfifo(path.parent / "pipe")
    with pytest.raises(LoadError) as caught:
        wb.load(path)
    assert caught.value.slug == "external-data", caught.value


def test_data_of_a_model_without_a_path_is_not_looked_for(tmp_path, monkeypatch):
    path = external(tmp_path, location="w.bin")
    monkeypatch.chdir(path.parent)  # where the library would look
    for model in (path.read_bytes(), onnx.load(path, load_external_data=False)):
        with pytest.raises(LoadError) as caught:
            wb.from_onnx(model)
        assert caught.value.slug == "external-data" and "path" in caught.value.fix


def test_a_small_file_does_not_count_a_thousand_times(tmp_path):
    path = external(tmp_path, location="w.bin")
    model = onnx.load(path, load_external_data=False)
    for i in range(1000):
        model.graph.initializer.add().CopyFrom(model.graph.initializer[0])
        model.graph.initializer[-1].name = f"w{i}"
    path.write_bytes(model.SerializeToString())
    with pytest.raises(LoadError) as caught:
        wb.load(path)
    assert caught.value.slug == "external-data"


# -- false claims detected only when the graph runs
# ----------------------------------------------------------------------


def test_a_range_of_2_to_62_fails_in_its_node():
    graph = wb.from_graphdef(GRAPHDEFS["a range of 2^62"]())
    with pytest.raises(WorkbenchError) as caught:
        graph.run()
    assert caught.value.node == "r"


def test_messages_stay_readable():
    with pytest.raises(WorkbenchError) as caught:
        wb.from_graphdef(data(1, data(1, "n" * 2**20) + data(2, "A" * 2**20) + float32(9, 1.0)))
    assert len(str(caught.value)) < 20_000 and len(caught.value.message) <= 8000
