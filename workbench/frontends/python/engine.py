"""The engine of a capture: it walks a function's syntax tree and creates the nodes of a graph.

::

    blocks.execute(statements)  ─► branching.py (if); STATEMENTS: statements.py, assigning.py, iterating.py (while, for)
    Engine.evaluate(expression) ─► EXPRESSIONS: expressions.py, logic.py (conditions), items.py, call_dispatch.py
                                       ─► operators.py (their semantics)

Expressions that depend on no argument are computed immediately, by Python; all others become nodes. ``scope`` holds the
variables, ``heap`` the contents of arrays, lists and dicts: both are swapped where control flow splits, so entries are
replaced and never modified.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from workbench.errors import WorkbenchError
from workbench.frontends.python.errors import CaptureError
from workbench.frontends.python.memory import CaptureHeap
from workbench.frontends.python.objects import ArrayCell, ArrayView, DictCell, ListCell, Missing
from workbench.frontends.python.scopes import Outside
from workbench.frontends.python.values import foreign
from workbench.frontends.python.values.numbers import PyNumber
from workbench.ir.builder.builder import GraphBuilder
from workbench.ir.builder.value import Value
from workbench.ir.node import Ref

Visit = Callable[["Engine", Any], Any]
#: handler of each kind of expression and statement; filled by the modules that define the handlers
EXPRESSIONS: dict[type[ast.AST], Visit] = {}
STATEMENTS: dict[type[ast.AST], Visit] = {}
#: maximum number of nodes of a graph; a capture that creates more is refused
MAX_NODES = 200_000


def expression(*kinds: type[ast.AST]) -> Callable[[Visit], Visit]:
    """Register the function that evaluates these expressions."""
    return _registering(EXPRESSIONS, kinds)


def statement(*kinds: type[ast.AST]) -> Callable[[Visit], Visit]:
    """Register the function that executes these statements."""
    return _registering(STATEMENTS, kinds)


def _registering(table: dict[type[ast.AST], Visit], kinds: tuple[type[ast.AST], ...]) -> Callable[[Visit], Visit]:
    def register(visit: Visit) -> Visit:
        table.update(dict.fromkeys(kinds, visit))
        return visit

    return register


class Engine(CaptureHeap):
    """One capture: builder, heap, the scope of the function in progress, and those of its callers."""

    def __init__(self, builder: GraphBuilder, outside: Outside) -> None:
        super().__init__()
        self.builder, self.outside = builder, outside
        self.stack = []
        #: last value bound to each name, for the names of values that are not loop variables
        self.named: dict[str, Ref] = {}
        #: conditions of while loops and of the loops inside them, which Python runs even if their results are not read
        self.may_hang: set[str] = set()
        #: replaced at every assertion, so that results can wait for all assertions
        self.asserted = ArrayCell()
        self.heap[self.asserted] = np.zeros((), bool)

    # -- walking -----------------------------------------------------------------------------------------------
    def evaluate(self, node: ast.expr) -> Any:
        """The result of an expression: an object that a variable may hold, a Python or NumPy number or array."""
        found = self.holder(node)
        if foreign.is_number_like(found):
            with self.at(node):
                raise foreign.refused(found, name=ast.unparse(node))
        return found

    def holder(self, node: ast.expr) -> Any:
        """The result of an expression of which only an attribute is read, which may be any object."""
        visit = EXPRESSIONS.get(type(node))
        with self.at(node):
            if visit is None:
                self.fail(
                    node,
                    "unsupported-expression",
                    f"A {type(node).__name__} cannot be put into a graph.",
                    "write it with the operators and functions that the documentation of wb.graph lists.",
                )
            return visit(self, node)

    @contextmanager
    def at(self, node: ast.AST) -> Iterator[None]:
        """Attribute the nodes created inside, and errors, to this part of the function."""
        builder, outer = self.builder, self.builder.source
        builder.source = self.scope.text.source(node)
        try:
            yield
        except CaptureError:
            raise
        except WorkbenchError as error:
            raise self._located(error, node) from error
        except RecursionError:
            self.fail(
                node,
                "too-deep",
                "The function is nested too deeply for a graph.",
                "write repeated statements as a loop.",
            )
        finally:
            builder.source = outer

    def _located(self, error: WorkbenchError, node: ast.AST) -> CaptureError:
        located = CaptureError(
            error.message, slug=error.slug, node=error.node, source=self.scope.text.source(node), fix=error.fix
        )
        located.construct = type(node).__name__
        return located

    # -- objects ------------------------------------------------------------------------------------------------
    def raw(self, thing: Any) -> Any:
        """An object as the operators accept it: values and statics, in tuples, lists and dicts."""
        if isinstance(thing, (ArrayCell, ArrayView)):
            return self.content(thing)
        if isinstance(thing, ListCell):
            return [self.raw(i) for i in self.heap[thing]]
        if isinstance(thing, DictCell):
            return {k: self.raw(i) for k, i in self.heap[thing]}
        if type(thing) is tuple:
            return tuple(self.raw(i) for i in thing)
        if isinstance(thing, slice):
            return slice(self.raw(thing.start), self.raw(thing.stop), self.raw(thing.step))
        return thing

    def wrap(self, result: Any, base: ArrayCell | ArrayView | None = None, owner: str | None = None) -> Any:
        """The result of an operator, as an object: arrays get an identity. It may share memory with ``base``."""
        if isinstance(result, Value):
            if isinstance(result, PyNumber) or result.shape == ():
                return result
        elif type(result) is tuple:
            return tuple(self.wrap(i, base, owner) for i in result)
        elif type(result) is list:
            return self.new_list(tuple(self.wrap(i, base, owner) for i in result))
        elif type(result) is dict:
            return self.new_dict(tuple((k, self.wrap(i, base, owner)) for k, i in result.items()))
        elif not isinstance(result, np.ndarray):
            return result
        cell = self.new_array(result)
        cell.owner = owner
        if base is not None:
            self.tie(cell, base)
        return cell

    # -- variables ---------------------------------------------------------------------------------------------
    def bind(self, name: str, thing: Any, node: ast.AST) -> None:
        """Give a variable a new value."""
        self.scope.vars[name] = thing
        self.scope.lines[name] = self.scope.text.line(node)
        content = self.heap.get(thing) if isinstance(thing, ArrayCell) else thing
        if isinstance(content, Value) and len(self.stack) <= 1:
            self.named[name] = content.ref
        if len(self.builder._nodes) > MAX_NODES:
            self.fail(
                node,
                "too-large",
                f"The graph has more than {MAX_NODES} nodes.",
                "let range loops stay loops instead of going over long tuples or lists.",
            )

    def need(self, thing: Any, node: ast.AST) -> Any:
        """The object; for Missing the error that says why."""
        if isinstance(thing, Missing):
            self.fail(node, thing.slug, thing.sentence, thing.fix, construct="variable")
        return thing
