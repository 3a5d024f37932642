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
# # Two runs that differ
#
# [◂ 11 A TensorFlow 1 graph](11_tensorflow_graph.ipynb) · [the course](README.md) ·
# [13 A wrong result ▸](13_wrong_result.ipynb)
#
# "On my machine it gives 5.21, and on yours 5.19." Somewhere the two runs part, in one node and in one iteration, and
# everything after that differs too. Staring at the results does not help. You have to find the **first** difference.
#
# **After this notebook you can**
#
# 1. compare two runs value by value and iteration by iteration, and read the answer;
# 2. tell rounding from a mistake, and choose a tolerance;
# 3. compare runs of different length, and find the decision at which they part;
# 4. compare a model's run here with what onnxruntime computes inside its loops.
#
# It takes about 45 minutes with the exercises.

# %%
import course
import numpy as np
import onnx
import plotly.graph_objects as go

import workbench as wb
from workbench.widgets import DiffView, LiveFigure

# %% [markdown]
# ## 1. A weight on a spring
#
# It swings, and friction calms it. Each iteration is a tenth of a second: the spring pulls, the velocity changes, the
# weight moves. The loop ends when hardly any energy is left. The function below builds it in any precision; `mistake`
# will be used later.


# %%
def spring(dtype="float64", mistake=False, calm=1e-3):
    """A session of the spring that has run to its end."""
    b = wb.GraphBuilder(f"spring in {dtype}")
    x0 = b.placeholder("x0", dtype, ())
    dt, friction = b.constant(np.asarray(0.1, dtype)), b.constant(np.asarray(0.3, dtype))

    def swing(x, v):
        pull = b.negative(x, name="pull")
        brake = b.multiply(friction, v, name="brake")
        force = b.subtract(pull, brake, name="force")
        v_next = b.add(v, b.multiply(dt, force, name="kick"), name="v_next")
        move = b.multiply(dt, v if mistake else v_next, name="move")
        return {"x": b.add(x, move, name="x_next"), "v": v_next}

    zero = b.constant(np.asarray(0.0, dtype))
    loop = b.while_loop(lambda x, v: x * x + v * v > calm, swing, {"x": x0, "v": zero}, name="swing")
    session = wb.Session(b.build({"x": loop["x"]}), {"x0": 1.0})
    session.run()
    return session


double = spring()
print("iterations:", double.trace["x"].iterations[-1, 0], "| x at the end:", double.outputs["x"].round(6))

# %% [markdown]
# ## 2. The same program in two precisions
#
# `wb.diff` pairs the values of two runs by name, frame and iteration. Its `rows` are the values that differ, one row
# for each, **the first difference first**.

# %%
single = spring("float32")
found = wb.diff(double, single, labels=("float64", "float32"))
print("equal:", found.equal)
for row in found.rows[:6]:
    print(f"{row.name:10} {row.op:10} {row.where:9} relative {row.max_rel:.0e}")

# %% jupyter={"source_hidden": true} tags=["check"]
assert not found.equal and found.first.op == "Const"

# %% [markdown]
# The constants 0.1 and 0.3 already differ in the eighth digit, since neither is a binary fraction. This is not a
# mistake but **rounding**. A *tolerance* says how much of it you accept:

# %%
for rtol in (1e-8, 1e-6, 1e-4):
    found = wb.diff(double, single, rtol=rtol, atol=rtol / 10)
    print(f"rtol = {rtol:.0e}: {len(found)} of {found.values} values differ")

# %% jupyter={"source_hidden": true} tags=["check"]
assert wb.diff(double, single, rtol=1e-4, atol=1e-5).equal

# %% [markdown]
# A distance is also counted in *units in the last place* (**ulp**): the number of steps from one value to the other
# through the representable numbers. Rounding adds up to a few ulp in each operation, and a loop accumulates them.
#
# ## 3. A mistake
#
# In this version the weight moves with the *old* velocity. Only one name of the program is different.

# %%
wrong = spring(mistake=True)
found = wb.diff(double, wrong, rtol=1e-6, labels=("right", "wrong"))
print("first difference:", found.first.name, found.first.where)
print("right has", found.first.value_a, "and wrong has", found.first.value_b)
print("introduced by:", *[row.node for row in found.introduced])

# %% jupyter={"source_hidden": true} tags=["check"]
assert found.first.node == "move" and found.first.iteration == (0,)

# %% [markdown]
# **Introduced** are those rows whose inputs agree and whose output does not. That is where to look in the program. All
# other rows have only inherited the difference.

# %% tags=["nbval-ignore-output"]
DiffView(found)

# %% [markdown]
# Rounding and a mistake look different over time as well. Draw the distance of `x` over the iterations:

# %% tags=["nbval-ignore-output"]
figure = go.Figure()
for name, other, dash, colour in (("mistake", wrong, "solid", "#D55E00"), ("rounding", single, "dash", "#0072B2")):
    curve = wb.diff(double, other).curve("x")
    figure.add_scatter(
        x=curve.iterations[:, 0], y=curve.absolute, name=name, line={"dash": dash, "color": colour, "width": 3}
    )
figure.update_yaxes(type="log", exponentformat="power", title_text="distance of x")
figure.update_xaxes(title_text="iteration")
figure.update_layout(height=320, font_size=14, margin={"l": 60, "r": 10, "t": 20, "b": 50})
LiveFigure(figure)

# %%
rounding, mistake = wb.diff(double, single).curve("x").absolute, wb.diff(double, wrong).curve("x").absolute
print(f"iteration 1: rounding {rounding[1]:.0e}, mistake {mistake[1]:.0e}")
print(f"largest:     rounding {np.nanmax(rounding):.0e}, mistake {np.nanmax(mistake):.0e}")

# %% jupyter={"source_hidden": true} tags=["check"]
assert mistake[1] > 1e5 * rounding[1]

# %% [markdown]
# ## 4. Runs of different length
#
# The wrong program also needs more iterations. Runs of different length are compared as far as both go. `lengths`
# says how often each evaluated its condition (once more than the 231 iterations of section 1; here `a` is the right
# run), and `flips` has the decisions that differ.

# %%
for length in found.lengths:
    print(length)
print("first decision that differs:", found.flips[0].name, found.flips[0].where)

# %% jupyter={"source_hidden": true} tags=["check"]
assert found.flips[0].iteration == (231,) and len(found.lengths) == 1

# %% [markdown]
# Sometimes rounding alone does that: a comparison that is nearly equal goes one way in float64 and the other in
# float32. Then everything after it is different, and no tolerance helps. So a **branch that flips is named before all
# numbers**.

# %%
def ratchet(dtype):
    b = wb.GraphBuilder(f"ratchet in {dtype}")
    zero, tenth, one = (b.constant(np.asarray(value, dtype)) for value in (0.0, 0.1, 1.0))

    def turn(total, clicks, k):
        new = b.add(total, tenth, name="new")
        full = b.greater_equal(new, one, name="full")
        return {
            "total": b.cond(full, lambda: new - one, lambda: new, name="click"),
            "clicks": b.cond(full, lambda: clicks + 1, lambda: clicks, name="count"),
            "k": k + 1,
        }

    loop = b.while_loop(lambda total, clicks, k: k < 10, turn, {"total": zero, "clicks": 0, "k": 0}, name="turns")
    session = wb.Session(b.build({"clicks": loop["clicks"]}))
    session.run()
    return session


a, b = ratchet("float64"), ratchet("float32")
print("clicks in float64:", a.outputs["clicks"], "| in float32:", b.outputs["clicks"])
found = wb.diff(a, b, rtol=1e-4, labels=("float64", "float32"))
flip = found.flips[0]
print("the first decision that differs:", flip.node, flip.where, flip.value_a, flip.value_b)
print("new in that round:", repr(float(a.value("new", 9))), repr(float(b.value("new", 9))))

# %% jupyter={"source_hidden": true} tags=["check"]
assert flip.node == "full" and flip.iteration == (9,)

# %% [markdown]
# Ten times a tenth is a little less than 1 in one precision and a little more in the other. Both programs are
# "right". The mistake is to compare sums of tenths with 1 at all.
#
# ## 5. Against another runtime
#
# The same question for an ONNX model: does onnxruntime compute what we compute, *inside* the loop, too? Here is the
# square root of `a` by Newton's method, and a second version in which an exporter has written a wrong factor.

# %%
MODEL = """
<ir_version: 8, opset_import: ["" : 17]>
root (float a, float start, int64 limit) => (float x_end) {
  yes = Constant <value = bool {1}> ()
  x_end = Loop (limit, yes, start) <
    body = step (int64 trip, bool going, float x) => (bool go_on, float x_next) {
      half = Constant <value = float {0.5}> ()
      quotient = Div (a, x)
      both = Add (x, quotient)
      x_next = Mul (both, half)
      go_on = Identity (going)
    }>
}
"""
feeds = {"a": np.float32(2.0), "start": np.float32(1.0), "limit": np.array(6)}
model = onnx.parser.parse_model(MODEL)
exported = onnx.parser.parse_model(MODEL.replace("{0.5}", "{0.499}"))

ours = wb.Session(wb.from_onnx(model), feeds)
ours.run()
theirs = wb.run_with("onnxruntime", model, feeds)
print("the same model here and in onnxruntime agrees:", wb.diff(ours, theirs, rtol=1e-6).equal)

# %% jupyter={"source_hidden": true} tags=["check"]
assert wb.diff(ours, theirs, rtol=1e-6).equal

# %%
theirs = wb.run_with("onnxruntime", exported, feeds)
found = wb.diff(ours, theirs, rtol=1e-6, labels=("here", "exported, in onnxruntime"))
print("results:", ours.outputs["x_end"], "and", theirs.outputs["x_end"])
print("first difference:", found.first.name, found.first.where, found.first.value_a, found.first.value_b)

# %% jupyter={"source_hidden": true} tags=["check"]
assert found.first.name == "half"
assert [f"{float(run.outputs['x_end']):.5f}" for run in (ours, theirs)] == ["1.41421", "1.41139"]

# %% [markdown]
# The first node that differs is the constant *in the body of the loop*. The results alone, 1.41421 and 1.41139, would
# not have shown it.
#
# ## 6. Exercises
#
# **12.1** A colleague has rewritten a program that smooths a series of measurements. One node in the loop is wrong.
# `course.two_programs()` gives a session of each. Which node **introduces** the difference? Write its name.

# %%
before, after = course.two_programs()
culprit = ...
course.check_answer("12.1", culprit)

# %% [markdown]
# **12.2** In which iteration do the two programs of 12.1 differ for the first time?

# %%
first_iteration = ...
course.check_answer("12.2", first_iteration)

# %% [markdown]
# **12.3** The pond of notebook 06 with $r = 4$ runs in float64 and in float32. After 60 iterations the two have
# nothing in common. Is that `"rounding"` or a `"mistake"`? Look at the first difference and at the curve. (The ponds
# are below.)

# %%
ponds = course.two_ponds()
cause = ...
course.check_answer("12.3", cause)

# %% [markdown]
# **12.4** What is the smallest tolerance `rtol` among 1e-8, 1e-7, 1e-6, 1e-5 and 1e-4 with which the spring in
# float64 and in float32 are equal? (Take `atol=1e-7` with all of them.)

# %%
smallest = ...
course.check_answer("12.4", smallest)

# %% [markdown]
# ## What you have seen
#
# - Look for the first difference, and for the node that *introduces* one.
# - Rounding begins small and may grow; a mistake begins large. A tolerance separates them.
# - Where a decision flips, the numbers after it need not be compared.
#
# You now have all the tools. The next notebook hands you a model that is wrong, and nothing else:
# [13 A wrong result](13_wrong_result.ipynb).

# %%
course.score("12")
