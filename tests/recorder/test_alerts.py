"""Alerts: each finding is sent once, to a function or to a server, whatever happens there."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

import workbench as wb
from workbench.recorder import alerts


def loop_with_nan(alert) -> wb.Watch:
    with wb.watch("training", show=False, alert=alert, until={"loss": ("<", 0.1)}) as loop:
        for k in range(50):
            loop(loss=1.0 / (k + 1) if k < 5 else float("nan"))
    assert loop.alerts.wait(60)
    return loop


def test_a_function_gets_each_finding_once():
    got = []
    loop = loop_with_nan(got.append)
    kinds = [alert["kind"] for alert in got]
    assert kinds.count("nan") == 1 and kinds[-1] == "finished" and len(set(kinds)) == len(kinds)
    nan = next(alert for alert in got if alert["kind"] == "nan")
    assert (nan["watch"], nan["sentence"]) == ("training", "loss became NaN in iteration 6.")
    assert nan["text"].startswith("training: loss became NaN in iteration 6. (iteration ")
    assert "alert" not in loop.refused


@pytest.fixture
def server():
    """A server on this machine with given answers, and the requests that it received."""
    got, answers = [], []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            got.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(answers.pop(0) if answers else 200)
            self.end_headers()

        def log_message(self, *parts: object) -> None:
            pass

    found = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=found.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{found.server_port}/hook", got, answers
    found.shutdown()
    found.server_close()


def test_an_address_gets_them_as_json_also_after_a_failure(server, monkeypatch):
    monkeypatch.setattr(alerts, "BETWEEN", 0.0)
    address, got, answers = server
    answers[:] = [500, 503]
    loop = loop_with_nan(address)
    kinds = [alert["kind"] for alert in got]
    assert kinds[0] == kinds[1] == kinds[2] and len(set(kinds[2:])) == len(kinds[2:])
    assert {"nan", "finished"} <= set(kinds) and "alert" not in loop.refused


def test_what_cannot_be_sent_is_named_and_the_loop_goes_on(monkeypatch):
    monkeypatch.setattr(alerts, "BETWEEN", 0.0)

    def fails(alert: dict) -> None:
        raise RuntimeError("no line")

    for target, words in ((fails, "RuntimeError: no line"), ("http://127.0.0.1:9/hook", "URLError")):
        loop = loop_with_nan(target)
        assert loop.calls == 50 and words in loop.refused["alert"] and words in loop.report()


def test_the_end_of_a_process_waits_for_them(tmp_path):
    program = f"""
import time
import workbench as wb
def slow(alert):
    time.sleep(0.3)
    open({str(tmp_path / "sent")!r}, "a").write(alert["kind"] + "\\n")
with wb.watch("short", show=False, alert=slow) as loop:
    loop(loss=float("nan"))
"""
    subprocess.run([sys.executable, "-P", "-c", program], check=True, timeout=300)
    assert set((tmp_path / "sent").read_text().split()) == {"nan", "finished"}


@pytest.mark.parametrize("target", [3, "ftp://x/y", "file:///etc/passwd", "", "https://"])
def test_other_targets_are_refused(target):
    with pytest.raises(wb.WorkbenchError, match="alert must be a function"):
        wb.watch("x", alert=target)
