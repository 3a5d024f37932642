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
# # Frames: from Enter to Exit by hand
#
# [◂ 02 What a dataflow graph is](02_dataflow_graphs.ipynb) · [the course](README.md) ·
# [04 Branches ▸](04_branches.ipynb)
#
# In a graph without loops each node fires once, and its name is enough to say which value is meant. In a loop the
# same node fires again and again. Which of its values does the next node read? The answer of dataflow graphs is the
# **frame**, and six small operations (**ops** for short) that lead values into it, around it and out of it.
#
# **After this notebook you can**
#
# 1. build a loop out of Enter, Merge, LoopCond, Switch, NextIteration and Exit, and say what each of them is for;
# 2. read the address of a value (its *tag*): node, frame and iteration;
# 3. tell loop variables from loop invariants;
# 4. understand the error that every user of such graphs meets one day: *inputs from different frames*.
#
# It takes about 50 minutes with the exercises.

# %%
import course

import workbench as wb

# %% [markdown]
# ## 1. Counting to n, by hand
#
# As a program: `i = 0`, then `while i < n: i = i + 1`. The six ops, in the order in which a value meets them:
#
# | op | what it does | in the program |
# |---|---|---|
# | **Enter** | brings a value from outside into the frame, iteration 0 | `i = 0` |
# | **Merge** | passes on the input that is there: the start value, or the previous iteration's | the top of `while` |
# | **LoopCond** | marks the decision "go on?" | `i < n` |
# | **Switch** | sends the value into the body (true) or to the exit (false) | the colon |
# | **NextIteration** | hands the value to the next iteration | the jump back |
# | **Exit** | brings the value out of the frame | what follows the loop |
#
# Usually `while_loop` writes all this for you. Do it yourself once.

# %%
b = wb.GraphBuilder("count by hand")
n = b.placeholder("n", "int64", ())
zero, one = b.constant(0), b.constant(1)

start = b.enter(zero, "count", name="start")  # i = 0, in iteration 0
limit = b.enter(n, "count", is_constant=True, name="limit")  # n and 1 are the same in every iteration
by_one = b.enter(one, "count", is_constant=True, name="by_one")

i, which = b.merge(start, name="i")  # one input so far; the other one comes at the end
go_on = b.loop_cond(b.less(i, limit, name="test"), name="go_on")
leave, body = b.switch(i, go_on, name="switch")  # two outputs: false first, then true
new = b.add(body, by_one, name="plus")
back = b.next_iteration(new, name="back")
b.add_back_edge(i, back)  # now the circle is closed
result = b.exit(leave, name="result")

b.alias("i", i)
graph = b.build({"result": result})
for n in (3, 1, 0):
    print(f"n = {n}: {graph.run(n=n)['result']}")
    assert graph.run(n=n)["result"] == n

# %% [markdown]
# Look at the circle: Merge, test and Switch at the top, the body below, and the way back to the Merge. The box around
# it is the frame. (Without `dataflow_ops=True` the picture has a loop in place of these ops: its variables as they
# start, as they are now and as they are next.)

# %% tags=["nbval-ignore-output"]
graph.view(dataflow_ops=True)

# %% [markdown]
# ## 2. Fire it, node by node
#
# Follow the numbers in brackets. They are the **iteration** in which a node fires, and only NextIteration makes them
# grow. (The event numbers that are left out belong to the constants and to `limit` and `by_one`: a session fires
# these without stopping.)

# %%
session = wb.Session(graph, {"n": 2})
while session.state != "finished":
    print(session.position)
    session.step()
moves = [str(tag) for tag in session.trace.events(silent=False)]

# %% jupyter={"source_hidden": true} tags=["check"]
assert moves.index("back:0[count 0]") + 1 == moves.index("i:0[count 1]")

# %% [markdown]
# `i:0[count 1]` is a **tag**: the first output of node `i`, in frame `count`, iteration 1. It is the full address of a
# value, and everything in the workbench speaks in tags: traces, breakpoints, errors, pictures.

# %%
tag = wb.Tag("i", 0, ("count",), (1,))
print(tag, "=", session.value(tag.node, iteration=tag.iteration))
series = session.trace["i"]
print("iterations:", series.iterations[:, 0], "values:", series.values)

# %% jupyter={"source_hidden": true} tags=["check"]
assert series.values.tolist() == [0, 1, 2]

# %% [markdown]
# How often did each op fire? Think before you run the cell: the condition was true twice, and false once.

# %%
for name in ("start", "i", "switch", "plus", "back", "result"):
    print(f"{graph.nodes[name].op:14} {name:8} fired {session.trace.count(name)} times")

# %% jupyter={"source_hidden": true} tags=["check"]
assert [session.trace.count(x) for x in ("start", "i", "switch", "plus", "back", "result")] == [1, 3, 3, 2, 2, 1]

# %% [markdown]
# The test is evaluated one more time than the body. In the last iteration the Switch sends the value to its false
# side. The nodes on the true side receive no value: they are **dead**, those on the false side are **alive**, and a
# dead value does not pass NextIteration. So the loop ends. (The next notebook is about dead values.)
#
# Even with `n = 0` the test is evaluated once. The value goes from Enter to Exit in iteration 0:

# %%
empty = wb.Session(graph, {"n": 0})
empty.run()
print(*(str(tag) for tag in empty.trace.events(silent=False)))

# %% jupyter={"source_hidden": true} tags=["check"]
assert empty.trace.count("plus") == 0 and empty.outputs["result"] == 0

# %% [markdown]
# ## 3. Loop variables and loop invariants
#
# `i` is carried from iteration to iteration: it is a **loop variable**. `n` and `1` entered by an Enter with
# `is_constant=True`: they are **loop invariants**, the same in every iteration. The table of all values that enter a
# frame, leave it or go on to its next iteration tells them apart.

# %%
print(graph.cross_references())

# %% jupyter={"source_hidden": true} tags=["check"]
assert [row.kind for row in graph.cross_references()] == [
    "loop carried", "loop invariant", "loop invariant", "loop carried", "exit",
]

# %% [markdown]
# ## 4. Inputs from different frames
#
# What if we forget an Enter? Inside the loop we add `n` as it is outside:

# %%
b = wb.GraphBuilder("forgotten")
n = b.placeholder("n", "int64", ())
inside = b.enter(b.constant(0), "count", name="inside")
try:
    b.build(b.exit(b.add(inside, n, name="sum")))
except wb.WorkbenchError as error:
    print(error.message)
    print("To fix it:", error.fix)
    assert error.slug == "different-frames"

# %% [markdown]
# Why is that forbidden? The value `inside` has an iteration, `n` has none. The node `sum` would have to guess which of
# them belong together. The error names both inputs and both frames, because that is what you need to find the missing
# Enter or Exit.
#
# ## 5. The same, in one line
#
# `while_loop` writes the six ops. A constant that is made inside the loop belongs to its frame and needs no Enter.
# (It waits for the Identity that you will find below, so that it fires once in each iteration.)

# %%
b = wb.GraphBuilder("count")
n = b.placeholder("n", "int64", ())
made = b.while_loop(lambda i: i < n, lambda i: i + 1, {"i": 0}, name="count")
short = b.build({"result": made["i"]})
print("ops by hand:     ", *sorted(node.op for node in graph.nodes.values() if node.op != "Const"))
print("ops by while_loop:", *sorted(node.op for node in short.nodes.values() if node.op != "Const"))
assert short.run(n=5)["result"] == graph.run(n=5)["result"] == 5
(variable,) = short.frames["count",].variables

# %% jupyter={"source_hidden": true} tags=["check"]
assert [short.nodes[x].op for x in (variable.enter, variable.merge, variable.switch, variable.exit)] == [
    "Enter", "Merge", "Switch", "Exit",
]

# %% [markdown]
# ## 6. Step through it
#
# Press **Step** and watch the value go round. Then press **Iteration**, and **Step** under *Back*. Under *View*,
# **Dataflow ops** switches between the ops themselves, as here, and the loop that they form.

# %% tags=["nbval-ignore-output"]
panel = wb.debug(graph, {"n": 3})
panel.graph.dataflow_ops = True
panel

# %% [markdown]
# ## 7. Exercises
#
# **03.1** The loop by hand runs with `n = 5`. How often do these ops fire: Merge, Switch, NextIteration, Exit? Give
# four numbers in this order, `(…, …, …, …)`.

# %%
firings = ...
course.check_answer("03.1", firings)

# %% [markdown]
# **03.2** Which op is it? Write one name for each question.
#
# - a: It has two outputs, and only one of them is alive.
# - b: It has two inputs, and passes on the one that is alive.
# - c: It alone makes the iteration number grow.

# %%
a, b_, c = ..., ..., ...
course.check_answer("03.2", a, b_, c)

# %% [markdown]
# **03.3** Build the sum 1 + 2 + ... + n by hand. The loop variable `i` counts from 0 to n as above, and a second one,
# `total`, adds up. The lines for `i` are there. Write those for `total`: Enter, Merge, Switch, the sum, NextIteration,
# the back edge, and Exit. (One LoopCond decides for both.)


# %%
def sum_by_hand(b, n):
    zero, one = b.constant(0), b.constant(1)
    limit, by_one = (b.enter(value, "sum", is_constant=True) for value in (n, one))
    i, _ = b.merge(b.enter(zero, "sum"), name="i")
    go_on = b.loop_cond(b.less(i, limit))
    leave, body = b.switch(i, go_on)
    new = b.add(body, by_one)
    b.add_back_edge(i, b.next_iteration(new))
    # your lines for the total
    return ...  # the Exit of the total


course.check_answer("03.3", sum_by_hand)

# %% [markdown]
# ## What you have seen
#
# - A frame is the place of a loop. A value in it has an iteration number, and a tag is its full address.
# - Enter leads in, NextIteration leads on, Exit leads out. Merge and Switch are the top and the door of the loop.
# - Values of different frames never meet without an Enter or an Exit.
#
# A Switch can do more than end a loop: [04 Branches and dead values](04_branches.ipynb).

# %%
course.score("03")
