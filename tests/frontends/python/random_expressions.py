"""Random expressions of Python's numbers and NumPy's arrays, as source text, for the random programs."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st


class Expressions:
    """Writes expressions. ``scope`` maps the names that are certainly defined to their types."""

    def __init__(self, draw: Callable[[Any], Any], statements: int) -> None:
        self.draw = draw
        self.left = statements
        self.lines: list[str] = []
        self.names = itertools.count(1)
        self.helpers: list[tuple[str, str]] = []

    def pick(self, *choices: Any) -> Any:
        return choices[self.draw(st.integers(0, len(choices) - 1))]

    def chance(self, one_in: int) -> bool:
        return self.draw(st.integers(0, one_in - 1)) == one_in - 1

    def of(self, kind: str, scope: dict[str, str]) -> str | None:
        found = [n for n, k in scope.items() if k == kind]
        return self.pick(*found) if found else None

    def expression(self, kind: str, scope: dict[str, str], depth: int = 2) -> str:
        return getattr(self, f"_{kind}")(scope, depth)

    def _int(self, scope: dict[str, str], depth: int) -> str:
        name = self.of("int", scope)
        if depth <= 0 or self.chance(4):
            return name if name and not self.chance(3) else str(self.pick(0, 1, 2, 3, 5, 7, 10, -1, -4, 100, 2**31))
        a, b = (self._int(scope, depth - 1) for _ in range(2))
        form = self.draw(st.integers(0, 13))
        if form <= 4:
            return f"({a} {self.pick('+', '-', '*')} {b})"
        if form == 5:
            return f"({a} // {self.pick(b, '3', '-2')})"
        if form == 6:
            return f"({a} % {self.pick(b, '7', '5', '-3')})"
        if form == 7:
            return f"{self.pick('min', 'max')}({a}, {b})"
        if form == 8:
            return self.pick(f"abs({a})", f"(-{a})", f"({a}) ** 2", f"({a} & {b})", f"({a} ^ {b})", f"({a} | {b})")
        if form == 9:
            return f"int({self._float(scope, depth - 1)})"
        if form == 10:
            return f"({a} if {self._bool(scope, depth - 1)} else {b})"
        if form == 11 and "array" in scope.values():
            whole = f"{self.of('ints', scope)}[{self._index(scope, depth)}]" if "ints" in scope.values() else "v[0]"
            return self.pick(f"len({self.of('array', scope)})", f"int({whole})")
        if form == 12 and self.helpers:
            return self._helper("int", scope, depth)
        return self.pick(
            f"round({self._float(scope, depth - 1)})",
            f"({self._bool(scope, depth - 1)} + {a})",
            f"math.floor({self._float(scope, depth - 1)})",
        )

    def _float(self, scope: dict[str, str], depth: int) -> str:
        name = self.of("float", scope)
        if depth <= 0 or self.chance(4):
            constant = self.pick("0.5", "1.0", "2.0", "-1.5", "0.1", "3.7", "1e3", "0.0")
            return name if name and not self.chance(3) else constant
        a, b = (self._float(scope, depth - 1) for _ in range(2))
        number = self._int(scope, depth - 1)
        form = self.draw(st.integers(0, 14))
        if form <= 4:
            return f"({a} {self.pick('+', '-', '*')} {self.pick(a, b, number)})"
        if form == 5:
            return f"({a} / {self.pick(b, '3.0', number)})"
        if form == 6:
            return f"({number} / {self.pick(self._int(scope, depth - 1), '3', '-7')})"
        if form == 7:
            return f"({a} {self.pick('//', '%')} {self.pick(b, '2.5', number)})"
        if form == 8:
            return f"{self.pick('min', 'max')}({a}, {b})"
        if form == 9:
            return self.pick(f"abs({a})", f"(-{a})", f"({a}) ** 2", f"({name or 2.5}) ** 0.5", f"float({number})")
        if form == 10:
            return f"math.{self.pick('sqrt', 'sin', 'exp', 'atan', 'log')}({a})"
        if form == 11:
            return f"({a} if {self._bool(scope, depth - 1)} else {b})"
        if form == 12 and "array" in scope.values():
            return f"float({self._element(scope, depth)})"
        if form == 13 and self.helpers:
            return self._helper("float", scope, depth)
        return f"round({a}, {self.pick(0, 1, 2)})"

    def _bool(self, scope: dict[str, str], depth: int) -> str:
        name = self.of("bool", scope)
        if depth <= 0:
            return name or self.pick("True", "False")
        form = self.draw(st.integers(0, 10))
        order = self.pick("<", "<=", ">", ">=", "==", "!=")
        if form <= 2:
            return f"({self._int(scope, depth - 1)} {order} {self._int(scope, depth - 1)})"
        if form == 3:
            return f"({self._float(scope, depth - 1)} {order} {self.pick(self._float, self._int)(scope, depth - 1)})"
        if form == 4:
            first, last = self._int(scope, depth - 1), self._int(scope, depth - 1)
            return f"({first} {self.pick('<', '<=')} {self._float(scope, depth - 1)} {order} {last})"
        if form <= 6:
            return f"({self._bool(scope, depth - 1)} {self.pick('and', 'or')} {self._bool(scope, depth - 1)})"
        if form == 7:
            return f"(not {self._bool(scope, depth - 1)})"
        if form == 8:
            return f"({self._int(scope, depth - 1)} {self.pick('in', 'not in')} (0, 1, 3, 7))"
        if form == 9 and "array" in scope.values():
            # bool(): a value that is NumPy's on one path and Python's on another is NumPy's in a graph
            elements = f"{self.of('array', scope)} {order} {self._float(scope, depth - 1)}"
            return f"bool(np.{self.pick('any', 'all')}({elements}))"
        return name or f"({self._int(scope, depth - 1)} > 0)"

    def _scalar(self, scope: dict[str, str], depth: int) -> str:
        name = self.of("scalar", scope)
        if name and (depth <= 0 or self.chance(3)):
            return name
        element = self._element(scope, depth)
        if depth <= 0:
            return element
        form = self.draw(st.integers(0, 5))
        if form <= 1:
            other = self.pick(self._scalar, self._float, self._int)(scope, depth - 1)
            return f"({element} {self.pick('+', '-', '*', '/')} {other})"
        if form == 2:
            return f"np.{self.pick('sum', 'max', 'min', 'mean')}({self.of('array', scope)})"
        if form == 3:
            return f"np.{self.pick('sqrt', 'abs', 'floor', 'exp')}({element})"
        return element

    def _array(self, scope: dict[str, str], depth: int) -> str:
        name = self.of("array", scope)
        form = self.draw(st.integers(0, 8))
        if depth <= 0 or form == 0:
            return f"{name}.copy()"
        other = self.pick(self._array, self._float, self._int, self._scalar)(scope, depth - 1)
        if form <= 3:
            return f"({name} {self.pick('+', '-', '*', '/')} {other})"
        if form == 4:
            return f"np.where({name} > {self._float(scope, depth - 1)}, {name}, {other})"
        if form == 5:
            return f"np.{self.pick('abs', 'sqrt', 'cumsum', 'sort', 'floor')}({name})"
        if form == 6:
            return f"np.maximum({name}, {other})"
        return self.pick(
            f"np.clip({name}, -1.0, 2.5)",
            f"{name}[::-1] * 2.0",
            f"(-{name})",
            f"np.zeros(len({name}))",
            f"np.full(4, {self._float(scope, depth - 1)})",
        )

    def _ints(self, scope: dict[str, str], depth: int) -> str:
        name = self.of("ints", scope)
        number = self._int(scope, max(depth - 1, 0))
        if name is None:
            return self.pick("np.arange(4)", f"np.array([3, 1, 2, {number}])", "np.zeros(4, dtype=np.int64)")
        form = self.draw(st.integers(0, 5))
        if form <= 1:
            return f"({name} {self.pick('+', '-', '*', '//', '%')} {self.pick(name, '3', number)})"
        return self.pick(
            f"{name}.copy()",
            f"np.cumsum({name})",
            f"np.sort({name})",
            f"np.abs({name})",
            f"(-{name})",
            f"{name}[::-1].copy()",
            f"({self.of('array', scope)} > 0.0).astype(np.int64)",
        )

    def _element(self, scope: dict[str, str], depth: int) -> str:
        return f"{self.of('array', scope)}[{self._index(scope, depth)}]"

    def _index(self, scope: dict[str, str], depth: int) -> str:
        number = self._int(scope, min(depth - 1, 1))
        return self.pick(f"{number} % 4", str(self.draw(st.integers(-4, 3))), f"{number} % 4 - 4", f"{number} % 5")

    def _helper(self, kind: str, scope: dict[str, str], depth: int) -> str:
        found = [n for n, k in self.helpers if k == kind]
        if not found:
            return self.expression(kind, scope, depth - 1)
        return f"{self.pick(*found)}({self._int(scope, depth - 1)}, {self._float(scope, depth - 1)})"
