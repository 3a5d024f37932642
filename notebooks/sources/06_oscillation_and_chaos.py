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
# # Oscillation, chaos, and the logistic map
#
# [◂ 05 Convergence](05_convergence.ipynb) · [the course](README.md) ·
# [07 Why a loop stops ▸](07_why_a_loop_stops.ipynb)
#
# A pond holds fish. If there are few, they multiply; if there are many, they eat each other's food. With $x$ for the
# number of fish (1 = the pond is full), next year's number is $r\,x\,(1-x)$. One multiplication and one subtraction,
# and yet this loop converges, swings, or does what nobody can predict, all depending on one number $r$.
#
# **After this notebook you can**
#
# 1. tell a loop that oscillates from one that converges slowly and from one that is chaotic;
# 2. read a cobweb plot and a bifurcation diagram;
# 3. explain why chaos defeats a forecast, although nothing in the loop is random;
# 4. calm a loop that oscillates.
#
# It takes about 45 minutes with the exercises.

# %%
import course
import numpy as np
import plotly.graph_objects as go

import workbench as wb
from workbench.widgets import EvolutionView, LiveFigure

# %% [markdown]
# ## 1. Four ponds
#
# The loop counts years, and `x` is the number of fish in each. We let four ponds run for 400 years and classify `x`.

# %%
b = wb.GraphBuilder("pond")
r, start = b.placeholder("r", "float64", ()), b.placeholder("start", "float64", ())
years = b.placeholder("years", "int64", ())
loop = b.while_loop(
    lambda x, year: year < years, lambda x, year: {"x": r * x * (1.0 - x), "year": year + 1}, {"x": start, "year": 0}
)
pond = b.build({"x": loop["x"]})


def fish(r, start=0.3, years=400):
    """A session of the pond that has run to its end."""
    session = wb.Session(pond, {"r": r, "start": start, "years": years})
    session.run()
    return session


for rate in (2.8, 3.2, 3.5, 3.9):
    with fish(rate) as session:
        verdict = wb.classify(session.trace["x"].values)
        period = f"period {verdict.period:.0f}" if verdict.period else ""
        print(f"r = {rate}: {verdict.label.name:12} {period}")

# %% jupyter={"source_hidden": true} tags=["check"]
assert verdict.label is wb.Pattern.CHAOTIC

# %% [markdown]
# With 2.8 the number of fish settles. With 3.2 a good year follows a bad one, for ever. With 3.5 the pattern takes four
# years. With 3.9 there is no pattern. Here is the one with period four:

# %% tags=["nbval-ignore-output"]
four = fish(3.5, years=60)
EvolutionView(four, ["x"])

# %%
last = four.trace["x"].values[-8:]
print("the last eight years:", np.round(last, 3))

# %% jupyter={"source_hidden": true} tags=["check"]
assert np.allclose(last[:4], last[4:], atol=1e-6) and not np.allclose(last[:2], last[2:4], atol=1e-2)

# %% [markdown]
# ## 2. Slow or for ever?
#
# At the border, $r = 3$, the values alternate too, but ever less. A look at 60 of them does not tell whether they
# will meet. The label of `classify` does, because it depends on *how* the swing shrinks.

# %%
for rate in (2.95, 3.0, 3.05):
    with fish(rate, years=2000) as session:
        x = session.trace["x"].values
    swing = np.abs(np.diff(x))
    verdict = wb.classify(x)
    print(f"r = {rate}: swing in year 50 {swing[50]:.3f}, in year 1999 {swing[-1]:.3f}  {verdict.label.name}")
    assert verdict.label.name == ("OSCILLATING" if rate > 3 else "CONVERGING")

# %% [markdown]
# At $r = 3$ the swing shrinks like $1/\sqrt{k}$. That is sublinear convergence as in notebook 05: it has a limit, and
# you will not live to see ten digits of it.
#
# ## 3. The cobweb
#
# Draw the update as a curve, and the line $y = x$. Start at $x$, go up to the curve (the next value), across to the
# line (which makes it the present one), up or down to the curve, and so on. Where curve and line cross, nothing
# moves: a **fixed point**. If the curve is steeper there than 45 degrees, the web leads away from it.


# %%
def cobweb(r, start=0.3, years=60):
    """The cobweb of the pond as a figure."""
    with fish(r, start, years) as session:
        x = session.trace["x"].values
    grid = np.linspace(0.0, 1.0, 101)
    web_x, web_y = np.repeat(x, 2)[:-1], np.repeat(x, 2)[1:]
    figure = go.Figure()
    figure.add_scatter(x=grid, y=r * grid * (1 - grid), name="next value", line={"color": "#0072B2", "width": 3})
    figure.add_scatter(x=grid, y=grid, name="y = x", line={"color": "#888888", "dash": "dash"})
    figure.add_scatter(x=web_x, y=web_y, name=f"r = {r}", line={"color": "#E69F00", "width": 1.5})
    figure.update_layout(
        height=440, font_size=14, margin={"l": 50, "r": 10, "t": 20, "b": 50}, xaxis_title="this year",
        xaxis_constrain="domain", yaxis_title="next year", yaxis_scaleanchor="x",  # 45 degrees are 45 degrees
    )
    return figure


# %% tags=["nbval-ignore-output"]
LiveFigure(cobweb(3.2))

# %%
fixed = 1 - 1 / 3.2
slope = 3.2 * (1 - 2 * fixed)
print("fixed point:", fixed, "| slope of the curve there:", round(slope, 2))

# %% jupyter={"source_hidden": true} tags=["check"]
assert np.isclose(3.2 * fixed * (1 - fixed), fixed) and abs(slope) > 1
assert np.isclose(slope, -1.2)

# %% [markdown]
# For any variable of a loop, the evolution view draws the web, and the curve too where the next value depends on this
# variable alone. Here for the pond with period four. Its buttons also show the values as lines, or one over another.

# %% tags=["nbval-ignore-output"]
EvolutionView(four, ["x"], kind="cobweb", height=360)

# %% [markdown]
# In the first picture, the slope is -1.2. A small error is multiplied by 1.2 and changes its side each year. It grows
# until it is caught in the square that you see: the cycle of two years.
#
# ## 4. All ponds at once
#
# For each $r$ let 300 years pass, and draw the next 60 as dots. One dot above an $r$: it converges. Two dots: period
# two. This is the **bifurcation diagram**.

# %% tags=["nbval-ignore-output"]
rates = np.linspace(2.5, 4.0, 500)
x = np.full(500, 0.3)
for _ in range(300):
    x = rates * x * (1 - x)
dots = []
for _ in range(60):
    x = rates * x * (1 - x)
    dots.append(x)
figure = go.Figure()
small = {"size": 2, "color": "#0072B2"}
figure.add_scattergl(x=np.tile(rates, 60), y=np.concatenate(dots), mode="markers", marker=small)
figure.update_layout(
    height=360, font_size=14, margin={"l": 50, "r": 10, "t": 20, "b": 50}, xaxis_title="r",
    yaxis_title="fish, years 300 to 360",
)
LiveFigure(figure)

# %% [markdown]
# The line splits in two at 3, in four at 3.449, in eight at 3.544, ever faster, and from 3.57 on there is chaos. Within
# the chaos are quiet windows. Find the one near 3.83: what is its period?

# %%
for rate in (3.2, 3.5, 3.55, 3.83):
    with fish(rate, years=1000) as session:
        print(f"r = {rate}: period", round(wb.classify(session.trace["x"].values).period))

# %% [markdown]
# ## 5. Why chaos cannot be predicted
#
# Two ponds with $r = 4$. One starts with 0.3, the other with 0.3 and a trillionth. Every step is computed in the same
# way and with 16 digits.

# %%
with fish(4.0, 0.3, 100) as one, fish(4.0, 0.3 + 1e-12, 100) as other:
    difference = np.abs(one.trace["x"].values - other.trace["x"].values)
for k in (0, 10, 20, 30, 40, 50):
    print(f"year {k:2}: difference {difference[k]:.0e}")
lost = int(np.flatnonzero(difference > 0.1)[0])
print("the two are unrelated from year", lost)

# %% jupyter={"source_hidden": true} tags=["check"]
assert difference[1] < 1e-11 and 30 <= lost <= 50

# %% [markdown]
# On average the difference doubles each year. After 40 doublings a trillionth is as large as the pond. So to know ten
# more years, you have to know the start a thousand times better. That is what CHAOTIC means: bounded, without a
# pattern, and with small differences that grow. `classify` finds the factor:

# %%
with fish(4.0, years=400) as session:
    verdict = wb.classify(session.trace["x"].values)
print(verdict.label.name, "| small differences grow by", round(verdict.rate, 2), "in each iteration")

# %% jupyter={"source_hidden": true} tags=["check"]
assert abs(verdict.rate - 2.0) < 0.1

# %% [markdown]
# A reason to be careful with "my result differs from yours": in a chaotic loop two correct programs give different
# numbers after 50 iterations, if they round one sum differently. (Notebook 12 is about telling this from a bug.)
#
# ## 6. A loop that waits for calm
#
# "Go on until the number of fish no longer changes." With $r = 3.2$ this never ends, and that can be proved:

# %%
b = wb.GraphBuilder("wait for calm")
x0 = b.placeholder("x0", "float64", ())
calm = b.while_loop(
    lambda x, before: np.abs(x - before) > 1e-6, lambda x, before: {"x": 3.2 * x * (1.0 - x), "before": x},
    {"x": x0, "before": 1.0},
)
session = wb.Session(b.build({"x": calm["x"]}), {"x0": 0.3})
session.run_to("x", iteration=100)
answer = session.termination()
print(f"{answer.status.name}: {answer.outcome}")
session.close()

# %% jupyter={"source_hidden": true} tags=["check"]
assert answer.status.name == "PROVED" and answer.outcome == "never"

# %% [markdown]
# ## 7. Exercises
#
# **06.1** Find an $r$ for which the pond has **period 3**. (Look at the diagram for a window with three lines.)

# %%
my_r = ...
course.check_answer("06.1", my_r)

# %% [markdown]
# **06.2** Two ponds with $r = 4$ start with a difference of 1e-6 (a million times larger than above). In about which
# year are they lost to each other (difference above 0.1)? Think first: the difference doubles each year.

# %%
year = ...
course.check_answer("06.2", year)

# %% [markdown]
# **06.3** A manager wants a constant number of fish with $r = 3.2$. Each year she moves only a part $w$ of the way:
# $x \leftarrow x + w\,(3.2\,x(1-x) - x)$. Find a $w$ between 0 and 1 for which the loop converges. For which $w$ is it
# fastest?

# %%
my_w = ...
course.check_answer("06.3", my_w)

# %% [markdown]
# **06.4** Which labels do these variables have? Answer with `"CONVERGING"`, `"DIVERGING"`, `"OSCILLATING"`,
# `"STABLE"` or `"CHAOTIC"`, before you ask `wb.classify`.
#
# - a: the pond with r = 0.9
# - b: the pond with r = 3.0
# - c: `year`, the counter of the loop

# %%
a, b_, c = ..., ..., ...
course.check_answer("06.4", a, b_, c)

# %% [markdown]
# ## What you have seen
#
# - The slope at the fixed point decides: if its magnitude is below one, iterates converge; above one, they leave.
# - Oscillation has a period; chaos has none, and doubles (or so) every small difference.
# - A smaller step calms a loop that swings.
#
# Some of these loops would never have ended. How to find that out in time:
# [07 Why a loop stops, and why it does not](07_why_a_loop_stops.ipynb).

# %%
course.score("06")
