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
# # Solutions: a wrong result
#
# The exercises are in [13_wrong_result.ipynb](../13_wrong_result.ipynb). There are other right answers; the checks
# accept them too.

# %%
import sys

sys.path.insert(0, "..")  # the checks lie beside the notebooks
import course
import numpy as np
from course.capstone import PAGES, site

import workbench as wb

links = site()
session = wb.Session(wb.load("../models/ranking.txt"), {"links": links, "limit": 100})
session.run()

# %% [markdown]
# **13.1** The sum is 1 at the start, and below 1 from iteration 1 on.

# %%
sums = session.trace["rank"].values.sum(axis=1)
print(sums[:5].round(4))
course.check_answer("13.1", np.flatnonzero(sums < 0.999)[0])

# %% [markdown]
# **13.2** `flow` should have the sum 1, as `rank` has. The other two do what they should with it.

# %%
for name in ("flow", "damped", "new"):
    print(f"{name:7} {session.value(name, iteration=0).sum():.4f}")
course.check_answer("13.2", "flow")

# %% [markdown]
# **13.3** A column of `share` says where the rank of a page goes. That of `terms` is zero, since it links to no page.

# %%
columns = session.value("share").sum(axis=0)
print(dict(zip(PAGES, columns.tolist(), strict=True)))
course.check_answer("13.3", PAGES[int(np.flatnonzero(columns == 0)[0])])

# %% [markdown]
# **13.4** 45 turns of at most 100, and the last change was below 1e-9.

# %%
print(session.termination().reason)
course.check_answer("13.4", "converged")

# %% [markdown]
# **13.5** A visitor on a page without links goes to any page, as if it linked to all of them.

# %%
my_links = links.copy()
my_links[:, PAGES.index("terms")] = 1.0
course.check_answer("13.5", my_links)

# %%
session.close()
course.score("13")
