"""Check of the time limits passed to a session."""

from __future__ import annotations

import math
from numbers import Real

from workbench.errors import SessionError


def checked_seconds(command: str, parameter: str, seconds: float | None) -> None:
    """Refuse a time limit that is not a finite, non-negative number of seconds; None means no limit.

    Raises
    ------
    SessionError
        With slug ``bad-seconds``.
    """
    if seconds is None or isinstance(seconds, Real) and 0 <= seconds < math.inf:
        return
    raise SessionError(
        f"{command}: {parameter} must be a finite number of seconds, 0 or more, got {seconds!r}.",
        slug="bad-seconds",
        fix=f"pass a number such as {parameter}=1.0, or None.",
    )
