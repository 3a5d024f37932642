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
# # Solutions: a loss that is NaN
#
# The exercises are in [17_loss_that_is_nan.ipynb](../17_loss_that_is_nan.ipynb). There are other right answers; the
# checks accept them too.

# %%
import sys

sys.path.insert(0, "..")  # the checks lie beside the notebooks
import course
import torch

notebook = course.definitions("17_loss_that_is_nan")  # draw, pairs and wanted are those of the notebook

# %% [markdown]
# **17.1** The loss is NaN from the same iteration on; the op stands in the line that prepares the batch.

# %%
watch = course.night_run()
bad = watch.first_bad()
course.check_answer("17.1", bad.iteration, bad.op)

# %% [markdown]
# **17.2** The largest operand is the batch without its mean, 8 rows of 3.

# %%
for operand in bad.operands:
    print(operand)
largest = max(bad.operands, key=lambda operand: operand.count)
course.check_answer("17.2", bad.phase, largest.zeros)


# %% [markdown]
# **17.3** The root of 1e-9 is 0.00003, and its slope is finite.


# %%
def my_distance(a, b):
    return (((a - b) ** 2).sum(dim=1) + 1e-9).sqrt()


course.check_answer("17.3", my_distance)
watch = notebook.draw(notebook.pairs, notebook.wanted, my_distance)
print("loss:", watch["loss"].values.round(3), "| first bad:", watch.first_bad())

# %% jupyter={"source_hidden": true} tags=["check"]
assert watch.first_bad() is None and torch.isfinite(torch.tensor(watch["loss"].values)).all()

# %% [markdown]
# **17.4** A silent fault is reported where there is no NaN.

# %%
quiet = course.quiet_run()
bad = quiet.first_bad()
print(bad.reason)
print("lost at:", bad.op)
course.check_answer("17.4", "1.weight")

# %%
course.score("17")
