"""Exercises of notebook 07: why a loop stops, and why it does not."""

from __future__ import annotations

from typing import Any

from course.desk import Hint, exercise, finish, given, number, whole, word


@exercise("07.1", "x is multiplied by 1 - 10 * step in each iteration.", "the factors are 0.5, -1 and -1.5.")
def labels(small: Any, middle: Any, large: Any) -> str:
    for step, answer, right in ((0.05, small, "CONVERGING"), (0.2, middle, "OSCILLATING"), (0.25, large, "DIVERGING")):
        if word(answer) != right:
            raise Hint(f"with a step of {step} x is multiplied by {1 - 10 * step:g} in each iteration.")
    return "the factors are 0.5, -1 and -1.5: their magnitudes are below one, one, and above one."


@exercise("07.2", "which factor makes x zero at once?", "1 - 10 * step = 0.")
def one_step(answer: Any) -> str:
    import numpy as np

    import workbench as wb

    step = number(answer)
    b = wb.GraphBuilder("descent")
    loop = b.while_loop(lambda x: np.abs(x) > 1e-6, lambda x: x - step * 10.0 * x, {"x": b.constant(1.0)})
    with wb.Session(b.build({"x": loop["x"]})) as session:
        session.step_into()
        if session.termination(("while",)).outcome == "never":
            raise Hint(f"with a step of {step:g} the loop never ends.")
        session.run(wait=False)
        if session.wait(timeout=5.0) is None:
            raise Hint(f"with a step of {step:g} the loop has not ended after five seconds.")
        trips = len(session.trace["x"]) - 1
    if trips != 1:
        raise Hint(f"with a step of {step:g} it takes {trips:,} iterations.")
    return "one over the second derivative of f, which is 10: Newton's step."


@exercise(
    "07.3",
    "halving steps over 0.001: what should the condition test, if not whether x is exactly 0.001?",
    "return x > 0.001",
)
def mended(condition: Any) -> str:
    import workbench as wb

    b = wb.GraphBuilder("halvings")
    start = b.placeholder("start", "float64", ())
    loop = b.while_loop(
        lambda x, k: given(condition(x, k)), lambda x, k: {"x": x * 0.5, "k": k + 1}, {"x": start, "k": 0}
    )
    graph = b.build({"k": loop["k"]})
    for first, right in ((1.0, 10), (0.25, 8), (0.001, 0)):
        with wb.Session(graph, {"start": first}) as session:
            session.step_into()
            answer = session.termination(("while",))
            if answer.outcome == "never":
                raise Hint(f"from {first} it never ends. {answer.fix[0] if answer.fix else ''}")
            found = int(finish(session, 5.0)["k"])
        if found != right:
            raise Hint(f"from {first} it takes {right} halvings until x is at most 0.001; your loop makes {found}.")
    return "a comparison by size cannot be stepped over."


@exercise("07.4", "above which power of two are the numbers of type float32 two apart?", "2**24")
def stands_still(answer: Any) -> str:
    found = whole(answer)
    if found == 20_000_000:
        raise Hint("it never gets there.")
    if found != 2**24:
        raise Hint("float32 has 24 binary digits. From which number on is 1 too small to be seen beside it?")
    return "16,777,216 + 1 rounds to 16,777,216. At this speed it would take a while to notice."
