"""Arguments that a solver hands its callback, as named values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: fields of a solver's result that are recorded, where they are numbers or arrays
FIELDS = ("x", "fun", "cost", "nit", "nfev", "optimality", "constr_violation", "tr_radius", "maxcv", "convergence")


def values_of(given: tuple[Any, ...], named: Mapping[str, Any]) -> dict[str, Any]:
    """Named values of one call.

    A result (a mapping with ``x``, as SciPy's OptimizeResult) gives its fields; a mapping its entries; the first other
    argument is ``x``, or ``value`` if it is a single number, and further ones ``value_2`` and so on.
    """
    found: dict[str, Any] = {}
    for k, item in enumerate((*given, *named.values()), 1):
        if isinstance(item, Mapping) and "x" in item:
            found.update({field: item[field] for field in FIELDS if item.get(field) is not None})
        elif isinstance(item, Mapping):
            found.update({str(key): value for key, value in item.items()})
        elif k == 1:
            found["x" if getattr(item, "shape", ()) else "value"] = item
        else:
            found[f"value_{k}"] = item
    return found
