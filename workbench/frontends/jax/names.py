"""Names for inputs and loop variables: those that the user's code has.

JAX names the parts of an argument by their path: ``state[0]``, ``carry.x``. Where the function begins with
``x, i = state``, as most loop bodies do, its own names are better.
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

_PART = re.compile(r"^(?P<base>\w+)\[(?P<index>\d+)\]$")


def variable_names(jaxpr: Any, first: int, count: int, other: Any = None) -> list[str]:
    """Names of ``count`` inputs of a jaxpr from ``first`` on, each once; ``other`` is asked where it has none.

    ``other`` is (jaxpr, first): of a while loop the condition, whose inputs are the same variables.
    """
    names = own_names(jaxpr)[first : first + count]
    if other is not None:
        asked = own_names(other[0])[other[1] : other[1] + count]
        names = [b if _is_path(a) and b and not _is_path(b) else a or b for a, b in zip(names, asked, strict=True)]
    return distinct([n or f"v{k}" for k, n in enumerate(names)])


def distinct(names: Sequence[str]) -> list[str]:
    """The names, with a number where one comes again."""
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
            names[k] = targets[int(part["index"])] or name
    return names


@functools.lru_cache(maxsize=1024)
def _unpacked(place: str) -> dict[str, tuple[str, ...]]:
    """Parameter -> the names that the function gives to its elements in ``a, b = parameter``."""
    match = PLACE.match(place)
    if match is None:
        return {}
    lines = linecache.getlines(match["file"])
    try:
        tree = ast.parse("".join(lines))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    first = int(match["line"])
    functions = (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and _begins_at(n, first))
    function = next(functions, None)
    return {} if function is None else dict(_assignments(function))


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
