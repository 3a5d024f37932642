"""Small graphs that the tests of the views share."""

from __future__ import annotations

import numpy as np

import workbench as wb

EVIL = "<img src=x onerror=alert(1)>"


def newton(tol: float = 1e-12, name: str = "newton") -> wb.Graph:
    """Square root of ``a`` from the start ``x0``: one loop, one variable, one comparison, one invariant."""
    b = wb.GraphBuilder(name)
    a = b.placeholder("a", "float64", ())
    x0 = b.placeholder("x0", "float64", ())
    root = b.while_loop(lambda x: np.abs(x * x - a) > tol, lambda x: 0.5 * (x + a / x), x0)
    return b.build({"root": root})


def nested() -> wb.Graph:
    """A loop in a loop, and a branch in the outer one."""
    b = wb.GraphBuilder("nested")
    n = b.placeholder("n", "int64", ())
    zero = b.constant(0, "int64")

    def outer(i, s):
        start = b.constant(0, "int64")
        _, t = b.while_loop(lambda j, t: j < i, lambda j, t: (j + 1, t + j), (start, s), name="inner")
        return i + 1, b.cond(t > 10, lambda: t - 3, lambda: t + 1)

    i, s = b.while_loop(lambda i, s: i < n, outer, (zero, zero), name="outer")
    return b.build({"i": i, "s": s})


def counter(limit: float = -1.0) -> wb.Graph:
    """Counts up until ``limit``; with the default it never stops."""
    b = wb.GraphBuilder("counter")
    start = b.placeholder("start", "float64", ())
    i = b.while_loop(lambda i: np.not_equal(i, limit), lambda i: i + 1.0, start)
    return b.build({"i": i})


def chaotic(n: int) -> wb.Graph:
    """``x`` of ``n`` iterations that look random, for what is made of long series."""
    b = wb.GraphBuilder("long")
    _, x = b.while_loop(
        lambda i, x: i < n,
        lambda i, x: (i + 1, np.sin(x * 12.9898 + 78.233)),
        (b.constant(0, "int64"), b.constant(0.5)),
    )
    return b.build({"out": x})


def flat() -> wb.Graph:
    """No loop: ``y`` is ``x`` and one."""
    b = wb.GraphBuilder("flat")
    return b.build({"y": b.placeholder("x", "float64", ()) + 1.0})


def one() -> wb.Graph:
    """The smallest graph: a constant."""
    b = wb.GraphBuilder("one")
    return b.build({"y": b.constant(1.0)})


def evil() -> wb.Graph:
    """Names with tags in them, in every place where a name can stand."""
    b = wb.GraphBuilder(f"g{EVIL}")
    x0 = b.placeholder(f"x{EVIL}", "float64", ())
    x = b.while_loop(lambda v: v < 10.0, lambda v: v + 1.0, x0, name=f"loop{EVIL}")
    return b.build({f"out{EVIL}": x})


def quotients(n: int) -> wb.Graph:
    """100 divided by k from n down: the division fails where k is 0."""

    @wb.graph
    def quotients(n):
        k = n
        q = n
        while k > -3:
            q = 100 // k
            k = k - 1
        return q

    return quotients.graph_for(n)
