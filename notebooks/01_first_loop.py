# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
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
# [the course](README.md) · [02 What a dataflow graph is ▸](02_dataflow_graphs.ipynb) ·
# [solutions](solutions/01_first_loop.ipynb)
#
# A computation graph that contains a loop is hard to look into: the framework runs it as one piece and hands back the
# last value. Here we take such a loop apart while it runs. This notebook is a first walk through everything; the others
# take it up piece by piece.
#
# **After this notebook you can**
#
# 1. write a loop as a graph and name the parts that it is made of: Enter, Merge, LoopCond, Switch, NextIteration, Exit;
# 2. step through it, go back, run it and pause it, and read any value of any iteration;
# 3. tell a loop that converges from one that diverges, and say why it stopped;
# 4. recognise a loop that will never stop, with a proof instead of a guess.
#
# It takes about half an hour. Run the cells from top to bottom; each claim is followed by a check (`assert`).

# %%
import course
import numpy as np

import workbench as wb

# %% [markdown]
# ## 1. The loop
#
# Newton's method for the square root of $a$ repeats $x \leftarrow \frac{1}{2}\left(x + \frac{a}{x}\right)$ while
# $|x^2 - a|$ is larger than a tolerance. As a graph it has one **loop variable**, `x`, and one **loop invariant**, `a`.


# %%
def square_root(update, tolerance, name):
    """The loop as a graph; ``update(x, a)`` gives the next x."""
    b = wb.GraphBuilder(name)
    a = b.placeholder("a", "float64", ())
    start = b.placeholder("start", "float64", ())
    result = b.while_loop(
        lambda x: np.abs(x * x - a) > tolerance,  # go on?
        lambda x: update(x, a),  # the next x
        {"x": start},
    )
    return b.build({"root": result["x"]})


def newton(x, a):
    return 0.5 * (x + a / x)


graph = square_root(newton, 1e-12, "newton")
result = graph.run(a=2.0, start=1.0)["root"]
print("root of 2:", result)
assert abs(result - np.sqrt(2.0)) < 1e-12

# %% [markdown]
# This is what was built. Follow the lines: the value comes in through **Enter**; **Merge** takes it the first time, and
# what **NextIteration** brings back every other time; the comparison ends in **LoopCond**, which tells **Switch** where
# to send `x`: into the body (true) or through **Exit** out of the loop (false). Constants and the invariant `a` are
# written where they are used.

# %% tags=["nbval-ignore-output"]
graph.view()

# %%
(frame,) = [f for f in graph.frames.values() if f.depth == 1]
print("loop:", frame.name, "| variables:", [v.name for v in frame.variables])
assert [graph.nodes[n].op for n in (frame.merges[0], frame.loop_cond, frame.switches[0], frame.exits[0])] == [
    "Merge", "LoopCond", "Switch", "Exit",
]  # fmt: skip

# %% [markdown]
# ## 2. Step through it
#
# The panel below holds a session of its own. Try it: **Step** fires one node, **Next iteration** goes to the next
# round, **Step back** undoes a step, **Run** runs on, **Pause** stops it, **Restart** begins anew. Each button tells
# its key when the mouse rests on it; the keys work while the panel is focused. A click on a node shows its value.
#
# Watch three things: the orange-red frame in the graph (the node that fires next), the line of `x`, and the branch
# that was *not* taken, which turns grey.

# %% tags=["nbval-ignore-output"]
panel = wb.debug(graph, {"a": 2.0, "start": 100.0})
panel

# %% [markdown]
# The same from Python, which is what the buttons do. `session` stands before the first node until it is told to move.

# %%
session = wb.Session(graph, {"a": 2.0, "start": 100.0})
stop = session.run_to("x", iteration=0)
print(stop.reason)
print("next to fire:", stop.tag)
assert str(stop.tag) == "while/x/Merge:0[while 0]"

# %%
stop = session.next_iteration()
print("next to fire:", stop.tag)
print("x in iteration 0:", session.value("x"))
x0, x1 = session.value("x", iteration=0), session.trace["while/multiply_1"][-1]
print("next x:", x1)
assert x1 == 0.5 * (x0 + 2.0 / x0)

# %% [markdown]
# Stepping back really goes back: the state is the one it was, bit for bit.

# %%
before = session.position
session.step()
after = session.position
session.step_back()
print(before.event, "->", after.event, "->", session.position.event)
assert session.position == before != after

# %% [markdown]
# ## 3. Run it, and read everything
#
# `run` goes to the end. The trace holds every value of every iteration.

# %%
stop = session.run()
x = session.trace["x"]
print(stop.reason)
for iteration, value in zip(x.iterations[:, 0], x.values, strict=True):
    print(f"iteration {iteration:2d}   x = {value:.15f}")
assert session.state == "finished"
assert len(x) == x.iterations[-1, 0] + 1

# %% [markdown]
# How good is it, and how fast? `classify` looks at the numbers alone.

# %%
verdict = wb.classify(x.values)
print("label:", verdict.label.name)
assert verdict.label is wb.Pattern.CONVERGING
assert abs(verdict.limit - np.sqrt(2.0)) < 1e-9

# %% [markdown]
# Newton's method doubles the number of right digits in each round once it is close: the error is about the square of
# the error before. That is *order two*, and the trace shows it.

# %%
error = np.abs(x.values - np.sqrt(2.0))
close = (error < 0.1) & (error > 1e-7)
ratio = error[1:][close[:-1]] / error[:-1][close[:-1]] ** 2
print("error / (error before)**2:", np.round(ratio, 2))
assert np.all(ratio < 0.5)

# %% [markdown]
# Why did it stop? Because the condition was false, once. Every decision of the Switch is on record.

# %%
((switch, (times_false, times_true)),) = session.trace.branch_counts().items()
print(f"{switch}: {times_true} times true, {times_false} time false")
assert (times_false, times_true) == (1, len(x) - 1)
gap = abs(x.values[-1] ** 2 - 2.0)
print("the gap at the end is below the tolerance:", bool(gap <= 1e-12))
assert gap <= 1e-12

# %% [markdown]
# The same loop from a bad start, and stopped half-way: the forecast is a *proof*, because the condition depends on
# nothing but `x` and `a`, so it can be worked out ahead of the loop.

# %%
far = wb.Session(graph, {"a": 2.0, "start": 1e6})
far.next_iteration()
far.next_iteration()
forecast = far.termination()
left = forecast.remaining
print(f"{forecast.status.name}: {forecast.outcome}, {left} more iterations")
already = far.snapshot().iterations[("while",)]
far.run()
assert forecast.status.name == "PROVED" and forecast.outcome == "terminates"
assert far.trace["x"].iterations[-1, 0] == already + left

# %% [markdown]
# ## 4. A loop that diverges
#
# One wrong sign: $x \leftarrow x + \frac{x^2 - a}{2x}$ instead of minus. The loop walks away from the root.

# %%
wrong = square_root(lambda x, a: x + (x * x - a) / (2.0 * x), 1e-12, "wrong sign")
session = wb.Session(wrong, {"a": 2.0, "start": 1.0})
for _ in range(40):
    session.next_iteration()
verdict = wb.classify(session.trace["x"].values)
print("after 40 iterations:", verdict.label.name, "| x =", f"{session.value('x'):.3e}")
assert verdict.label is wb.Pattern.DIVERGING

# %% [markdown]
# It does come to an end, though. How can it? Run it and look at the last values.

# %%
session.run()
x = session.trace["x"].values
print("state:", session.state, "| last three values:", x[-3:])
assert session.state == "finished" and np.isinf(x[-2]) and np.isnan(x[-1])

# %% [markdown]
# `x` overflowed to infinity, infinity minus infinity gave NaN, and **every comparison with NaN is false**: the loop
# ended as if it had converged, and its result is NaN. The end of a loop is no proof that it found anything. The
# evolution view marks the first value that is not a number.

# %%
first_bad = int(np.flatnonzero(~np.isfinite(x))[0])
print("first infinity in iteration", first_bad)
assert verdict.limit is None or not np.isfinite(verdict.limit)
assert {"inf", "nan"} <= set(wb.classify(x).issues)

# %% tags=["nbval-ignore-output"]
from workbench.widgets import EvolutionView

EvolutionView(session, log=True)

# %% [markdown]
# ## 5. A loop that never ends
#
# The right update again, but the tolerance is 1e-17. Near 2 the numbers of type float64 are 4e-16 apart, so
# $|x^2 - 2|$ cannot get that small: the loop runs for ever.

# %%
print("distance between neighbours at 2:", np.spacing(2.0))
endless = square_root(newton, 1e-17, "endless")
session = wb.Session(endless, {"a": 2.0, "start": 1.0})
for _ in range(12):
    session.next_iteration()
forecast = session.termination()
print(f"{forecast.status.name}: {forecast.outcome}")
print("proof by", forecast.proof.kind)
print("root:", forecast.root)
assert forecast.status.name == "PROVED" and forecast.outcome == "never"

# %% [markdown]
# *Proved* means: the state of the condition came back bit for bit, and the condition was true all the way round, so it
# will be true for ever. Check it by hand:

# %%
x = session.trace["x"].values
print("the last three values are the same or alternate:", sorted(set(x[-3:].tolist())))
assert len(set(x[-4:].tolist())) <= 2
assert np.all(np.abs(x[-4:] ** 2 - 2.0) > 1e-17)

# %% [markdown]
# In the panel below, press **Run**: it runs at full speed, millions of iterations a second, and the notebook stays
# usable: run the cell after it meanwhile. Then press **Pause**. The termination view knows the answer long before.

# %% tags=["nbval-ignore-output"]
endless_panel = wb.debug(endless, {"a": 2.0, "start": 1.0})
endless_panel

# %%
print("another cell:", 6 * 7)
assert endless_panel.session.state in ("ready", "running", "paused")

# %% [markdown]
# ## 6. Exercises
#
# Replace the three dots. The check after each answer says whether it is right, and gives a hint if not;
# `course.hint("01.1")` gives more.
#
# **01.1** The session below ran Newton's method for the root of 10. In which iteration is `x` right to six digits (the
# error below 1e-6) for the first time? Read it from the trace.

# %%
ten = wb.Session(graph, {"a": 10.0, "start": 1.0})
ten.run()
iteration = ...
course.check_answer("01.1", iteration)

# %% [markdown]
# **01.2** How often did the node `LoopCond` of that session say *true*, and how often *false*?

# %%
true, false = ..., ...
course.check_answer("01.2", true, false)

# %% [markdown]
# **01.3** Heron's loop needs a division. The loop $y \leftarrow y\,(3 - a y^2)/2$ finds $1/\sqrt{a}$ without one, and
# $\sqrt{a} = a y$. But it converges only from a start that is small enough. Write the update, and choose a start with
# which the loop finds $1/\sqrt 2$.
#
# (You may step through two iterations in a panel first: `wb.debug(my_graph, {...})`. For `a = 5` the start `1.0` is
# wrong. Why?)


# %%
def my_update(y, a):
    return ...


my_start = ...
course.check_answer("01.3", my_update, my_start)

# %% [markdown]
# ## What you have seen
#
# - A loop in a graph is six kinds of nodes; the value of a loop variable belongs to an iteration, and every one is on
#   record.
# - A loop that ends has not necessarily converged, and a loop that has converged does not necessarily end.
# - A forecast is a proof, a prediction or unknown, and says which.
#
# A panel's session ends with the kernel, or earlier with `panel.close()`. From here on we take it piece by piece:
# [02 What a dataflow graph is](02_dataflow_graphs.ipynb).

# %%
course.score("01")
