"""The outcome that the result of a solver states: whether the solver succeeded or gave up, and its message."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Any

#: kinds of ends that a solver's result states
RESULTS = frozenset(("gave up", "succeeded"))


def result_words(result: Any) -> tuple[str, str] | None:
    """("gave up" or "succeeded", the solver's message) from the return value of a solver; None if it says neither.

    It reads SciPy's results (``success`` and ``message``), the ``info`` of a sparse solver, alone or in the returned
    pair, ``converged`` of scikit-learn and others, and mappings with these keys.

    Examples
    --------
    >>> from workbench.recorder.adapters.solver_result import result_words
    >>> result_words({"success": False, "message": "The maximum number of function evaluations is exceeded."})
    ('gave up', 'The maximum number of function evaluations is exceeded')
    """
    if result is None:
        return None
    if isinstance(result, tuple) and len(result) == 2 and isinstance(result[1], Integral):
        result = result[1]
    if isinstance(result, Integral) and not isinstance(result, bool):
        info = int(result)
        words = f"info {info}" + (
            ", so many iterations were not enough" if info > 0 else "" if info == 0 else ", bad input"
        )
        return ("succeeded" if info == 0 else "gave up"), words
    for name in ("success", "converged", "converged_"):
        said = _of(result, name)
        if said is not None:
            message = _of(result, "message")
            return ("succeeded" if bool(said) else "gave up"), str(
                message or f"{name} is {bool(said)}"
            ).strip().removesuffix(".")
    return None


def _of(result: Any, name: str) -> Any:
    return result.get(name) if isinstance(result, Mapping) else getattr(result, name, None)
