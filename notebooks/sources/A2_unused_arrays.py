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
# # Appendix A2: arrays that nobody uses, and who releases them
#
# [◂ A1 Shapes and types](A1_shapes_and_types.ipynb) · [the course](README.md)
#
# *The appendix is about how the workbench computes. The course does not need it.*
#
# A program trains a small network. Its memory grows from epoch to epoch, and each epoch takes longer than the one
# before, though the program does the same in each. Nothing in it is wrong, and nothing in it says "keep this". The
# question of this notebook is: *who owns an array, and who may let go of it?*
#
# The experiment is that of a proposal for the Deep Java Library (DJL), where it happened between two releases.
#
# **After this notebook you can**
#
# 1. say which manager owns the result of an operation, and find results that escape from the scope they were made in;
# 2. read from `wb.memory()` and a `MemoryView` what is live, what is unused, and what that costs;
# 3. explain how unused arrays are found (light handles, weak references, a queue), and when they are released;
# 4. explain why collection is off by default.
#
# It takes about 35 minutes with the exercises. Run the cells from top to bottom; a folded cell checks each claim.

# %%
import time

import course
import numpy as np

import workbench as wb
from workbench.widgets import LiveFigure, MemoryView

# %% [markdown]
# ## 1. Managers own arrays, users have handles
#
# An **array manager** owns arrays. When it is closed, all its arrays are released at once. Managers form a tree:
# closing one closes its submanagers first.

# %%
with wb.ArrayManager("training") as training:
    weights = training.ones((3,))
    with training.new_submanager("step") as step:
        x = step.array([1.0, 2.0, 3.0])
        print("in the step:", wb.memory().live, "arrays live")
    print("after it:   ", wb.memory().live, "array live")
    assert x.released and not weights.released

# %% jupyter={"source_hidden": true} tags=["check"]
assert weights.released

# %% [markdown]
# You do not hold an array but a **handle**: a number by which every call finds the array. So a call can report that
# the array is gone, and who released it.

# %%
try:
    x + 1
except wb.ReleasedError as error:
    print(error.slug)
    print("how:", error.released.how, "| by:", error.released.by)
    assert error.slug == "use-after-release" and error.released.by == "training/step"

# %% [markdown]
# **Who owns a result?** The manager of the *first* operand. Addition is commutative for numbers; for ownership it is
# not:

# %%
training = wb.ArrayManager("training")
weights = training.ones((3,))
step = training.new_submanager("step")
x = step.array([1.0, 2.0, 3.0])

first, second = weights + x, x + weights
print("weights + x belongs to", first.manager.path)
print("x + weights belongs to", second.manager.path)
assert np.array_equal(first.numpy(), second.numpy())

step.close()

# %% jupyter={"source_hidden": true} tags=["check"]
assert second.released and not first.released

# %% [markdown]
# `weights + x` **escaped**: it was meant for one step, and outlives it, because its first operand belongs to
# `training`. Drop the handle now, and look at what is left.

# %%
del first, second, x
left = training.arrays()
for info in left:
    print(f"{info.origin.op:5} {info.nbytes:3} bytes, in use: {info.in_use}")
assert [info.in_use for info in left] == [True, False]
training.close()

# %% [markdown]
# The sum is still there. Its manager holds it, and will until it is closed; but no handle can ever reach it again. In
# one step that is nothing. In a training loop it is the leak.
#
# ## 2. The loop
#
# The network has one hidden layer. The weights belong to `base`, and each batch to a separate submanager, which is
# closed after the step. A careful user writes exactly this. Before each step the gradients are cleared, in the way of
# DJL 0.20: by asking *every* array of the base manager whether it has one.


# %%
def clear_gradients(manager, gradients):
    """Ask all arrays of the manager; how many were asked."""
    asked = manager.arrays()
    for info in asked:
        if info.uid in gradients:
            gradients[info.uid] = None
    return len(asked)


def train(epochs, manager_name, rows=128, batch_size=32):
    """Train; of each epoch: seconds, bytes of the base manager, arrays asked for gradients, loss."""
    rng = np.random.default_rng(7)
    data = rng.normal(size=(rows, 8))
    target = np.sin(data[:, :1]) + 0.5 * data[:, 1:2]
    history = []
    with wb.ArrayManager(manager_name) as base:
        w1, b1 = base.array(rng.normal(size=(8, 16)) * 0.3), base.zeros((16,))
        w2, b2 = base.array(rng.normal(size=(16, 1)) * 0.3), base.zeros((1,))
        gradients = dict.fromkeys([w1.uid, b1.uid, w2.uid, b2.uid])
        for _ in range(epochs):
            started, loss, asked = time.perf_counter(), 0.0, 0
            for at in range(0, rows, batch_size):
                with base.new_submanager("batch") as batch:
                    x = batch.array(data[at : at + batch_size])
                    y = batch.array(target[at : at + batch_size])
                    asked += clear_gradients(base, gradients)
                    hidden = b1 + x @ w1  # b1 comes first: this belongs to base, and all that follows
                    active = np.maximum(hidden, 0.0)
                    error = (b2 + active @ w2 - y) / batch_size
                    loss += float((error * error).sum()) * batch_size
                    back = (error @ w2.T) * (hidden > 0.0)
                    steps = [(w2, active.T @ error), (b2, error.sum(axis=0)), (w1, x.T @ back), (b1, back.sum(axis=0))]
                    for weight, gradient in steps:
                        gradients[weight.uid] = gradient.numpy()
                        weight -= 0.05 * gradient  # in place: the same key, so it is still the same array
                    del x, y, hidden, active, error, back, steps, weight, gradient
            size = sum(info.nbytes for info in base.arrays())
            history.append((time.perf_counter() - started, size, asked, loss))
    return np.array(history)


# %% [markdown]
# ## 3. Off: everything is kept
#
# The view below shows all arrays of this process, live. Run it, run the cell after it, and watch the grey area. (The
# stored picture was taken before the training: it has only the few bytes of section 1.)

# %% tags=["nbval-ignore-output"]
view = MemoryView()
view

# %%
EPOCHS = 100
wb.collect_unused(False)  # as it is at first
off = train(EPOCHS, "base, off")
growth = np.diff(off[:, 1])
print(f"bytes after epoch 1: {off[0, 1]:,.0f}, after epoch {EPOCHS}: {off[-1, 1]:,.0f}")
print(f"each epoch adds {growth[0]:,.0f} bytes, the first like the last: {np.ptp(growth) == 0}")

# %% jupyter={"source_hidden": true} tags=["check"]
assert np.ptp(growth) == 0 and growth[0] > 0

# %% [markdown]
# Memory grows by the same amount in each epoch: it is **linear**. And clearing the gradients asks more arrays in each
# epoch, so the epochs take longer and longer: their sum grows with the *square* of their number.

# %%
asked = off[:, 2]
print(f"arrays asked for gradients in epoch 1: {asked[0]:,.0f}, in epoch {EPOCHS}: {asked[-1]:,.0f}")

# %% jupyter={"source_hidden": true} tags=["check"]
assert len(set(np.diff(asked))) == 1 and asked[-1] > 20 * asked[0]

# %% [markdown]
# ## 4. On: what no handle refers to is released
#
# This is the same function, with one switch.

# %%
with wb.collect_unused():
    on = train(EPOCHS, "base, on")
    collected = wb.memory().collected
print(f"bytes after epoch 1: {on[0, 1]:,.0f}, after epoch {EPOCHS}: {on[-1, 1]:,.0f}")
print(f"arrays asked in epoch {EPOCHS}: {on[-1, 2]:,.0f} (four weights in four steps)")

# %% jupyter={"source_hidden": true} tags=["check"]
assert np.ptp(on[:, 1]) == 0 and on[-1, 2] == 16
assert collected > 5000

# %% [markdown]
# Memory is **flat**, and so is the work of an epoch. The network learned the same, bit for bit: collection takes away
# only what nobody can see.

# %%
print(f"loss at first {on[0, 3]:.4f}, at the end {on[-1, 3]:.4f}")

# %% jupyter={"source_hidden": true} tags=["check"]
assert np.array_equal(on[:, 3], off[:, 3])
assert on[-1, 3] < on[0, 3]

# %% [markdown]
# Both curves side by side. (Times differ from machine to machine, so nothing here checks them; their shape is what
# counts.)

# %% tags=["nbval-ignore-output"]
from plotly.subplots import make_subplots

figure = make_subplots(1, 2, subplot_titles=("kilobytes of the base manager", "milliseconds of an epoch"))
epochs = np.arange(1, EPOCHS + 1)
for name, run, dash, colour in (("off", off, "solid", "#E69F00"), ("on", on, "dash", "#56B4E9")):
    line = {"dash": dash, "color": colour}
    figure.add_scatter(x=epochs, y=run[:, 1] / 1e3, name=f"memory, {name}", line=line, row=1, col=1)
    figure.add_scatter(x=epochs, y=run[:, 0] * 1e3, name=f"duration, {name}", line=line, row=1, col=2)
figure.update_xaxes(title_text="epoch")
figure.update_layout(height=320, margin={"t": 40, "b": 40})
LiveFigure(figure)

# %% [markdown]
# ## 5. How it works
#
# ```
# your handle ──► key, token ◄┄┄┄┄ weak reference ┄┄┄┄ ledger: number → array, owner, holds
#                      │ the last handle is gone            ▲
#                      └──► reference queue ──► drained ─────┘  by the next call, on the thread that makes it
# ```
#
# 1. **Light handles.** You never hold the array, only the manager's ledger does. Otherwise the ledger could not tell
#    whether anybody but itself still wants it.
# 2. **Weak references.** The ledger watches each handle by a reference that does not keep it alive.
# 3. **A queue.** When the last handle goes, Python puts the weak reference into a queue, and does nothing else: this
#    may happen at any moment, in any thread, in the middle of anything.
# 4. **Drained on the calling thread.** The next call of any handle or manager looks at the queue, and releases what it
#    finds. There is no thread in the background that could release something at a bad moment.
#
# The queue can be watched at work: dropping a handle does nothing yet; the next call does.

# %%
with wb.collect_unused(), wb.ArrayManager("demo") as demo:
    kept, dropped = demo.ones((2,)), demo.ones((2,))
    del dropped
    before = demo.account.live  # a plain number: reading it does not call anything
    kept.sum()
    after = demo.account.live
    print("live before the next call:", before, "| after it:", after - 1, "(and its own result)")
    assert (before, after) == (2, 2)

# %% [markdown]
# Handles in a cycle are found when Python's garbage collector finds the cycle, some time later. That is the little step
# which the proposal saw in its own curve.

# %%
import gc

gc.disable()
with wb.collect_unused(), wb.ArrayManager("demo") as demo:
    cycle = [demo.ones((2,))]
    cycle.append(cycle)
    del cycle
    waiting = len(demo.arrays())
    gc.collect()
    print("before the garbage collector:", waiting, "| after it:", len(demo.arrays()))
    assert waiting == 1 and len(demo.arrays()) == 0
gc.enable()

# %% [markdown]
# **Can it take something away that is needed?** No: an array is collected only when there is no handle left to ask for
# it. What reads an array without a handle (a breakpoint, a trace, a run) takes a **hold** on it, and its memory stays
# until the last hold is dropped.

# %%
with wb.collect_unused(), wb.ArrayManager("demo") as demo:
    hold = demo.full((2,), 7.0).hold("breakpoint 1")  # the handle is gone at the end of this line
    print("still there for its holder:", hold.array)
    assert wb.memory().live == 1
    hold.drop()
    assert wb.memory().live == 0

# %% [markdown]
# **Then why is it off at first?** Because it changes *when* memory goes: no more at a line that you can point to, but
# some time after the last use. Managers are deterministic, and collection is a net below them, for what escapes.
# Besides, it costs a little on each call, and whoever closes managers properly pays for nothing.
#
# ## 6. Exercises
#
# **A2.1** `a` belongs to the manager `long`, `b` to its submanager `short`. To which of them belongs `b * a + a`?
# Answer with the name.

# %%
owner = ...
course.check_answer("A2.1", owner)

# %% [markdown]
# **A2.2** A loop like that of section 2 asks 80 arrays for their gradients in its first epoch, 160 in the second, 240
# in the third, and so on. How many does it ask in 100 epochs altogether?

# %%
asked_in_all = ...
course.check_answer("A2.2", asked_in_all)

# %% [markdown]
# **A2.3** The loop leaks because `b1` comes first. Fix the step below, without the switch, so that only the weight is
# left in `base` when the step is over. (It computes `sum(weight * x + 1)`. Until you fix it, the check shows a cross.
# If you do not see where the array escapes, cap the base manager with `base.cap()`, run the step, and read the
# error.)


# %%
def my_step(base, weight, batch):
    x = batch.array([1.0, 2.0])
    return float((weight * x + 1.0).sum())


course.check_answer("A2.3", my_step)

# %% [markdown]
# ## What you have seen
#
# - Every array has one owner. A result belongs to the manager of its first operand, and may escape by that.
# - A leak needs no mistake: dropped handles and a manager that lives long are enough.
# - The collection of unused arrays makes linear memory flat by asking one question: is there a handle left?
#
# Scroll back to the view: the slope, the fall when the first manager was closed, and the flat line after it. It ends
# with the kernel, or earlier with `view.close()`.
#
# This is the end of the appendix. Go on with a graph of your own: `wb.debug(wb.load("model.onnx"), inputs)`.

# %%
print(wb.memory().live, "arrays are left")
assert wb.memory().live == 0
course.score("A2")
