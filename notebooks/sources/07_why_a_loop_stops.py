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
# # Why a loop stops, and why it does not
#
# [◂ 06 Oscillation and chaos](06_oscillation_and_chaos.ipynb) · [the course](README.md) ·
# [08 Nested loops ▸](08_nested_loops.ipynb)
#
# Most numerical work is done by loops that go on *until something is small enough*. Whether that happens, and when, is
# decided by how the loop's variables evolve. Here we learn to read that, to forecast it, and to tell a forecast from a
# proof.
#
# **After this notebook you can**
#
# 1. name the five ways in which a variable can evolve, and recognise each in its numbers;
# 2. read a convergence plot: rate, limit, forecast, and the band around it;
# 3. say why a loop never ends, find the variable that causes it, and fix it;
# 4. name six common ways in which a loop misses its end, and recognise each in its report.
#
# It takes about 65 minutes with the exercises. Run the cells from top to bottom; a folded cell checks each claim.

# %%
import course
import numpy as np

import workbench as wb
from workbench.widgets import TerminationView

# %% [markdown]
# ## 1. Five ways to evolve
#
# `wb.classify` takes the values of a variable, oldest first, and returns a **label**, the probability that the label
# is right, and the numbers behind it. It uses only the values, never the rule that made them.

# %%
k = np.arange(60)


def logistic(r, x=0.3, n=300):
    out = [x]
    for _ in range(n):
        out.append(r * out[-1] * (1 - out[-1]))
    return np.array(out)


histories = {
    "0.8**k": 0.8**k,
    "1.1**k": 1.1**k,
    "sin(k)": np.sin(k),
    "always 3": np.full(60, 3.0),
    "logistic, r = 3.9": logistic(3.9),
    "sum of 1/k": np.cumsum(1.0 / (k + 1)),
    "sum of 1/k**2": np.cumsum(1.0 / (k + 1) ** 2),
}
verdicts = {name: wb.classify(values) for name, values in histories.items()}
for name, verdict in verdicts.items():
    print(f"{name:18}  {verdict.label.name}")

# %% jupyter={"source_hidden": true} tags=["check"]
assert [v.label.name for v in verdicts.values()] == [
    "CONVERGING", "DIVERGING", "OSCILLATING", "STABLE", "CHAOTIC", "DIVERGING", "CONVERGING",
]

# %% [markdown]
# Look at the last two. Both sums grow ever more slowly, and after 60 terms neither seems to move much. Yet the second
# has a limit, and the first grows beyond every bound. The steps of such a sum fall like $k^{-s}$. It has a limit if
# $s$ is above 1. How close is the limit that was found to the true one, $\pi^2/6$? The last value of the record is
# off by 0.017.

# %%
found = verdicts["sum of 1/k**2"]
last = histories["sum of 1/k**2"][-1]
print("error of the last value: ", f"{abs(last - np.pi**2 / 6):.1e}")
print("the limit is better:     ", abs(found.limit - np.pi**2 / 6) < 1e-3 * abs(last - np.pi**2 / 6))

# %% jupyter={"source_hidden": true} tags=["check"]
assert abs(found.limit - np.pi**2 / 6) < 1e-3 * abs(last - np.pi**2 / 6)
assert f"{abs(last - np.pi**2 / 6):.3f}" == "0.017"

# %% [markdown]
# **Question.** Four values are too few to tell. What should an honest method answer? Guess before you run the cell.

# %%
verdict = wb.classify([1.0, 0.5, 0.25, 0.125])
print(verdict.label.name, "-", verdict.why[0])

# %% jupyter={"source_hidden": true} tags=["check"]
assert verdict.label is wb.Pattern.UNKNOWN

# %% [markdown]
# ## 2. A loop that converges, and when it will be done
#
# A pan at 90 degrees stands in a room of 20. In each minute it loses 5 % of the difference. The loop goes on until
# the pan is within one hundredth of a degree. After 60 minutes we stop it and ask for a report.

# %% tags=["nbval-ignore-output"]
b = wb.GraphBuilder("cooling pan")
start = b.placeholder("start", "float64", ())
pan = b.while_loop(
    lambda pan: np.abs(pan - 20.0) > 0.01,
    lambda pan: pan + 0.05 * (20.0 - pan),
    {"pan": start},
)
session = wb.Session(b.build({"pan": pan["pan"]}), {"start": 90.0})
session.run_to("pan", iteration=60)
session.step()
analysis = wb.analyze(session)
print(analysis.report(width=88))

# %% [markdown]
# Read the report line by line:
#
# - **PROVED** means that the rest of the loop was computed ahead: the condition needs only `pan`, so it can be
#   evaluated without the rest of the graph. It is not an estimate.
# - **rate 0.95**: in each iteration the distance to the limit is multiplied by 0.95. (Where in the program do you see
#   that number?)
# - **distance** draws the distance to the limit on a logarithmic scale. A straight line there is *linear convergence*.
#
# Here is the same as a plot, with a tolerance line at one degree. The dashed line is the forecast, made from the
# values alone.

# %% tags=["nbval-ignore-output"]
analysis.figure("pan", tolerance=1.0)

# %%
pan = analysis.variables["pan"].convergence(tolerance=1.0)
print(pan.sentence)
left = analysis.loops["while"].remaining
done = analysis.loops["while"].iterations
session.run()
values = session.trace["pan"].values
first_within = int(np.flatnonzero(np.abs(values - 20.0) <= 1.0)[0])
print("actually within one degree from iteration", first_within)
print("the loop took", len(values) - 1, "iterations; the answer said", done + left)

# %% jupyter={"source_hidden": true} tags=["check"]
assert abs(pan.crossing[0] - first_within) <= 1
assert len(values) - 1 == done + left

# %% [markdown]
# ### Not every forecast is so certain
#
# Now the same pan with noise: a thermometer that is wrong by about a tenth of a degree. A forecast has to say how
# uncertain it is, and that is what the **band** is for: the truth lies in it in about 90 of 100 cases. For a limit,
# `limit_error` plays this part. A forecast without either is a guess.

# %%
noise = np.random.default_rng(7).normal(size=200) * 0.1
measured = 20.0 + 70.0 * 0.95 ** np.arange(200) + noise
noisy, exact = wb.classify(measured[:120]), wb.classify(measured[:120] - noise[:120])
print("with noise:   ", noisy.label.name, "| limit within half a degree of 20:", abs(noisy.limit - 20.0) < 0.5)
print("without noise:", exact.label.name, "| limit within 1e-6 of 20:", abs(exact.limit - 20.0) < 1e-6)

# %% jupyter={"source_hidden": true} tags=["check"]
assert noisy.label is exact.label is wb.Pattern.CONVERGING and noisy.limit_error > exact.limit_error
assert abs(noisy.limit - 20.0) < 0.5 and abs(exact.limit - 20.0) < 1e-6

# %% [markdown]
# ## 3. A loop that never ends
#
# The square root of 2 by Newton's method, in single precision, "until the residual is below 1e-9". This loop never
# ends. Before you go on: why not?

# %% tags=["nbval-ignore-output"]
b = wb.GraphBuilder("root in float32")
x0 = b.placeholder("x0", "float32", ())
root = b.while_loop(
    lambda x: np.abs(x * x - np.float32(2.0)) > np.float32(1e-9),
    lambda x: np.float32(0.5) * (x + np.float32(2.0) / x),
    {"x": x0},
)
graph = b.build({"root": root["x"]})
session = wb.Session(graph, {"x0": 1.0})
for _ in range(8):
    session.next_iteration()
analysis = wb.analyze(session)
print(analysis.report(width=88))

# %% jupyter={"source_hidden": true} tags=["check"]
assert analysis.loops["while"].status.name == "PROVED" and analysis.loops["while"].outcome == "never"

# %% [markdown]
# The report answers four questions, in this order:
#
# 1. **Is it sure?** PROVED: the state of the loop repeated bit for bit while the condition was true. What happened
#    once will happen again, for ever. This is a proof, not a matter of patience.
# 2. **What blocks?** The residual, here $|x^2 - 2|$, stays at a value above the tolerance.
# 3. **Which variable causes it?** The root variable, and the line that updates it.
# 4. **What can be done?** The suggestion is computed from the numbers of this run.
#
# Numbers of type float32 near 1.41 are 1.2e-7 apart. The square of the best of them is off by 1.2e-7, which is more
# than 1e-9. Check it by hand:

# %%
candidates = np.float32(np.sqrt(2.0)) + np.arange(-3, 4).astype(np.float32) * np.spacing(np.float32(1.4142135))
residuals = np.abs(candidates * candidates - np.float32(2.0))
print("smallest residual of any float32 near the root:", residuals.min())

# %% jupyter={"source_hidden": true} tags=["check"]
assert residuals.min() > 1e-9
assert f"{np.spacing(np.float32(1.41)):.1e}" == "1.2e-07" and 1e-7 < residuals.min() < 5e-7

# %% [markdown]
# ### Fix it
#
# A suggestion that can be tried has `applies` set. `apply_fix` makes a second session, on the fixed graph, and leaves
# the first one as it is; `session.fixed` has the answers before and after.

# %% tags=["nbval-ignore-output"]
for fix in analysis.loops["while"].fix:
    print("can be tried:" if fix.applies else "for the author:", fix)

# %%
mended = session.apply_fix()
mended.run()
result = wb.analyze(mended)
print("before:", session.termination(("while",)).outcome, "| after:", session.fixed.after.outcome)
print(result.verdict[0].sentence)
print("error of the root:", f"{abs(float(mended.outputs['root']) - np.sqrt(2.0)):.0e}")

# %% jupyter={"source_hidden": true} tags=["check"]
assert mended.state == "finished" and result.loops["while"].termination.outcome == "terminates"
assert abs(float(mended.outputs["root"]) - np.sqrt(2.0)) < 1e-6

# %% [markdown]
# Was that the right thing to do? A larger tolerance ends the loop, but the answer has only seven digits. If you need
# twelve, take the other suggestion, and compute in float64. The numbers say what is possible, not what you need.

# %% [markdown]
# ## 4. Six ways to miss the end
#
# Here are six small loops, each taken from a real question in an issue tracker. Read the six conditions and updates,
# and guess for each whether it ends. Then run the cell.


# %%
def ask(cond, update, **start):
    """The answer after six iterations of a loop, and its session."""
    b = wb.GraphBuilder("loop")
    loop = b.while_loop(cond, update, start)
    session = wb.Session(b.build({"end": next(iter(loop.values()))}))
    session.next_iteration(6)
    return session.termination(("while",)), session


loops = {
    "forgotten update": ask(lambda i, x: i < 10, lambda i, x: {"i": i, "x": x + 1.0}, i=0, x=0.0),
    "steps of 0.1 to exactly 1": ask(lambda x: np.not_equal(x, 1.0), lambda x: {"x": x + 0.1}, x=0.0),
    "a float32 counter": ask(
        lambda x: x < np.float32(2**24 + 10), lambda x: {"x": x + np.float32(1)}, x=np.float32(2**24 - 3)
    ),
    "an int8 counter": ask(lambda i: i <= np.int8(127), lambda i: {"i": i + np.int8(1)}, i=np.int8(120)),
    "or instead of and": ask(
        lambda r, k: np.logical_or(r > 1e-8, k < 5), lambda r, k: {"r": np.maximum(r * 0.5, 1e-5), "k": k + 1},
        r=1.0, k=0,
    ),
    "and": ask(
        lambda r, k: np.logical_and(r > 1e-8, k < 500), lambda r, k: {"r": np.maximum(r * 0.5, 1e-5), "k": k + 1},
        r=1.0, k=0,
    ),
}
for name, (answer, _) in loops.items():
    print(f"{name:26} {answer.status.name}: {answer.outcome:10} | cause: {', '.join(answer.root)}")

# %% jupyter={"source_hidden": true} tags=["check"]
assert [answer.outcome for answer, _ in loops.values()] == ["never"] * 5 + ["terminates"]
assert all(answer.status.name == "PROVED" for answer, _ in loops.values())

# %% [markdown]
# There are six answers, and each is a proof. For each loop that never ends, the report has remedies. Here is the
# first of each:

# %%
for name, (answer, _) in loops.items():
    if answer.outcome == "never":
        print(f"{name}:\n    {answer.fix[0]}")

# %% jupyter={"source_hidden": true} tags=["check"]
assert "int64" in str(loops["a float32 counter"][0].fix[0])

# %% [markdown]
# | the loop | what happens |
# |---|---|
# | forgotten update | the body changes `x`, the condition tests `i` |
# | steps of 0.1 to exactly 1 | ten times 0.1 is 0.9999999999999999 in binary numbers: the loop steps over 1 |
# | a float32 counter | above $2^{24}$ the numbers are 2 apart: adding 1 changes nothing |
# | an int8 counter | every int8 is at most 127, and 127 + 1 is -128 |
# | or instead of and | it goes on while *either* clause holds, and the first one always does |
# | and | it ends at its limit of 500, with the residual still above 1e-8 |
#
# The last loop has the same body as the one before it, and its residual never gets small either. **A limit makes a
# loop end. It does not make it right.**
#
# The remedy `x < 1.0` for the second loop makes it end, too. But rounding decides where:

# %%
for start in (0.0, 0.9):
    total = start
    while total < 1.0:
        total += 0.1
    print("steps of 0.1 from", start, "lead to", total)

# %% jupyter={"source_hidden": true} tags=["check"]
assert sum([0.1] * 10) != 1.0

# %% [markdown]
# The view below shows the answer for the float32 counter, with both sides of its condition. In a loop that ends, the
# curve meets its threshold.

# %% tags=["nbval-ignore-output"]
TerminationView(loops["a float32 counter"][1])

# %% [markdown]
# ## 5. Exercises
#
# **07.1** Gradient descent on $f(x) = 5x^2$ is $x \leftarrow x - \lambda \cdot 10 x$. By which factor is $x$
# multiplied? Then say what `x` does for these steps $\lambda$, as in section 1: one label for each.

# %%
with_step_0_05, with_step_0_2, with_step_0_25 = ..., ..., ...
course.check_answer("07.1", with_step_0_05, with_step_0_2, with_step_0_25)

# %% [markdown]
# **07.2** The loop goes on while $|x| > 10^{-6}$. With which step $\lambda$ does it end after **one** iteration?

# %%
my_step = ...
course.check_answer("07.2", my_step)

# %% [markdown]
# **07.3** This loop is meant to count the halvings until x is at most 0.001. Its condition is `np.not_equal(x, 0.001)`,
# and it never ends. Write a condition with which it does.


# %%
def my_condition(x, k):
    return ...  # True while the loop is to go on


course.check_answer("07.3", my_condition)

# %% [markdown]
# **07.4** A program has the loop `while total < 20_000_000: total = total + 1`, with `total` of type float32. At
# which number does it stop growing? (Look at the table above.)

# %%
stands_still_at = ...
course.check_answer("07.4", stands_still_at)

# %% [markdown]
# ## What you have seen
#
# - A variable converges, diverges, oscillates, stays or is chaotic; a few values are not enough to tell, and then
#   the answer is *unknown*.
# - A forecast comes with a band, a proof with the facts that were checked. The report always says which of the two it
#   is.
# - A loop that never ends has a clause that blocks, a variable that causes it and a remedy that can be computed.
#
# `wb.analyze(session).to_html("report.html")` writes all of it as one page that works without a network.
#
# What if loops are nested? [08 Nested loops](08_nested_loops.ipynb).

# %%
course.score("07")
