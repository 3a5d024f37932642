"""Solvers, optimisers, an ODE with rejected steps and samplers of other libraries, as programs.

Each gives the bits that JAX gives equation by equation, steps, and is told the truth about its end: a proved number of
iterations is the number that then follows.
"""

from __future__ import annotations

import blackjax
import diffrax
import jax
import jax.numpy as jnp
import jaxopt
import lineax
import numpy as np
import optax
import optimistix as optx
import pytest
from jax import lax
from jaxopt.projection import projection_non_negative

import workbench as wb
from tests.jax.harness import difference, numbers
from tests.jax.op_by_op import results
from workbench.analysis.verdict import Status

pytestmark = pytest.mark.jax
START = jnp.array([-1.2, 1.0])


def rosenbrock(y, args=None):
    return (1 - y[0]) ** 2 + 100 * (y[1] - y[0] ** 2) ** 2


def residuals(y, args=None):
    return jnp.stack([1 - y[0], 10 * (y[1] - y[0] ** 2)])


def minimised(solver):
    return lambda y: optx.minimise(rosenbrock, solver, y, max_steps=40, throw=False).value


def fitted(solver):
    return lambda y: optx.least_squares(residuals, solver, y, max_steps=12, throw=False).value


def root(solver, **options):
    def find(y):
        return optx.root_find(
            lambda y, args: jnp.cos(y) - y, solver, y, max_steps=50, throw=False, options=options
        ).value

    return find


def fixed_point(y):
    solver = optx.FixedPointIteration(rtol=1e-5, atol=1e-5)
    return optx.fixed_point(lambda y, args: jnp.cos(y), solver, y, max_steps=80, throw=False).value


def ode(y):
    solution = diffrax.diffeqsolve(
        diffrax.ODETerm(lambda t, y, args: -20 * y * jnp.cos(7 * t)),
        diffrax.Tsit5(),
        0.0,
        0.5,
        0.3,
        y,
        stepsize_controller=diffrax.PIDController(rtol=1e-3, atol=1e-3),
        max_steps=300,
        throw=False,
    )
    return solution.ys, solution.stats["num_rejected_steps"]


def adam(y):
    rule = optax.adam(0.1)

    def step(carry, _):
        y, state = carry
        updates, state = rule.update(jax.grad(rosenbrock)(y), state)
        return (optax.apply_updates(y, updates), state), rosenbrock(y)

    return lax.scan(step, (y, rule.init(y)), None, length=30)[1]


def sampled(method, **options):
    def run(key):
        chain = method(lambda x: -0.5 * jnp.sum(x**2), inverse_mass_matrix=jnp.ones(2), **options)
        return lax.scan(
            lambda state, key: (lambda new: (new, new.position))(chain.step(key, state)[0]),
            chain.init(jnp.ones(2)),
            jax.random.split(key, 4),
        )[1]

    return run


def conjugate_gradients(b):
    operator = lineax.FunctionLinearOperator(
        lambda v: v * jnp.array([1.0, 2.0, 3.0]),
        jax.ShapeDtypeStruct((3,), jnp.float32),
        lineax.positive_semidefinite_tag,
    )
    return lineax.linear_solve(operator, b, lineax.CG(rtol=1e-5, atol=1e-5), throw=False).value


def golden(y):
    options = {"lower": -1.0, "upper": 1.0}
    solver = optx.GoldenSearch(rtol=1e-4, atol=1e-4)
    return optx.minimise(lambda y, args: (y - 0.3) ** 2, solver, y, options=options, max_steps=40, throw=False).value


def improved(method, function, *more):
    return lambda y: method(function, *more, maxiter=7, tol=1e-5).run(y).params


def sliced(key):
    chain = blackjax.elliptical_slice(lambda x: -0.1 * jnp.sum(x**4), mean=jnp.zeros(2), cov=jnp.eye(2))
    return lax.scan(
        lambda state, key: (lambda new: (new, new.position))(chain.step(key, state)[0]),
        chain.init(jnp.ones(2)),
        jax.random.split(key, 3),
    )[1]


def until_low(y):
    solution = diffrax.diffeqsolve(
        diffrax.ODETerm(lambda t, y, args: -3 * y),
        diffrax.Heun(),
        0.0,
        1.0,
        0.1,
        y,
        event=diffrax.Event(lambda t, y, args, **more: y < 0.2),
        max_steps=50,
        throw=False,
    )
    return solution.ys


KEY = jax.random.key(0)
PROGRAMS = {
    "BFGS": (minimised(optx.BFGS(rtol=1e-5, atol=1e-5)), START),
    "Nelder-Mead": (minimised(optx.NelderMead(rtol=1e-4, atol=1e-4)), START),
    "nonlinear CG": (minimised(optx.NonlinearCG(rtol=1e-4, atol=1e-4)), START),
    "Levenberg-Marquardt": (fitted(optx.LevenbergMarquardt(rtol=1e-5, atol=1e-5)), START),
    "Dogleg": (fitted(optx.Dogleg(rtol=1e-5, atol=1e-5)), START),
    "Gauss-Newton": (fitted(optx.GaussNewton(rtol=1e-5, atol=1e-5)), START),
    "Newton": (root(optx.Newton(rtol=1e-5, atol=1e-5)), jnp.array(0.3)),
    "bisection": (root(optx.Bisection(rtol=1e-5, atol=1e-5), lower=0.0, upper=1.0), jnp.array(0.3)),
    "fixed point": (fixed_point, jnp.array(0.3)),
    "ODE with rejected steps": (ode, jnp.array(1.0)),
    "Adam": (adam, START),
    "NUTS": (sampled(blackjax.nuts, step_size=0.5), KEY),
    "HMC": (sampled(blackjax.hmc, step_size=0.3, num_integration_steps=5), KEY),
    "linear CG": (conjugate_gradients, jnp.array([1.0, 2.0, 3.0])),
    "DFP": (minimised(optx.DFP(rtol=1e-5, atol=1e-5)), START),
    "golden section": (golden, jnp.array(0.0)),
    "Anderson": (improved(jaxopt.AndersonAcceleration, jnp.cos), jnp.array([0.3, 0.1])),
    "fixed point of jaxopt": (improved(jaxopt.FixedPointIteration, jnp.cos), jnp.array([0.3])),
    "Gauss-Newton of jaxopt": (improved(jaxopt.GaussNewton, residuals), START),
    "projected gradient": (improved(jaxopt.ProjectedGradient, rosenbrock, projection_non_negative), START),
    "slice sampler": (sliced, KEY),
    "ODE with an event": (until_low, jnp.array(1.0)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_values_are_those_of_jax_and_the_end_is_told_truly(name):
    function, start = PROGRAMS[name]
    graph = wb.from_jax(function, start)
    feeds = graph.feeds(start)
    given = graph.run(feeds)
    for wanted, value in zip(results(function, start), given.values(), strict=True):
        assert difference(numbers(wanted), np.asarray(value), 0) is None
    for loop in [path[0] for path in graph.frames if len(path) == 1]:
        with wb.Session(graph, feeds) as session:
            session.run_to(graph.frames[loop,].loop_cond, iteration=2)
            answer = session.termination(loop)
            before = iterations(session, loop)
            session.run()
            left = iterations(session, loop) - before - 1  # in the last one only the condition is computed
        assert answer.status in (Status.PROVED, Status.PREDICTED, Status.UNKNOWN)
        if answer.status is Status.PROVED:
            assert answer.outcome == "terminates" and answer.remaining in (None, left)


def test_the_loop_of_a_linear_solver_is_opened():
    function, start = PROGRAMS["linear CG"]
    graph = wb.from_jax(function, start)
    assert [path for path in graph.frames if path] and graph.regions["linear_solve"].kind == "call"
    with wb.Session(graph, graph.feeds(start)) as session:
        session.next_iteration(2)
        assert session.termination().status is Status.PROVED


def newton_from_0(x):
    return lax.while_loop(
        lambda x: jnp.abs(x**3 - 2 * x + 2) > 1e-4, lambda x: x - (x**3 - 2 * x + 2) / (3 * x**2 - 2), x
    )


def halves(x):
    def narrowed(s):
        low, high = s
        middle = (low + high) / 2
        return jnp.where(middle**2 < x, middle, low), jnp.where(middle**2 < x, high, middle)

    return lax.while_loop(lambda s: s[1] - s[0] > 1e-9, narrowed, (jnp.float32(0), x))


ENDLESS = {
    "Newton in a cycle of two": (newton_from_0, np.float32(0.0)),
    "a bisection below float32": (halves, np.float32(5.0)),
    "Collatz from -5": (
        lambda n: lax.while_loop(lambda n: n != 1, lambda n: jnp.where(n % 2 == 0, n // 2, 3 * n + 1), n),
        np.int32(-5),
    ),
    "a frozen NaN": (
        lambda x: lax.while_loop(lambda x: ~(x < 1e-3), lambda x: jnp.where(x > 2, x / 2, jnp.inf - jnp.inf), x),
        np.float32(8.0),
    ),
    "a step that is lost": (lambda x: lax.while_loop(lambda x: x < 3e7, lambda x: x + 1, x), np.float32(16777210.0)),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_loops_that_never_end_are_proved(name):
    function, start = ENDLESS[name]
    graph = wb.from_jax(function, start)
    with wb.Session(graph, graph.feeds(start)) as session:
        session.next_iteration(3)
        answer = session.termination()
    assert answer.status is Status.PROVED and answer.outcome == "never"


def iterations(session, loop):
    return len(session.trace[session.graph.frames[loop,].loop_cond].values)
