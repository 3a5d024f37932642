"""Exercises of notebook 12: two runs that differ; and the programs that they ask about."""

from __future__ import annotations

from typing import Any

import numpy as np

from course.desk import Hint, exercise, number, whole, word

#: iteration of the only measurement that the two programs treat differently
OUTLIER = 17


def two_programs() -> tuple[Any, Any]:
    """Two finished sessions of a smoother of 40 measurements: as it was, and as a colleague has rewritten it."""
    return _smoother(False), _smoother(True)


def two_ponds() -> tuple[Any, Any]:
    """Two finished sessions of the logistic map with r = 4, in float64 and in float32."""
    return _pond("float64"), _pond("float32")


def _smoother(rewritten: bool) -> Any:
    import workbench as wb

    k = np.arange(40)
    data = 20.0 + 0.1 * k + 0.3 * np.sin(2.0 * k)
    data[OUTLIER] += 8.0
    b = wb.GraphBuilder("rewritten" if rewritten else "original")
    series = b.placeholder("measured", "float64", (40,))
    two = b.constant(2.0)

    def smooth(level: Any, trend: Any, k: Any) -> dict[str, Any]:
        reading = b.gather(series, k, axis=0, name="reading")
        expected = b.add(level, trend, name="expected")
        error = b.subtract(reading, expected, name="error")
        limited = b.minimum(b.maximum(error, b.negative(two), name="at_least"), two, name="limited")
        step = b.multiply(b.constant(0.4), limited, name="step")
        drift = b.multiply(b.constant(0.1), error if rewritten else limited, name="drift")
        return {
            "level": b.add(expected, step, name="new_level"), "trend": b.add(trend, drift, name="new_trend"),
            "k": k + 1,
        }

    loop = b.while_loop(lambda level, trend, k: k < 40, smooth, {"level": 20.0, "trend": 0.0, "k": 0}, name="smooth")
    session = wb.Session(b.build({"level": loop["level"]}), {"measured": data})
    session.run()
    return session


def _pond(dtype: str) -> Any:
    import workbench as wb

    b = wb.GraphBuilder(f"pond in {dtype}")
    start, four, one = (b.constant(np.asarray(value, dtype)) for value in (0.3, 4.0, 1.0))
    loop = b.while_loop(
        lambda x, k: k < 60, lambda x, k: {"x": four * x * (one - x), "k": k + 1}, {"x": start, "k": 0}, name="years"
    )
    session = wb.Session(b.build({"x": loop["x"]}))
    session.run()
    return session


@exercise(
    "12.1",
    "found = wb.diff(before, after); then look at found.introduced.",
    "each row of found.introduced has the name of its node in `node`.",
)
def culprit(answer: Any) -> str:
    found = str(answer).strip().removesuffix(":0")
    if found in ("new_trend", "trend", "expected", "error", "new_level", "level", "step", "limited", "at_least"):
        raise Hint(f"`{found}` differs too, but only because something before it does.")
    if found != "drift":
        raise Hint(f"{found[:40]!r} is not the node. Look at wb.diff(before, after).introduced.")
    return "`drift` now reads `error`, which may be large, instead of `limited`."


@exercise("12.2", "wb.diff(before, after).first.iteration", "the two agree until there is an error above 2.")
def first_iteration(answer: Any) -> str:
    if isinstance(answer, tuple | list) and len(answer) == 1:
        answer = answer[0]
    found = whole(answer)
    if found == OUTLIER + 1:
        raise Hint("there the loop variables differ. The node that causes it differs one iteration before.")
    if found != OUTLIER:
        raise Hint("wb.diff(before, after).first knows its iteration.")
    return "an outlier among the measurements. On data without one, the two programs are equal: no test found it."


@exercise("12.3", "how large is the first difference, in units in the last place, and how does it go on?")
def cause(answer: Any) -> str:
    if word(answer) in ("MISTAKE", "A MISTAKE"):
        raise Hint("the first difference is that of 0.3 in the two precisions: a hundredth of a millionth.")
    if word(answer) != "ROUNDING":
        raise Hint('answer "rounding" or "mistake".')
    return "it begins with 1e-8 and doubles each year. Chaos makes a large difference of it, without any mistake."


@exercise("12.4", "wb.diff(double, single, rtol=1e-7, atol=1e-7).equal, and so on.")
def tolerance(answer: Any) -> str:
    found = number(answer)
    tried = (1e-8, 1e-7, 1e-6, 1e-5, 1e-4)
    if not any(np.isclose(found, one, rtol=1e-3, atol=0.0) for one in tried):
        raise Hint("choose one of 1e-8, 1e-7, 1e-6, 1e-5 and 1e-4.")
    if found < 0.9e-6:
        raise Hint(f"with rtol = {found:.0e} some values still differ.")
    if found > 1.1e-6:
        raise Hint(f"with rtol = {found:.0e} they are equal, but it is not the smallest.")
    return "1e-6: some 231 iterations have collected a few units in the last place of float32."
