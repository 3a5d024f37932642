"""Watches in threads and processes report to the process that started them."""

from __future__ import annotations

import json
import multiprocessing
import os
import pickle
import signal
import socket
import sys
import threading
from pathlib import Path

import pytest

import workbench as wb
from tests.widgets.browser_side import until as seen
from workbench.errors import WatchError
from workbench.recorder.remote.reporter import ReportAddress

CONTEXT = multiprocessing.get_context("spawn")


def fit(seed, report, steps=20):
    with wb.watch(f"fit {seed}", until={"error": ("<", 1e-3)}, report=report, show=False) as loop:
        for k in range(steps):
            loop(error=0.5**k * (1 + seed))
    return loop.report()


def ask_for_ever(report, begun):
    with wb.watch("endless", report=report, show=False) as loop:
        k = 0
        while not loop(k=k):
            k += 1
            if k == 100:
                begun.set()


@pytest.fixture(autouse=True)
def _found_by_workers(monkeypatch):
    """Spawned processes import this module; its path is last, as the root of the sources has a folder of our name."""
    monkeypatch.setattr(sys, "path", [*sys.path, str(Path(__file__).parents[2])])


@pytest.fixture
def reports():
    with wb.WatchReports() as made:
        yield made


def test_threads_report(reports):
    threads = [threading.Thread(target=fit, args=(seed, reports)) for seed in range(4)]
    for thread in threads:
        thread.start()
    runs = reports.wait(4)
    assert sorted(run["name"] for run in runs) == [f"fit {k}" for k in range(4)]
    assert {run["state"] for run in runs} == {"finished"} and {run["iteration"] for run in runs} == {20}
    assert runs[0]["pid"] == os.getpid() and runs[0]["variables"][0]["name"] == "error"
    assert "4 runs, 4 finished" in repr(reports) and "fit 3" in reports._repr_html_()
    for thread in threads:
        thread.join()


def work(report):
    for seed in range(2):
        fit(seed, report)
    for _ in range(2):
        ask_for_ever(report, threading.Event())


def until(reports, runs):
    """The newest run, once so many runs have reported."""
    while len(reports.runs) < runs:
        reports.wait(runs, timeout=0.1)
    return reports.runs[-1]


def test_a_process_reports_is_asked_to_stop_and_is_lost_when_it_is_killed(reports):
    worker = CONTEXT.Process(target=work, args=(reports,))
    worker.start()
    reports.request_stop(until(reports, 3)["key"])
    assert until(reports, 4)["state"] == "running"
    os.kill(worker.pid, signal.SIGKILL)
    worker.join()
    runs = reports.wait(4)
    assert [run["state"] for run in runs] == ["finished", "finished", "stopped", "lost"]
    assert {run["pid"] for run in runs} == {worker.pid}


def test_a_loop_goes_on_when_the_notebook_has_gone():
    reports = wb.WatchReports()
    reports.close()
    reports.close()
    assert "ended, 20 iterations" in fit(0, reports)


def test_who_does_not_know_the_secret_is_not_heard(reports):
    fit(1, reports)
    wrong = ReportAddress(reports.address.host, reports.address.port, "00" * 32)
    assert "ended, 20 iterations" in fit(2, wrong)
    with socket.create_connection((reports.address.host, reports.address.port)) as stranger:
        stranger.sendall(json.dumps({"name": "stranger", "state": "running"}).encode() + b"\n")
        stranger.settimeout(30)
        while stranger.recv(1024):  # the question, then the end
            pass
    assert [run["name"] for run in reports.wait(1)] == ["fit 1"]


def test_pickled_reports_are_their_address(reports):
    assert pickle.loads(pickle.dumps(reports)) == reports.address
    with pytest.raises(WatchError, match="takes the reports of a notebook"):
        wb.watch("x", report="127.0.0.1:80")
    with pytest.raises(WatchError) as caught:
        wb.WatchReports("a host that there is not")
    assert caught.value.slug == "no-port"


def test_the_view_shows_each_run_and_stops_it(reports):
    view = reports.view()
    fit(1, reports)
    reports.wait(1)
    # the receiving thread updates the view a moment later
    assert seen(lambda: [part.status["state"] for part in view._parts.values()] == ["finished"])
    assert [part.status["name"][:8] for part in view._parts.values()] == ["fit 1 · "]
    begun = threading.Event()
    thread = threading.Thread(target=ask_for_ever, args=(reports, begun))
    thread.start()
    assert begun.wait(60)
    while len(view._parts) < 2:
        reports.wait(2, timeout=0.2)
    list(view._parts.values())[-1].cards.handle_message("act", {"name": "stop", "value": None})
    thread.join()
    reports.wait(2)
    assert seen(lambda: "1 finished, 1 stopped" in view._words.value)
    view.close()
    assert reports.listeners == []
    with pytest.raises(WatchError, match="expected reports"):
        wb.widgets.ReportsView("x")


def test_more_runs_than_are_shown(reports):
    view = reports.view()
    for seed in range(15):
        fit(seed, reports, steps=3)
        reports.wait(seed + 1)
    assert seen(lambda: "15 runs" in view._words.value)
    assert seen(lambda: list(view._parts.values())[-1].status["name"].startswith("fit 14"))
    assert len(view._parts) == 12
    view.close()
