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

notebook = course.definitions("15_jax_loop")  # fit, spread and sample are those of the notebook

# %% [markdown]
# **15.1** The state of two of the four loops comes back bit for bit.

# %%
fit, start = notebook.fit, notebook.start
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
readings = course.weighings()
graph = wb.from_jax(notebook.spread, readings)
with wb.Session(graph, graph.feeds(readings)) as session:
    session.run()
    origin = wb.nan_origin(session)
course.check_answer("15.2", origin.iteration[0])

# %% [markdown]
# **15.3** The NaN is in no result, but it is in the record.

# %%
key = jax.random.key(5)
graph = wb.from_jax(notebook.sample, key, 0.5, 0.2)
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
