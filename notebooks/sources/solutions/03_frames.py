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
# # Solutions: frames, from Enter to Exit
#
# The exercises are in [03_frames.ipynb](../03_frames.ipynb). There are other right answers; the checks accept
# them too.

# %%
import sys

sys.path.insert(0, "..")  # the checks lie beside the notebooks
import course

# %% [markdown]
# **03.1** The condition is asked for i = 0, 1, 2, 3, 4 and 5: six times. Merge and Switch fire with each question. Five
# times the answer is yes, so NextIteration fires five times. The value leaves once.

# %%
course.check_answer("03.1", (6, 6, 5, 1))

# %% [markdown]
# **03.2**

# %%
course.check_answer("03.2", "Switch", "Merge", "NextIteration")

# %% [markdown]
# **03.3** The new total is the old one plus the *new* i, since i starts at 0 and the sum with 1. Both variables share
# one LoopCond: all variables of a loop leave in the same iteration.


# %%
def sum_by_hand(b, n):
    zero, one = b.constant(0), b.constant(1)
    limit, by_one = (b.enter(value, "sum", is_constant=True) for value in (n, one))
    i, _ = b.merge(b.enter(zero, "sum"), name="i")
    go_on = b.loop_cond(b.less(i, limit))
    leave, body = b.switch(i, go_on)
    new = b.add(body, by_one)
    b.add_back_edge(i, b.next_iteration(new))

    total, _ = b.merge(b.enter(zero, "sum"), name="total")
    total_leaves, total_goes_on = b.switch(total, go_on)
    b.add_back_edge(total, b.next_iteration(b.add(total_goes_on, new)))
    return b.exit(total_leaves)


course.check_answer("03.3", sum_by_hand)

# %%
course.score("03")
