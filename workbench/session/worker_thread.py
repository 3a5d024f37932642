"""The loop of the worker thread: one request after another, each in slices, until the end of the session.

The thread refers to the worker only during a slice. When a session is deleted during a run, the run ends after the
present slice (0.05 s, or the node being computed), and its memory is freed.
"""

from __future__ import annotations

import queue
import threading
import weakref
from typing import TYPE_CHECKING

from workbench.session.command_request import CommandRequest

if TYPE_CHECKING:
    from workbench.session.worker import Worker


def work(reference: weakref.ref[Worker], wakes: queue.SimpleQueue[None]) -> None:
    """The target of the thread. ``wakes`` gets an item after each change: a new request, or the end of the session."""
    try:
        while _has_more(reference):
            request = _first(reference)
            if request is None:
                wakes.get()
                continue
            going = _run_slice(reference, request, begin=True)
            while going:
                going = _run_slice(reference, request)
            if going is None:
                return
            del request
    finally:  # also if another thread has raised an exception in this one, because no caller may wait forever
        worker = reference()
        if worker is not None:
            worker.ended(threading.current_thread())
        del worker


def _has_more(reference: weakref.ref[Worker]) -> bool:
    worker = reference()
    return worker is not None and worker.has_more(threading.current_thread())


def _first(reference: weakref.ref[Worker]) -> CommandRequest | None:
    worker = reference()
    return None if worker is None else worker.requests.first()


def _run_slice(reference: weakref.ref[Worker], request: CommandRequest, begin: bool = False) -> bool | None:
    """Run one slice of a request; True if more follow, None if the session no longer exists."""
    worker = reference()
    try:
        if worker is None:
            return None
        return worker.execution.begin(request) if begin else worker.execution.run_slice(request)
    finally:
        del worker, request  # the frames of an error refer to this frame, and the worker to the error of its last stop
