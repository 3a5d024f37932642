"""The cell of a panel that is run again and again in one notebook: nothing grows, also where outputs are remembered."""

from __future__ import annotations

import pytest

from tests.limits import in_a_process

pytest.importorskip("IPython")
pytestmark = pytest.mark.timeout(300)

HEAD = """
import gc
import time
import ipywidgets
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
from tests.widgets.browser_side import open_view
from workbench.session import Session
from workbench.trace import Trace

GRAPH = '''
import workbench as wb
b = wb.GraphBuilder("halving")
start = b.placeholder("start", "float64", ())
_, y = b.while_loop(lambda k, y: k < 400, lambda k, y: (k + 1, y * 0.5 + 1.0), (b.constant(0, "int64"), start))
graph = b.build({"y": y})
'''

def live_parts(panel):
    return [getattr(part, "live", part) for part in (panel.toolbar, panel.time, *panel.parts) if part is not None]

def say(parts, kind):
    for part in parts:
        part._handle_custom_msg({"kind": kind}, [])

before = []

def again(cell, times):
    '''Run a cell; a browser shows its panel, and takes the one before away afterwards. What there is in the end.'''
    global before
    for _ in range(times):
        done = shell.run_cell(GRAPH + cell, store_history=True)
        assert done.success
        say(before, "gone")
        before = live_parts(done.result)
        say(before, "view")
        del done
    sessions = sum(isinstance(o, Session) for o in gc.get_objects())
    # the slices of proofs hold traces in circles, and a proof that is still looked for in the background holds its own
    traces = []
    for _ in range(20):
        gc.collect()
        traces.append(sum(isinstance(o, Trace) for o in gc.get_objects()))
        if len(traces) > 3 and traces[-1] == traces[-4]:
            break
        time.sleep(0.2)
    traces = min(traces)
    return sessions, len(ipywidgets.widgets.widget._instances), traces, len(gc.get_objects())
"""
CELLS = {
    "a panel with a name": 'panel = wb.debug(graph, {"start": 100.0})\npanel.session.run()\npanel',
    "a panel without a name": 'wb.debug(graph, {"start": 100.0})',
    "a session and its panel": 'session = wb.Session(graph, {"start": 100.0})\nsession.run()\nwb.debug(session)',
    "a panel with an edit": "\n".join(
        [
            'p = wb.debug(graph, {"start": 9.0})',
            "p.session.run()",
            'p.session.run_to("y", 3)',
            'p.session.set_value("y", 2.0)',
            "p.session.run()",
            'p.note = "see"',
            'p.panes.show("inputs")',
            'p.panes.show("compare").compare("this run", "before edit 1")',
            "p",
        ]
    ),
    "a panel with panes": 'p = wb.debug(graph, {"start": 9.0})\np.session.run()\np.panes.show(p.panes.names[0])\np',
}


def check(cells: list[str], times: int, first: int = 2) -> None:
    told = in_a_process(
        f"""
        for cell in {[CELLS[name] for name in cells]!r}:
            first, last = again(cell, {first}), again(cell, {times})
            print("counted", *first, *last)
        """,
        head=HEAD,
        seconds=800.0,
    )
    counted = [line for line in told.splitlines() if line.startswith("counted")]
    for name, line in zip(cells, counted, strict=True):
        sessions, widgets, traces, objects, *last = map(int, line.split()[1:])
        # the newest one, the one before that has just gone from the page, and what names of other cells mean
        assert sessions <= 1 + len(cells) and last[0] <= max(sessions, 2), (name, line)
        assert last[1] == widgets and last[2] <= traces, (name, line)
        # caches of the first times, and IPython's own history of the inputs; one panel has 6000
        assert last[3] - objects < 3000, (name, line)


@pytest.mark.slow
def test_a_cell_that_is_run_again_leaves_no_session_and_no_widget():
    check(list(CELLS), 3)


@pytest.mark.sweep
def test_a_cell_that_is_run_forty_times_leaves_no_session_and_no_widget():
    check(["a session and its panel"], 40)
    check(["a panel with a name"], 80, first=20)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_cell_that_is_run_fifty_times_leaves_nothing():
    """Counted from the twentieth time on, when all caches are full."""
    check(["a panel with a name"], 30, first=20)
