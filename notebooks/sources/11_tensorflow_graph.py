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
# # A TensorFlow 1 graph
#
# [◂ 10 An ONNX model](10_onnx_model.ipynb) · [the course](README.md) · [12 Two runs that differ ▸](12_two_runs.ipynb)
#
# TensorFlow 1 wrote its loops exactly as you did by hand in notebook 03, and many such graphs are still in use. Here
# is one, as a text file: `models/savings.pbtxt`. The program that made it is lost, and TensorFlow is not installed.
# We read it, run it, and fix it all the same.
#
# **After this notebook you can**
#
# 1. read a GraphDef: nodes, inputs such as `while/Switch:1` and `^while/Identity`, attributes;
# 2. find loop variables and invariants in somebody else's graph;
# 3. stop where a value becomes interesting, by the name that TensorFlow gave it;
# 4. understand the errors that a damaged graph gives, and fix the file.
#
# It takes about 45 minutes with the exercises.

# %%
import tempfile
from collections import Counter
from pathlib import Path

import course
import numpy as np

import workbench as wb
from workbench.widgets import GraphView

# %% [markdown]
# ## 1. The file
#
# A GraphDef is a list of nodes. Each has a name, an op, inputs and attributes. Three of them:

# %%
text = Path("models/savings.pbtxt").read_text()
start = text.index('node {\n  name: "while/Merge"')
print(text[start : text.index('node {\n  name: "while/Less"')])
print(len(text.splitlines()), "lines,", text.count("node {"), "nodes")

# %% [markdown]
# An input is the name of a node. `name:1` is its second output (of a Switch: the true side), and `^name` is not a
# value but a **control dependency**: *fire after that node*. The constant `while/one` waits for `^while/Identity`, so
# that it belongs to the loop: compare notebook 03.

# %%
for line in text.splitlines():
    if ":1" in line or "^" in line:
        print(line.strip())

# %% jupyter={"source_hidden": true} tags=["check"]
assert text.count("^while/Identity") == 1

# %% [markdown]
# ## 2. Load and run
#
# `wb.load` looks at the content, not at the name of the file. The inputs keep the names of TensorFlow's tensors.

# %%
graph = wb.load("models/savings.pbtxt")
print("inputs: ", *graph.inputs)
print("outputs:", *graph.outputs)
print("ops:    ", dict(Counter(node.op for node in graph.nodes.values())))
plan = {"deposit:0": 1000.0, "rate:0": 0.05, "goal:0": 2000.0}
result = graph.run(plan)
print("years:", result["years:0"], "| balance:", result["balance:0"].round(2))

# %% jupyter={"source_hidden": true} tags=["check"]
assert result["years:0"] == 15 and np.isclose(result["balance:0"], 1000 * 1.05**15)

# %% [markdown]
# The picture shows a loop with two variables. You know all its parts.

# %% tags=["nbval-ignore-output"]
session = wb.Session(graph, plan)
GraphView(session, height=560, dataflow_ops=True)

# %% [markdown]
# ## 3. What is carried from iteration to iteration?
#
# The names in the file do not say what `while/Merge_1` is. The frame does: it knows its variables from the edges alone.

# %%
(frame,) = [frame for frame in graph.frames.values() if frame.depth]
for variable in frame.variables:
    print(f"{variable.name:16} begins with {graph.nodes[variable.enter].inputs[0].node:8}", end=" ")
    print("and becomes", graph.nodes[variable.next_iteration].inputs[0].node)
invariants = [row for row in graph.cross_references() if row.kind == "loop invariant"]
print("invariants:", *[str(row.value) for row in invariants])

# %% jupyter={"source_hidden": true} tags=["check"]
assert len(frame.variables) == 2 and len(invariants) == 2

# %% [markdown]
# Every firing has TensorFlow's name and an iteration, so that you can compare with a log of the original program.

# %%
session.run()
balance = session.trace["while/Merge:0"]
for iteration in (0, 1, 2, 14, 15):
    print(f"while/Merge:0 in iteration {iteration:2}: {balance.at(iteration):8.2f}")

# %% jupyter={"source_hidden": true} tags=["check"]
assert np.allclose(balance.values, 1000 * 1.05 ** np.arange(16))

# %% [markdown]
# ## 4. Stop where it becomes interesting
#
# In which year does the balance pass 1500? A breakpoint with a condition stops there.

# %%
session.restart()
session.breakpoints.add("while/balance", when="value > 1500")
stop = session.run()
print(stop.reason)
print("at:", stop.fired, "| balance before this year:", session.value("while/Merge:0").round(2))

# %% jupyter={"source_hidden": true} tags=["check"]
assert stop.fired.iteration == (8,)

# %% [markdown]
# Where does the interest of this year come from? `explain` goes back through the year, along the names of the file:

# %%
explanation = session.explain("while/interest:0")
for link in explanation.links[:4]:
    print(link)

# %% jupyter={"source_hidden": true} tags=["check"]
assert any(link.op == "Merge" for link in explanation.links)

# %% [markdown]
# ## 5. A plan that never ends
#
# A customer gets no interest at all. The original program hung on that day, and nobody knew why.

# %%
hung = wb.Session(graph, {**plan, "rate:0": 0.0})
hung.next_iteration(3)
answer = hung.termination(("while/years_context",))
print(f"{answer.status.name}: {answer.outcome}")
print("blocking clause:", answer.blocking_clause)
print("cause:", *answer.root)

# %% jupyter={"source_hidden": true} tags=["check"]
assert answer.status.name == "PROVED" and answer.outcome == "never"

# %% [markdown]
# And with a *negative* rate? Guess first.

# %%
shrinking = wb.Session(graph, {**plan, "rate:0": -0.01})
shrinking.next_iteration(3)
print(shrinking.termination(("while/years_context",)).outcome)

# %% jupyter={"source_hidden": true} tags=["check"]
assert shrinking.termination(("while/years_context",)).outcome == "never"

# %% [markdown]
# ## 6. Damaged files
#
# Somebody edited the file by hand. `load` says what is wrong before anything runs.


# %%
def load_text(text):
    """The graph of a GraphDef that is given as text."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "graph.pbtxt"
        path.write_text(text)
        return wb.load(path)


damages = {
    "an input from outside": ('input: "while/rate"', 'input: "rate"'),
    "a misspelt op": ('op: "Mul"', 'op: "Multiply"'),
    "a node that is not there": ('input: "while/Enter_1"', 'input: "while/Enter_2"'),
}
slugs = []
for name, (before, after) in damages.items():
    try:
        load_text(text.replace(before, after))
    except wb.WorkbenchError as error:
        print(f"{name}: [{error.slug}]\n    {error.message}")
        slugs.append(error.slug)

# %% jupyter={"source_hidden": true} tags=["check"]
assert slugs == ["different-frames", "unknown-op", "no-such-node"]

# %% [markdown]
# The first of these is the classic: *inputs from different frames*. The interest lives in the loop, and reads `rate`
# from outside without an Enter.
#
# ## 7. The same graph from SameDiff
#
# SameDiff, the graph library of deeplearning4j (Java), took over the frames of TensorFlow 1, op by op: `switch`,
# `merge`, `enter`, `exit`, `next_iteration`, `loop_cond`. Its files are FlatBuffers. Here is our loop as its importer
# would store it.

# %%
imported = wb.load("models/savings.fb")
print("inputs: ", *imported.inputs)
print("outputs:", *imported.outputs)
for note in imported.notes:
    print(note)

# %% [markdown]
# The names are SameDiff's own: `balance` instead of `balance:0`. Apart from that it is the same loop, and the two can
# be compared, firing by firing. (At the command line: `workbench diff savings.fb savings.pbtxt --input ...`.)

# %%
again = wb.Session(imported, {name.removesuffix(":0"): value for name, value in plan.items()})
again.run()
session.breakpoints.clear()
session.restart()
session.run()
print(wb.diff(again, session))

# %% jupyter={"source_hidden": true} tags=["check"]
assert wb.diff(again, session).equal and list(imported.frames) == list(graph.frames)

# %% [markdown]
# ## 8. In the panel
#
# Step through some years, under the names of the file.

# %% tags=["nbval-ignore-output"]
panel = wb.debug(graph, plan)
panel

# %% [markdown]
# ## 9. Exercises
#
# **11.1** With the deposit 1000 and a rate of 0.05: in which iteration is `while/Merge:0` above 1800 for the first
# time?

# %%
iteration = ...
course.check_answer("11.1", iteration)

# %% [markdown]
# **11.2** What is the smallest rate in whole percent (0.01, 0.02, ...) with which the goal of 2000 is reached in 10
# years or less?

# %%
smallest_rate = ...
course.check_answer("11.2", smallest_rate)

# %% [markdown]
# **11.3** The bank pays interest on the *deposit* only, not on the interest. Change the text: the node `while/interest`
# multiplies `while/Identity` (the balance). It should multiply the deposit, which is not in the loop yet. So one more
# Enter is needed, with `is_constant`. Give the whole new text. (`while/rate` shows how such an Enter looks.)

# %%
new_text = ...  # text.replace(...)
course.check_answer("11.3", new_text)

# %% [markdown]
# ## What you have seen
#
# - A GraphDef is the loop of notebook 03 as a list: names, ops, inputs, attributes.
# - Names say little. The edges say which values are carried, which are invariant, and which leave the loop.
# - A damaged graph is refused when it is loaded, and the error names the nodes.
# - SameDiff has the same frames, and its files open like the others.
#
# Two programs, one graph, different numbers: [12 Two runs that differ](12_two_runs.ipynb).

# %%
course.score("11")
