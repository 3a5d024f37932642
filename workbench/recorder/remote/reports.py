"""``WatchReports``: the notebook's side; listens to the watches of workers, and keeps the latest report of each."""

from __future__ import annotations

import secrets
import socket
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from workbench.errors import WatchError
from workbench.recorder.remote.listener import WORKERS, Listener
from workbench.recorder.remote.message import OPEN, read
from workbench.recorder.remote.reporter import ReportAddress
from workbench.text import facts_html, harmless
from workbench.threads import started

#: maximum number of known runs; the oldest finished ones are dropped first
MOST = WORKERS
#: kind of dropped item -> singular, plural
DROPPED = {
    "messages": ("message of another form", "messages of another form"),
    "strangers": ("connection without the secret", "connections without the secret"),
    "workers": (f"worker beyond {WORKERS:,}", f"workers beyond {WORKERS:,}"),
    "accepts": ("accept that failed", "accepts that failed"),
    "listeners": ("listener that failed", "listeners that failed"),
}


class WatchReports:
    """Receives the progress of watches in threads, processes and Dask workers.

    It listens on a port of this machine. Pass it, or its ``address``, to the workers, where ``wb.watch(...,
    report=reports)`` sends it the outlook of the loop about five times a second. Workers prove that they know a secret
    of the address; their messages are data, never code. A message of another form, for example from another version of
    the workbench, is dropped and counted, as are connections without the secret.

    Parameters
    ----------
    host : str, default "127.0.0.1"
        The interface to listen on. Workers on other machines need one that they can reach, such as this machine's name.

    Attributes
    ----------
    address : ReportAddress
        The address for workers; a pickled WatchReports becomes its address.

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
            server = socket.create_server((host, 0))
        except OSError as error:
            raise WatchError(
                f"WatchReports: nothing can listen on {host!r}: {error}.",
                slug="no-port",
                fix='leave host out, or give the name or address of this machine ("127.0.0.1").',
            ) from error
        self.address = ReportAddress(host, server.getsockname()[1], secrets.token_hex(32))
        #: called with the entry of a run after each of its reports, on the thread of the reports
        self.listeners: list[Callable[[dict[str, Any]], object]] = []
        #: called without arguments when ``dropped`` has changed, on the thread of the reports
        self.count_listeners: list[Callable[[], object]] = []
        self._runs: dict[int, dict[str, Any]] = {}
        self._changed = threading.Condition()
        self._closed = False
        self._listener = Listener(server, self.address.secret, self._hear, self._lose, self._count)
        if started(self._listener.listen, "workbench-reports") is None:
            server.close()
            raise WatchError(
                "WatchReports: the system gives this process no further thread.",
                slug="no-port",
                fix="end some of its threads, or raise its limit (ulimit -u).",
            )

    # -- for users --------------------------------------------------------------------------------------------------
    @property
    def runs(self) -> list[dict[str, Any]]:
        """Each run as plain data, in the order of their first reports: ``key``, ``host``, ``pid``, ``name``, ``state``
        ("ready", "running", "quiet", "finished", "stopped", "failed", or "lost": its worker has gone), ``iteration``,
        ``sentence``, and ``variables``."""
        with self._changed:
            return [dict(entry) for entry in self._runs.values()]

    @property
    def dropped(self) -> dict[str, int]:
        """Counts of dropped items: "messages" of another form, "strangers" (connections without the secret), "workers"
        above the maximum, "accepts" and "listeners" that failed. Kinds with a count of 0 are left out.
        """
        return {kind: self._listener.counts[kind] for kind in DROPPED if self._listener.counts[kind]}

    def wait(self, runs: int = 1, timeout: float = 30.0) -> list[dict[str, Any]]:
        """Wait until at least so many runs have reported and none is running, for at most ``timeout`` seconds; returns
        them.
        """
        with self._changed:
            self._changed.wait_for(lambda: len(self._runs) >= runs and not self._open(), timeout)
        return self.runs

    def request_stop(self, key: int | None = None) -> None:
        """Ask one run to stop, or all of them."""
        self._listener.send_stop(key)

    def close(self) -> None:
        """Stop listening; loops continue. Closing twice is harmless."""
        self._closed = True
        self._listener.close()

    if TYPE_CHECKING:  # widgets are a layer above: workbench/public.py defines this method

        def view(self) -> Any:
            """The runs, each with a button that requests a stop."""

    def __enter__(self) -> WatchReports:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        return ReportAddress, tuple(self.address)

    @harmless
    def __repr__(self) -> str:
        runs = self.runs
        states = [entry["state"] for entry in runs]
        counts = ", ".join(f"{states.count(state)} {state}" for state in dict.fromkeys(states))
        dropped = ", ".join(f"{n:,} {DROPPED[kind][n > 1]}" for kind, n in self.dropped.items())
        last = f"; dropped: {dropped}" if dropped else ""
        return f"<WatchReports: {len(runs)} runs{', ' if counts else ''}{counts}{last}>"

    @harmless
    def _repr_html_(self) -> str:
        rows = [
            (f"{e['name']} ({e['host']}, {e['pid']})", f"{e['state']}, {e['iteration']:,} iterations. {e['sentence']}")
            for e in self.runs
        ]
        return facts_html(repr(self).strip("<>"), rows)

    # -- threads ----------------------------------------------------------------------------------------------------
    def _open(self) -> bool:
        return any(entry["state"] in OPEN for entry in self._runs.values())

    def _hear(self, key: int, line: bytes) -> None:
        """Read a line of a worker; ValueError for one that is not a message."""
        self._put(key, read(line))

    def _lose(self, key: int) -> None:
        """Note that the connection of a worker has ended."""
        last = self._runs.get(key)
        if last is not None and last["state"] in OPEN:
            word = "The reports were closed." if self._closed else "The connection to its worker ended."
            self._put(key, {**last, "state": "lost", "sentence": word})

    def _put(self, key: int, report: dict[str, Any]) -> None:
        entry = {**report, "key": key}
        with self._changed:
            self._runs[key] = entry
            over = [k for k, e in self._runs.items() if e["state"] not in OPEN]
            for old in over[: max(0, len(self._runs) - MOST)]:
                del self._runs[old]
            self._changed.notify_all()
        self._call(self.listeners, entry)

    def _count(self) -> None:
        """Note that something was dropped."""
        self._call(self.count_listeners)

    def _call(self, listeners: list[Any], *arguments: Any) -> None:
        """Call the listeners; one that fails is counted and removed."""
        for listener in list(listeners):
            try:
                listener(*arguments)
            except Exception:
                listeners.remove(listener)
                self._listener.counts["listeners"] += 1
