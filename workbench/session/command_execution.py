"""Execution of a command on the worker thread: begin, slices, and the end with a Stop or an error."""

from __future__ import annotations

import logging
import time
import traceback

from workbench.debugger import StopReason
from workbench.errors import SessionError
from workbench.kernels import machine as core
from workbench.session.command_request import CommandRequest
from workbench.session.pending_requests import PendingRequests
from workbench.session.slice_lock import SliceLock
from workbench.session.state import SessionState

log = logging.getLogger(__name__)
#: seconds for which the worker waits for readers that need the run stopped, because locks are not fair
POLITE_S = 0.05


class CommandExecution:
    """The methods that the worker thread calls (see ``worker_thread``). None of them raises."""

    def __init__(self, state: SessionState, requests: PendingRequests, slices: SliceLock) -> None:
        self._state, self._requests, self._slices = state, requests, slices

    def begin(self, request: CommandRequest) -> bool:
        """Begin a command; True if slices follow."""
        state = self._state
        with state.lock:
            state.running, state.progress = True, "running"
            self._requests.current = request
            state.version += 1
        try:
            state.debugger.begin(request.command, **request.arguments)
        except BaseException as error:
            return self._finish(request, error)
        finally:
            del (
                self,
                state,
                request,
            )  # the frames of an error refer to this frame, which must not refer to an object that holds the error
        return True

    def run_slice(self, request: CommandRequest) -> bool:
        """Run one slice; True if more follow."""
        state, slices, stop = self._state, self._slices, None
        try:
            polite = time.monotonic() + POLITE_S
            while slices.is_awaited and time.monotonic() < polite:
                time.sleep(0.0005)
            slices.acquire()
            try:
                # in this order: a caller sets the cancellation first and then stops the machine, so that one of them is
                # noticed
                core.request_stop(state.run.machine, False)
                cancelled = state.closed or self._requests.is_cancelled(request)
                stop = state.debugger.interrupt() if cancelled else state.debugger.advance()
            finally:
                slices.release()
            return True if stop is None else self._finish(request)
        except BaseException as error:  # the worker must survive; a waiting caller gets the error
            return self._finish(request, error)
        finally:
            del self, state, slices, request, stop  # as in ``begin``

    def _finish(self, request: CommandRequest, error: BaseException | None = None) -> bool:
        """End a command: set the position and state, call the listeners, wake up waiting callers."""
        state = self._state
        stop = state.stop
        try:
            clear_frames(stop.error)
            failed = error is None and stop.reason is StopReason.FAILED
            state.position = stop.position if failed else state.run.position()
            done = stop.reason in (StopReason.FINISHED, StopReason.NOT_REACHED) and state.run.finished
        except BaseException as problem:
            error, done = error or problem, False
        if error is not None:
            # without the frame above, which refers to the request and through it to the error
            trace = error.__traceback__
            request.failure = error.with_traceback(trace and trace.tb_next)
            if not isinstance(error, Exception):  # SystemExit and similar exceptions must not end the waiting thread
                request.failure = ended_by(error)
            if not request.awaited:
                log.warning(
                    "the command %r failed: %s", request.command, str(error)
                )  # only the text: a handler may keep its arguments
        with state.lock:
            state.running = False
            self._requests.current = None
            request.stop = stop
            at_start = state.run.event == 0
            failed = stop.reason is StopReason.FAILED
            state.progress = "failed" if failed else "finished" if done else "ready" if at_start else "paused"
            state.version += 1
        for listener in list(state.listeners):
            try:
                listener(state.snapshot())
            except BaseException:  # SystemExit would end the thread silently
                log.exception("a listener of the session failed")
        self._requests.mark_done(request)
        return False

    def fail_all(self) -> None:
        """Mark all commands as failed, because their thread has ended."""
        state = self._state
        with state.lock:
            self._requests.current, state.running = None, False
            state.progress = "paused" if state.progress == "running" else state.progress
            state.version += 1
        for request in self._requests.all():
            request.failure = SessionError(
                "The worker thread of the session has ended before this command did.",
                slug="lost",
                fix="repeat the command: it starts another thread.",
            )
            self._requests.mark_done(request)


def clear_frames(error: BaseException | None) -> None:
    """Clear the local variables in the traceback of a stop's error, which refer to the debugger and through it to the
    stop. The line numbers remain."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        traceback.clear_frames(error.__traceback__)
        error = error.__cause__ or error.__context__


def ended_by(error: BaseException) -> SessionError:
    """The SessionError for a command that was ended by an exception such as SystemExit."""
    made = SessionError(
        f"The command was ended by {type(error).__name__} on the worker thread.",
        slug="ended",
        fix="remove the code that raises it from listeners and operators; then repeat the command.",
    )
    made.__cause__ = error
    return made
