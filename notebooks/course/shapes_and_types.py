"""Exercises of notebook A1: shapes and types under the hood."""

from __future__ import annotations

from typing import Any

from course.desk import Hint, exercise, several, whole


@exercise(
    "A1.1",
    "a float64 has 8 bytes. How far is it to the next column, and how far to the next row?",
    "to the next column 8 bytes, to the next row 4 * 8.",
)
def strides(rows: Any, transposed: Any) -> str:
    pairs = [tuple(whole(one) for one in several(pair)) for pair in (rows, transposed)]
    if pairs[0] == (4, 1):
        raise Hint("strides are in bytes, and a float64 has 8 of them.")
    if pairs[0] == (8, 32) or pairs[0] == (8, 24):
        raise Hint("the first axis is that of the rows. To the next row one has to pass a whole row.")
    if pairs[0] == (24, 8):
        raise Hint("a row has four elements.")
    if pairs[0] != (32, 8):
        raise Hint(f"{pairs[0]} is not right for the array itself.")
    if pairs[1] != (8, 32):
        raise Hint("the transpose is the same memory, with the axes exchanged.")
    return "(32, 8) and (8, 32). The transpose copies nothing."


@exercise("A1.2", "equal shapes share one entry; every intern makes one user more.")
def entries(count: Any, users: Any) -> str:
    if whole(count) == 6:
        raise Hint("equal shapes are kept once.")
    if whole(count) != 4:
        raise Hint("(2, 3), (3, 2), (2,) and (2, 3, 1) are all different.")
    if whole(users) != 3:
        raise Hint("how often was (2, 3) handed in?")
    return "four entries; (2, 3) has three users and stays until all of them have released it."


@exercise("A1.3", "np.result_type answers a; the others have rules of their own: divisions and comparisons.")
def results(a: Any, b: Any, c: Any) -> str:
    import numpy as np

    for letter, answer, right, why in (
        ("a", a, "float32", "the result is never less precise than an operand"),
        ("b", b, "float64", "a quotient of integers is not an integer"),
        ("c", c, "bool", "a comparison answers in yes or no"),
    ):
        try:
            found = np.dtype(answer).name
        except TypeError:
            raise Hint(f"{letter}: {repr(answer)[:30]} is not a dtype.") from None
        if found != right:
            raise Hint(f"{letter} is not {found}: {why}.")
    return "float32, float64 and bool."


@exercise(
    "A1.4",
    "strings, complex numbers with a real result, or a result that is less precise than an operand.",
    "types.explain('add', 'float64', 'float64', 'float32')",
)
def rejected(answer: Any) -> str:
    from workbench.kernels import types

    names = [str(name) for name in several(answer, "names")]
    if len(names) != 3:
        raise Hint(f"expected three names, got {len(names)}.")
    try:
        explanation = types.explain("add", *names)
    except ValueError as error:
        raise Hint(str(error)) from None
    text = str(explanation)
    if explanation.accepted:
        raise Hint(f"this one is admitted. {text[:160]}")
    if "size-jump" in text:
        raise Hint("that is the same rule once more. Find another one.")
    return text.partition(" The rules admit")[0][:300]
