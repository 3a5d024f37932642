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
# # Decoding, token by token
#
# [◂ 19 A looped transformer](19_looped_transformer.ipynb) · [the course](README.md) ·
# [A1 Shapes and types ▸](A1_shapes_and_types.ipynb)
#
# A language model writes a text in a loop. It reads the tokens so far, chooses the next token, appends it, and begins
# again. This is called **decoding**.
#
# Decoding is slow, so people speed it up. A cache avoids repeated work, speculation guesses several tokens at once, and
# quantised weights need less memory. Caches and speculation must not change the text at all. If one of them does, you
# see a wrong word somewhere, long after the mistake.
#
# `wb.record_decoding` keeps the result of every operation for every token. `wb.diff` compares two such recordings. It
# names the first token, and the first operation, at which they differ.
#
# **After this notebook you can**
#
# 1. compare a run that uses a cache with one that does not, in spite of rounding;
# 2. find the layer, the operation and the line of a mistake in a cache;
# 3. say from which token on a text repeats itself, and with which period;
# 4. compare a speculative run with a greedy one, and a quantised model with the original.
#
# It takes about 50 minutes with the exercises. You need PyTorch and transformers: `pip install torch transformers`.
# Read [12](12_two_runs.ipynb) first.

# %% tags=["definitions"]
import copy

import course
import torch
from transformers import DynamicCache, LlamaConfig, LlamaForCausalLM

import workbench as wb

# %% [markdown]
# ## 1. With and without a cache
#
# We use a small model with random weights. It writes nonsense, but it runs the same operations as a large one. Its
# vocabulary has 64 tokens, so a token is a number from 0 to 63.
#
# For each token, the attention of a layer needs the keys and values of all earlier tokens. A **cache** keeps them.
# Without a cache, each call of the model computes them again. We record one run of each kind:


# %% tags=["definitions"]
def made(seed):
    torch.manual_seed(seed)
    sizes = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}
    ends = {"bos_token_id": None, "eos_token_id": None}
    return LlamaForCausalLM(LlamaConfig(vocab_size=64, initializer_range=0.3, **sizes, **ends)).eval()


# %%
threads = torch.get_num_threads()
torch.set_num_threads(1)  # the matrices are small
model, prompt = made(0), torch.tensor([[3, 4, 5, 6, 7]])
whole = wb.record_decoding(model, prompt, max_new_tokens=8, do_sample=False, use_cache=False)
cached = wb.record_decoding(model, prompt, max_new_tokens=8, do_sample=False)
print("positions of each call, without a cache:", [call.positions for call in whole.calls])
print("and with one:", [call.positions for call in cached.calls])
print(cached)

# %% jupyter={"source_hidden": true} tags=["check"]
assert [call.positions for call in whole.calls] == list(range(5, 13))
assert [call.positions for call in cached.calls] == [5] + [1] * 7

# %% [markdown]
# Look at the two lists. Without a cache, each call computes one more position than the call before. With a cache, the
# first call computes the five tokens of the prompt, and every later call only one.
#
# So the calls of the two runs do not match, and neither do the shapes of their arrays. The tokens do. `wb.diff`
# therefore compares token by token: what did each operation give for token 7, in whichever call it was computed?

# %%
found = wb.diff(whole, cached)
print(found)
print("equal:", found.equal)

# %% jupyter={"source_hidden": true} tags=["check"]
assert found.equal and found.compared > 1000

# %% [markdown]
# The two runs agree except for rounding. Their last digits do differ, because a matrix product of one row is computed
# in another order than one of ten rows.
#
# How can `wb.diff` know that this is rounding? While it records, it computes every operation a second time, in float64.
# Rounding all but vanishes there. A difference that remains is a different computation.
#
# ## 2. A mistake in a cache
#
# People often write caches of their own, for example to limit the memory or to share it. The following cache stores
# keys and values in blocks of eight rows. It contains a mistake. Can you spot it before the comparison does?
#
# The function `greedy` is a decoding loop of our own. It always takes the most likely token. We pass it to
# `record_decoding` as `generate=`.


# %% tags=["definitions"]
class Blocks:
    """Keys, or values, in blocks of eight rows."""

    def __init__(self):
        self.blocks = []

    def put(self, new):
        if not self.blocks:
            self.blocks.append(new)
        elif self.blocks[-1].shape[2] < 8:
            self.blocks[-1] = torch.cat([self.blocks[-1], new], 2)
        else:
            self.blocks.append(new[:, :, :0])
        return torch.cat(self.blocks, 2)


def greedy(model, tokens, blocks=None, steps=8):
    cache, given = DynamicCache(config=model.config), tokens
    if blocks is not None:
        keys, values = Blocks(), Blocks()
        cache.layers[blocks].update = lambda k, v, *more, **named: (keys.put(k), values.put(v))
    for _ in range(steps):
        logits = model(given, cache=cache, use_cache=True).logits
        given = logits[:, -1:].argmax(-1)
        tokens = torch.cat([tokens, given], 1)
    return tokens


# %%
right = wb.record_decoding(model, prompt, generate=greedy)
wrong = wb.record_decoding(model, prompt, generate=greedy, blocks=1)
found = wb.diff(right, wrong)
first = found.first
print("token:", first.position, "| layer:", first.module, "| op:", first.other.op)
print("line:", first.source.expression)

# %% jupyter={"source_hidden": true} tags=["check"]
assert (first.position, first.module, first.other.op) == (8, "model.layers.1.self_attn", "cat")
assert first.source.expression == "return torch.cat(self.blocks, 2)"

# %% [markdown]
# Token 8 is the first one with different keys (we count from 0, so it is the ninth). The reason: eight rows fill the
# first block. For the ninth row, `put` opens a new block, but `new[:, :, :0]` leaves it empty. The row is lost.
#
# The report gives the numbers of keys:

# %% tags=["nbval-ignore-output"]
print(found)

# %% jupyter={"source_hidden": true} tags=["check"]
assert "a has 9 keys there and b has 8" in str(found)

# %% [markdown]
# In the picture, each row is a module, in the order of execution from top to bottom. Each column is a token. Grey cells
# are equal or differ by rounding only.
#
# Find the first orange cell: the top row of the first orange column. Everything below it and to the right of it can
# inherit the difference. This is why you cannot find the cause in the last layer or in the text.

# %% tags=["nbval-ignore-output"]
found.figure()

# %% [markdown]
# ## 3. A text that repeats itself
#
# Small models often write the same words again and again, and so do large ones at a low temperature. Let us find such
# a repetition. We treat the generated tokens like the values of a loop variable. A sequence that repeats has a
# **period**:

# %%
model = made(33)
run = wb.record_decoding(model, prompt, max_new_tokens=40, do_sample=False)
print(*run.generated())
print(run.repeats)
again = run.states().repetition()
print("period", again.period, "since generated token", again.since)

# %% jupyter={"source_hidden": true} tags=["check"]
assert (run.generated()[again.since - 1 + again.period :] == run.generated()[again.since - 1 : -again.period]).all()

# %% [markdown]
# This is an observation, not a proof. Only a loop whose whole state comes back must repeat forever. Here the cache is
# part of the state, and it grows with each token, so the model is never in the same state twice.
#
# How fast does the cache grow, and for how many tokens is there room?

# %%
growth, largest = run.cache_growth
print(f"{growth} bytes a token, {largest:,} bytes in all, room for {run.bound:,} tokens")

# %% jupyter={"source_hidden": true} tags=["check"]
assert growth == 2 * 2 * 16 * 4 and largest == growth * (5 + 39)  # keys and values, layers, width, bytes of float32

# %% [markdown]
# ## 4. Speculation
#
# **Speculative decoding** guesses several tokens at once. The model then checks all guesses in a single call, and the
# loop keeps those that the model would have chosen itself. The text must therefore be the same as that of greedy
# decoding.
#
# There is one trap. The call that checks the guesses also stores their keys in the cache. The keys of wrong guesses
# must be removed. The argument `forget` below says whether that is done:


# %% tags=["definitions"]
def guessing(model, tokens, forget, steps=8):
    cache, known, end = DynamicCache(config=model.config), 0, tokens.shape[1] + steps
    while tokens.shape[1] < end:
        guesses = torch.cat([(tokens[:, -1:] + k) % 64 for k in (1, 2, 3)], 1)
        given = torch.cat([tokens, guesses], 1)[:, known:]
        places = torch.arange(known, known + given.shape[1])[None]
        best = model(given, cache=cache, position_ids=places, use_cache=True).logits[:, -4:].argmax(-1)
        accepted = int((best[:, :-1] == guesses).long().cumprod(1).sum())
        tokens = torch.cat([tokens, best[:, : accepted + 1]], 1)
        known = tokens.shape[1] - 1
        if forget and accepted < 3:
            cache.crop(accepted - 3)
    return tokens[:, :end]


# %%
model = made(0)
good = wb.record_decoding(model, prompt, generate=guessing, forget=True)
stale = wb.record_decoding(model, prompt, generate=guessing, forget=False)
print("positions of each call:", [call.positions for call in good.calls])
print("greedy and speculative are equal:", wb.diff(right, good).equal)
first = wb.diff(right, stale).first
print("with the keys of wrong guesses: token", first.position, "|", first.module, "|", first.other.op)

# %% jupyter={"source_hidden": true} tags=["check"]
assert wb.diff(right, good).equal and (first.position, first.other.op) == (5, "cat")

# %% [markdown]
# ## 5. A quantised model
#
# **Quantising** a model means storing its weights in fewer bits, here in four. The weights are then different numbers,
# and all results differ from the first token on. That is expected, so we ask other questions. From which token on does
# the *text* differ? And which layer is responsible?


# %% tags=["definitions"]
def rounded(model, bits=4):
    """A copy whose linear layers have weights of so many bits, with a scale for each row."""
    model = copy.deepcopy(model)
    for module in model.modules():
        if isinstance(module, torch.nn.Linear):
            scale = module.weight.detach().abs().amax(1, keepdim=True) / (2 ** (bits - 1) - 1)
            module.weight.data = (module.weight.detach() / scale).round() * scale
    return model


# %%
model = made(3)
small = rounded(model)
full = wb.record_decoding(model, prompt, max_new_tokens=8, do_sample=False)
less = wb.record_decoding(small, prompt, max_new_tokens=8, do_sample=False)
found = wb.diff(full, less)
print("first other number: token", found.first.position, "in", found.first.module)
print("first other token:", found.choice.position, "|", found.choice.a, "became", found.choice.b)

# %% jupyter={"source_hidden": true} tags=["check"]
assert found.first.position == 0 and found.first.module == "model.layers.0.self_attn.q_proj"

# %% [markdown]
# `ranking()` finds the responsible layer by trial. It starts from the original model and replaces one layer at a time
# by its quantised version. Then it looks at the token at which the texts differ. There, two tokens compete: the one
# that the original model chose, and the one that the quantised model chose. The **lead** is the difference of their
# logits.
#
# The layer that changes the lead most comes first. If you can afford more bits for one layer, choose that one.

# %% tags=["nbval-ignore-output"]
ranking = found.ranking()
print(ranking)

# %% jupyter={"source_hidden": true} tags=["check"]
assert ranking.lead_a > 0 > ranking.lead_b and len(ranking) == 15

# %% [markdown]
# Let us check the first row by hand. Copy the original model, put the quantised layer into the copy, and let it read
# the tokens that both texts share:

# %%
worst, by_hand = ranking.rows[0], copy.deepcopy(model)
by_hand.set_submodule(worst.module, small.get_submodule(worst.module))
known = torch.tensor(full.tokens[0][: found.choice.position])[None]
with torch.no_grad():
    logits = by_hand(known).logits[0, -1]
lead = float(logits[found.choice.a] - logits[found.choice.b])
print(f"by hand {lead:.4f}, in the ranking {worst.lead:.4f}")

# %% jupyter={"source_hidden": true} tags=["check"]
assert abs(lead - worst.lead) < 1e-5

# %% [markdown]
# ## 6. Exercises
#
# **20.1** `course.decoded("first")` is a run that repeats itself. What is the period, in tokens?

# %%
run = course.decoded("first")
period = ...
course.check_answer("20.1", period)

# %% [markdown]
# **20.2** `course.decoded("second")` is a pair of runs. The second one contains a mistake. Which is the first token
# that differs, and in which module?

# %%
right, wrong = course.decoded("second")
token, module = ..., ...
course.check_answer("20.2", token, module)

# %% [markdown]
# **20.3** The two texts of `course.decoded("third")` differ as well. What differs in the two runs: the `"model"`, or
# the `"choice"` of the tokens?

# %%
one, other = course.decoded("third")
answer = ...
course.check_answer("20.3", answer)

# %% [markdown]
# ## What you have seen
#
# - Two decoding runs are compared token by token, because their calls need not match.
# - A mistake is where the first token and the first operation differ. The text shows it later, or never.
# - A text that repeats itself has a period. But the cache grows, so the repetition is not proved to last.
# - A quantised model differs everywhere. Ask from which token on the text differs, and which layer is responsible.
#
# With your own model: `wb.record_decoding(model, prompt, max_new_tokens=20)`. The
# [guide to decoding](../workbench/docs/howto/decoding.md) covers all of it. The course ends here. Two appendices look
# beneath the surface: [A1 Shapes and types](A1_shapes_and_types.ipynb).

# %%
torch.set_num_threads(threads)
course.score("20")
