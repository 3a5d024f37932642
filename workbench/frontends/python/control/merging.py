"""Merges the two sides of a branch: the variables, arrays, lists and dicts that each side changed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from workbench.frontends.python.control.branch_state import BranchSide, array_leaf
from workbench.frontends.python.engine import Engine
from workbench.frontends.python.objects import BREAK, RESULT, ArrayCell, Cell, DictCell, ListCell, Missing
from workbench.frontends.python.values.pytree import Conflict, Gone, Template, template_of, unite
from workbench.frontends.python.values.pytree_leaves import cells_in, dummy_thing, leaves, rebuild
from workbench.ir.builder.value import Value
from workbench.ir.node import Ref


class Merger:
    def __init__(self, engine: Engine, name: str, line: int, sides: list[BranchSide], outer: Any) -> None:
        self.engine, self.name, self.line, self.sides, self.outer = engine, name, line, sides, outer

    def variables(self, before: dict[str, Any]) -> dict[str, Any]:
        one, two = (side.vars for side in self.sides)
        merged = dict(before)
        for name in dict.fromkeys((*before, *one, *two)):
            absent = Missing(f"{name!r} has no value here.")
            a, b = one.get(name, absent), two.get(name, absent)
            merged[name] = a if a is b else self.merge(name, a, b)
        return merged

    def contents(self, before: list[Cell], node: ast.AST) -> None:
        """Merge the arrays, lists and dicts from before the branch that a side has changed."""
        engine = self.engine
        for cell in before:
            a, b = (side.heap[cell] for side in self.sides)
            if a is b:
                continue
            stale = next((c for c in (a, b) if isinstance(c, Missing)), None)
            if stale is not None:
                engine.heap[cell] = stale
                continue
            if isinstance(cell, ArrayCell):
                try:
                    leaf = unite(array_leaf(a), array_leaf(b))
                except Conflict as conflict:
                    engine.fail(node, "branch-dtype", f"An array is {conflict} on the two sides.", "cast one of them.")
                engine.heap[cell] = self._merged(leaf, self._name_of(cell), [a, b])[0]
                continue
            merged = self._items(cell, a, b)
            if merged is None:
                kind = "list" if isinstance(cell, ListCell) else "dict"
                engine.fail(
                    node,
                    f"{kind}-in-branch",
                    f"The {kind} {self._name_of(cell)!r} does not have the same length and "
                    f"kinds of items after both sides of the branch of line {self.line}.",
                    "let both sides change it alike, or use an array of a fixed size.",
                    construct="mutation",
                    source=engine.changed.get(cell),
                )
            engine.heap[cell] = merged

    def _items(self, cell: Cell, a: Any, b: Any) -> Any:
        name = self._name_of(cell)
        if len(a) != len(b):
            return None
        if isinstance(cell, DictCell):
            if [k for k, _ in a] != [k for k, _ in b]:
                return None
            items = [(k, x if x is y else self.merge(f"{name}.{k}", x, y)) for (k, x), (_, y) in zip(a, b, strict=True)]
            return None if any(isinstance(i, Missing) for _, i in items) else tuple(items)
        items = tuple(
            x if x is y else self.merge(f"{name}.{k}", x, y) for k, (x, y) in enumerate(zip(a, b, strict=True))
        )
        return None if any(isinstance(i, Missing) for i in items) else items

    def merge(self, name: str, a: Any, b: Any) -> Any:
        """The object that is ``a`` after the true side and ``b`` after the false one; Missing if there is none."""
        if a is b:
            return a
        together = self._together(name, a, b)
        if together is not None:
            return together
        template, things = self._meet(name, a, b)
        if isinstance(template, Gone):
            return template.missing
        try:
            values = self._merged(template, name, things)
        except Conflict as conflict:
            return self._conflict(name, str(conflict))
        cells = [c for side, thing in zip(self.sides, things, strict=True) for c in cells_in(thing, side.heap)]

        def tied(cell: Cell) -> None:
            for other in cells:
                self.engine.tie(cell, other)

        return rebuild(self.engine, template, values, tied)

    def _together(self, name: str, a: Any, b: Any) -> Any:
        """Merge tuples, lists and dicts of equal structure item by item, so that items equal on both sides are kept;
        None for others.
        """
        one, two = self.sides
        if type(a) is tuple and type(b) is tuple and len(a) == len(b):
            pairs = list(zip(range(len(a)), a, b, strict=True))
        elif isinstance(a, ListCell) and isinstance(b, ListCell) and len(one.heap[a]) == len(two.heap[b]):
            pairs = list(zip(range(len(one.heap[a])), one.heap[a], two.heap[b], strict=True))
        elif isinstance(a, DictCell) and isinstance(b, DictCell):
            first, second = one.heap[a], two.heap[b]
            if [k for k, _ in first] != [k for k, _ in second]:
                return None
            pairs = [(k, x, y) for (k, x), (_, y) in zip(first, second, strict=True)]
        else:
            return None
        items = [(key, self.merge(f"{name}.{key}", x, y)) for key, x, y in pairs]
        gone = next((i for _, i in items if isinstance(i, Missing)), None)
        if gone is not None:
            return gone
        values = tuple(i for _, i in items)
        if type(a) is tuple:
            return values
        made = self.engine.new_list(values) if isinstance(a, ListCell) else self.engine.new_dict(tuple(items))
        self.engine.tie(made, a)
        self.engine.tie(made, b)
        return made

    def _meet(self, name: str, a: Any, b: Any) -> tuple[Template, list[Any]]:
        templates = []
        for side, thing in zip(self.sides, (a, b), strict=True):
            with self._within(side):
                templates.append(template_of(self.engine, thing))
        one, two = templates
        for first, side, template, other in ((True, self.sides[0], one, two), (False, self.sides[1], two, one)):
            unset = name == RESULT and isinstance(template, Gone) and template.missing.slug == "unbound"
            unneeded = unset if name == RESULT else side.returned
            if isinstance(template, Gone) and not isinstance(other, Gone) and unneeded:
                dummy = dummy_thing(other)
                return other, [dummy, b] if first else [a, dummy]
        if isinstance(one, Gone) and isinstance(two, Gone) and not (one.missing.after_break or two.missing.after_break):
            return one, []
        if isinstance(one, Gone) or isinstance(two, Gone):
            partial = self._after_break(name, a, b)
            if partial is not None:
                return Gone(partial), []
            return Gone(self._unset(name, one if isinstance(one, Gone) else two, isinstance(one, Gone))), []
        try:
            return unite(one, two), [a, b]
        except Conflict as conflict:
            if self.sides[0].returned and name != RESULT:
                return two, [dummy_thing(two), b]
            if self.sides[1].returned and name != RESULT:
                return one, [a, dummy_thing(one)]
            return Gone(self._conflict(name, str(conflict))), []

    def _after_break(self, name: str, a: Any, b: Any) -> Missing | None:
        """Missing with the variable's value if it has one on all paths that end in break, otherwise None."""
        flags = [side.vars.get(BREAK, False) for side in self.sides]
        if all(flag is False for flag in flags) and not any(isinstance(t, Missing) and t.after_break for t in (a, b)):
            return None
        things = []
        for thing, flag in zip((a, b), flags, strict=True):
            if isinstance(thing, Missing) and not thing.after_break and flag is not False:
                return None
            things.append(thing.partial if isinstance(thing, Missing) and thing.after_break else thing)
        if all(isinstance(t, Missing) for t in things):
            return None
        first, second = things
        with self._within(self.sides[0]):
            one = template_of(self.engine, first)
        with self._within(self.sides[1]):
            two = template_of(self.engine, second)
        if isinstance(one, Gone) or isinstance(two, Gone):
            template = two if isinstance(one, Gone) else one
            dummy = dummy_thing(template)
            things = [dummy if isinstance(t, Missing) else t for t in things]
            try:
                values = self._merged(template, name, things)
            except Conflict:
                return None
            merged = rebuild(self.engine, template, values)
        else:
            merged = self.merge(name, first, second)
            if isinstance(merged, Missing):
                return None
        sentence = f"{name!r} may have no value here: it is only set on the way to a break."
        return Missing(sentence, fix=f"give {name} a value before the loop.", after_break=True, partial=merged)

    def _unset(self, name: str, gone: Any, on_true: bool) -> Missing:
        missing = gone.missing
        if missing.slug != "unbound" or "may have" in missing.sentence:
            return Missing(missing.sentence, missing.slug, missing.fix)
        return Missing(
            f"{name!r} may have no value here: it is not set where the condition in line {self.line} is "
            f"{'true' if on_true else 'false'}.",
            fix=f"give {name} a value before the branch, or on both sides of it.",
        )

    def _conflict(self, name: str, text: str) -> Missing:
        lines = [side.lines.get(name) for side in self.sides]
        where = [f" (line {n})" if n else "" for n in lines]
        what = "the result" if name == RESULT else "the expression" if name == "value" else repr(name)
        first, _, second = text.partition(" and ")
        return Missing(
            f"{what} is {first} where the condition in line {self.line} is true{where[0]}, and {second} where it is "
            f"false{where[1]}.",
            slug="branch-types",
            fix="let both sides give the same kind of value: numbers, or arrays of one dtype.",
        )

    def _merged(self, template: Template, name: str, things: list[Any]) -> list[Value]:
        b = self.engine.builder
        ways = []
        for side, thing in zip(self.sides, things, strict=True):
            with self._within(side):
                ways.append(leaves(self.engine, template, thing))
        merged = []
        for on_true, on_false in zip(*ways, strict=True):
            inputs = [on_false.ref, on_true.ref]
            node = b.add_node("Merge", inputs, name=f"{self.name}/{name}", owner=self.sides[0].context)
            merged.append(Value(b, Ref(node), b.node(node).types[0], self.outer))
        return merged

    @contextmanager
    def _within(self, side: BranchSide) -> Iterator[None]:
        engine, heap = self.engine, self.engine.heap
        engine.heap, engine.builder.context = side.heap, side.context
        try:
            yield
        finally:
            engine.heap, engine.builder.context = heap, self.outer

    def _name_of(self, cell: Cell) -> str:
        return self.engine.reachable().get(cell, "array")


__all__ = ["Merger"]
