"""Random loops of integers and floats: guards, nested ifs, swaps, growth, wraps, multiplications, loops inside.

A program is Python text for ``wb.graph``. Its small dtypes wrap, round and overflow within iterations that can be run,
so that statements about billions of iterations are compared with thousands of real ones.
"""

from __future__ import annotations

import linecache
import random
from collections.abc import Callable
from typing import Any

import numpy as np

#: dtype -> the text of a number
DTYPES = {
    "int": "{}",
    "int8": "np.int8({})",
    "uint8": "np.uint8({})",
    "int16": "np.int16({})",
    "int32": "np.int32({})",
    "int64": "np.int64({})",
    "float": "{}.0",
    "dyadic": "{}.5",
    "decimal": "{}.1",
    "float16": "np.float16({})",
    "float32": "np.float32({}.25)",
}
_COUNT = iter(range(10**9))


class RandomLoop:
    """One program; ``text`` is its source and ``function`` the function."""

    def __init__(self, seed: int) -> None:
        self.r = random.Random(seed)
        self.dtype = self.r.choice(["int", "int", "int", *DTYPES])
        self.names = list("xyzw")[: self.r.choice([1, 2, 2, 3, 3, 4])]
        self.lines: list[str] = []
        self._write()
        self.text = "\n".join(self.lines) + "\n"
        self.function = function_of(self.text)

    def _number(self, low: int = -6, high: int = 9) -> str:
        n = self.r.randrange(low, high)
        if self.dtype.startswith("u"):
            n = abs(n)
        return DTYPES[self.dtype].format(n)

    def _write(self) -> None:
        r, out = self.r, self.lines
        out.append("def loop():")
        for name in self.names:
            far = r.random() < 0.25
            out.append(f"    {name} = {self._number(-100, 100) if far else self._number()}")
        if r.random() < 0.25:
            out.append("    up = True")
        self.flag = out[-1].endswith("True")
        out.append(f"    while {self._condition(True)}:")
        self._block(2, r.choice([1, 2, 2, 3, 4]), 2)
        if self.flag:
            out.append("        up = not up")
        out.append(f"    return {self.names[0]}")

    def _condition(self, outer: bool = False) -> str:
        r = self.r
        text = self._compare(outer)
        if r.random() < 0.2:
            text += r.choice([" and ", " or "]) + self._compare(outer)
        return text

    def _compare(self, outer: bool) -> str:
        r = self.r
        if self.flag_known() and not outer and r.random() < 0.3:
            return r.choice(["up", "not up"])
        left = r.choice(self.names) if r.random() < 0.7 else self._expression(1)
        right = self._number(-40, 60) if r.random() < 0.6 else r.choice(self.names)
        op = r.choice(["<", ">", "!=", "!=", "<=", ">="] if outer else ["<", ">", "<=", ">=", "==", "!="])
        return f"{left} {op} {right}"

    def flag_known(self) -> bool:
        return getattr(self, "flag", False)

    def _block(self, depth: int, count: int, nest: int) -> None:
        r, pad = self.r, "    " * depth
        for _ in range(count):
            kind = r.random()
            if kind < 0.3 and nest:
                self.lines.append(f"{pad}if {self._condition()}:")
                self._block(depth + 1, r.choice([1, 1, 2]), nest - 1)
                if r.random() < 0.6:
                    self.lines.append(f"{pad}else:")
                    self._block(depth + 1, 1, nest - 1)
            elif kind < 0.38 and len(self.names) > 1:
                a, b = r.sample(self.names, 2)
                self.lines.append(f"{pad}{a}, {b} = {b}, {self._expression(1, a)}")
            elif kind < 0.42 and nest == 2:
                self.lines.append(f"{pad}j = {DTYPES[self.dtype].format(0)}")
                self.lines.append(f"{pad}while j < {DTYPES[self.dtype].format(r.randrange(1, 5))}:")
                self.lines.append(f"{pad}    j = j + {DTYPES[self.dtype].format(1)}")
                self.lines.append(f"{pad}{self.names[0]} = {self.names[0]} + j")
            elif kind < 0.46 and nest < 2:
                self.lines.append(f"{pad}{r.choice(self.names)} = {self._number()}")
            else:
                name = r.choice(self.names)
                self.lines.append(f"{pad}{name} = {self._expression(r.choice([1, 1, 1, 2]), name)}")

    def _expression(self, depth: int, name: str | None = None) -> str:
        r = self.r
        one = name or r.choice(self.names)
        kind = r.random()
        if kind < 0.5 or depth == 0:
            return f"{one} {r.choice('+-')} {self._number()}"
        if kind < 0.68:
            return f"{one} {r.choice('+-')} {r.choice(self.names)}"
        if kind < 0.74:
            return f"{one} * {self._number(-2, 4)}"
        if kind < 0.79 and not self.dtype.startswith("u"):
            return f"-{one} {r.choice('+-')} {self._number()}"
        if kind < 0.83:
            return f"abs({one}) {r.choice('+-')} {self._number()}"
        if kind < 0.87:
            return f"{r.choice(['min', 'max'])}({one}, {self._number(-20, 40)})"
        if kind < 0.91 and "float" not in self.dtype and self.dtype not in ("dyadic", "decimal"):
            return f"{one} {r.choice(['%', '//'])} {DTYPES[self.dtype].format(r.randrange(2, 9))}"
        if kind < 0.95 and depth > 1:
            return f"({self._expression(1)}) {r.choice('+-')} ({self._expression(1)})"
        return f"{one} + ({self._number()} if {self._compare(False)} else {self._number()})"


def function_of(text: str) -> Callable[[], Any]:
    """The function ``loop`` of a text, whose lines can be found by ``inspect``."""
    file = f"<loop {next(_COUNT)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    scope: dict[str, Any] = {"np": np}
    exec(compile(text, file, "exec"), scope)
    return scope["loop"]
