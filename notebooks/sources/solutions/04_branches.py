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
# # Solutions: branches and dead values
#
# The exercises are in [04_branches.ipynb](../04_branches.ipynb). There are other right answers; the checks accept
# them too.

# %%
import sys

sys.path.insert(0, "..")  # the checks lie beside the notebooks
import course
import numpy as np

import workbench as wb

# %% [markdown]
# **04.1** 16 is positive, so the false output of the Switch is dead. Only `square` reads it. The Switch itself fires.

# %%
course.check_answer("04.1", "square")

# %% [markdown]
# **04.2** Merge needs one living input. Every other node needs all of its inputs.

# %%
course.check_answer("04.2", "dead", "dead")

# %% [markdown]
# **04.3** The condition of the branch is that n is even, so its false decisions are the odd numbers.


# %%
@wb.graph
def collatz(n):
    steps = 0
    while n > 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps = steps + 1
    return steps


session = wb.Session(collatz.graph_for(97), {"n": 97})
session.run()
n = session.trace["n"].values
print("steps:", session.outputs, "| odd numbers before the end:", int(np.sum(n[:-1] % 2)))
course.check_answer("04.3", np.sum(n[:-1] % 2))

# %% [markdown]
# **04.4** Both sides are functions, because only one of them is built into the side that is computed.


# %%
def sinc(b, x):
    return b.cond(b.not_equal(x, 0.0), lambda: np.sin(x) / x, lambda: b.constant(1.0))


course.check_answer("04.4", sinc)

# %%
course.score("04")
