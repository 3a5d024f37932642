"""``WatchReports``: the notebook's side; listens for the watches of workers, and knows how each of them goes."""

from __future__ import annotations

import contextlib
import hmac
import json
import secrets
import socket
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from workbench.errors import WatchError
from workbench.recorder.remote.reporter import LONGEST, PATIENCE, STOP, ReportAddress, answer
from workbench.text import facts_html

#: runs that are known at most; the oldest of those that are over are forgotten first
MOST = 1000
OPEN = ("ready", "running", "quiet")


class WatchReports:
    """Hears how the watches in threads, processes and workers of Dask go.

    It listens on a port of this machine. Pass it, or its ``address``, to the workers, where
    ``wb.watch(..., report=reports)`` tells it the outlook of the loop about five times a second. Workers prove that
    they know a secret of the address; what they tell is data, and never code.

    Parameters
    ----------
    host : str, default "127.0.0.1"
        The interface to listen on. Workers on other machines need one that they reach, such as this machine's name.

    Attributes
    ----------
    address : ReportAddress
        What workers need; pickled reports are their address.

    Raises
    ------
    WatchError
        If nothing can listen there (``no-port``).

    Examples
    --------
    >>> def fit(report):
    ...     with wb.watch("fit", report=report, show=False) as loop:
    ...         for k in range(5):
    ...             _ = loop(error=0.5**k)
    >>> with wb.WatchReports() as reports:
    ...     fit(reports)
    ...     run = reports.wait()[0]
    >>> run["name"], run["state"], run["iteration"]
    ('fit', 'finished', 5)
    """

    def __init__(self, host: str = "127.0.0.1") -> None:
        try:
            self._server = socket.create_server((host, 0))
        except OSError as error:
            raise WatchError(
                f"WatchReports: nothing can listen on {host!r}: {error}.",
                slug="no-port",
                fix='leave host out, or give the name or address of this machine ("127.0.0.1").',
            ) from error
        self.address = ReportAddress(host, self._server.getsockname()[1], secrets.token_hex(32))
        #: called with the entry of a run whenever it has told something, on a thread of the reports
        self.listeners: list[Callable[[dict[str, Any]], object]] = []
        self._runs: dict[int, dict[str, Any]] = {}
        self._sockets: dict[int, socket.socket] = {}
        self._changed = threading.Condition()
        self._closed = False
        self._count = 0
        threading.Thread(target=self._accept, name="workbench-reports", daemon=True).start()

    # -- for users --------------------------------------------------------------------------------------------------
    @property
    def runs(self) -> list[dict[str, Any]]:
        """Each run as plain data, in the order of their first reports: ``key``, ``host``, ``pid``, ``name``, ``state``
        ("ready", "running", "quiet", "finished", "stopped", "failed", or "lost": its worker has gone), ``iteration``,
        ``sentence``, and ``variables``."""
        with self._changed:
            return [dict(entry) for entry in self._runs.values()]

    def wait(self, runs: int = 1, timeout: float = 30.0) -> list[dict[str, Any]]:
        """Wait until so many runs have reported and none is under way, at most ``timeout`` seconds; returns them."""
        with self._changed:
            self._changed.wait_for(lambda: len(self._runs) >= runs and not self._open(), timeout)
        return self.runs

    def request_stop(self, key: int | None = None) -> None:
        """Ask one run to stop, or all of them."""
        with self._changed:
            for own in list(self._sockets) if key is None else [key]:
                if own in self._sockets:
                    with contextlib.suppress(OSError):
                        self._sockets[own].sendall(STOP)

    def close(self) -> None:
        """Listen no longer; loops go on. Closing twice is harmless."""
        with self._changed:
            self._closed = True
            sockets = list(self._sockets.values())
        with contextlib.suppress(OSError):
            self._server.shutdown(socket.SHUT_RDWR)  # wakes the thread that accepts
        self._server.close()
        for one in sockets:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    if TYPE_CHECKING:  # the widgets are above this room: workbench/public.py defines this method

        def view(self) -> Any:
            """The runs, each with a button that asks it to stop."""

    def __enter__(self) -> WatchReports:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        return ReportAddress, tuple(self.address)

    def __repr__(self) -> str:
        runs = self.runs
        states = [entry["state"] for entry in runs]
        counts = ", ".join(f"{states.count(state)} {state}" for state in dict.fromkeys(states))
        return f"<WatchReports: {len(runs)} runs{', ' if counts else ''}{counts}>"

    def _repr_html_(self) -> str:
        rows = [
            (f"{e['name']} ({e['host']}, {e['pid']})", f"{e['state']}, {e['iteration']:,} iterations. {e['sentence']}")
            for e in self.runs
        ]
        return facts_html(repr(self).strip("<>"), rows)

    # -- threads ----------------------------------------------------------------------------------------------------
    def _open(self) -> bool:
        return any(entry["state"] in OPEN for entry in self._runs.values())

    def _accept(self) -> None:
        while True:
            try:
                made, _ = self._server.accept()
            except OSError:
                return
            threading.Thread(target=self._hear, args=(made,), name="workbench-report", daemon=True).start()

    def _hear(self, made: socket.socket) -> None:
        """One worker's watch, to its end."""
        key = None
        with made, contextlib.suppress(OSError, ValueError):
            made.settimeout(PATIENCE)
            question = secrets.token_hex(32).encode()
            made.sendall(question + b"\n")
            lines = made.makefile("rb")
            if not hmac.compare_digest(lines.readline(256), answer(self.address.secret, question)):
                return
            made.settimeout(None)
            with self._changed:
                if self._closed:
                    return
                self._count += 1
                key = self._count
                self._sockets[key] = made
            while (line := lines.readline(LONGEST)).endswith(b"\n"):
                self._put(key, json.loads(line))
        if key is not None:
            with self._changed:
                self._sockets.pop(key, None)
                last = self._runs.get(key)
            if last is not None and last["state"] in OPEN:
                word = "The reports were closed." if self._closed else "The connection to its worker ended."
                self._put(key, {**last, "state": "lost", "sentence": word})

    def _put(self, key: int, told: dict[str, Any]) -> None:
        entry = {**told, "key": key}
        with self._changed:
            self._runs[key] = entry
            over = [k for k, e in self._runs.items() if e["state"] not in OPEN]
            for old in over[: max(0, len(self._runs) - MOST)]:
                del self._runs[old]
            self._changed.notify_all()
        for listener in list(self.listeners):
            try:
                listener(entry)
            except Exception:
                self.listeners.remove(listener)
