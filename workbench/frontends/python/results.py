"""Results: the outputs of the graph, their names, and the conversion of outputs to the value that Python would
return.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.frontends.python.engine import Engine
from workbench.frontends.python.objects import ArrayCell, ArrayView, Cell, DictCell, ListCell, Range, Several
from workbench.frontends.python.values import operators
from workbench.frontends.python.values.numbers import PyNumber
from workbench.ir.builder.value import Value

#: output of a graph whose function returns nothing computed
DONE = "done"
Pack = Callable[[Mapping[str, Any], Mapping[str, Any]], Any]


@dataclass
class Output:
    """One computed part of the result: ``kind`` is "number", "scalar" or "array"."""

    name: str
    value: Value
    kind: str


class Results:
    """Outputs of a captured function, and the structure of its result."""

    def __init__(self, engine: Engine, tree: ast.FunctionDef | ast.Lambda, result: Any) -> None:
        self._engine = engine
        self.outputs: dict[str, Value] = {}
        self._cells: dict[Cell, Pack] = {}
        self.pack = self._packed(result, _named_returns(tree), "result")
        asserted = engine.heap[engine.asserted]
        if isinstance(asserted, Value) or not self.outputs:
            self._wait(asserted)

    def _wait(self, asserted: Any) -> None:
        """Make the outputs wait for the assertions; a graph without outputs gets one that shows the end of the run."""
        b = self._engine.builder
        done = operators.lift(b, asserted)
        if not self.outputs:
            self.outputs[DONE] = done
            return
        for name, value in self.outputs.items():
            self.outputs[name] = b.op("Identity", value, control=[done])

    def _packed(self, thing: Any, names: Any, fallback: str) -> Pack:
        engine = self._engine
        if isinstance(thing, (Value, ArrayCell, ArrayView)):
            if isinstance(thing, Cell) and thing in self._cells:  # the same array again
                return self._cells[thing]
            content = thing if isinstance(thing, Value) else operators.lift(engine.builder, engine.content(thing))
            kind = "number" if isinstance(thing, PyNumber) else "scalar" if isinstance(thing, Value) else "array"
            pack = self._output(content, names if isinstance(names, str) else fallback, kind)
            if isinstance(thing, Cell):
                self._cells[thing] = pack
            return pack
        if type(thing) is tuple or isinstance(thing, ListCell):
            items = engine.heap[thing] if isinstance(thing, ListCell) else thing
            labels = names if isinstance(names, tuple) and len(names) == len(items) else (None,) * len(items)
            packs = [self._packed(i, n, f"{fallback}.{k}") for k, (i, n) in enumerate(zip(items, labels, strict=True))]
            make: Any = tuple if type(thing) is tuple else list
            return lambda outputs, feeds: make(p(outputs, feeds) for p in packs)
        if isinstance(thing, DictCell):
            pairs = [(k, self._packed(v, None, f"{fallback}.{k}")) for k, v in engine.heap[thing]]
            return lambda outputs, feeds: {k: p(outputs, feeds) for k, p in pairs}
        if isinstance(thing, (Range, Several)) or type(thing).__name__ == "LocalFunction":
            from workbench.frontends.python.errors import CaptureError

            raise CaptureError(
                f"The function returns a {type(thing).__name__.lower()}, which cannot be a result of a graph.",
                slug="bad-result",
                fix="return numbers, arrays, or tuples, lists and dicts of them.",
            )
        return lambda outputs, feeds: thing

    def _output(self, value: Value, name: str, kind: str) -> Pack:
        b = self._engine.builder
        base, count = name, 1
        while name in self.outputs:
            name, count = f"{base}_{count}", count + 1
        self.outputs[name] = value
        if b.node(value.ref.node).op == "Placeholder":
            argument = value.ref.node
            source = next((k for k, r in b._inputs.items() if r.node == argument), None)
            if source is not None:  # the argument itself is returned
                return lambda outputs, feeds: feeds[source]
        if kind == "number":
            return lambda outputs, feeds: outputs[name].item()
        if kind == "scalar":
            return lambda outputs, feeds: outputs[name][()]
        return lambda outputs, feeds: _own(outputs[name])


def _own(array: Any) -> Any:
    """An array that the caller may change, copied if necessary."""
    array = np.asarray(array)
    return array if array.flags.writeable and array.flags.owndata else array.copy()


def _named_returns(tree: ast.FunctionDef | ast.Lambda) -> Any:
    """Names of the results if every return names the same variables."""
    found: list[Any] = []
    stack: list[ast.AST] = list(tree.body) if isinstance(tree, ast.FunctionDef) else []
    if isinstance(tree, ast.Lambda):
        found.append(_names(tree.body))
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Return):
            found.append(_names(node.value))
        elif not isinstance(node, (ast.FunctionDef, ast.Lambda, ast.ClassDef, ast.AsyncFunctionDef)):
            stack.extend(ast.iter_child_nodes(node))
    return found[0] if found and all(f == found[0] for f in found) else None


def _names(node: ast.AST | None) -> Any:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, (ast.Tuple, ast.List)):
        return tuple(_names(e) for e in node.elts)
    return None


__all__ = ["DONE", "Pack", "Results"]
