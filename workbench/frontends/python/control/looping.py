"""Loops: the loop variables and their types are found by trial captures.

The body is captured under assumptions (the type of each variable at the beginning of an iteration); if the end of the
body violates them they are widened, and the body is captured again. Each retry only weakens assumptions, so this
terminates. A variable without an assumption is Missing inside and after the loop, which is an error only if it is read.
Values used only within an iteration are not loop variables, and unread values are removed when the graph is finished
(``dead_code.py``).
"""

from __future__ import annotations

from typing import Any

from workbench.frontends.python.control.aliasing import Place, value_of
from workbench.frontends.python.control.widening import Assumptions
from workbench.frontends.python.objects import BREAK, CONTINUE, RETURNED, ArrayCell, Cell, ListCell, Missing
from workbench.frontends.python.values.pytree import Conflict, Gone, Leaf, Many, Template
from workbench.frontends.python.values.pytree_leaves import dummy_thing, leaves, places_in, rebuild
from workbench.ir.builder.rollback import RollbackPoint
from workbench.ir.builder.value import Value

#: maximum number of captures of one body; more would mean that an assumption does not converge
MAX_TRIALS = 100


class RetryWiderTypes(Exception):
    """The assumptions have changed: the loop must be captured again."""


class NeverRuns(Exception):
    """The condition is false from the beginning for all arguments."""


class CapturedLoop(Assumptions):
    """One loop under capture."""

    def run(self) -> bool:
        """Capture the loop; returns False, without any change, if it never runs."""
        scope = self.engine.scope
        self._assume()
        for _ in range(MAX_TRIALS):
            begun = [self._places(key, self._start, self._heap) for key in (*self.names, *self._lists())]
            self._pair({place: cell for places in begun for place, cell in places.items()})
            mark = RollbackPoint(self.engine.builder)
            try:
                exits = self._trace()
            except (RetryWiderTypes, NeverRuns) as reason:
                mark.roll_back()
                scope.vars, scope.lines, self.engine.heap = dict(self._start), dict(self._lines), dict(self._heap)
                if isinstance(reason, NeverRuns):
                    return False
            else:
                self._leave(exits)
                return True
        return self._fail("carried-type", "The types of this loop's variables do not settle.")

    # -- one trial -------------------------------------------------------------------------------------------------
    def _trace(self) -> dict[str, Value]:
        b = self.engine.builder
        self._slots: list[tuple[Any, Template, list[str]]] = []
        init: dict[str, Value] = {}
        types = {}
        for key, template, thing in self._carried():
            values = self._leaves(key, template, thing)
            kinds = list(leaf_types(template))
            base = self.hidden.get(key, key) if isinstance(key, str) else self._name_of(key)
            labels = []
            for k, (value, type_) in enumerate(zip(values, kinds, strict=True)):
                label = base if len(values) == 1 else f"{base}.{k}"
                while label in init:
                    label += "'"
                labels.append(label)
                init[label] = value
                if type_ != value.type:
                    types[label] = type_
            self._slots.append((key, template, labels))
        if not init:
            init["trip"] = b.constant(False)
        return b.while_loop(self._test, self._body, init, name=self.frame, types=types)

    def _carried(self) -> list[tuple[Any, Template, Any]]:
        found: list[tuple[Any, Template, Any]] = [(n, t, self._start[n]) for n, t in self.names.items()]
        found += [(n, t, dummy_thing(t)) for n, t in self.fresh.items()]
        return found + [(c, t, self._held(c, t)) for c, t in self.cells.items()]

    def _held(self, cell: Cell, template: Template) -> Any:
        return None if isinstance(template, Gone) else cell if isinstance(cell, ArrayCell) else self._items(cell)

    def _items(self, cell: Cell) -> tuple[Any, ...]:
        content = self.engine.heap[cell]
        return content if isinstance(cell, ListCell) else tuple(i for _, i in content)

    def _leaves(self, key: Any, template: Template, thing: Any) -> list[Value]:
        try:
            return leaves(self.engine, template, thing)
        except Conflict as conflict:
            return self._fail("carried-type", f"{key!r} is {conflict} in this loop.")

    def _environment(self, values: dict[str, Value], inside: bool) -> None:
        """Variables and heap at the beginning of an iteration, or after the loop."""
        engine, scope = self.engine, self.engine.scope
        scope.vars, scope.lines, engine.heap = dict(self._start), dict(self._lines), dict(self._heap)
        made: dict[Place, Cell] = {}
        for key, template, labels in self._slots:
            given = [values[label] for label in labels]
            if isinstance(key, str):
                if inside and key in self.fresh:
                    continue
                thing = rebuild(engine, template, given)
                scope.vars[key] = thing
                if key in self.only_broken:
                    scope.vars[key] = Missing(
                        f"{key!r} may have no value here: it is only set on the way to a break.",
                        fix=f"give {key} a value before the loop.",
                        after_break=True,
                        partial=thing,
                    )
                made.update(((key, *p), c) for p, c in places_in(thing, engine.heap).items() if c not in self._heap)
            elif isinstance(key, ArrayCell):
                engine.heap[key] = given[0] if given else rebuild(engine, template, given)
            else:
                thing = rebuild(engine, template, given)
                inner = places_in(thing, engine.heap).items()
                made.update(((key, *p), c) for p, c in inner if p and c not in self._heap)
                engine.heap[key] = engine.heap.pop(thing)
        self._link(made)
        scope.vars.update(self.gone)
        line = scope.text.line(self.node)
        for name in self.assigned.bound | self.assigned.augmented:
            if name not in self.names and name not in self.gone and (inside or name not in self.fresh):
                why = "may not have come there yet." if inside else "may run no times or leave before that."
                scope.vars[name] = Missing(
                    f"{name!r} may have no value here: it is only set inside the loop in line {line}, which {why}",
                    fix=f"give {name} a value before the loop.",
                )

    def _link(self, made: dict[Place, Cell]) -> None:
        """Record which of the new arrays may be old ones, or the same."""
        for place, cell in made.items():
            for other in self._may_hold(place):
                self.engine.link(cell, other)
        for one, two in self.together:
            if one in made and two in made:
                self.engine.link(made[one], made[two])

    def _test(self, **values: Value) -> Value:
        engine = self.engine
        self._environment(values, inside=True)
        before, heap = dict(engine.scope.vars), dict(engine.heap)
        with engine.at(self.node):
            result = self.test()
        changed = [n for n, v in engine.scope.vars.items() if before.get(n) is not v]
        if changed or any(engine.heap[c] is not v for c, v in heap.items()):
            self._fail(
                "effect-in-condition",
                "The condition of this loop changes a variable or an array.",
                "write while True, and the condition as an if with break in the body.",
            )
        return result

    def _body(self, **values: Value) -> dict[str, Value]:
        engine, scope = self.engine, self.engine.scope
        self._environment(values, inside=True)
        for flag in (BREAK, CONTINUE, RETURNED):
            scope.vars[flag] = False
        begun = dict(engine.heap)
        self.body()
        for flag in self.flags:
            scope.vars.setdefault(flag, False)
        if self._collect(begun):
            raise RetryWiderTypes
        result: dict[str, Value] = {}
        for key, template, labels in self._slots:
            thing = value_of(scope.vars[key]) if isinstance(key, str) else self._held(key, template)
            given = self._leaves(key, template, thing)
            result.update(zip(labels, given, strict=True))
        return result or {"trip": next(iter(values.values()))}

    def _leave(self, exits: dict[str, Value]) -> None:
        lines = dict(self.engine.scope.lines)
        self._environment(exits, inside=False)
        self.engine.scope.lines = {**lines, **{k: max(v, lines.get(k, 0)) for k, v in self._lines.items()}}


def leaf_types(template: Template) -> Any:
    """Types of the values in a template, in order."""
    if isinstance(template, Leaf):
        yield template.type
    elif isinstance(template, Many):
        for item in template.items:
            yield from leaf_types(item)


__all__ = ["CapturedLoop", "NeverRuns"]
