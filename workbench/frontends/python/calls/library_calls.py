"""Calls to Python and NumPy functions that a graph supports.

NumPy's functions and methods are in ``numpy_calls``, Python's builtins in ``builtin_calls``, those of the math module
in ``math_calls``. A call with known arguments is executed at capture, if the function is one of these.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import Any

import numpy as np

from workbench.errors import TypeMismatchError, UnknownOpError, WorkbenchError
from workbench.frontends.python.calls import builtin_calls, math_calls, numpy_calls
from workbench.frontends.python.values import foreign
from workbench.frontends.python.values.attributes import BoundMethod
from workbench.frontends.python.values.promotion import holds_value
from workbench.ir.builder.builder import GraphBuilder

Handler = Callable[..., Any]


def call(builder: GraphBuilder, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``function(*args, **kwargs)`` in the graph, or NotImplemented for a function that is in none of the tables.

    Raises UnknownOpError for NumPy, math and Python functions that the graph lacks, TypeMismatchError for arguments
    that they do not accept.
    """
    if isinstance(function, BoundMethod):
        return numpy_calls.method(builder, function, args, kwargs)
    handler = _handler(function)
    if handler is None:
        owner = _owner(function)
        if owner is None:
            return NotImplemented
        raise _unknown(owner, function)
    if function is not isinstance:
        foreign.refuse((args, kwargs))
    if not holds_value((args, kwargs)):
        try:
            with np.errstate(all="ignore"):
                return function(*args, **kwargs)
        except (ArithmeticError, ValueError):
            pass  # Python raises when the line runs, so the graph must too
        except (TypeError, IndexError) as error:
            raise TypeMismatchError(f"{_name(function)} failed: {error}.", slug="bad-call") from None
    try:
        return handler(builder, *args, **kwargs)
    except TypeError as error:
        if isinstance(error, WorkbenchError):
            raise
        raise TypeMismatchError(
            f"{_name(function)} cannot be put into a graph with these arguments: {error}.",
            slug="bad-call",
            fix="leave out arguments that have their default, and give the others as its documentation says.",
        ) from error


def _handler(function: Any) -> Handler | None:
    try:
        hash(function)
    except TypeError:
        return None
    return builtin_calls.TABLE.get(function) or math_calls.TABLE.get(function) or numpy_calls.find(function)


def _name(function: Any) -> str:
    module = getattr(function, "__module__", None) or ""
    short = (
        "np."
        if module.startswith("numpy") or isinstance(function, np.ufunc)
        else f"{module}."
        if module == "math"
        else ""
    )
    return f"{short}{getattr(function, '__name__', str(function))}"


def _owner(function: Any) -> str | None:
    """numpy, math or builtins, if the function belongs to one of them."""
    if isinstance(function, np.ufunc) or isinstance(getattr(function, "__self__", None), np.ufunc):
        return "numpy"
    module = getattr(function, "__module__", None)
    if module is None and isinstance(getattr(function, "__self__", None), np.random.RandomState | np.random.Generator):
        return "numpy"
    root = str(module or "").partition(".")[0]
    return root if root in ("numpy", "math", "cmath", "random", "builtins") else None


def _unknown(owner: str, function: Any) -> UnknownOpError:
    name = getattr(function, "__name__", str(function))
    tables = {
        "numpy": numpy_calls.names(),
        "math": [f.__name__ for f in math_calls.TABLE],
        "builtins": [f.__name__ for f in builtin_calls.TABLE],
    }
    known = sorted(set(tables.get(owner, ())))
    near = difflib.get_close_matches(name, known, n=3)
    if owner == "random" or "random" in str(getattr(function, "__module__", "")):
        hint = "draw the numbers before the call and give them as an argument, or use the random ops of GraphBuilder."
    elif owner == "cmath":
        hint = "use NumPy functions for complex numbers, such as np.sqrt and np.exp."
    elif near:
        hint = f"did you mean {' or '.join(near)}?"
    else:
        hint = f"the supported functions of {owner} are {', '.join(known)}."
    return UnknownOpError(f"{_name(function)} cannot be put into a graph.", fix=hint)
