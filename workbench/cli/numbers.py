"""Numbers on the command line: a number out of range ends with one message of argparse, and status 2."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable

#: somewhat below the longest time for which a thread can wait
MOST_SECONDS = 1e9


def whole(low: int, high: int | None = None) -> Callable[[str], int]:
    """A parser of whole numbers from ``low`` to ``high``."""
    wanted = f"a whole number of at least {low}" if high is None else f"a whole number from {low} to {high:,}"

    def parse(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = low - 1
        if value < low or high is not None and value > high:
            raise argparse.ArgumentTypeError(f"expected {wanted}, got {text[:40]!r}")
        return value

    return parse


def real(most: float) -> Callable[[str], float]:
    """A parser of numbers from 0 to ``most``."""

    def parse(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not 0 <= value <= most:  # also false for NaN
            raise argparse.ArgumentTypeError(f"expected a number from 0 to {most:g}, got {text[:40]!r}")
        return value

    return parse


def sized(text: str) -> tuple[str, int]:
    """``name=size``."""
    name, _, size = text.rpartition("=")
    if not name.strip() or not size.strip().isdecimal() or len(size) > 12:
        raise argparse.ArgumentTypeError(f"expected NAME=SIZE, such as batch=4, got {text[:40]!r}")
    return name.strip(), int(size)
