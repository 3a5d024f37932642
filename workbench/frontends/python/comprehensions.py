"""Comprehensions, whose items are captured one by one, and formatted strings.

Source: https://docs.python.org/3/reference/expressions.html#displays-for-lists-sets-and-dictionaries
"""

from __future__ import annotations

import ast
from typing import Any

from workbench.frontends.python.assigning import assign
from workbench.frontends.python.control.logic import truth
from workbench.frontends.python.engine import Engine, expression
from workbench.frontends.python.objects import Cell
from workbench.frontends.python.scopes import PythonScope
from workbench.frontends.python.values import operators
from workbench.frontends.python.values.iteration_space import items_of
from workbench.ir.builder.value import Value


@expression(ast.JoinedStr)
def _text(engine: Engine, node: ast.JoinedStr) -> Any:
    parts = []
    for part in node.values:
        if isinstance(part, ast.Constant):
            parts.append(str(part.value))
            continue
        assert isinstance(part, ast.FormattedValue)
        thing = engine.evaluate(part.value)
        if isinstance(thing, (Value, Cell)) or type(thing) is tuple:
            engine.fail(
                part.value,
                "computed-text",
                "A computed value cannot be put into a text while the graph runs.",
                "return the value, and write the text outside of the function.",
                construct="f-string",
            )
        form = "" if part.format_spec is None else str(engine.evaluate(part.format_spec))
        convert: Any = {97: ascii, 114: repr, 115: str}.get(part.conversion)
        parts.append(format(thing if convert is None else convert(thing), form))
    return "".join(parts)


@expression(ast.ListComp, ast.GeneratorExp)
def _list_comprehension(engine: Engine, node: ast.ListComp | ast.GeneratorExp) -> Any:
    found: list[Any] = []
    comprehend(engine, node.generators, lambda: found.append(engine.evaluate(node.elt)))
    return engine.new_list(tuple(found))


@expression(ast.DictComp)
def _dict_comprehension(engine: Engine, node: ast.DictComp) -> Any:
    pairs: dict[Any, Any] = {}

    def one() -> None:
        key = engine.raw(engine.evaluate(node.key))
        if operators.is_value(key):
            engine.fail(
                node.key,
                "computed-key",
                "The key of a dict must be known when the function is captured.",
                "use an array with a computed index.",
                construct="dict",
            )
        pairs[key] = engine.evaluate(node.value)

    comprehend(engine, node.generators, one)
    return engine.new_dict(tuple(pairs.items()))


def comprehend(engine: Engine, generators: list[ast.comprehension], one: Any) -> None:
    """Call ``one`` for each item, with the targets bound in a separate scope."""
    first, *rest = generators
    if first.is_async:
        engine.fail(
            first.iter,
            "unsupported-async",
            "'async for' cannot be put into a graph.",
            "write a plain function with def.",
            construct="async for",
        )
    items = items_of(engine, engine.evaluate(first.iter), first.iter)
    outer = engine.scope
    local = frozenset(n.id for n in ast.walk(first.target) if isinstance(n, ast.Name))
    inner = PythonScope(outer.text, outer.name, local, outer, outer.function)
    for thing in items:
        engine.scope = inner
        try:
            assign(engine, first.target, thing)
            tests = [truth(engine, test) for test in first.ifs]
            if any(map(operators.is_value, tests)):
                engine.fail(
                    first.ifs[0],
                    "computed-filter",
                    "How many items a comprehension with this condition has is only known when the graph runs.",
                    "write a loop that counts or sums, or use np.where.",
                    construct="comprehension",
                )
            if all(tests):
                if rest:
                    comprehend(engine, rest, one)
                else:
                    one()
        finally:
            engine.scope = outer
