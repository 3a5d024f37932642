"""Python as the oracle of the random programs; every operation is checked for values that a graph cannot represent."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any


class Beyond(Exception):
    """A number that a graph cannot represent."""


def held(value: Any) -> Any:
    """The value, if a graph can represent it; otherwise raises Beyond."""
    if isinstance(value, complex) or (type(value) is int and not -(2**63) <= value < 2**63):
        raise Beyond
    return value


class _Watch(ast.NodeTransformer):
    """Sends the result of every operation and call through :func:`held`."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        return ast.Call(ast.Name("__held__", ast.Load()), [node], [])

    visit_UnaryOp = visit_BinOp  # type: ignore[assignment]
    visit_Call = visit_BinOp  # type: ignore[assignment]

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.target, ast.Name) or node.target.id.startswith("v"):
            return node
        value = ast.BinOp(ast.Name(node.target.id, ast.Load()), node.op, node.value)
        return ast.Assign([node.target], ast.Call(ast.Name("__held__", ast.Load()), [value], []))


def watched(source: str) -> Callable[..., Any]:
    """The program's ``f``, which raises Beyond if a number cannot be represented in a graph."""
    tree = ast.fix_missing_locations(_Watch().visit(ast.parse(source)))
    space: dict[str, Any] = {"__held__": held}
    exec(compile(tree, "<watched>", "exec"), space)  # the source is our own
    return space["f"]
