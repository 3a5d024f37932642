"""``python -m tests.recorder.score_watch [--runs 300] [--seed 1] [--wrong]``: the recorder against SciPy itself.

Two tables. *Equal*: iteration counts and last values of a watch beside what the solver returns. *Forecasts*: of each
run the first 30 % of its iterations are played into a watch with the tolerance of the solver as ``until``; the answer
then is compared with the iteration in which the whole run got there. ``answered`` counts forecasts with an interval,
``covered`` those of them whose interval holds the truth, in per cent with a 90 % Wilson interval; ``error`` is the
median error of the count in per cent of the run; ``never`` counts answers that say that a loop never ends, which did.

The problems are of the kinds of SciPy's own tests, with random sizes, conditions, starts and tolerances: Poisson
matrices, random symmetric definite and nearly symmetric ones (sparse/linalg), systems as those of test_nonlin (root),
Rosenbrock's, Beale's and Himmelblau's functions and quadratics (minimize), and the oscillator of test_ivp.
"""

from __future__ import annotations

import argparse
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.optimize
import scipy.sparse
import scipy.sparse.linalg
from scipy.integrate import solve_ivp

import workbench as wb
from tests.evaluation.score_forecasts import share
from workbench.recorder.adapters import residual_callback, watched_method

FIRST = 0.3
#: shorter runs have too little of a first third
SHORTEST = 20


class Run(NamedTuple):
    """The record of one variable, and the comparison that ended the run."""

    family: str
    name: str
    values: np.ndarray
    op: str
    bound: float

    @property
    def count(self) -> int | None:
        """Iterations until the comparison held; None if it never did."""
        met = np.flatnonzero(self.values < self.bound if self.op == "<" else self.values >= self.bound)
        return int(met[0]) + 1 if met.size else None


def _matrix(rng: np.random.Generator, definite: bool) -> Any:
    n = int(rng.integers(60, 500))
    kind = rng.integers(3)
    if kind == 0:
        shift = 10.0 ** rng.uniform(-4, -0.5)
        return scipy.sparse.diags_array([-1.0, 2.0 + shift, -1.0], offsets=[-1, 0, 1], shape=(n, n)).tocsr()
    if kind == 1:
        side = int(np.sqrt(n))
        one = scipy.sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(side, side))
        eye = scipy.sparse.eye_array(side)
        return (scipy.sparse.kron(one, eye) + scipy.sparse.kron(eye, one)).tocsr()
    values = np.geomspace(1.0, 10.0 ** rng.uniform(1, 4), n)
    q, _ = np.linalg.qr(rng.normal(size=(n, n)))
    matrix = (q * values) @ q.T
    return matrix if definite else matrix + 0.1 * np.triu(rng.normal(size=(n, n)), 1)


def linear(rng: np.random.Generator) -> Run:
    """A Krylov solver on one of the matrices of SciPy's test_iterative."""
    solver = str(rng.choice(["cg", "minres", "bicgstab", "gmres", "tfqmr", "cgs"]))
    matrix = _matrix(rng, definite=solver in ("cg", "minres"))
    right = rng.normal(size=matrix.shape[0])
    tolerance = 10.0 ** rng.integers(-10, -4)
    watch = wb.watch(solver)
    solve = getattr(scipy.sparse.linalg, solver)
    if solver == "gmres":
        solve(matrix, right, rtol=tolerance / 10, restart=400, maxiter=3, callback=watch, callback_type="pr_norm")
        return Run("linear", solver, np.asarray(watch["value"], float), "<", tolerance)
    solve(matrix, right, rtol=tolerance / 10, maxiter=2000, callback=residual_callback(watch, matrix, right))
    return Run("linear", solver, np.asarray(watch["residual"], float), "<", tolerance)


def _system(rng: np.random.Generator) -> tuple[Callable[[np.ndarray], np.ndarray], np.ndarray]:
    n = int(rng.integers(3, 40))
    a = np.diag(rng.uniform(1.0, 4.0, n)) + 0.3 / n * rng.normal(size=(n, n))
    kind = rng.integers(3)
    if kind == 0:  # test_nonlin.F
        return lambda x: a @ x + 0.5 * x * (x @ x) / n - 1.0, np.ones(n)
    if kind == 1:  # a discrete boundary value problem, as in test_nonlin
        h = 1.0 / (n + 1)
        t = h * np.arange(1, n + 1)
        return (
            lambda x: 2 * x - np.r_[0, x[:-1]] - np.r_[x[1:], 0] + h * h * (x + t + 1) ** 3 / 2,
            t * (t - 1) * rng.uniform(0.5, 1.5),
        )
    return lambda x: a @ np.tanh(x) + 0.2 * x - 0.5, rng.normal(size=n)


def nonlinear(rng: np.random.Generator) -> Run:
    """A solver of root on a system."""
    method = str(rng.choice(["broyden1", "broyden2", "anderson", "diagbroyden", "linearmixing", "krylov", "df-sane"]))
    f, start = _system(rng)
    tolerance = 10.0 ** rng.integers(-10, -4)
    watch = wb.watch(method)
    options: dict[str, Any] = {"maxiter": 1000} if method != "df-sane" else {"maxfev": 3000}
    options |= {"fatol": tolerance / 100} if method != "df-sane" else {"fatol": tolerance / 100, "ftol": 0.0}
    scipy.optimize.root(f, start, method=method, callback=watch, options=options)
    return Run("root", method, np.asarray(watch["residual"], float), "<", tolerance)


def _function(rng: np.random.Generator) -> tuple[Callable[[np.ndarray], float], np.ndarray]:
    kind = rng.integers(4)
    if kind == 0:
        return scipy.optimize.rosen, rng.uniform(-2, 2, int(rng.integers(2, 7)))
    if kind == 1:
        return (
            lambda x: (
                (1.5 - x[0] + x[0] * x[1]) ** 2
                + (2.25 - x[0] + x[0] * x[1] ** 2) ** 2
                + (2.625 - x[0] + x[0] * x[1] ** 3) ** 2
            ),
            rng.uniform(-1, 2, 2),
        )
    if kind == 2:
        scale = np.geomspace(1.0, 10.0 ** rng.uniform(1, 4), int(rng.integers(3, 20)))
        return lambda x: float(scale @ (x - 1.0) ** 2), rng.normal(size=len(scale))
    return lambda x: (x[0] ** 2 + x[1] - 11) ** 2 + (x[0] + x[1] ** 2 - 7) ** 2, rng.uniform(-4, 4, 2)


def minimisation(rng: np.random.Generator) -> Run:
    """A solver of minimize; the gradient's norm (by differences) is watched."""
    method = str(rng.choice(["BFGS", "CG", "L-BFGS-B", "Nelder-Mead", "Powell"]))
    f, start = _function(rng)
    watch = wb.watch(method)

    def note(x: np.ndarray) -> None:
        watch(slope=float(np.linalg.norm(scipy.optimize.approx_fprime(x, f, 1e-7))), fun=float(f(x)))

    scipy.optimize.minimize(f, start, method=method, callback=lambda xk: note(xk), options={"maxiter": 2000})
    values = np.asarray(watch["slope"], float) if watch.calls else np.array([])
    return Run("minimize", method, values, "<", 10.0 ** rng.integers(-4, -1))


def integration(rng: np.random.Generator) -> Run:
    """Steps of solve_ivp towards the end of its interval."""
    method = str(rng.choice(["RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA"]))
    mu, end = rng.uniform(0.5, 20.0), rng.uniform(10.0, 60.0)
    watch = wb.watch(method)
    f = (
        (lambda t, y: [y[1], mu * (1 - y[0] ** 2) * y[1] - y[0]])
        if rng.random() < 0.5
        else (lambda t, y: [-mu * y[0], -y[1]])
    )
    solve_ivp(f, (0, end), [2.0, 0.5], method=watched_method(watch, method), rtol=10.0 ** rng.integers(-7, -2))
    return Run("solve_ivp", method, np.asarray(watch["t"], float), ">=", end)


FAMILIES = (linear, linear, nonlinear, minimisation, integration)


def runs(count: int, seed: int) -> Iterator[Run]:
    """Runs that met their comparison after at least SHORTEST iterations."""
    rng, made = np.random.default_rng(seed), 0
    while made < count:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                run = FAMILIES[int(rng.integers(len(FAMILIES)))](rng)
            except (scipy.optimize.NoConvergence, ValueError, ArithmeticError):
                continue
        if run.count is not None and run.count >= SHORTEST:
            made += 1
            yield run


class Answer(NamedTuple):
    """A forecast beside the truth, both in iterations that were left."""

    run: Run
    left: int
    status: str
    outcome: str | None
    remaining: int | None
    interval: tuple[int, int | None] | None

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
    return Answer(run, run.count - seen, found.status.name, found.outcome, found.remaining, found.interval)


def table(answers: list[Answer]) -> str:
    """A line for each family, and for all."""
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
        matrix = _matrix(rng, True)
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
    asked = parser.parse_args()
    rows = equal()
    print(f"equal to what SciPy returns: {sum(same for _, same, _ in rows)} of {len(rows)}")
    for name, same, counts in rows:
        if not same:
            print(f"  not equal: {name} ({counts})")
    answers = [forecast(run) for run in runs(asked.runs, asked.seed)]
    print(table(answers))
    for answer in answers:
        if asked.wrong and (answer.covered is False or answer.outcome == "never"):
            print(f"  {answer.run.family} {answer.run.name}: {answer.outcome}, left {answer.left}, {answer.interval}")


if __name__ == "__main__":
    main()
