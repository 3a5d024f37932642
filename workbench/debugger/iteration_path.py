"""Checks iteration paths given by users, and shortens any argument for error messages."""

from __future__ import annotations

import operator
import reprlib
from typing import Any

import numpy as np

from workbench.errors import SessionError

Path = tuple["int | None", ...]


#: exclusive limit of counts and iterations: the executor counts in 64 bits
MOST = 1 << 62
#: maximum number of nested frames
DEEPEST = 100


def as_path(iteration: Any) -> Path | None:
    """An iteration path from a single index, or one per frame; SessionError for anything else, and beyond ``MOST``."""
    if iteration is None:
        return None
    try:
        items = tuple(iteration) if isinstance(iteration, (tuple, list, np.ndarray)) else (iteration,)
        path = tuple(None if i is None else operator.index(i) for i in items[: DEEPEST + 1])
    except TypeError:
        path = (MOST,)
    if len(path) > DEEPEST or any(i is not None and abs(i) >= MOST for i in path):
        raise SessionError(
            f"iteration: expected a number or one per enclosing loop, got {short_repr(iteration)}.",
            slug="bad-iteration",
            fix="pass one number per enclosing loop, counted from 0.",
        )
    return path


def short_repr(item: Any) -> str:
    """A short repr of any object: long collections are cut, and objects whose repr fails are described by their
    type."""
    try:
        text = reprlib.repr(item)
    except Exception:  # an int with too many digits, or an object whose repr fails
        return f"a {type(item).__name__}"
    return text if len(text) <= 80 else text[:77] + "..."
