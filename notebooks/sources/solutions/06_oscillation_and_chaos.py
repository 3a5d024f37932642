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
# # Solutions: oscillation, chaos, the logistic map
#
# The exercises are in [06_oscillation_and_chaos.ipynb](../06_oscillation_and_chaos.ipynb). There are other right
# answers; the checks accept them too.

# %%
import sys

sys.path.insert(0, "..")  # the checks lie beside the notebooks
import course

# %% [markdown]
# **06.1** The window of period three begins at $r = 1 + \sqrt 8 = 3.8284$.

# %%
course.check_answer("06.1", 3.83)

# %% [markdown]
# **06.2** From 1e-6 to 0.1 it takes $\log_2 10^5 = 16.6$ doublings. A start that is a million times worse costs 20
# years.

# %%
course.check_answer("06.2", 17)

# %% [markdown]
# **06.3** At the fixed point the update has the slope $3.2 (1 - 2x) = -1.2$. The damped one has $1 + w(-1.2 - 1)$,
# and that is zero for $w = 1/2.2$. Any $w$ below $2/2.2 = 0.909$ converges.

# %%
course.check_answer("06.3", 1 / 2.2)

# %% [markdown]
# **06.4** With r = 0.9 the fish die out. With r = 3 the swing shrinks like one over the square root of the year:
# slow, but it has a limit. A counter has no limit.

# %%
course.check_answer("06.4", "CONVERGING", "CONVERGING", "DIVERGING")

# %%
course.score("06")
