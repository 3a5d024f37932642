"""Calls a function with a signal handler between any two of its bytecodes, the steps between which handlers come."""

from __future__ import annotations

import dis
import sys
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import CodeType

import workbench

#: the code that runs on the caller's thread and that others wait for: sessions, locks, what starts and joins threads
ROOT = Path(workbench.__file__).parent
LOCKING = {str(path) for path in (ROOT / "session").glob("*.py")} | {str(ROOT / "threads.py"), threading.__file__}
#: instructions after which Python calls handlers; an exception of theirs is that of the instruction
CHECKED = ("CALL", "RESUME", "JUMP_BACKWARD")


def interrupted(call: Callable[[], object], act: Callable[[], object], at: int | None, raises: bool = False) -> int:
    """Make a call, and ``act`` before its ``at``-th bytecode (of the code in LOCKING), or before each of them. Returns
    how many there were. With ``raises`` only those count behind which Python itself would call a handler: elsewhere no
    exception of one can arise."""
    seen = 0
    last: dict[object, int] = {}

    def trace(frame, event, _):
        nonlocal seen
        if frame.f_code.co_filename not in LOCKING:
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        if event == "opcode":
            before, last[frame] = last.get(frame, -1), frame.f_lasti
            if raises and not raised_behind(frame.f_code, before, frame.f_lasti):
                return trace
            seen += 1
            if at is None or seen - 1 == at:
                act()
        return trace

    outer = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(outer)
        last.clear()
    return seen


@cache
def _instructions(code: CodeType) -> tuple[dict[int, str], list[tuple[int, int, int]]]:
    """(names by offset, (first, end, number) of what handles exceptions there)."""
    handled = [(e.start, e.end, e.target) for e in dis._parse_exception_table(code)]
    return {i.offset: i.opname for i in dis.get_instructions(code)}, handled


def raised_behind(code: CodeType, before: int, now: int) -> bool:
    """True if an exception at one instruction is handled as one of the handlers that Python calls behind the last."""
    names, handled = _instructions(code)
    place = [next((target for first, end, target in handled if first <= at < end), None) for at in (before, now)]
    return names.get(before, "").startswith(CHECKED) and place[0] == place[1]
