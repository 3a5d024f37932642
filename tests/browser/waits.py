"""Waits on what a page or its kernel shows: they read it again and again, and fail with what they have read last."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import Any

#: a busy machine takes its time; what takes longer than this hangs
PATIENCE_S = 120.0


def until(read: Callable[[], Any], right: Any, seconds: float = PATIENCE_S) -> Any:
    """Wait until ``read()`` equals ``right``, or until ``right(read())`` if that is a function; gives what was read.

    What cannot be read yet, such as an attribute of an element that is not there, is not right.
    """
    from playwright.sync_api import Error

    fulfilled = right if callable(right) else lambda found: found == right
    end = time.monotonic() + seconds
    while True:
        try:
            found = read()
            if fulfilled(found):
                return found
        except (Error, IndexError, TypeError) as error:
            found = error
        assert time.monotonic() < end, f"{found!r} is not {'what is wanted' if callable(right) else repr(right)}"
        time.sleep(0.05)


def again_until(act: Callable[[], Any], shown: Callable[[], Any], times: int = 5) -> Any:
    """Do something until it shows: a slow page may take two presses one after the other for no double click."""
    for _ in range(times - 1):
        act()
        with contextlib.suppress(AssertionError):
            return until(shown, bool, seconds=20.0)
    act()
    return until(shown, bool)


def at_rest(read: Callable[[], Any], seconds: float = PATIENCE_S, pause: float = 0.1) -> Any:
    """Wait until ``read()`` gives the same three times in a row, a pause apart: a place on a page, a count."""
    seen = [read()]

    def still() -> bool:
        time.sleep(pause)
        seen.append(read())
        return len(seen) > 2 and seen[-1] == seen[-2] == seen[-3]

    until(still, True, seconds)
    return seen[-1]
