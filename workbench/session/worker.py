"""The command queue of a session: its worker thread executes requests from any thread in slices.

::

    caller threads --requests--> queue --> worker thread: DebugControl.advance(), slice by slice
    caller threads <--snapshot, Stop--   (the executor holds no GIL inside a slice)

The kernel of a notebook never blocks: ``post`` only queues. ``carry_out`` and ``wait`` wait; an interrupt (Ctrl-C, the
stop button of a notebook) pauses the session and is raised as KeyboardInterrupt. The thread's loop is in
``worker_thread``.
"""

from __future__ import annotations

import queue
import threading
import time
import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from workbench.debugger import Stop
from workbench.debugger.control.debugger import handler_of
from workbench.debugger.weak_method import weakly
from workbench.errors import SessionError
from workbench.kernels import machine as core
from workbench.session import live_sessions
from workbench.session.command_execution import CommandExecution
from workbench.session.command_request import CommandRequest
from workbench.session.pending_requests import PendingRequests
from workbench.session.slice_lock import SliceLock, in_a_signal
from workbench.session.state import SessionState
from workbench.session.worker_thread import work
from workbench.threads import Lock, holds_a_lock


class Worker:
    """The queue of a session's commands, which a worker thread executes one after another.

    The thread starts with the first command, and refers to the worker only during a slice.
    """

    def __init__(self, state: SessionState) -> None:
        self._state = state
        self._slices = SliceLock(weakly(self._stop_machine))
        self.requests = PendingRequests()
        self.execution = CommandExecution(state, self.requests, self._slices)
        self._thread: threading.Thread | None = None
        self._start_lock = Lock()  # held while the thread is being started
        self._wakes: queue.SimpleQueue[None] = queue.SimpleQueue()
        weakref.finalize(self, self._wakes.put, None).atexit = False
        live_sessions.opened(self, state.debugger)

    @property
    def is_open(self) -> bool:
        """True until :meth:`close`."""
        return not self._state.closed

    # -- commands --------------------------------------------------------------------------------------------------
    def post(self, command: str, arguments: dict[str, Any]) -> None:
        """Queue a command and return at once; "pause" cancels all commands."""
        self._state.check_open()
        if command == "pause":
            self.cancel_all()
        else:
            self._post(command, arguments)

    def carry_out(self, command: str, **arguments: Any) -> Stop:
        """Queue a command and wait for its end; raises the command's error if it fails."""
        self._check_can_wait(command)
        try:
            request = self._post(command, arguments, awaited=True)
            self._wait_until(lambda: request.done)
        except SessionError:
            raise
        except BaseException:  # an interrupt, or an exception of another signal handler: the run must not continue
            self.pause(True)  # a second interrupt ends the wait
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
            done = self._wait_until(lambda: self.requests.first() is None, timeout)
            return self._state.stop if done else None
        except KeyboardInterrupt:
            self.pause(True)  # a second interrupt ends the wait
            raise

    def pause(self, wait: bool, timeout: float | None = None) -> Stop | None:
        """Cancel all present requests, and wait until they have ended; returns the stop, None after the timeout."""
        halted = self.cancel_all()
        if not wait:
            return None
        self._check_can_wait("pause")
        done = self._wait_until(lambda: all(request.done for request in halted), timeout)
        return self._state.stop if done else None

    def cancel_all(self) -> list[CommandRequest]:
        """Cancel all present requests, and return them."""
        self._state.check_process()
        found = self.requests.cancel_all()
        if self.requests.current is not None:
            self._stop_machine()
        return found

    def close(self) -> None:
        """Cancel all commands, join the thread and close the run."""
        state = self._state
        if state.inherited:
            state.closed = True
            return
        thread = self._thread
        if thread is not threading.current_thread():
            self._check_can_wait("close")
        with state.lock:
            already, state.closed = state.closed, True
            state.version += not already
        self.cancel_all()  # commands queued from now on also end at once
        self._wakes.put(None)
        if thread is not None and thread is not threading.current_thread():
            try:
                thread.join(10.0)
            # another thread is about to start it; the new thread finds the session closed, and ends
            except RuntimeError:
                pass
        if not already:
            live_sessions.closed(self)
            state.listeners.clear()
        state.run.close()  # again for files that could not be completed before

    def stopped_between_slices(self) -> AbstractContextManager[Any]:
        """Stop the run between two slices within a ``with`` block; a running command continues afterwards."""
        self._state.check_process()
        if self._slices.is_mine and threading.current_thread() is self._thread:
            self._check_can_wait("reading the session")
        return self._slices

    # -- the thread ------------------------------------------------------------------------------------------------
    def has_more(self, thread: threading.Thread) -> bool:
        """False if the thread must end: another thread has replaced it, or the session is closed and no request is
        left."""
        return self._thread is thread and (self.is_open or self.requests.first() is not None)

    def ended(self, thread: threading.Thread | None) -> None:
        """Handle the end of the thread: pending commands fail, and the next command starts another thread."""
        if self._thread is not thread:
            return
        if self.requests.first() is not None:
            self._thread = None  # a closed session keeps it for inspection
        self.execution.fail_all()

    # -- parts -----------------------------------------------------------------------------------------------------
    def _post(self, command: str, arguments: dict[str, Any], awaited: bool = False) -> CommandRequest:
        """Queue a command. A signal handler may post other commands between any two of these lines, or raise."""
        handler_of(command)  # raises the SessionError for an unknown command on the caller's thread
        self._state.check_open()
        self._have_thread()
        if command == "restart":
            self.cancel_all()
        request = CommandRequest(command, arguments, awaited)
        try:
            self.requests.add(request)
            self._wake()
            if self.requests.is_cancelled(self.requests.current):
                self._stop_machine()
        except BaseException:  # raised by a handler: a command that was not posted completely does not count
            request.cancelled = True
            raise
        return request

    def _have_thread(self) -> None:
        """Start the worker thread if there is none; SessionError if the system refuses it."""
        # if a handler interrupted the start, it only queues its command, which the starting thread will execute
        if self._start_lock.is_mine or self._thread is not None and self._thread.is_alive():
            return
        with self._start_lock:
            if self._thread is not None and self._thread.is_alive():
                return
            self._thread = thread = threading.Thread(
                target=work,
                args=(weakref.ref(self), self._wakes),
                name=f"workbench {self._state.graph.name}",
                daemon=True,
            )
            try:
                thread.start()
            except BaseException as error:
                self.ended(thread)  # commands of handlers fail
                self._thread = None  # after an interrupt it may have started nevertheless; it notices this, and ends
                if not isinstance(error, RuntimeError | MemoryError):
                    raise
                if error.__context__ is not None and "release unlocked lock" in str(error):
                    # an interrupt just after the wait for the start released its lock, which then cannot be released
                    # again
                    raise error.__context__ from None
                raise SessionError(
                    f"The worker thread of the session cannot be started: {error}.",
                    slug="no-thread",
                    fix="close sessions that are no longer used, end other threads, or raise the limits of the "
                    "process (ulimit -u, ulimit -v); then repeat the command.",
                ) from error

    def _wake(self) -> None:
        if self._wakes.empty():  # otherwise the thread checks the requests again anyway
            self._wakes.put(None)

    def _stop_machine(self) -> None:
        core.request_stop(self._state.run.machine)

    def _check_can_wait(self, what: str) -> None:
        """Raise SessionError if waiting would never end."""
        self._state.check_process()
        if threading.current_thread() is self._thread:
            raise SessionError(
                f"A listener cannot wait for {what!r}: it is called on the thread that executes commands.",
                slug="on-the-worker",
                fix="use session.post(...), or session.pause(wait=False).",
            )
        if self._slices.is_mine or holds_a_lock():
            raise in_a_signal(what)

    def _wait_until(self, done: Callable[[], bool], timeout: float | None = None) -> bool:
        """Wait at most ``timeout`` seconds until ``done()`` is True; returns False after the timeout."""
        limit = None if timeout is None else time.monotonic() + timeout
        while not done():
            rest = 0.5 if limit is None else min(limit - time.monotonic(), 0.5)
            if rest <= 0:
                return False
            self._wake()  # a handler may have run between queueing a request and waking the thread
            if not self.requests.wait(done, rest):
                thread = self._thread
                if not self._start_lock.is_mine and (thread is None or not thread.is_alive()):
                    with self._start_lock:  # no other thread is about to start one
                        if self._thread is thread:
                            self.ended(thread)
        return True
