"""Random loops as Python sources whose end is known: the source is run by Python itself, which records the end.

A source is a function whose only loop records how it was left: the truth comes from Python's execution, with the
operands that Python compared, and not from the analysis.
"""

from __future__ import annotations

import linecache
import math
import random
from typing import Any, NamedTuple

import numpy as np

import workbench as wb

#: updates of a positive number that shrink it, one that makes it NaN, and one that stays
UPDATES = (
    "x * 0.5",
    "x * 0.9",
    "x - x * x * 0.1",
    "x / (x + 1.0)",
    "x * x * 3.0 - x * x * x",
    "x + 0.0",
    "np.sqrt(x - 0.3)",
)
STARTS = (0.5, 1.0, 2.0, 10.0, 1e3)
TOLERANCES = (0.3, 1e-2, 1e-4, 1e-300)


class Program(NamedTuple):
    """``source`` for the analysis, ``noted`` the same with records of its end, and the arguments."""

    source: str
    noted: str
    arguments: tuple[Any, ...]


def program(rng: random.Random) -> Program:
    """One loop of a random kind: while, while with a limit in either order, for with break or return, and endless."""
    update, n = rng.choice(UPDATES), rng.randint(1, 30)
    kind = rng.choice(
        ("while", "limit first", "limit last", "for break", "for return", "for", "true", "flag", "isfinite")
    )
    test = rng.choice(("x > tol", "np.abs(x) > tol", "tol < x", "not x <= tol"))
    met = {
        "x > tol": "x <= tol",
        "np.abs(x) > tol": "np.abs(x) <= tol",
        "tol < x": "tol >= x",
        "not x <= tol": "x <= tol",
    }
    body = [f"x = {update}", "k += 1"]
    lines = {
        "while": [f"while {test} and k < 1000:", *_in(body)],
        "limit first": [f"while k < n and {test}:", *_in(body)],
        "limit last": [f"while {test} and k < n:", *_in(body)],
        "for break": ["for j in range(n):", *_in([*body, f"if {met[test]}:", "    break"])],
        "for return": ["for j in range(n):", *_in([*body, f"if {met[test]}:", "    return x, k"])],
        "for": ["for j in range(n):", *_in(body)],
        "true": ["while True:", *_in([*body, f"if {met[test]}:", "    break", "if k >= n:", "    break"])],
        "flag": ["done = False", "while not done and k < n:", *_in([*body, f"done = bool({met[test]})"])],
        "isfinite": [f"while {test} and np.isfinite(x) and k < n:", *_in(body)],
    }[kind]
    head = "def loop(x, tol, n):\n    k = 0\n"
    source = head + "".join(f"    {line}\n" for line in lines) + "    return x, k\n"
    return Program(source, kind, (rng.choice(STARTS), rng.choice(TOLERANCES), n))


def _in(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def graph_of(found: Program, name: str) -> wb.Graph:
    """The captured function; its source is where ``inspect`` looks for it."""
    linecache.cache[name] = (len(found.source), None, found.source.splitlines(True), name)
    space: dict[str, Any] = {"np": np}
    exec(compile(found.source, name, "exec"), space)
    return wb.graph(space["loop"]).graph_for(*found.arguments)


def truth(found: Program) -> tuple[str, int]:
    """(slug of the loop's end, iterations), from a plain Python execution with the meaning of each kind."""
    (x, tol, n), k, kind = found.arguments, 0, found.noted
    x = np.float64(x)
    lines = found.source.splitlines()
    update = next(line.split("= ", 1)[1] for line in lines if line.strip().startswith("x = "))
    step = eval("lambda x: " + update, {"np": np})
    negated = "not x <= tol" in found.source and kind not in ("for break", "for return", "true", "flag")

    size = abs if "np.abs(x)" in found.source else float

    def holds() -> bool:
        return not size(x) <= tol if negated else bool(size(x) > tol)

    def bad() -> bool:
        return math.isnan(x)

    with np.errstate(all="ignore"):
        limit = 1000 if kind == "while" else n
        if kind == "for":
            return "ended", n
        if kind in ("for break", "for return"):
            while k < n:
                x, k = step(x), k + 1
                if size(x) <= tol:
                    return "left", k
            return "cut-off", n
        if kind == "true":
            while True:
                x, k = step(x), k + 1
                if size(x) <= tol or k >= n:
                    return "left", k
        if kind == "flag":
            while k < n:
                x, k = step(x), k + 1
                if size(x) <= tol:
                    return "ended", k
            return "cut-off", n
        while True:
            finite = kind != "isfinite" or math.isfinite(x)
            if kind == "limit first" and k >= limit:
                return "cut-off", k  # and the other comparison is no longer evaluated
            if not holds():
                return ("not-finite" if bad() else "ended"), k
            if not finite:
                return "not-finite", k
            if k >= limit:
                return "cut-off", k
            x, k = step(x), k + 1
