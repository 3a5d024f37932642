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
# # Appendix A1: shapes and types under the hood
#
# [◂ 20 Decoding, token by token](20_decoding.ipynb) · [the course](README.md) ·
# [A2 Arrays that nobody uses ▸](A2_unused_arrays.ipynb)
#
# *The appendix is about how the workbench computes. The course does not need it.*
#
# "Add these two arrays" is simple to say. The machine has to know more: how many dimensions there are, how long each
# is, where in memory the next element is, what type the numbers have, and which of some thousand small routines is
# the right one. In a loop these questions come up a million times, and the answers are always the same. Here we look
# at two tables that make the answers cheap: the **shape trie** and the **type rules**.
#
# **After this notebook you can**
#
# 1. say what belongs to the shape of an array, strides included;
# 2. explain how a trie gives each shape one small number, and why comparing these numbers is enough;
# 3. predict the type of a result, and read which rule decides it;
# 4. say why not every combination of types has a compiled kernel, and what happens where there is none.
#
# It takes about 30 minutes with the exercises.

# %%
import course
import numpy as np

import workbench as wb
from workbench.kernels import ShapeTrie, typed, types
from workbench.widgets import ShapeTrieView, TypeMatrixView

# %% [markdown]
# ## 1. What a shape is
#
# An array is a piece of memory and a *description* of it. The same memory can be described in several ways. A
# **stride** is the number of bytes from one element to the next along an axis.

# %%
rows = np.arange(6, dtype=np.float64).reshape(2, 3)
views = {"as it is": rows, "transposed": rows.T, "every second column": rows[:, ::2], "a row three times": rows[:1]}
views["a row three times"] = np.broadcast_to(rows[0], (3, 3))
for name, view in views.items():
    print(f"{name:20} shape {view.shape}  strides {view.strides}  same memory: {np.shares_memory(view, rows)}")

# %% jupyter={"source_hidden": true} tags=["check"]
assert rows.T.strides == rows.strides[::-1] and views["a row three times"].strides[0] == 0

# %% [markdown]
# A stride of 0 repeats a row without copying it. A routine that adds two arrays has to know all that.
#
# ## 2. The trie
#
# To compare two descriptions one would have to compare all their numbers. Instead each description is kept **once**,
# in a tree whose branches are the lengths of the axes (a *trie*), and has an **id**. Equal descriptions get the same
# id, so that one comparison of two small numbers is enough.

# %%
trie = ShapeTrie()
a, b, c = trie.intern((2, 3)), trie.intern((2, 3)), trie.intern((3, 2))
print("(2, 3) twice: the same id:", a == b, "| (2, 3) and (3, 2):", a == c)
print("entries:", trie.stats()["entries"], "| found again:", trie.stats()["hits"])

# %% jupyter={"source_hidden": true} tags=["check"]
assert a == b != c and trie.stats()["entries"] == 2

# %% [markdown]
# Strides, dtype and order belong to the description too:

# %%
ids = {
    "(2, 3)": trie.intern((2, 3)),
    "(2, 3) of float32": trie.intern((2, 3), dtype="float32"),
    "(2, 3) of float64": trie.intern((2, 3), dtype="float64"),
    "(2, 3), columns first": trie.intern((2, 3), order="F"),
}
for name, number in ids.items():
    print(f"{name:22} -> {trie.get(number)}")

# %% jupyter={"source_hidden": true} tags=["check"]
assert len(set(ids.values())) == 4

# %% [markdown]
# Shapes that begin alike share their beginning. In the picture each path from the left to a leaf is a shape, and `(8,
# 28, 28)` and `(8, 28, 14)` part only at the end.

# %% tags=["nbval-ignore-output"]
images = ShapeTrie()
for batch in (1, 8, 32):
    for size in (28, 14, 7):
        images.intern((batch, size, size), dtype="float32")
        images.intern((batch, size, 10), dtype="float32")
view = ShapeTrieView(images)
view

# %%
found = images.prefix((8, 28))
print("shapes that begin with (8, 28):", *[images.get(number) for number in found])

# %% jupyter={"source_hidden": true} tags=["check"]
assert len(found) == 2 and len(images) == 18

# %% [markdown]
# Each `intern` counts one user of an id. When the last user has released it, the entry is removed. So the trie does
# not grow without end in a loop whose arrays change their length.

# %%
first = trie.intern((1000, 1000))
again = trie.intern((1000, 1000))
print("users:", trie.refcount(first))
trie.release(first)
trie.release(again)
print("still known after both have gone:", (1000, 1000) in trie)

# %% jupyter={"source_hidden": true} tags=["check"]
assert (1000, 1000) not in trie and trie.lookup((2, 3)) is not None

# %% [markdown]
# ## 3. The use of it
#
# Each node of a running graph remembers the ids that it saw last. If the same ids come again, the routine, the sizes
# and the broadcasting are still right, and nothing has to be worked out. The plan says for each node what computes it
# ("in the rows": its arrays are kept in the table of the run, which has a row for each iteration):

# %%
g = wb.GraphBuilder("layers")
x = g.placeholder("x", "float32", (8, 28))
weights = g.constant(np.full((28, 10), 0.1, np.float32))
layer = np.maximum(g.matmul(x, weights) - 1.0, 0.0)
session = wb.Session(g.build({"layer": layer}), {"x": np.ones((8, 28), np.float32)})
session.run()
for node, (how, why) in session.plan.reasons.items():
    print(f"{node:8}  {how}: {why}")

# %% jupyter={"source_hidden": true} tags=["check"]
assert all(how.startswith("compiled") for how, _ in session.plan.reasons.values())

# %% [markdown]
# ## 4. Which type comes out?
#
# float32 and float32 give float32, that is easy. And int32 with float32? Guess, and then ask NumPy.

# %%
pairs = (("int32", "float32"), ("int8", "uint8"), ("uint64", "int64"), ("bool", "int32"), ("float16", "float64"))
for left, right in pairs:
    result = np.result_type(left, right)
    print(f"{left:8} + {right:8} = {result}")

# %% jupyter={"source_hidden": true} tags=["check"]
assert np.result_type("int32", "float32") == np.float64  # float32 cannot hold every int32

# %% [markdown]
# There are 16 types here, and hundreds of operations. All combinations would be a quarter of a million routines, most
# of them useless. A table of **rules** decides which are worth compiling, and each answer names its rule:

# %%
print(types.explain("add", "float32", "float32"), end="\n\n")
print(types.explain("add", "int8", "int8", "int64"), end="\n\n")
print(types.explain("add", "string", "float32", "string"))
answer = types.explain("add", "int8", "int8", "int64")

# %% jupyter={"source_hidden": true} tags=["check"]
assert "size-jump" in str(answer)

# %% [markdown]
# In the matrix each field is a pair of types. Click on one to see the rule. (Besides its colour, each field has a
# sign.)

# %% tags=["nbval-ignore-output"]
matrix = TypeMatrixView()
matrix

# %% [markdown]
# What has no compiled routine is not forbidden: NumPy computes it, and the table of fallbacks says why.

# %%
small = np.arange(4, dtype=np.uint16)
print("uint16 + uint16 =", typed.call("add", small, small))
for op, inputs, output, slug, *_ in typed.fallbacks():
    print(f"{op}({', '.join(inputs)}) -> {output}: {slug}")

# %% jupyter={"source_hidden": true} tags=["check"]
assert ("add", ("uint16", "uint16")) in [entry[:2] for entry in typed.fallbacks()]

# %% [markdown]
# ## 5. Types in a loop
#
# A loop variable keeps its dtype for the whole loop. If the body gives another one, building the loop is an error.
# Otherwise the loop would change its arithmetic after the first iteration.

# %%
g = wb.GraphBuilder("types in a loop")
start = g.placeholder("start", "float32", ())
factor = g.constant(np.float64(0.5))
try:
    g.while_loop(lambda x: x > 1.0, lambda x: x * factor, {"x": start})
except wb.WorkbenchError as error:
    print(error.message)
    print("To fix it:", error.fix)
    assert error.slug == "carried-dtype"

# %% [markdown]
# ## 6. Exercises
#
# **A1.1** An array of float64 has the shape (3, 4) and lies row by row in memory. What are its strides (in
# bytes)? And those of its transpose?

# %%
strides, strides_of_transpose = ..., ...
course.check_answer("A1.1", strides, strides_of_transpose)

# %% [markdown]
# **A1.2** Into a new, empty trie go the shapes (2, 3), (2, 3), (3, 2), (2,), (2, 3, 1), (2, 3). How many entries
# does it have, and how many users does (2, 3) have?

# %%
entries, users = ..., ...
course.check_answer("A1.2", entries, users)

# %% [markdown]
# **A1.3** Which dtype comes out? Answer with names such as `"float32"`.
#
# - a: float16 + float32
# - b: int64 / int64 (true division)
# - c: int32 < int32

# %%
a, b_, c = ..., ..., ...
course.check_answer("A1.3", a, b_, c)

# %% [markdown]
# **A1.4** `add` of two int8 with a result in int64 is rejected by the rule `size-jump`. Find a pair of types for `add`
# that another rule **rejects**, and give three names: both types and that of the result, such as
# `("int8", "int8", "int64")`. (`types.explain("add", ...)` answers.)

# %%
rejected = ...
course.check_answer("A1.4", rejected)

# %% [markdown]
# ## What you have seen
#
# - A shape is lengths, strides and order; a trie keeps each of them once and gives it a number.
# - Rules decide which combinations of types have a kernel. Each answer says which rule it was.
# - A loop keeps its types.
#
# One thing remains, memory: [A2 Arrays that nobody uses](A2_unused_arrays.ipynb).

# %%
course.score("A1")
