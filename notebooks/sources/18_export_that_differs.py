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
# "My ONNX model gives different results from my module." You see the difference at the output, perhaps in the fourth
# digit. But a hundred nodes and a loop lie between the input and the output. One of these nodes is wrong, and the
# others only pass the error on. Which one is it?
#
# `wb.diff(module, "model.onnx", (x,))` finds it. It runs both programs. Then it takes one node of the export at a time,
# gives it the inputs that the *module* had at that point, and looks at the result. A node that is wrong even on the
# right inputs is the one you are looking for.
#
# **After this notebook you can**
#
# 1. name the wrong node of an export, the iteration in which it goes wrong, and its line in the module;
# 2. distinguish an error that a node makes from one that it inherits;
# 3. say how much rounding explains, without choosing a tolerance;
# 4. distinguish a wrong function from a different rounding.
#
# It takes about 45 minutes with the exercises. You do not need PyTorch: the exported files are in `models/`. Read
# [12](12_two_runs.ipynb) first.

# %% tags=["definitions"]
import course
import numpy as np
import onnx

import workbench as wb
from workbench.widgets import LiveFigure

# %% [markdown]
# ## 1. A module and its export
#
# The module is small. It has three linear layers, and a loop that runs eight times. This is the file `echo.py`:
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
# The module was exported twice. `torch.export.save` wrote `models/echo.pt2`, which is our reference.
# `torch.onnx.export` wrote `models/echo.onnx`, which we test. Both files record which line of `echo.py` each node comes
# from. (If you have PyTorch, you can pass the module itself as the reference.)

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
# This export is correct, although some of its numbers differ from the module's. The reason is rounding. A layer norm is
# one node in the ONNX model and nine nodes in the reference. The two add up the same numbers in a different order, and
# each order rounds differently.
#
# Note that you chose no tolerance. `wb.diff` works out for each node how much rounding can do.
#
# ## 2. An epsilon
#
# Now let us break something. A layer norm divides by $\sqrt{\text{variance} + \varepsilon}$, here with
# $\varepsilon = 0.00001$. Suppose that an exporter writes 0.0001 instead:


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
# The first digits agree, and the last ones do not. Is that rounding, or is it a mistake? The results alone cannot tell
# you. Compare the programs:

# %%
found = wb.diff(program, wrong, (x,))
row = found.introduced[0]
print(row.node, row.where, "|", row.source.place)
print(row.own)

# %% jupyter={"source_hidden": true} tags=["check"]
assert [r.node for r in found.introduced] == ["while_loop/norm/layer_norm"]
assert row.iteration == (0,) and row.source.place == "echo.py:18" and row.own.fault == "function"

# %% [markdown]
# It is a mistake, and the first line names the node, the iteration and the line in `echo.py`.
#
# The second line says how we know. Both layer norms got the same inputs, those that the module had in that iteration.
# Both were then computed **in float64**, where rounding is 500 million times smaller than in float32. Two spellings of
# the same function agree there. These two do not, so they are different functions.
#
# How much may they disagree? The bound is eight float32 roundings of the largest number in the value.
#
# ## 3. Made here, or inherited?
#
# After the layer norm, every other value differs too. You should expect that: wrong inputs give wrong results.
# `ranking()` separates the two kinds of error. Look at the column *own* first:

# %%
for row in found.ranking():
    mark = "<- errs" if row.own.fault else ""
    print(f"{row.name[:32]:32} own {row.own.own:7.1e}   all {row.worst_abs:7.1e}   {mark}")

# %% jupyter={"source_hidden": true} tags=["check"]
assert [bool(r.own.fault) for r in found.ranking()][:2] == [True, False]
assert any(r.worst_abs > 1e-4 and r.own.own < 1e-6 for r in found.ranking())

# %% [markdown]
# - *own* is the error of the node on the module's inputs. It is the error that the node **makes**.
# - *all* is the distance between the two runs at this node. It contains everything that the node **inherits**.
#
# Compare the rows. Only the layer norm has a large *own*. A `tanh` has a large *all* and a tiny *own*: given the right
# input, it gives the right result.
#
# The picture shows both numbers for each node, in the order of execution. The grey bar is *all*, and the coloured bar
# inside it is *own*. Only one bar is orange: the node that makes an error beyond rounding.

# %% tags=["nbval-ignore-output"]
picture = found.ranking().figure()
LiveFigure(picture)

# %% [markdown]
# ## 4. A loop that is one trip short
#
# The next mistake is of another kind. In the ONNX model the number of iterations is a constant. We set it to 7 instead
# of 8.

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
# The wrong node is the loop's condition, `k < 8` in line 14. It was evaluated nine times in the module and eight times
# in the export.
#
# There is a subtlety. The module decides at the *beginning* of an iteration whether to run it. An ONNX loop decides at
# the *end* of an iteration whether there is a next one. So the module's decision in iteration 7 belongs to the export's
# decision in iteration 6. The comparison pairs them for you.
#
# ## 5. Other numbers on purpose
#
# Sometimes the numbers are meant to change. A model in float16 has only about three digits. Compared digit by digit,
# all of it looks wrong. Is it?

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
# It is not. The comparison uses the coarser of the two formats as its yardstick, and one rounding of float16 is about
# 0.001. The whole model rounds that way, so nothing stands out. A single cast to float16 in a float32 model would be
# reported as an error.
#
# The last number is the **SQNR**, the signal-to-quantisation-noise ratio. It is another way to write a relative error:
# 20 dB for each digit, so 60 dB are three digits.
#
# ## 6. Exercises
#
# **18.1** `course.planted("first")` is an export of the same module with one fault. Which node is wrong? Write its
# name.

# %%
culprit = ...
course.check_answer("18.1", culprit)

# %% [markdown]
# **18.2** `course.planted("second")` has another fault. Which node is wrong? And what is wrong about it, the
# `"function"` or the `"rounding"`?

# %%
node, fault = ..., ...
course.check_answer("18.2", node, fault)

# %% [markdown]
# **18.3** In `course.planted("third")` a node is right at first. In which iteration is it wrong for the first time?

# %%
iteration = ...
course.check_answer("18.3", iteration)

# %% [markdown]
# **18.4** Look again at the float16 model of section 5. What is its largest own error, relative to the largest number
# of its value?

# %%
share = ...
course.check_answer("18.4", share)

# %% [markdown]
# ## What you have seen
#
# - A node is wrong if it gives a wrong result on the *right* inputs. Every other difference is inherited.
# - To distinguish a different function from a different rounding, compute both in float64.
# - The two programs are paired by the names and lines that the exporter left in the file. The values then confirm or
#   reject each pair.
#
# With your own model: `wb.diff(module, "model.onnx", (x,))`, or `workbench diff model.pt2 model.onnx --random 1` at the
# command line. The [debugging reference](../workbench/docs/reference/debugging.md) explains how a node is judged. Next,
# models that are loops themselves: [19 A looped transformer](19_looped_transformer.ipynb).

# %%
course.score("18")
