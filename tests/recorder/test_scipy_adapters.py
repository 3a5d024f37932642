"""SciPy loops: a watch as the callback, and adapters for solvers without a callback or with too few values in it."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.integrate
import scipy.optimize
import scipy.sparse.linalg

import workbench as wb
from workbench.errors import WatchError
from workbench.recorder.adapters import petsc_monitor, residual_callback, watched_method

ROSEN = {"fun": scipy.optimize.rosen, "x0": [-1.2, 1.0, 0.5]}
SYSTEM = np.diag(np.arange(1.0, 21.0)) + 0.1
RIGHT = np.arange(20.0)


def quiet(name: str) -> wb.Watch:
    return wb.watch(name)


@pytest.mark.parametrize(
    "method",
    ["Powell", "CG", "BFGS", "Newton-CG", "L-BFGS-B", "SLSQP", "trust-ncg", "trust-exact", "TNC", "trust-constr"],
)
def test_minimize_reports_as_many_iterations_as_are_recorded(method):
    watch = quiet(method)
    more = {"jac": scipy.optimize.rosen_der} if method not in ("Powell",) else {}
    if method in ("Newton-CG", "trust-ncg", "trust-exact", "trust-constr"):
        more["hess"] = scipy.optimize.rosen_hess
    found = scipy.optimize.minimize(**ROSEN, method=method, callback=watch, **more)
    assert watch.calls == found.nit and np.array_equal(watch["x"].values[-1], found.x)
    if method != "TNC":  # it passes x alone
        assert watch["fun"].values[-1] == found.fun


def test_least_squares_and_differential_evolution():
    watch = quiet("least squares")
    found = scipy.optimize.least_squares(
        lambda x: np.array([10 * (x[1] - x[0] ** 2), 1 - x[0]]), [-1.2, 1.0], callback=watch
    )
    assert watch["cost"].values[-1] == found.cost and np.array_equal(watch["x"].values[-1], found.x)
    assert np.isclose(watch["residual"].values[-1], np.linalg.norm(found.fun))
    watch = quiet("evolution")
    found = scipy.optimize.differential_evolution(
        scipy.optimize.rosen, [(-2, 2)] * 2, seed=1, maxiter=20, polish=False, callback=watch
    )
    assert watch.calls == found.nit and {"x", "fun", "convergence"} <= set(watch.names)
    assert watch["fun"].values[-1] == found.fun


@pytest.mark.parametrize("method", ["broyden1", "anderson", "krylov", "df-sane"])
def test_root_records_the_residual(method):
    watch = quiet(method)
    found = scipy.optimize.root(lambda x: np.cos(x) - x, np.ones(3), method=method, callback=watch)
    assert found.success and watch.calls >= found.nit - 1 and watch["residual"].values[-1] < 1e-4
    assert np.allclose(watch["x"].values[-1], found.x, atol=1e-4)


def test_basinhopping_and_dual_annealing():
    watch = quiet("hops")
    found = scipy.optimize.basinhopping(scipy.optimize.rosen, [-1.2, 1.0], niter=3, rng=1, callback=watch)
    assert watch.calls == found.nit + 1 and watch.names[:2] == ["x", "fun"] and "accept" in watch.names
    watch = quiet("annealing")
    scipy.optimize.dual_annealing(scipy.optimize.rosen, [(-2, 2)] * 2, maxiter=20, rng=1, callback=watch)
    assert watch.names == ["x", "fun", "context"] and (np.diff(watch["fun"].values) <= 0).all()


def test_a_stop_ends_a_solver_that_can_be_ended():
    watch = quiet("bfgs")

    def slow(x):
        if watch.calls == 3:
            watch.request_stop()
        return scipy.optimize.rosen(x)

    found = scipy.optimize.minimize(slow, [-1.2, 1.0], callback=watch)
    assert found.status == 99 and watch.calls == 4


@pytest.mark.parametrize("solver", ["cg", "bicg", "bicgstab", "cgs", "minres", "qmr", "tfqmr"])
def test_linear_solvers_change_x_in_place_and_the_record_does_not(solver):
    watch = quiet(solver)
    solve = getattr(scipy.sparse.linalg, solver)
    x, info = solve(SYSTEM, RIGHT, rtol=1e-10, callback=residual_callback(watch, SYSTEM, RIGHT))
    assert info == 0 and watch.calls >= 5
    states, residuals = watch["x"].values, watch["residual"].values
    assert not np.array_equal(states[0], states[-1])
    again = [np.linalg.norm(RIGHT - SYSTEM @ state) / np.linalg.norm(RIGHT) for state in states]
    assert np.allclose(residuals, again, rtol=1e-12, atol=1e-15)
    if solver != "bicgstab":  # it may leave at its half step, without a call
        assert np.array_equal(states[-1], x)
    plain = quiet(f"{solver}, plain")
    solve(SYSTEM, RIGHT, rtol=1e-10, callback=plain)
    assert np.array_equal(plain["x"].values, states)


def test_gmres_hands_over_its_residual():
    watch = quiet("gmres")
    scipy.sparse.linalg.gmres(SYSTEM, RIGHT, rtol=1e-10, callback=watch, callback_type="pr_norm")
    assert watch.names == ["value"] and watch["value"].values[-1] < 1e-9
    outer = quiet("gmres, restarts")
    call = residual_callback(outer, SYSTEM, RIGHT)
    scipy.sparse.linalg.gmres(SYSTEM, RIGHT, rtol=1e-10, restart=5, callback=call, callback_type="x")
    assert outer.calls >= 2 and outer["residual"].values[-1] < 1e-9


@pytest.mark.parametrize("method", ["RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA"])
def test_solve_ivp_records_its_accepted_steps(method):
    def pol(t, y):
        return [y[1], 30.0 * (1 - y[0] ** 2) * y[1] - y[0]]

    watch = quiet(method)
    found = scipy.integrate.solve_ivp(pol, (0, 40), [2.0, 0.0], method=watched_method(watch, method))
    plain = scipy.integrate.solve_ivp(pol, (0, 40), [2.0, 0.0], method=method)
    assert found.success and np.array_equal(found.t, plain.t) and np.array_equal(found.y, plain.y)
    assert watch["t"].values.tolist() == found.t[1:].tolist() and np.array_equal(watch["y"].values, found.y[:, 1:].T)
    assert watch["nfev"].values[-1] == plain.nfev
    if method in ("RK23", "RK45", "DOP853"):
        stages = getattr(scipy.integrate, method).n_stages
        trials = watch.calls + int(watch["rejected"].values.sum())
        assert plain.nfev == 2 + stages * trials  # two for the choice of the first step
        assert watch["rejected"].values.sum() > 0
    else:
        assert "rejected" not in watch.names


def test_a_stop_ends_solve_ivp():
    watch = quiet("ivp")
    watch.request_stop()
    found = scipy.integrate.solve_ivp(lambda t, y: -y, (0, 5), [1.0], method=watched_method(watch))
    assert found.status == -1 and "asked to stop" in found.message and watch.calls == 1


def test_a_method_that_there_is_not():
    with pytest.raises(WatchError) as caught:
        watched_method(quiet("ivp"), "RK99")
    assert caught.value.slug == "no-such-method" and "Radau" in str(caught.value)


def test_the_monitor_for_petsc_records_what_its_documentation_says():
    watch = quiet("ksp")
    monitor = petsc_monitor(watch)
    for its in range(3):
        monitor(None, its, 10.0**-its)
    assert watch["residual"].values.tolist() == [1.0, 0.1, 0.01] and watch["its"].values.tolist() == [0, 1, 2]
