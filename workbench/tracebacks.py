"""Tracebacks in a notebook that end at the user's own lines: the frames of the workbench are left out.

These frames are not lost: ``%tb`` and ``%debug`` show all of them, as after any error.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from types import FrameType, TracebackType
from typing import Any

from workbench.errors import WorkbenchError

#: folders of installed code, which contains no lines of the user
_INSTALLED = tuple({os.path.realpath(p) for k, p in sysconfig.get_paths().items() if k.endswith(("lib", "stdlib"))})


def install() -> None:
    """Let IPython, if it is running, show short tracebacks for errors of the workbench; another installed handler
    stays."""
    from IPython import get_ipython

    shell = get_ipython()  # type: ignore[no-untyped-call]
    if shell is not None and not getattr(shell, "custom_exceptions", None):
        shell.set_custom_exc((WorkbenchError,), _shown)


def own_lines(trace: TracebackType | None) -> TracebackType | None:
    """The part of a traceback that consists of the user's lines: without frames of the workbench, and without frames
    after the last line of the user."""
    frames: list[TracebackType] = []
    while trace is not None:
        frames.append(trace)
        trace = trace.tb_next
    last = max((k for k, one in enumerate(frames) if _is_own(one.tb_frame)), default=len(frames) - 1)
    short = None
    for one in reversed(frames[: last + 1]):
        if not _is_workbench(one.tb_frame):
            short = TracebackType(short, one.tb_frame, one.tb_lasti, one.tb_lineno)
    return short


def _is_workbench(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__", "")).split(".")[0] == "workbench"


def _is_own(frame: FrameType) -> bool:
    """True for a line of a cell or a script, as opposed to a line of a library."""
    return not _is_workbench(frame) and not os.path.realpath(frame.f_code.co_filename).startswith(_INSTALLED)


def _shown(shell: Any, kind: type[BaseException], error: BaseException, trace: Any, tb_offset: Any = None) -> Any:
    """Show an error in IPython with the user's lines only; the error keeps its whole traceback."""
    chained = error.__cause__, error.__suppress_context__
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    try:
        if cause is not None and not _has_own_lines(cause):  # an internal cause explains nothing about the cell
            error.__cause__, error.__suppress_context__ = None, True
        lines = shell.InteractiveTB.structured_traceback(kind, error, own_lines(trace), tb_offset=tb_offset)
    finally:
        error.__cause__, error.__suppress_context__ = chained
    sys.last_type, sys.last_value, sys.last_traceback = kind, error, trace
    shell._showtraceback(kind, error, lines)
    return lines


def _has_own_lines(error: BaseException) -> bool:
    trace = error.__traceback__
    while trace is not None:
        if _is_own(trace.tb_frame):
            return True
        trace = trace.tb_next
    return False
