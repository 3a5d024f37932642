"""Without threads from the system, the caller updates views and does the work; with threads again as before."""

from __future__ import annotations

import pytest

from tests.limits import in_a_process

HEAD = """
from tests.widgets.browser_side import open_view, until
from tests.widgets.graphs import counter, newton
from workbench.widgets import EvolutionView, ExplainView, GraphView, ShapeTrieView, Toolbar
from workbench.widgets.live.background import BackgroundTasks
from workbench.widgets.live.view_source import ViewSource
from workbench.widgets.series.other_runs import OtherRuns

def working():
    names = ("workbench-pump", "workbench-aside", "workbench-shapes", "workbench-ghosts", "workbench-fix")
    return sum(thread.name in names for thread in threading.enumerate())
"""
STOPS = """
with wb.Session(counter(), {"start": 0.0}) as session:
    views = [EvolutionView(session), Toolbar(session), *(GraphView(session) for _ in range(4))]
    evolution, toolbar = views[:2]
    def newest():
        y = evolution.live.figure.data[0].y
        return (y is not None and list(y) == list(session.trace["i"].values),
                toolbar.status["event"] == str(session.position.event))
    session.step()
    no_threads(True)
    for view in views:
        open_view(view)
    for k in range(1, 6):
        session.step(4)
        print(*newest(), {shown[0] for shown in evolution.pump._shown.values()} == {session.version})
    toolbar.press("step")
    session.wait(10.0)
    print(*newest(), working(), evolution.pump.errors)
    no_threads(False)
    session.step()
    print(evolution.pump.alive, until(lambda: newest() == (True, True)))
    for view in views:
        view.close()
    print(until(lambda: working() == 0), session.step().reason.name)
"""
ASIDE = """
done = []
aside = BackgroundTasks()
no_threads(True)
aside.do(lambda: done.append(threading.current_thread().name))
no_threads(False)
aside.do(lambda: done.append(threading.current_thread().name))
aside.close()
aside.do(lambda: done.append("closed"))
print(done)
"""
READ_ASIDE = """
with wb.Session(newton(), {"a": 2.0, "x0": 100.0}) as session:
    session.run()
    session.update(a=3.0)
    explain, shapes, ghosts = ExplainView(session), ShapeTrieView(), OtherRuns(ViewSource(session))
    no_threads(True)
    open_view(explain)
    open_view(shapes)
    print(len(explain.status["rows"]) > 3, [run.label for run, _ in ghosts.traces()])
    print(working())
    no_threads(False)
    open_view(shapes)
    print(working())
    for part in (explain, shapes, ghosts):
        part.close()
    print(until(lambda: working() == 0))
"""


@pytest.mark.slow
def test_views_are_shown_at_every_stop_and_what_they_read_aside_is_read():
    told = in_a_process(STOPS + ASIDE + READ_ASIDE, "number of threads", head=HEAD).splitlines()
    assert told[:8] == ["True True True"] * 5 + ["True True 0 []", "True True", "True STEP"]
    assert told[8] == "['MainThread', 'workbench-aside']"
    assert told[9:] == ["True ['earlier inputs 1']", "0", "1", "True"]
