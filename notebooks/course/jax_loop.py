"""Exercises of notebook 15: loops of JAX; and the readings that they ask about."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from course.desk import Hint, exercise, given, number, several, whole

#: iteration of the first NaN, of the readings and of the sampler
FIRST_NAN, LEFT = 8, 11


def weighings() -> np.ndarray:
    """Twenty readings in float32 of a scale that shows sixty-fourths."""
    steps = np.array([13, 10, 8, 4, 4, 0, 1, 0, 2, 13, 10, 14, 8, 9, 15, 11, 10, 8, 8, 14])
    return (np.float32(200.0) + steps / 64.0).astype(np.float32)


@exercise(
    "15.1",
    "make one graph, and a session with graph.feeds(start, 0.5, tolerance) for each tolerance.",
    'session.termination().outcome is "never" where the loop does not end.',
)
def endless(answer: Any) -> str:
    found = {round(math.log10(v)) if v > 0 else 0 for v in map(number, several(answer))}
    if found - {-5, -6, -7, -8}:
        raise Hint("choose among 1e-5, 1e-6, 1e-7 and 1e-8.")
    for power in (-5, -6):
        if power in found:
            raise Hint(f"with 1e{power} it ends: session.run() comes back.")
    if found != {-7, -8}:
        raise Hint("one is still missing: the slope stays at about 2e-7.")
    return "the slope comes to a standstill at about 2e-7, above both."


@exercise(
    "15.2",
    "make the graph anew: graph = wb.from_jax(spread, readings).",
    "wb.nan_origin(session).iteration, after session.run().",
)
def first_nan(answer: Any) -> str:
    found = whole(answer[0] if isinstance(answer, tuple | list) and len(answer) == 1 else answer)
    if found != FIRST_NAN:
        raise Hint(f"not in iteration {found}. wb.nan_origin(session).iteration tells, after session.run().")
    return f"iteration {FIRST_NAN}: until then the rounding went the other way."


@exercise(
    "15.3",
    "the graph is the same; feed it with graph.feeds(jax.random.key(5), 0.5, 0.2).",
    "the result has no NaN; wb.nan_origin(session) looks at all values.",
)
def left(answer: Any) -> str:
    found = whole(answer[0] if isinstance(answer, tuple | list) and len(answer) == 1 else answer)
    if found == LEFT + 1:
        raise Hint("there the walk stands outside already. The NaN that let it out is one iteration older.")
    if found != LEFT:
        raise Hint(f"not in iteration {found}. Ask wb.nan_origin(session).")
    return f"in iteration {LEFT}, and whatever is drawn after it is worth nothing."


@exercise(
    "15.4",
    "n grows by 1, and the mean by (reading - mean) / n.",
    "squares grows by (reading - old mean) * (reading - new mean), which is never below zero.",
)
def welford(function: Any) -> str:
    zero = np.float32(0.0)
    carry: Any = (zero, zero, zero)
    readings = weighings()
    for k, reading in enumerate(readings):
        made = given(function(carry, reading))
        if not isinstance(made, tuple) or len(made) != 2 or not isinstance(made[0], tuple) or len(made[0]) != 3:
            raise Hint("return the new carry, a tuple of three, and the deviation.")
        carry, deviation = made
        wanted = float(np.std(readings[: k + 1].astype(np.float64)))
        value = float(deviation)
        if math.isnan(value):
            raise Hint(f"the deviation is NaN in iteration {k}.")
        if abs(value - wanted) > 1e-3 * wanted + 1e-6:
            raise Hint(f"in iteration {k} the deviation is {value:.6g}, and {wanted:.6g} is right.")
    return "what is added to `squares` is a product of two distances of the same sign, so the root never fails."
