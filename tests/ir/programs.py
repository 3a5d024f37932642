"""Small programs whose every value is known by hand; shared by the tests of graph, trace, debugger and session."""

from __future__ import annotations

from typing import Any

import numpy as np

import workbench.ops  # noqa: F401  fills the op registry
from workbench.ir import Graph, GraphBuilder


def count(limit: float = 5.0, step: float = 1.0) -> Graph:
    """x = start; while x < limit: x = x + step."""
    b = GraphBuilder("count")
    start = b.placeholder("start")
    return b.build(b.while_loop(lambda x: x < limit, lambda x: x + step, {"x": start}))


def endless() -> Graph:
    """x grows for ever."""
    b = GraphBuilder("endless")
    return b.build(b.while_loop(lambda x: x >= 0.0, lambda x: x + 1.0, {"x": b.placeholder("start")}))


def nested(outer: int = 3) -> Graph:
    """A branch in a loop in a loop::

        acc = start
        for i in range(outer):
            for j in range(i + 1):
                acc = acc + 1 if j is even else acc + 10 * j

    From 0, acc after each i is 1, 12, 24, 66 ...
    """
    b = GraphBuilder("nested")
    start = b.placeholder("start")

    def inner(i: Any) -> Any:
        def body(j: Any, a: Any) -> Any:
            even = b.equal(j % 2, 0)
            return j + 1, b.cond(even, lambda: a + 1.0, lambda: a + j.astype("float64") * 10.0, name="even")

        return body

    def body(i: Any, acc: Any) -> Any:
        _, grown = b.while_loop(lambda j, a: j <= i, inner(i), (b.constant(0), acc), name="inner")
        return i + 1, grown

    _, acc = b.while_loop(lambda i, acc: i < outer, body, (b.constant(0), start), name="outer")
    return b.build({"acc": acc})


def growing() -> Graph:
    """v = [start]; while len(v) < 5: v = concat(v, [2 * v[-1]]): a value whose shape changes."""
    b = GraphBuilder("growing")
    first = b.op("reshape", b.placeholder("start"), shape=(1,))

    def body(v: Any) -> Any:
        return b.concat(v, v[-1:] * 2.0, axis=0)

    return b.build(b.while_loop(lambda v: b.sum(b.ones_like(v)) < 5.0, body, {"v": first}))


def vectors(width: int = 1000, limit: float = 400.0) -> Graph:
    """A vector and a counter; the vector's rows are heavy enough to be dropped under a small budget."""
    b = GraphBuilder("vectors")
    start = b.placeholder("start", "float64", (width,))
    out = b.while_loop(
        lambda v, n: n < limit, lambda v, n: (v * 1.01 + 1.0, n + 1.0), {"v": start, "n": b.constant(0.0)}
    )
    return b.build(out)


def failing() -> Graph:
    """reshape gets a shape that fits in iterations 0 and 1 only: 6 elements into (3 - n, 2 + n)."""
    b = GraphBuilder("failing")
    data = b.placeholder("data", "float64", (6,))

    def body(n: Any, s: Any) -> Any:
        shape = b.stack(3 - n, 2 + n, axis=0)
        return n + 1, s + b.sum(b.reshape(data, shape))

    return b.build(b.while_loop(lambda n, s: n < 5, body, {"n": b.constant(0), "s": b.constant(0.0)}))


def same(a: Any, b: Any) -> bool:
    """Equal bit for bit, in dtype and in shape."""
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype == object:
        return all(same(x, y) if isinstance(x, np.ndarray) else x == y for x, y in zip(a.flat, b.flat, strict=True))
    return a.tobytes() == b.tobytes()
