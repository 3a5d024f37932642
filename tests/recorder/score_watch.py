"""``python -m tests.recorder.score_watch [--runs 300] [--seed 1] [--wrong]``: the recorder against SciPy itself.

Two tables. *Equal*: iteration counts and last values of a watch, compared with the solver's results. *Forecasts*: the
first 30 % of the iterations of each run are played into a watch with the tolerance of the solver as ``until``; the
answer is compared with the iteration in which the whole run reached the tolerance. ``answered`` counts forecasts with
an interval, ``covered`` those of them whose interval contains the truth, in per cent with a 90 % Wilson interval;
``error`` is the median error of the count in per cent of the run; ``never`` counts answers that say that a loop never
ends, which did.

The runs are those of ``scipy_runs``, in two halves by problem: one that the analysis may be tuned on, and one that is
held out.  ``--wrong`` lists the wrong answers of the first, ``--wrong-too`` those of both.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from typing import NamedTuple

import numpy as np
import scipy.optimize
import scipy.sparse.linalg
from scipy.integrate import solve_ivp

import workbench as wb
from tests.evaluation.score_forecasts import share
from tests.recorder.scipy_problems import matrix as problem_matrix
from tests.recorder.scipy_runs import Run, runs
from workbench.recorder.adapters import residual_callback, watched_method

FIRST = 0.3


class Answer(NamedTuple):
    """A forecast and the truth, both in remaining iterations."""

    run: Run
    left: int
    status: str
    outcome: str | None
    remaining: int | None
    interval: tuple[int, int | None] | None
    confidence: float = 0.0
    slug: str = ""

    @property
    def covered(self) -> bool | None:
        if self.outcome != "terminates" or self.interval is None:
            return None
        low, high = self.interval
        return low <= self.left and (high is None or self.left <= high)


def forecast(run: Run) -> Answer:
    """The answer after the first 30 % of a run."""
    assert run.count is not None
    seen = int(run.count * FIRST)
    watch = wb.watch("run", until={"value": (run.op, run.bound)})
    with watch:
        for value in run.values[:seen]:
            watch(value=float(value))
        found = watch.analyze().loops["run"].termination
    return Answer(
        run,
        run.count - seen,
        found.status.name,
        found.outcome,
        found.remaining,
        found.interval,
        found.confidence,
        found.reason.slug,
    )


def table(answers: list[Answer]) -> str:
    """One line per family, and one for all."""
    groups: defaultdict[str, list[Answer]] = defaultdict(list)
    for answer in answers:
        groups[answer.run.family].append(answer)
    lines = [f"{'family':10}  runs  answered  covered                 error  never  proved"]
    for name, group in [*sorted(groups.items()), ("all", answers)]:
        known = [a.covered for a in group if a.covered is not None]
        errors = [100 * abs(a.remaining - a.left) / (a.run.count or 1) for a in group if a.remaining is not None]
        never, proved = sum(a.outcome == "never" for a in group), sum(a.status == "PROVED" for a in group)
        error = f"{np.median(errors):6.1f}" if errors else "     -"
        lines.append(f"{name:10}  {len(group):4}  {len(known):8}  {share(known):22}  {error}  {never:5}  {proved:6}")
    return "\n".join(lines)


def equal() -> list[tuple[str, bool, str]]:
    """Name, whether counts and last values are equal to what SciPy returns, and the counts."""
    rows = []
    for method in (
        "Powell",
        "CG",
        "BFGS",
        "Newton-CG",
        "L-BFGS-B",
        "SLSQP",
        "trust-ncg",
        "trust-exact",
        "trust-constr",
        "TNC",
    ):
        jac = None if method == "Powell" else scipy.optimize.rosen_der
        hess = (
            scipy.optimize.rosen_hess if method in ("Newton-CG", "trust-ncg", "trust-exact", "trust-constr") else None
        )
        for start in ([-1.2, 1.0, 0.5], [2.0, -1.0, 1.0, 0.3], [0.1, 0.2]):
            watch = wb.watch(method)
            found = scipy.optimize.minimize(
                scipy.optimize.rosen, start, method=method, jac=jac, hess=hess, callback=watch
            )
            same = watch.calls == found.nit and np.array_equal(watch["x"].values[-1], found.x)
            if "fun" in watch.names:
                same = same and watch["fun"].values[-1] == found.fun
            rows.append((f"minimize {method} {len(start)}", bool(same), f"{watch.calls} / {found.nit}"))
    for seed in range(3):
        watch = wb.watch("de")
        found = scipy.optimize.differential_evolution(
            scipy.optimize.rosen, [(-2, 2)] * 2, seed=seed, polish=False, maxiter=60, callback=watch
        )
        same = watch.calls == found.nit and watch["fun"].values[-1] == found.fun
        rows.append((f"differential_evolution {seed}", bool(same), f"{watch.calls} / {found.nit}"))
    for method in ("RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA"):
        watch = wb.watch(method)
        found = solve_ivp(
            lambda t, y: [y[1], 5 * (1 - y[0] ** 2) * y[1] - y[0]],
            (0, 20),
            [2.0, 0.0],
            method=watched_method(watch, method),
        )
        same = watch["t"].values.tolist() == found.t[1:].tolist()
        rows.append((f"solve_ivp {method}", same, f"{watch.calls} / {len(found.t) - 1}"))
    rng = np.random.default_rng(0)
    for solver in ("cg", "minres", "cgs", "bicg", "qmr", "tfqmr", "bicgstab"):
        _, matrix = problem_matrix(rng, True)
        right = rng.normal(size=matrix.shape[0])
        watch = wb.watch(solver)
        x, _ = getattr(scipy.sparse.linalg, solver)(
            matrix, right, rtol=1e-8, callback=residual_callback(watch, matrix, right)
        )
        norm = np.linalg.norm(right - matrix @ x) / np.linalg.norm(right)
        rows.append((f"{solver}: last residual", bool(watch["residual"].values[-1] == norm), f"{watch.calls} calls"))
    return rows


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--wrong", action="store_true", help="list the answers whose interval misses the truth")
    parser.add_argument("--wrong-too", action="store_true", help="the same of both halves")
    asked = parser.parse_args()
    rows = equal()
    print(f"equal to what SciPy returns: {sum(same for _, same, _ in rows)} of {len(rows)}")
    for name, same, counts in rows:
        if not same:
            print(f"  not equal: {name} ({counts})")
    answers = [forecast(run) for run in runs(asked.runs, asked.seed)]
    for half, title in enumerate(("may be learnt from", "left out")):
        mine = [a for a in answers if a.run.half == half]
        print(f"\n{title}\n{table(mine)}")
        for a in mine:
            listed = asked.wrong_too or asked.wrong and not half
            if listed and (a.covered is False or a.outcome == "never"):
                said = f"{a.outcome} [{a.slug}] {a.confidence:.3f}"
                print(f"  {a.run.family} {a.run.name} {a.run.problem}: {said}, left {a.left}, {a.interval}")


if __name__ == "__main__":
    main()
