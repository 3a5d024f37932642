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
# # Solutions: what a dataflow graph is
#
# The exercises are in [02_dataflow_graphs.ipynb](../02_dataflow_graphs.ipynb). There are other right answers; the
# checks accept them too.

# %%
import sys

sys.path.insert(0, "..")  # the checks lie beside the notebooks
import course
import numpy as np

# %% [markdown]
# **02.1** `multiply` reads the height, and all that comes after it depends on it. `weight` does not.

# %%
course.check_answer("02.1", "multiply divide subtract abs")

# %% [markdown]
# **02.2** `height` has to come before `multiply`, and both before `divide`. `weight` can stand at three places: first,
# second or third. After that there is one way only.

# %%
import itertools

reads = {"multiply": ["height"], "divide": ["weight", "multiply"], "subtract": ["divide"], "abs": ["subtract"]}
nodes = ["weight", "height", "multiply", "divide", "subtract", "abs"]
allowed = [
    order
    for order in itertools.permutations(nodes)
    if all(order.index(source) < order.index(node) for node, sources in reads.items() for source in sources)
]
for order in allowed:
    print(*order)
course.check_answer("02.2", len(allowed))

# %% [markdown]
# **02.3** The function never sees a number. It is called once, while the graph is built.


# %%
def distance(x, y):
    return np.sqrt(x * x + y * y)


course.check_answer("02.3", distance)

# %%
course.score("02")
