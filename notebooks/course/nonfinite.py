"""Exercises of notebook 09: NaN hunt; and the program that they ask about."""

from __future__ import annotations

from typing import Any

import numpy as np

from course.desk import Hint, exercise, given, names, whole

#: the first iteration of the sick program in which the variance comes out below zero
SICK = 16


def sick_program() -> Any:
    """A finished session of a program that measures the spread of 30 readings; its result is NaN.

    It carries fading means of the readings and of their squares; the variance is the difference of two numbers near
    1e16, which cancel, so that it comes out below zero once and its root is NaN. The readings are exact numbers.
    """
    import workbench as wb

    k = np.arange(30)
    data = 1e8 + np.where(k < 8, (k * 37 % 101 - 50) * 0.75, (k * 53 % 17 - 8) / 4096.0)
    b = wb.GraphBuilder("spread of readings")
    series = b.placeholder("readings", "float64", (30,))

    def measure(total: Any, squares: Any, weight: Any, worst: Any, k: Any) -> dict[str, Any]:
        reading = b.gather(series, k, axis=0, name="reading")
        new_total = b.add(total * 0.5, reading, name="new_total")
        new_squares = b.add(squares * 0.5, b.multiply(reading, reading, name="square"), name="new_squares")
        new_weight = b.add(weight * 0.5, 1.0, name="new_weight")
        mean = b.divide(new_total, new_weight, name="mean")
        mean_of_squares = b.divide(new_squares, new_weight, name="mean_of_squares")
        variance = b.subtract(mean_of_squares, b.multiply(mean, mean, name="square_of_mean"), name="variance")
        spread = b.sqrt(variance, name="spread")
        return {
            "total": new_total, "squares": new_squares, "weight": new_weight,
            "worst": b.maximum(worst, spread, name="new_worst"), "k": k + 1,
        }

    start = {"total": 0.0, "squares": 0.0, "weight": 0.0, "worst": 0.0, "k": 0}
    loop = b.while_loop(lambda total, squares, weight, worst, k: k < 30, measure, start, name="measure")
    session = wb.Session(b.build({"worst": loop["worst"]}), {"readings": data})
    session.run()
    return session


@exercise("09.1", "NaN is what has no answer. Infinity is an answer, if a large one.", "there are three of them.")
def which(answer: Any) -> str:
    found = names(answer.replace(" ", "")) if isinstance(answer, str) else names(answer)
    letters = {letter.strip(" ,.;:").lower() for word in found for letter in word} - {""}
    if letters - set("abcdef"):
        raise Hint("answer with letters from a to f.")
    for letter, why in (("b", "1 / 0 is inf"), ("d", "log(0) is -inf"), ("f", "inf + 1 is inf")):
        if letter in letters:
            raise Hint(f"not {letter}: {why}. It is not an ordinary number, but it is not NaN either.")
    left = set("ace") - letters
    if left:
        raise Hint(f"{len(left)} still missing: which of the others could have any value at all, or none?")
    return "inf - inf, 0 * inf and sqrt(-1) have no answer. The others are infinite."


@exercise("09.2", "wb.nan_origin(sick) has node and iteration.", "the node is a root.")
def origin(node: Any, iteration: Any) -> str:
    found = str(node).strip().removesuffix(":0")
    if found in ("new_worst", "worst", "measure/worst/Merge", "measure/worst/Exit"):
        raise Hint(f"`{found}` has only been infected. Who made the first one?")
    if found != "spread":
        raise Hint(f"{found[:40]!r} is not the node. Ask wb.nan_origin(sick).")
    if isinstance(iteration, tuple | list) and len(iteration) == 1:
        iteration = iteration[0]
    if whole(iteration) != SICK:
        raise Hint(f"not in iteration {whole(iteration)}. wb.nan_origin(sick).iteration tells.")
    return f"`spread` is a root, and in iteration {SICK} it got a negative number."


@exercise(
    "09.3",
    "what does the root read? And which two large numbers is that the difference of?",
    "sick.explain('spread', iteration=16) shows the chain.",
)
def guilty(answer: Any) -> str:
    found = str(answer).strip().removesuffix(":0")
    if found == "spread":
        raise Hint("that is the node itself. What does it read?")
    if found not in ("variance", "square_of_mean", "mean_of_squares"):
        raise Hint(f"{found[:40]!r} is not it. Look at the first lines of sick.explain('spread', iteration={SICK}).")
    return (
        "two numbers near 1e16 are subtracted, whose neighbours are 2 apart. The true variance is far below that. "
        "Subtract the mean before you square."
    )


@exercise(
    "09.4",
    "let shifted = x - b.max(x). The quotient is the same, and its exponents are at most 0.",
    "e = np.exp(x - b.max(x)); return e / b.sum(e)",
)
def softmax(function: Any) -> str:
    import workbench as wb

    b = wb.GraphBuilder("softmax")
    graph = b.build({"y": given(function(b, b.placeholder("x", "float64", (3,))))})
    for x in ([0.0, 1.0, 2.0], [1000.0, 1001.0, 1002.0], [-1000.0, -1000.0, -1001.0]):
        found = graph.run(x=np.array(x))["y"]
        shifted = np.exp(np.array(x) - max(x))
        right = shifted / shifted.sum()
        if np.isnan(found).any():
            raise Hint(f"for {x} it gives NaN: an infinity divided by an infinity, or 0 by 0.")
        if found.shape != (3,) or not np.allclose(found, right):
            raise Hint(f"for {x} it should be {right.round(4).tolist()}, and yours is {found.round(4).tolist()}.")
    return "the largest exponent is 0 now, so that nothing can overflow, and the sum is at least 1."
