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
# A looped transformer has one block and calls it again and again on its own output: depth is a loop, and the number of
# loops is free at run time. So the questions are those of this course. Does the hidden state come to a fixed point, or
# to a cycle? Does its norm explode? Which number of loops is best? `wb.watch_states(model)` answers them for a model of
# PyTorch as it is.
#
# **After this notebook you can**
#
# 1. record the state of a block loop by loop, and read its course for each token;
# 2. say after which loop the output stays, and which number of loops is best;
# 3. tell why a looped model diverges, and find the place where one stops converging;
# 4. say whether an exit gate opens, and why one never will.
#
# It takes about 50 minutes with the exercises. It needs PyTorch: `pip install torch`. Read [05](05_convergence.ipynb)
# and [06](06_oscillation_and_chaos.ipynb) before.

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
# Six digits go in, and at each place the largest of them is to come out. The block gets the state `h` and, in each loop
# anew, the embedding `e`: that is *injected*, so that the state cannot forget the question.


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
# It was trained with five loops at most. With 64 loops, where does the state go? The model is called inside of the
# watch; the block is found by itself, for it is what one forward pass calls repeatedly.

# %%
model.loops = 64
with wb.watch_states(model, target=target) as states:
    model(digits)
report = states.report()
print("block:", report.block, "| loops:", report.loops, "| tokens:", report.paths.tokens)

# %% [markdown]
# All that is known, in words. Each sentence is computed from the states once more before it is shown. (Another
# processor rounds otherwise, and training makes other weights of that: your numbers may differ a little.)

# %% tags=["nbval-ignore-output"]
print(report)

# %% jupyter={"source_hidden": true} tags=["check"]
assert report.block == "block" and report.loops == 64 and report.paths.tokens == 6
assert np.isfinite(report.states).all() and len(report.sentences()) >= 3
assert report.losses.shape == (64,) and report.best == report.losses.argmin() + 1

# %% [markdown]
# The table has medians over the tokens. A row of the heat map is a token, a column a loop; the colour is the length of
# the step, by its logarithm. Circles mark the loop since which a token rests.

# %% tags=["nbval-ignore-output"]
report.figure("step")

# %% [markdown]
# Two numbers of the report belong together. The *rate* is the factor by which the steps shrink per loop; it is below 1
# where the state converges. The *spectral norm* of the update, at the last state, is the largest factor by which one
# loop can enlarge a small change. It may be above 1 although the steps shrink: what one loop enlarges, the next ones
# turn and shrink.
#
# The loss is not lowest at the fixed point, but near the number of loops that the model was trained with. More loops
# are no better here:

# %%
print("best number of loops is at most 10:", report.best <= 10)
print("the loss after the last loop is higher:", bool(report.losses[-1] >= report.losses[report.best - 1]))

# %% jupyter={"source_hidden": true} tags=["check"]
assert report.best <= 10

# %% [markdown]
# ## 3. One that diverges
#
# The same model without the norm at the entry of the block, with 120 loops:

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
# Nothing in it bounds the state: each loop multiplies the state by about the same factor, until its numbers are
# infinite. A cross marks the loop from which on a state is not finite.

# %% tags=["nbval-ignore-output"]
report.figure("norm", theme="dark")

# %% [markdown]
# ## 4. Where it stops converging
#
# What is injected decides, too. This block turns its state around and bends it: `tanh(e - 1.8 h)`. A strong `e` drives
# the tanh into saturation, where it is flat. A weak one does not.


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
# The report is a graph that `wb.sweep` runs: `scale` multiplies what is injected, and a run ends when the state rests.
# A state that comes back bit for bit proves that it never will.

# %%
found = wb.sweep(report, {"scale": [0.5, 1.0, 1.5, 2.5, 4.0]})
for scale, outcome, period in zip(found["scale"], found["outcome"], found["recurs_after"], strict=True):
    print(f"scale {scale}: {outcome}" + (f", period {period}" if period else ""))

# %%
edge = wb.boundary(report, {"scale": (1.0, 4.0)}, tolerance=0.1)
print(f"{edge.answer} changes near scale {edge.value:.1f}")

# %% [markdown]
# The place can be computed by hand. At a fixed point the slope of the tanh is $1 - h^2$, and the state comes nearer
# while $1.8 (1 - h^2) < 1$, so down to $h = \sqrt{1 - 1/1.8}$; then $e = \operatorname{artanh}(h) + 1.8 h$.

# %%
h = np.sqrt(1 - 1 / 1.8)
print(f"by hand: {np.arctanh(h) + 1.8 * h:.3f}, and between {edge.low:.2f} and {edge.high:.2f} by bisection")

# %% jupyter={"source_hidden": true} tags=["check"]
assert edge.low <= np.arctanh(h) + 1.8 * h <= edge.high and list(found["outcome"])[0] == "endless"

# %% [markdown]
# ## 5. A gate that never opens
#
# Some looped models have a gate that is to end the loop. A module named like one (`exit_gate`, `halting` ...) is found.
# This gate is a function of the state, and the state rests:


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
# The values come near 0.269 and stay. More loops change nothing; a lower threshold, or another bias, would.
#
# ## 6. Exercises
#
# **19.1** What does the state of `course.looped("first")` do, and with which period?

# %%
report = course.looped("first")
label, period = ..., ...
course.check_answer("19.1", label, period)

# %% [markdown]
# **19.2** In `course.looped("second")` three of four tokens come to rest. Which one does not, and what is its label?

# %%
report = course.looped("second")
token, label = ..., ...
course.check_answer("19.2", token, label)

# %% [markdown]
# **19.3** `course.looped("third")` runs 48 loops and does not evaluate its gate. After which loop would the gate have
# opened?

# %%
report = course.looped("third")
loop = ...
course.check_answer("19.3", loop)

# %% [markdown]
# ## What you have seen
#
# - The block of a looped model is an iteration of the state. It rests, repeats, drifts or explodes, token by token.
# - Rate and spectral norm say how fast, and why. The best number of loops is that of the loss, not of the fixed point.
# - What is injected decides where the iteration stops converging: `wb.boundary` finds the place.
# - A gate that looks at a state at rest sees the same state for ever.
#
# Your own: `with wb.watch_states(model) as states: model(x)`. [A page](../workbench/docs/howto/looped_models.md) says
# what is found by itself. Another loop of a language model is the one that writes: [20 Decoding](20_decoding.ipynb).

# %%
torch.set_num_threads(threads)
course.score("19")
