"""The worker's side: a listener of a watch that sends each outlook to the notebook, and receives stop requests."""

from __future__ import annotations

import hashlib
import hmac
import os
import select
import socket
import weakref
from typing import TYPE_CHECKING, Any, NamedTuple

from workbench.errors import WatchError
from workbench.recorder.outlook import Outlook, plain
from workbench.recorder.remote.message import written
from workbench.threads import Lock

if TYPE_CHECKING:
    from workbench.recorder.watch import Watch

#: seconds for which a worker waits for an answer of the notebook
PATIENCE = 3.0
STOP = b"stop\n"


class ReportAddress(NamedTuple):
    """The address at which a notebook listens, and the secret that it requires. It may be sent to workers."""

    host: str
    port: int
    secret: str


def answer(secret: str, question: bytes) -> bytes:
    """The line that proves knowledge of the secret without sending it."""
    return hmac.new(bytes.fromhex(secret), question.strip(), hashlib.sha256).hexdigest().encode() + b"\n"


def address_of(report: Any) -> ReportAddress:
    """The address of what was passed as ``report=``; WatchError for anything else."""
    found = getattr(report, "address", report)
    if not isinstance(found, ReportAddress):
        raise WatchError(
            f"watch: report= takes the reports of a notebook, got a {type(report).__name__}.",
            slug="bad-watch",
            fix="make reports = wb.WatchReports() in the notebook, pass it to the worker, and write report=reports.",
        )
    return found


class Reporter:
    """Sends the outlooks of one watch. When the notebook is gone, the observer drops the reporter and the loop
    continues.
    """

    def __init__(self, report: Any, watch: Watch) -> None:
        self._address, self._watch = address_of(report), weakref.ref(watch)
        self._socket: socket.socket | None = None
        self._lock, self._over = Lock(), False

    def __call__(self, outlook: Outlook | None) -> None:
        with self._lock:  # the observer thread, and the loop's at its end
            if not self._over:
                self._tell(outlook)

    def _tell(self, outlook: Outlook | None) -> None:
        if outlook is None:  # the watch is gone
            self._close()
            return
        watch = self._watch()
        sender = {"host": socket.gethostname(), "pid": os.getpid(), "number": watch.number if watch else 0}
        try:
            if self._socket is None:
                self._socket = self._connect()
            self._socket.sendall(written({**sender, **plain(outlook)}))
            if self._stop_requested() and watch is not None:
                watch.request_stop()
        except OSError:
            self._close()
            raise
        if outlook.over:
            self._close()

    def _connect(self) -> socket.socket:
        made = socket.create_connection((self._address.host, self._address.port), PATIENCE)
        try:
            question = b""
            while not question.endswith(b"\n"):
                more = made.recv(128)
                if not more or len(question) > 128:
                    raise ConnectionError("the notebook asks no question")
                question += more
            made.sendall(answer(self._address.secret, question))
        except OSError:
            made.close()
            raise
        return made

    def _stop_requested(self) -> bool:
        assert self._socket is not None
        if not select.select([self._socket], [], [], 0)[0]:
            return False
        heard = self._socket.recv(64)
        if not heard:
            raise ConnectionError("the notebook has ended")
        return STOP.strip() in heard

    def _close(self) -> None:
        self._over = True
        if self._socket is not None:
            self._socket.close()
            self._socket = None
