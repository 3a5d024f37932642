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
# # Solutions: a looped transformer
#
# The exercises are in [19_looped_transformer.ipynb](../19_looped_transformer.ipynb). There are other right answers; the
# checks accept them too.

# %%
import sys

sys.path.insert(0, "..")  # the checks lie beside the notebooks
import course
import torch

# %% [markdown]
# **19.1** The report has the label and the period.

# %%
report = course.looped("first")
course.check_answer("19.1", report.label.name, report.period)

# %% [markdown]
# **19.2** Each token has its own course.

# %%
report = course.looped("second")
print([each.course.name for each in report.courses])
course.check_answer("19.2", 2, report.courses[2].course)

# %% [markdown]
# **19.3** The gate has its values after each loop, and the first one that is 0.5 or more.

# %%
report = course.looped("third")
print(report.gate.values[:6, 0].round(3))
course.check_answer("19.3", report.gate.opened[0])

# %% jupyter={"source_hidden": true} tags=["check"]
assert not torch.tensor(report.gate.values[:4] >= 0.5).any()

# %%
course.score("19")
