# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Solutions: looking into a JAX loop
#
# The exercises are in [15_jax_loop.ipynb](../15_jax_loop.ipynb). There are other right answers; the checks accept them
# too.

# %%
import sys

sys.path.insert(0, "..")  # the checks lie beside the notebooks
import course
import jax
import jax.numpy as jnp
from jax import lax

import workbench as wb

# %% [markdown]
# **15.1** The state of two of the four loops comes back bit for bit.

# %%
x = jnp.linspace(0.0, 1.0, 20)
y = 3.0 * x + 1.0 + 0.1 * jnp.sin(30.0 * x)


def loss(w):
    return jnp.mean((w[0] * x + w[1] - y) ** 2)


def fit(start, rate, tolerance):
    def steep(state):
        w, slope = state
        return jnp.max(jnp.abs(slope)) > tolerance

    def descend(state):
        w, slope = state
        w = w - rate * slope
        return w, jax.grad(loss)(w)

    return lax.while_loop(steep, descend, (start, jax.grad(loss)(start)))


start = jnp.zeros(2)
graph = wb.from_jax(fit, start, 0.5, 1e-5)
endless = []
for tolerance in (1e-5, 1e-6, 1e-7, 1e-8):
    with wb.Session(graph, graph.feeds(start, 0.5, tolerance)) as session:
        session.next_iteration()
        answer = session.termination()
    print(f"{tolerance:.0e}: {answer.status.name}, {answer.outcome}")
    if answer.outcome == "never":
        endless.append(tolerance)
course.check_answer("15.1", endless)

# %% [markdown]
# **15.2** Another array of another length is another graph.


# %%
def spread(readings):
    def step(carry, reading):
        total, squares, n = carry
        total, squares, n = total + reading, squares + reading**2, n + 1.0
        mean = total / n
        deviation = jnp.sqrt(squares / n - mean**2)
        return (total, squares, n), deviation

    return lax.scan(step, (0.0, 0.0, 0.0), readings)[1]


readings = course.weighings()
graph = wb.from_jax(spread, readings)
with wb.Session(graph, graph.feeds(readings)) as session:
    session.run()
    origin = wb.nan_origin(session)
course.check_answer("15.2", origin.iteration[0])

# %% [markdown]
# **15.3** The NaN is in no result, but it is in the record.


# %%
def log_density(p):
    return 7.0 * jnp.log(p) + 3.0 * jnp.log(1.0 - p)


def sample(key, start, width):
    def step(state, key):
        p, level = state
        move, coin = jax.random.split(key)
        proposal = p + width * jax.random.normal(move)
        proposed = log_density(proposal)
        rejected = jnp.log(jax.random.uniform(coin)) > proposed - level
        new = jnp.where(rejected, p, proposal), jnp.where(rejected, level, proposed)
        return new, new[0]

    return lax.scan(step, (start, log_density(start)), jax.random.split(key, 100))[1]


key = jax.random.key(5)
graph = wb.from_jax(sample, key, 0.5, 0.2)
with wb.Session(graph, graph.feeds(key, 0.5, 0.2)) as session:
    session.run()
    origin = wb.nan_origin(session)
print(origin.why)
course.check_answer("15.3", origin.iteration[0])

# %% [markdown]
# **15.4** Welford's method carries the mean itself, so that no large numbers are subtracted.


# %%
def step(carry, reading):
    mean, squares, n = carry
    n = n + 1.0
    new = mean + (reading - mean) / n
    squares = squares + (reading - mean) * (reading - new)
    return (new, squares, n), jnp.sqrt(squares / n)


print(lax.scan(step, (0.0, 0.0, 0.0), readings)[1].round(4))
course.check_answer("15.4", step)

# %%
course.score("15")
