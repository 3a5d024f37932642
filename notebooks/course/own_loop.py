"""Exercises of notebook 14: loops that run elsewhere."""

from __future__ import annotations

from typing import Any

from course.desk import Hint, exercise, given, number, whole


@exercise("14.1", "`bfgs['fun'].values` has a row per iteration.", "np.flatnonzero(fun < 1e-3)[0] is a row; count it.")
def first_below(answer: Any) -> str:
    import numpy as np
    import scipy.optimize

    values: list[float] = []

    def note(intermediate_result: Any) -> None:
        values.append(float(intermediate_result.fun))

    scipy.optimize.minimize(scipy.optimize.rosen, [-1.2, 1.0], method="BFGS", callback=note)
    row = int(np.flatnonzero(np.array(values) < 1e-3)[0])
    found = whole(answer)
    if found == row:
        raise Hint("that is the number of the row, which counts from 0. How many iterations were done by then?")
    if found != row + 1:
        raise Hint("look for the first row of `fun` that is below 1e-3.")
    return f"{row + 1} iterations: the valley takes most of them, the end is fast."


@exercise("14.2", "call the watch once in each pass: watch(change=change).", "return the watch behind its block.")
def fixed_point(function: Any) -> str:
    import numpy as np

    import workbench as wb

    watch = given(function() if callable(function) else function)
    if not isinstance(watch, wb.Watch):
        raise Hint("the function returns its watch.")
    if "change" not in watch.names:
        raise Hint(f"a variable named `change` is asked for; the watch has {', '.join(watch.names) or 'none'}.")
    want, x = [], 1.0
    while not want or want[-1] >= 1e-8:
        new = np.cos(x)
        want.append(abs(new - x))
        x = new
    found = np.asarray(watch["change"].values, float)
    if len(found) != len(want):
        raise Hint(f"the loop takes {len(want)} iterations, and the watch has {len(found)}.")
    if not np.allclose(found, want, rtol=1e-9):
        raise Hint("change is |cos(x) - x|, with the x from before the step.")
    return f"{len(want)} iterations, each recorded."


@exercise(
    "14.3",
    "divide each change by the one before it: the quotients settle.",
    "wb.classify(fixed_point()['change'].values).rate",
)
def rate(answer: Any) -> str:
    found = number(answer)
    if abs(found - 1 / 0.6736) < 0.01:
        raise Hint("that is how many times larger the change was before. Divide the other way round.")
    if not 0 < found < 1:
        raise Hint(f"the change becomes smaller, so the factor is between 0 and 1, and not {found:g}.")
    if abs(found - 0.6736) > 0.006:
        raise Hint(
            f"with {found:g}, a change of 1 would be {found**20:.1g} after 20 iterations; it is {0.6736**20:.1g} here."
        )
    return "0.67 is |sin(x)| at x = 0.739, the slope of the cosine there: linear convergence."
