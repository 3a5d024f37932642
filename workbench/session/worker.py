"""The worker thread of a session: orders from any thread are queued and carried out in slices.

::

    caller threads --orders--> queue --> worker thread: Debugger.advance(), slice by slice
    caller threads <--snapshot, Stop--   (the executor holds no GIL inside a slice)

The kernel of a notebook never blocks: ``post`` only queues. The blocking commands wait, and Interrupt means pause.
"""

from __future__ import annotations

import asyncio
import atexit
import logging
import queue
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Self

from workbench.debugger import Debugger, Stop, StopReason
from workbench.errors import SessionError
from workbench.graph.graph import Graph
from workbench.kernels import machine as core
from workbench.session.orders import OPEN_ENDED, Order, Snapshot
from workbench.session.standing import Standing

log = logging.getLogger(__name__)


class Worker(Standing):
    """What carries out the commands of a session, one after the other, on a thread of its own.

    The thread begins with the first command, and holds the session only while it works.
    """

    def __init__(self, graph: Graph, debugger: Debugger) -> None:
        super().__init__(graph, debugger)
        _OPEN.add(self)

    # -- commands that do not block --------------------------------------------------------------------------------
    def post(self, command: str, **arguments: Any) -> None:
        """Queue a command; any thread. It ends a run that is in progress, and waits for any other command.

        "pause" ends whatever runs or waits, and "restart" does so too before it begins.
        """
        self._check_open()
        if command == "pause":
            self._halt()
        else:
            self._post(command, arguments)

    def wait(self, timeout: float | None = None) -> Stop | None:
        """Until no command is running or queued; the last stop, or None when ``timeout`` seconds have passed."""
        with self._idle:
            if not self._idle.wait_for(lambda: self._pending == 0, timeout):
                return None
        return self.stop

    async def wait_async(self, timeout: float | None = None) -> Stop | None:
        """:meth:`wait` for notebooks: other cells and callbacks go on meanwhile."""
        limit = None if timeout is None else time.monotonic() + timeout
        while (stop := self.wait(0)) is None and (limit is None or time.monotonic() < limit):
            await asyncio.sleep(0.01)  # a waiting thread would keep the interpreter from ending while a run goes on
        return stop

    def subscribe(self, callback: Callable[[Snapshot], None]) -> Callable[[], None]:
        """Call ``callback`` on the worker thread at every stop; returns the function that ends it."""
        self._listeners.append(callback)
        return lambda: self._listeners.remove(callback) if callback in self._listeners else None

    def close(self) -> None:
        """Stop and join the worker thread. The trace stays readable."""
        self._halt()
        with self._lock:
            already, self._closed = self._closed, True
        if already:
            self._run.close()  # what could not be completed then
            return
        with self._lock:
            self._version += 1
            self._queue.put(None)
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(10.0)
        _OPEN.discard(self)
        self._run.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_queue", None) is not None:
            self._queue.put(None)

    # -- parts ----------------------------------------------------------------------------------------------------
    def _check_open(self) -> None:
        if self._closed:
            raise SessionError("The session is closed.", slug="closed", fix="make a new Session.")

    @contextmanager
    def _standing_still(self) -> Iterator[None]:
        """The machine stands between two slices; a running command goes on afterwards."""
        with self._lock:
            self._visitors += 1
            core.request_stop(self._run.machine)
        try:
            with self._between:
                yield
        finally:
            with self._lock:
                self._visitors -= 1

    def _post(self, command: str, arguments: dict[str, Any], awaited: bool = False) -> Order:
        if not hasattr(Debugger, f"_do_{command}"):
            known = ", ".join(sorted(n[4:] for n in dir(Debugger) if n.startswith("_do_")))
            raise SessionError(f"There is no command {command!r}.", slug="unknown-command", fix=f"there are {known}.")
        with self._lock:
            self._check_open()
            if command == "restart":
                self._halted = self._posted
            self._posted += 1
            order = Order(self._posted, command, arguments, awaited)
            self._pending += 1
            if self._thread is None:
                self._thread = threading.Thread(
                    target=_worker,
                    args=(weakref.ref(self), self._queue),
                    name=f"workbench {self.graph.name}",
                    daemon=True,
                )
                self._thread.start()
            if self._called_off(self._current):
                core.request_stop(self._run.machine)
            self._queue.put(order)
        return order

    def _halt(self) -> None:
        """Call off every order so far."""
        with self._lock:
            self._halted = self._posted
            if self._current is not None:
                core.request_stop(self._run.machine)

    def _called_off(self, order: Order | None) -> bool:
        """Whether an order is to end at once: paused, or an open-ended one that another order follows."""
        return order is not None and (
            order.number <= self._halted or order.command in OPEN_ENDED and order.number < self._posted
        )

    def _command(self, command: str, **arguments: Any) -> Stop:
        if threading.current_thread() is self._thread:
            raise SessionError(
                f"A listener cannot wait for {command!r}: it runs on the thread that would carry it out.",
                slug="on-the-worker", fix="use session.post(...).",
            )  # fmt: skip
        order = self._post(command, arguments, awaited=True)
        while not order.done:
            try:
                with self._idle:
                    self._idle.wait_for(lambda: order.done, 0.5)  # wakes up to let signals in
            except KeyboardInterrupt:
                self._halt()
        if order.failure is not None or order.stop is None:
            raise order.failure or SessionError("The command was lost.", slug="lost")
        return order.stop

    def _carry_out(self, order: Order) -> None:
        """One command, on the worker thread."""
        with self._lock:
            self._running, self._state = True, "running"
            self._current = order
            self._version += 1
        stop: Stop | None = None
        try:
            self._debugger.begin(order.command, **order.arguments)
            while stop is None:
                while self._visitors:
                    time.sleep(0.0005)  # locks are not fair: let those in who wait for the machine to stand still
                with self._between:
                    with self._lock:
                        called_off = self._called_off(order)
                        core.request_stop(self._run.machine, called_off)
                    stop = self._debugger.interrupt() if called_off else self._debugger.advance()
        except BaseException as error:  # the worker must live on; a caller that waits gets the error
            order.failure = error
            if not order.awaited:
                log.warning("the command %r failed: %s", order.command, error)
        failed = order.failure is None and self.stop.reason is StopReason.FAILED
        self._position = self.stop.position if failed else self._run.position()
        with self._lock:
            self._running = False
            self._current = None
            order.stop = stop = self.stop
            done = stop.reason in (StopReason.FINISHED, StopReason.NOT_REACHED) and self._run.finished
            failed = stop.reason is StopReason.FAILED
            self._state = "failed" if failed else "finished" if done else "ready" if self._run.event == 0 else "paused"
            self._version += 1
        for listener in list(self._listeners):
            try:
                listener(self.snapshot())
            except Exception:
                log.exception("a listener of the session failed")
        with self._idle:
            order.done = True
            self._pending -= 1
            self._idle.notify_all()


_OPEN: weakref.WeakSet[Worker] = weakref.WeakSet()


def _worker(reference: weakref.ref[Worker], commands: queue.SimpleQueue[Order | None]) -> None:
    """The worker thread: one command after the other until None comes. Holds no session while it waits."""
    while (item := commands.get()) is not None:
        session = reference()
        if session is None:
            return
        session._carry_out(item)
        del session, item


@atexit.register
def _close_all() -> None:
    for session in list(_OPEN):
        session.close()
