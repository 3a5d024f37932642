"""Hash functions of strings, by which TensorFlow assigns words to buckets: each is the same on every machine and in
every version.

Sources: FarmHash's Fingerprint64 (https://github.com/google/farmhash, farmhashna), MurmurHash64A
(https://github.com/aappleby/smhasher), SipHash-2-4 (https://www.aumasson.jp/siphash/siphash.pdf).
"""

from __future__ import annotations

from struct import unpack_from

import numpy as np

from workbench.ir.types import TensorType
from workbench.ops.define import REQUIRED, define
from workbench.ops.rules import WRONG_ATTR, RuleError
from workbench.ops.strings.basic import FAMILY, TF, map_strings, one_string

_MASK = (1 << 64) - 1
_K0, _K1, _K2 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F
#: multiplier and seed of MurmurHash64A as TensorFlow uses it
_MURMUR, _SEED = 0xC6A4A7935BD1E995, 0xDECAFCAFFE


def fingerprint64(s: bytes) -> int:
    """FarmHash's Fingerprint64.

    >>> fingerprint64(b"hello")
    13009744463427800296
    """
    n = len(s)
    if n <= 16:
        return _up_to_16(s, n)
    if n <= 32:
        return _up_to_32(s, n)
    return _up_to_64(s, n) if n <= 64 else _long(s, n)


def hash64(s: bytes) -> int:
    """MurmurHash64A with TensorFlow's seed."""
    n = len(s)
    h = _SEED ^ (n * _MURMUR & _MASK)
    for at in range(0, n - 7, 8):
        k = _fetch(s, at) * _MURMUR & _MASK
        k = (k ^ k >> 47) * _MURMUR & _MASK
        h = (h ^ k) * _MURMUR & _MASK
    rest = s[n & ~7 :]
    if rest:
        h = (h ^ int.from_bytes(rest, "little")) * _MURMUR & _MASK
    h = (h ^ h >> 47) * _MURMUR & _MASK
    return h ^ h >> 47


def siphash(s: bytes, key: tuple[int, int]) -> int:
    """SipHash-2-4 with a key of two 64-bit numbers."""
    a, b = (k & _MASK for k in key)
    v0, v1, v2, v3 = a ^ 0x736F6D6570736575, b ^ 0x646F72616E646F6D, a ^ 0x6C7967656E657261, b ^ 0x7465646279746573
    n = len(s)
    padded = s + bytes(7 - n % 8) + bytes([n & 255])
    for at in range(0, len(padded), 8):
        m = _fetch(padded, at)
        v3 ^= m
        v0, v1, v2, v3 = _rounds(2, v0, v1, v2, v3)
        v0 ^= m
    v0, v1, v2, v3 = _rounds(4, v0, v1, v2 ^ 0xFF, v3)
    return v0 ^ v1 ^ v2 ^ v3


def _rounds(count: int, v0: int, v1: int, v2: int, v3: int) -> tuple[int, int, int, int]:
    for _ in range(count):
        v0 = v0 + v1 & _MASK
        v1 = _right(v1, 51) ^ v0
        v0 = _right(v0, 32)
        v2 = v2 + v3 & _MASK
        v3 = _right(v3, 48) ^ v2
        v0 = v0 + v3 & _MASK
        v3 = _right(v3, 43) ^ v0
        v2 = v2 + v1 & _MASK
        v1 = _right(v1, 47) ^ v2
        v2 = _right(v2, 32)
    return v0, v1, v2, v3


def _fetch(s: bytes, at: int) -> int:
    return unpack_from("<Q", s, at)[0]


def _right(x: int, by: int) -> int:
    """Rotation of 64 bits to the right."""
    return (x >> by | x << 64 - by) & _MASK


def _mixed(x: int) -> int:
    return x ^ x >> 47


def _pair(u: int, v: int, mul: int) -> int:
    a = _mixed((u ^ v) * mul & _MASK)
    return _mixed((v ^ a) * mul & _MASK) * mul & _MASK


def _up_to_16(s: bytes, n: int) -> int:
    mul = _K2 + n * 2
    if n >= 8:
        a, b = _fetch(s, 0) + _K2 & _MASK, _fetch(s, n - 8)
        return _pair(_right(b, 37) * mul + a & _MASK, (_right(a, 25) + b) * mul & _MASK, mul)
    if n >= 4:
        first, last = unpack_from("<I", s, 0)[0], unpack_from("<I", s, n - 4)[0]
        return _pair(n + (first << 3), last, mul)
    if n:
        y, z = s[0] + (s[n >> 1] << 8), n + (s[-1] << 2)
        return _mixed((y * _K2 ^ z * _K0) & _MASK) * _K2 & _MASK
    return _K2


def _up_to_32(s: bytes, n: int) -> int:
    mul = _K2 + n * 2
    a, b = _fetch(s, 0) * _K1 & _MASK, _fetch(s, 8)
    c, d = _fetch(s, n - 8) * mul & _MASK, _fetch(s, n - 16) * _K2
    first = _right(a + b & _MASK, 43) + _right(c, 30) + d
    return _pair(first & _MASK, a + _right(b + _K2 & _MASK, 18) + c & _MASK, mul)


def _up_to_64(s: bytes, n: int) -> int:
    mul = _K2 + n * 2
    a, b = _fetch(s, 0) * _K2 & _MASK, _fetch(s, 8)
    c, d = _fetch(s, n - 8) * mul & _MASK, _fetch(s, n - 16) * _K2
    y = _right(a + b & _MASK, 43) + _right(c, 30) + d & _MASK
    z = _pair(y, a + _right(b + _K2 & _MASK, 18) + c & _MASK, mul)
    e, f = _fetch(s, 16) * mul & _MASK, _fetch(s, 24)
    g, h = (y + _fetch(s, n - 32)) * mul & _MASK, (z + _fetch(s, n - 24)) * mul
    first = _right(e + f & _MASK, 43) + _right(g, 30) + h
    return _pair(first & _MASK, e + _right(f + a & _MASK, 18) + g & _MASK, mul)


def _weak(s: bytes, at: int, a: int, b: int) -> tuple[int, int]:
    """Hash 32 bytes and two seeds to two numbers."""
    w, x, y, z = unpack_from("<4Q", s, at)
    a += w
    b = _right(b + a + z & _MASK, 21)
    c = a
    a += x + y
    b += _right(a & _MASK, 44)
    return a + z & _MASK, b + c & _MASK


def _long(s: bytes, n: int) -> int:
    x = 81
    y = 81 * _K1 + 113 & _MASK
    z = _mixed(y * _K2 + 113 & _MASK) * _K2 & _MASK
    v, w = (0, 0), (0, 0)
    x = x * _K2 + _fetch(s, 0) & _MASK
    for at in range(0, (n - 1) // 64 * 64, 64):
        x, y, z, v, w = _block(s, at, x, y, z, v, w, _K1, 1)
    mul = _K1 + ((z & 0xFF) << 1)
    first = w[0] + (n - 1 & 63)
    v = (v[0] + first & _MASK, v[1])
    w = (first + v[0] & _MASK, w[1])
    x, y, z, v, w = _block(s, n - 64, x, y, z, v, w, mul, 9)
    one = _pair(v[0], w[0], mul) + _mixed(y) * _K0 + z
    return _pair(one & _MASK, _pair(v[1], w[1], mul) + x & _MASK, mul)


def _block(
    s: bytes, at: int, x: int, y: int, z: int, v: tuple[int, int], w: tuple[int, int], mul: int, nine: int
) -> tuple[int, int, int, tuple[int, int], tuple[int, int]]:
    """Update the state with 64 bytes; ``nine`` is a factor of 9 in the last block and 1 in the others."""
    x = _right(x + y + v[0] + _fetch(s, at + 8) & _MASK, 37) * mul & _MASK
    y = _right(y + v[1] + _fetch(s, at + 48) & _MASK, 42) * mul & _MASK
    x ^= w[1] * nine & _MASK
    y = y + v[0] * nine + _fetch(s, at + 40) & _MASK
    z = _right(z + w[0] & _MASK, 33) * mul & _MASK
    v = _weak(s, at, v[1] * mul & _MASK, x + w[0])
    w = _weak(s, at + 32, z + w[1], y + _fetch(s, at + 16))
    return z, y, x, v, w


def _bucket_type(types, attrs, values):
    _bucket_settings(attrs)
    return TensorType("int64", one_string(types, attrs, values).shape)


def _bucket_settings(attrs) -> tuple[int, tuple[int, int]]:
    count, method, key = int(attrs["buckets"]), attrs.get("method", "fingerprint"), tuple(attrs.get("key") or (0, 0))
    if not 0 < count < 1 << 63 or method not in ("fingerprint", "murmur", "keyed") or len(key) != 2:
        raise RuleError(
            WRONG_ATTR,
            f"has {count} buckets, the method {method!r} and the key {key}.",
            "Give 1 or more buckets, fingerprint, murmur or keyed, and two numbers.",
        )
    return count, (int(key[0]), int(key[1]))


def _bucket(arrays, attrs):
    count, key = _bucket_settings(attrs)
    method = attrs.get("method", "fingerprint")
    if method == "keyed":
        return map_strings(arrays[0], lambda s: siphash(s, key) % count, np.int64)
    function = fingerprint64 if method == "fingerprint" else hash64
    return map_strings(arrays[0], lambda s: function(s) % count, np.int64)


define(
    "string_to_hash_bucket",
    "x",
    _bucket_type,
    _bucket,
    "The number of the bucket, of `buckets`, into which a hash puts each string.",
    FAMILY,
    attrs={"buckets": REQUIRED, "method": "fingerprint", "key": None},
    source=TF + "StringToHashBucketFast",
)
