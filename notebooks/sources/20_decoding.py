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
# A language model writes a text in a loop: it reads the tokens so far, chooses the next one, and begins again. A cache
# saves work, speculation guesses tokens, quantised weights save memory, and none of them is to change the text. When
# one does, the first wrong token is late and its cause is deep in a layer. `wb.record_decoding` keeps what every op of
# the model gave for each token, and `wb.diff` of two such runs names the first token, and the first op of it, at which
# they part.
#
# **After this notebook you can**
#
# 1. compare a run with a cache with one without, beyond rounding;
# 2. find the layer, the op and the line of a fault of a cache;
# 3. say since when a text repeats itself, and how often;
# 4. compare a speculative run with a greedy one, and a quantised model with the model itself.
#
# It takes about 50 minutes with the exercises. It needs PyTorch and transformers: `pip install torch transformers`.
# Read [12](12_two_runs.ipynb) before.

# %% tags=["definitions"]
import copy

import course
import torch
from transformers import DynamicCache, LlamaConfig, LlamaForCausalLM

import workbench as wb

# %% [markdown]
# ## 1. With and without a cache
#
# A small model with random weights will do: it writes nonsense, but it has the ops of a large one. Tokens are numbers
# below 64.


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
# Without a cache each call computes all positions anew, with one only the new position. So the two runs have other
# calls and other shapes. They are compared by the token: what did each op give for token 7, whichever call computed it?

# %%
found = wb.diff(whole, cached)
print(found)
print("equal:", found.equal)

# %% jupyter={"source_hidden": true} tags=["check"]
assert found.equal and found.compared > 1000

# %% [markdown]
# "But for rounding": a product of one row is rounded otherwise than one of ten rows, so the two runs differ in the last
# digits. Every op is computed once more in float64 beside the run; what remains there is another computation, not
# rounding.
#
# ## 2. A fault of a cache
#
# Caches are rewritten often: to have a fixed size, to be shared, to drop old tokens. This one keeps the rows of a layer
# in blocks of eight. It has a fault. The loop is our own, with `generate=`; it returns all tokens.


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
# Token 8 is the first one for which the two runs have other keys. Eight rows fill the first block; the next call opens
# a block and leaves it empty, so the ninth row is lost. The sentences say it by the number of keys:

# %% tags=["nbval-ignore-output"]
print(found)

# %% jupyter={"source_hidden": true} tags=["check"]
assert "a has 9 keys there and b has 8" in str(found)

# %% [markdown]
# As a picture: modules in the order of execution from above, tokens from the left. Pale is rounding. Below and to the
# right of the first difference everything inherits it; that is why neither the last layer nor the text shows the cause.

# %% tags=["nbval-ignore-output"]
found.figure()

# %% [markdown]
# ## 3. A text that repeats itself
#
# Small models, and large ones at low temperature, end in a loop of the same words. The tokens of a run are the states
# of a loop, and a state that comes back is a recurrence, with a period:

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
# That is what was seen, not a proof: the cache grows with each token, so the model is never in the same state again. A
# cache is a list that grows, and it has a bound:

# %%
growth, largest = run.cache_growth
print(f"{growth} bytes a token, {largest:,} bytes in all, room for {run.bound:,} tokens")

# %% jupyter={"source_hidden": true} tags=["check"]
assert growth == 2 * 2 * 16 * 4 and largest == growth * (5 + 39)  # keys and values, layers, width, bytes of float32

# %% [markdown]
# ## 4. Speculation
#
# A speculative run guesses some tokens, lets the model check all of them in one call, and keeps those that the model
# would have chosen. The text must be that of the greedy run. The keys of the wrong guesses must be forgotten.


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
# Weights of four bits are other numbers, so that everything differs from the first token on. The questions are others:
# when does the *text* part, and which layer does it?


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
# `ranking()` takes the model in float32 and exchanges one layer at a time for that of the quantised model. At the token
# where the texts part it reads how far one token leads over the other. The layer that moves that lead most is the one
# to keep in more bits.

# %% tags=["nbval-ignore-output"]
ranking = found.ranking()
print(ranking)

# %% jupyter={"source_hidden": true} tags=["check"]
assert ranking.lead_a > 0 > ranking.lead_b and len(ranking) == 15

# %% [markdown]
# The first row by hand: put that layer into a copy of the model, and let it read the tokens that both texts share.

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
# **20.2** `course.decoded("second")` is a pair of runs, the second with a fault. Which token is the first one that
# differs, and in which module?

# %%
right, wrong = course.decoded("second")
token, module = ..., ...
course.check_answer("20.2", token, module)

# %% [markdown]
# **20.3** In `course.decoded("third")` the texts part too. Is the `"model"` another one, or the `"choice"` of tokens?

# %%
one, other = course.decoded("third")
answer = ...
course.check_answer("20.3", answer)

# %% [markdown]
# ## What you have seen
#
# - Runs are compared by the token, not by the call: a cache and a guess may not change what a token's ops give.
# - The first token and op that differ are where the fault is; the text shows it later, or never.
# - Repeated tokens are a recurrence with a period. A cache grows and has a bound.
# - A quantised model differs everywhere: ask for the token at which the text parts, and for the layer that does it.
#
# Your own: `wb.record_decoding(model, prompt, max_new_tokens=20)`, and
# [a page](../workbench/docs/howto/decoding.md) with all of it. The course ends here. What is underneath:
# [A1 Shapes and types](A1_shapes_and_types.ipynb).

# %%
torch.set_num_threads(threads)
course.score("20")
