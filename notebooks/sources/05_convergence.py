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
# # Convergence and its rates
#
# [◂ 04 Branches](04_branches.ipynb) · [the course](README.md) · [06 Oscillation and chaos
# ▸](06_oscillation_and_chaos.ipynb)
#
# Set a pocket calculator to radians, type any number and press the cosine key again and again. The display settles at
# 0.739085... That is a loop with one variable, and it **converges**. How fast? Can you predict when six digits are
# right? And is the value exact once the display no longer moves?
#
# **After this notebook you can**
#
# 1. measure the rate of linear convergence from the values, and read it from a logarithmic plot;
# 2. tell linear, quadratic and sublinear convergence apart;
# 3. forecast the iteration in which a tolerance is met;
# 4. say why a small step is not the same as a small error.
#
# It takes about 50 minutes with the exercises.

# %%
import course
import numpy as np

import workbench as wb
from workbench.widgets import EvolutionView

# %% [markdown]
# ## 1. The cosine key
#
# The function below builds the loop with any update, since you will need more of them. Here the update is the cosine.


# %%
def fixed_point(update, name, tolerance=1e-12, start=1.0):
    """A session of the loop: x = update(x), as long as one more update would move x by more than the tolerance."""
    b = wb.GraphBuilder(name)
    x0 = b.placeholder("start", "float64", ())
    loop = b.while_loop(
        lambda x: np.abs(update(x) - x) > tolerance, lambda x: update(x), {"x": x0}, name="loop"
    )
    return wb.Session(b.build({"x": loop["x"]}), {"start": start})


cosine = fixed_point(np.cos, "cosine")
cosine.run()
x = cosine.trace["x"].values
for k in (0, 1, 2, 3, 10, 30):
    print(f"iteration {k:2}: {x[k]:.12f}")
root = 0.7390851332151607  # cos(root) = root, to all digits of float64

# %% jupyter={"source_hidden": true} tags=["check"]
assert abs(cosine.outputs["x"] - root) < 1e-11

# %% tags=["nbval-ignore-output"]
EvolutionView(cosine)

# %% [markdown]
# The values jump from one side of the limit to the other, and come closer. How much closer each time? Divide each
# error by the one before:

# %%
error = np.abs(x - root)
print("error / (error before):", np.round(error[11:17] / error[10:16], 4))
print("sine of the root:      ", round(np.sin(root), 4))

# %% jupyter={"source_hidden": true} tags=["check"]
assert np.allclose(error[11:17] / error[10:16], np.sin(root), atol=0.02)
assert f"{np.sin(root):.3f}" == "0.674"

# %% [markdown]
# In each iteration the error shrinks by the same factor, 0.674. This is **linear convergence**, and the factor is the
# **rate**. It is the size of the derivative of the update at the limit, here of the cosine, and so it is
# $|\sin(0.739...)|$.
#
# `wb.classify` measures it without knowing the formula or the limit.

# %%
verdict = wb.classify(x[:20])
right = abs(verdict.limit - root) < 1e-10
print(verdict.label.name, "| rate:", round(verdict.rate, 3), "| limit right to ten digits:", right)
print("the last of these values is off by", f"{error[19]:.0e}")

# %% jupyter={"source_hidden": true} tags=["check"]
assert verdict.label is wb.Pattern.CONVERGING and abs(verdict.rate - np.sin(root)) < 0.01
assert abs(verdict.limit - root) < error[19] / 100

# %% [markdown]
# From 20 values it estimates the limit more closely than the last one does. If you know how the errors shrink, you can
# work out where they lead (Aitken did, in 1926).
#
# ## 2. A logarithmic look
#
# If the error is multiplied by 0.674 each time, its logarithm falls by the same amount each time. So on a logarithmic
# axis **linear convergence is a straight line**, and its slope is the logarithm of the rate. The line across is a
# tolerance of 1e-6.

# %% tags=["nbval-ignore-output"]
EvolutionView(cosine, scale="error", tolerance=1e-6)

# %%
slope = np.polyfit(np.arange(5, 40), np.log(error[5:40]), 1)[0]
print("rate from the slope:", round(float(np.exp(slope)), 3))

# %% jupyter={"source_hidden": true} tags=["check"]
assert abs(np.exp(slope) - np.sin(root)) < 0.005

# %% [markdown]
# ## 3. When will it be done?
#
# Once you know the rate, you can predict the end. From the first 15 values, when will the error be below 1e-6?

# %%
forecast = wb.iterations_to_tolerance(x[:15], 1e-6)
met = int(np.flatnonzero(error < 1e-6)[0])
print("forecast:", forecast.iteration, "| between", forecast.low, "and", forecast.high, "| in fact:", met)

# %% jupyter={"source_hidden": true} tags=["check"]
assert forecast.low <= met <= forecast.high

# %% [markdown]
# ## 4. Faster, and slower
#
# Here are three loops with the limit zero. Look how many digits each gains in an iteration.


# %%
def history(update, start, n):
    out = [start]
    for _ in range(n):
        out.append(update(out[-1]))
    return np.array(out)


loops = {
    "linear: x -> 0.5 x": history(lambda x: 0.5 * x, 1.0, 30),
    "quadratic: Newton for exp x = 1": history(lambda x: x - 1.0 + np.exp(-x), 1.0, 6),
    "sublinear: x -> sin x": history(np.sin, 1.0, 500),
}
for name, values in loops.items():
    digits = -np.log10(np.abs(values[1:6]) + 1e-300)
    print(f"{name:34} right digits in iterations 1 to 5:", np.round(digits, 1))

# %% [markdown]
# - **Linear**: the same number of digits is gained in each iteration.
# - **Superlinear** (Newton's method): the number of digits is *multiplied*. With order two it doubles.
# - **Sublinear**: fewer digits each time. Ten times as many iterations for one more digit, or worse.

# %%
for name, values in loops.items():
    verdict = wb.classify(values)
    kind = name.partition(":")[0]
    number = {"linear": verdict.rate, "quadratic": verdict.order, "sublinear": verdict.sublinear_exponent}[kind]
    print(f"{kind:10} {verdict.label.name}  {'rate' if kind == 'linear' else 'order or exponent'} {number:.2f}")
    assert verdict.label is wb.Pattern.CONVERGING

# %% jupyter={"source_hidden": true} tags=["check"]
assert abs(wb.classify(loops["linear: x -> 0.5 x"]).rate - 0.5) < 0.01

# %% [markdown]
# ## 5. A small step is not a small error
#
# Most loops stop when the last step was small. With a rate near one this is a trap. Here the error shrinks by 0.1 % per
# iteration, and the loop stops when a step is below 1e-6.

# %%
slow = fixed_point(lambda x: 0.999 * x + 0.005, "slow", tolerance=1e-6, start=0.0)
slow.run()
last = float(slow.outputs["x"])
print("stopped after", slow.trace["x"].iterations[-1, 0], "iterations at", round(last, 4), "| the limit is 5")
print("last step:", f"{abs(0.001 * last - 0.005):.0e}", "| error:", f"{5 - last:.0e}")
assert 5 - last > 900 * 1e-6
verdict = wb.classify(slow.trace["x"].values)
print("limit that classify finds:", round(verdict.limit, 6))

# %% jupyter={"source_hidden": true} tags=["check"]
assert abs(verdict.limit - 5.0) < 1e-6

# %% [markdown]
# The step is the error times (1 - rate). So **error = step / (1 - rate)**, if the error keeps its sign: at a rate of
# 0.999 it is a thousand times the step. If you look only at the step, you think you have six digits, and you have
# three.
#
# ## 6. Exercises
#
# **05.1** The golden ratio is the limit of `x -> 1 + 1/x`. What is its rate? Measure it in the values below, to two
# digits.

# %%
golden = history(lambda x: 1.0 + 1.0 / x, 1.0, 20)
rate = ...
course.check_answer("05.1", rate)

# %% [markdown]
# **05.2** A loop starts with an error of 1 and converges linearly with the rate 0.9. In which iteration is the error
# below 1e-6 for the first time? (A logarithm helps, or a loop.)

# %%
iteration = ...
course.check_answer("05.2", iteration)

# %% [markdown]
# **05.3** A loop with rate 0.99 stops when its step is below 1e-8. How large is the error then, about?

# %%
error_at_the_end = ...
course.check_answer("05.3", error_at_the_end)

# %% [markdown]
# **05.4** The cosine key needs 30 iterations for six digits. Write an update with the same limit (the $x$ with
# $\cos x = x$) that needs at most six for ten digits, from the start 1.0. (Newton's method for $f(x) = \cos x - x$ is
# $x - f(x)/f'(x)$.)


# %%
def faster(x):
    return ...


course.check_answer("05.4", faster)

# %% [markdown]
# **05.5** Newton's loop for a square root needs a division. The loop $y \leftarrow \frac{1}{2}\,y\,(3 - a y^2)$ finds
# $1/\sqrt{a}$ without one, and $\sqrt{a} = a y$. But it converges only from a start that is small enough. Write the
# update, and choose a start with which the loop finds $1/\sqrt 2$. (For `a = 5` the start `1.0` is wrong. Why?)


# %%
def my_update(y, a):
    return ...


my_start = ...
course.check_answer("05.5", my_update, my_start)

# %% [markdown]
# ## What you have seen
#
# - Linear convergence: one factor, the rate, and a straight line on a logarithmic plot.
# - Order two doubles the digits. Sublinear convergence hardly moves, and yet has a limit.
# - The error is the step divided by (1 - rate).
#
# Not all bounded loops converge: [06 Oscillation, chaos, the logistic map](06_oscillation_and_chaos.ipynb).

# %%
course.score("05")
