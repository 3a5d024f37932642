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
# # An export that differs
#
# [◂ 17 A loss that is NaN](17_loss_that_is_nan.ipynb) · [the course](README.md) ·
# [19 A looped transformer ▸](19_looped_transformer.ipynb)
#
# "My ONNX model does not give what my module gives." The results differ in the fourth digit, or in all of them, and
# between the two lie a hundred nodes and a loop. Which node is wrong, and which only pass on what they got?
# `wb.diff(module, "model.onnx", (x,))` answers that: it evaluates each node of the export on the inputs that the
# *module* has there.
#
# **After this notebook you can**
#
# 1. name the node of an export that errs, the iteration, and the lines of both programs;
# 2. tell an error that is made in a node from one that it inherits;
# 3. say what rounding explains, and why no tolerance is needed for that;
# 4. tell another function from another rounding, such as a cast that is lost.
#
# It takes about 45 minutes with the exercises. PyTorch is not needed: the exports lie in `models/`. Read
# [12](12_two_runs.ipynb) before.

# %% tags=["definitions"]
import course
import numpy as np
import onnx

import workbench as wb
from workbench.widgets import LiveFigure

# %% [markdown]
# ## 1. A module and its export
#
# The module is small, and has a loop. This is the file `echo.py`:
#
# ```python
#  6  class Echo(nn.Module):
#  7      def __init__(self):
#  8          super().__init__()
#  9          self.into, self.again, self.head = nn.Linear(6, 16), nn.Linear(16, 16), nn.Linear(16, 3)
# 10          self.norm = nn.LayerNorm(16)
# 11
# 12      def forward(self, x):
# 13          def more(k, h):
# 14              return k < 8
# 15
# 16          def turn(k, h):
# 17              h = h + 0.5 * torch.tanh(self.again(h))
# 18              return k + 1, self.norm(h)
# 19
# 20          h = F.gelu(self.into(x))
# 21          k, h = torch.while_loop(more, turn, (torch.tensor(0), h))
# 22          return self.head(h).softmax(-1)
# ```
#
# `torch.export.save` wrote `models/echo.pt2`, and `torch.onnx.export` wrote `models/echo.onnx`. Both files know the
# lines of the code. (With PyTorch installed the module itself may stand in the place of the first one.)

# %% tags=["definitions"]
program = "models/echo.pt2"
x = np.random.default_rng(18).normal(size=(4, 6)).astype(np.float32)

# %%
found = wb.diff(program, "models/echo.onnx", (x,))
print("equal:", found.equal, "|", found.values, "values in", found.firings, "firings")
print("apart by rounding only:", *found.rounded[:4], "...")

# %% jupyter={"source_hidden": true} tags=["check"]
assert found.equal and len(found.rounded) >= 5

# %% [markdown]
# This export is right. Its numbers are not the same, though: `LayerNormalization` is one node there and nine of them
# here, and sums in another order are rounded otherwise. No tolerance had to be chosen for that.
#
# ## 2. An epsilon
#
# A layer norm divides by the root of the variance plus a small epsilon, 0.00001 here. An exporter writes another one:


# %%
def exported(output=None, **attributes):
    """The ONNX model, in which the node that makes `output` has other attributes."""
    model = onnx.load("models/echo.onnx")
    body = next(a.g for node in model.graph.node for a in node.attribute if a.name == "body")
    for node in [*model.graph.node, *body.node]:
        if output in node.output:
            kept = [a for a in node.attribute if a.name not in attributes]
            del node.attribute[:]
            node.attribute.extend([*kept, *(onnx.helper.make_attribute(k, v) for k, v in attributes.items())])
    return model


wrong = exported("layer_norm_while_loop_body_graph_0", epsilon=0.0001)
ours, theirs = wb.load(program).run(x=x), wb.load(wrong).run(x=x)
print("results:", ours["result"][0], "and", theirs["softmax"][0])

# %% [markdown]
# Five digits agree. Is that rounding? The results do not say.

# %%
found = wb.diff(program, wrong, (x,))
row = found.introduced[0]
print(row.node, row.where, "|", row.source.place)
print(row.own)

# %% jupyter={"source_hidden": true} tags=["check"]
assert [r.node for r in found.introduced] == ["while_loop/norm/layer_norm"]
assert row.iteration == (0,) and row.source.place == "echo.py:18" and row.own.fault == "function"

# %% [markdown]
# The last sentence says what was done. The node got the very inputs that the module's layer norm had in that iteration,
# and both were evaluated again **in float64**, where rounding is 500 million times smaller. If the two were the
# same function, they would agree there. The bound is 8 roundings of float32, of the largest number in the value.
#
# ## 3. Made here, or inherited?
#
# Everything after the layer norm differs, too. `ranking()` shows where the error is *made*:

# %%
for row in found.ranking():
    mark = "<- errs" if row.own.fault else ""
    print(f"{row.name[:32]:32} own {row.own.own:7.1e}   all {row.worst_abs:7.1e}   {mark}")

# %% jupyter={"source_hidden": true} tags=["check"]
assert [bool(r.own.fault) for r in found.ranking()][:2] == [True, False]
assert any(r.worst_abs > 1e-4 and r.own.own < 1e-6 for r in found.ranking())

# %% [markdown]
# *Own* is the error on the module's inputs, *all* is how far the two runs are apart. Each `tanh` after
# the first is off because its input is; on the right input it is right. As a picture, in the order of execution:

# %% tags=["nbval-ignore-output"]
picture = found.ranking().figure()
LiveFigure(picture)

# %% [markdown]
# ## 4. A loop that is one trip short
#
# In the ONNX model the bound of the loop is a constant, and it says 7 in place of 8.

# %%
short = exported()
next(t for t in short.graph.initializer if t.name == "val_0_4").CopyFrom(
    onnx.numpy_helper.from_array(np.array(7, np.int64), "val_0_4")
)
found = wb.diff(program, short, (x,))
row = found.introduced[0]
print(row.node, "in", row.where, "|", row.source.place, "|", row.value_a, "and", row.value_b)
print(found.lengths[0])

# %% jupyter={"source_hidden": true} tags=["check"]
assert row.node == "while_loop/lt" and row.iteration == (7,) and row.source.place == "echo.py:14"
assert (found.lengths[0].a, found.lengths[0].b) == (9, 8)

# %% [markdown]
# An ONNX loop decides at the end of its body whether there is a *next* iteration, the module at the beginning of each.
# The comparison knows that, and pairs the decision of iteration 7 with the one that the export makes in iteration 6.
#
# ## 5. Other numbers on purpose
#
# A model in float16 has three digits. Compared digit by digit, everything is different:

# %%
graph = wb.load(program)
half = wb.in_dtype(graph, "float16")
found = wb.diff(graph, half, (x,))
print("equal:", found.equal, "| apart by rounding only:", len(found.rounded))
worst = max(found.ranking(), key=lambda row: row.own.share or 0)
print("the largest own error:", worst.name, f"{worst.own.share:.1e} of the largest number, {worst.own.sqnr:.0f} dB")

# %% jupyter={"source_hidden": true} tags=["check"]
assert found.equal and len(found.rounded) > 20 and worst.own.share < 2e-3

# %% [markdown]
# Both programs are measured by the coarser one: a rounding is 0.001 here. Had somebody put one cast to float16 into a
# float32 model, it would be an error. *SQNR* is the ratio of signal to noise in decibels, as people who quantise models
# count: 60 dB are three digits.
#
# ## 6. Exercises
#
# **18.1** `course.planted("first")` is an export of the same module with one fault. Which node errs? Write its name.

# %%
culprit = ...
course.check_answer("18.1", culprit)

# %% [markdown]
# **18.2** `course.planted("second")` has another one. Which node errs, and is it the `"function"` or the `"rounding"`
# that is wrong?

# %%
node, fault = ..., ...
course.check_answer("18.2", node, fault)

# %% [markdown]
# **18.3** In `course.planted("third")` a node is right at first. In which iteration does it err for the first time?

# %%
iteration = ...
course.check_answer("18.3", iteration)

# %% [markdown]
# **18.4** What is the largest own error of the float16 model of section 5, relative to the largest number of its value?

# %%
share = ...
course.check_answer("18.4", share)

# %% [markdown]
# ## What you have seen
#
# - A node errs if its result is wrong on the *right* inputs. All other differences are inherited.
# - Float64 tells another function from another rounding. How ill-conditioned a node is says how much rounding may do.
# - Names and lines that the exporter left in the file pair the two programs. The values decide if a pair is one.
#
# Your own: `wb.diff(module, "model.onnx", (x,))`, or `workbench diff model.pt2 model.onnx --random 1` at the command
# line. [A page](../workbench/docs/reference/debugging.md) says how it is judged. The next notebook is about models that
# are loops themselves: [19 A looped transformer](19_looped_transformer.ipynb).

# %%
course.score("18")
