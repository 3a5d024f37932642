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
# # Solutions: why a loop stops, and why it does not
#
# The exercises are in [07_why_a_loop_stops.ipynb](../07_why_a_loop_stops.ipynb). There are other right answers; the
# checks accept them too.

# %%
import sys

sys.path.insert(0, "..")  # the checks lie beside the notebooks
import course

# %% [markdown]
# **07.1** $x$ is multiplied by $1 - 10\lambda$: by 0.5, by -1 and by -1.5.

# %%
course.check_answer("07.1", "CONVERGING", "OSCILLATING", "DIVERGING")

# %% [markdown]
# **07.2** $1 - 10\lambda = 0$.

# %%
course.check_answer("07.2", 0.1)

# %% [markdown]
# **07.3** No power of one half is 0.001, so the halvings step over it.


# %%
def my_condition(x, k):
    return x > 0.001


course.check_answer("07.3", my_condition)

# %% [markdown]
# **07.4** A float32 has 24 binary digits. At $2^{24}$ the next one is two further on.

# %%
course.check_answer("07.4", 2**24)

# %%
course.score("07")
