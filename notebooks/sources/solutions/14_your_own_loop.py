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
# # Solutions: your own loop
#
# The exercises are in [14_your_own_loop.ipynb](../14_your_own_loop.ipynb). There are other right answers; the checks
# accept them too.

# %%
import sys

sys.path.insert(0, "..")  # the checks lie beside the notebooks
import course
import numpy as np
import scipy.optimize

import workbench as wb

# %% [markdown]
# **14.1** The first row below 1e-3 has the number k, counted from 0, and is that of iteration k + 1.

# %%
bfgs = wb.watch("bfgs", show=False)
scipy.optimize.minimize(scipy.optimize.rosen, [-1.2, 1.0], method="BFGS", callback=bfgs)
below = np.flatnonzero(bfgs["fun"].values < 1e-3)
course.check_answer("14.1", int(below[0]) + 1)

# %% [markdown]
# **14.2** One call of the watch in each pass.


# %%
def fixed_point():
    x, change = 1.0, 1.0
    with wb.watch("cosine", until={"change": ("<", 1e-8)}, show=False) as watch:
        while change >= 1e-8:
            new = np.cos(x)
            change = abs(new - x)
            x = new
            watch(change=change)
    return watch


course.check_answer("14.2", fixed_point)

# %% [markdown]
# **14.3** It is |sin(x)| at the solution x = 0.739: 0.67.

# %%
course.check_answer("14.3", wb.classify(fixed_point()["change"].values).rate)

# %%
course.score("14")
