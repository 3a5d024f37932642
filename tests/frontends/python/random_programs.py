"""Random loop programs as source text, and Python as their oracle.

A program is a module with a function ``f(i, j, x, y, p, v)`` (two ints, two floats, a bool, an array) and helpers that
it calls. Every loop is bounded. Names imply types: ``i*`` ints, ``x*`` floats, ``p*`` bools, ``s*`` scalars of NumPy,
``v*`` arrays. Results that a graph cannot represent (ints of more than 64 bits, complex powers) are detected by another
run with every operation watched, see :mod:`watched`.
"""

from __future__ import annotations

import importlib.util
import itertools
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from hypothesis import strategies as st

from tests.frontends.python.random_expressions import Expressions

HEADER = "import math\n\nimport numpy as np\n\n\n"
PARAMETERS = {"i": "int", "j": "int", "x": "float", "y": "float", "p": "bool", "v": "array"}
KINDS = {"int": "i", "float": "x", "bool": "p", "scalar": "s", "array": "v", "ints": "w"}
_serial = itertools.count()


class Writer(Expressions):
    """Writes one program: statements, helpers and the function."""

    def put(self, level: int, text: str) -> None:
        self.lines.append("    " * level + text)

    def block(self, scope: dict[str, str], level: int, loop: bool, returns: Callable[[dict[str, str]], str]) -> None:
        """Some statements; ``scope`` grows by what they define."""
        for _ in range(self.draw(st.integers(1, 4))):
            if self.left <= 0:
                break
            self.left -= 1
            self.statement(scope, level, loop, returns)
        self.put(level, "pass") if not self.lines or self.lines[-1].endswith(":") else None

    def statement(
        self, scope: dict[str, str], level: int, loop: bool, returns: Callable[[dict[str, str]], str]
    ) -> None:
        form = self.draw(st.integers(0, 17))
        if form <= 4 or level > 4:
            self.assignment(scope, level)
        elif form <= 6:
            self.augmented(scope, level)
        elif form == 7:
            self.several(scope, level)
        elif form == 8 and "array" in scope.values():
            self.item(scope, level)
        elif form == 16 and "array" in scope.values():
            self.shared(scope, level)
        elif form == 17:
            self.nested(scope, level)
        elif form <= 10:
            self.branch(scope, level, loop, returns)
        elif form <= 13:
            self.loop(scope, level, returns)
        elif form == 14 and loop:
            self.put(level, f"if {self._bool(scope, 2)}:")
            self.put(level + 1, self.pick("break", "continue"))
        elif form == 15 and self.chance(2):
            self.put(level, f"if {self._bool(scope, 2)}:")
            self.put(level + 1, returns(scope))
        else:
            self.assignment(scope, level)

    def target(self, kind: str, scope: dict[str, str]) -> str:
        name = self.of(kind, scope)
        return name if name and not self.chance(4) else f"{KINDS[kind]}{next(self.names)}"

    def kind(self, scope: dict[str, str]) -> str:
        arrays = ("scalar", "array", "ints") if "array" in scope.values() else ()
        return self.pick("int", "int", "float", "float", "bool", *arrays)

    def assignment(self, scope: dict[str, str], level: int) -> None:
        kind = self.kind(scope)
        value = self.expression(kind, scope, 3)
        name = self.target(kind, scope)
        self.put(level, f"{name} = {value}")
        scope[name] = kind

    def augmented(self, scope: dict[str, str], level: int) -> None:
        kind = self.pick("int", "float")
        name = self.of(kind, scope)
        if name is None:
            return self.assignment(scope, level)
        operators = ("+", "-", "*", "//", "%") if kind == "int" else ("+", "-", "*", "/")
        self.put(level, f"{name} {self.pick(*operators)}= {self.expression(kind, scope, 2)}")
        return None

    def several(self, scope: dict[str, str], level: int) -> None:
        kinds = [self.kind(scope) for _ in range(2)]
        values = [self.expression(k, scope, 2) for k in kinds]
        names = [self.target(k, scope) for k in kinds]
        if len(set(names)) == 2:
            self.put(level, f"{', '.join(names)} = {', '.join(values)}")
            scope.update(zip(names, kinds, strict=True))

    def item(self, scope: dict[str, str], level: int) -> None:
        name = self.of("array", scope)
        value = self.pick(self._float, self._int, self._scalar)(scope, 2)
        several = self.pick("1:3", f"{name} > 1.0", f"{self._int(scope, 0)}:")
        where = self.pick(self._index(scope, 2), self._index(scope, 2), several)
        self.put(level, f"{name}[{where}] {self.pick('=', '=', '+=', '*=')} {value}")

    def shared(self, scope: dict[str, str], level: int) -> None:
        """Two names for one array, a part of an array, two swapped items, a whole array changed in place."""
        name, new = self.of("array", scope), f"v{next(self.names)}"
        i, j = (self._index(scope, 1) for _ in range(2))
        form = self.draw(st.integers(0, 3))
        if form <= 1:
            self.put(level, f"{new} = {name}" if form else f"{new} = {name}[1:3]")
            self.put(level, f"{new}[{self.pick('0', '1', '-1')}] = {self._float(scope, 1)}")
            if form:
                scope[new] = "array"
        elif form == 2:
            self.put(level, f"{name}[{i}], {name}[{j}] = {name}[{j}], {name}[{i}]")
        else:
            self.put(level, f"{name} {self.pick('+', '-', '*')}= {self.pick(self._float, self._array)(scope, 1)}")

    def nested(self, scope: dict[str, str], level: int) -> None:
        """A local function that reads an enclosing variable, and a call of it."""
        function, name = f"g{next(self.names)}", self.target("float", scope)
        inner = {**scope, "i": "int"}
        if self.chance(2):
            self.put(level, f"{function} = lambda i: {self._float(inner, 2)}")
        else:
            self.put(level, f"def {function}(i):")
            self.put(level + 1, f"if {self._bool(inner, 1)}:")
            self.put(level + 2, f"return {self._float(inner, 1)}")
            self.put(level + 1, f"return {self._float(inner, 1)}")
        self.put(level, f"{name} = {function}({self._int(scope, 1)})")
        scope[name] = "float"

    def branch(self, scope: dict[str, str], level: int, loop: bool, returns: Callable[..., str]) -> None:
        scopes = []
        self.put(level, f"if {self._bool(scope, 3)}:")
        for k in range(self.draw(st.integers(1, 3))):
            if k:
                self.put(level, f"elif {self._bool(scope, 2)}:")
            scopes.append(dict(scope))
            self.block(scopes[-1], level + 1, loop, returns)
        if self.chance(2):
            self.put(level, "else:")
            scopes.append(dict(scope))
            self.block(scopes[-1], level + 1, loop, returns)
            scope.update({n: k for n, k in scopes[0].items() if all(s.get(n) == k for s in scopes)})

    def loop(self, scope: dict[str, str], level: int, returns: Callable[..., str]) -> None:
        form = self.draw(st.integers(0, 4))
        inner = dict(scope)
        if form <= 1:
            name = f"i{next(self.names)}"
            bounds = self.pick(
                "3", "5", "1, 4", "4, 0, -1", "0, 6, 2", f"{self._int(scope, 1)} % 4", f"{self._int(scope, 0)} % 3, 5"
            )
            self.put(level, f"for {name} in range({bounds}):")
            inner[name] = "int"
            self.block(inner, level + 1, True, returns)
        elif form == 2 and "array" in scope.values():
            name, count = f"s{next(self.names)}", f"i{next(self.names)}"
            array = self.of("array", scope)
            way = self.draw(st.integers(0, 3))
            if way <= 1:
                self.put(level, f"for {name} in {array}:")
            elif way == 2:
                self.put(level, f"for {count}, {name} in enumerate({array}):")
                inner[count] = "int"
            else:
                self.put(level, f"for {name}, s_{count} in zip({array}, {self.of('array', scope)}):")
            inner[name] = "scalar"
            self.block(inner, level + 1, True, returns)
        else:
            name = f"n{next(self.names)}"
            self.put(level, f"{name} = 0")
            condition = f"{name} < {self.draw(st.integers(1, 5))}"
            endless = form == 4
            self.put(level, "while True:" if endless else f"while {condition} and {self._bool(scope, 2)}:")
            if endless:
                self.put(level + 1, f"if not {condition}:")
                self.put(level + 2, "break")
            self.put(level + 1, f"{name} += 1")
            self.block(inner, level + 1, True, returns)
        if self.chance(6):
            self.put(level, "else:")
            self.block(dict(scope), level + 1, False, returns)

    # -- functions ------------------------------------------------------------------------------------------------
    def helper(self) -> None:
        kind, name = self.pick("int", "float"), f"h{len(self.helpers)}"
        scope = {"i": "int", "x": "float"}
        self.put(0, f"def {name}(i, x):")
        self.left, kept = 3, self.left
        self.block(scope, 1, False, lambda s: f"return {self.expression(kind, s, 1)}")
        self.put(1, f"return {self.expression(kind, scope, 2)}")
        self.lines += ["", ""]
        self.left = kept
        self.helpers.append((name, kind))

    def program(self) -> str:
        for _ in range(self.draw(st.integers(0, 2))):
            self.helper()
        scope = dict(PARAMETERS)
        self.put(0, f"def f({', '.join(scope)}):")
        self.put(1, "v = v.copy()")
        kinds = [self.pick("int", "float", "bool", "array", "scalar") for _ in range(self.draw(st.integers(1, 3)))]

        def returns(scope: dict[str, str]) -> str:
            return f"return {', '.join(self.expression(k, scope, 1) for k in kinds)}"

        while self.left > 0:
            self.block(scope, 1, False, returns)
        self.put(1, returns(scope))
        return HEADER + "\n".join(self.lines) + "\n"


@st.composite
def programs(draw: Callable[[Any], Any], statements: int = 14) -> str:
    """The source text of a program."""
    return Writer(draw, draw(st.integers(2, statements))).program()


def imported(source: str, folder: Path) -> ModuleType:
    """The program as a module from a file, so that its source can be found."""
    name = f"random_program_{next(_serial)}"
    path = folder / f"{name}.py"
    path.write_text(source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
