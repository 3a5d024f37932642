"""``python -m tests.evaluation.ablate_laws [EACH] [RECORDS.npz]``: what each declared law is worth.

A line for all laws, then one that leaves out each in its turn: of random loops (EACH of a family) the share of
intervals that hold and their median width in parts of the way ahead, ends within a factor of two at 30 %, false
"never" and endless loops found; with a file of records of solvers (``v0``, ``v1`` ... and their ``meta`` as JSON:
truth, end, bound, evident) ends within a factor of two at 30 and 50 %, the score of their intervals, false "never",
and those found that never end.
A law whose line is as good as the first one tells nothing that the others do not.
"""

from __future__ import annotations

import functools
import json
import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from tests.evaluation.random_loops.families import RandomLoop, all_loops
from tests.evaluation.score_forecasts import rows
from workbench.analysis import Termination, TerminationMonitor
from workbench.analysis.forecast import operand
from workbench.analysis.laws.posterior import LAWS

#: An answer without an interval counts as one from 1 to this many times the values seen; no score is worse than this.
FAR, WORST = 40.0, 20.0
#: Moments of a record of a solver, as shares of its way to its end, and iterations after it shows that there is none.
MOMENTS, AFTER = (0.3, 0.5), 50


@contextmanager
def left_out(name: str) -> Iterator[None]:
    """Forecasts without the law of this name; with all of them for ""."""
    asked = operand.outlook
    operand.outlook = functools.partial(asked, without=name)  # type: ignore[assignment]
    try:
        yield
    finally:
        operand.outlook = asked


def of_loops(loops: list[RandomLoop]) -> str:
    """The figures of random loops."""
    found = [r for loop in loops for r in rows(loop)]
    ends = [r for r in found if r.truth is not None]
    wide = [r for r in ends if r.covered is not None and r.answer.interval[0] != r.answer.interval[1]]  # type: ignore[index]
    width = [(min(r.answer.interval[1] or math.inf, 1e9) - r.answer.interval[0]) / r.truth for r in wide]  # type: ignore[index,operator,type-var]
    near = [_near(r.answer, r.truth) for r in ends if r.percent == 30]
    return (
        f"loops: hold {np.mean([r.covered for r in wide]):.3f} width {np.median(width):.3f} "
        f"factor 2 {np.mean(near):.3f} "
        f"false never {np.mean([r.answer.outcome == 'never' for r in ends]):.4f} "
        f"found {np.mean([r.answer.outcome == 'never' for r in found if r.truth is None]):.3f}"
    )


def of_records(file: Path) -> str:
    """The figures of records of solvers."""
    data = np.load(file)
    near: dict[float, list[bool]] = {at: [] for at in MOMENTS}
    score: dict[float, list[float]] = {at: [] for at in MOMENTS}
    false, found = [], []
    for i, meta in enumerate(json.loads(str(data["meta"]))):
        values = data[f"v{i}"]
        if meta["truth"] == "never":
            found.append(_asked(values[: meta["evident"] + AFTER], meta["bound"]).outcome == "never")
        if meta["truth"] != "ends":
            continue
        for at in MOMENTS:
            seen = max(8, int(at * meta["end"]))
            if seen < meta["end"]:
                answer, left = _asked(values[:seen], meta["bound"]), meta["end"] - seen + 1
                near[at].append(_near(answer, left))
                score[at].append(interval_score(answer, left, seen))
                false.append(answer.outcome == "never")
    by_moment = [f"{at:.0%} factor 2 {np.mean(near[at]):.3f} score {np.mean(score[at]):.2f}" for at in MOMENTS]
    return f"records: {' '.join(by_moment)} false never {np.mean(false):.4f} found {np.mean(found):.3f}"


def interval_score(answer: Termination, left: int, seen: int) -> float:
    """Winkler's score of a 90 % interval of the logarithm to base 2 of the iterations left: less is better."""
    if answer.outcome == "never":
        return WORST
    low, high = answer.interval if answer.outcome == "terminates" and answer.interval else (1, None)
    at = math.log2(left)
    a, b = math.log2(max(1, low)), math.log2(min(max(low, high or math.inf, 1), FAR * seen))
    return min(WORST, max(b - a, 0.0) + 20.0 * max(0.0, a - at, at - b))


def _asked(values: np.ndarray, bound: float) -> Termination:
    monitor = TerminationMonitor([("value", "bound")])
    for value in values.tolist():
        monitor.observe({"value": value}, True, [(value, ">=", bound)])
    return monitor.prediction()


def _near(answer: Termination, left: Any) -> bool:
    return answer.remaining is not None and bool(abs(math.log2(max(1, answer.remaining) / left)) <= 1.0)


def main() -> None:
    each = next((int(a) for a in sys.argv[1:] if a.isdigit()), 6)
    file = next((Path(a) for a in sys.argv[1:] if a.endswith(".npz")), None)
    loops = list(all_loops(each, seed=3))
    for name in ("", *(law.name for law in LAWS)):
        with left_out(name):
            print(f"{'without ' + name if name else 'all laws':32s}", of_loops(loops), of_records(file) if file else "")


if __name__ == "__main__":
    main()
