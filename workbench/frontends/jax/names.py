"""Names for inputs and loop variables, taken from the user's code.

JAX names the parts of an argument by their path: ``state[0]``, ``carry.x``. If the function begins with ``x, i =
state``, as most loop bodies do, its own names are used: ``x``, and ``params['w']`` for ``carry[0]['w']``. The stacked
outputs of a scan are named after the values that its body returns: ``stacked_loss``.
"""

from __future__ import annotations

import ast
import functools
import linecache
import re
from collections.abc import Sequence
from typing import Any

from workbench.frontends.jax.library import argument_names, function_place
from workbench.frontends.jax.source_lines import PLACE

_PART = re.compile(r"^(?P<base>\w+)\[(?P<index>\d+)\](?P<rest>.*)$")


def variable_names(jaxpr: Any, first: int, count: int, other: Any = None) -> list[str]:
    """Unique names of ``count`` inputs of a jaxpr from ``first`` on; ``other`` supplies missing ones.

    ``other`` is (jaxpr, first); for a while loop it is the condition, whose inputs are the same variables.
    """
    names = own_names(jaxpr)[first : first + count]
    if other is not None:
        condition_names = own_names(other[0])[other[1] : other[1] + count]
        names = [
            b if _is_path(a) and b and not _is_path(b) else a or b for a, b in zip(names, condition_names, strict=True)
        ]
    return distinct([n or f"v{k}" for k, n in enumerate(names)])


def distinct(names: Sequence[str]) -> list[str]:
    """The names, with a number appended to repeated ones."""
    found: list[str] = []
    for name in names:
        candidate, number = name, 1
        while candidate in found:
            number += 1
            candidate = f"{name}_{number}"
        found.append(candidate)
    return found


def _is_path(name: str) -> bool:
    return not name.isidentifier()


def own_names(jaxpr: Any) -> list[str]:
    names = list(argument_names(jaxpr))
    unpacked = _unpacked(function_place(jaxpr))
    for k, name in enumerate(names):
        part = _PART.match(name)
        targets = unpacked.get(part["base"], ()) if part else ()
        if part and int(part["index"]) < len(targets):
            target = targets[int(part["index"])]
            names[k] = f"{target}{part['rest']}" if target else name
    return names


def stacked_names(jaxpr: Any, count: int) -> list[str]:
    """Names for the ``count`` arrays that a scan stacks; "stacked[0]" and so on if its body does not name them."""
    returned = _returned(function_place(jaxpr))
    names = returned if len(returned) == count else [""] * count
    return [f"stacked_{n}" if n else f"stacked[{k}]" for k, n in enumerate(names)]


def _unpacked(place: str) -> dict[str, tuple[str, ...]]:
    """Parameter -> the names that the function gives to its elements in ``a, b = parameter``."""
    function = _function(place)
    return {} if function is None else dict(_assignments(function))


def _returned(place: str) -> list[str]:
    """The names in ``y`` of a final ``return carry, y``; "" for an expression that is not a name."""
    function = _function(place)
    last = function.body[-1] if function is not None else None
    if not isinstance(last, ast.Return) or not isinstance(last.value, ast.Tuple) or len(last.value.elts) != 2:
        return []
    stacked = last.value.elts[1]
    parts = stacked.elts if isinstance(stacked, ast.Tuple) else [stacked]
    return [p.id if isinstance(p, ast.Name) and p.id.strip("_") else "" for p in parts]


def _function(place: str) -> ast.FunctionDef | None:
    """The function in the user's file that begins at a place."""
    match = PLACE.match(place)
    if match is None:
        return None
    functions = _functions("".join(linecache.getlines(match["file"])))
    return next((f for f in functions if _begins_at(f, int(match["line"]))), None)


@functools.lru_cache(maxsize=64)
def _functions(text: str) -> list[ast.FunctionDef]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    return [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]


def _begins_at(function: ast.FunctionDef, line: int) -> bool:
    return line in (function.lineno, *(d.lineno for d in function.decorator_list))


def _assignments(function: ast.FunctionDef) -> Any:
    parameters = {a.arg for a in (*function.args.posonlyargs, *function.args.args)}
    for statement in function.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Name):
            target, name = statement.targets[0], statement.value.id
            if name in parameters and isinstance(target, (ast.Tuple, ast.List)):
                parts = target.elts
                if not any(isinstance(p, ast.Starred) for p in parts):
                    yield name, tuple(p.id if isinstance(p, ast.Name) and p.id.strip("_") else "" for p in parts)
