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
# # A loss that is NaN
#
# [◂ 16 A thousand loops](16_a_thousand_loops.ipynb) · [the course](README.md) ·
# [18 An export that differs ▸](18_export_that_differs.ipynb)
#
# A training loop of PyTorch is plain Python: no graph, nothing to load. Hours after the start its loss becomes `nan`,
# and the program goes on. `torch.autograd.set_detect_anomaly` names an op of the backward pass, but no iteration and
# no number. `wb.watch(..., ops="torch")` records each op of the forward pass, the backward pass and the optimizer,
# names the first bad one, and gives a session on what has been recorded.
#
# **After this notebook you can**
#
# 1. name the iteration, the op and the line that made a NaN, in the forward pass, the backward pass or the optimizer;
# 2. go back three iterations and look at what led to it;
# 3. change a value of the past and see whether that would have helped;
# 4. tell a NaN from an infinity that is meant.
#
# It takes about 55 minutes with the exercises. It needs PyTorch: `pip install torch`. Read [09](09_nan_hunt.ipynb)
# first.

# %% tags=["definitions"]
import course

course.needs("torch", "pip install torch")
import numpy as np
import torch
from torch import nn

import workbench as wb

# %% [markdown]
# ## 1. A fault in the forward pass
#
# A small network learns the *logarithm* of how bright a scene is, from four pixels. Its data are cut into batches by
# slices, as in most scripts.

# %% tags=["definitions"]
torch.manual_seed(1)
pixels = torch.rand(256, 4) + 0.05
pixels[204] = 0.0  # somebody left the cap on the lens


class Brightness(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(4, 16)
        self.head = nn.Linear(16, 1)

    def forward(self, x):
        return self.head(torch.tanh(self.hidden(x)))


def train(data, steps=16, size=16):
    model = Brightness()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    with wb.watch("brightness", ops="torch", modules=model, optimizer=optimizer, show=False) as watch:
        for k in range(steps):
            x = data[k * size : (k + 1) * size]
            target = x.mean(dim=1, keepdim=True).log()
            loss = ((model(x) - target) ** 2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch(loss=loss)
    return watch


# %%
watch = train(pixels)
print("loss:", watch["loss"].values.round(3))

# %% jupyter={"source_hidden": true} tags=["check"]
assert np.isfinite(watch["loss"].values[:12]).all() and np.isinf(watch["loss"].values[12])
assert np.isnan(watch["loss"].values[13:]).all()

# %% [markdown]
# First the loss is infinite, then it is NaN. Which op was the first?

# %%
bad = watch.first_bad()
print(bad)

# %%
print("iteration:", bad.iteration, "| op:", bad.op, "| phase:", bad.phase)
print("line:", bad.source.expression)

# %% jupyter={"source_hidden": true} tags=["check"]
assert (bad.iteration, bad.op, bad.phase) == (12, "log", "forward") and ".log()" in bad.source.expression
assert bad.operands[0].zeros == 1

# %% [markdown]
# The answer lists the values that the op read: sixteen numbers, one of which is zero. The fault is neither in the
# model nor in the optimizer, but in the data: row 204, in batch 12.
#
# ## 2. Three steps back
#
# The record is more than statistics. It has the calls of each iteration with all that they read from outside, so that
# PyTorch can compute them again, op by op, with the same bits:

# %%
print(watch.replays)
session = watch.session()
for note in session.graph.notes:
    print(note)

# %% jupyter={"source_hidden": true} tags=["check"]
assert watch.replays.exact is True

# %% [markdown]
# The loop of the session begins with iteration 2: the first step of AdamW creates its state, and the second is the
# first to read a state that an earlier step left. From there on all iterations have the same form. The offset of the
# slice, which differs from one to the next, is a value like any other.
#
# The parameters, the state of the optimizer and the number of the iteration are the variables of the loop. Run to three
# iterations before the fault, and watch it come:

# %%
session.breakpoints.add("recorded_iteration", when=f"value == {bad.iteration - 3}")
session.run()
session.breakpoints.clear()
for _ in range(4):
    session.next_iteration()
    dark = session.value("brightness/mean").min()
    print(f"iteration {session.value('recorded_iteration')}: darkest {dark:.3f}, loss {session.value('loss'):.3f}")
session.next_iteration()
print("weights of the next iteration:", session.value("head.weight").ravel()[:4])

# %% jupyter={"source_hidden": true} tags=["check"]
assert session.value("recorded_iteration") == bad.iteration + 1 and np.isinf(session.trace["loss"].values[-2])
assert np.isnan(session.value("head.weight")).all()

# %% [markdown]
# Nothing announced it: in the three iterations before, all was well. One step of the optimizer after the dark row all
# weights of the head are NaN, and nothing in the later iterations shows the cause. That is why you have to be able to
# go back.
#
# The panel shows the same run. Modules are boxes; a click opens one. A selected node has its line of the program.

# %% tags=["nbval-ignore-output"]
panel = wb.debug(watch)
panel

# %% [markdown]
# ## 3. Change the past
#
# Would the training have gone on well without the dark row? Go back to the mean of that batch, replace the zero, and
# let the rest run again (`iteration=` counts the passes of the session's loop from 0):

# %%
where = session.trace["brightness/mean"]
trip = int(np.flatnonzero((where.values == 0).any(axis=(1, 2)))[0])
session.run_to("brightness/mean", iteration=trip)
session.step()
mean = session.value("brightness/mean").copy()
print("darkest:", mean.min(), "in row", int(mean.argmin()))
mean[mean == 0] = 0.05
session.set_value("brightness/mean", mean)
session.run()
print("loss at the end:", session.value("loss").round(3))

# %% jupyter={"source_hidden": true} tags=["check"]
assert np.isfinite(session.value("loss")) and mean.argmin() == 204 - 12 * 16

# %% [markdown]
# All ops of all iterations after it have been computed again by PyTorch, with their batches and the optimizer. What
# Python itself decided stays as it was recorded: a program that reads a number with `item()` and branches on it does
# not take its decision again. The variable `reads_differ` shows whether an edit has reached such a number.

# %%
print("numbers that Python read would have been others:", bool(session.value("reads_differ")))

# %% [markdown]
# ## 4. A fault in the backward pass
#
# The distances between six towns are known, and a map is to be drawn. Each step takes four pairs of towns.


# %% tags=["definitions"]
def distance(a, b):
    return ((a - b) ** 2).sum(dim=1).sqrt()


def draw(pairs, wanted, distance=distance, steps=8):
    torch.manual_seed(0)
    towns = nn.Parameter(torch.randn(6, 2))
    optimizer = torch.optim.SGD([towns], lr=0.1)
    with wb.watch("map", ops="torch", optimizer=optimizer, show=False) as watch:
        for k in range(steps):
            i, j = pairs[4 * k : 4 * k + 4].T
            loss = ((distance(towns[i], towns[j]) - wanted[i, j]) ** 2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch(loss=loss)
    return watch


torch.manual_seed(5)
true = torch.rand(6, 2) * 3
wanted = torch.cdist(true, true)
pairs = torch.stack([torch.randint(0, 3, (32,)), torch.randint(3, 6, (32,))], dim=1)
pairs[21] = torch.tensor([2, 2])  # a town and itself

# %%
watch = draw(pairs, wanted)
print("loss:", watch["loss"].values.round(3))
bad = watch.first_bad()
print(bad)

# %% jupyter={"source_hidden": true} tags=["check"]
assert (bad.iteration, bad.phase) == (5, "backward") and "sqrt" in bad.source.expression
assert np.isfinite(watch["loss"].values[5]) and np.isnan(watch["loss"].values[6])

# %% [markdown]
# In iteration 5 the loss is right. The distance of a town from itself is 0, and it should be 0. But the slope of the
# square root is infinite there, the slope of the sum in front of it is 0, and 0 times infinity is NaN. The next
# iteration shows it in the loss; by then the fault is over. The line is that of the *forward* op whose gradient was
# being computed.

# %%
print(bad.phase, "of:", bad.source.expression)

# %% [markdown]
# ## 5. A fault in the optimizer
#
# A table of words, an **embedding**, is trained. The words are numbers, and each has a row of four. The author has
# read that the `eps` of Adam is not needed.


# %% tags=["definitions"]
def words(eps, steps=6):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Embedding(10, 4), nn.Flatten(), nn.Linear(8, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05, eps=eps)
    with wb.watch("words", ops="torch", modules=model, optimizer=optimizer, show=False) as watch:
        for k in range(steps):
            text = torch.tensor([[k, k + 1], [k + 1, k + 2]])
            loss = (model(text) - 1.0).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch(loss=loss)
    return watch


# %%
watch = words(eps=0.0)
print("loss:", watch["loss"].values.round(3))
bad = watch.first_bad()
print(bad)

# %% jupyter={"source_hidden": true} tags=["check"]
assert bad.phase == "optimizer" and bad.iteration == 0 and np.isfinite(watch["loss"].values[0])

# %% [markdown]
# Loss and gradients are finite. A row that no word has used has the gradient 0, so both moments of Adam are 0, and
# the step divides one by the root of the other: 0/0. With the usual `eps` of 1e-8 the step is 0, and the loss stays
# finite, even where new words make it larger:

# %%
watch = words(eps=1e-8)
print("loss:", watch["loss"].values.round(3), "| first bad:", watch.first_bad())

# %% jupyter={"source_hidden": true} tags=["check"]
assert watch.first_bad() is None

# %% [markdown]
# ## 6. Infinities that are meant
#
# Not every infinity is a fault. A mask of minus infinities is how attention leaves out the future, and dropout reads
# memory that is not initialised yet. The alarm is a NaN, or an infinity, that *reaches* the loss, a parameter, or a
# recorded value.

# %%
torch.manual_seed(0)
query, key = torch.randn(4, 8), nn.Parameter(torch.randn(4, 8))
optimizer = torch.optim.SGD([key], lr=0.1)
with wb.watch("attention", ops="torch", optimizer=optimizer, show=False) as watch:
    for _ in range(4):
        future = torch.ones(4, 4).triu(1).bool()
        weights = (query @ key.T).masked_fill(future, float("-inf")).softmax(dim=1)
        loss = weights.square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        watch(loss=loss)
rows = watch.ops.of(0)
print("infinite numbers in iteration 0:", int(rows["inf"].sum()), "| first bad:", watch.first_bad())

# %% jupyter={"source_hidden": true} tags=["check"]
assert rows["inf"].sum() >= 6 and watch.first_bad() is None

# %% [markdown]
# ## 7. Exercises
#
# **17.1** `course.night_run()` trains a small network and gives its watch; in the morning the loss is NaN. In which
# iteration and by which op was the first bad number made?

# %%
watch = course.night_run()
iteration, op = ..., ...
course.check_answer("17.1", iteration, op)

# %% [markdown]
# **17.2** Of which phase is that op? Answer `"forward"`, `"backward"` or `"optimizer"`. And what did it read: how many
# of the numbers of its largest operand are zero?

# %%
phase, zeros = ..., ...
course.check_answer("17.2", phase, zeros)

# %% [markdown]
# **17.3** Write a `distance` for section 4 whose slope is finite even for a town and itself. It must return the old
# distances to within 0.001; its arguments are two tensors with a point in each row.


# %%
def my_distance(a, b):
    return ...


course.check_answer("17.3", my_distance)

# %% [markdown]
# **17.4** Nothing is NaN in `course.quiet_run()`, and yet one parameter learns nothing. Which one? (`first_bad()`
# reports this, too.)

# %%
quiet = course.quiet_run()
parameter = ...
course.check_answer("17.4", parameter)

# %% [markdown]
# ## What you have seen
#
# - A loss shows a NaN late. `first_bad()` names the op that made it: of the forward pass, the backward pass or the
#   optimizer.
# - A recorded loop is run again bit for bit, so that one can go back, look at any value, and change the past.
# - A slope can be NaN where the value is right. An infinity can be right where it is meant.
#
# For a loop of your own, write three lines around it, and `wb.debug(watch)`. [The guide to PyTorch
# loops](../workbench/docs/howto/pytorch_loops.md) has a complete example of each kind. The next notebook is about a
# module that was exported: [18 An export that differs](18_export_that_differs.ipynb).

# %%
session.close()
course.score("17")
