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
# # A thousand loops
#
# [◂ 15 Looking into a JAX loop](15_jax_loop.ipynb) · [the course](README.md) ·
# [17 A loss that is NaN ▸](17_loss_that_is_nan.ipynb)
#
# One run says what a loop does with one input. Its *neighbours* show more: where the learning rate becomes too large,
# where a period doubles, which start leads to which root. `wb.sweep` runs them all.
#
# **After this notebook you can**
#
# 1. run a loop at thousands of points and read the map of its outcomes;
# 2. find the exact value of a parameter at which the answer changes;
# 3. read a bifurcation diagram, and find a window in the chaos;
# 4. open a single point of a map and step through it;
# 5. name the basins to which starts lead, and look closer where they meet.
#
# It takes about 45 minutes with the exercises.

# %%
import course
import numpy as np

import workbench as wb

# %% [markdown]
# ## 1. Learning rates
#
# We use gradient descent on $2 x^2$, whose slope is $4x$, with **momentum**: each step repeats a part of the step
# before. The loop ends when the slope is small.

# %%
b = wb.GraphBuilder("descent")
lr, momentum = b.placeholder("lr"), b.placeholder("momentum")
loop = b.while_loop(
    lambda x, v: abs(4.0 * x) > 1e-9,
    lambda x, v: {"x": x + (momentum * v - lr * (4.0 * x)), "v": momentum * v - lr * (4.0 * x)},
    {"x": 1.0, "v": 0.0},
)
descent = b.build({"x": loop["x"]})

rates = wb.sweep(descent, {"lr": np.linspace(0.01, 1.2, 60), "momentum": np.linspace(0.0, 0.95, 40)})
print(rates)

# %% jupyter={"source_hidden": true} tags=["check"]
assert len(rates) == 2400 and not (rates["outcome"] == "waiting").any()
assert int((rates["outcome"] == "not finite").sum()) == 910
assert np.array_equal(rates["outcome"] == "not finite", ~np.isfinite(rates["x"]) & rates.computed("x"))

# %% [markdown]
# 2,400 runs, and none of them needed a session. 910 of them got to their end only because their numbers were lost:
# the steps grew until $x$ was NaN, and a comparison with NaN is false. They are "not finite". The 28 that are
# "undecided" had not ended when their bound of work was reached, and no proof was found that they never would.
#
# The picture shows how many iterations each took. Click on a point: its results appear above the picture, and its run
# opens in a panel below it, exactly as it was run.

# %% tags=["nbval-ignore-output"]
rates.view("iterations")

# %% [markdown]
# Without momentum the step must be below a limit. Where is it? `wb.boundary` halves the range until two *neighbouring*
# numbers have different answers.

# %%
limit = wb.boundary(descent, {"lr": (0.1, 1.0)}, inputs={"momentum": 0.0})
print(f"{limit.value:.12f}")

# %% jupyter={"source_hidden": true} tags=["check"]
assert abs(limit.value - 0.5) < 1e-12

# %% [markdown]
# Theory says $2 / L$, where $L = 4$ is the largest curvature: 0.5, to twelve digits.
#
# ## 2. A pond, for every rate
#
# The pond of [06](06_oscillation_and_chaos.ipynb), $x \leftarrow r\,x\,(1-x)$. The newest 64 values of each run are
# kept. Drawn over $r$ they are the **bifurcation diagram**.

# %%
b = wb.GraphBuilder("pond")
r, years = b.placeholder("r"), b.placeholder("years", "int64", ())
loop = b.while_loop(
    lambda x, year: year < years, lambda x, year: {"x": r * x * (1.0 - x), "year": year + 1}, {"x": 0.3, "year": 0}
)
pond = b.build({"x": loop["x"]})

ponds = wb.sweep(pond, {"r": np.linspace(2.8, 4.0, 600)}, inputs={"years": 2000}, collect=["x[-64:]"])
newest = ponds["x[-64:]"]
print(newest.shape)

# %% tags=["nbval-ignore-output"]
ponds.view("x[-64:]")

# %% [markdown]
# One branch, two, four, then a cloud: each split is a **period doubling**. How many different values a pond takes is
# easy to count:

# %%
period = np.array([len(np.unique(row.round(6))) for row in newest])
for rate in (2.9, 3.2, 3.5, 3.9):
    k = ponds.index({"r": rate})
    print(f"r = {ponds['r'][k]:.3f}: {period[k]} values")

# %% jupyter={"source_hidden": true} tags=["check"]
assert [period[ponds.index({"r": rate})] for rate in (2.9, 3.2, 3.5)] == [1, 2, 4]

# %% [markdown]
# ## 3. Newton's fractal
#
# Newton's iteration for $z^3 = 1$ finds one of three roots. Which one depends on the start. All starts that lead to one
# root are its **basin**, and the map of the basins is a famous picture.


# %%
@wb.graph
def newton(re, im):
    x, y, n = re, im, 0
    while n < 40:
        xx, yy = x * x - y * y, 2.0 * x * y
        size = 3.0 * (xx * xx + yy * yy)
        cx, cy = xx * x - yy * y - 1.0, xx * y + yy * x
        x, y = x - (cx * xx + cy * yy) / size, y - (cy * xx - cx * yy) / size
        n = n + 1
    return {"x": x, "y": y}


side = np.linspace(-1.5, 1.5, 150) + 0.0001
starts = wb.sweep(newton.graph_for(1.0, 1.0), {"re": side, "im": side})
print(starts.basins())

# %% jupyter={"source_hidden": true} tags=["check"]
assert len(starts.basins().names) == 3 and sum(starts.basins().counts) > 0.99 * len(starts)

# %% [markdown]
# The sweep does not know the roots: `basins` groups the points that end with the same values.

# %% tags=["nbval-ignore-output"]
starts.view("basin")

# %% [markdown]
# Where two basins meet, the third one is there as well. **Drag a box** over such a place: it is swept again, with as
# many points, and **Back** returns. The field above the picture takes a box as text, and so does the code:

# %%
closer = starts.refine({"re": (-0.9, -0.6), "im": (-0.15, 0.15)})
print(closer.basins())

# %% jupyter={"source_hidden": true} tags=["check"]
assert len(closer.basins().names) == 3

# %% tags=["nbval-ignore-output"]
closer.view("basin")

# %% [markdown]
# ## Exercises
#
# **16.1** With a momentum of 0.5 the limit of the learning rate is different. Find it with `wb.boundary`; six digits
# are enough.

# %%
my_limit = ...
course.check_answer("16.1", my_limit)

# %% [markdown]
# **16.2** Find an `r` beyond 3.6 at which the pond has exactly three values. A box from 3.8 to 3.88, dragged in the
# diagram, helps.

# %%
my_r = ...
course.check_answer("16.2", my_r)

# %% [markdown]
# **16.3** Find a box with sides shorter than 0.01 in which starts lead to all three roots.

# %%
my_box = ...
course.check_answer("16.3", my_box)  # {"re": (from, to), "im": (from, to)}

# %% [markdown]
# **16.4** A point of a sweep is "undecided". What is known about it? Answer `"it never ends"`, `"it did not end within
# its bound of work"` or `"it ran out of time"`.

# %%
known = ...
course.check_answer("16.4", known)

# %% [markdown]
# ## What you have seen
#
# - A sweep runs one graph at many points; an outcome depends on the run, never on the clock.
# - Where the answer changes is a number of its own, and bisection finds it to the last digits.
# - A picture of many runs shows what no single run can: limits, doublings, basins.
#
# The next loops are not graphs but training loops of PyTorch: [17 A loss that is NaN](17_loss_that_is_nan.ipynb).

# %%
course.score("16")
