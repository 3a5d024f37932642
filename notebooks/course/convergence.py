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
