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
# # Your own loop
#
# [◂ 13 A wrong result](13_wrong_result.ipynb) · [the course](README.md) ·
# [15 Looking into a JAX loop ▸](15_jax_loop.ipynb)
#
# Until now every loop was a graph that the workbench ran. Most loops are not graphs: a solver of SciPy runs them, or
# they are a training loop that you wrote. People watch such loops with print statements. `wb.watch` records them with
# one line, and all that you have learned about convergence, forecasts and false ends holds for them too.
#
# **After this notebook you can**
#
# 1. record a loop that a library runs, by its callback;
# 2. record a loop of your own, and forecast how far it is from its end;
# 3. see from the record that a training goes wrong, and why;
# 4. watch a cell without changing a line of it.
#
# It takes about 35 minutes with the exercises.

# %%
import course
import numpy as np
import scipy.optimize
import scipy.sparse.linalg

import workbench as wb
from workbench.recorder import watches
from workbench.recorder.adapters import residual_callback
from workbench.widgets import EvolutionView

# %% [markdown]
# ## 1. A loop inside a library
#
# `scipy.optimize.minimize` looks for the lowest point of Rosenbrock's valley. It returns the result, but not the path
# to it. A watch can be its callback: SciPy calls it after each iteration.

# %%
bfgs = wb.watch("bfgs", show=False)  # without show=False a live view appears here
found = scipy.optimize.minimize(scipy.optimize.rosen, [-1.2, 1.0], method="BFGS", callback=bfgs)
bfgs.finish()
print("as many iterations are recorded as SciPy reports:", bfgs.calls == found.nit)
print("variables:", bfgs.names)
print("last values equal the result:", bool(bfgs["fun"].values[-1] == found.fun))

# %% jupyter={"source_hidden": true} tags=["check"]
assert bfgs.calls == found.nit and np.array_equal(bfgs["x"].values[-1], found.x)

# %% [markdown]
# Each variable is a series, an array with one row per iteration, for NumPy, pandas and matplotlib:

# %%
fun = np.asarray(bfgs["fun"])
print("f after 5, 10, 20 iterations:", fun[[4, 9, 19]].round(1))  # further digits differ between processors
print("iterations in which f grew:", int((np.diff(fun) > 0).sum()))

# %% tags=["nbval-ignore-output"]
EvolutionView(bfgs.trace, ["fun"])

# %% [markdown]
# The first half of the way is slow, along the bottom of the valley. Press *log*: at the end the curve falls faster
# and faster, since BFGS converges *superlinearly* there.
#
# ## 2. How many more?
#
# Conjugate gradients solve a linear system. The solver hands over `x`, but not the residual; an adapter computes it,
# which costs one product with the matrix per iteration. `until` names the condition that the loop waits for.

# %% tags=["nbval-ignore-output"]
n = 400
poisson = scipy.sparse.diags_array([-1.0, 2.02, -1.0], offsets=[-1, 0, 1], shape=(n, n)).tocsr()
right = np.ones(n) + np.sin(np.arange(n))
cg = wb.watch("cg", until={"residual": ("<", 1e-10)})
x, info = scipy.sparse.linalg.cg(poisson, right, rtol=1e-10, callback=residual_callback(cg, poisson, right))
cg.finish()

# %%
print("iterations:", cg.calls, "| last residual:", f"{cg['residual'].values[-1]:.1e}")

# %% jupyter={"source_hidden": true} tags=["check"]
assert cg.calls > 50 and cg["residual"].values[-1] < 1e-10

# %% [markdown]
# Could you have known that earlier? Play the first part of the record into a second watch, as if the solver were at
# that point, and make a forecast.

# %%
seen = cg.calls * 6 // 10
half = wb.watch("cg, so far", until={"residual": ("<", 1e-10)}, show=False)
with half:
    for residual in cg["residual"].values[:seen]:
        half(residual=residual)
    answer = half.analyze().loops["cg, so far"].termination
print(answer.status.name, "|", answer.outcome)
print("actually left:", cg.calls - seen, "| forecast:", answer.remaining, "| interval:", answer.interval)

# %% jupyter={"source_hidden": true} tags=["check"]
assert answer.status.name == "PREDICTED" and answer.outcome == "terminates"

# %% [markdown]
# The answer of a watch is **PREDICTED**, and never PROVED: a watch has the values of the loop, but not its code. A
# proof needs the code (that is what the graphs of the other notebooks are for).
#
# ## 3. A training loop
#
# Logistic regression again, as in [09](09_nan_hunt.ipynb), this time in plain NumPy. The block `with wb.watch(...)`
# is the record of the loop; each call of the watch in it is an iteration. `slope` is the length of the gradient.

# %%
random = np.random.default_rng(3)
points = random.normal(size=(200, 2))
labels = (points @ [2.0, -1.0] + random.normal(size=200) > 0).astype(float)


def gradient(w):
    """Gradient of the mean logistic loss."""
    p = 1.0 / (1.0 + np.exp(-points @ w))
    return points.T @ (p - labels) / len(labels)


def train(rate, steps=200):
    """Gradient descent; the watch."""
    w = np.zeros(2)
    with wb.watch(f"rate {rate:g}", until={"slope": ("<", 1e-9)}, show=False) as watch:
        for _ in range(steps):
            g = gradient(w)
            w = w - rate * g
            watch(slope=np.linalg.norm(g), w=w)
            if np.linalg.norm(g) < 1e-9:
                break
    return watch


runs = [train(rate) for rate in (1.0, 8.0, 40.0)]
for run in runs:
    shape = wb.classify(run["w"].values[:, 0])
    print(f"{run.name:8}  {run.calls:3} steps  slope {run['slope'].values[-1]:.1e}  {shape.label.name}")

# %% jupyter={"source_hidden": true} tags=["check"]
assert runs[1]["slope"].values[-1] < runs[0]["slope"].values[-1] < runs[2]["slope"].values[-1]
assert [wb.classify(run["w"].values[:, 0]).label.name for run in runs] == ["CONVERGING", "CONVERGING", "OSCILLATING"]

# %% [markdown]
# A rate of 1 converges, a rate of 8 converges faster, and a rate of 40 never settles: each step jumps over the valley
# to the other side. The slope alone does not show this: it settles too, though not at 0. The label of the weights
# does, and so do the last weights themselves.

# %%
print(runs[2]["w"].values[-4:].round(3))

# %% tags=["nbval-ignore-output"]
EvolutionView(runs[2].trace, ["slope"])

# %% [markdown]
# ## 4. A cell as it is
#
# For a cell that you do not want to touch there is `%%watch`, with the names to record. The calls are inserted when
# the cell runs; its text, its results and its errors stay the same. `%%watch?` explains it.

# %% tags=["nbval-ignore-output"]
# %%watch x, error until error < 1e-12
x, error = 2.0, 1.0
while error > 1e-12:
    new = (x + 2.0 / x) / 2
    error = abs(new - x)
    x = new

# %%
newton = watches()[-1]  # the newest one; _watch has it, too
print(newton.calls, "iterations of", newton.names)
print("errors:", ", ".join(f"{value:.0e}" for value in newton["error"].values))

# %% jupyter={"source_hidden": true} tags=["check"]
assert newton.names == ["x", "error"] and newton.calls == 6

# %% [markdown]
# ## 5. Exercises
#
# **14.1** The watch of section 1 recorded `x` and `fun` of BFGS. After how many iterations was `fun` for the first time
# below 1e-3?

# %%
iterations = ...
course.check_answer("14.1", iterations)

# %% [markdown]
# **14.2** Write a function that solves `cos(x) == x` by the iteration `x = cos(x)` from 1.0, until the change is below
# 1e-8, and records `change` in each iteration. It returns its watch.


# %%
def fixed_point():
    return ...


course.check_answer("14.2", fixed_point)

# %% [markdown]
# **14.3** By which factor does the `change` of 14.2 shrink in each iteration, to two digits? (`wb.classify` gives the
# rate.)

# %%
rate = ...
course.check_answer("14.3", rate)

# %% [markdown]
# ## What you have seen
#
# - `wb.watch("name")` is a callback, a block and a magic: one line records a loop that runs elsewhere.
# - Its record is a trace like any other: series, labels, rates, forecasts, comparisons.
# - A forecast without the code is PREDICTED. `until` names the condition that is forecast.
# - Adapters for other libraries (PyTorch, Keras, JAX and others) are in `workbench.recorder.adapters`.
#
# JAX compiles its loops, so that no call of a watch can be in them. They can be opened all the same:
# [15 Looking into a JAX loop](15_jax_loop.ipynb).

# %%
course.score("14")
