"""Alerts of a watch: each finding is sent once, to a function or to a web address.

A loop may run unattended for days. Alerts are sent by a separate thread, so that the loop never waits for them; an
alert that cannot be sent is tried three times, and then named in the report.
"""

from __future__ import annotations

import json
import queue
import threading
import time
import urllib.parse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from workbench.errors import WatchError
from workbench.recorder.outlook import Outlook, time_text
from workbench.threads import ended_at_exit, started

if TYPE_CHECKING:
    from workbench.recorder.watch import Watch

#: seconds for one try, number of tries, seconds between two, and maximum number of waiting alerts
TIMEOUT, TRIES, BETWEEN, WAITING = 10.0, 3, 1.0, 100
#: seconds for which the end of a process waits for unsent alerts
LAST = 5.0

Send = Callable[[dict[str, Any]], object]


class Alerts:
    """A listener of a watch: sends each finding (``nan``, ``stagnation`` ...), ``reached`` and the end once."""

    def __init__(self, watch: Watch, target: Any) -> None:
        self._send = sender(target)
        self._refused = watch.refused
        self._sent: set[str] = set()
        self._queue: queue.Queue[dict[str, Any]] = queue.Queue(WAITING)
        self._thread: threading.Thread | None = None

    def __call__(self, outlook: Outlook | None) -> None:
        if outlook is None:
            return
        news = dict(outlook.found)
        if outlook.reached is not None:
            news["reached"] = f"{outlook.reached}."
        if outlook.over:
            news[outlook.state] = outlook.sentence
        for kind, sentence in news.items():
            if kind not in self._sent:
                self._sent.add(kind)
                self._put(outlook, kind, sentence)

    def _put(self, outlook: Outlook, kind: str, sentence: str) -> None:
        alert = {
            "watch": outlook.name,
            "kind": kind,
            "sentence": sentence,
            "iteration": outlook.iteration,
            "seconds": round(outlook.seconds, 3),
            "text": f"{outlook.name}: {sentence} (iteration {outlook.iteration:,}, {time_text(outlook.seconds)})",
        }
        try:
            self._queue.put_nowait(alert)
        except queue.Full:
            self._refused["alert"] = f"more than {WAITING} alerts wait to be sent"
            return
        if self._thread is None or not self._thread.is_alive():
            ended_at_exit(self._last)
            self._thread = started(self._sending, "workbench-alerts")

    def _sending(self) -> None:
        while True:
            try:
                alert = self._queue.get(timeout=LAST)
            except queue.Empty:
                return
            try:
                self._send(alert)
            except Exception as error:  # the loop continues whatever the function raises
                self._refused["alert"] = f"{alert['kind']} was not sent: {type(error).__name__}: {error}"
            finally:
                self._queue.task_done()

    def _last(self) -> None:
        """Give unsent alerts a few seconds when the process ends."""
        self.wait()

    def wait(self, seconds: float = LAST) -> bool:
        """Wait until all alerts are sent; False if this takes longer than ``seconds``."""
        end = time.monotonic() + seconds
        while self._queue.unfinished_tasks and time.monotonic() < end:
            time.sleep(0.02)
        return not self._queue.unfinished_tasks


def sender(target: Any) -> Send:
    """The function that sends an alert.

    Raises
    ------
    WatchError
        ``bad-alert`` for anything except a function or an address that begins with http:// or https://.
    """
    if callable(target):
        function: Send = target
        return function
    if isinstance(target, str):
        address = urllib.parse.urlsplit(target)
        if address.scheme in ("http", "https") and address.netloc:
            return lambda alert: _post(target, alert)
    raise WatchError(
        "watch: alert must be a function of the alert, or an address that begins with http:// or https://.",
        slug="bad-alert",
        fix='write alert=print, or alert="https://example.org/hook", which gets the alert as JSON.',
    )


def _post(address: str, alert: dict[str, Any]) -> None:
    """Send an alert as the body of a POST; OSError (of urllib) if all tries fail."""
    import urllib.error
    import urllib.request  # it imports http, email and ssl, 30 ms that a watch without alerts saves

    body = json.dumps(alert).encode()
    request = urllib.request.Request(address, body, {"Content-Type": "application/json"}, method="POST")
    for left in reversed(range(TRIES)):
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT):
                return
        except (urllib.error.URLError, OSError):
            if not left:
                raise
            time.sleep(BETWEEN)
