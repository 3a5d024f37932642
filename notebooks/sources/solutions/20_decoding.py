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
# # Solutions: decoding, token by token
#
# The exercises are in [20_decoding.ipynb](../20_decoding.ipynb). There are other right answers; the checks accept them
# too.

# %%
import sys

sys.path.insert(0, "..")  # the checks lie beside the notebooks
import course
import torch

import workbench as wb

# %% [markdown]
# **20.1** The states of the run know how they repeat.

# %%
run = course.decoded("first")
again = run.states().repetition()
print(*run.generated())
course.check_answer("20.1", again.period)

# %% [markdown]
# **20.2** The first row of the comparison.

# %%
right, wrong = course.decoded("second")
first = wb.diff(right, wrong).first
course.check_answer("20.2", first.position, first.module)

# %% jupyter={"source_hidden": true} tags=["check"]
assert first.position > 5 and not torch.equal(torch.tensor(first.a), torch.tensor(first.b))

# %% [markdown]
# **20.3** All values of the common tokens agree, so it is the choice.

# %%
found = wb.diff(*course.decoded("third"))
print(found)
course.check_answer("20.3", "model" if found.first else "choice")

# %%
course.score("20")
