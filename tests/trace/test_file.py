"""Trace files: everything equal after loading; damaged, foreign and hostile files refused with one clear error."""

from __future__ import annotations

import io
import json
import os
import pickle
import zipfile

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import workbench as wb
from tests.ir.programs import count, growing, nested, same, vectors
from tests.plan.random_graphs import Maker
from workbench.errors import FrameError, TraceError, WorkbenchError
from workbench.ir import Ref


def strings() -> wb.Graph:
    b = wb.GraphBuilder("strings")
    text = b.placeholder("text", "string", (2,))
    half = b.constant(np.float32(0.5)).astype("bfloat16")
    out = b.while_loop(
        lambda n, t, h: n < 3, lambda n, t, h: (n + 1, b.reverse(t, axis=0), h + h), (b.constant(0), text, half)
    )
    return b.build({"n": out[0], "t": out[1], "h": out[2], "c": b.constant(["é", "\ud83d", "\n"])})


PROGRAMS = {
    "numbers": (count, {"start": 0.0}),
    "nested": (nested, {"start": 0.0}),
    "ragged": (growing, {"start": 1.0}),
    "arrays": (vectors, {"start": np.arange(1000.0)}),
    "strings": (strings, {"text": ["a b", "ü"]}),
}


def assert_equal(one: wb.Trace, two: wb.Trace) -> None:
    """Every series, table and tag."""
    assert one.graph == two.graph and one.layout == two.layout and one.names() == two.names()
    for key in one.layout.values:
        a, b = one[Ref(*key)], two[Ref(*key)]
        assert len(a) == len(b) and a.type == b.type and a.frame == b.frame
        assert same(a.iterations, b.iterations)
        for x, y in zip(a.firings(), b.firings(), strict=True):
            assert same(x, y), (key, x, y)
        if len(a):
            assert same(a[-1], b[-1]) and a.tag(-1) == b.tag(-1)
            assert same(a.window(1, 6, 2)[0], b.window(1, 6, 2)[0])
            assert same(b.at(b.tag(0).iteration), a[0])
    for table in ("events", "branches"):
        a, b = getattr(one, table)(), getattr(two, table)()
        assert list(a) == list(b) and {k: list(v) for k, v in a.columns().items()} == {
            k: list(v) for k, v in b.columns().items()
        }
    assert one.branch_counts() == two.branch_counts() and one.dropped == two.dropped


def recorded(name, events=None, **options):
    make, feeds = PROGRAMS[name]
    session = wb.Session(make(), feeds, **options)
    session.step(events) if events else session.run()
    session.close()
    return session.trace


@pytest.mark.parametrize("name", PROGRAMS)
def test_round_trip(name, tmp_path):
    trace = recorded(name)
    trace.save(tmp_path / "t.trace")
    assert_equal(trace, wb.Trace.load(tmp_path / "t.trace"))


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("events", [1, 5, 17])
def test_round_trip_in_the_middle_of_a_run(name, events, tmp_path):
    trace = recorded(name, events)
    trace.save(str(tmp_path / "t.trace"))
    assert_equal(trace, wb.Trace.load(str(tmp_path / "t.trace")))


@pytest.mark.parametrize("name", ["arrays", "nested"])
def test_round_trip_after_rows_were_dropped(name, tmp_path):
    session = wb.Session(nested(700), {"start": 0.0}, memory_budget=1) if name == "nested" else None
    if session:
        session.run()
        session.close()
    trace = session.trace if session else recorded("arrays", memory_budget=1 << 18)
    assert trace.dropped
    trace.save(tmp_path / "t.trace")
    loaded = wb.Trace.load(tmp_path / "t.trace")
    if name == "nested":  # 250,000 inner rows: the series only
        for value in ("a", "acc", "even/add", "inner/a/Exit"):
            assert same(trace[value].values, loaded[value].values) and same(
                trace[value].iterations, loaded[value].iterations
            )
    else:
        assert_equal(trace, loaded)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 1 << 32))
def test_round_trip_of_random_programs(seed, tmp_path_factory):
    graph, feeds = Maker(seed).make()
    try:
        with wb.Session(graph, feeds) as session:
            session.run()
    except FrameError:
        return
    path = tmp_path_factory.mktemp("traces") / "t.trace"
    session.trace.save(path)
    assert_equal(session.trace, wb.Trace.load(path))


def test_a_file_holds_no_pickle_and_stays_small(tmp_path):
    path = tmp_path / "t.trace"
    recorded("strings").save(path)
    with zipfile.ZipFile(path) as file:
        assert {"trace.json", "graph.txt"} <= set(file.namelist())
        for name in file.namelist():
            assert name.endswith((".json", ".npy", ".txt"))
            data = file.read(name)
            if name.endswith(".npy"):
                np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)
            else:
                assert not data.startswith(b"\x80")


def test_a_loaded_trace_cannot_be_changed(tmp_path):
    recorded("arrays").save(tmp_path / "t.trace")
    series = wb.Trace.load(tmp_path / "t.trace")["v"]
    with pytest.raises(ValueError, match="read-only"):
        series[0][0] = 1.0


# -- files that are refused ----------------------------------------------------------------------------------------


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "t.trace"
    recorded("ragged").save(path)
    return path


def rewrite(path, changes):
    """The file with some members replaced; ``changes`` maps names to bytes, to a function of the old bytes, or to
    None."""
    with zipfile.ZipFile(path) as file:
        members = {n: file.read(n) for n in file.namelist()}
    for name, new in changes.items():
        if new is None:
            del members[name]
        else:
            members[name] = new(members[name]) if callable(new) else new
    with zipfile.ZipFile(path, "w") as file:
        for name, data in members.items():
            file.writestr(name, data)


def head(change):
    def changed(data):
        content = json.loads(data)
        change(content)
        return json.dumps(content).encode()

    return {"trace.json": changed}


class Evil:
    def __reduce__(self):
        return (os.mkdir, ("must not be made",))


def pickled(array_of=None):
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.array([Evil()], object), allow_pickle=True)
    return buffer.getvalue()


def wide(data):
    """A .npy header that promises 8 TiB."""
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(buffer, {"descr": "<f8", "fortran_order": False, "shape": (1 << 40,)})
    return buffer.getvalue()


CHANGES = [
    (head(lambda h: h.update(format="other")), "not-a-trace", "not a workbench trace"),
    (head(lambda h: h.update(version=1)), "trace-version", "version 1"),
    (head(lambda h: h.pop("version")), "trace-version", "None"),
    (head(lambda h: h.pop("columns")), "bad-trace", "columns"),
    (head(lambda h: h["columns"][0].update(rows=10**9)), "bad-trace", "rows, not"),
    (head(lambda h: h["columns"][0].update(name="gone")), "bad-trace", "gone"),
    (head(lambda h: h["columns"][0].update(kind="pickle")), "bad-trace", ""),
    (head(lambda h: h["extents"].pop()), "bad-trace", "extents"),
    (head(lambda h: h.update(extents=[["a"]] * 2)), "bad-trace", ""),
    (head(lambda h: h["frames"][1].update(parent=7)), "bad-trace", "parent"),
    (head(lambda h: h["frames"].clear()), "bad-trace", ""),
    (head(lambda h: h["nodes"][0].update(frame=9)), "bad-trace", "frame"),
    (head(lambda h: h["values"][0].update(frame=-1)), "bad-trace", "frame"),
    (head(lambda h: h["values"][0].update(place=[])), "bad-trace", ""),
    (head(lambda h: h.update(frames={"a": 1})), "bad-trace", ""),
    ({"trace.json": b"[]"}, "not-a-trace", ""),
    ({"trace.json": b"{"}, "not-a-trace", ""),
    ({"trace.json": b'{"format": "workbench-trace", "version": 1, "x": ' + b"[" * 100_000}, "bad-trace", ""),
    ({"trace.json": pickle.dumps(Evil())}, "not-a-trace", ""),
    ({"trace.json": None}, "not-a-trace", "trace.json"),
    ({"graph.txt": None}, "bad-trace", "graph.txt"),
    ({"graph.txt": b"graph"}, "not-a-graph", ""),
    ({"graph.txt": b"\xff\xfe"}, "not-a-trace", ""),
    ({"f1.starts.npy": pickled()}, "bad-trace", "does not contain the declared numbers"),
    ({"f1.starts.npy": b""}, "bad-trace", ""),
    ({"f1.starts.npy": wide}, "bad-trace", ""),
    ({"f1.starts.npy": lambda d: d[:-3]}, "bad-trace", ""),
    ({"f1.starts.npy": None}, "bad-trace", "f1.starts"),
]


@pytest.mark.parametrize(("changes", "slug", "word"), CHANGES, ids=range(len(CHANGES)))
def test_changed_files_are_refused(saved, changes, slug, word):
    rewrite(saved, changes)
    with pytest.raises(WorkbenchError) as caught:
        wb.Trace.load(saved)
    assert caught.value.slug == slug and word in str(caught.value), str(caught.value)
    assert str(saved) in str(caught.value) or slug == "not-a-graph"
    assert not os.path.exists("must not be made")


@pytest.mark.parametrize(
    "make",
    [
        lambda p: p.write_bytes(b""),
        lambda p: p.write_bytes(b"hello"),
        lambda p: p.write_bytes(pickle.dumps(Evil())),
        lambda p: p.mkdir(),
        lambda p: p.write_bytes(b"PK\x05\x06" + b"\0" * 18),
        lambda p: p.write_bytes(os.urandom(5000)),
    ],
)
def test_foreign_files_are_refused(make, tmp_path):
    path = tmp_path / "thing"
    make(path)
    with pytest.raises(TraceError) as caught:
        wb.Trace.load(path)
    assert caught.value.slug == "not-a-trace" and str(path) in str(caught.value)


def test_no_file(tmp_path):
    with pytest.raises(TraceError) as caught:
        wb.Trace.load(tmp_path / "nowhere")
    assert caught.value.slug == "no-such-file" and "nowhere" in str(caught.value)


@pytest.mark.parametrize("part", [0.1, 0.5, 0.9, 0.99])
def test_truncated_files_are_refused(saved, part):
    data = saved.read_bytes()
    saved.write_bytes(data[: int(len(data) * part)])
    with pytest.raises(TraceError):
        wb.Trace.load(saved)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_flipped_bytes_never_do_harm(data, tmp_path_factory):
    """One member's bytes changed and its checksum made right again: loads, or one WorkbenchError."""
    path = tmp_path_factory.mktemp("flip") / "t.trace"
    recorded("nested").save(path)
    with zipfile.ZipFile(path) as file:
        names = file.namelist()
    name = data.draw(st.sampled_from(sorted(names)))

    def flip(old):
        at = data.draw(st.integers(0, max(0, len(old) - 1)))
        return old[:at] + bytes([data.draw(st.integers(0, 255))]) + old[at + 1 :]

    rewrite(path, {name: flip})
    try:
        wb.Trace.load(path)
    except WorkbenchError:
        pass
