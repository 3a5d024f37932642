"""Exercises of notebook 08: nested loops."""

from __future__ import annotations

from typing import Any

from course.desk import Hint, exercise, finish, given, whole


def even_pairs_of(n: int) -> int:
    return sum((a + b) % 2 == 0 for b in range(1, n + 1) for a in range(1, b + 1))


@exercise("08.1", "11 is a prime: which divisors are tried, from 2 on?", "2, 3, 4, ... up to 11 itself.")
def tried(answer: Any) -> str:
    found = whole(answer)
    if found == 9:
        raise Hint("there are nine trips of the body, and the condition looks at one value more.")
    if found == 11:
        raise Hint("the first divisor is 2, not 1.")
    if found != 10:
        raise Hint("11 is a prime, so the loop goes on until the divisor is 11.")
    return "2 to 11: ten values of the divisor, and nine times the body."


@exercise(
    "08.2",
    "round 0 tests the number 2; larger.value('divisor', iteration=(11, 1)) reads a value.",
    "the number is the round plus two.",
)
def addresses(value: Any, round_: Any) -> str:
    if whole(round_) in (35, 37):
        raise Hint("round 0 tests the number 2. Which round tests 35?")
    if whole(round_) != 33:
        raise Hint(f"round {whole(round_)} tests the number {whole(round_) + 2}.")
    if whole(value) != 3:
        raise Hint("the inner loop begins with the divisor 2 in inner iteration 0. And in iteration 1?")
    return "round 11 tests 13; trip 0 has the divisor 2 and trip 1 the divisor 3."


@exercise("08.3", "0 + 1 + 2 + ... + 19; and in each round the condition is asked once more than the body runs.")
def counts(trips: Any, questions: Any) -> str:
    if whole(trips) == 210:
        raise Hint("the rounds are 0 to 19, not 1 to 20.")
    if whole(trips) != 190:
        raise Hint("add up 0, 1, 2, ..., 19.")
    if whole(questions) in (190, 191):
        raise Hint("the inner loop is opened 20 times, and each time there is one question that is answered by no.")
    if whole(questions) != 210:
        raise Hint("one question for each trip, and one more in each round.")
    return "190 trips, and 20 more questions, one in each round."


@exercise(
    "08.4",
    "an outer `while b <= n`, with `a = 1` inside of it and an inner `while a <= b`.",
    "inside: if (a + b) % 2 == 0: pairs = pairs + 1, then a = a + 1; after the inner loop b = b + 1.",
)
def even_pairs(function: Any) -> str:
    import workbench as wb

    if not hasattr(function, "graph_for"):
        raise Hint("keep the line @wb.graph above your function.")
    plain = getattr(function, "__wrapped__", None)
    if plain is not None:
        given(plain(3))
    graph = function.graph_for(5)
    if max(len(path) for path in graph.frames) < 2:
        raise Hint("there is no loop in a loop in your function yet.")
    for n in (5, 1, 8):
        with wb.Session(graph, {next(iter(graph.inputs)): n}) as session:
            found = int(next(iter(finish(session).values())))
        if found != even_pairs_of(n):
            raise Hint(f"for n = {n} there are {even_pairs_of(n)} pairs, and your function finds {found}.")
    return f"for n = 8 there are {even_pairs_of(8)} pairs."
