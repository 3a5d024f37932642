"""``Listener``: one thread that accepts workers, authenticates each by the secret, and passes on their lines.

The resources of an unauthenticated client are bounded: simultaneous connections, the time until the secret is sent, and
bytes. A failed accept (for example when file descriptors run out) is counted and tried again after a pause; only
``close`` ends the thread.
"""

from __future__ import annotations

import contextlib
import hmac
import secrets
import selectors
import socket
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from workbench.recorder.remote.message import LONGEST
from workbench.recorder.remote.reporter import PATIENCE, STOP, answer
from workbench.threads import Lock

#: maximum number of connections before and after authentication; the oldest of the former are dropped
STRANGERS, WORKERS = 32, 1000
#: maximum bytes of an answer, bytes of one read, and bad messages after which a connection is closed
ANSWER, PIECE, BAD = 256, 1 << 16, 100
#: seconds after a failed accept: the first pause, and the longest
PAUSES = (0.05, 1.0)
#: seconds between two notices of counts
TELL = 0.2


@dataclass(eq=False)
class Connection:
    """One socket; ``key`` is None until it is authenticated, which it must be by ``deadline``."""

    socket: socket.socket
    question: bytes
    deadline: float
    key: int | None = None
    bad: int = 0
    skipping: bool = False  #: in a line that is too long
    buffer: bytearray = field(default_factory=bytearray)


class Listener:
    """Listens on ``server`` until ``close``.

    ``heard(key, line)`` receives each line, and raises ValueError for one that is not a message; ``ended(key)`` is
    called when a worker's connection has ended, and ``counted()`` when ``counts`` has changed: "messages", "strangers",
    "workers" and "accepts" that were dropped, refused or failed. All run on the thread of the listener.
    """

    def __init__(
        self,
        server: socket.socket,
        secret: str,
        heard: Callable[[int, bytes], None],
        ended: Callable[[int], None],
        counted: Callable[[], None],
    ) -> None:
        server.setblocking(False)
        self._server, self._secret = server, secret
        self._heard, self._ended, self._counted = heard, ended, counted
        self.counts: Counter[str] = Counter()
        self._reported, self._reported_at = 0, 0.0
        self._strangers: dict[Connection, None] = {}  # the oldest first
        self._workers: dict[int, Connection] = {}
        self._lock, self._count = Lock(), 0
        self._pause, self._accept_at = 0.0, 0.0
        self._wake, self._woken = socket.socketpair()
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._woken, selectors.EVENT_READ)
        self._closed = False

    # -- any thread -------------------------------------------------------------------------------------------------
    def send_stop(self, key: int | None) -> None:
        """Ask the loop of a connection to stop, or all loops."""
        with self._lock:
            receivers = [c for own, c in self._workers.items() if key is None or own == key]
        for connection in receivers:
            with contextlib.suppress(OSError):
                connection.socket.send(STOP)

    def close(self) -> None:
        """End the thread."""
        self._closed = True
        with contextlib.suppress(OSError):
            self._wake.send(b"x")

    # -- its thread -------------------------------------------------------------------------------------------------
    def listen(self) -> None:
        """Accept connections and read their lines until ``close``."""
        try:
            self._ready_to_accept(True)
            while not self._closed:
                for key, _ in self._selector.select(self._patience()):
                    if key.fileobj is self._server:
                        self._accept()
                    elif isinstance(key.data, Connection):
                        self._read(key.data)
                self._look_at_the_clock()
        finally:
            for connection in [*self._strangers, *self._workers.values()]:
                self._drop(connection)
            for own in (self._selector, self._server, self._wake, self._woken):
                own.close()

    def _patience(self) -> float | None:
        """Seconds until the next timeout."""
        due = [c.deadline for c in list(self._strangers)[:1]]
        if self._accept_at:
            due.append(self._accept_at)
        if self._reported != self.counts.total():
            due.append(self._reported_at + TELL)
        return max(0.0, min(due) - time.monotonic()) if due else None

    def _look_at_the_clock(self) -> None:
        now = time.monotonic()
        for connection in [c for c in self._strangers if c.deadline <= now]:
            self._refuse(connection, "strangers")
        if self._accept_at and now >= self._accept_at:
            self._ready_to_accept(True)
        if self._reported != self.counts.total() and now >= self._reported_at + TELL:
            self._reported, self._reported_at = self.counts.total(), now
            self._counted()

    def _ready_to_accept(self, ready: bool) -> None:
        if ready:
            self._accept_at = 0.0
            self._selector.register(self._server, selectors.EVENT_READ)
        else:
            self._pause = min(max(2 * self._pause, PAUSES[0]), PAUSES[1])
            self._accept_at = time.monotonic() + self._pause
            self._selector.unregister(self._server)

    def _accept(self) -> None:
        try:
            made, _ = self._server.accept()
        except BlockingIOError:  # the client has given up connecting
            return
        except OSError:
            self.counts["accepts"] += 1
            self._ready_to_accept(False)
            return
        self._pause = 0.0
        connection = Connection(made, secrets.token_hex(32).encode(), time.monotonic() + PATIENCE)
        self._strangers[connection] = None
        if len(self._strangers) > STRANGERS:
            self._refuse(next(iter(self._strangers)), "strangers")
        try:
            made.setblocking(False)
            made.send(connection.question + b"\n")
            self._selector.register(made, selectors.EVENT_READ, connection)
        except OSError:
            self._refuse(connection, "strangers")

    def _read(self, connection: Connection) -> None:
        if connection.socket.fileno() < 0:  # dropped since the sockets were polled
            return
        try:
            piece = connection.socket.recv(PIECE)
        except BlockingIOError:
            return
        except OSError:
            piece = b""
        if not piece:
            self._refuse(connection, "strangers") if connection.key is None else self._drop(connection)
            return
        connection.buffer += piece
        if connection.key is None and not self._knows_the_secret(connection):
            return
        *lines, rest = bytes(connection.buffer).split(b"\n")
        connection.buffer = bytearray(rest)
        for line in lines:
            if connection.skipping:
                connection.skipping = False  # the end of the line that was too long
            else:
                self._hear(connection, line)
        if len(rest) > LONGEST:
            connection.buffer.clear()
            if not connection.skipping:
                connection.skipping = True
                self._count_bad(connection)
        if connection.bad >= BAD:
            self._drop(connection)

    def _hear(self, connection: Connection, line: bytes) -> None:
        assert connection.key is not None
        try:
            self._heard(connection.key, line)
        except Exception:  # any error concerns this line only; all others are read
            self._count_bad(connection)

    def _count_bad(self, connection: Connection) -> None:
        connection.bad += 1
        self.counts["messages"] += 1

    def _knows_the_secret(self, connection: Connection) -> bool:
        """True once the first line is the right answer; False while it is incomplete, or if it was refused."""
        line, end, rest = bytes(connection.buffer).partition(b"\n")
        if not end and len(line) <= ANSWER:
            return False
        if not hmac.compare_digest(line[:ANSWER] + b"\n", answer(self._secret, connection.question)):
            self._refuse(connection, "strangers")
            return False
        if len(self._workers) >= WORKERS:
            self._refuse(connection, "workers")
            return False
        del self._strangers[connection]
        connection.buffer = bytearray(rest)
        with self._lock:
            self._count += 1
            connection.key = self._count
            self._workers[connection.key] = connection
        return True

    def _refuse(self, connection: Connection, kind: str) -> None:
        self.counts[kind] += 1
        self._drop(connection)

    def _drop(self, connection: Connection) -> None:
        self._strangers.pop(connection, None)
        with contextlib.suppress(KeyError, ValueError):
            self._selector.unregister(connection.socket)
        connection.socket.close()
        if connection.key is not None:
            with self._lock:
                own = self._workers.pop(connection.key, None)
            if own is not None:
                self._ended(connection.key)
