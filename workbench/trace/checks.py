"""Checks arguments that select firings: iteration paths, positions in a series and slices of it."""

from __future__ import annotations

import operator
import reprlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.errors import TraceError

#: iterations and positions are counted in 64 bits
MOST = 1 << 62


class NoSuchFiring(TraceError, IndexError):
    """A position outside a series; also an IndexError, so that iteration over a series ends."""

    slug = "no-such-firing"


def no_such_firing(name: str, count: int, index: int) -> NoSuchFiring:
    """The error for a position that a series of ``count`` firings does not have."""
    return NoSuchFiring(
        f"{name!r} has {count} firings, so there is no firing {index}.",
        fix="len(series) is their number." if count else "step on, or check the branch that it is in.",
    )


def path_of(name: str, frame: Sequence[str], iteration: Any) -> tuple[int, ...]:
    """An iteration path: one index per frame around ``name``, or a single index for the only frame; otherwise
    TraceError.
    """
    path: tuple[int, ...] | None
    try:
        items = tuple(iteration) if isinstance(iteration, tuple | list | np.ndarray) else (iteration,)
        path = tuple(operator.index(i) for i in items)
    except TypeError:
        path = None
    if path is None or any(abs(i) >= MOST for i in path):
        raise TraceError(
            f"The iteration of {name!r} must be one whole number per loop around it, got {reprlib.repr(iteration)}.",
            slug="bad-iteration",
            fix="give one number per enclosing frame, the outermost first.",
        )
    if len(path) != len(frame):
        raise TraceError(
            f"{name!r} is in {'/'.join(frame) or 'no loop'} and takes {len(frame)} iteration numbers, "
            f"got {len(path)} iteration numbers.",
            slug="bad-iteration",
            fix="give one number per enclosing frame, the outermost first.",
        )
    return path


def position_of(name: str, index: Any) -> int:
    """A position in a series. TraceError unless it is a whole number."""
    try:
        return max(-MOST, min(operator.index(index), MOST))
    except TypeError:
        raise TraceError(
            f"A position in {name!r} must be a whole number or a slice, got {reprlib.repr(index)}.",
            slug="bad-position",
            fix=f"count firings from 0, as in trace[{name!r}][3] or trace[{name!r}][-1].",
        ) from None


def slice_of(name: str, start: Any, stop: Any, step: Any = None) -> slice:
    """A slice of a series, with 64-bit bounds. TraceError for a step of 0 and for bounds that are not whole numbers."""
    parts = slice(*(None if part is None else position_of(name, part) for part in (start, stop, step)))
    if parts.step == 0:
        raise TraceError(f"The step of a slice of {name!r} must not be 0.", slug="bad-position", fix="leave it out.")
    return parts
