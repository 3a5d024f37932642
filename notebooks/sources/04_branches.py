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
# # Branches and dead values
#
# [◂ 03 Frames](03_frames.ipynb) · [the course](README.md) · [05 Convergence ▸](05_convergence.ipynb)
#
# An `if` in a program jumps. A graph cannot jump, because it has no next line: every node just waits for its inputs. So
# the values themselves have to say which way was taken. A value is **alive**, or it is **dead**.
#
# **After this notebook you can**
#
# 1. build a branch out of Switch and Merge, and say which nodes are dead and why;
# 2. read the error that a request for a dead value gives;
# 3. tell a branch, which computes one side, from `where`, which computes both;
# 4. follow the decisions of a branch inside a loop.
#
# It takes about 40 minutes with the exercises.

# %%
import course
import numpy as np

import workbench as wb
from workbench.widgets import ControlFlowView, GraphView

# %% [markdown]
# ## 1. Switch and Merge
#
# The root of a number if it is positive, its square otherwise.

# %%
b = wb.GraphBuilder("root or square")
x = b.placeholder("x", "float64", ())
positive = b.greater(x, 0.0, name="positive")
no, yes = b.switch(x, positive, name="decide")  # false first, then true
root = b.sqrt(yes, name="root")
square = b.multiply(no, no, name="square")
result, which = b.merge(square, root, name="join")
graph = b.build({"result": result, "which": which})
for value in (9.0, -3.0):
    out = graph.run(x=value)
    print(f"x = {value:4}: result {out['result']}, from input {out['which']} of the Merge")

# %% jupyter={"source_hidden": true} tags=["check"]
assert graph.run(x=9.0)["result"] == 3.0 and graph.run(x=-3.0)["result"] == 9.0

# %% [markdown]
# The Switch gives its value to one side. The other side gets a *dead* value. What a node reads decides what it
# becomes:
#
# - **A node that reads a dead value is dead.** It computes nothing, and its own outputs are dead as well.
# - **Merge alone is different**: it passes on the input that is alive. It is dead only if all its inputs are.
#
# The dead side of the picture is greyed, and marked.

# %% tags=["nbval-ignore-output"]
session = wb.Session(graph, {"x": -3.0})
session.run()
GraphView(session, dataflow_ops=True)

# %%
fired = [tag.node for tag in session.trace.events(silent=False)]
print("fired:", *fired)
print("dead: ", *(name for name in graph.nodes if session.trace.count(name) == 0))

# %% jupyter={"source_hidden": true} tags=["check"]
assert "square" in fired and "root" not in fired

# %% [markdown]
# The square root of -3 was never computed. That is what branches are for: to do *less*, and to avoid what must not be
# done.
#
# ## 2. Asking for a dead value
#
# What is the root now? There is none, and the answer says why: which Switch decided, by which value.

# %%
b = wb.GraphBuilder("only the root")
x = b.placeholder("x", "float64", ())
no, yes = b.switch(x, b.greater(x, 0.0, name="positive"), name="decide")
only_root = b.build({"root": b.sqrt(yes, name="root")})
try:
    only_root.run(x=-3.0)
except wb.WorkbenchError as error:
    print(error.message)
    print("To fix it:", error.fix)
    assert error.slug == "dead-value" and "decide" in error.message

# %% [markdown]
# The explanation of a value that is alive includes its branch:

# %%
explanation = session.explain("result")
print(explanation)

# %% jupyter={"source_hidden": true} tags=["check"]
assert [link.name for link in explanation.find("positive:0")] == ["positive:0"]

# %% [markdown]
# ## 3. A branch is not `where`
#
# `cond` builds Switch and Merge for you. `np.where` looks alike, but computes *both* sides and picks afterwards. The
# difference shows when one of the sides must not be computed.

# %%
def reciprocal(with_branch):
    b = wb.GraphBuilder("reciprocal")
    x = b.placeholder("x", "float64", ())
    not_zero = b.not_equal(x, 0.0)
    if with_branch:
        y = b.cond(not_zero, lambda: 1.0 / x, lambda: b.constant(0.0))
    else:
        y = np.where(not_zero, 1.0 / x, 0.0)
    return wb.Session(b.build({"y": y}), {"x": 0.0})


for with_branch in (True, False):
    session = reciprocal(with_branch)
    session.run()
    divided = [tag.node for tag in session.trace.events() if tag.node.endswith("divide")]
    shown = [float(session.value(node)) for node in divided]
    print("cond: " if with_branch else "where:", session.outputs["y"], "| quotients on the way:", shown)
    assert shown == ([] if with_branch else [np.inf])
    session.close()

# %% [markdown]
# The result is 0 in both cases. But with `where` an infinity was made on the way. A search for the first infinity of
# a run (as in notebook 09) finds it there. In the derivative of such a formula it does real harm: it is multiplied by
# 0, and the product is NaN.
#
# ## 4. A branch in a loop
#
# Take a number. If it is even, halve it. If it is odd, multiply it by 3 and add 1. Go on until it is 1. Nobody knows
# whether this always ends (Collatz asked in 1937). For 27 it does:

# %%
b = wb.GraphBuilder("collatz")
n = b.placeholder("n", "int64", ())


def one_step(n, steps):
    even = np.equal(n % 2, 0)
    return {"n": b.cond(even, lambda: n // 2, lambda: 3 * n + 1, name="parity"), "steps": steps + 1}


loop = b.while_loop(lambda n, steps: n > 1, one_step, {"n": n, "steps": 0}, name="collatz")
collatz = b.build({"steps": loop["steps"]})
session = wb.Session(collatz, {"n": 27})
session.run()
print("steps:", session.outputs["steps"], "| largest number:", session.trace["n"].values.max())
for switch, (false, true) in session.trace.branch_counts().items():
    print(f"{switch:28} {true:3} times true, {false:3} times false")

# %% jupyter={"source_hidden": true} tags=["check"]
assert session.outputs["steps"] == 111 and session.trace["n"].values.max() == 9232

# %% [markdown]
# Every decision of every Switch is on record. Here are those of `parity`, as letters (E for even, o for odd) and as a
# picture. (The Switch of `equal` belongs to `cond` itself: the constants of both sides wait for it.)

# %%
branches = session.trace.branches(loops=False)
taken = branches.taken[[node.endswith("n/Switch") for node in branches.node]]
print("the first twenty decisions:", "".join("E" if even else "o" for even in taken[:20]))

# %% jupyter={"source_hidden": true} tags=["check"]
assert "oo" not in "".join("E" if even else "o" for even in taken)

# %% tags=["nbval-ignore-output"]
ControlFlowView(session)

# %% [markdown]
# In the row of letters an `o` never follows an `o`. Can you say why? (3 times an odd number plus 1 is even.) Such rules
# are easy to see in the record of a run and hard to see in a program.
#
# ## 5. Exercises
#
# **04.1** The graph "root or square" runs with `x = 16`. Which nodes are **dead**? Write the names.

# %%
dead = ...
course.check_answer("04.1", dead)

# %% [markdown]
# **04.2** A Merge reads two values, and *both* are dead. What is the Merge? Answer `"alive"` or `"dead"`. And a node
# that adds a living value and a dead one?

# %%
merge_of_two_dead, sum_of_alive_and_dead = ..., ...
course.check_answer("04.2", merge_of_two_dead, sum_of_alive_and_dead)

# %% [markdown]
# **04.3** The Collatz loop starts at 97. How often is the number odd? (Make a session and read `branch_counts`.)

# %%
odd_steps = ...
course.check_answer("04.3", odd_steps)

# %% [markdown]
# **04.4** Write $\sin(x)/x$ as a graph that gives 1 for $x = 0$ and never divides by zero. Use `b.cond`. The check
# looks at the record of the run for x = 0: there must be no division in it.


# %%
def sinc(b, x):
    return ...  # b.cond(the condition, lambda: one side, lambda: the other side)


course.check_answer("04.4", sinc)

# %% [markdown]
# ## What you have seen
#
# - A Switch makes one side alive and the other dead; deadness is passed on; Merge alone ends it.
# - A loop ends by the same means: its last body is dead, and NextIteration lets no dead value through.
# - A branch computes one side, `where` computes both.
#
# Now that we can read loops, let us ask where they lead: [05 Convergence and its rates](05_convergence.ipynb).

# %%
course.score("04")
