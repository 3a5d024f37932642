"""Work on threads beside a view: closing waits for what has begun, also for what is just beginning."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import pytest

from workbench.analysis.fixes.copies import FixCopies
from workbench.widgets.live.background import BackgroundTasks


class Late(threading.Thread):
    """A thread whose start takes its time, as on a busy machine."""

    starting = threading.Event()

    def start(self) -> None:
        self.starting.set()
        time.sleep(0.1)
        super().start()


def close_while_it_starts(begin, close, monkeypatch) -> None:
    user = threading.Thread(target=begin)
    monkeypatch.setattr(threading, "Thread", Late)
    Late.starting.clear()
    user.start()
    assert Late.starting.wait(60)
    close()
    user.join(60)


def test_closing_waits_for_work_that_is_about_to_start(monkeypatch):
    aside, done = BackgroundTasks(), []
    close_while_it_starts(lambda: aside.do(lambda: (time.sleep(0.05), done.append(1))), aside.close, monkeypatch)
    assert done == [1]


def test_nothing_starts_after_closing():
    aside, done = BackgroundTasks(), []
    aside.close()
    aside.do(lambda: done.append(1))
    aside.close()
    assert not done


def test_work_may_close_what_it_works_for():
    aside, done = BackgroundTasks(), threading.Event()
    aside.do(lambda: (aside.close(), done.set()))
    assert done.wait(60)


def test_a_fix_that_is_about_to_be_tried_is_waited_for(monkeypatch):
    tried = []

    class Session:
        fixed = None

        def apply_fix(self, fix, frame):
            tried.append(fix)
            raise ValueError("nothing to fix")

    threads = BackgroundTasks()
    trials = FixCopies(lambda: None, threads.do)
    close_while_it_starts(lambda: trials.begin(Session(), "a fix", None), threads.close, monkeypatch)
    assert tried == ["a fix"] and trials.state()["a fix"]["state"] == "fails"


#: prints, as the last of all that is done before the interpreter ends, which threads of ours there still are
AT_THE_END = """
import atexit, threading
atexit.register(lambda: print("left:", [t.name for t in threading.enumerate() if t.name.startswith("workbench")]))
import workbench as wb
from tests.widgets.graphs import counter
"""


def left_by(script: str) -> str:
    done = subprocess.run([sys.executable, "-c", AT_THE_END + script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_no_thread_of_a_panel_is_left_when_the_interpreter_ends():
    script = """
from tests.widgets.browser_side import open_view
panel = wb.debug(wb.Session(counter(), {"start": 0.0}))
panel.session.step()
for view in (panel.toolbar, *panel.parts):
    open_view(view)
panel.session.next_iteration()
names = [t.name for t in threading.enumerate()]
assert "workbench-pump" in names, names
"""
    assert left_by(script) == "left: []\n"


def test_no_thread_of_a_watch_is_left_when_the_interpreter_ends():
    script = """
watch = wb.watch("counting", stop_when=lambda w: False)
for k in range(100):
    watch(k=k)
names = [t.name for t in threading.enumerate()]
assert "workbench-watch" in names, names
"""
    assert left_by(script) == "left: []\n"
