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
# # A wrong result
#
# [◂ 12 Two runs that differ](12_two_runs.ipynb) · [the course](README.md) ·
# [14 Your own loop ▸](14_your_own_loop.ipynb)
#
# You get a model from somebody who has left. It ranks the pages of a web site by the links between them. The loop ends
# without an error, and the result is wrong. Nobody knows why. Find out.
#
# **After this notebook you can**
#
# 1. turn "the result is wrong" into a question that one iteration answers;
# 2. follow a quantity that should stay the same, and find the node that does not keep it;
# 3. tell a wrong model from wrong data, and check the repair.
#
# It takes about 40 minutes with the exercises. There is little text and no recipe: use what you know from the other
# notebooks.

# %%
import course
from course.capstone import PAGES, site

import workbench as wb
from workbench.widgets import GraphView

# %% [markdown]
# ## 1. What is known
#
# `links` is a matrix: entry (i, j) is 1 if page j links to page i. A visitor follows one of the links of a page, or,
# with a probability of 0.15, goes to any page. The rank of a page is the probability of finding the visitor there
# after many clicks, which the model calls turns. So **the ranks have to be positive, and their sum has to be 1**.

# %%
graph = wb.load("models/ranking.txt")
links = site()
session = wb.Session(graph, {"links": links, "limit": 100})
session.run()
for page, rank in zip(PAGES, session.outputs["rank"], strict=True):
    print(f"{page:6} {rank:.4f}")
print("sum:  ", round(float(session.outputs["rank"].sum()), 4), "after", session.outputs["turns"], "turns")

# %% jupyter={"source_hidden": true} tags=["check"]
assert session.state == "finished" and session.outputs["rank"].sum() < 0.5

# %% [markdown]
# Less than half of the probability is left. It does not look like rounding. Where is the rest?
#
# ## 2. The model
#
# The loop variables are `rank`, `moved` (the largest change of a rank in the last turn) and `k`.

# %% tags=["nbval-ignore-output"]
view = GraphView(graph, height=640)
view.expand()
view

# %% [markdown]
# Open it in the panel, step through the first turn, and look at the values.

# %% tags=["nbval-ignore-output"]
panel = wb.debug(graph, {"links": links, "limit": 100})
panel

# %% [markdown]
# ## 3. Find it
#
# Each exercise narrows it down. `course.hint("13.1")` and so on help if you are stuck.
#
# **13.1** In which iteration is the sum of `rank` below 1 for the first time?

# %%
iteration = ...
course.check_answer("13.1", iteration)

# %% [markdown]
# **13.2** Which node of the loop loses it? Read the sums of the values in iteration 0, from node to node, and compare
# them with what they should be: following links keeps the sum, damping keeps 0.85 of it, and the last node adds 0.15.

# %%
node = ...
course.check_answer("13.2", node)

# %% [markdown]
# **13.3** That node multiplies `rank` by `share`. Which page loses its rank?

# %%
page = ...
course.check_answer("13.3", page)

# %% [markdown]
# **13.4** And yet the loop ended. Had it `"converged"`, or was it `"cut off"` by the limit?

# %%
ended = ...
course.check_answer("13.4", ended)

# %% [markdown]
# **13.5** Repair it with the data alone: give a matrix `my_links` with which the model gives ranks whose sum is 1. A
# visitor on a page without links goes to any page of the site, each with the same probability. All other pages keep
# their links.

# %%
my_links = ...
course.check_answer("13.5", my_links)

# %% [markdown]
# ## What you have seen
#
# - A property that must hold in every iteration (a sum, a sign, a bound) turns a wrong result into a wrong step.
# - One iteration was enough, because the first one was wrong already.
# - A loop that converges can converge to a wrong result. Its end proves nothing about its meaning.
#
# A model of your own opens in the same way: `wb.debug(wb.load("model.onnx"), inputs)`. But most loops are not graphs:
# they run in a library, or in a program that you wrote. The next notebook records them: [14 Your own
# loop](14_your_own_loop.ipynb).

# %%
course.score("13")
