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
# # Solutions: shapes and types under the hood
#
# The exercises are in [A1_shapes_and_types.ipynb](../A1_shapes_and_types.ipynb). There are other right answers; the
# checks accept them too.

# %%
import sys

sys.path.insert(0, "..")  # the checks lie beside the notebooks
import course
import numpy as np

from workbench.kernels import ShapeTrie, types

# %% [markdown]
# **A1.1** A float64 has 8 bytes, and a row has four of them.

# %%
array = np.zeros((3, 4))
course.check_answer("A1.1", array.strides, array.T.strides)

# %% [markdown]
# **A1.2** Four different shapes; one of them appeared three times.

# %%
trie = ShapeTrie()
ids = [trie.intern(shape) for shape in ((2, 3), (2, 3), (3, 2), (2,), (2, 3, 1), (2, 3))]
course.check_answer("A1.2", len(trie), trie.refcount(ids[0]))

# %% [markdown]
# **A1.3** NumPy's rules for a. True division of integers gives float64, and a comparison a bool.

# %%
course.check_answer("A1.3", "float32", "float64", "bool")

# %% [markdown]
# **A1.4** One of many: a result is never less precise than an operand.

# %%
print(types.explain("add", "float64", "float64", "float32"))
course.check_answer("A1.4", ("float64", "float64", "float32"))

# %%
course.score("A1")
