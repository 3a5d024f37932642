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
# # Looking into a JAX loop
#
# [◂ 14 Your own loop](14_your_own_loop.ipynb) · [the course](README.md) ·
# [16 A thousand loops ▸](16_a_thousand_loops.ipynb)
#
# JAX compiles a loop as a whole. `print` in the body of a `lax.while_loop` shows a tracer, a debugger stops while the
# function is traced and never again, and the option that checks for NaN names `while`, but no iteration. A loop that
# does not end gives no sign at all. `wb.from_jax` makes a graph of the function, and then every iteration can be
# looked at.
#
# **After this notebook you can**
#
# 1. step through `while_loop` and `scan`, with the names and the lines of your own code;
# 2. find out why an optimiser hangs, before you have waited for it;
# 3. name the iteration and the line that made a NaN, also where the result looks healthy;
# 4. find an index that JAX has silently moved.
#
# It takes about 55 minutes with the exercises. It needs JAX 0.7 to 0.12: `pip install "jax>=0.7,<0.13"`.

# %% tags=["definitions"]
import course

course.needs("jax", 'pip install "jax>=0.7,<0.13"')
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import workbench as wb
from workbench.widgets import EvolutionView, GraphView

# %% [markdown]
# ## 1. An optimiser that hangs
#
# A straight line is fitted to twenty points by gradient descent, until the slope of the loss is small.

# %% tags=["definitions"]
x = jnp.linspace(0.0, 1.0, 20)
y = 3.0 * x + 1.0 + 0.1 * jnp.sin(30.0 * x)


def loss(w):
    return jnp.mean((w[0] * x + w[1] - y) ** 2)


def fit(start, rate, tolerance):
    def steep(state):
        w, slope = state
        return jnp.max(jnp.abs(slope)) > tolerance

    def descend(state):
        w, slope = state
        w = w - rate * slope
        return w, jax.grad(loss)(w)

    return lax.while_loop(steep, descend, (start, jax.grad(loss)(start)))


start = jnp.zeros(2)

# %%
w, slope = jax.jit(fit)(start, 0.5, 1e-5)
print("tolerance 1e-5: the line is", w.round(3))

# %% [markdown]
# With a tolerance of 1e-9 the same call never returns; do not try. Instead, make a graph of it. `from_jax` traces the
# function with example arguments, as `jax.jit` does, and computes nothing.

# %%
graph = wb.from_jax(fit, start, 0.5, 1e-9)
loop = graph.frames["while",]
print("inputs:", *graph.inputs)
print("loop variables:", *[variable.name.split("/")[-1] for variable in loop.variables])

# %% jupyter={"source_hidden": true} tags=["check"]
assert list(graph.inputs) == ["start", "rate", "tolerance"]

# %% [markdown]
# The variables have the names of `w, slope = state`. The loop is open here. Where a function calls others, each call
# is a closed box: a click opens it.

# %% tags=["nbval-ignore-output"]
view = GraphView(graph, height=640)
view.expand(("while",))
view.reveal(loop.loop_cond)
view

# %% [markdown]
# Run 600 iterations, and ask whether the loop will end. `feeds` turns the arguments of the function into inputs.

# %%
session = wb.Session(graph, graph.feeds(start, 0.5, 1e-9))
session.run_to(loop.loop_cond, iteration=600)
answer = session.termination()
print(answer.status.name, "|", answer.reason)

# %% jupyter={"source_hidden": true} tags=["check"]
assert answer.status.name == "PROVED" and answer.outcome == "never"

# %% [markdown]
# In float32, which is what JAX computes in unless told otherwise, the slope comes to a standstill: `w` does not
# change any more, because `rate * slope` is smaller than half a unit in the last place of `w`. So the condition stays
# as it is, forever. This is a proof, not a guess: the state has come back bit for bit. Look at the way there:

# %%
for iteration in (0, 10, 100, 300, 599):
    print(f"iteration {iteration:3}: slope {session.value('slope', iteration)}")

# %% tags=["nbval-ignore-output"]
EvolutionView(session, ["slope"])

# %% [markdown]
# The remedy is a tolerance that float32 can reach, perhaps with a limit on the number of iterations. With 1e-5:

# %%
session.close()
session = wb.Session(graph, graph.feeds(start, 0.5, 1e-5))
session.run()
print("iterations:", len(session.trace["w"]) - 1, "| result:", graph.result(session.outputs)[0].round(3))

# %% jupyter={"source_hidden": true} tags=["check"]
assert np.array_equal(session.outputs["result[0]"].round(3), np.asarray(w).round(3))

# %% [markdown]
# `graph.result` gives the outputs back as what the function returns, here a tuple.
#
# ## 2. A NaN in a scan
#
# Readings come in one by one, and after each we want the standard deviation so far. The textbook formula for its
# square is the mean of the squares minus the square of the mean.

# %% tags=["definitions"]
steps = np.array([12, 1, 2, 3, 2, 12, 13, 9, 0, 1, 5, 6, 9, 7, 4, 2, 11, 11, 0, 1])
readings = jnp.asarray(1000.0 + steps / 64, jnp.float32)


def spread(readings):
    def step(carry, reading):
        total, squares, n = carry
        total, squares, n = total + reading, squares + reading**2, n + 1.0
        mean = total / n
        deviation = jnp.sqrt(squares / n - mean**2)
        return (total, squares, n), deviation

    return lax.scan(step, (0.0, 0.0, 0.0), readings)[1]


# %%
graph = wb.from_jax(spread, readings)
nan = wb.Session(graph, graph.feeds(readings))
nan.run()
print(nan.outputs["result"].round(4))

# %%
origin = wb.nan_origin(nan)
print("node:", origin.node, "| iteration:", *origin.iteration)
print("cause:", origin.why)
print("line:", origin.source.expression)

# %% jupyter={"source_hidden": true} tags=["check"]
assert origin.node == "scan/sqrt" and origin.iteration == (11,)

# %% [markdown]
# The difference of two numbers near a million that are nearly equal keeps no digit in float32, and comes out below
# zero. Here are values of that iteration, under the names of the code:

# %%
at = origin.iteration[0]
for name in ("total", "squares", "n"):
    print(f"{name:8} before iteration {at}: {nan.value(name, iteration=at)}")
print("difference:", nan.value("scan/sub", iteration=at))

# %% jupyter={"source_hidden": true} tags=["check"]
assert nan.value("scan/sub", iteration=at) < 0

# %% [markdown]
# ## 3. A sampler that leaves
#
# Seven of ten tosses were heads. What is the probability `p` of heads? A **Metropolis sampler** walks at random
# through all values of `p` and stays longer where they explain the tosses better: a proposal that is worse than the
# present `p` is rejected at random, and more often if it is much worse. `level` is the logarithm of the density at
# the present `p`.


# %% tags=["definitions"]
def log_density(p):
    return 7.0 * jnp.log(p) + 3.0 * jnp.log(1.0 - p)


def sample(key, start, width):
    def step(state, key):
        p, level = state
        move, coin = jax.random.split(key)
        proposal = p + width * jax.random.normal(move)
        proposed = log_density(proposal)
        rejected = jnp.log(jax.random.uniform(coin)) > proposed - level
        new = jnp.where(rejected, p, proposal), jnp.where(rejected, level, proposed)
        return new, new[0]

    return lax.scan(step, (start, log_density(start)), jax.random.split(key, 100))[1]


# %%
key = jax.random.key(1)
graph = wb.from_jax(sample, key, 0.5, 0.2)
walk = wb.Session(graph, graph.feeds(key, 0.5, 0.2))
walk.run()
samples = walk.outputs["result"]
print("all finite:", np.isfinite(samples).all(), "| from", samples.min().round(2), "to", samples.max().round(2))

# %% jupyter={"source_hidden": true} tags=["check"]
assert np.isfinite(samples).all() and (samples.max() > 1 or samples.min() < 0)

# %% [markdown]
# No NaN in the result, and yet these are not probabilities. Every value of the loop is recorded, including those that
# the function does not return:

# %%
origin = wb.nan_origin(walk)
left = origin.iteration[0]
print("cause:", origin.why)
print("iteration:", left, "| line:", origin.source.expression)
print("p before:", walk.value("p", iteration=left).round(3), "| p after:", walk.value("p", iteration=left + 1).round(3))

# %% jupyter={"source_hidden": true} tags=["check"]
assert not 0 < walk.value("p", iteration=left + 1) < 1
assert np.isnan(walk.trace["level"].values[left + 1]) and not np.isnan(walk.trace["level"].values[left + 2 :]).all()
assert (np.diff(walk.trace["p"].values)[np.isnan(walk.trace["level"].values[:-1])] != 0).all()

# %% tags=["nbval-ignore-output"]
EvolutionView(walk, ["p", "level"])

# %% [markdown]
# The proposal is not between 0 and 1, so a logarithm is NaN. A comparison with NaN is false: the proposal is *not
# rejected*. While `level` is NaN no comparison is true, and the walk accepts every proposal, until one of them is
# between 0 and 1 again: then `level` is a number, as the picture shows, and the walk goes on as if all were well.
# Written the other way round, `accepted = jnp.log(u) < proposed - level`, the same NaN would be harmless.
#
# Random numbers are no obstacle to going back: a key is a value like any other, so that an iteration gives the same
# numbers whenever it is run.

# %%
walk.restart()
walk.run_to("p", iteration=left + 1)
walk.step()
print("again:", walk.value("p", iteration=left + 1).round(3))

# %% [markdown]
# ## 4. What JAX does not report
#
# An index out of range is not an error in JAX. A read is moved to the nearest element, and a write is left out.


# %%
def smooth(values):
    return lax.fori_loop(0, values.shape[0], lambda i, v: v.at[i].set((v[i] + v[i + 1]) / 2), values)


graph = wb.from_jax(smooth, jnp.arange(6.0))
with wb.Session(graph, graph.feeds(jnp.arange(6.0))) as moved:
    moved.run()
    faults = wb.index_faults(moved)
for fault in faults:
    print(f"iteration {fault.iteration[0]}: index {fault.index}, allowed 0 to {fault.limit}; {fault.otherwise}")

# %% jupyter={"source_hidden": true} tags=["check"]
assert [(f.iteration, f.index, f.limit) for f in faults] == [((5,), 6, 5)]

# %% [markdown]
# In iteration 5 the read of element 6 gives element 5, so the last element is averaged with itself.
#
# ## 5. In the panel
#
# A function and its arguments are enough. **Iteration** goes on to the next iteration, **Step** to the next node.

# %% tags=["nbval-ignore-output"]
panel = wb.debug(fit, (start, 0.5, 1e-5))
panel

# %% [markdown]
# ## 6. Exercises
#
# **15.1** With which of the tolerances 1e-5, 1e-6, 1e-7 and 1e-8 does `fit` not end? Ask for a proof of each, and give
# a list.

# %%
endless = ...
course.check_answer("15.1", endless)

# %% [markdown]
# **15.2** `course.weighings()` are other readings for `spread`. In which iteration is the first NaN made?

# %%
readings = course.weighings()
iteration = ...
course.check_answer("15.2", iteration)

# %% [markdown]
# **15.3** With `key = jax.random.key(5)`, in which iteration does the sampler compute its first NaN?

# %%
lost = ...
course.check_answer("15.3", lost)

# %% [markdown]
# **15.4** Write a `step` for `spread` whose deviation is never NaN: carry `(mean, squares, n)`, where `squares` is the
# sum of the squared distances from the mean so far (Welford's method). It gets a carry and a reading, and returns the
# new carry and the deviation. It starts with three zeros.


# %%
def step(carry, reading):
    mean, squares, n = carry
    return ...


course.check_answer("15.4", step)

# %% [markdown]
# ## What you have seen
#
# - A function of JAX becomes a graph with its names, its lines, and every iteration.
# - float32 puts a floor under every tolerance. A loop that waits for less does not end, and that can be proved.
# - A result without NaN proves nothing: a NaN that a comparison has swallowed is in the record only.
# - Indices that were moved are listed, and the health card of the panel names the first.
#
# Your own: `wb.debug(function, (arguments,))`. So far each run had one set of inputs. The next notebook runs a loop
# from thousands of starts: [16 A thousand loops](16_a_thousand_loops.ipynb).

# %%
for each in (session, nan, walk):
    each.close()
course.score("15")
