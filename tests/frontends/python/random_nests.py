"""Random small programs of nested loops and branches, as source text, often with loop invariants as conditions.

A program is ``f(p, q, m, x)`` (two bools and two numbers that never change). Its variables all have a value from the
beginning, every loop is bounded, and numbers stay small; the returned variables are drawn too, so that many results are
never read.
"""

from __future__ import annotations

import random

VARIABLES = ("a", "b", "c", "n", "k")  # the first three are floats
FLAGS = ("s", "t")


class Nests:
    """Writes one program: ``Nests(random.Random(seed)).program()``."""

    def __init__(self, r: random.Random, most: int = 12, depth: int = 4) -> None:
        self.r, self.left, self.depth = r, r.randint(2, most), depth
        self.lines: list[str] = []
        self.counters: list[str] = []
        self.made = 0

    def program(self) -> str:
        given = self.r.sample(VARIABLES + FLAGS, self.r.randint(1, 3))
        self.back = f"return {', '.join(given)}"
        self.put(0, "def f(p, q, m, x):")
        self.put(1, "a, b, c, n, k, s, t = 0.0, x, 1.0, 0, m, False, p")
        while self.left > 0:
            self.statement(1, False)
        self.put(1, self.back)
        return "\n".join(self.lines) + "\n"

    def put(self, level: int, text: str) -> None:
        self.lines.append("    " * level + text)

    def pick(self, *ways: str) -> str:
        return self.r.choice(ways)

    def block(self, level: int, loop: bool) -> None:
        for _ in range(self.r.choice((1, 1, 2, 3))):
            self.statement(level, loop)

    def statement(self, level: int, loop: bool) -> None:
        self.left -= 1
        form = self.r.random()
        if self.left < 0 or level > self.depth or form < 0.4:
            self.assignment(level, loop)
        elif form < 0.65:
            self.branch(level, loop)
        elif form < 0.92:
            self.loop(level)
        else:
            self.put(level, f"if {self.condition(loop)}:")
            self.put(level + 1, self.pick("break", "continue") if loop and self.r.random() < 0.7 else self.back)

    def branch(self, level: int, loop: bool) -> None:
        self.put(level, f"if {self.condition(loop)}:")
        self.block(level + 1, loop)
        if self.r.random() < 0.3:
            self.put(level, f"elif {self.condition(loop)}:")
            self.block(level + 1, loop)
        if self.r.random() < 0.7:
            self.put(level, "else:")
            self.block(level + 1, loop)

    def loop(self, level: int) -> None:
        self.made += 1
        name, trips = f"i{self.made}", self.pick("2", "3", "m", "m + 1", "0")
        form = self.r.random()
        if form < 0.6:
            self.put(level, f"for {name} in range({trips}):")
        else:
            self.put(level, f"{name} = 0")
            test = f"{name} < {trips}"
            self.put(level, f"while {test}:" if form < 0.8 else f"while {test} and ({self.condition(True)}):")
            self.put(level + 1, f"{name} += 1")
        self.counters.append(name)
        self.block(level + 1, True)
        self.counters.pop()
        if self.r.random() < 0.1:
            self.put(level, "else:")
            self.block(level + 1, False)

    def assignment(self, level: int, loop: bool) -> None:
        form = self.r.random()
        if form < 0.15:
            self.put(level, f"{self.pick(*FLAGS)} = {self.condition(loop)}")
        elif form < 0.65:
            self.put(level, f"{self.pick('a', 'b', 'c')} = {self.float()}")
        else:
            self.put(level, f"{self.pick('n', 'k')} = {self.int()} % 7")

    def int(self) -> str:
        one = self.pick("n", "k", "m", "2", *self.counters[-2:])
        return self.pick(one, f"({one} + {self.pick('n', 'k', 'm', '1')})", f"({one} * 3)")

    def float(self) -> str:
        return self.pick(
            "x",
            "1.5",
            self.pick("a", "b", "c"),
            f"x * {self.int()}",
            f"{self.pick('a', 'b', 'c')} * 0.5",
            f"{self.pick('a', 'b', 'c')} - {self.pick('a', 'b', 'x', '1.0')} * 0.5",
        )

    def condition(self, loop: bool) -> str:
        """A condition, mostly on loop invariants."""
        kind = self.r.random()
        if kind < 0.55:
            return self.pick("p", "q", "not p", "m > 2", "p and q", "x > 1.0")
        if kind < 0.7:
            return self.pick("s", "t", "s or p", "not t")
        return f"{self.int()} {self.pick('<', '>', '==')} {self.pick('2', 'm', 'n')}"
