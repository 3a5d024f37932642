"""Iteration paths as people give them, and short texts of what else came."""

from __future__ import annotations

import operator
import reprlib
from typing import Any

import numpy as np

from workbench.errors import SessionError

Path = tuple["int | None", ...]


#: counts and iterations beyond this are refused: the machine counts in 64 bits
MOST = 1 << 62
#: frames that lie in one another
DEEPEST = 100


def as_path(iteration: Any) -> Path | None:
    """One number, or one per frame, NumPy's integers included; SessionError for anything else, and beyond ``MOST``."""
    if iteration is None:
        return None
    try:
        items = tuple(iteration) if isinstance(iteration, (tuple, list, np.ndarray)) else (iteration,)
        path = tuple(None if i is None else operator.index(i) for i in items[: DEEPEST + 1])
    except TypeError:
        path = (MOST,)
    if len(path) > DEEPEST or any(i is not None and abs(i) >= MOST for i in path):
        raise SessionError(
            f"{short_repr(iteration)} is no iteration.",
            slug="bad-iteration",
            fix="give one number from 0 on per enclosing frame.",
        )
    return path


def short_repr(item: Any) -> str:
    """A short text for what came from anybody: long collections are cut, and what cannot be shown is named by type."""
    try:
        text = reprlib.repr(item)
    except Exception:  # a number of too many digits, or an object that fails
        return f"a {type(item).__name__}"
    return text if len(text) <= 80 else text[:77] + "..."
