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
# # Solutions: nested loops
#
# The exercises are in [08_nested_loops.ipynb](../08_nested_loops.ipynb). There are other right answers; the checks
# accept them too.

# %%
import sys

sys.path.insert(0, "..")  # the checks lie beside the notebooks
import course

import workbench as wb

# %% [markdown]
# **08.1** 11 is a prime, so the divisors 2 to 11 are tried: ten values. The body runs nine times.

# %%
course.check_answer("08.1", 10)

# %% [markdown]
# **08.2** Round 0 tests the number 2, so round 33 tests 35. In trip 0 the divisor is 2, in trip 1 it is 3.

# %%
course.check_answer("08.2", 3, 33)

# %% [markdown]
# **08.3** $0 + 1 + ... + 19 = 190$ trips. In each of the 20 rounds one more question ends the inner loop.

# %%
course.check_answer("08.3", sum(range(20)), sum(range(20)) + 20)

# %% [markdown]
# **08.4**


# %%
@wb.graph
def even_pairs(n):
    pairs = 0
    b = 1
    while b <= n:
        a = 1
        while a <= b:
            if (a + b) % 2 == 0:
                pairs = pairs + 1
            a = a + 1
        b = b + 1
    return pairs


print("pairs for n = 100:", int(even_pairs(100)))
course.check_answer("08.4", even_pairs)

# %%
course.score("08")
