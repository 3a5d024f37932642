"""A kernel in which nothing happens does nothing: after every story the views come to rest, and read no more."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

import workbench as wb
from tests.widgets.browser_side import acknowledge, open_view, until
from tests.widgets.graphs import counter, nested, newton
from workbench.widgets.live.pump import IDLE_S, Pump
from workbench.widgets.series.series_reader import TRIES, SeriesReader

#: looks of a view at a run that stands still until it has read everything; the graphs here record little
MOST_LOOKS = 20
#: calls of functions in a look of a pump that finds nothing new
CALLS_OF_A_LOOK = 200


def without_loop() -> wb.Graph:
    b = wb.GraphBuilder("no loop")
    x = b.placeholder("x", "float64", ())
    y = np.tanh(x * x)
    return b.build({"y": b.cond(y > 0.5, lambda: y + 1.0, lambda: y - 1.0)})


def failing() -> wb.Graph:
    b = wb.GraphBuilder("failing")
    n = b.placeholder("n", "int64", ())
    return b.build({"i": b.while_loop(lambda i: i // (n - i) < 1, lambda i: i + 1, b.constant(0, "int64"))})


STORIES = {
    "a graph without a loop": lambda: (without_loop(), {"x": 2.0}, lambda s: s.run()),
    "a loop that has ended": lambda: (newton(), {"a": 2.0, "x0": 1.0}, lambda s: s.run()),
    "a loop that is paused": lambda: (counter(), {"start": 0.0}, lambda s: (s.run_to("i", 50), s.step(3))),
    "a run that failed": lambda: (failing(), {"n": 5}, lambda s: s.run()),
    "nested loops": lambda: (nested(), {"n": 9}, lambda s: s.run()),
    "a step back": lambda: (newton(), {"a": 2.0, "x0": 1.0}, lambda s: (s.run(), s.step_back(9))),
    "new inputs": lambda: (newton(), {"a": 2.0, "x0": 1.0}, lambda s: (s.run(), s.update(a=3.0))),
    "nothing has run": lambda: (newton(), {"a": 2.0, "x0": 1.0}, lambda s: None),
}


@pytest.fixture
def counted(monkeypatch):
    """Counts the looks of pumps, those that left something to do, what woke pumps, the reads of series, and the calls
    of functions on the threads of the views (the threads that answer like a browser are not counted)."""
    counts = dict.fromkeys(("tick", "left", "wake", "read", "call"), 0)
    for owner, name in ((Pump, "tick"), (Pump, "wake"), (SeriesReader, "read")):
        method = getattr(owner, name)

        def counting(*args, _method=method, _name=name):
            counts[_name] += 1
            found = _method(*args)
            counts["left"] += _name == "tick" and found
            return found

        monkeypatch.setattr(owner, name, counting)

    def called(_frame, event, _argument):
        counts["call"] += event in ("call", "c_call") and "answer" not in threading.current_thread().name

    threading.setprofile(called)
    yield counts
    threading.setprofile(None)


def at_rest(counts: dict[str, int]) -> None:
    """Nothing is read any more, and pumps look only for signs of life, each look at its time and a few calls long."""
    did: dict[str, int] = {}

    def for_a_second() -> bool:
        before = dict(counts)
        time.sleep(1.0)
        after = dict(counts)
        did.update({name: after[name] - before[name] for name in counts})
        idle = did["read"] == did["left"] == did["wake"] == 0
        return idle and did["call"] <= CALLS_OF_A_LOOK * (did["tick"] + 2)  # one look at each end of it is cut

    assert until(for_a_second), did
    assert IDLE_S >= 0.1, "the time between two looks when nothing wakes the pump"


@pytest.mark.slow
@pytest.mark.parametrize("story", STORIES)
def test_views_come_to_rest(story, counted):
    graph, feeds, act = STORIES[story]()
    panel = wb.debug(graph, feeds)
    views = [panel.graph, panel.evolution, panel.termination, panel.control_flow, panel.inspector, panel.toolbar]
    for view in views:
        open_view(view)
    ends = [acknowledge(view) for view in views]
    act(panel.session)
    at_rest(counted)
    for end in ends:
        end()
    panel.close()


@pytest.mark.parametrize("story", STORIES)
def test_a_view_has_read_everything_after_a_few_looks(story):
    graph, feeds, act = STORIES[story]()
    with wb.Session(graph, feeds) as session:
        act(session)
        kinds = (wb.widgets.EvolutionView, wb.widgets.ControlFlowView, wb.widgets.TerminationView, wb.widgets.GraphView)
        for kind in kinds:
            view = kind(session)
            looks = 0
            while looks == 0 or view.behind:
                assert view.attempt(session.snapshot()) is None
                looks += 1
                assert looks < MOST_LOOKS, kind.__name__
            view.close()


def test_a_loaded_trace_comes_to_rest(tmp_path, counted):
    with wb.Session(without_loop(), {"x": 2.0}) as session:
        session.run()
        session.trace.save(tmp_path / "run.wbtrace")
    trace = wb.Trace.load(tmp_path / "run.wbtrace")
    kinds = (wb.widgets.EvolutionView, wb.widgets.ControlFlowView, wb.widgets.GraphView, wb.widgets.ValueInspector)
    views = [kind(trace) for kind in kinds]
    at_rest(counted)
    for view in views:
        view.close()


def test_a_watch_that_has_ended_and_a_sweep_that_has_ended_come_to_rest(counted):
    with wb.watch("idle", until={"r": ("<", 1e-3)}) as watch:
        view = wb.widgets.WatchView(watch)
        open_view(view)
        for k in range(200):
            watch(r=0.9**k)
    result = wb.sweep(newton(), {"a": np.linspace(1.0, 9.0, 20)}, inputs={"x0": 1.0})
    sweep = wb.widgets.SweepView(result)
    at_rest(counted)
    view.close()
    sweep.close()


def test_values_outside_of_all_loops_are_followed():
    """They have no iteration: they are numbered in their order, and what was read is not read again."""
    with wb.Session(without_loop(), {"x": 2.0}) as session:
        session.run()
        taken: list[tuple[list[float], list[float]]] = []
        for name in session.trace.names():
            reader = SeriesReader(lambda x, c: taken.append((x.tolist(), np.ravel(c[0]).tolist())), lambda number: None)
            for _ in range(3):
                reader.read([session.trace[name]], False)
                assert not reader.behind and not reader.failed, (name, reader.failed)
        assert sum(x == [0.0] for x, _ in taken) > 4 and all(x in ([], [0.0]) for x, _ in taken)


def test_an_error_of_a_reader_that_stays_is_counted_and_raised():
    class Broken:
        conditional = False

        def __len__(self):
            return 1

        def window(self, *_):
            raise IndexError("no such row")

    reader = SeriesReader(lambda x, c: None, lambda number: None)
    for _ in range(TRIES - 1):
        reader.read([Broken()], False)
        assert reader.behind
    with pytest.raises(IndexError, match="no such row"):
        reader.read([Broken()], False)
    assert not reader.behind and reader.failed == {"IndexError: no such row": TRIES}
    reader.read([Broken()], True)
    assert not reader.behind
