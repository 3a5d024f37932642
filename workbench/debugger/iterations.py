"""Iteration paths as people give them, and short texts of what else came."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from workbench.errors import SessionError

Path = tuple["int | None", ...]


def as_path(iteration: Any) -> Path | None:
    """One number, or one per frame, NumPy's integers included."""
    if iteration is None:
        return None
    try:
        items = tuple(iteration) if isinstance(iteration, (tuple, list, np.ndarray)) else (iteration,)
        return tuple(None if i is None else operator.index(i) for i in items)
    except TypeError:
        raise SessionError(
            f"{short_repr(iteration)} is no iteration.",
            slug="bad-iteration",
            fix="give one number from 0 on per enclosing frame.",
        ) from None


def short_repr(item: Any) -> str:
    text = repr(item)
    return text if len(text) <= 80 else text[:77] + "..."
