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
# # Debugging an ONNX model
#
# [◂ 09 NaN hunt](09_nan_hunt.ipynb) · [the course](README.md) · [11 A TensorFlow 1 graph
# ▸](11_tensorflow_graph.ipynb)
#
# A model comes as a file. A runtime executes it and returns its outputs; it does not show what happens inside the
# `Loop` and `If` bodies. The model below finds the largest eigenvalue of a matrix. It works on the author's matrix. On
# ours it is wrong in the third digit, without any error. Where is the fault: in the model, in the runtime, or in our
# input?
#
# **After this notebook you can**
#
# 1. load an ONNX model and find its loops, branches and values under their own names;
# 2. read every value of every iteration inside Loop and If bodies, and check them against a formula;
# 3. tell a loop that has converged from one that was cut off by its trip limit;
# 4. change an input or a value, and see what follows.
#
# It takes about 60 minutes with the exercises.

# %%
import tempfile
from pathlib import Path

import course
import numpy as np
import onnx

import workbench as wb
from workbench.widgets import EvolutionView, GraphView, ValueInspector

# %% [markdown]
# ## 1. The model
#
# **Power iteration**: multiply a vector by the matrix, again and again, and bring it back to length 1 each time. The
# factor by which it grows tends to the size of the largest eigenvalue. In ONNX's own text form:

# %%
MODEL = """
<ir_version: 8, opset_import: ["" : 17]>
power (float[n,n] A, float[n] start, int64 limit) => (float eigenvalue, float[k] history) {
  yes = Constant <value = bool {1}> ()
  zero = Constant <value = float {0.0}> ()
  v_end, eigenvalue, history = Loop (limit, yes, start, zero) <
    body = step (int64 trip, bool going, float[n] v, float size)
        => (bool go_on, float[n] v_next, float size_next, float seen) {
      w = MatMul (A, v)
      squares = Mul (w, w)
      total = ReduceSum <keepdims = 0> (squares)
      size_next = Sqrt (total)
      nothing = Constant <value = float {0.0}> ()
      usable = Greater (size_next, nothing)
      v_next = If (usable) <
        then_branch = scaled () => (float[n] v_scaled) { v_scaled = Div (w, size_next) },
        else_branch = kept () => (float[n] v_kept) { v_kept = Identity (v) }
      >
      change = Sub (size_next, size)
      moved = Abs (change)
      tolerance = Constant <value = float {0.0001}> ()
      go_on = Greater (moved, tolerance)
      seen = Identity (size_next)
    }>
}
"""
model = onnx.parser.parse_model(MODEL)
onnx.checker.check_model(model, full_check=True)
folder = tempfile.TemporaryDirectory()
path = Path(folder.name) / "power.onnx"
onnx.save(model, path)
graph = wb.load(path)
print("inputs:", *graph.inputs, "| outputs:", *graph.outputs)
for region in graph.regions.values():
    print(f"{region.kind:7} {region.name}")

# %% [markdown]
# The `Loop` has become a frame, which is open here, and the `If` a branch in it: a click on its box opens that, too.
# All values keep the names that they have in the model.

# %% tags=["nbval-ignore-output"]
view = GraphView(graph, height=720)
view.reveal("v_scaled")
view

# %% [markdown]
# ## 2. The author's matrix, and ours
#
# We run the model with both matrices and compare each result with NumPy's eigenvalue.

# %%
theirs = np.array([[4, 1], [2, 3]], np.float32)
ours = np.array([[5, 0.3], [0.3, 4.8]], np.float32)
start = np.array([1, 0], np.float32)
limit = np.array(15)
for name, matrix in (("theirs", theirs), ("ours", ours)):
    found = graph.run(A=matrix, start=start, limit=limit)["eigenvalue"]
    right = np.linalg.eigvals(matrix).max()
    print(f"{name:6}: model {found:.5f}, in fact {right:.5f}, difference {abs(found - right):.0e}")

# %% jupyter={"source_hidden": true} tags=["check"]
assert abs(found - right) > 1e-4

# %% [markdown]
# Is our runtime at fault? onnxruntime is an entirely different program:

# %%
import onnxruntime

runtime = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
other, _ = runtime.run(None, {"A": ours, "start": start, "limit": limit})
print("onnxruntime says the same:", np.isclose(other, found, rtol=1e-6))

# %% jupyter={"source_hidden": true} tags=["check"]
assert np.isclose(other, found, rtol=1e-6)

# %% [markdown]
# Two runtimes agree. So the model does what it says, and what it says is wrong.
#
# ## 3. Inside the loop
#
# `w`, `size_next` and `v_scaled` live in the bodies of Loop and If. The trace has them for every iteration.

# %%
session = wb.Session(graph, {"A": ours, "start": start, "limit": limit})
session.run()
for iteration in (0, 1, 2, 14):
    w = session.value("w", iteration=iteration)
    print(f"iteration {iteration:2}: w = {np.round(w, 3)}, size_next = {session.value('size_next', iteration):.4f}")
print("branches taken:", session.trace.branch_counts()["loop/if/w/Switch"], "(else, then)")

# %% jupyter={"source_hidden": true} tags=["check"]
assert session.trace["w"].values.shape == (15, 2)

# %% [markdown]
# The inspector shows a value in any iteration, as a chart or a table, and its change since the iteration before. Here
# it shows `w`; *Part and time* moves through the iterations.

# %% tags=["nbval-ignore-output"]
inspector = ValueInspector(session)
inspector.selection.select("w")
inspector

# %% [markdown]
# **Check each iteration against a formula.** This is how one finds the first step that goes wrong:

# %%
v, wrong = start.astype(np.float64), []
for iteration in range(15):
    w = ours.astype(np.float64) @ v
    if not np.allclose(session.value("w", iteration=iteration), w, rtol=1e-5):
        wrong.append(iteration)
    v = w / np.sqrt(w @ w)
print("iterations that differ from the formula:", wrong or "none")

# %% jupyter={"source_hidden": true} tags=["check"]
assert not wrong

# %% [markdown]
# Every step is right. What about the *number* of steps?
#
# ## 4. Converged, or cut off?

# %%
answer = session.termination(("loop",))
print(answer.reason)
print("last change:", f"{session.trace['moved'].values[-1]:.4f}", "| tolerance of the model: 0.0001")
print("is the size still on its way?", wb.classify(session.trace["size_next"].values).label.name)

# %% jupyter={"source_hidden": true} tags=["check"]
assert session.trace["moved"].values[-1] > 1e-4 and "limit" in str(answer.reason)

# %% [markdown]
# The loop ended because `trip < limit` failed, not because it had converged. ONNX calls the limit *max trip count*,
# and reaching it is not an error. **The result of a loop that was cut off looks exactly like a result.**

# %% tags=["nbval-ignore-output"]
EvolutionView(session, ["size_next"])

# %% [markdown]
# How many iterations does it need? Make a forecast from the fifteen values, and then allow 1000 iterations:

# %%
sizes = session.trace["size_next"].values
forecast = wb.iterations_to_tolerance(sizes.astype(np.float64), 1e-4)
print("right to 1e-4 at about iteration", forecast.iteration, "| between", forecast.low, "and", forecast.high)
session.update(limit=np.array(1000))
trips = len(session.trace["w"])
print("with a limit of 1000 it stops after", trips, "iterations at", session.outputs["eigenvalue"].round(5))

# %% jupyter={"source_hidden": true} tags=["check"]
assert 15 < trips < 100 and abs(session.outputs["eigenvalue"] - right) < 2e-3

# %% [markdown]
# That is better, and still off by a little, since the model tests the step, not the error. (Notebook 05,
# section 5: what is its rate?)

# %%
rate = wb.classify(session.trace["size_next"].values.astype(np.float64)).rate
print("error:", f"{abs(session.outputs['eigenvalue'] - right):.0e}", "| rate:", round(rate, 2))

# %% jupyter={"source_hidden": true} tags=["check"]
assert 0.5 < rate < 0.95

# %% [markdown]
# ## 5. What if?
#
# The `else` branch is for a vector that the matrix maps to zero. No run has taken it so far. Edit a value to see it
# taken: go to iteration 3, set `w` to zero, and let it run on. From there the run is a **fork**; the history before
# the edit is kept.

# %%
session.run_to("squares", iteration=3)
session.set_value("w", np.zeros(2, np.float32))
session.run()
print("branches taken:", session.trace.branch_counts()["loop/if/w/Switch"], "(else, then)")
print("histories kept:", len(session.histories), "| eigenvalue:", session.outputs["eigenvalue"].round(4))

# %% jupyter={"source_hidden": true} tags=["check"]
assert session.trace.branch_counts()["loop/if/w/Switch"][0] == 1

# %% [markdown]
# The model survives a zero vector. Its author has thought of that case.
#
# ## 6. In the panel
#
# Try **Next branch change** (under *More*), and a breakpoint on `v_next`: click the node, then press B.

# %% tags=["nbval-ignore-output"]
panel = wb.debug(graph, {"A": ours, "start": start, "limit": limit})
panel

# %% [markdown]
# ## 7. Exercises
#
# **10.1** Run the model with the matrix `theirs` and a limit of 1000. After how many iterations does it stop by itself?

# %%
iterations = ...
course.check_answer("10.1", iterations)

# %% [markdown]
# **10.2** Why did the loop end, with `ours` and a limit of 15? Answer `"converged"`, `"cut off"` or `"diverged"`. And
# with `theirs` and a limit of 15?

# %%
with_ours, with_theirs = ..., ...
course.check_answer("10.2", with_ours, with_theirs)

# %% [markdown]
# **10.3** What is the value of `moved` in iteration 5, for `theirs`? (Three digits are enough.)

# %%
moved = ...
course.check_answer("10.3", moved)

# %% [markdown]
# **10.4** Change the model so that it reports whether it was cut off: give it a third output `converged` (a bool).
# Hint: the loop carries `going`, the last answer to "go on?". Make it one more loop variable that comes out. Give the
# whole new text, as `MODEL.replace(...)`. (This one is harder. `course.hint("10.4")` helps.)

# %%
new_model = ...
course.check_answer("10.4", new_model)

# %% [markdown]
# ## What you have seen
#
# - Loop and If bodies are open: every value has its own name and an iteration.
# - Check each step against a formula, then the number of steps.
# - A trip limit that is reached is not an error for a runtime. You should treat it as one.
#
# Older models are written with frames, as you wrote them by hand: [11 A TensorFlow 1 graph](11_tensorflow_graph.ipynb).

# %%
folder.cleanup()
course.score("10")
