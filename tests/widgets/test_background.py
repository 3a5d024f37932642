"""Work on threads beside a view: closing waits for what has begun, also for what is just beginning."""

from __future__ import annotations

import threading
import time

from workbench.widgets.live.background import BackgroundTasks
from workbench.widgets.termination.fix_trials import Trials


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
    assert Late.starting.wait(10)
    close()
    user.join(10)


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
    assert done.wait(10)


def test_a_fix_that_is_about_to_be_tried_is_waited_for(monkeypatch):
    tried = []

    class Session:
        fixed = None

        def apply_fix(self, fix, frame):
            tried.append(fix)
            raise ValueError("nothing to fix")

    trials = Trials(lambda: None)
    close_while_it_starts(lambda: trials.begin(Session(), "a fix", None), trials.close, monkeypatch)
    assert tried == ["a fix"] and trials.state()["a fix"]["state"] == "fails"
