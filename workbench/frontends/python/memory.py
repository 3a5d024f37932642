"""Arrays, lists and dicts with their identity: their contents, shared memory, and changes."""

from __future__ import annotations

import ast
from typing import Any, NoReturn

from workbench.frontends.python.errors import CaptureError
from workbench.frontends.python.objects import (
    ArrayCell,
    ArrayView,
    Cell,
    DictCell,
    ListCell,
    LocalFunction,
    Missing,
    Several,
)
from workbench.frontends.python.scopes import PythonScope
from workbench.frontends.python.values import operators
from workbench.ir.builder.builder import GraphBuilder
from workbench.ir.node import Source


class CaptureHeap:
    """The heap of a capture. ``ties`` are pairs of arrays that may be the same, or share memory."""

    builder: GraphBuilder
    scope: PythonScope
    #: scopes of the functions in progress, outermost first, each with its arguments
    stack: list[tuple[PythonScope, Any]]

    def __init__(self) -> None:
        self.heap: dict[Cell, Any] = {}
        self.ties: dict[Cell, dict[Cell, None]] = {}
        #: location of the last change of each cell
        self.changed: dict[Cell, Source] = {}

    def content(self, cell: Cell) -> Any:
        """The current content of an array."""
        if isinstance(cell, ArrayView):
            base = self.content(cell.base)
            return cell.first if base is cell.seen else operators.subscript(self.builder, base, cell.index)
        content = self.heap[cell]
        if isinstance(content, Missing):
            error = CaptureError(content.sentence, slug=content.slug, source=self.builder.source, fix=content.fix)
            error.construct = "mutation"
            raise error
        return content

    def new_array(self, content: Any) -> ArrayCell:
        cell = ArrayCell()
        self.heap[cell] = content
        return cell

    def new_list(self, items: tuple[Any, ...]) -> ListCell:
        cell = ListCell()
        self.heap[cell] = items
        return cell

    def new_dict(self, pairs: tuple[tuple[Any, Any], ...]) -> DictCell:
        cell = DictCell()
        self.heap[cell] = pairs
        return cell

    # -- changing arrays ----------------------------------------------------------------------------------------
    def tie(self, new: Cell, old: Cell) -> None:
        """Record that a new array may be an old one or share its memory, and the same for the arrays tied to the old
        one.
        """
        for other in self.related(old):
            self.link(new, other)

    def link(self, one: Cell, other: Cell) -> None:
        """Record that two arrays may be the same; this does not extend to arrays tied to them."""
        one, other = root(one), root(other)
        if one is not other and type(one) is type(other):
            self.ties.setdefault(one, {})[other] = None
            self.ties.setdefault(other, {})[one] = None

    def related(self, cell: Cell) -> list[Cell]:
        """An array, and the arrays that may be the same or share its memory."""
        return [root(cell), *self.ties.get(root(cell), ())]

    def write(self, cell: Cell, new: Any, node: ast.AST) -> None:
        """Replace the content of an array, list or dict. CaptureError if a caller would see the change; arrays that may
        or may not share its memory cannot be read from then on.
        """
        base, related = root(cell), self.related(cell)
        self.changed[base] = self.scope.text.source(node)
        for other in related:
            if other.owner is not None:
                what = "list" if isinstance(other, ListCell) else "dict" if isinstance(other, DictCell) else "array"
                argument = other.owner.startswith("the argument")
                name = other.owner.rpartition(" ")[2]
                self.fail(
                    node,
                    "argument-mutation" if argument else "outside-mutation",
                    f"This changes {other.owner}: plain Python would change the {what} of the caller, a graph cannot.",
                    f"copy it first, with {name} = {name}.copy()." if argument else "copy it first, with .copy().",
                    construct="mutation",
                )
        seen = self.reachable() if len(related) > 1 else {}
        for other in related:
            if other is not base and other in seen and not isinstance(other, ArrayCell):
                self.fail(
                    node,
                    "alias",
                    f"This changes a list or dict that may or may not be {seen[other]!r}: on one "
                    "way through the program they are one.",
                    "copy one of them before, with .copy().",
                    construct="mutation",
                )
            if other is not base and other in seen:
                self.heap[other] = Missing(
                    f"{seen[other]!r} may or may not be the array that line {self.scope.text.line(node)} changes: on "
                    "one way through the program they share memory.",
                    slug="alias",
                    fix="copy one of them before, with .copy().",
                )
        self._set(cell, new)

    def _set(self, cell: Cell, new: Any) -> None:
        if isinstance(cell, ArrayView):
            stored = operators.store_subscript(self.builder, self.content(cell.base), cell.index, new)
            self._set(cell.base, stored)
        else:
            self.heap[cell] = new

    def reachable(self) -> dict[Cell, str]:
        """Arrays that visible variables refer to, with the name of one such variable."""
        found: dict[Cell, str] = {}
        scopes: dict[int, PythonScope] = {}
        waiting = [self.scope, *(scope for scope, _ in self.stack)]
        while waiting:
            scope: PythonScope | None = waiting.pop()
            while scope is not None and id(scope) not in scopes:
                scopes[id(scope)] = scope
                for name, thing in scope.vars.items():
                    self._reach(thing, name, found, waiting)
                scope = scope.parent
        return found

    def _reach(self, thing: Any, name: str, found: dict[Cell, str], scopes: list[PythonScope]) -> None:
        if isinstance(thing, Cell):
            thing = root(thing)
            if thing in found:
                return
            found[thing] = name
            content = self.heap.get(thing)
            if isinstance(thing, (ListCell, DictCell)):
                for item in content or ():
                    self._reach(item, name, found, scopes)
        elif type(thing) is tuple or isinstance(thing, Several):
            for item in thing.parts if isinstance(thing, Several) else thing:
                self._reach(item, name, found, scopes)
        elif isinstance(thing, LocalFunction):
            scopes.append(thing.scope)

    def fail(
        self,
        node: ast.AST,
        slug: str,
        sentence: str,
        fix: str | None = None,
        construct: str | None = None,
        source: Source | None = None,
    ) -> NoReturn:
        """Raise a CaptureError about a part of the function in progress."""
        error = CaptureError(sentence, slug=slug, source=source or self.scope.text.source(node), fix=fix)
        error.construct = construct or type(node).__name__
        raise error

    def python_error(self, node: ast.AST, error: Exception) -> NoReturn:
        """Raise a CaptureError for an error that Python raises on known values."""
        self.fail(node, "python-error", f"Python raises {type(error).__name__} here: {error}.", construct="expression")


def root(cell: Cell) -> Cell:
    """The array that a view is a part of."""
    while isinstance(cell, ArrayView):
        cell = cell.base
    return cell
