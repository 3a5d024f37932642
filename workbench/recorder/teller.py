"""``Teller``: publishes live runs to JupyterLab while the kernel is busy.

A request to a busy kernel waits for its cell, or, on a subshell, makes JupyterLab show the kernel as idle while the
cell runs. So a kernel in which a watch begins sends the list itself, whenever it changes, as long as a run is active. A
front end that does not know the message ignores it.
"""

from __future__ import annotations

import contextlib
import threading
import time

from workbench.recorder import home
from workbench.recorder.live_list import live_list
from workbench.threads import Lock

#: type of the message; minimum seconds between two of them, and as a multiple of the cost of one
MESSAGE = "workbench_runs"
PAUSE, SHARE = 1.0, 50


class Teller:
    """Sends the list of runs from a separate thread while one of them runs."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._thread: threading.Thread | None = None
        self._run_began = False  # a run has begun since the list was last read

    def ensure(self) -> None:
        """Start the thread in a kernel, unless it runs; elsewhere do nothing."""
        if home.kernel() is None:
            return
        with self._lock:
            self._run_began = True
            if self._thread is None or not self._thread.is_alive():
                thread = threading.Thread(target=self._telling, name="workbench-teller", daemon=True)
                with contextlib.suppress(RuntimeError):  # no thread is available: the list is sent on request only
                    thread.start()
                    self._thread = thread

    def _telling(self) -> None:
        sent = None
        while True:
            before = time.monotonic()
            time.sleep(PAUSE)
            self._run_began = False
            runs = live_list().runs
            kernel = home.kernel()
            if kernel is None or kernel.session is None:
                return  # a forked process, or the end
            if runs != sent:
                sent = runs
                kernel.session.send(kernel.iopub_socket, MESSAGE, {"runs": runs}, ident=MESSAGE.encode())
            with self._lock:  # a run that begins from here on starts another thread
                if not self._run_began and not any(run["state"] == "running" for run in runs):
                    self._thread = None
                    return
            time.sleep(max(0.0, SHARE * (time.monotonic() - before - PAUSE)))


teller = Teller()
