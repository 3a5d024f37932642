"""The sessions and traces that tools work on, by number; the one that was used longest ago is closed for a new one."""

from __future__ import annotations

import itertools
from collections import OrderedDict
from typing import Any

from workbench.cli.mcp.answers import ToolError
from workbench.session import Session
from workbench.threads import Lock

#: the most that are held, and bytes of rows of each
MOST_HELD, MEMORY = 8, 256 << 20
#: what can be done instead where a trace is refused
OF_TRACES = "open the model; workbench_value, workbench_nan and workbench_diff also take traces."

_HELD: OrderedDict[int, Any] = OrderedDict()
_NUMBERS = itertools.count(1)
_LOCK = Lock()


def hold(opened: Any) -> int:
    """The number of a new session or trace."""
    with _LOCK:
        number = next(_NUMBERS)
        _HELD[number] = opened
        old = [_HELD.popitem(last=False)[1] for _ in range(len(_HELD) - MOST_HELD)]
    for one in old:
        close(one)
    return number


def held(number: int) -> Any:
    """The session or trace of a number; ToolError (``no-such-run``) where there is none."""
    with _LOCK:
        if number not in _HELD:
            known = ", ".join(map(str, sorted(_HELD))) or "none"
            raise ToolError(
                f"There is no run {number}; open are: {known}.", slug="no-such-run", fix="call workbench_open."
            )
        _HELD.move_to_end(number)
        return _HELD[number]


def session_of(number: int) -> Session:
    """A session that can be run; ToolError for a trace, which is only read."""
    found = held(number)
    if not isinstance(found, Session):
        raise ToolError(f"Run {number} is a saved trace: it is read, not run.", slug="not-a-session", fix=OF_TRACES)
    return found


def let_go(number: int) -> None:
    """Close one."""
    found = held(number)
    with _LOCK:
        _HELD.pop(number, None)
    close(found)


def close(one: Any) -> None:
    """Close a session; a trace has nothing to close."""
    if isinstance(one, Session):
        one.close()
