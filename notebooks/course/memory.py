"""Exercises of notebook A2: arrays that nobody uses."""

from __future__ import annotations

from typing import Any

from course.desk import Hint, exercise, given, number, whole


@exercise("A2.1", "a result belongs to the manager of its first operand. Which product is made first?")
def owner(answer: Any) -> str:
    found = str(answer).strip().rpartition("/")[2]
    if found == "long":
        raise Hint("the first operand of the product is b, so the product belongs to its manager. And then the sum?")
    if found != "short":
        raise Hint('answer "long" or "short".')
    return "b * a belongs to `short`, and it is the first operand of the sum."


@exercise("A2.2", "80 + 160 + 240 + ... + 8000.", "the sum of 1 to 100 is 5050.")
def asked(answer: Any) -> str:
    found = whole(answer)
    if found == 8000:
        raise Hint("this is the last epoch alone. Add up all of them.")
    if found != 80 * 5050:
        raise Hint("80 * (1 + 2 + ... + 100)")
    return "404,000 in all, and four times as many in twice as many epochs."


@exercise("A2.3", "who owns `weight * x`? The manager of its first operand.", "x * weight + 1.0")
def step(function: Any) -> str:
    import workbench as wb

    with wb.ArrayManager("exercise") as base:
        weight = base.array([3.0, 4.0])
        with base.new_submanager("batch") as batch:
            found = number(given(function(base, weight, batch)))
        left = [info.origin.op for info in base.arrays()]
    if found != 13.0:
        raise Hint(f"the sum is 13, and your step gives {found:g}.")
    if len(left) > 1:
        raise Hint(f"these escaped to base: {', '.join(left[1:])}. Look at the first operands.")
    return "everything belongs to the batch now, and goes with it."
