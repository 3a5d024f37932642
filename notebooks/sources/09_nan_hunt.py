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
# # NaN hunt
#
# [◂ 08 Nested loops](08_nested_loops.ipynb) · [the course](README.md) · [10 An ONNX model ▸](10_onnx_model.ipynb)
#
# A program trains for an hour, and its loss is `nan`. NaN (*not a number*) is the result of 0/0 or of infinity minus
# infinity, and it is contagious: nearly everything that is computed from it is NaN too. So the place where you *see*
# it is almost never the place where it was *made*. In a loop it may have been made thousands of iterations before.
#
# **After this notebook you can**
#
# 1. find the op, the iteration and the element that made the first NaN, and the operand that caused it;
# 2. stop a run before or after it, with a breakpoint on *health*;
# 3. ignore the values that are expected, and still see the others;
# 4. fix the usual causes: logarithms of 0, differences of infinities, quotients of zeros.
#
# It takes about 45 minutes with the exercises.

# %%
import course
import numpy as np

import workbench as wb
from workbench.widgets import BreakpointTable, EvolutionView, ExplainView

# %% [markdown]
# ## 1. A small classifier
#
# 40 points in the plane have a label, 0 or 1. Logistic regression learns to tell them apart: a loop with the weights
# `w`, the loss, and a counter. The learning rate is much too large.

# %%
random = np.random.default_rng(3)
points = random.normal(size=(40, 2))
labels = (points @ [2.0, -1.0] > 0).astype(float)
feeds = {"points": points, "labels": labels, "start": np.zeros(2)}


def classifier(rate, steps=200):
    """The training loop as a graph."""
    b = wb.GraphBuilder("classifier")
    x, y = b.placeholder("points", "float64", (40, 2)), b.placeholder("labels", "float64", (40,))
    start = b.placeholder("start", "float64", (2,))

    def train(w, loss, k):
        p = b.divide(1.0, 1.0 + np.exp(-b.matmul(x, w)), name="p")  # the probability of label 1
        if_one = b.multiply(y, b.log(p, name="log_p"), name="if_one")
        if_zero = b.multiply(1.0 - y, b.log(1.0 - p, name="log_1_p"), name="if_zero")
        gradient = b.matmul(b.transpose(x), p - y) / 40.0
        return {"w": w - rate * gradient, "loss": -b.mean(if_one + if_zero), "k": k + 1}

    loop = b.while_loop(lambda w, loss, k: k < steps, train, {"w": start, "loss": 0.0, "k": 0}, name="train")
    return b.build({"w": loop["w"], "loss": loop["loss"]})


graph = classifier(rate=100.0)
session = wb.Session(graph, feeds)
session.run()
print("loss:", session.outputs["loss"], "| weights are finite:", bool(np.isfinite(session.outputs["w"]).all()))

# %% jupyter={"source_hidden": true} tags=["check"]
assert np.isnan(session.outputs["loss"])

# %% [markdown]
# No error, no warning; the loop ran to its end, and the loss is NaN. When did it begin?

# %%
loss = session.trace["loss"].values
first = int(np.flatnonzero(np.isnan(loss))[0])
print("loss:", np.round(loss[:5], 3))
print("first NaN at the top of iteration", first)

# %% jupyter={"source_hidden": true} tags=["check"]
assert first == 2

# %% tags=["nbval-ignore-output"]
EvolutionView(session, ["loss"])

# %% [markdown]
# ## 2. Who made it?
#
# The loss is only where we see it. It is the mean of something, which was the sum of something ... `wb.nan_origin`
# goes through the record in the order of execution, and names the first node that made a NaN from values that were
# not NaN.

# %%
origin = wb.nan_origin(session)
print(f"{origin.kind} from node {origin.node!r} ({origin.op}), iteration {origin.iteration[0]}, element {origin.index}")
print("cause:", origin.why)

# %% jupyter={"source_hidden": true} tags=["check"]
assert origin.node == "if_zero" and origin.iteration == (1,)

# %% [markdown]
# Infinity times zero. The infinity is the operand `log_1_p`. It is not a NaN, but it is not a finite number either. So
# go on: where did *that* come from?

# %%
cause = origin.because
print(f"{cause.kind} from node {cause.node!r} ({cause.op}), iteration {cause.iteration[0]}")
print("cause:", cause.why)
p = session.value("p", iteration=1)
print("p of this point:", repr(float(p[origin.index])), "| label:", labels[origin.index])

# %% jupyter={"source_hidden": true} tags=["check"]
assert cause.node == "log_1_p" and p[origin.index] == 1.0

# %% [markdown]
# The view shows the same chain. Each click leads further back, from a value to its sources.

# %% tags=["nbval-ignore-output"]
ExplainView(session, "if_zero", 1)

# %% [markdown]
# This is the whole story:
#
# 1. after one large step the classifier is *very* sure: `p` is 1 to 16 digits, so in float64 it **is** 1;
# 2. `1 - p` is 0, and the logarithm of 0 is minus infinity;
# 3. the label is 1, so this term does not count: it is multiplied by 0. But infinity times 0 is NaN.
#
# On paper $0 \cdot \log 0 = 0$. In floating point it is NaN. The line to fix is not the one where NaN was made, but the
# one in which a logarithm gets a value that can be 0.
#
# ## 3. Stop there
#
# A breakpoint on **health** stops a run after the first firing whose value has a NaN (or an infinity, or another sign
# of trouble, such as stagnation).

# %%
session.restart()
session.breakpoints.add("*", health="nan")
stop = session.run()
print(stop.reason, stop.detail)
print("fired last:", stop.fired, "| next:", stop.tag)

# %% jupyter={"source_hidden": true} tags=["check"]
assert stop.fired.node == "if_zero" and stop.fired.iteration == (1,)

# %% [markdown]
# Now you can look around: all values of this moment can be read. What is special about this point?

# %%
which = origin.index
w = session.value("w", iteration=1)
exponent = -(points[which] @ w)
print("point:", points[which].round(3), "| w:", w.round(2), "| exponent:", round(float(exponent), 1))
print("its exponential is lost beside 1:", bool(1.0 + np.exp(exponent) == 1.0))

# %% [markdown]
# Some ops are known to be risky. The session recommends breakpoints for those of its graph, each with a reason:

# %%
for advice in session.breakpoints.recommended():
    if "log" in str(advice):
        print(advice.why)

# %% jupyter={"source_hidden": true} tags=["check"]
assert any("log" in advice.why for advice in session.breakpoints.recommended())

# %% [markdown]
# In a notebook, the table of breakpoints offers all this: conditions, health, recommendations, and *recheck*, which
# looks for hits in the part that has already run.

# %% tags=["nbval-ignore-output"]
BreakpointTable(session)

# %% [markdown]
# ## 4. Expected infinities
#
# Sometimes an infinity is intended: a mask of minus infinities, the start of a minimum. If each of these stops the
# run, you will soon switch the breakpoint off. So **ignore** the nodes where it is expected, and still stop at the
# others.

# %%
session.breakpoints.clear()
session.restart()
session.breakpoints.add("*", health=("nan", "inf"))
print("first stop:", session.run().fired)
session.breakpoints.ignore("log_1_p", health="inf")
session.restart()
stop = session.run()
print("with log_1_p ignored:", stop.fired)

# %% jupyter={"source_hidden": true} tags=["check"]
assert stop.fired.node == "if_zero"

# %% [markdown]
# A breakpoint can also write a line instead of stopping. It is then a *logpoint*.

# %%
session.breakpoints.clear()
session.restart()
session.breakpoints.add("loss", health="nan", hits=1, log="loss is {value} in iteration {iteration}")
session.run()
for line in session.breakpoints.log:
    print(line)

# %% jupyter={"source_hidden": true} tags=["check"]
assert session.state == "finished" and len(session.breakpoints.log) == 1

# %% [markdown]
# ## 5. Fix it
#
# Three remedies, from bad to good:
#
# - **Hide it**: replace NaN by 0 afterwards. The next bug will be hidden as well.
# - **Clip it**: keep `p` between 1e-12 and 1 - 1e-12. The logarithm is finite, but its value is invented.
# - **Compute it in another way.** $-\log(1 - p)$ with $p = 1/(1 + e^{-z})$ is the same as $\log(1 + e^{z})$, without
#   any $p$ that could round to 1. For large z that is z, so one writes $\max(z, 0) + \log(1 + e^{-|z|})$.


# %%
def loss_without_p(b, z, y):
    """Mean of max(z, 0) - y z + log(1 + exp(-|z|)): the same loss, finite for all z."""
    return b.mean(np.maximum(z, 0.0) - y * z + np.log(1.0 + np.exp(-np.abs(z))))


b = wb.GraphBuilder("both losses")
z, y = b.placeholder("z", "float64", (4,)), b.placeholder("y", "float64", (4,))
p = 1.0 / (1.0 + np.exp(-z))
usual = -b.mean(y * np.log(p) + (1.0 - y) * np.log(1.0 - p))
both = b.build({"usual": usual, "without p": loss_without_p(b, z, y)})
ones = np.array([1.0, 1.0, 0.0, 1.0])
for name, exponents in (("harmless z", [1.0, -2.0, 0.5, 3.0]), ("large z", [50.0, -2.0, 0.5, 800.0])):
    out = both.run(z=np.array(exponents), y=ones)
    print(f"{name:11}", {key: float(value.round(6)) for key, value in out.items()})

# %% jupyter={"source_hidden": true} tags=["check"]
assert np.isnan(out["usual"]) and np.isfinite(out["without p"])

# %% [markdown]
# ## 6. Before it happens
#
# The largest float16 is 65,504. Which nodes of this run would not fit? They have to stay in float32 when a model is
# converted.

# %%
for candidate in wb.overflow_candidates(session, "float16"):
    print(f"{candidate.node:12} {candidate.op:8} largest value {candidate.largest:.0e}")

# %% jupyter={"source_hidden": true} tags=["check"]
assert {candidate.op for candidate in wb.overflow_candidates(session, "float16")} >= {"exp"}

# %% [markdown]
# ## 7. Exercises
#
# **09.1** Which of these give NaN? Write the letters, for example `"a c"`. (Do not compute; think.)
#
# - a: inf - inf
# - b: 1 / 0
# - c: 0 * inf
# - d: log(0)
# - e: sqrt(-1)
# - f: inf + 1

# %%
letters = ...
course.check_answer("09.1", letters)

# %% [markdown]
# **09.2** `course.sick_program()` gives a session that has run; its result is NaN. Which node made the first NaN, and
# in which iteration?

# %%
sick = course.sick_program()
node, iteration = ..., ...
course.check_answer("09.2", node, iteration)

# %% [markdown]
# **09.3** Why? Name the operand of that node that causes it, or the node before it that made this operand
# dangerous. (There are two right answers: the operand, and the value that it was made from.)

# %%
cause = ...
course.check_answer("09.3", cause)

# %% [markdown]
# **09.4** The softmax of a vector is $e^{x_i} / \sum_j e^{x_j}$. For `[1000, 1001, 1002]` it overflows. Write it so
# that it does not: subtract the largest element first. (`b.max(x)` gives it.)


# %%
def softmax(b, x):
    return ...


course.check_answer("09.4", softmax)

# %% [markdown]
# ## What you have seen
#
# - NaN is seen late and made early. Find the first firing that has one, and then the operand that caused it.
# - Behind a NaN there is often an infinity, and behind that a value that rounded to 0 or 1.
# - Do not hide it: write the formula in another way.
#
# Now to a model that somebody else has written: [10 Debugging an ONNX model](10_onnx_model.ipynb).

# %%
course.score("09")
