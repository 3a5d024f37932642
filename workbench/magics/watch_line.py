"""The line of ``%%watch``: ``x, residual until residual < 1e-8 as run``, parsed without being executed."""

from __future__ import annotations

import ast
import re
from typing import NamedTuple

#: comparison -> its operator in ``until``
_COMPARISONS: dict[type[ast.cmpop], str] = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
_LINE = re.compile(r"^(?P<names>.*?)(?:(?:^|\s)until\s+(?P<until>.+?))?(?:(?:^|\s)as\s+(?P<target>\S+))?$")
_EXAMPLE = "write for instance %%watch x, residual until residual < 1e-8"


class WatchLine(NamedTuple):
    """The request: names to record (empty: all that a loop assigns), the goal of the loops, and the variable to which
    the watch is assigned."""

    names: tuple[str, ...]
    until: tuple[tuple[str, str, float | str], ...] = ()
    target: str | None = None


def parse_line(text: str) -> WatchLine:
    """Parse the line; raises SyntaxError with an example of a valid line.

    >>> parse_line("x, residual until residual < 1e-8")
    WatchLine(names=('x', 'residual'), until=(('residual', '<', 1e-08),), target=None)
    """
    found = _LINE.match(text.strip())
    assert found is not None  # every part is optional
    names = tuple(n for n in re.split(r"[,\s]+", found["names"]) if n)
    for name in names:
        if not name.isidentifier():
            raise SyntaxError(f"%%watch: {name[:40]!r} is not the name of a variable; {_EXAMPLE}")
    target = found["target"]
    if target is not None and not target.isidentifier():
        raise SyntaxError(f"%%watch: {target[:40]!r} after 'as' is not the name of a variable; {_EXAMPLE} as run")
    return WatchLine(names, _clauses(found["until"]) if found["until"] else (), target)


def _clauses(text: str) -> tuple[tuple[str, str, float | str], ...]:
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError):
        raise SyntaxError(f"%%watch: {text[:60]!r} after 'until' is not a comparison; {_EXAMPLE}") from None
    parts = tree.values if isinstance(tree, ast.BoolOp) and isinstance(tree.op, ast.And) else [tree]
    return tuple(_clause(part, text) for part in parts)


def _clause(part: ast.expr, text: str) -> tuple[str, str, float | str]:
    if isinstance(part, ast.Compare) and len(part.ops) == 1 and isinstance(part.left, ast.Name):
        op, bound = _COMPARISONS.get(type(part.ops[0])), part.comparators[0]
        if op is not None and isinstance(bound, ast.Name):
            return part.left.id, op, bound.id
        number = _number(bound)
        if op is not None and number is not None:
            return part.left.id, op, number
    raise SyntaxError(
        f"%%watch: 'until {text[:60]}' must compare a variable by <, <=, > or >= with a number or a variable, and "
        f"several of these by 'and'; {_EXAMPLE}"
    )


def _number(tree: ast.expr) -> float | None:
    try:
        value = ast.literal_eval(tree)
    except (ValueError, TypeError, SyntaxError):
        return None
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
