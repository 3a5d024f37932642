"""Exercises of notebook 05: convergence and its rates."""

from __future__ import annotations

import math
from typing import Any

from course.desk import Hint, exercise, finish, given, number, whole

ROOT = 0.7390851332151607


@exercise(
    "05.1",
    "the limit is (1 + sqrt(5)) / 2; divide each error by the one before.",
    "rate = wb.classify(golden).rate",
)
def golden_rate(answer: Any) -> str:
    found, phi = number(answer), (1 + math.sqrt(5)) / 2
    if abs(found + phi**-2) < 0.005:
        raise Hint("the rate is the size of the factor; that the values jump from side to side is its sign.")
    if abs(found - phi) < 0.01:
        raise Hint("this is the limit. By which factor does the error shrink?")
    if abs(found - phi**-2) > 0.005:
        raise Hint(f"{found:.4g} is not the rate. Divide an error by the error before.")
    return "it is 0.38, one over the square of the golden ratio: the derivative of 1 + 1/x there is -1/x**2."


@exercise("05.2", "after k iterations the error is 0.9**k.", "math.log(1e-6) / math.log(0.9), and round up.")
def iterations(answer: Any) -> str:
    found, right = whole(answer), math.ceil(math.log(1e-6) / math.log(0.9))
    if abs(found - right) == 1:
        raise Hint(f"very near. 0.9**{found} is {0.9**found:.3e}: is it below 1e-6, and is it the first one?")
    if found != right:
        raise Hint(f"after {found} iterations the error is 0.9**{found} = {0.9 ** min(max(found, 0), 5000):.1e}.")
    return f"0.9**{right} is the first power below 1e-6. A rate of 0.5 would need 20 iterations."


@exercise("05.3", "section 5: error = step / (1 - rate).")
def error_at_the_end(answer: Any) -> str:
    found = number(answer)
    if math.isclose(found, 1e-8, rel_tol=0.5):
        raise Hint("this is the step. The error is larger.")
    if not 0.8e-6 <= found <= 1.2e-6:
        raise Hint("divide the step by 1 - rate.")
    return "1e-6, a hundred times the step: two digits fewer than it seems."


@exercise(
    "05.4",
    "f(x) = cos(x) - x has the derivative -sin(x) - 1.",
    "return x + (np.cos(x) - x) / (np.sin(x) + 1.0)",
)
def faster(function: Any) -> str:
    import numpy as np

    import workbench as wb

    b = wb.GraphBuilder("faster")
    start = b.placeholder("start", "float64", ())
    given(function(start))
    loop = b.while_loop(lambda x, k: k < 6, lambda x, k: {"x": function(x), "k": k + 1}, {"x": start, "k": 0})
    with wb.Session(b.build({"x": loop["x"]}), {"start": 1.0}) as session:
        finish(session)
        errors = np.abs(session.trace["x"].values - ROOT)
    if not np.isfinite(errors[-1]) or errors[-1] > 0.5:
        raise Hint("your update leads away from the limit. Check the sign of the derivative.")
    if errors[-1] > 1e-10:
        raise Hint(f"after six iterations the error is {errors[-1]:.1e}. Newton's method does better.")
    first = int(np.flatnonzero(errors < 1e-10)[0])
    return f"ten digits in {first} iterations; the cosine key needs {math.ceil(math.log(1e-10) / math.log(0.674))}."


@exercise(
    "05.5",
    "the update is written above as a formula; the start has to be below the root of 3/a to stay positive.",
    "0.5 * y * (3.0 - a * y * y), from 0.5",
)
def inverse_root(update: Any, start: Any) -> str:
    import numpy as np

    import workbench as wb

    first = number(start)
    b = wb.GraphBuilder("inverse root")
    a, y0 = b.placeholder("a", "float64", ()), b.placeholder("start", "float64", ())
    given(update(y0, a))
    y = b.while_loop(lambda y: np.abs(a * y * y - 1.0) > 1e-12, lambda y: update(y, a), {"y": y0})
    graph = b.build({"y": y["y"]})
    if forbidden := _forbidden(graph):
        raise Hint(f"`{forbidden}` is what the loop is to avoid: use products, sums and differences only.")
    with wb.Session(graph, {"a": 2.0, "start": first}) as session:
        session.step_into()
        if session.termination(("while",)).outcome == "never":
            _check_formula(update)
            raise Hint(f"the update is right, but from {first:g} this loop never ends. Choose another start.")
        found = float(finish(session, 5.0)["y"])
        trips = len(session.trace["y"]) - 1
    if not math.isfinite(found):
        _check_formula(update)
        raise Hint(f"the loop ended with {found}: every comparison with NaN is false. Begin with a smaller start.")
    if abs(found + math.sqrt(0.5)) < 1e-9:
        raise Hint("it found the negative root. Begin nearer to zero.")
    if abs(found - math.sqrt(0.5)) > 1e-9:
        raise Hint(f"it ended at {found:.6g}, and 1/sqrt(2) is {math.sqrt(0.5):.6g}.")
    return f"1/sqrt(2) after {trips} iterations, and no division by a variable in the loop."


def _check_formula(update: Any) -> None:
    """Hint if the reader's update is not the one of the exercise, so that the start is not blamed for it."""
    try:
        found = float(update(0.5, 2.0))
    except Exception:  # it works on values of a graph only: then its numbers are not known here
        return
    if abs(found - 0.625) > 1e-9:
        raise Hint(f"with a = 2 and y = 0.5 your update gives {found:.6g}, and the formula gives 0.625.")


def _forbidden(graph: Any) -> str:
    """An op of the loop's body that a loop without a division does not have; empty if there is none."""
    for name in graph.frames[("while",)].nodes:
        node = graph.nodes[name]
        if node.op in ("sqrt", "rsqrt", "reciprocal", "power", "pow", "exp", "log"):
            return str(node.op)
        if node.op in ("divide", "floor_divide", "true_divide") and graph.nodes[node.inputs[1].node].op != "Const":
            return str(node.op)
    return ""
