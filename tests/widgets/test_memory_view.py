"""MemoryView: models of the ledger, a run and a record; the figure, live updates, the switch, files, errors."""

from __future__ import annotations

import threading
import time

import ipywidgets
import numpy as np
import plotly.graph_objects as go
import pytest

import workbench as wb
from tests.widgets.browser_side import acknowledge, open_view, until
from tests.widgets.graphs import EVIL, evil, newton
from workbench.arrays import LEDGER, Ledger
from workbench.widgets import MemoryView
from workbench.widgets.memory.memory_bars import lifetime_bars, variable_bars
from workbench.widgets.memory.memory_model import MAX_LINES, SessionMemory, ledger_model, trace_model


@pytest.fixture(autouse=True)
def no_comm_and_no_thread_is_left():
    before, threads = len(ipywidgets.widgets.widget._instances), threading.active_count()
    yield
    assert len(ipywidgets.widgets.widget._instances) == before
    assert until(lambda: threading.active_count() <= threads)


@pytest.fixture
def base():
    with wb.ArrayManager("base", limit=4000, ledger=Ledger()) as manager:
        yield manager


def model_of(manager, path=None):
    return ledger_model(manager.ledger.figures(levels=True), path)


def test_the_model_follows_managers(base):
    step = base.new_submanager("step")
    kept = base.zeros((10,)), step.zeros((100,))
    step.zeros((5,))
    model = model_of(base)
    assert [line["name"] for line in model["lines"]] == ["all arrays", "base/step", "base"]
    assert model["lines"][0]["y"].tolist() == [80.0, 880.0, 920.0, 920.0]  # the last one up to now
    assert model["peak"]["y"] == 920 and model["peak"]["text"] == "peak 920 B"
    assert model["headline"] == "3 arrays, 920 B \u00b7 peak 920 B" and model["limit"] is None
    assert model["words"].startswith("Collection of unused arrays is off: 1 array, 40 B without a handle")
    assert model["rows"][0] == ["base/step", "2", "840 B", "840 B", "2", "0", "0", ""]
    one = model_of(base, "base")
    assert [line["name"] for line in one["lines"]] == ["base itself", "base/step"] and one["limit"] == 4000
    assert one["headline"] == "3 arrays, 920 B \u00b7 itself at most 80 B"
    base.ledger.collect(True)
    assert "is on: 1 of 3 arrays made were collected" in model_of(base)["words"]
    assert [e["kind"] for e in model_of(base)["events"]] == ["collected"] and len(kept) == 2


def test_many_managers_and_many_events_are_summed_up(base):
    keep = [base.new_submanager(f"s{k}") for k in range(40)]
    arrays = [m.zeros((k + 1,)) for k, m in enumerate(keep)]
    model = model_of(base)
    assert len(model["lines"]) == 1 + MAX_LINES and model["lines"][1]["name"] == "base/s39"
    assert len(model["rows"]) == 10 and model["more"] == 31
    arrays.clear()
    for m in keep:
        m.close()
    events = model_of(base)["events"]
    assert 1 <= len(events) <= 41 and any(e["name"] == "several managers" for e in events)


def test_a_curve_of_many_changes_is_short_and_keeps_its_peak(base):
    levels = base.account.levels
    heap = []
    for k in range(20_000):
        levels.note(k % 700 + (10**6 if k == 7654 else 0))
        heap.append(k)
    points = levels.points()
    assert len(points) < 1100 and max(y for _, y in points) == 10**6 + 7654 % 700
    assert points[0][1] == 0 and points[-1][1] == 19_999 % 700
    assert all(a[0] <= b[0] for a, b in zip(points, points[1:], strict=False))


def test_the_model_of_a_session_is_cut_where_the_run_goes_back():
    with wb.Session(newton(), {"a": 2.0, "x0": 100.0}) as session:
        follow = SessionMemory()
        follow.update(session.memory_now())
        session.step(12)
        model = follow.update(session.memory_now())
        there = session.memory_now().event
        assert model["lines"][0]["x"].tolist() == [0.0, there] and there >= 12 and model["limit"] == 512 << 20
        assert model["lines"][2]["now"] == 16 and model["peak"]["y"] == session.memory_now().total
        session.step_back(5)
        back = session.memory_now().event
        assert follow.update(session.memory_now())["lines"][0]["x"].tolist() == [0.0, back] and back < there
        assert model["headline"].endswith("budget of the trace 512.0 MiB")


def test_arrays_on_a_device_are_a_line_of_their_own():
    b = wb.GraphBuilder("decay")
    x, n = b.placeholder("x", "float64", (100,)), b.placeholder("n", "int64")
    x, _ = b.while_loop(lambda x, i: i < n, lambda x, i: (x * 0.5, i + 1), [x, 0])
    feeds, follow = {"x": np.ones(100), "n": 9}, SessionMemory()
    with wb.Session(b.build({"x": x}), feeds, device=wb.Device("numpy", least_bytes=1)) as session:
        session.run()
        line = follow.update(session.memory_now())["lines"][3]
        assert line["name"] == "device numpy" and line["now"] >= 9 * 800
    with wb.Session(b.build({"x": x}), feeds) as session:
        assert len(SessionMemory().update(session.memory_now())["lines"]) == 3


def test_bars_say_from_where_to_where_a_value_is_needed():
    b = wb.GraphBuilder("chain")
    x = b.placeholder("x", "float32", (1000,))
    first = b.op("sqrt", x, name="first")
    second = b.op("exp", first, name="second")
    graph = b.build({"y": b.op("add", second, first, name="last")})
    with wb.Session(graph, {"x": np.ones(1000, "f4")}) as session:
        bars = {bar["name"]: bar for bar in lifetime_bars(session.dag)}
        at = {n.name: n.position for n in session.dag.frame_aware_order()}
    assert bars["first"]["stop"] == at["last"] and bars["second"]["stop"] == at["last"]
    assert bars["x"]["stop"] == at["first"] and bars["last"]["stop"] == len(at)
    assert {bar["bytes"] for bar in bars.values()} == {4000} and bars["last"]["label"] == "y"


def test_numbers_are_summed_up_by_variable_and_a_curve_that_did_not_change_is_not_drawn():
    with wb.Session(newton(), {"a": 2.0, "x0": 100.0}) as session:
        session.run()
        assert lifetime_bars(session.dag) == []
        bars = {bar["label"]: bar for bar in variable_bars(session.trace)}
        count = len(session.trace["x"]) + 1  # and the row in which the loop is entered
        assert bars["x"]["told"] == f"{count} rows of 8 B: {8 * count} B"
        together = next(bar for label, bar in bars.items() if label.endswith(" other values"))
        assert together["bytes"] == 8 * together["count"] and together["bytes"] > bars["x"]["bytes"]
        view = MemoryView(session)
        figure = view.figure
        assert [trace.type for trace in figure.data] == ["bar"] and figure.layout.xaxis.title.text == "bytes"
        assert view.scale.layout.display == "none" and "rows of the trace" in view.words.value.lower()
        session.restart()
        view.update_now()
        session.run()
        view.update_now()
        curve = view.figure.data[0]
        assert curve.type == "scatter" and curve.line.shape == "hv" and curve.x[0] == 0 and curve.y[-1] > curve.y[0]
        assert view.scale.layout.display == ""
        view.close()


def test_a_record_by_value(tmp_path):
    b = wb.GraphBuilder("grow")
    x = b.placeholder("x", "float64", (100,))
    out = b.while_loop(lambda v, i: i < 9, lambda v, i: (np.sqrt(v), i + 1), {"v": x, "i": b.constant(0, "int64")})
    with wb.Session(b.build({"v": out["v"]}), {"x": np.ones(100)}) as session:
        session.run()
        model = trace_model(session.trace)
        session.trace.save(tmp_path / "t.wbtrace")
    first = model["bars"][0]
    assert (first["name"], first["count"], first["bytes"]) == ("while/v/Merge:0", 10, 10 * 100 * 8)
    assert [bar["bytes"] for bar in model["bars"] if bar["name"] == "x:0"] == [800]
    loaded = wb.Trace.load(tmp_path / "t.wbtrace")
    assert trace_model(loaded)["bars"] == model["bars"]
    view = MemoryView(loaded)
    assert "recorded values" in repr(view) and view.figure.data[0].type == "bar"
    view.close()


@pytest.mark.parametrize("name", ["light", "dark"])
@pytest.mark.parametrize("log", [False, True])
def test_figure_and_file(base, name, log, tmp_path):
    kept = [base.zeros((10 * k,)) for k in range(4)]
    base.zeros((3,)).release()
    view = MemoryView(base, log=log)
    figure = view.figure_in(name)
    assert type(figure) is go.Figure and figure.data[0].name.startswith("base") and len(kept) == 4
    assert [d.name for d in figure.data if d.visible and d.mode == "markers"] == ["released"]
    assert figure.layout.yaxis.type == ("log" if log else "linear")
    assert figure.layout.annotations[0].text == "limit 3.9 KiB"
    assert figure.layout.title.text == "4 arrays, 480 B \u00b7 peak 504 B"
    text = view.to_html(tmp_path / "memory.html", name).read_text(encoding="utf-8")
    assert "Plotly.newPlot" in text and '<script src="http' not in text
    assert repr(view) == "<MemoryView: 4 arrays, 480 B \u00b7 peak 504 B>"
    view.close()
    view.close()


def test_the_ledger_is_followed_live_and_not_more_than_twenty_times_a_second(base, clock):
    view = MemoryView(base)
    open_view(view)
    end = acknowledge(view)
    kept = []
    started, pushes = clock.now, view.pump.pushes
    for _ in range(60):
        kept.append(base.zeros((1,)))
        time.sleep(0.001)
    made, took = view.pump.pushes - pushes, clock.now - started
    assert until(lambda: "60 arrays, 480 B" in view.words.value)
    assert until(lambda: view.live.figure.data[0].y[-1] == 480.0)
    assert made <= 20 * took + 2  # seconds of the pump's own clock
    base.ledger.collect(True)
    kept.clear()
    assert until(lambda: "0 arrays, 0 B" in view.words.value and "is on: 60 of 60" in view.words.value)
    assert until(lambda: view.switch.value and view.switch.description == "Collect unused arrays: on")
    end()
    view.close()


def test_it_is_live_before_the_kernel_hears_of_the_browser(base):
    """A busy cell: the view was displayed, its answer waits in the queue, and the figure is sent all the same."""
    view = MemoryView(base)
    assert view.views == 0
    view._repr_mimebundle_()
    assert view.views == 1
    kept = base.zeros((7,))
    assert until(lambda: "1 array, 56 B" in view.words.value) and not kept.released
    open_view(view)
    assert view.views == 1
    view.live._browser_says(view.live, {"kind": "gone"}, [])
    assert view.views == 0
    view.close()


def test_a_model_that_is_out_of_date_does_not_switch_the_ledger(base):
    view = MemoryView(base)
    old = view.model(None)
    base.ledger.collect(True)
    now = view.model(None)
    base.ledger.collect(False)
    for model in (now, old, now):
        view.refresh(model)
        assert view.switch.value is model["collecting"] and not base.ledger.collecting
    view.close()


def test_the_switch_is_the_one_switch(base):
    view = MemoryView(base)
    base.zeros((1,))
    assert view.switch.value is False
    view.switch.value = True
    assert base.ledger.collecting and base.ledger.figures().live == 0
    view.switch.value = False
    assert not base.ledger.collecting and view.switch.description == "Collect unused arrays: off"
    view.close()
    whole = MemoryView()
    assert whole.source.ledger is LEDGER and whole.switch.value is LEDGER.collecting
    whole.close()


def test_a_session_is_followed():
    with wb.Session(newton(), {"a": 2.0, "x0": 100.0}) as session:
        view = MemoryView(session)
        open_view(view)
        end = acknowledge(view)
        session.run()
        assert until(lambda: view.live.figure.data[0].x[-1] == session.memory_now().event)
        assert view.live.figure.data[-1].type == "bar" and view.switch is None
        assert "budget of the trace" in view.words.value
        end()
        view.close()


def test_names_with_tags_in_them_are_text(tmp_path):
    with wb.ArrayManager(f"m{EVIL}", ledger=Ledger()) as manager:
        kept = manager.zeros((3,))
        manager.zeros((1,)).release()
        view = MemoryView(manager)
        assert EVIL not in view.words.value and EVIL not in str(view.figure.to_dict()) and not kept.released
        view.close()
    with wb.Session(evil(), {f"x{EVIL}": 1.0}) as session:
        view = MemoryView(session)
        shown = view.figure.to_dict()
        assert EVIL not in str(shown["data"][-1]["customdata"]) and EVIL not in str(shown["layout"])
        view.close()


def test_anything_else_is_refused():
    for wrong in (42, newton()):
        with pytest.raises(wb.WorkbenchError, match="no-view-source"):
            MemoryView(wrong)
