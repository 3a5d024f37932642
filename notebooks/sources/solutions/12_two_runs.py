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
# # Solutions: two runs that differ
#
# The exercises are in [12_two_runs.ipynb](../12_two_runs.ipynb). There are other right answers; the checks accept
# them too.

# %%
import sys

sys.path.insert(0, "..")  # the checks lie beside the notebooks
import course

import workbench as wb

# %% [markdown]
# **12.1** Of the values that differ, one has inputs that agree.

# %%
before, after = course.two_programs()
found = wb.diff(before, after)
for row in found.rows:
    print(f"{row.node:10} {row.where}{'   <- introduces' if row.introduces else ''}")
course.check_answer("12.1", found.introduced[0].node)

# %% [markdown]
# **12.2** The outlier comes in iteration 17. Before that, the limited error is the error itself.

# %%
course.check_answer("12.2", found.first.iteration[0])

# %% [markdown]
# **12.3** The distance begins with 1e-8, the rounding of 0.3 in float32, and grows by about 2 in each iteration.

# %%
double, single = course.two_ponds()
curve = wb.diff(double, single).curve("x")
for iteration in (0, 5, 10, 15, 20, 25):
    print(f"iteration {iteration:2}: {curve.absolute[iteration]:.0e}")
course.check_answer("12.3", "rounding")

# %% [markdown]
# **12.4** The spring once more, in a few lines; the tolerance that is needed is that of the notebook.

# %%
import numpy as np


def spring(dtype):
    b = wb.GraphBuilder(f"spring in {dtype}")
    x0 = b.placeholder("x0", dtype, ())
    dt, friction = b.constant(np.asarray(0.1, dtype)), b.constant(np.asarray(0.3, dtype))

    def swing(x, v):
        v_next = v + dt * (-x - friction * v)
        return {"x": x + dt * v_next, "v": v_next}

    zero = b.constant(np.asarray(0.0, dtype))
    loop = b.while_loop(lambda x, v: x * x + v * v > 1e-3, swing, {"x": x0, "v": zero}, name="swing")
    session = wb.Session(b.build({"x": loop["x"]}), {"x0": 1.0})
    session.run()
    return session


springs = spring("float64"), spring("float32")
equal = [rtol for rtol in (1e-8, 1e-7, 1e-6, 1e-5, 1e-4) if wb.diff(*springs, rtol=rtol, atol=1e-7).equal]
print("equal with:", equal)
course.check_answer("12.4", min(equal))

# %%
for session in (before, after, double, single, *springs):
    session.close()
course.score("12")
