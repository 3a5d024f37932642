"""Exercises of notebook 03: frames, from Enter to Exit."""

from __future__ import annotations

from typing import Any

from course.desk import Hint, exercise, finish, given, several, whole, word


@exercise(
    "03.1",
    "the condition is asked for i = 0, 1, 2, 3, 4 and 5.",
    "Merge and Switch fire with every question; NextIteration only where the answer was yes; Exit once.",
)
def firings(answer: Any) -> str:
    numbers = [whole(one) for one in several(answer)]
    if len(numbers) != 4:
        raise Hint(f"expected four numbers, got {len(numbers)}.")
    for op, found, right in zip(("Merge", "Switch", "NextIteration", "Exit"), numbers, (6, 6, 5, 1), strict=True):
        if found == right:
            continue
        if right == 6 and found == 5:
            raise Hint(f"{op} fires with every question, also with the last one, which is answered by no.")
        if op == "Exit":
            raise Hint("dead values do not leave the frame: think again how often an Exit is alive.")
        raise Hint(f"{found} is not right for {op}.")
    return "the question is asked six times, five times the answer is yes, and once the value leaves."


@exercise("03.2", "the table at the beginning of the notebook has all six ops.")
def which_op(a: Any, b: Any, c: Any) -> str:
    for letter, answer, right in (("a", a, "SWITCH"), ("b", b, "MERGE"), ("c", c, "NEXTITERATION")):
        if word(answer).replace(" ", "") != right:
            raise Hint(f"{letter} is not {str(answer)[:30]}. Look at the table at the beginning.")
    return "Switch chooses, Merge joins, NextIteration goes on. Enter and Exit change the frame, not the iteration."


@exercise(
    "03.3",
    "write the lines for `i` once more: the total starts at `zero` too, and its Switch uses the same `go_on`.",
    "the new total is the old one (the true side of its Switch) plus the new i.",
    "total, _ = b.merge(b.enter(zero, 'sum')); out, inside = b.switch(total, go_on); "
    "b.add_back_edge(total, b.next_iteration(b.add(inside, new))); return b.exit(out)",
)
def sum_by_hand(function: Any) -> str:
    import workbench as wb

    b = wb.GraphBuilder("sum by hand")
    result = given(function(b, b.placeholder("n", "int64", ())))
    graph = b.build({"sum": result})
    frames = [frame for frame in graph.frames.values() if frame.depth == 1]
    if len(frames) != 1:
        raise Hint(f"there should be one frame, and {len(frames)} were found: use the same frame name everywhere.")
    for n in (4, 1, 0, 10):
        with wb.Session(graph, {"n": n}) as session:
            found = int(finish(session)["sum"])
        if found != (right := n * (n + 1) // 2):
            old = " It adds the old i; the new one is larger by one." if found == right - n else ""
            raise Hint(f"for n = {n} the sum is {right}, and yours is {found}.{old}")
    return "two variables, two circles, one decision. That is a loop, and all that while_loop does for you."
