"""Assumptions of a loop's capture at the start of an iteration, and their weakening at the end of the body."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from workbench.frontends.python.control.aliasing import Place, Sharing, value_of
from workbench.frontends.python.engine import Engine
from workbench.frontends.python.memory import root
from workbench.frontends.python.objects import BREAK, RESULT, RETURNED, ArrayCell, Cell, ListCell, Missing
from workbench.frontends.python.source_text import Names
from workbench.frontends.python.values.pytree import (
    Conflict,
    Fixed,
    Gone,
    Leaf,
    Many,
    Template,
    equal,
    identical,
    is_number,
    leaf_of,
    template_of,
    unite,
)
from workbench.frontends.python.values.pytree_leaves import items_of
from workbench.ir.builder.value import Value


@dataclass
class Assumptions(Sharing):
    """The assumptions about one loop. ``test`` returns a bool Value, ``body`` executes one iteration, ``sure`` means
    that there is at least one. ``hidden`` maps variables that do not exist in Python to the names shown for them.
    """

    engine: Engine
    node: ast.AST
    frame: str
    assigned: Names
    test: Callable[[], Value]
    body: Callable[[], None]
    sure: bool = False
    hidden: dict[str, str] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    names: dict[str, Template] = field(default_factory=dict)
    fresh: dict[str, Template] = field(default_factory=dict)
    gone: dict[str, Missing] = field(default_factory=dict)
    cells: dict[Cell, Any] = field(default_factory=dict)
    #: cells that may be at a place when an iteration begins, and pairs of places that may hold the same cell
    ends: dict[Place, dict[Cell, None]] = field(default_factory=dict)
    together: set[tuple[Place, Place]] = field(default_factory=set)
    #: fresh variables that have a value only if the loop is left by break
    only_broken: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        scope = self.engine.scope
        self._start, self._lines, self._heap = dict(scope.vars), dict(scope.lines), dict(self.engine.heap)

    def _fail(self, slug: str, sentence: str, fix: str | None = None) -> Any:
        self.engine.fail(self.node, slug, sentence, fix, construct="loop")

    # -- assumptions ---------------------------------------------------------------------------------------------
    def _assume(self) -> None:
        names = self.assigned
        order = [*self.hidden, *(n for n in names.order if n in names.bound or n in names.augmented), *self.flags]
        for name in dict.fromkeys((*order, *sorted(names.bound))):
            thing = self._start.get(name)
            if name not in self._start or isinstance(thing, Missing) or name == RESULT:
                continue
            only_augmented = name not in names.bound and name not in self.hidden
            held = only_augmented and isinstance(thing, Cell)
            self.names[name] = Fixed(thing) if held else self._opening(thing)
        for name in (*names.stored, *names.augmented):
            thing = self.engine.scope.vars.get(name)
            if isinstance(thing, Cell) and (name not in names.bound):
                self._assume_cell(root(thing))

    def _assume_cell(self, cell: Cell) -> None:
        if cell not in self.cells and cell in self._heap and cell.owner is None:
            now, self.engine.heap = self.engine.heap, self._heap  # as it was before the loop
            array = isinstance(cell, ArrayCell)
            self.cells[cell] = self._content_template(self._heap[cell]) if array else self._opening(cell)
            self.engine.heap = now

    def _content_template(self, content: Any) -> Template:
        """The template of an array's content."""
        found = Gone(content) if isinstance(content, Missing) else loosen(template_of(self.engine, content))
        return Leaf(found.type) if isinstance(found, Leaf) else found

    def _opening(self, thing: Any, inside: bool = False) -> Template:
        """The first assumption: numbers may change; arrays and lists inside other objects stay the same objects."""
        if isinstance(thing, Cell) and inside and thing in self._heap:
            return Fixed(thing)
        found = template_of(self.engine, thing)
        if isinstance(found, Many):
            items = tuple(self._opening(i, True) for i in items_of(self.engine, thing))
            return Many(found.kind, items, found.keys)
        return loosen(found)

    def _weaken(self, template: Template, end: Any) -> Template:
        """The template that covers ``template`` and ``end``; raises Conflict."""
        if isinstance(template, Fixed):
            if identical(template.value, end):
                return template
            if isinstance(template.value, Cell):
                template = self._opening(template.value)
        if isinstance(template, Many):
            found = template_of(self.engine, end)
            alike = isinstance(found, Many) and found.kind == template.kind and len(found.items) == len(template.items)
            if alike and isinstance(found, Many) and all(map(identical, template.keys, found.keys)):
                items = tuple(map(self._weaken, template.items, items_of(self.engine, end)))
                gone = next((i for i in items if isinstance(i, Gone)), None)
                return gone or Many(template.kind, items, template.keys)
        return unite(template, loosen(template_of(self.engine, end)))

    # -- after a trial ---------------------------------------------------------------------------------------------
    def _collect(self, begun: dict[Cell, Any]) -> bool:
        """Weaken the assumptions that the body violated; True if there was one."""
        engine, changed = self.engine, False
        now = engine.scope.vars
        for name, template in list(self.names.items()):
            end = now[name]
            if name in self.flags and end is False:  # the break or return is never reached
                del self.names[name]
                changed = True
                continue
            if isinstance(template, Fixed) and template.value is end:
                continue
            if isinstance(end, Missing):
                changed |= self._give_up(name, end)
                continue
            changed |= self._unite(name, template, self.names)
        for name, template in list(self.fresh.items()):
            if isinstance(now[name], Missing) and not (name in self.only_broken and now[name].after_break):
                del self.fresh[name]
                self.only_broken.discard(name)
                self.gone[name] = now[name]
                changed = True
            else:
                changed |= self._unite(name, template, self.fresh)
        for name in (*sorted(self.assigned.bound), *((RESULT,) if RETURNED in self.flags else ())):
            if name in self.names or name in self.fresh or name in self.gone:
                continue
            end = now.get(name)
            if isinstance(end, Missing) and end.after_break and BREAK in self.flags:
                self.only_broken.add(name)
                self.fresh[name] = self._opening(end.partial)
                changed = True
            elif name in now and not isinstance(end, Missing) and (self.sure or name == RESULT):
                found = template_of(engine, end)
                self.fresh[name] = found if name == RESULT and isinstance(found, Fixed) else self._opening(end)
                changed = True
        return self._collect_cells(begun) | self._collect_ties() | changed

    def _unite(self, name: str, template: Template, table: dict[str, Template]) -> bool:
        try:
            new = self._weaken(template, value_of(self.engine.scope.vars[name]))
        except Conflict as conflict:
            lines = [self._lines.get(name), self.engine.scope.lines.get(name)]
            where = [f" (line {n})" if n else "" for n in lines]
            first, _, second = str(conflict).partition(" and ")
            what = "The result" if name == RESULT else repr(name)
            missing = Missing(
                f"{what} is {first} before this loop{where[0]}, and {second} after an iteration{where[1]}.",
                slug="carried-type",
                fix="start with a value of the same kind and dtype.",
            )
            return self._give_up(name, missing)
        if isinstance(new, Gone):
            return self._give_up(name, new.missing)
        if equal(new, table.get(name, Gone(Missing("")))):
            return False
        table[name] = new
        return True

    def _give_up(self, name: str, missing: Missing) -> bool:
        self.names.pop(name, None)
        self.fresh.pop(name, None)
        self.gone[name] = missing
        return True

    def _collect_cells(self, begun: dict[Cell, Any]) -> bool:
        engine, changed = self.engine, False
        for cell in self._heap:
            if engine.heap[cell] is not begun[cell] and cell not in self.cells:
                self._assume_cell(cell)
                changed = True
        for cell, template in list(self.cells.items()):
            try:
                if isinstance(cell, ArrayCell):
                    new = unite(template, self._content_template(engine.heap[cell]))
                else:
                    new = self._weaken(template, cell)
            except Conflict as conflict:
                if isinstance(cell, ArrayCell):
                    return self._fail("carried-type", f"An array is {conflict} in this loop.")
                kind = "list" if isinstance(cell, ListCell) else "dict"
                line = engine.scope.text.line(self.node)
                engine.fail(
                    self.node,
                    f"{kind}-in-loop",
                    f"The {kind} {self._name_of(cell)!r} does not keep its length and "
                    f"kinds of items in the loop of line {line}: it is {conflict}.",
                    "make an array of the final size before the loop, with np.empty or np.zeros, and assign its items.",
                    construct=f"{kind} in a loop",
                    source=engine.changed.get(cell),
                )
            if not equal(new, template):
                self.cells[cell] = new
                changed = True
        return changed

    def _name_of(self, cell: Cell) -> str:
        return self.engine.reachable().get(cell, "asserted" if cell is self.engine.asserted else "array")


def loosen(template: Template) -> Template:
    """The template in which known numbers may change."""
    if isinstance(template, Fixed) and is_number(template.value):
        return leaf_of(template.value)
    if isinstance(template, Many):
        return Many(template.kind, tuple(map(loosen, template.items)), template.keys)
    return template


__all__ = ["Assumptions", "loosen"]
