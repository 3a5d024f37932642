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
# # Solutions: convergence and its rates
#
# The exercises are in [05_convergence.ipynb](../05_convergence.ipynb). There are other right answers; the checks accept
# them too.

# %%
import sys

sys.path.insert(0, "..")  # the checks lie beside the notebooks
import math

import course
import numpy as np

import workbench as wb

# %% [markdown]
# **05.1** The derivative of $1 + 1/x$ is $-1/x^2$. At the golden ratio its size is 0.382.

# %%
golden = [1.0]
for _ in range(20):
    golden.append(1.0 + 1.0 / golden[-1])
print(f"{wb.classify(golden).rate:.4f}")
course.check_answer("05.1", wb.classify(golden).rate)

# %% [markdown]
# **05.2** $0.9^k < 10^{-6}$ for $k > \log 10^{-6} / \log 0.9 = 131.1$.

# %%
course.check_answer("05.2", math.ceil(math.log(1e-6) / math.log(0.9)))

# %% [markdown]
# **05.3** Error = step / (1 - rate) = 1e-8 / 0.01.

# %%
course.check_answer("05.3", 1e-8 / (1 - 0.99))

# %% [markdown]
# **05.4** $f(x) = \cos x - x$ and $f'(x) = -\sin x - 1$.


# %%
def faster(x):
    return x + (np.cos(x) - x) / (np.sin(x) + 1.0)


course.check_answer("05.4", faster)

# %% [markdown]
# **05.5** From a start between 0 and $\sqrt{3/a}$ the next $y$ is positive, and the loop converges to $1/\sqrt a$. For
# $a = 5$ the bound is 0.77, so a start of 1.0 leads to a negative $y$.


# %%
def my_update(y, a):
    return 0.5 * y * (3.0 - a * y * y)


course.check_answer("05.5", my_update, 0.5)

# %%
course.score("05")
