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
# # A looped transformer
#
# [◂ 18 An export that differs](18_export_that_differs.ipynb) · [the course](README.md) ·
# [20 Decoding, token by token ▸](20_decoding.ipynb)
#
# A usual transformer passes its input through many blocks, one after the other. A **looped** transformer has only one
# block. It feeds the output of that block back into it, again and again. How often? You decide that when you run the
# model.
#
# So the model is a loop, and you can ask about it what this course asks about every loop. Does its state settle? Does
# it cycle? Does it explode? And how many loops are best? `wb.watch_states(model)` answers these questions. You do not
# have to change the model.
#
# **After this notebook you can**
#
# 1. record the state of a block in each loop, and say for each token whether it settles;
# 2. say after which loop the output no longer changes, and which number of loops is best;
# 3. explain why a looped model diverges, and find the input strength at which one stops converging;
# 4. say whether an exit gate opens, and why one never will.
#
# It takes about 50 minutes with the exercises. You need PyTorch: `pip install torch`. Read [05](05_convergence.ipynb)
# and [06](06_oscillation_and_chaos.ipynb) first.

# %% tags=["definitions"]
import course

course.needs("torch", "pip install torch")
import numpy as np
import torch
from torch import nn

import workbench as wb

# %% [markdown]
# ## 1. A model that learns the largest digit
#
# The task is small: six digits go in, and the largest of them should come out at all six places.
#
# Two things enter the block in each loop. One is the **state** `h`, the output of the loop before. The other is the
# embedding `e` of the digits. It is added anew in every loop, so that the state does not lose the question. We say that
# `e` is **injected**.


# %% tags=["definitions"]
class Block(nn.Module):
    def __init__(self, width, normed):
        super().__init__()
        self.norm = nn.LayerNorm(width) if normed else nn.Identity()
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, h, e):
        x = self.norm(h + e)
        weights = (self.query(x) @ self.key(x).transpose(1, 2) / x.shape[-1] ** 0.5).softmax(-1)
        x = x + weights @ self.value(x)
        return x + self.down(torch.relu(self.up(x)))


class LoopedTransformer(nn.Module):
    def __init__(self, width=24, normed=True):
        super().__init__()
        self.embedding, self.head = nn.Embedding(10, width), nn.Linear(width, 10)
        self.block, self.loops = Block(width, normed), 4

    def forward(self, digits):
        e = self.embedding(digits)
        h = torch.zeros_like(e)
        for _ in range(self.loops):
            h = self.block(h, e)
        return self.head(h)


def train(normed=True, steps=120):
    torch.manual_seed(0)
    model = LoopedTransformer(normed=normed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    for k in range(steps):
        digits = torch.randint(0, 10, (32, 6))
        target = digits.max(dim=1).values[:, None].expand(32, 6)
        model.loops = 2 + k % 4  # two to five loops
        loss = nn.functional.cross_entropy(model(digits).flatten(0, 1), target.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model


# %%
threads = torch.get_num_threads()
torch.set_num_threads(1)  # the matrices are small
model = train()
digits = torch.tensor([[3, 1, 4, 1, 5, 2]])
target = torch.full((1, 6), 5)
with torch.no_grad():
    print("digits:", digits[0].tolist(), "| the largest, at each place:", model(digits).argmax(-1)[0].tolist())

# %% jupyter={"source_hidden": true} tags=["check"]
assert model(digits).argmax(-1)[0].tolist() == [5] * 6

# %% [markdown]
# ## 2. Many more loops than it was trained with
#
# The model was trained with two to five loops. What does its state do in 64 loops?
#
# Call the model inside `wb.watch_states`. You need not say which module is the block: it is the one that a forward pass
# calls repeatedly.

# %%
model.loops = 64
with wb.watch_states(model, target=target) as states:
    model(digits)
report = states.report()
print("block:", report.block, "| loops:", report.loops, "| tokens:", report.paths.tokens)

# %% [markdown]
# Print the report to read what was found. Each sentence is checked against the recorded states before it is shown.
# (Your numbers may differ a little: another processor rounds differently, and the training amplifies that.)

# %% tags=["nbval-ignore-output"]
print(report)

# %% jupyter={"source_hidden": true} tags=["check"]
assert report.block == "block" and report.loops == 64 and report.paths.tokens == 6
assert np.isfinite(report.states).all() and len(report.sentences()) >= 3
assert report.losses.shape == (64,) and report.best == report.losses.argmin() + 1

# %% [markdown]
# The numbers in the table are medians over the six tokens. The heat map shows the tokens one by one. Each row is a
# token, and each column is a loop. The colour is the length of the step that the state took, on a logarithmic scale.
#
# Read a row from left to right. The steps become shorter and shorter, until a circle marks the loop from which on the
# token is at rest.

# %% tags=["nbval-ignore-output"]
report.figure("step")

# %% [markdown]
# Two numbers of the report are easily confused.
#
# - The **rate** is measured. It is the factor by which the steps shrink from loop to loop. Below 1, the state
#   converges.
# - The **spectral norm** of the update is a worst case. It is the largest factor by which one loop can enlarge any
#   small change of the state.
#
# The spectral norm may be above 1 although the state converges. One loop then enlarges a change in some direction, and
# the following loops turn it and shrink it.
#
# Is a state at rest the best one? Look at the loss. It is lowest near the number of loops in training, not at the fixed
# point:

# %%
print("best number of loops is at most 10:", report.best <= 10)
print("the loss after the last loop is higher:", bool(report.losses[-1] >= report.losses[report.best - 1]))

# %% jupyter={"source_hidden": true} tags=["check"]
assert report.best <= 10

# %% [markdown]
# ## 3. One that diverges
#
# Now remove one thing: the layer norm at the beginning of the block. Train again, and run 120 loops:

# %%
wild = train(normed=False)
wild.loops = 120
with wb.watch_states(wild, target=target) as states:
    wild(digits)
report = states.report()
print("label:", report.label.name, "| finite after the last loop:", bool(np.isfinite(report.states[-1]).all()))

# %% tags=["nbval-ignore-output"]
print(report)

# %% jupyter={"source_hidden": true} tags=["check"]
assert report.label.name == "EXPLODING" and report.since < 120 and report.rate > 1

# %% [markdown]
# Nothing bounds the state any more. Each loop multiplies it by about the same factor, and in the end it overflows.
#
# The figure now shows the norm of the state. Follow a row again. A cross marks the loop from which on the state is not
# finite.

# %% tags=["nbval-ignore-output"]
report.figure("norm", theme="dark")

# %% [markdown]
# ## 4. Where it stops converging
#
# The injected input matters as well. Take the smallest block that shows it: `tanh(e - 1.8 h)`. It reverses the sign of
# the state, multiplies it by 1.8, adds `e` and bends the result.
#
# If `e` is large, the tanh saturates. It is flat there, so it shrinks every change, and the state settles. If `e` is
# small, the tanh is steep. What happens then?


# %% tags=["definitions"]
class Bent(nn.Module):
    def __init__(self):
        super().__init__()
        self.factor = nn.Parameter(torch.tensor(-1.8, dtype=torch.float64))

    def forward(self, h, e):
        return torch.tanh(self.factor * h + e)


# %%
bent, e = Bent(), torch.ones(1, 3, 4, dtype=torch.float64)
h = torch.zeros_like(e)
with wb.watch_states(bent) as states:  # the loop may be yours: the block is watched
    for _ in range(30):
        h = bent(h, e)
report = states.report()
print("label:", report.label.name, "| period:", report.period)
print("injected:", *report.update.injected)

# %% jupyter={"source_hidden": true} tags=["check"]
assert (report.label.name, report.period) == ("CYCLE", 2)

# %% [markdown]
# With this `e` the state alternates between two values. How strong must `e` be for the state to settle?
#
# You can sweep the report like any graph ([16](16_a_thousand_loops.ipynb)). Its parameter `scale` multiplies the
# injected input. A run ends when the state is at rest. If a state comes back bit for bit, the loop repeats forever, and
# the outcome is "endless".

# %%
found = wb.sweep(report, {"scale": [0.5, 1.0, 1.5, 2.5, 4.0]})
for scale, outcome, period in zip(found["scale"], found["outcome"], found["recurs_after"], strict=True):
    print(f"scale {scale}: {outcome}" + (f", period {period}" if period else ""))

# %%
edge = wb.boundary(report, {"scale": (1.0, 4.0)}, tolerance=0.1)
print(f"{edge.answer} changes near scale {edge.value:.1f}")

# %% [markdown]
# Let us check that number by hand. At a fixed point $h$ the slope of the tanh is $1 - h^2$. The block multiplies by 1.8
# as well, so a small change is multiplied by $1.8\,(1 - h^2)$.
#
# The state settles while that is below 1. The borderline is $h = \sqrt{1 - 1/1.8}$. Solving $h = \tanh(e - 1.8 h)$
# for the input gives $e = \operatorname{artanh}(h) + 1.8 h$.

# %%
h = np.sqrt(1 - 1 / 1.8)
print(f"by hand: {np.arctanh(h) + 1.8 * h:.3f}, and between {edge.low:.2f} and {edge.high:.2f} by bisection")

# %% jupyter={"source_hidden": true} tags=["check"]
assert edge.low <= np.arctanh(h) + 1.8 * h <= edge.high and list(found["outcome"])[0] == "endless"

# %% [markdown]
# ## 5. A gate that never opens
#
# Some looped models have an **exit gate**. It is a small module that looks at the state in each loop and says when to
# stop. The watch recognises it by its name, such as `exit_gate` or `halting`.
#
# In this model the gate ends the loop when its value is above 0.5:


# %% tags=["definitions"]
class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        self.block, self.exit_gate = nn.Linear(4, 4, dtype=torch.float64), nn.Linear(4, 1, dtype=torch.float64)
        with torch.no_grad():
            self.block.weight[:], self.block.bias[:] = 0.5 * torch.eye(4), 0.25
            self.exit_gate.weight[:], self.exit_gate.bias[:] = 1.0, -3.0

    def forward(self, h):
        for _ in range(60):
            h = self.block(h)
            if torch.sigmoid(self.exit_gate(h)).min() > 0.5:
                break
        return h


# %%
gated = Gated()
with wb.watch_states(gated) as states:
    gated(torch.zeros(1, 2, 4, dtype=torch.float64))
report = states.report()
for sentence in report.sentences():
    print(sentence.text)

# %% jupyter={"source_hidden": true} tags=["check"]
assert {"gate_never", "gate_cause"} <= {s.kind for s in report.sentences()} and report.loops == 60

# %% [markdown]
# The gate's value approaches 0.269, and there it remains. The state is at rest, so the gate sees the same state in
# every loop. More loops change nothing. A lower threshold would open the gate, and so would a larger bias.
#
# ## 6. Exercises
#
# **19.1** What does the state of `course.looped("first")` do, and with which period?

# %%
report = course.looped("first")
label, period = ..., ...
course.check_answer("19.1", label, period)

# %% [markdown]
# **19.2** In `course.looped("second")` three of the four tokens settle. Which one does not, and what is its label?

# %%
report = course.looped("second")
token, label = ..., ...
course.check_answer("19.2", token, label)

# %% [markdown]
# **19.3** `course.looped("third")` always runs 48 loops and never evaluates its gate. After which loop would the gate
# have opened?

# %%
report = course.looped("third")
loop = ...
course.check_answer("19.3", loop)

# %% [markdown]
# ## What you have seen
#
# - The block of a looped model iterates a state. Each token's state settles, cycles, drifts or explodes.
# - The rate says how fast the state settles. The loss, not the fixed point, says how many loops are best.
# - The strength of the injected input can decide whether the state settles. `wb.boundary` finds the critical value.
# - A gate that looks at a state at rest never changes its mind.
#
# With your own model: `with wb.watch_states(model) as states: model(x)`. The
# [guide to looped models](../workbench/docs/howto/looped_models.md) says what is recognised automatically. A language
# model contains yet another loop, the one that writes: [20 Decoding](20_decoding.ipynb).

# %%
torch.set_num_threads(threads)
course.score("19")
