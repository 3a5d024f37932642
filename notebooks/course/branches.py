"""Exercises of notebook 04: branches and dead values."""

from __future__ import annotations

import math
from typing import Any

from course.desk import Hint, exercise, given, names, whole, word


@exercise(
    "04.1",
    "16 is positive. Which output of the Switch is dead, and who reads it?",
    "the false side is read by one node only; the Merge behind it has another input that is alive.",
)
def dead_nodes(answer: Any) -> str:
    found = names(answer)
    if "root" in found:
        raise Hint("16 is positive, so the true side is alive, and `root` hangs on it.")
    if "join" in found:
        raise Hint("a Merge with one living input is alive.")
    if found & {"decide", "positive", "x"}:
        raise Hint("the Switch itself fires, and so does all before it. It is one of its outputs that is dead.")
    if found != {"square"}:
        raise Hint("look at who reads the false output of the Switch `decide`.")
    return "`square` reads the dead side. The Merge behind it reads `root`, which is alive."


@exercise("04.2", "the two rules in section 1 answer both questions.")
def rules(merge: Any, total: Any) -> str:
    for answer in (merge, total):
        if word(answer) not in ("ALIVE", "DEAD"):
            raise Hint(f'answer "alive" or "dead", not {repr(answer)[:30]}.')
    if word(merge) == "ALIVE":
        raise Hint("a Merge passes on the input that is alive. Here there is none.")
    if word(total) == "ALIVE":
        raise Hint("one dead input is enough to make a node dead. Only Merge is different.")
    return "both are dead. A Merge needs one living input, every other node needs all of them."


@exercise(
    "04.3",
    "session = wb.Session(collatz, {'n': 97}); session.run(); then look at session.trace.branch_counts().",
    "the Switch `collatz/parity/n/Switch` asks whether n is even: its false decisions are the odd numbers.",
)
def odd_steps(answer: Any) -> str:
    found, n, odd, even = whole(answer), 97, 0, 0
    while n > 1:
        odd, even, n = odd + n % 2, even + 1 - n % 2, n // 2 if n % 2 == 0 else 3 * n + 1
    if found == even:
        raise Hint("these are the even numbers: the condition of the branch is that n is even.")
    if found == odd + even:
        raise Hint("this is the number of all steps.")
    if found == 41:
        raise Hint("this is right for 27, and the question is about 97.")
    if found != odd:
        raise Hint(f"{found} is not right. The decisions are in session.trace.branch_counts().")
    return f"{odd} of the {odd + even} numbers are odd."


@exercise(
    "04.4",
    "the condition is x != 0.0, the first function gives np.sin(x) / x, the second one a constant.",
    "return b.cond(b.not_equal(x, 0.0), lambda: np.sin(x) / x, lambda: b.constant(1.0))",
)
def sinc(function: Any) -> str:
    import workbench as wb

    b = wb.GraphBuilder("sinc")
    graph = b.build({"y": given(function(b, b.placeholder("x", "float64", ())))})
    for x in (1.0, -2.5, 0.0):
        with wb.Session(graph, {"x": x}) as session:
            session.run()
            right = math.sin(x) / x if x else 1.0
            found = float(session.outputs["y"])
            fired = {graph.nodes[tag.node].op for tag in session.trace.events(silent=False)}
        if not x and "divide" in fired:
            raise Hint("for x = 0 a division was computed. `where` computes both sides; `b.cond` only one.")
        if not math.isclose(found, right):
            raise Hint(f"for x = {x} it should be {right:.6g}, and your graph gives {found:.6g}.")
    return "for x = 0 the division is dead, and the Merge takes the constant."
