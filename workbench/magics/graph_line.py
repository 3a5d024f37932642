"""The line of ``%wb`` and ``%%wb``: ``graph f(2.0)`` or ``debug f(2.0)``."""

from __future__ import annotations

import ast
from typing import Any, NamedTuple

ACTIONS = ("graph", "debug")
_EXAMPLE = "write for instance %wb graph f(2.0), or %wb debug f(2.0)"


class GraphLine(NamedTuple):
    """The call of a function, and how to show it."""

    action: str
    call: ast.Call


def read_line(text: str, action: str = "debug") -> GraphLine:
    """Parse the line; ``action`` is the default. Raises SyntaxError with an example of a valid line.

    >>> read_line("graph f(2.0)").action, read_line("f(2.0)").action
    ('graph', 'debug')
    """
    word, _, rest = text.strip().partition(" ")
    if word in ACTIONS:
        action, text = word, rest
    try:
        call = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError):
        call = None
    if not isinstance(call, ast.Call):
        raise SyntaxError(f"%wb: {text.strip()[:60]!r} is not a call of a function; {_EXAMPLE}")
    return GraphLine(action, call)


def shown(line: GraphLine, names: dict[str, Any]) -> Any:
    """The graph of the called function, or the panel on it; the arguments are evaluated, the function is not run."""
    from workbench.frontends.python.decorator import GraphFunction, graph
    from workbench.frontends.python.signatures import bind
    from workbench.widgets import debug

    taken: list[Any] = []
    probe = "_wb_call"
    line.call.args.insert(0, line.call.func)
    line.call.func = ast.Name(probe, ast.Load())
    code = compile(ast.fix_missing_locations(ast.Expression(line.call)), "<%wb>", "eval")
    eval(code, {**names, probe: lambda function, *args, **kwargs: taken.extend((function, args, kwargs))})
    function, args, kwargs = taken
    made = function if isinstance(function, GraphFunction) else graph(function)
    found = made.graph_for(*args, **kwargs)
    if line.action == "graph":
        return found
    return debug(found, bind(made._signature, args, kwargs).feeds())
