"""The sessions and traces that tools work on, by number; the least recently used one is closed to make room for a new
one."""

from __future__ import annotations

import itertools
from collections import OrderedDict
from typing import Any

from workbench.cli.mcp.answers import ToolError
from workbench.session import Session
from workbench.threads import Lock

#: maximum number of sessions and traces, and bytes of rows of each
MOST_HELD, MEMORY = 8, 256 << 20
#: advice if a trace is refused
OF_TRACES = "open the model; workbench_value, workbench_nan and workbench_diff also take traces."

_HELD: OrderedDict[int, Any] = OrderedDict()
_NUMBERS = itertools.count(1)
_LOCK = Lock()


def hold(opened: Any) -> int:
    """Store a new session or trace; returns its number."""
    with _LOCK:
        number = next(_NUMBERS)
        _HELD[number] = opened
        old = [_HELD.popitem(last=False)[1] for _ in range(len(_HELD) - MOST_HELD)]
    for one in old:
        close(one)
    return number


def held(number: int) -> Any:
    """The session or trace with this number; ToolError (``no-such-run``) if there is none."""
    with _LOCK:
        if number not in _HELD:
            known = ", ".join(map(str, sorted(_HELD))) or "none"
            raise ToolError(
                f"There is no run {number}; open are: {known}.", slug="no-such-run", fix="call workbench_open."
            )
        _HELD.move_to_end(number)
        return _HELD[number]


def session_of(number: int) -> Session:
    """A session that can be run; ToolError for a trace, which can only be read."""
    found = held(number)
    if not isinstance(found, Session):
        raise ToolError(f"Run {number} is a saved trace: it is read, not run.", slug="not-a-session", fix=OF_TRACES)
    return found


def let_go(number: int) -> None:
    """Close one session or trace."""
    found = held(number)
    with _LOCK:
        _HELD.pop(number, None)
    close(found)


def close(one: Any) -> None:
    """Close a session; a trace needs no closing."""
    if isinstance(one, Session):
        one.close()
