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
# # Solutions: an export that differs
#
# The exercises are in [18_export_that_differs.ipynb](../18_export_that_differs.ipynb). There are other right answers;
# the checks accept them too.

# %%
import sys

sys.path.insert(0, "..")  # the checks lie beside the notebooks
import course
import numpy as np

import workbench as wb

program = "../models/echo.pt2"
x = np.random.default_rng(18).normal(size=(4, 6)).astype(np.float32)

# %% [markdown]
# **18.1** One row errs; all others inherit its error.

# %%
found = wb.diff(program, course.planted("first"), (x,))
print(found.introduced[0].own)
course.check_answer("18.1", found.introduced[0].node)

# %% [markdown]
# **18.2** In float64 both are the same function. What is apart is the rounding: the nodes of its part have the cast.

# %%
found = wb.diff(program, course.planted("second"), (x,))
row = found.introduced[0]
print(row.own, "| in float64:", row.own.function)
print("nodes of the part:", *row.own.nodes)
course.check_answer("18.2", row.node, row.own.fault)

# %% [markdown]
# **18.3** The row is that of the first iteration in which the node errs.

# %%
found = wb.diff(program, course.planted("third"), (x,))
row = found.introduced[0]
print(row.node, row.where, "| largest number:", row.value_a.max(), "and", row.value_b.max())
course.check_answer("18.3", row.iteration)

# %% [markdown]
# **18.4**

# %%
graph = wb.load(program)
found = wb.diff(graph, wb.in_dtype(graph, "float16"), (x,))
course.check_answer("18.4", max(row.own.share or 0 for row in found.ranking()))

# %%
course.score("18")
