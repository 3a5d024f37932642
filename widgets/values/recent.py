"""The last iterations of a number: its value in each, and the change."""

from __future__ import annotations

import os.path
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from workbench.widgets.text.labels import number
from workbench.widgets.text.numerals import numeral
from workbench.widgets.values.images.pictures import ValueHistory, part_of
from workbench.widgets.values.images.samples import MISSING
from workbench.widgets.values.slices import Index

#: maximum rows, and digits if two values are side by side
ROWS, BESIDE = 5, 7


def recent(
    history: ValueHistory, iteration: int, index: Sequence[Index], other: Callable[[int], Any] | None = None
) -> list[list[str]]:
    """Rows of iteration, value and change, oldest first; values that are not recorded are left out. With ``other``, a
    reader of another run, rows of iteration, value, the other run's value and the difference.
    """
    rows: list[list[str]] = []
    before = None
    for k in range(max(0, iteration - ROWS), iteration + 1):
        try:
            value = part_of(history.read(k), index)
        except MISSING:
            before = None
            continue
        digits = number(value[()], BESIDE if other else 10) if value.ndim == 0 else ""
        rows.append([numeral(k), digits, *(_beside(value, other, k, index) if other else [change_of(value, before)])])
        before = value
    return rows[-ROWS:]


def _beside(value: np.ndarray, other: Callable[[int], Any], iteration: int, index: Sequence[Index]) -> list[str]:
    try:
        theirs = part_of(other(iteration), index)
    except MISSING:
        return ["none", ""]
    if theirs.ndim:
        return ["", ""]
    same = value.tobytes() == theirs.tobytes() and value.dtype == theirs.dtype
    return [number(theirs[()], BESIDE), "same" if same else change_of(value, theirs, 3)]


def change_of(value: np.ndarray, before: np.ndarray | None, digits: int = 6) -> str:
    """The difference of a number from the previous one; "" for the first."""
    if before is None or value.dtype.kind not in "iufc" or value.ndim or before.ndim:
        return ""
    with np.errstate(all="ignore"):
        dtype = np.float64 if value.dtype.kind == "u" else value.dtype
        return number(np.subtract(value, before, dtype=dtype)[()], digits)


def settled_digits(now: np.ndarray, before: np.ndarray) -> int | None:
    """The number of leading characters that a number's text shares with the previous one; None for whole numbers, and
    for numbers of different magnitude.

    >>> settled_digits(np.array(1.4449), np.array(1.4142)), settled_digits(np.array(1.5), np.array(20.5))
    (3, None)
    """
    if now.ndim or before.ndim or now.dtype.kind != "f":
        return None
    texts = [number(value[()], 17) for value in (now, before)]
    sizes = [(text.partition("e")[2], text.partition("e")[0].find(".")) for text in texts]
    if sizes[0] != sizes[1] or sizes[0][1] < 0:
        return None
    return len(os.path.commonprefix(texts))
