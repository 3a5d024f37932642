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
# # What a dataflow graph is
#
# [◂ 01 A first loop](01_first_loop.ipynb) · [the course](README.md) · [03 Frames ▸](03_frames.ipynb)
#
# A program says *what comes after what*. A dataflow graph says only *what needs what*. Everything else, the order
# included, follows from that. It is how TensorFlow, ONNX and most compilers see a computation.
#
# **After this notebook you can**
#
# 1. name the parts of a graph: nodes, values, inputs, outputs;
# 2. say when a node fires, and which orders are allowed;
# 3. predict what is computed, what is left out, and what has to be computed again when an input changes;
# 4. explain where any value comes from.
#
# It takes about 35 minutes with the exercises. Run the cells from top to bottom; a folded cell checks each claim.

# %%
import course
import numpy as np

import workbench as wb
from workbench.widgets import ExplainView

# %% [markdown]
# ## 1. From a formula to a graph
#
# The body mass index of a person is the weight divided by the square of the height. We also want to know how far that
# is from 22. The **builder** records each operation as a **node**. Its result is not a number: it is a
# **value**, the promise of a number, which other nodes can read.

# %%
b = wb.GraphBuilder("body mass")
weight = b.placeholder("weight", "float64", ())
height = b.placeholder("height", "float64", ())
square = height * height
index = weight / square
graph = b.build({"index": index, "distance": np.abs(index - 22.0)})
print(index)
print("nodes:", *graph.nodes)

# %% jupyter={"source_hidden": true} tags=["check"]
assert not isinstance(index, float)

# %% [markdown]
# The picture shows what needs what, from the top to the bottom. Two kinds of nodes need nothing: **placeholders** are
# the inputs, **constants** are written where they are used.

# %% tags=["nbval-ignore-output"]
graph.view()

# %%
for name, node in graph.nodes.items():
    print(f"{name:12} {node.op:12} reads {', '.join(str(ref) for ref in node.inputs) or '-'}")

# %% jupyter={"source_hidden": true} tags=["check"]
assert [str(ref) for ref in graph.nodes["divide"].inputs] == ["weight:0", "multiply:0"]

# %% [markdown]
# `multiply:0` is the first output of the node `multiply`. Most nodes have one output only. Nothing has been computed so
# far. That takes numbers for the inputs:

# %%
result = graph.run(weight=70.0, height=1.75)
print({name: round(float(value), 3) for name, value in result.items()})

# %% jupyter={"source_hidden": true} tags=["check"]
assert np.isclose(result["index"], 70.0 / 1.75**2)

# %% [markdown]
# ## 2. When a node fires
#
# To **fire** is to read the inputs once and compute the outputs. **A node fires as soon as all its inputs are
# there.** This is the only rule. A session fires one node at a time, and `step` fires exactly one.

# %%
session = wb.Session(graph, {"weight": 70.0, "height": 1.75})
while session.state != "finished":
    print("next to fire:", session.position.node)
    session.step()
order = [tag.node for tag in session.trace.events() if graph.nodes[tag.node].op != "Const"]

# %% jupyter={"source_hidden": true} tags=["check"]
assert order == ["weight", "height", "multiply", "divide", "subtract", "abs"]

# %% [markdown]
# Is it the only possible order? No: `height` might fire before `weight`. An order is allowed if every node comes after
# all that it reads. Some orders, checked:


# %%
def allowed(order):
    """True if each node follows the nodes it reads (constants are always available)."""
    place = {name: k for k, name in enumerate(order)}
    return all(
        place[ref.node] < place[name] for name in order for ref in graph.nodes[name].inputs if ref.node in place
    )


print("as it was fired:  ", allowed(order))
print("height first:     ", allowed(["height", "weight", *order[2:]]))
print("multiply earlier: ", allowed(["height", "multiply", "weight", *order[3:]]))
print("in reverse:       ", allowed(order[::-1]))

# %% jupyter={"source_hidden": true} tags=["check"]
assert allowed(order) and allowed(["height", "multiply", "weight", *order[3:]]) and not allowed(order[::-1])

# %% [markdown]
# All allowed orders give the same numbers, because a node has no memory: its outputs depend on its inputs and on
# nothing else. This is why a framework may reorder a graph, or fire nodes at the same time.
#
# ## 3. What is not needed is not computed
#
# You ask a session for outputs. It follows the lines of the graph, its **edges**, back from them, and skips every
# node that it does not reach.

# %%
only_index = wb.Session(graph, {"weight": 70.0, "height": 1.75}, outputs=["index"])
only_index.run()
fired = [tag.node for tag in only_index.trace.events()]
print("fired:", *fired)

# %% jupyter={"source_hidden": true} tags=["check"]
assert "abs" not in fired and "subtract" not in fired

# %% [markdown]
# And when an input changes, only what depends on it has to be computed again:

# %%
update = session.update(weight=80.0)
print("index is now", round(float(session.outputs["index"]), 3))
print(update.recomputed, "firings were computed, and", update.reused, "kept")

# %% jupyter={"source_hidden": true} tags=["check"]
assert update.reused == 3
assert np.isclose(session.outputs["index"], 80.0 / 1.75**2)

# %% [markdown]
# The square of the height was kept. The larger the graph, the more an update of one input can save.
#
# ## 4. Values have types
#
# Each value has a dtype and a shape, which are worked out while the graph is built. A mistake is found there, at the
# line that made it, and not deep in a run.

# %%
b = wb.GraphBuilder("types")
matrix = b.placeholder("matrix", "float32", (3, 4))
vector = b.placeholder("vector", "float32", (5,))
product = b.matmul(matrix, b.placeholder("other", "float32", (4, 2)))
print("matrix @ other:", product.dtype, product.shape)
assert product.shape == (3, 2)
try:
    matrix + vector
except wb.WorkbenchError as error:
    print(error.slug)
    print(error.message)
    assert error.source.expression == "matrix + vector"

# %% [markdown]
# ## 5. Where did this number come from?
#
# Every value of a run is on record, and each knows what it was made of. `explain` follows the edges back to the inputs,
# with the value at each step.

# %%
explanation = session.explain("distance")
print(explanation)

# %% jupyter={"source_hidden": true} tags=["check"]
assert {"weight", "height"} <= {link.tag.node for link in explanation.links}

# %% [markdown]
# Here is the same explanation in a view. A click on a value opens or closes its sources.

# %% tags=["nbval-ignore-output"]
ExplainView(session, "distance")

# %% [markdown]
# ## 6. Plain Python as a graph
#
# Nobody likes to write graphs by hand. `@wb.graph` reads a Python function and makes its graph. Each node remembers
# the line that it comes from.


# %%
@wb.graph
def body_mass(weight, height):
    index = weight / (height * height)
    return abs(index - 22.0)


captured = body_mass.graph_for(70.0, 1.75)
print("ops:", *(node.op for node in captured.nodes.values() if node.inputs))

# %% jupyter={"source_hidden": true} tags=["check"]
assert float(body_mass(70.0, 1.75)) == abs(70.0 / (1.75 * 1.75) - 22.0)

# %% [markdown]
# ## 7. Exercises
#
# Replace the three dots. The check after each answer says whether it is right, and what is wrong if not;
# `course.hint("02.1")` gives more.
#
# **02.1** In the graph "body mass", the input `height` gets a new value. Which nodes have to fire again? Write their
# names, separated by spaces. (Think first; then you may look with `session.update(height=1.8)`.)

# %%
again = ...
course.check_answer("02.1", again)

# %% [markdown]
# **02.2** How many orders of the six nodes `weight`, `height`, `multiply`, `divide`, `subtract`, `abs` are allowed?
# (`itertools.permutations` and the function `allowed` above can count them for you. First, try to see it in the
# picture.)

# %%
number_of_orders = ...
course.check_answer("02.2", number_of_orders)

# %% [markdown]
# **02.3** Write the distance of the point (x, y) from the origin, $\sqrt{x^2 + y^2}$, as a graph. Your function gets
# two values and returns one. The check builds the graph and tries it on some numbers.


# %%
def distance(x, y):
    return ...  # with np.sqrt, as if x and y were numbers


course.check_answer("02.3", distance)

# %% [markdown]
# ## What you have seen
#
# - A graph consists of nodes, and of values that go from one node to others. Apart from constants it holds no
#   numbers.
# - A node fires when all its inputs are there. Order, omission and updates all follow from that.
# - Every value can be traced back to the inputs that it was computed from.
#
# In the next notebook a node fires more than once. For that a value needs more than a name:
# [03 Frames: from Enter to Exit by hand](03_frames.ipynb).

# %%
course.score("02")
