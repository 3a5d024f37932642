"""``--grid NAME=VALUES``: the axes of a sweep."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.errors import SweepError

if TYPE_CHECKING:
    import numpy as np

#: maximum values along one axis
MOST = 10**7
FORMS = "write --grid lr=0.1:3:50, lr=1e-4:2:50:log or n=1,2,5."


def axes_of(given: Sequence[str]) -> dict[str, np.ndarray]:
    """Names and values of all axes; SweepError (``bad-axis``) for invalid and repeated ones."""
    axes: dict[str, np.ndarray] = {}
    for text in given:
        name, values = axis_of(text)
        if name in axes:
            raise _bad(text, f"{name!r} already has values", "give each input once.")
        axes[name] = values
    return axes


def axis_of(given: str) -> tuple[str, np.ndarray]:
    """Name and values of ``lr=0.1:3:50``, ``lr=1e-4:2:50:log`` or ``n=1,2,5``; SweepError (``bad-axis``)."""
    import numpy as np

    name, equals, text = given.partition("=")
    if not equals or not name.strip():
        raise _bad(given, "it must begin with the name of an input and =")
    if ":" not in text:
        numbers = [_number(given, part) for part in text.split(",")]
        if len(set(numbers)) < len(numbers):
            raise _bad(given, "duplicate value")
        return name.strip(), np.array(numbers)
    low_text, high_text, *rest = text.split(":")
    low, high = _number(given, low_text), _number(given, high_text)
    if len(rest) not in (1, 2) or rest[1:] not in ([], ["log"]):
        raise _bad(given, "LOW:HIGH:COUNT or LOW:HIGH:COUNT:log is expected")
    try:
        count = int(rest[0])
    except ValueError:
        count = 0
    if not 1 <= count <= MOST:
        raise _bad(given, f"COUNT must be a whole number from 1 to {MOST:,}, got {rest[0][:40]!r}")
    if count > 1 and not low < high:
        raise _bad(given, f"LOW must be below HIGH, got {low:g} and {high:g}")
    if len(rest) == 2 and low <= 0:
        raise _bad(given, f"with log, LOW must be above 0, got {low:g}")
    return name.strip(), np.geomspace(low, high, count) if len(rest) == 2 else np.linspace(low, high, count)


def _number(given: str, part: str) -> float:
    try:
        found = float(part)
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise _bad(given, f"{part.strip()[:40]!r} is not a finite number")
    return found


def _bad(given: str, why: str, fix: str = FORMS) -> SweepError:
    return SweepError(f"--grid {given[:80]!r} is not an axis: {why}.", slug="bad-axis", fix=fix)
