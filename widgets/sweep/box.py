"""Boxes of a sweep's parameters: as dragged in a picture, and as text."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from workbench.errors import SweepError
from workbench.sweep import Sweep
from workbench.widgets.sweep.sweep_spec import is_newest, shown_axes

Box = dict[str, tuple[float, float]]


def dragged_box(sweep: Sweep, column: str, x: tuple[float, float], y: tuple[float, float]) -> Box:
    """The box of the parameters of a picture, clipped to their ranges. Empty if it lies outside them."""
    names = shown_axes(sweep, column)
    given = [x] if is_newest(sweep, column) or len(names) == 1 else [x, y]
    box = {}
    for name, (low, high) in zip(names, given, strict=True):
        values = np.asarray(sweep.points[name], float)
        low, high = max(low, float(values.min())), min(high, float(values.max()))
        if not low < high:
            return {}
        box[name] = (low, high)
    return box


def whole_box(sweep: Sweep) -> Box:
    """The ranges of all parameters that a box may contain."""
    found = {}
    for name, values in sweep.points.items():
        if values.ndim == 1 and values.dtype.kind in "iuf" and values.min() < values.max():
            found[name] = (float(values.min()), float(values.max()))
    return found


def box_text(box: Mapping[str, tuple[float, float]]) -> str:
    """A box as text: ``lr=0.1:3, momentum=0:0.9``."""
    return ", ".join(f"{name}={low:.6g}:{high:.6g}" for name, (low, high) in box.items())


def box_of_text(words: str) -> Box:
    """A box from such a text; raises SweepError (``bad-box``)."""
    box = {}
    for part in filter(None, re.split(r"[,;\s]+", words.strip())):
        match = re.fullmatch(r"(.+)=([^=:]+):([^=:]+)", part)
        try:
            assert match is not None
            box[match[1]] = (float(match[2]), float(match[3]))
        except (AssertionError, ValueError):
            raise SweepError(
                f"{part[:80]!r} is not the range of a parameter.", slug="bad-box", fix="write lr=0.1:0.3."
            ) from None
    return box
