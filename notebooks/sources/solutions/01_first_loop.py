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
# # Solutions: a first loop
#
# The exercises are in [01_first_loop.ipynb](../01_first_loop.ipynb). There are other right answers; the checks accept
# them too.

# %%
import sys

sys.path.insert(0, "..")  # the checks lie beside the notebooks
import course
import numpy as np

import workbench as wb

# %% [markdown]
# **01.1** and **01.2** The same loop as in the notebook, for the root of 10. The trace has both answers.


# %%
@wb.graph
def newton(a, start):
    x = start
    while abs(x * x - a) > 1e-12:
        x = 0.5 * (x + a / x)
    return x


ten = wb.Session(newton.graph_for(10.0, 1.0), {"a": 10.0, "start": 1.0})
ten.run()
first = np.flatnonzero(np.abs(ten.trace["x"].values - np.sqrt(10.0)) < 1e-6)[0]
course.check_answer("01.1", first)

# %%
((false, true),) = set(ten.trace.branch_counts().values())
course.check_answer("01.2", true, false)

# %%
course.score("01")
