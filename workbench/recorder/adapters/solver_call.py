"""Names for the values that a SciPy solver passes to its callback.

SciPy decides by the *name* of the callback's parameter what it passes: a watch has the parameter
``intermediate_result``, so minimize, least_squares and differential_evolution pass an OptimizeResult. The others pass
arrays and numbers by position.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

#: fields of a solver's result that are recorded if they are numbers or arrays
FIELDS = (
    "x",
    "fun",
    "cost",
    "nit",
    "nfev",
    "optimality",
    "constr_violation",
    "tr_radius",
    "maxcv",
    "convergence",
    "f_x",
)


def values_of(given: tuple[Any, ...], named: Mapping[str, Any]) -> dict[str, Any]:
    """Named values of one call.

    ============================================  ==========================================================
    ``result`` (a mapping with ``x``)             its fields of FIELDS
    ``x`` (an array), or a single number          ``x``, or ``value``
    ``x, f`` of equal shapes (root)               ``x``, ``f``, and ``residual``, the Euclidean norm of f
    ``x, f`` with a number f                      ``x``, ``fun``
    ``x, f, accept`` (basinhopping)               also ``accept``, 0 or 1
    ``x, f, context`` (dual_annealing)            also ``context``
    other mappings, and keywords                  their entries
    ============================================  ==========================================================

    Examples
    --------
    >>> values_of((np.array([1.0, 2.0]), np.array([3.0, 4.0])), {})["residual"]
    5.0
    """
    found: dict[str, Any] = {}
    for key, value in named.items():
        found.update(_fields(value) if isinstance(value, Mapping) else {key: value})
    for number, item in enumerate(given):
        if isinstance(item, Mapping):
            found.update(_fields(item))
        elif number == 0:
            found["x" if np.ndim(item) else "value"] = item
        else:
            found.update(_further(number, item, given[0]))
    if "intermediate_result" in found:  # TNC passes the bare array under this name
        found["x"] = found.pop("intermediate_result")
    fun = found.get("fun")
    if fun is not None and np.ndim(fun) == 1:  # least_squares: the vector of residuals
        found["residual"] = float(np.linalg.norm(np.asarray(fun)))
    return found


def _fields(result: Mapping[str, Any]) -> dict[str, Any]:
    if "x" in result:
        return {field: result[field] for field in FIELDS if result.get(field) is not None}
    return {str(key): value for key, value in result.items()}


def _further(number: int, item: Any, first: Any) -> dict[str, Any]:
    """Named values of a second or later positional argument."""
    if number == 1 and np.ndim(item):
        f = np.asarray(item)
        alike = f.shape == np.shape(first) and f.dtype.kind in "biufc"
        return {"f": item, "residual": float(np.linalg.norm(f.ravel()))} if alike else {"f": item}
    if number == 1:
        return {"fun": item}
    if isinstance(item, bool | np.bool_):
        return {"accept": int(item)}
    return {"context" if number == 2 else f"value_{number + 1}": item}
