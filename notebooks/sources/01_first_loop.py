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
# # A first loop, step by step
#
# [the course](README.md) · [02 What a dataflow graph is ▸](02_dataflow_graphs.ipynb)
#
# A loop usually runs as one piece: it starts, it ends, and the last value is all that you see. Here you take one loop
# apart while it runs. You will go through it one operation at a time, forwards and back, and look at every value on the
# way.
#
# **After this notebook you can**
#
# 1. step through a loop in the panel, forwards and back;
# 2. read the value of any variable in any iteration;
# 3. say why this loop stops where it stops.
#
# It takes about 25 minutes with the exercises. Run the cells from top to bottom. A folded cell (three dots) checks the
# claim before it.

# %%
import course
import numpy as np

import workbench as wb

# %% [markdown]
# ## 1. The loop
#
# Newton's method finds the square root of a number `a`. It starts from a guess `x` and replaces it by the mean of `x`
# and `a / x`, until `x * x` differs from `a` by at most 1e-12. `@wb.graph` turns the function into a graph that can
# be stepped through.


# %%
@wb.graph
def square_root(a, start):
    x = start
    while abs(x * x - a) > 1e-12:
        x = 0.5 * (x + a / x)
    return x


print("root of 2:", float(square_root(2.0, 100.0)))

# %% jupyter={"source_hidden": true} tags=["check"]
assert abs(float(square_root(2.0, 100.0)) - np.sqrt(2.0)) < 1e-12

# %% [markdown]
# ## 2. The panel
#
# The cell below opens the loop in the panel. Nothing has run yet.
#
# | part of the panel | what it shows |
# |---|---|
# | toolbar | the buttons that move the run; below them, its position |
# | Graph | one box for each operation; the marked box is the **next** one to run |
# | Iterations | the values of `x` and of the condition, one point for each iteration |
# | Will it end? | both sides of the condition, and how far apart they are; [Why] above says if and when it stops |
# | Value | the value that is selected, in the iteration that is shown |

# %% tags=["nbval-ignore-output"]
graph = square_root.graph_for(2.0, 100.0)
panel = wb.debug(graph, {"a": 2.0, "start": 100.0})
panel

# %% [markdown]
# Try this, in this order:
#
# 1. Press **Step** (under *Forward*) a few times. Each press runs one operation, and the mark in the graph moves on.
# 2. Press the **Step** under *Back* the same number of times. The values go back as well.
# 3. Press **Iteration** (*Forward*) a few times. `x` is 100, then 50.01, then 25.02: far from the root, it halves.
# 4. Click on a box in the graph to see its value, and where it comes from.
# 5. Press **Run**. The loop goes to its end, and `x` is the root of 2.
# 6. Move the slider above the curves to an earlier iteration. The whole panel shows that moment.
# 7. Press **Restart** (the round arrow at the left) to begin again.
#
# Hover over a button to see its shortcut. The keys work while the panel has the focus.
#
# ## 3. The same from Python
#
# Each button is a command of a **session**: one run of a graph, which can stop anywhere. A session needs no panel.
# Nothing has run in this one yet.

# %%
session = wb.Session(graph, {"a": 2.0, "start": 100.0})
stop = session.next_iteration(3)
print(stop.reason)
print("x in iteration 0:", session.value("x", iteration=0))
print("x in iteration 1:", session.value("x", iteration=1))

# %% jupyter={"source_hidden": true} tags=["check"]
assert session.value("x", iteration=1) == 0.5 * (100.0 + 2.0 / 100.0)

# %% [markdown]
# An **event** is one operation that has run, and the events of a run are counted from its start. A step back restores
# the earlier state exactly, bit for bit.

# %%
before = session.position
session.step()
after = session.position
session.step_back()
print("event", before.event, "->", after.event, "->", session.position.event)

# %% jupyter={"source_hidden": true} tags=["check"]
assert session.position == before != after

# %% [markdown]
# `run` goes to the end. Every value of every iteration is on record, in the **trace**.

# %%
session.run()
x = session.trace["x"]
for iteration, value in zip(x.iterations[:, 0], x.values, strict=True):
    print(f"iteration {iteration:2d}   x = {value:.15f}")

# %% jupyter={"source_hidden": true} tags=["check"]
assert session.state == "finished" and len(x) == x.iterations[-1, 0] + 1
assert [round(float(value), 2) for value in x.values[:3]] == [100.0, 50.01, 25.02]

# %% [markdown]
# ## 4. One question: why does it stop?
#
# The condition compares the distance between `x * x` and `a` with 1e-12: the loop continues while the distance is
# larger. Here are the last distances. (`while_4` is the name of the loop in the graph: the `while` is in line 4 of
# its cell.)

# %%
for iteration in range(len(x) - 3, len(x)):
    distance = abs(float(x.values[iteration]) ** 2 - 2.0)
    print(f"iteration {iteration:2d}   distance {distance:.1e}   larger than 1e-12: {distance > 1e-12}")
print(session.termination().reason)

# %% jupyter={"source_hidden": true} tags=["check"]
assert abs(x.values[-1] ** 2 - 2.0) <= 1e-12 < abs(x.values[-2] ** 2 - 2.0)

# %% [markdown]
# The condition is evaluated one more time than the body: the last result is *false*, and the loop is left. How often
# a decision went each way is on record too. (The Switch is the operation that leads `x` into the body or out of the
# loop; notebook 03 builds one.)

# %%
for node, (false, true) in session.trace.branch_counts().items():
    print(f"{node}: {true} times true, {false} time false")

# %% jupyter={"source_hidden": true} tags=["check"]
assert set(session.trace.branch_counts().values()) == {(1, len(x) - 1)}

# %% [markdown]
# ## 5. Exercises
#
# Replace the three dots. The check after each answer says whether it is right; `course.hint("01.1")` gives a hint.
#
# **01.1** The session below finds the root of 10. In which iteration is the error of `x` below 1e-6 for the first
# time? Read it from the trace.

# %%
ten = wb.Session(square_root.graph_for(10.0, 1.0), {"a": 10.0, "start": 1.0})
ten.run()
iteration = ...
course.check_answer("01.1", iteration)

# %% [markdown]
# **01.2** How often was the condition of that loop *true*, and how often *false*?

# %%
true, false = ..., ...
course.check_answer("01.2", true, false)

# %% [markdown]
# ## What you have seen
#
# - A loop can be taken one operation or one iteration at a time, forwards and back.
# - The value of a loop variable belongs to an iteration, and every one of them is on record.
# - A loop stops when its condition is false, and the values on both sides of the condition say why.
#
# The panel closes with the kernel, or earlier with `panel.close()`. What the boxes and lines of its graph are is the
# subject of [02 What a dataflow graph is](02_dataflow_graphs.ipynb).

# %%
course.score("01")
