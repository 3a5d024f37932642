"""The last iterations of a number: what it was in each, and by how much it has changed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.widgets.text.labels import number
from workbench.widgets.text.numerals import numeral
from workbench.widgets.values.images.pictures import ValueHistory, part_of
from workbench.widgets.values.images.samples import MISSING
from workbench.widgets.values.slices import Index

ROWS = 5


def recent(history: ValueHistory, iteration: int, index: Sequence[Index]) -> list[list[str]]:
    """Rows of iteration, value and change, the oldest first; values that are not recorded are left out."""
    rows: list[list[str]] = []
    before = None
    for k in range(max(0, iteration - ROWS), iteration + 1):
        try:
            value = part_of(history.read(k), index)
        except MISSING:
            before = None
            continue
        change = ""
        if before is not None and value.dtype.kind in "iufc" and value.ndim == before.ndim == 0:
            with np.errstate(all="ignore"):
                dtype = np.float64 if value.dtype.kind == "u" else value.dtype
                change = number(np.subtract(value, before, dtype=dtype)[()], 6)
        rows.append([numeral(k), number(value[()], 10) if value.ndim == 0 else "", change])
        before = value
    return rows[-ROWS:]
