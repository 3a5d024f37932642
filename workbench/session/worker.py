"""The command queue of a session: requests from any thread are carried out in slices on its worker thread.

::

    caller threads --requests--> queue --> worker thread: DebugControl.advance(), slice by slice
    caller threads <--snapshot, Stop--   (the executor holds no GIL inside a slice)

The kernel of a notebook never blocks: ``post`` only queues. ``carry_out`` and ``wait`` wait; an interrupt (Ctrl-C, the
stop button of a notebook) pauses the session and is raised as KeyboardInterrupt. ``worker_thread`` has the loop of the
thread.
"""

from __future__ import annotations

import queue
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from workbench.debugger import Stop
from workbench.debugger.control.debugger import handler_of
from workbench.errors import SessionError
from workbench.kernels import machine as core
from workbench.session import live_sessions
from workbench.session.command_execution import CommandExecution
from workbench.session.command_request import CommandRequest
from workbench.session.pending_requests import PendingRequests
from workbench.session.slice_lock import SliceLock
from workbench.session.state import SessionState
from workbench.session.worker_thread import work


class Worker:
    """The queue of a session's commands, which are carried out one after the other on a worker thread.

    The thread starts with the first command, and refers to the worker only during a slice.
    """

    def __init__(self, state: SessionState) -> None:
        self._state = state
        self._slices = SliceLock(state)
        self._requests = PendingRequests(state.lock)
        self.execution = CommandExecution(state, self._requests, self._slices)
        self._queue: queue.SimpleQueue[CommandRequest | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        live_sessions.opened(self, state.debugger)

    @property
    def is_open(self) -> bool:
        """True until :meth:`close`."""
        return not self._state.closed

    # -- commands --------------------------------------------------------------------------------------------------
    def post(self, command: str, arguments: dict[str, Any]) -> None:
        """Queue a command and return at once; "pause" cancels all."""
        self._state.check_open()
        if command == "pause":
            self.cancel_all()
        else:
            self._post(command, arguments)

    def carry_out(self, command: str, **arguments: Any) -> Stop:
        """Queue a command and wait for its end; raises what it raised."""
        self._check_can_wait(command)
        try:
            request = self._post(command, arguments, awaited=True)
            self._wait_until(lambda: request.done)
        except SessionError:
            raise
        except BaseException:  # an interrupt, or an exception of another signal handler: the run must not continue
            self._pause_and_wait()
            raise
        failure, stop = request.failure, request.stop
        if failure is not None or stop is None:
            try:
                raise failure or SessionError("The command was lost.", slug="lost")
            finally:
                del failure, request  # they refer to this frame, which refers to them
        return stop

    def wait(self, timeout: float | None = None) -> Stop | None:
        """Wait until no command is running or queued; returns the last stop, None after the timeout."""
        self._check_can_wait("wait")
        try:
            done = self._wait_until(lambda: not self._requests.unfinished(), timeout)
            return self._state.stop if done else None
        except KeyboardInterrupt:
            self._pause_and_wait()
            raise

    def cancel_all(self) -> None:
        """Cancel all requests so far."""
        self._state.check_process()
        with self._state.lock:
            self._requests.cancel_all()
            if self._requests.current is not None:
                core.request_stop(self._state.run.machine)

    def close(self) -> None:
        """Cancel all commands, join the thread and close the run."""
        state = self._state
        if state.inherited:
            state.closed = True
            return
        self.cancel_all()
        with state.lock:
            already, state.closed = state.closed, True
        if already:
            state.run.close()  # files that could not be completed before
            return
        with state.lock:
            state.version += 1
            self._queue.put(None)
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(10.0)
        live_sessions.closed(self)
        state.listeners.clear()
        state.run.close()

    @contextmanager
    def stopped_between_slices(self) -> Iterator[None]:
        """Stop the run between two slices inside of this block; a running command continues afterwards."""
        self._state.check_process()
        if self._slices.is_mine:
            if threading.current_thread() is self._thread:
                self._check_can_wait("reading the session")
            yield
            return
        with self._slices.stopped():
            yield

    def ended(self, thread: threading.Thread) -> None:
        """Handle the end of the thread: pending commands fail, and the next command starts another thread."""
        with self._state.lock:
            if self._thread is not thread:
                return
            self._thread = None if self._requests.all() else thread  # a closed session keeps it for inspection
            self.execution.fail_all()

    # -- parts -----------------------------------------------------------------------------------------------------
    def _post(self, command: str, arguments: dict[str, Any], awaited: bool = False) -> CommandRequest:
        handler_of(command)  # SessionError for an unknown one, on the caller's thread
        state, requests = self._state, self._requests
        with state.lock:
            state.check_open()
            if self._thread is None or not self._thread.is_alive():
                self._start()
            if command == "restart":
                requests.cancel_all()
            # a signal handler may run between any two of these lines, and post commands of its own or raise: no number
            # is used twice, and no caller waits for a request that is not queued or already done
            request = CommandRequest(requests.next_number(), command, arguments, awaited)
            self._queue.put(request)
            requests.add(request)
            if requests.is_cancelled(requests.current):
                core.request_stop(state.run.machine)
        return request

    def _start(self) -> None:
        """Start the worker thread; SessionError if the system refuses it."""
        requests: queue.SimpleQueue[CommandRequest | None] = queue.SimpleQueue()
        end = weakref.finalize(self, requests.put, None)
        end.atexit = False
        thread = threading.Thread(
            target=work, args=(weakref.ref(self), requests), name=f"workbench {self._state.graph.name}", daemon=True
        )
        try:
            thread.start()
        except BaseException as error:
            end()  # an interrupt: the thread may have started nevertheless
            if not isinstance(error, RuntimeError | MemoryError):
                raise
            raise SessionError(
                f"The worker thread of the session cannot be started: {error}.",
                slug="no-thread",
                fix="close sessions that are not used any more, end other threads, or raise the limits of the process "
                "(ulimit -u, ulimit -v); then repeat the command.",
            ) from error
        self._thread, self._queue = thread, requests

    def _check_can_wait(self, what: str) -> None:
        """Raise SessionError where waiting would never end."""
        self._state.check_process()
        if threading.current_thread() is self._thread:
            raise SessionError(
                f"A listener cannot wait for {what!r}: it is called on the thread that carries out commands.",
                slug="on-the-worker",
                fix="use session.post(...), or session.pause(wait=False).",
            )
        if self._slices.is_mine:
            raise SessionError(
                f"{what!r} would wait forever: it was called by a signal handler while this thread reads the session.",
                slug="in-a-signal",
                fix="use session.post(...), or session.pause(wait=False).",
            )

    def _wait_until(self, done: Callable[[], bool], timeout: float | None = None) -> bool:
        """Wait until ``done()``, at most ``timeout`` seconds; returns whether it is done."""
        limit = None if timeout is None else time.monotonic() + timeout
        try:
            with self._state.lock:
                while not done():
                    rest = 0.5 if limit is None else min(limit - time.monotonic(), 0.5)
                    if rest <= 0:
                        return False
                    if self._thread is not None and not self._thread.is_alive():
                        self.ended(self._thread)
                    self._requests.idle.wait(rest)
        except RuntimeError as error:
            # an interrupt just after ``wait`` has released the lock: the end of the block cannot release it again
            if error.__context__ is None or "un-acquired lock" not in str(error):
                raise
            raise error.__context__ from None
        return True

    def _pause_and_wait(self) -> None:
        """Cancel all requests so far, and wait until they have ended; a second interrupt ends the wait."""
        self.cancel_all()
        halted = self._requests.cancelled_up_to
        self._wait_until(lambda: all(number > halted for number in self._requests.unfinished()))
