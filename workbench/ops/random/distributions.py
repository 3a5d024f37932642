"""Random draws with distributions given as data: gamma, Poisson, categorical, and random permutations.

Each sample of gamma and Poisson has its own part of the firing's stream (see ``philox``), so that it does not depend on
the number of words its neighbours used; all samples are tried at once, and rejected ones again.
"""

from __future__ import annotations

import numpy as np

from workbench.ir.types import TensorType, numpy_dtype
from workbench.ops.define import define
from workbench.ops.random.draws import RESERVED, SEEDS, TF, drawn_shape
from workbench.ops.random.philox import Stream, normal, stream_of, uniform
from workbench.ops.rules import WRONG_ATTR, RuleError, attr_dtype, need_kinds, need_numbers, need_rank

FAMILY = "random"
_DOUBLE = np.dtype(np.float64)


class _Samples:
    """Draws of float64 for many samples. Draws come in pairs, of which each sample uses the second first."""

    def __init__(self, stream: Stream, count: int) -> None:
        self.stream = stream
        self.next = np.arange(count, dtype=np.uint64) * np.uint64(RESERVED)
        self.left = {make: np.zeros(count, bool) for make in (uniform, normal)}
        self.kept = {make: np.zeros(count) for make in (uniform, normal)}

    def draw(self, make, who: np.ndarray) -> np.ndarray:
        """One number for each of the samples with indices ``who``."""
        left, kept = self.left[make], self.kept[make]
        out = kept[who].copy()
        fresh = who[~left[who]]
        pairs = make(self.stream.blocks(self.next[fresh]), _DOUBLE)
        self.next[fresh] += np.uint64(1)
        out[~left[who]], kept[fresh] = pairs[:, 1], pairs[:, 0]
        left[who] = ~left[who]
        return out


def _gamma(stream: Stream, alpha: np.ndarray) -> np.ndarray:
    """One sample for each shape parameter, by squeeze and rejection.

    Source: G. Marsaglia, W. Tsang, A simple method for generating gamma variables (2000),
    https://doi.org/10.1145/358407.358414.
    """
    samples, out = _Samples(stream, alpha.size), np.full(alpha.size, np.nan)
    one = np.flatnonzero(alpha == 1)  # the exponential distribution, by its quantile function
    out[one] = -np.log1p(-samples.draw(uniform, one))
    small = alpha < 1
    d = alpha + np.where(small, 2 / 3, -1 / 3)
    c = 1 / 3 / np.sqrt(d)
    open_ = np.flatnonzero((alpha > 0) & (alpha != 1))
    while open_.size:
        x = samples.draw(normal, open_)
        v = (1 + c[open_] * x) ** 3
        x, v, who = x[v > 0], v[v > 0], open_[v > 0]
        u, dw = samples.draw(uniform, who), d[who]
        taken = (u < 1 - 0.0331 * x**4) | (np.log(u) < 0.5 * x * x + dw * (1 - v + np.log(v)))
        done = who[taken]
        out[done] = dw[taken] * v[taken]
        less = done[small[done]]  # gamma(a) is gamma(a + 1) times a uniform to the power 1 / a
        out[less] *= samples.draw(uniform, less) ** (1 / alpha[less])
        open_ = np.setdiff1d(open_, done, assume_unique=True)
    return out


def _poisson(stream: Stream, rate: np.ndarray) -> np.ndarray:
    """One sample for each rate: products of uniforms below 10, transformed rejection from 10 on.

    Source: D. Knuth, The Art of Computer Programming, vol. 2, 3.4.1; W. Hoermann, The transformed rejection method for
    generating Poisson random variables (1993), https://doi.org/10.1016/0167-6687(93)90997-4.
    """
    from scipy import special  # a large import, and few graphs need it

    samples, out = _Samples(stream, rate.size), np.full(rate.size, np.nan)
    open_ = np.flatnonzero((rate >= 0) & (rate < 10))
    product, events = np.ones(rate.size), np.zeros(rate.size)
    while open_.size:
        product[open_] *= samples.draw(uniform, open_)
        below = product[open_] <= np.exp(-rate[open_])
        out[open_[below]] = events[open_[below]]
        open_ = open_[~below]
        events[open_] += 1
    out[np.isposinf(rate)] = np.inf
    open_ = np.flatnonzero((rate >= 10) & np.isfinite(rate))
    b = 0.931 + 2.53 * np.sqrt(rate)
    a, inverse = -0.059 + 0.02483 * b, 1.1239 + 1.1328 / (b - 3.4)
    while open_.size:
        u, v = samples.draw(uniform, open_) - 0.5, samples.draw(uniform, open_)
        ao, bo, lam = a[open_], b[open_], rate[open_]
        edge = 0.5 - np.abs(u)
        k = np.floor((2 * ao / edge + bo) * u + lam + 0.43)
        inside = (edge >= 0.07) & (v <= 0.9277 - 3.6224 / (bo - 2))
        outside = (k < 0) | ((edge < 0.013) & (v > edge))
        chance = np.log(v * inverse[open_] / (ao / (edge * edge) + bo))
        taken = inside | (~outside & (chance <= k * np.log(lam) - lam - special.gammaln(k + 1)))
        out[open_[taken]] = k[taken]
        open_ = open_[~taken]
    return out


def _sampled(name: str, what: str, sample, doc: str, dtype_attr: bool) -> None:
    def infer(types, attrs, values):
        shape, parameter = types
        need_kinds(parameter, "iuf" if dtype_attr else "f", what, "real numbers")
        dims = drawn_shape(types, values)
        dtype = attr_dtype({"dtype": "float32", **attrs}) if dtype_attr else parameter.dtype
        return TensorType(dtype, None if dims is None or parameter.shape is None else (*dims, *parameter.shape))

    def evaluate(arrays, attrs):
        shape, parameter = tuple(int(n) for n in arrays[0].reshape(-1)), arrays[1]
        count = int(np.prod(shape, dtype=np.int64))
        each = np.repeat(parameter.reshape(-1).astype(np.float64), count)  # grouped by parameter
        drawn = sample(stream_of(attrs), each).reshape(parameter.size, count).T.reshape(*shape, *parameter.shape)
        dtype = numpy_dtype(attr_dtype({"dtype": "float32", **attrs})) if dtype_attr else parameter.dtype
        return drawn.astype(dtype)

    attrs = {"dtype": "float32", **SEEDS} if dtype_attr else SEEDS
    define(
        name,
        f"shape {what}",
        infer,
        evaluate,
        doc,
        FAMILY,
        attrs=attrs,
        pure=False,
        draws=True,
        source=f"{TF}{name.removeprefix('random_')}",
    )


_sampled(
    "random_gamma",
    "alpha",
    _gamma,
    "`shape` samples of the gamma distribution of scale 1 for each shape parameter in alpha.",
    False,
)
_sampled(
    "random_poisson", "rate", _poisson, "`shape` samples of the Poisson distribution for each rate; nan below 0.", True
)


def _categorical_type(types, attrs, values):
    logits, count = types
    need_kinds(logits, "biuf", "logits", "real numbers")
    need_rank(logits, 2, "logits")
    need_kinds(count, "iu", "num_samples", "an integer")
    need_rank(count, 0, "num_samples")
    rows = None if logits.shape is None else logits.shape[0]
    size = None if values[1] is None else int(values[1])
    if size is not None and size < 0:
        raise RuleError(WRONG_ATTR, f"cannot draw {size} samples.", "Give a number from 0 on.")
    return TensorType(attr_dtype({"dtype": "int64", **attrs}), (rows, size))


def _categorical(arrays, attrs):
    logits, count = arrays[0].astype(np.float64), int(arrays[1])
    dtype = numpy_dtype(attrs.get("dtype", "int64"))
    if 0 in (logits.shape[0], count):
        return np.zeros((logits.shape[0], count), dtype)
    if not logits.shape[1]:
        raise RuleError(WRONG_ATTR, "cannot draw from no classes.", "Give logits with one column or more.")
    there = np.isfinite(logits)
    top = np.max(logits, axis=1, keepdims=True, where=there, initial=np.finfo(np.float64).min)
    below = np.cumsum(np.where(there, np.exp(np.where(there, logits - top, 0)), 0), axis=1)
    blocks = np.arange(-(-count * len(logits) // 2), dtype=np.uint64)
    u = uniform(stream_of(attrs).blocks(blocks), _DOUBLE).reshape(-1)[: count * len(logits)].reshape(-1, count)
    found = [np.searchsorted(row, p * row[-1], side="right") for row, p in zip(below, u, strict=True)]
    return np.stack(found).astype(dtype)


def _shuffle_type(types, attrs, values):
    if types[0].dtype != "string":
        need_numbers(types)
    return types[0]


def _shuffle(arrays, attrs):
    x = arrays[0]
    size = x.shape[0] if x.ndim else 1
    if size < 2:
        return x
    words = stream_of(attrs).blocks(np.arange(-(-size // 4), dtype=np.uint64)).reshape(-1)
    order = list(range(size))
    for i, word in enumerate(words[: size - 1].tolist()):  # each position gets one of the elements not yet placed
        other = i + word % (size - i)
        order[i], order[other] = order[other], order[i]
    return x[np.array(order)]


define(
    "random_categorical",
    "logits num_samples",
    _categorical_type,
    _categorical,
    "Classes for each row of logits (unscaled logarithms of probabilities), num_samples of them.",
    FAMILY,
    attrs={"dtype": "int64", **SEEDS},
    pure=False,
    draws=True,
    source=f"{TF}categorical",
)
define(
    "random_shuffle",
    "x",
    _shuffle_type,
    _shuffle,
    "x with its first axis in random order.",
    FAMILY,
    attrs=SEEDS,
    pure=False,
    draws=True,
    source=f"{TF}shuffle",
)
