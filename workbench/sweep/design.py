"""Designs: the points of the parameters that are run, as grids, lists, random numbers or Sobol sequences."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from workbench.errors import SweepError

DESIGNS = ("grid", "list", "random", "sobol")
#: maximum points of one sweep
MOST_POINTS = 50_000_000


@dataclass(frozen=True, slots=True)
class Design:
    """Points: ``columns`` has one array of n values for each parameter. For a grid, ``axes`` are the values along each
    axis and ``shape`` their counts; the first axis varies slowest. Drawn points have ``ranges``, each (low, high,
    whether its logarithm is uniform), and a ``seed``."""

    kind: str
    columns: dict[str, np.ndarray]
    axes: dict[str, np.ndarray]
    shape: tuple[int, ...]
    ranges: dict[str, tuple[float, float, bool]] = field(default_factory=dict)
    seed: int = 0

    def __len__(self) -> int:
        return math.prod(self.shape)


def make_design(parameters: Mapping[str, Any], kind: str, points: int | None, seed: int) -> Design:
    """The design that ``workbench.sweep`` describes; SweepError for parameters that do not fit it."""
    if not isinstance(parameters, Mapping) or not parameters:
        raise SweepError(
            f"sweep: expected a mapping of input names to values, got {parameters!r}.",
            slug="no-parameters",
            fix='write something like {"lr": np.linspace(0.1, 3, 100)}.',
        )
    if kind not in DESIGNS:
        raise SweepError(
            f"sweep: there is no design {kind!r}.", slug="bad-design", fix=f"choose {', '.join(map(repr, DESIGNS))}."
        )
    if kind in ("random", "sobol"):
        return _drawn(parameters, kind, points, seed)
    if points is not None:
        raise SweepError(
            f"sweep: a {kind} has as many points as values are given, but points={points} was passed.",
            slug="bad-design",
            fix='leave points out, or choose design="random" or "sobol".',
        )
    values = {name: _values(name, given) for name, given in parameters.items()}
    if kind == "list":
        return _listed(values)
    return grid_of(values)


def grid_of(axes: dict[str, np.ndarray]) -> Design:
    """All combinations of the values along each axis."""
    shape = tuple(len(axis) for axis in axes.values())
    _check_size(math.prod(shape))
    places = np.indices(shape).reshape(len(shape), -1)
    columns = {name: axis[place] for (name, axis), place in zip(axes.items(), places, strict=True)}
    return Design("grid", columns, axes, shape)


def _listed(values: dict[str, np.ndarray]) -> Design:
    lengths = {name: len(column) for name, column in values.items()}
    if len(set(lengths.values())) > 1:
        raise SweepError(
            f"sweep: the lists have different lengths: {', '.join(f'{n}: {k}' for n, k in lengths.items())}.",
            slug="bad-design",
            fix='give one value of each parameter for each point, or choose design="grid".',
        )
    return Design("list", values, {}, (next(iter(lengths.values())),))


def _drawn(parameters: Mapping[str, Any], kind: str, points: int | None, seed: int) -> Design:
    if not isinstance(points, int) or isinstance(points, bool) or points < 1:
        raise SweepError(
            f"sweep: design={kind!r} needs the number of points, got points={points!r}.",
            slug="bad-design",
            fix="write something like points=1000.",
        )
    _check_size(points)
    return drawn({name: _range(name, given) for name, given in parameters.items()}, kind, points, seed)


def drawn(ranges: dict[str, tuple[float, float, bool]], kind: str, points: int, seed: int) -> Design:
    """Random points, or those of a Sobol sequence."""
    if kind == "random":
        unit = np.random.default_rng(seed).random((points, len(ranges)))
    else:
        from scipy.stats import qmc  # imported here, as it takes longer than importing the workbench

        # the first points of a whole power of two: Sobol's balance needs it, and otherwise SciPy warns
        sobol = qmc.Sobol(len(ranges), scramble=True, rng=np.random.default_rng(seed))
        unit = sobol.random_base2(max(0, (points - 1).bit_length()))[:points]
    columns = {}
    for k, (name, (low, high, logarithmic)) in enumerate(ranges.items()):
        u = unit[:, k]
        columns[name] = low * (high / low) ** u if logarithmic else low + (high - low) * u
    return Design(kind, columns, {}, (points,), ranges, seed)


def _values(name: str, given: Any) -> np.ndarray:
    """Values along the first axis of an array."""
    try:
        values = np.asarray(given)
    except ValueError as error:
        raise SweepError(
            f"sweep: the values of {name!r} are not an array: {error}.", slug="bad-values", fix="give numbers."
        ) from None
    if values.ndim == 0:
        values = values[None]
    if not len(values) or values.dtype.kind not in "biufc":
        raise SweepError(
            f"sweep: the values of {name!r} must be numbers, at least one, got {values.dtype} of shape {values.shape}.",
            slug="bad-values",
            fix="give a list or an array of numbers; what stays the same goes into inputs=.",
        )
    return values


def _range(name: str, given: Any) -> tuple[float, float, bool]:
    """(low, high, whether its logarithm is uniform)."""
    try:
        low, high, *how = given
        low, high = float(low), float(high)
        logarithmic = how == ["log"]
        good = math.isfinite(low) and math.isfinite(high) and low < high and (not how or logarithmic)
    except (TypeError, ValueError):
        good = False
    if not good or (logarithmic and low <= 0):
        raise SweepError(
            f"sweep: expected a range (low, high) or (low, high, 'log') for {name!r}, got {given!r}.",
            slug="bad-range",
            fix="give two finite numbers, the smaller one first; with 'log' both above zero.",
        )
    return low, high, logarithmic


def _check_size(points: int) -> None:
    if points > MOST_POINTS:
        raise SweepError(
            f"sweep: {points:,} points are more than {MOST_POINTS:,}.",
            slug="too-many-points",
            fix="give fewer values along the axes, or refine where neighbours differ: sweep.refine().",
        )
