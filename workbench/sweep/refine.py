"""Refinement: new points between neighbours of a grid that differ, or in a box of the parameters."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from workbench.errors import SweepError
from workbench.sweep.design import Design, drawn, grid_of


def finer(axis: np.ndarray) -> np.ndarray:
    """The axis with a value added between each two: the mean, or the geometric mean if the axis grows by a factor."""
    values = axis.astype(np.float64)
    out = np.empty(2 * len(values) - 1)
    out[::2] = values
    by_factor = grows_by_factor(values)
    out[1::2] = np.sqrt(values[1:] * values[:-1]) if by_factor else values[:-1] + np.diff(values) / 2
    return out


def grows_by_factor(values: np.ndarray) -> bool:
    """True if each value is the previous one times the same factor."""
    if len(values) < 3 or not (values > 0).all():
        return False
    ratios, steps = values[1:] / values[:-1], np.diff(values)
    return bool(np.allclose(ratios, ratios[0]) and not np.allclose(steps, steps[0]))


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
    """The points of the finer grid to run: those in cells of the coarse grid whose corners differ.

    ``column`` and ``known`` have the shape of the coarse grid; unknown corners count as equal. Numbers differ if their
    distance exceeds ``share`` of the range of the column; other values differ if they are not equal.
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


def design_in_box(design: Design, box: Mapping[str, Any]) -> Design:
    """The design with the ranges of ``box`` for its parameters, and as many values; SweepError (``bad-box``,
    ``no-grid``).
    """
    if not isinstance(box, Mapping) or not box:
        raise _bad_box(f"expected a column or a box, got {box!r}")
    names = list(design.axes or design.ranges)
    if not names:
        raise SweepError(
            f"refine: the points of a {design.kind!r} design fill no box.",
            slug="no-grid",
            fix='sweep a grid or a range: design="grid", "random" or "sobol".',
        )
    limits = {name: _limits(name, given, names) for name, given in box.items()}
    if design.ranges:
        ranges = dict(design.ranges)
        for name, (low, high) in limits.items():
            if ranges[name][2] and low <= 0:
                raise _bad_box(f"the range of {name!r} must be above zero, got ({low:g}, {high:g})")
            ranges[name] = (low, high, ranges[name][2])
        return drawn(ranges, design.kind, len(design), design.seed)
    return grid_of({name: _axis(name, axis, limits.get(name)) for name, axis in design.axes.items()})


def _axis(name: str, axis: np.ndarray, limits: tuple[float, float] | None) -> np.ndarray:
    """As many values as ``axis`` has, between the limits; for integers, at most those that exist."""
    if limits is None:
        return axis
    if axis.ndim > 1 or axis.dtype.kind not in "iuf":
        raise SweepError(
            f"refine: {name!r} has no range: its values are {axis.dtype}{list(axis.shape[1:])}.",
            slug="no-grid",
            fix="name parameters that are numbers in the box.",
        )
    low, high = limits
    if axis.dtype.kind in "iu":
        first, last = math.ceil(low), math.floor(high)
        if first > last:
            raise _bad_box(f"there is no whole number from {low:g} to {high:g} for {name!r}")
        return np.unique(np.linspace(first, last, max(2, len(axis))).round()).astype(axis.dtype)
    by_factor = low > 0 and grows_by_factor(axis.astype(np.float64))
    return (np.geomspace if by_factor else np.linspace)(low, high, max(2, len(axis))).astype(axis.dtype)


def _limits(name: str, given: Any, names: list[str]) -> tuple[float, float]:
    if name not in names:
        raise _bad_box(f"there is no parameter {name!r}; the parameters are {', '.join(names)}")
    try:
        low, high = (float(v) for v in given)
    except (TypeError, ValueError):
        low = high = math.nan
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise _bad_box(f"expected two finite numbers for {name!r}, the smaller one first, got {given!r}")
    return low, high


def _bad_box(what: str) -> SweepError:
    return SweepError(f"refine: {what}.", slug="bad-box", fix='write something like {"lr": (0.1, 0.3)}.')
