"""The names a condition depends on, by the statements of a body: independent of the graph's own slices."""

from __future__ import annotations

import ast


def names_in(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def assigned(body: list[ast.stmt]) -> set[str]:
    return {n.id for s in body for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


class Body:
    """For each variable of a loop, the variables at the begin of an iteration that its next value depends on."""

    def __init__(self, loop: ast.For | ast.While) -> None:
        self.loop = loop
        self.changed = assigned(loop.body) | (assigned([loop]) if isinstance(loop, ast.For) else set())
        self.leaves: set[str] = set()
        self.env: dict[str, set[str]] = {}
        self._block(loop.body, set())

    def _of(self, node: ast.AST) -> set[str]:
        return {d for name in names_in(node) for d in self.env.get(name, {name})}

    def _block(self, body: list[ast.stmt], control: set[str]) -> set[str]:
        """Run a block; gives what the statements after it are controlled by."""
        for s in body:
            if isinstance(s, ast.Assign | ast.AugAssign):
                read = self._of(s.value) | control
                for target in s.targets if isinstance(s, ast.Assign) else [s.target]:
                    for name in names_in(target):
                        keeps = isinstance(s, ast.AugAssign) or isinstance(target, ast.Subscript)
                        # under a condition the value from before may stay
                        stays = self.env.get(name, {name}) if keeps or control else set()
                        self.env[name] = read | stays
            elif isinstance(s, ast.If):
                before = dict(self.env)
                inside = control | self._of(s.test)
                after = self._block(s.body, inside)
                left, self.env = self.env, before
                other = self._block(s.orelse, inside)
                for name in {*left, *self.env}:
                    self.env[name] = left.get(name, {name}) | self.env.get(name, {name})
                if _jumps(s):
                    control = control | after | other | inside
            elif isinstance(s, ast.For | ast.While):
                for _ in range(3):
                    inside = control | self._of(s.iter if isinstance(s, ast.For) else s.test)
                    if isinstance(s, ast.For):
                        self.env.update({name: set(inside) for name in names_in(s.target)})
                    self._block(s.body, inside if isinstance(s, ast.While) else control)
            elif isinstance(s, ast.Break | ast.Continue | ast.Return):
                self.leaves |= control if not isinstance(s, ast.Continue) else set()
        return control

    def closure(self, names: set[str]) -> set[str]:
        """The loop's variables on whose values at the condition those of ``names`` depend, then and later."""
        found: set[str] = set()
        todo = set(names)
        while todo:
            name = todo.pop()
            if name in self.changed and name not in found:
                found.add(name)
                todo |= self.env.get(name, {name})
        return found

    def of_condition(self) -> set[str]:
        test = self.loop.iter if isinstance(self.loop, ast.For) else self.loop.test
        return self.closure(names_in(test) | self.leaves)


def _jumps(node: ast.AST) -> bool:
    return any(isinstance(n, ast.Break | ast.Continue | ast.Return) for n in ast.walk(node))
