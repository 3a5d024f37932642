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
# # Solutions: NaN hunt
#
# The exercises are in [09_nan_hunt.ipynb](../09_nan_hunt.ipynb). There are other right answers; the checks accept
# them too.

# %%
import sys

sys.path.insert(0, "..")  # the checks lie beside the notebooks
import course
import numpy as np

import workbench as wb

# %% [markdown]
# **09.1** `inf - inf`, `0 * inf` and `sqrt(-1)` have no answer. The others are infinite, and infinity is an answer.

# %%
with np.errstate(all="ignore"):
    inf, zero = np.float64(np.inf), np.float64(0.0)
    results = {"a": inf - inf, "b": 1 / zero, "c": 0 * inf, "d": np.log(zero), "e": np.sqrt(-1.0), "f": inf + 1}
print(results)
course.check_answer("09.1", [letter for letter, value in results.items() if np.isnan(value)])

# %% [markdown]
# **09.2** and **09.3** The variance is a difference of two numbers near 1e16, whose neighbours are 2 apart: it comes
# out as -2, and has no root.

# %%
sick = course.sick_program()
origin = wb.nan_origin(sick)
print(origin.node, origin.iteration, "|", origin.why)
course.check_answer("09.2", origin.node, origin.iteration[0])

# %%
print("mean of squares:", repr(float(sick.value("mean_of_squares", iteration=16))))
print("square of mean: ", repr(float(sick.value("square_of_mean", iteration=16))))
course.check_answer("09.3", "variance")

# %% [markdown]
# **09.4** The quotient does not change if all exponents get smaller by the same number.


# %%
def softmax(b, x):
    e = np.exp(x - b.max(x))
    return e / b.sum(e)


course.check_answer("09.4", softmax)

# %%
sick.close()
course.score("09")
