"""Refinement of a grid: new points between neighbours that differ."""

from __future__ import annotations

import numpy as np

from workbench.errors import SweepError
from workbench.sweep.design import Design, grid_of


def finer(axis: np.ndarray) -> np.ndarray:
    """The axis with a value between each two: the mean, or of an axis that grows by a factor the geometric mean."""
    values = axis.astype(np.float64)
    out = np.empty(2 * len(values) - 1)
    out[::2] = values
    ratios = values[1:] / values[:-1] if (values > 0).all() else np.zeros(0)
    steps = np.diff(values)
    by_factor = len(ratios) > 1 and np.allclose(ratios, ratios[0]) and not np.allclose(steps, steps[0])
    out[1::2] = np.sqrt(values[1:] * values[:-1]) if by_factor else values[:-1] + steps / 2
    return out


def refined_design(design: Design) -> Design:
    """The grid with twice as many cells along each axis of more than one value; SweepError for other designs."""
    if design.kind != "grid":
        raise SweepError(
            f"refine: the points of a {design.kind!r} design have no neighbours.",
            slug="no-grid",
            fix='sweep a grid: design="grid".',
        )
    for name, axis in design.axes.items():
        if axis.ndim > 1 or axis.dtype.kind not in "f":
            raise SweepError(
                f"refine: there is nothing between two values of {name!r} ({axis.dtype}{list(axis.shape[1:])}).",
                slug="no-grid",
                fix="sweep numbers that are not whole, or give more values yourself.",
            )
    return grid_of({name: finer(axis).astype(axis.dtype) for name, axis in design.axes.items()})


def wanted_points(column: np.ndarray, known: np.ndarray, share: float) -> np.ndarray:
    """Which points of the finer grid are to be run: those in cells of the coarse grid whose corners differ.

    ``column`` and ``known`` have the shape of the coarse grid; corners that are not known count as equal. Numbers
    differ by more than ``share`` of the range of the column; all else differs where it is not equal.
    """
    if column.dtype.kind in "iuf":
        values = np.where(known & np.isfinite(column), column, np.nan).astype(np.float64)
        finite = values[np.isfinite(values)]
        least = share * float(np.ptp(finite)) if len(finite) else 0.0
        codes, numbers = np.isnan(values) & known, values
    else:
        _, inverse = np.unique(column.astype(str), return_inverse=True)
        codes, numbers, least = inverse.reshape(column.shape), np.zeros(column.shape), 0.0
    wanted = np.zeros([2 * n - 1 for n in column.shape], bool)
    cells = [max(1, n - 1) for n in column.shape]
    for cell in np.ndindex(*cells):
        corner = tuple(slice(k, k + 2) for k in cell)
        inside = known[corner]
        kinds, numbers_here = codes[corner][inside], numbers[corner][inside]
        finite = numbers_here[np.isfinite(numbers_here)]
        if len(np.unique(kinds)) > 1 or (len(finite) and float(np.ptp(finite)) > least):
            wanted[tuple(slice(2 * k, 2 * k + 3) for k in cell)] = True
    wanted[tuple(slice(None, None, 2) for _ in column.shape)] |= known
    return wanted
