"""Inserts calls of a probe into the loops of a cell's syntax tree, which otherwise stays unchanged.

An iteration is recorded where it ends: after the last statement of the body, and before each ``continue``, ``break``
and ``return`` that ends it. Every new node has the position of its statement, so tracebacks show the lines of the cell.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

_LOOPS = (ast.For, ast.While, ast.AsyncFor)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_Statement = TypeVar("_Statement", bound=ast.stmt)


class Loop(NamedTuple):
    """One loop of the cell: its index, line, the index of the enclosing loop, and the names that it assigns."""

    number: int
    line: int
    around: int | None
    names: tuple[str, ...]


def insert(tree: ast.Module, probe: str) -> list[Loop]:
    """Insert ``probe.enter(k)``, ``probe.record(k)`` and ``probe.leave(k)``; ``probe`` is the name of a global
    variable.

    Loops of nested functions are included; comprehensions, which have no body, are not. Returns the loops; each
    precedes its inner loops.
    """
    found = _Inserting(probe)
    found.visit(tree)
    return sorted(found.loops)


def assigned(loop: ast.stmt) -> tuple[str, ...]:
    """Names that an iteration of the loop assigns or changes in place (``x[k] = ...``), in source order; without names
    inside nested functions."""
    names: dict[str, None] = {}
    todo: list[ast.AST] = [loop]
    while todo:
        node = todo.pop(0)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names[node.id] = None
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            inner: ast.expr = node
            while isinstance(inner, ast.Subscript):
                inner = inner.value
            if isinstance(inner, ast.Name):
                names[inner.id] = None
        if not isinstance(node, _SCOPES):
            todo = [*ast.iter_child_nodes(node), *todo]
    return tuple(names)


class _Inserting(ast.NodeTransformer):
    def __init__(self, probe: str) -> None:
        self.probe, self.loops = probe, list[Loop]()
        #: indices of the enclosing loops, and of those that a "return" in the innermost function leaves
        self.around: list[int] = []
        self.own: list[int] = []

    def _call(self, method: str, number: int, at: ast.stmt, end: bool = False) -> ast.Expr:
        name = ast.Attribute(ast.Name(self.probe, ast.Load()), method, ast.Load())
        call = ast.Expr(ast.Call(name, [ast.Constant(number)], []))
        for node in ast.walk(call):
            ast.copy_location(node, at)
        return call

    def _loop(self, node: Any) -> list[ast.stmt]:
        number = len(self.loops)
        self.loops.append(Loop(number, node.lineno, self.around[-1] if self.around else None, assigned(node)))
        self.around.append(number)
        self.own.append(number)
        node.body = [*self._statements(node.body), self._call("record", number, node.body[-1])]
        self.around.pop()
        self.own.pop()
        node.orelse = self._statements(node.orelse)
        return [self._call("enter", number, node), node, self._call("leave", number, node)]

    visit_For = visit_While = visit_AsyncFor = _loop

    def _statements(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        for statement in body:
            new = self.visit(statement)
            made.extend(new if isinstance(new, list) else [new])
        return made

    def _scope(self, node: Any) -> Any:
        own, self.own = self.own, []
        node = self.generic_visit(node)
        self.own = own
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = _scope

    def _ends_pass(self, node: _Statement) -> list[ast.stmt]:
        return [self._call("record", self.own[-1], node), node] if self.own else [node]

    visit_Continue = visit_Break = _ends_pass

    def visit_Return(self, node: ast.Return) -> list[ast.stmt]:
        ended = [self._call("record", number, node) for number in reversed(self.own)]
        return [*ended, *(self._call("leave", number, node) for number in reversed(self.own)), node]
