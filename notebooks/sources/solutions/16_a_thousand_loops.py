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
# # Solutions: a thousand loops
#
# The exercises are in [16_a_thousand_loops.ipynb](../16_a_thousand_loops.ipynb). There are other right answers; the
# checks accept them too.

# %%
import sys

sys.path.insert(0, "..")  # the checks lie beside the notebooks
import course
import numpy as np

import workbench as wb

# %% [markdown]
# **16.1** The limit grows with the momentum: it is 2 (1 + momentum) / L.

# %%
b = wb.GraphBuilder("descent")
lr = b.placeholder("lr")
loop = b.while_loop(
    lambda x, v: abs(4.0 * x) > 1e-9,
    lambda x, v: {"x": x + (0.5 * v - lr * (4.0 * x)), "v": 0.5 * v - lr * (4.0 * x)},
    {"x": 1.0, "v": 0.0},
)
limit = wb.boundary(b.build({"x": loop["x"]}), {"lr": (0.1, 2.0)})
course.check_answer("16.1", limit.value)

# %% [markdown]
# **16.2** The window of period 3 begins at 1 + sqrt(8).

# %%
b = wb.GraphBuilder("pond")
r = b.placeholder("r")
loop = b.while_loop(
    lambda x, year: year < 3000, lambda x, year: {"x": r * x * (1.0 - x), "year": year + 1}, {"x": 0.3, "year": 0}
)
pond = b.build({"x": loop["x"]})
found = wb.sweep(pond, {"r": np.linspace(3.8, 3.88, 400)}, collect=["x[-60:]"])
period = np.array([len(np.unique(row.round(6))) for row in found["x[-60:]"]])
course.check_answer("16.2", found["r"][period == 3][0])

# %% [markdown]
# **16.3** Every border of one basin is a border of all three. The origin is on it: from there the first step leads to
# infinity.

# %%
course.check_answer("16.3", {"re": (-0.004, 0.004), "im": (-0.004, 0.004)})

# %% [markdown]
# **16.4** Neither its end nor a proof was found; with more work it may end.

# %%
course.check_answer("16.4", "it did not end within its bound of work")

# %%
course.score("16")
