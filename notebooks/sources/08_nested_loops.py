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
# # Nested loops
#
# [◂ 07 Why a loop stops](07_why_a_loop_stops.ipynb) · [the course](README.md) · [09 NaN hunt ▸](09_nan_hunt.ipynb)
#
# A loop in a loop is a frame in a frame. A value in the inner one needs two numbers for its address: the iteration
# of the outer loop and that of the inner one. Each iteration of the outer loop starts the inner one again from 0.
#
# **After this notebook you can**
#
# 1. read and write addresses such as `x[outer 3, inner 7]`;
# 2. step into a frame, out of it, and over it;
# 3. see the number of inner iterations as a variable of the outer loop;
# 4. find out which of two loops hangs.
#
# It takes about 45 minutes with the exercises.

# %%
import course
import numpy as np

import workbench as wb
from workbench.widgets import CallStackView, FrameTimeline, GraphView, Selection

# %% [markdown]
# ## 1. A table of primes
#
# The outer loop goes through the numbers 2, 3, 4 ... The inner one looks for the smallest divisor of the number. If
# that is the number itself, it is a prime.


# %%
@wb.graph
def count_primes(up_to):
    found = 0
    number = 2
    while number <= up_to:
        divisor = 2
        while number % divisor != 0:
            divisor = divisor + 1
        if divisor == number:
            found = found + 1
        number = number + 1
    return found


graph = count_primes.graph_for(10)
print("primes up to 30:", int(count_primes(30)))
for path, frame in graph.frames.items():
    print("  " * frame.depth + ("/".join(path) or "outermost"), "| variables:", *[v.name for v in frame.variables])

# %% jupyter={"source_hidden": true} tags=["check"]
assert int(count_primes(30)) == 10

# %% [markdown]
# One frame is inside the other. (The number in `while_5` is the line of the loop.) In the picture the inner one is a
# box of its own; a click on its caption closes and opens it.

# %% tags=["nbval-ignore-output"]
session = wb.Session(graph, {"up_to": 10})
GraphView(session, height=520)

# %% [markdown]
# ## 2. Addresses
#
# Run to the end, and read the divisor. Its series has two iteration numbers for each value.

# %%
session.run()
outer, inner = (path for path in graph.frames if path)
divisor = session.trace["divisor"]
print("frame of the divisor:", "/".join(divisor.frame))
table = {}
for (round_, _trip), value in zip(divisor.iterations.tolist(), divisor.values.tolist(), strict=True):
    table.setdefault(round_, []).append(value)
for round_, values in table.items():
    print(f"number {round_ + 2}: divisors tried {values}")

# %% jupyter={"source_hidden": true} tags=["check"]
assert table[5] == [2, 3, 4, 5, 6, 7]

# %% [markdown]
# `iteration=(5, 2)` means: iteration 5 of the outer loop (the number 7), iteration 2 of the inner one.

# %%
print("divisor in iteration 5, inner iteration 2:", session.value("divisor", iteration=(5, 2)))
print(divisor.tag(-1))
assert session.value("divisor", iteration=(5, 2)) == 4
try:
    session.value("divisor", iteration=(6, 3))
except wb.WorkbenchError as error:
    print(error.message)
    assert "6" in error.message

# %% [markdown]
# There is no inner iteration 3 in the outer iteration 6, because 2 divides 8 at once. The inner frame is opened again
# in each outer iteration, and its count begins with 0 each time.
#
# ## 3. In, out, over
#
# Three commands move by frames: `step_into` runs until a frame opens, `step_out` until the innermost one is left, and
# `next_iteration` to the next iteration of the innermost one.

# %%
session.restart()
for command in ("step_into", "next_iteration", "step_into", "next_iteration", "step_out", "next_iteration"):
    stop = getattr(session, command)()
    print(f"{command:15} -> {stop.tag}")

# %% jupyter={"source_hidden": true} tags=["check"]
assert session.snapshot().iterations[outer] == 2

# %%
session.run_to("divisor", iteration=(5, 4))
print("next to fire:", session.position)
print("tried so far in this iteration:", session.trace["divisor"].values[-4:])

# %% jupyter={"source_hidden": true} tags=["check"]
assert session.position.iteration == (5, 4)

# %% [markdown]
# Two views show this position. The **call stack** has a row for each open frame. The **timeline** has a lane for each
# frame, and a bar for each of its iterations. Both share one *selection*: click on a bar, and the call stack goes
# there.

# %% tags=["nbval-ignore-output"]
selection = Selection()
CallStackView(session, selection=selection)

# %% tags=["nbval-ignore-output"]
FrameTimeline(session, selection=selection)

# %% [markdown]
# ## 4. The number of inner iterations is a variable
#
# The outer loop below halves a step until it is small; the inner one walks along a road with that step. How does the
# work of the inner loop change as the outer one goes on?

# %%
b = wb.GraphBuilder("refinement")
smallest = b.placeholder("smallest", "float64", ())


def refine(step, total):
    walk = b.while_loop(
        lambda at, walked: at < 1.0,
        lambda at, walked: {"at": at + step, "walked": walked + step * at * at},
        {"at": 0.0, "walked": 0.0},
        name="walk",
    )
    return {"step": step / 2, "total": walk["walked"]}


r = b.while_loop(lambda step, total: step > smallest, refine, {"step": 0.5, "total": 0.0}, name="refine")
refinement = wb.Session(b.build({"integral": r["total"]}), {"smallest": 1e-4})
refinement.run_to("step", iteration=7)
analysis = wb.analyze(refinement)
for finding in analysis.findings:
    print("-", finding.sentence)
trips = analysis.loops["refine/walk"].trips
print("trip counts of the inner loop:", trips.counts)

# %% jupyter={"source_hidden": true} tags=["check"]
assert trips.counts.tolist() == [2 ** (j + 1) for j in range(7)]
assert any(finding.kind == "work" for finding in analysis.findings)

# %% [markdown]
# The number of inner iterations, the **trip count**, is classified like any other variable: here it doubles. That is
# how a loop of 13 iterations turns out to be expensive. And the result converges to the integral of $x^2$ from 0 to
# 1, which is 1/3.

# %%
refinement.run()
total = wb.analyze(refinement).variables["total"]
print(total.label.name, "| limit 1/3:", abs(total.limit - 1 / 3) < 1e-4)
print("firings in all:", f"{refinement.position.event:,}")

# %% jupyter={"source_hidden": true} tags=["check"]
assert total.label is wb.Pattern.CONVERGING and abs(total.limit - 1 / 3) < 1e-4
assert len(refinement.trace["step"]) - 1 == 13

# %% [markdown]
# ## 5. Which loop hangs?
#
# Below, the inner loop counts in steps of two until it *equals* the number of the outer iteration. For 1 it never does.
# From outside it looks as if the outer loop were stuck. **Always ask about the inner loop first.**

# %%
b = wb.GraphBuilder("steps of two")
zero = b.constant(0, "int64")


def outer_body(i):
    inner = b.while_loop(lambda j: np.not_equal(j, i), lambda j: j + 2, {"j": zero}, name="inner")
    return {"i": i + 1 + 0 * inner["j"]}


r = b.while_loop(lambda i: i < 10, outer_body, {"i": zero}, name="outer")
stuck = wb.Session(b.build({"i": r["i"]}), {})
stuck.run(wait=False)  # it runs on while we look
stuck.wait(timeout=0.3)
analysis = wb.analyze(stuck)
stuck.pause()
for finding in analysis.verdict[:2]:
    print(f"{finding.kind:6}", "/".join(finding.loops[0]))
print("iteration of the outer loop:", stuck.snapshot().iterations["outer",])

# %% jupyter={"source_hidden": true} tags=["check"]
assert [finding.kind for finding in analysis.verdict[:2]] == ["hangs", "waits"]
assert stuck.snapshot().iterations["outer",] == 1

# %% [markdown]
# The inner loop *hangs*, and the outer one only *waits* for it. Changing the outer one would not help.
#
# ## 6. Step through it
#
# Try **Into loop**, **Out of loop** and **Iteration** in this panel, and watch the two numbers of the divisor's
# address.

# %% tags=["nbval-ignore-output"]
panel = wb.debug(graph, {"up_to": 7})
panel

# %% [markdown]
# ## 7. Exercises
#
# **08.1** `count_primes` runs with `up_to = 12`. How many divisors does the inner loop try for the number 11, that is
# in iteration 9 of the outer loop? (As section 2 counts them.)

# %%
tried = ...
course.check_answer("08.1", tried)

# %% [markdown]
# **08.2** In the session below, what is the value of `divisor` in the outer iteration 11, inner iteration 1? And in
# which outer iteration is the number 35 tested?

# %%
larger = wb.Session(count_primes.graph_for(40), {"up_to": 40})
larger.run()
value, round_of_35 = ..., ...
course.check_answer("08.2", value, round_of_35)

# %% [markdown]
# **08.3** An outer loop makes 20 iterations, and in iteration k (from 0) the inner loop makes k iterations. How many
# inner iterations are there in all? And how often is the condition of the *inner* loop evaluated in all?

# %%
inner_trips, questions = ..., ...
course.check_answer("08.3", inner_trips, questions)

# %% [markdown]
# **08.4** Write a function of one number `n` with a loop in a loop: it returns how many pairs (a, b) with
# $1 \le a \le b \le n$ have an even sum $a + b$. `@wb.graph` turns it into a graph; write plain Python.


# %%
@wb.graph
def even_pairs(n):
    return None  # your loops


course.check_answer("08.4", even_pairs)

# %% [markdown]
# ## What you have seen
#
# - A value in a nested loop has one number for each loop around it; the inner count starts again in each outer
#   iteration.
# - The number of inner iterations is a variable of the outer loop, and often explains where the time goes.
# - If nested loops do not end, look at the innermost one that is open.
#
# Next we look for values that are not numbers at all: [09 NaN hunt](09_nan_hunt.ipynb).

# %%
course.score("08")
