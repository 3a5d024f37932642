"""The list of open sessions and watches that JupyterLab requests from all kernels."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import workbench as wb
from tests.cli.models import endless, newton
from workbench.recorder.live_list import LONGEST, MOST, live_list


def of(number: int, kind: str) -> list[dict]:
    return [entry for entry in live_list().runs if (entry["kind"], entry["number"]) == (kind, number)]


def verdict_under_way(session: wb.Session, begun) -> str:
    while not begun():
        time.sleep(0.001)
    (entry,) = of(session.number, "session")
    assert entry["state"] == "running"
    session.pause()
    return entry["verdict"]


def test_a_session_is_listed_while_it_is_open():
    with wb.Session(newton(), {"a": 2.0}) as session:
        (entry,) = of(session.number, "session")
        assert entry["name"] == "newton" and entry["state"] == "ready" and entry["iteration"] is None
        session.run_to("x", iteration=3)
        (entry,) = of(session.number, "session")
        assert entry["state"] == "paused" and entry["iteration"] == 3 and "the loop ends" in entry["verdict"]
        json.dumps(live_list()._repr_mimebundle_())
    assert of(session.number, "session") == []


def test_an_endless_loop_is_told():
    with wb.Session(endless(), {"start": 1.0}) as session:
        session.run_to("n", iteration=5)
        assert of(session.number, "session")[0]["verdict"].endswith(": the loop never ends")


def test_the_verdict_on_a_run_under_way_counts_nothing_and_is_of_its_own_inputs():
    b = wb.GraphBuilder("count")
    start = b.placeholder("start", "float64")
    graph = b.build(b.while_loop(lambda n: n < 1e15, lambda n: n + 1.0, {"n": start}))
    with wb.Session(graph, {"start": 0.0}, trace="off") as session:
        session.run_to("n", iteration=5)
        stopped = of(session.number, "session")[0]["verdict"]
        assert stopped == "PROVED: the loop ends after 999,999,999,999,995 more iterations"
        session.run(wait=False)
        assert verdict_under_way(session, lambda: session.state == "running") == "PROVED: the loop ends"
        session.post("update", changes={"start": 1.0})
        assert verdict_under_way(session, lambda: session.histories) == ""


def test_the_verdict_on_an_edited_run_is_not_that_on_the_run_after_a_restart():
    b = wb.GraphBuilder("count")
    start = b.placeholder("start", "float64")
    graph = b.build(b.while_loop(lambda n: n != 1e15, lambda n: n + 1.0, {"n": start}))
    with wb.Session(graph, {"start": 0.5}, trace="off") as session:
        session.run_to("n", iteration=5)
        session.set_value("n", 6.0)
        assert of(session.number, "session")[0]["verdict"].startswith("PROVED: the loop ends after")
        session.restart()
        session.run(wait=False)
        assert verdict_under_way(session, lambda: session.state == "running") == ""


def test_a_session_that_is_forgotten_is_not_kept():
    number = wb.Session(newton(), {"a": 2.0}).number
    assert of(number, "session") == []


def test_a_watch_is_listed():
    w = wb.watch("a" * 500)
    for k in range(4):
        w(error=0.5**k)
    (entry,) = of(w.number, "watch")
    assert entry["iteration"] == 4 and len(entry["name"]) == LONGEST


def test_the_list_is_bounded_and_the_newest_is_first():
    watches = [wb.watch(f"w{k}") for k in range(MOST + 5)]
    runs = live_list().runs
    assert len(runs) == MOST and runs[0]["number"] == watches[-1].number


def test_the_package_alone_loads_no_list():
    code = "import sys, workbench; print('workbench.recorder.live_list' in sys.modules)"
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, timeout=300)
    assert done.stdout.strip() == "False"
