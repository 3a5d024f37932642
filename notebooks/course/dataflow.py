"""Exercises of notebook 02: what a dataflow graph is."""

from __future__ import annotations

import math
from typing import Any

from course.desk import Hint, exercise, given, names, whole


@exercise(
    "02.1",
    "follow the edges from `height` downwards; a node has to fire again if anything that it reads is new.",
    "`height` is read by `multiply`. Who reads `multiply`? And so on.",
)
def fires_again(answer: Any) -> str:
    found, right = names(answer), {"multiply", "divide", "subtract", "abs"}
    extra, left = found - right - {"height"}, right - found
    if "weight" in extra:
        raise Hint("`weight` is an input and has not changed.")
    if extra:
        raise Hint(f"{sorted(extra)[0]!r} does not depend on the height, or is not a node of this graph.")
    if left:
        raise Hint(f"{len(left)} node{'s are' if len(left) > 1 else ' is'} missing. Follow the edges to the bottom.")
    return "all four depend on the height. A new weight would spare `multiply`."


@exercise(
    "02.2",
    "only the order of `weight`, `height` and `multiply` is free; from `divide` on there is one way.",
    "`multiply` has to come after `height`. At how many places can `weight` stand among these three?",
)
def orders(answer: Any) -> str:
    found = whole(answer)
    if found == 720:
        raise Hint("720 is the number of all orders. In most of them a node stands before something that it reads.")
    if found == 2:
        raise Hint("`weight` and `height` can be exchanged, but `weight` has one more place.")
    if found != 3:
        raise Hint("Only the order of `weight`, `height` and `multiply` is free, and not all of their orders are.")
    return "`weight` can stand before `height`, between `height` and `multiply`, or after both."


@exercise(
    "02.3",
    "x * x is a value like any other; np.sqrt takes values too.",
    "return np.sqrt(x * x + y * y)",
)
def distance(function: Any) -> str:
    import workbench as wb

    b = wb.GraphBuilder("distance")
    x, y = b.placeholder("x"), b.placeholder("y")
    result = given(function(x, y))
    if isinstance(result, int | float):
        raise Hint("your function gives a plain number. Compute with x and y themselves.")
    graph = b.build({"distance": result})
    for point in ((3.0, 4.0), (-5.0, 12.0), (0.0, 0.0)):
        found = float(graph.run(x=point[0], y=point[1])["distance"])
        if not math.isclose(found, math.hypot(*point)):
            raise Hint(f"the distance of {point} is {math.hypot(*point)}, and your graph gives {found:.6g}.")
    return f"your graph has {len(graph.nodes)} nodes and is right for all points that were tried."
