"""The counter-based random generator Philox 4x32-10, and the stream of one firing of one node.

A stream is a key and a counter; block i is a function of these two alone, so any replay of a firing draws the same
numbers. A node with seeds has the stream of TensorFlow for the first run of an op with these seeds; later iterations of
a loop begin at another position in that stream, determined by the iteration path. A node without seeds has a separate
stream, determined by its name and the path. Source: J. Salmon et al., Parallel random numbers: as easy as 1, 2, 3
(2011), https://doi.org/10.1145/2063384.2063405; https://www.tensorflow.org/api_docs/python/tf/random/set_seed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.ops.random.other_draws import variant

ROUNDS = 10
#: number of blocks computed at once, so that intermediate results stay in the cache
PIECE = 1 << 13
_MULTIPLIERS = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
_WEYL = (0x9E3779B9, 0xBB67AE85)
_LOW, _WORD = np.uint64(0xFFFFFFFF), np.uint64(32)
_MASK32, _MASK64 = (1 << 32) - 1, (1 << 64) - 1
#: TensorFlow mixes the seeds of its stateless ops in one block with this key
_STATELESS_KEY = 0x3EC8F720 | 0x02461E29 << 32


def philox(counter: np.ndarray, key: int) -> np.ndarray:
    """Random words, uint32 (..., 4), of 128-bit counters given as four words each, the lowest first; 64-bit key."""
    c0, c1, c2, c3 = (counter[..., i].astype(np.uint64) for i in range(4))
    k0, k1 = key & _MASK32, key >> 32 & _MASK32
    for _ in range(ROUNDS):
        p0, p1 = c0 * _MULTIPLIERS[0], c2 * _MULTIPLIERS[1]
        c0, c2 = (p1 >> _WORD) ^ c1 ^ np.uint64(k0), (p0 >> _WORD) ^ c3 ^ np.uint64(k1)
        c1, c3 = p1 & _LOW, p0 & _LOW
        k0, k1 = (k0 + _WEYL[0]) & _MASK32, (k1 + _WEYL[1]) & _MASK32
    return np.stack([c0, c1, c2, c3], axis=-1).astype(np.uint32)


@dataclass(frozen=True, slots=True)
class Stream:
    """``key``, the upper half of the counter, and the start of the stream in its lower half; 64 bits each."""

    key: int
    upper: int
    start: int = 0

    def blocks(self, at: np.ndarray) -> np.ndarray:
        """The blocks with indices ``at`` (uint64, one axis): four words each, in a new last axis."""
        out = np.empty((len(at), 4), np.uint32)
        for first in range(0, len(at), PIECE):
            low = at[first : first + PIECE] + np.uint64(self.start)  # wraps around
            upper = np.full(low.shape, self.upper, np.uint64)
            counter = np.stack([low & _LOW, low >> _WORD, upper & _LOW, upper >> _WORD], axis=-1)
            out[first : first + PIECE] = philox(counter, self.key)
        return out


def _hash(*parts: Any) -> int:
    return int.from_bytes(hashlib.blake2b(repr(parts).encode(), digest_size=16).digest(), "little")


def stream_of(attrs: Mapping[str, Any]) -> Stream:
    """The stream of a firing, from the attrs ``seed``, ``seed2`` and the tag that the executor adds."""
    seeds = int(attrs.get("seed", 0)) & _MASK64, int(attrs.get("seed2", 0)) & _MASK64
    node, path = attrs.get("_tag", ("", ()))
    path = tuple(int(i) for i in path)
    if variant():
        both = _hash("other", variant(), seeds, str(node), path)
        return Stream(both & _MASK64, both >> 64)
    if seeds == (0, 0):
        both = _hash("no seed", str(node), path)
        return Stream(both & _MASK64, both >> 64)
    return Stream(*seeds, _hash("path", path) & _MASK64 if any(path) else 0)


def stateless_stream(seed: np.ndarray) -> Stream:
    """The stream of an op whose two seeds are data."""
    first, second = (int(s) & _MASK64 for s in seed.reshape(-1))
    [words] = Stream(_STATELESS_KEY, second, first).blocks(np.zeros(1, np.uint64)).tolist()
    return Stream(words[0] | words[1] << 32, words[2] | words[3] << 32)


def uniform(words: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Numbers in [0, 1) from random words: the mantissa of a float in [1, 2), less 1; float64 takes two words each."""
    if dtype == np.float64:
        high, low = (words[..., i::2].astype(np.uint64) for i in (0, 1))
        bits = (high & np.uint64(0xFFFFF)) << _WORD | low | np.uint64(0x3FF0000000000000)
        return bits.view(np.float64) - 1.0
    if dtype == np.float32:
        return (words & np.uint32(0x7FFFFF) | np.uint32(0x3F800000)).view(np.float32) - np.float32(1)
    mantissa, one = (0x3FF, 0x3C00) if dtype == np.float16 else (0x7F, 0x3F80)
    return (words & np.uint32(mantissa) | np.uint32(one)).astype(np.uint16).view(dtype) - dtype.type(1)


def normal(words: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Standard normal numbers, float64 or float32, by the method of Box and Muller: pairs from pairs of uniforms.

    Source: https://en.wikipedia.org/wiki/Box-Muller_transform.
    """
    u = uniform(words, dtype)
    radius = np.sqrt(dtype.type(-2) * np.log(np.maximum(u[..., 0::2], dtype.type(1e-7))))
    angle = dtype.type(2 * np.pi) * u[..., 1::2]
    return np.stack([np.sin(angle) * radius, np.cos(angle) * radius], axis=-1).reshape(u.shape)
