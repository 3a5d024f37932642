"""Exercises of notebook 10: debugging an ONNX model."""

from __future__ import annotations

from typing import Any

import numpy as np

from course.desk import Hint, exercise, finish, number, whole, word

OURS = np.array([[5, 0.3], [0.3, 4.8]], np.float32)
THEIRS = np.array([[4, 1], [2, 3]], np.float32)
START = np.array([1, 0], np.float32)
#: longest text of a model that is looked at
LONGEST = 100_000


def changes(matrix: np.ndarray, limit: int = 1000) -> list[float]:
    """``moved`` of each iteration, computed beside the model."""
    v, size, out = START.astype(float), 0.0, []
    while len(out) < limit and (not out or out[-1] > 1e-4):
        w = matrix.astype(float) @ v
        new = float(np.sqrt(w @ w))
        out.append(abs(new - size))
        v, size = w / new, new
    return out


@exercise(
    "10.1",
    "wb.Session(graph, {'A': theirs, 'start': start, 'limit': np.array(1000)}), run it, and count the values of `w`.",
    "len(session.trace['w'])",
)
def iterations(answer: Any) -> str:
    found, right = whole(answer), len(changes(THEIRS))
    if found == 1000:
        raise Hint("the limit is 1000, but the loop ends before that.")
    if found == len(changes(OURS)):
        raise Hint("this is for the matrix `ours`.")
    if found == right + 1:
        raise Hint("the condition is asked once more than the body runs. How often does the body run?")
    if found != right:
        raise Hint("count the values of `w` in the trace: one for each run of the body.")
    return f"{right} iterations; with `ours` there are {len(changes(OURS))}."


@exercise("10.2", "section 4: is the last value of `moved` above or below the tolerance?")
def endings(ours: Any, theirs: Any) -> str:
    if word(ours).replace("-", " ") != "CUT OFF":
        raise Hint("with `ours` the last change was still above the tolerance.")
    if word(theirs).replace("-", " ") != "CONVERGED":
        raise Hint("with `theirs` 12 iterations are enough, and 15 were allowed.")
    return "the runtime reports neither. The trip count and the last change tell them apart."


@exercise("10.3", "session.value('moved', iteration=5), for a session with the matrix `theirs`.")
def moved(answer: Any) -> str:
    found, right = number(answer), changes(THEIRS)
    if abs(found - right[4]) < 1e-4 or abs(found - right[6]) < 1e-4:
        raise Hint("iterations are counted from 0. You are off by one.")
    if abs(found - changes(OURS)[5]) < 1e-4:
        raise Hint("this is for the matrix `ours`.")
    if abs(found - right[5]) > 1e-4:
        raise Hint(f"{found:g} is not the value in iteration 5.")
    return f"{right[5]:.4f}. A runtime alone could not have told you."


@exercise(
    "10.4",
    "a Loop with one more variable has one more input, one more body input, one more body output and one more output.",
    "start the new variable with `yes`; in the body give it `again = Identity (go_on)`; after the loop "
    "`converged = Not (last)`.",
    "the order: the variables come first, in all four places, and the scan output `seen` last.",
)
def converged(answer: Any) -> str:
    import onnx

    import workbench as wb

    if not isinstance(answer, str) or len(answer) > LONGEST:
        raise Hint("the whole text of the new model was asked for.")
    try:
        model = onnx.parser.parse_model(answer)
        onnx.checker.check_model(model, full_check=True)
    except Exception as error:
        said = error.args[0] if error.args else type(error).__name__
        said = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
        raise Hint(f"ONNX cannot read it: {' '.join(said.split())[:160]}") from None
    graph = wb.from_onnx(model)
    if "converged" not in graph.outputs:
        raise Hint(f"the outputs are {', '.join(graph.outputs)}; `converged` is missing.")
    for matrix, limit, right in ((OURS, 15, False), (THEIRS, 15, True), (OURS, 1000, True)):
        with wb.Session(graph, {"A": matrix, "start": START, "limit": np.array(limit)}) as session:
            outputs = finish(session)
        if bool(outputs["converged"]) != right:
            raise Hint(f"with {'ours' if matrix is OURS else 'theirs'} and a limit of {limit} it should be {right}.")
        if abs(float(outputs["eigenvalue"]) - (5.19 if matrix is OURS else 5.0)) > 0.1:
            raise Hint("the eigenvalue has changed. Leave the rest of the model as it is.")
    return "the model now says itself whether one can trust it."
