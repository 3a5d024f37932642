"""Integers and booleans: divisions, shifts, remainders, Collatz, wrapping counters, exactly periodic bits."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from tests.evaluation.families.base import HISTORY, C, D, O, Rng, case, family, orbit, sign, size
from tests.evaluation.scoring.cases import Case

INTEGERS = (np.int64, np.int32)


def _down(step: Callable[[int], int], start: int, rng: Rng) -> np.ndarray:
    """An orbit until it stays, and up to two values of staying."""
    out = [start]
    while (x := step(out[-1])) != out[-1]:
        out.append(x)
    return np.array(out + [out[-1]] * int(rng.integers(0, 3)), np.int64)


@family(HISTORY)
def integer_halving(rng: Rng) -> Case:
    """x // 2 until 0: ends there, it does not go on as a float would."""
    return case(_down(lambda x: x // 2, int(2 ** rng.uniform(12, 62)), rng), C, quarter=False, limit=0.0)


@family(HISTORY)
def integer_division(rng: Rng) -> Case:
    d = int(rng.integers(3, 11))
    return case(_down(lambda x: x // d, int(d ** rng.uniform(8, 17)), rng), C, quarter=False, limit=0.0)


@family(HISTORY)
def integer_ceiling_halving(rng: Rng) -> Case:
    """(x + 1) // 2 ends at 1."""
    return case(_down(lambda x: (x + 1) // 2, int(2 ** rng.uniform(12, 60)), rng), C, quarter=False, limit=1.0)


@family(HISTORY)
def arithmetic_shift(rng: Rng) -> Case:
    """A negative number shifted right ends at -1."""
    return case(_down(lambda x: x >> 1, -int(2 ** rng.uniform(12, 60)), rng), C, hard=True, quarter=False, limit=-1.0)


@family(HISTORY)
def integer_square_root(rng: Rng) -> Case:
    """Newton in integers, from above, until it does not fall."""
    n = int(2 ** rng.uniform(30, 60))
    x, out = n, []
    while not out or x < out[-1]:
        out.append(x)
        x = (x + n // x) // 2
    return case(np.array(out, np.int64), C, quarter=False, limit=float(math.isqrt(n)))


@family(HISTORY)
def integer_share_removed(rng: Rng) -> Case:
    """x - x // m: a geometric decay in integers, at rest below m."""
    m = int(rng.integers(4, 20))
    v = _down(lambda x: x - x // m, int(10 ** rng.uniform(6, 15)), rng)
    return case(v, C, hard=True, quarter=False, limit=float(v[-1]))


@family(HISTORY)
def euclid_remainders(rng: Rng) -> Case:
    """Remainders of Euclid's algorithm, down to 0."""
    while True:
        a, b = sorted((int(x) for x in rng.integers(2**58, 2**62, 2)), reverse=True)
        out = [a, b]
        while out[-1]:
            out.append(out[-2] % out[-1])
        if len(out) > 20:
            return case(np.array(out, np.int64), C, hard=True, quarter=False, limit=0.0)


@family(HISTORY)
def collatz_to_its_cycle(rng: Rng) -> Case:
    """Ends in 4, 2, 1, which takes up the last two thirds of the record and more."""
    x, out = int(rng.integers(7, 5000)), []
    while 1 not in out:
        out.append(x)
        x = x // 2 if x % 2 == 0 else 3 * x + 1
    tail = np.resize([4, 2, 1], max(30, 2 * len(out) + int(rng.integers(0, 300))))
    return case(np.r_[out, tail].astype(rng.choice(INTEGERS)), O, quarter=False, period=3.0)


@family(HISTORY)
def unhappy_digits(rng: Rng) -> Case:
    """Sums of squared digits of an unhappy number: a cycle of 8."""
    start = int(rng.choice([2, 3, 4, 5, 6, 8, 9, 11, 12, 14, 15, 16, 17, 18, 20, 21, 22, 24, 25]))
    v = orbit(lambda x: sum(int(d) ** 2 for d in str(x)), start, size(rng, 60, 800))
    return case(v.astype(np.int64), O, quarter=False, period=8.0)


@family(HISTORY)
def integer_counter(rng: Rng) -> Case:
    step = int(rng.integers(1, 1000)) * int(sign(rng))
    v = int(rng.integers(-1000, 1000)) + step * np.arange(size(rng, 8, 10_000))
    return case(v.astype(rng.choice(INTEGERS)), D)


@family(HISTORY)
def triangular_numbers(rng: Rng) -> Case:
    return case(np.cumsum(np.arange(int(rng.integers(1, 30)), size(rng, 40, 5000))), D)


@family(HISTORY)
def integer_powers(rng: Rng) -> Case:
    b = int(rng.integers(2, 8))
    return case(np.array([b**k for k in range(int(62 / math.log2(b)))], np.int64), D, rate=float(b))


@family(HISTORY)
def wrapping_byte_counter(rng: Rng) -> Case:
    """k s in 8 bits: period 256 / gcd(s, 256), seen three times and more."""
    s = int(rng.integers(1, 60))
    p = 256 // math.gcd(s, 256)
    v = (np.arange(int(rng.uniform(3.2, 12) * p) + 8) * s).astype(rng.choice([np.uint8, np.int8]))
    return case(v, O, hard=True, quarter=False, period=float(p))


@family(HISTORY)
def wrapping_short_counter(rng: Rng) -> Case:
    """k s in 16 bits, s = 2^a t with odd t: period 2^(16 - a)."""
    a, t = int(rng.integers(5, 9)), 2 * int(rng.integers(0, 4)) + 1
    p = 2 ** (16 - a)
    v = (np.arange(int(rng.uniform(3.2, 4.5) * p)) * (t * 2**a)).astype(rng.choice([np.uint16, np.int16]))
    return case(v[:10_000], O, hard=True, quarter=False, period=float(p))


@family(HISTORY)
def counter_modulo(rng: Rng) -> Case:
    m = int(rng.integers(3, 300))
    v = (int(rng.integers(m)) + np.arange(int(rng.uniform(4.2, 30) * m) + 10)) % m
    return case(v.astype(rng.choice(INTEGERS)), O, quarter=len(v) > 16 * m, period=float(m))


@family(HISTORY)
def congruential_generator(rng: Rng) -> Case:
    """Full period by Hull and Dobell (c odd, a = 1 mod 4), seen four times and more: not noise."""
    m = 2 ** int(rng.integers(4, 10))
    a, c = 4 * int(rng.integers(1, m // 4 + 1)) + 1, 2 * int(rng.integers(0, m // 2)) + 1
    v = orbit(lambda x: (a * x + c) % m, int(rng.integers(m)), int(rng.uniform(4.2, 12) * m))
    return case(v, O, hard=True, quarter=False, period=float(m))


@family(HISTORY)
def shift_register_bits(rng: Rng) -> Case:
    """Bits of a maximal linear feedback register: period 2^b - 1, a noise to the eye."""
    bits, taps = ((5, 0b10100), (7, 0b1100000), (9, 0b100010000))[int(rng.integers(3))]
    x, out, p = int(rng.integers(1, 2**bits)), [], 2**bits - 1
    for _ in range(int(rng.uniform(4.2, 10) * p)):
        out.append(bool(x & 1))
        x = ((x << 1) | (bin(x & taps).count("1") & 1)) & p
    return case(np.array(out), O, hard=True, quarter=False, period=float(p))


@family(HISTORY)
def powers_modulo_prime(rng: Rng) -> Case:
    """g^k mod q: the order of g divides q - 1."""
    q = int(rng.choice([31, 61, 101, 211, 307, 401]))
    g = int(rng.integers(2, q - 1))
    order = next(k for k in range(1, q) if pow(g, k, q) == 1)
    n = max(int(rng.uniform(4.2, 20) * order), 20)
    return case(np.array([pow(g, k, q) for k in range(n)]), O, hard=True, quarter=n > 16 * order, period=float(order))


@family(HISTORY)
def rotated_bits(rng: Rng) -> Case:
    """A 16-bit word rotated by an odd number of places; no smaller period than 16."""
    x, r = int(rng.integers(0, 2**15)) * 2 + 1, int(rng.choice([1, 3, 5, 7]))
    if (x ^ (x >> 8)) & 0xFF == 0:
        x ^= 2
    v = orbit(lambda y: ((y << r) | (y >> (16 - r))) & 0xFFFF, x, size(rng, 64, 2000))
    return case(v.astype(np.int32), O, quarter=len(v) > 200, period=16.0)


@family(HISTORY)
def boolean_pattern(rng: Rng) -> Case:
    """p random bits, repeated, p prime: no smaller period."""
    p = int(rng.choice([2, 3, 5, 7, 11, 13, 17, 23, 31]))
    pattern = rng.random(p) < 0.5
    if pattern.all() or not pattern.any():
        pattern[0] = not pattern[0]
    n = int(p * rng.uniform(6, 40)) + 12
    return case(np.resize(pattern, n), O, quarter=n > 24 * p, period=float(p))


@family(HISTORY)
def boolean_every_so_often(rng: Rng) -> Case:
    """True once in m steps."""
    m = int(rng.integers(3, 60))
    k = np.arange(int(m * rng.uniform(6, 30)))
    return case(k % m == int(rng.integers(m)), O, hard=True, quarter=len(k) > 24 * m, period=float(m))


@family(HISTORY)
def boolean_bit_of_counter(rng: Rng) -> Case:
    j = int(rng.integers(0, 6))
    k = np.arange(int(2 ** (j + 1) * rng.uniform(6, 40)) + 10)
    return case((k >> j & 1).astype(bool), O, quarter=len(k) > 24 * 2 ** (j + 1), period=2.0 ** (j + 1))


@family(HISTORY)
def boolean_sign_of_wave(rng: Rng) -> Case:
    """sin(2 pi a k / b) > c with integers a and b: period b exactly."""
    b = int(rng.choice([7, 11, 13, 19, 29, 37]))
    a = int(rng.integers(1, b // 2))
    v = np.sin(2 * math.pi * (a * np.arange(int(b * rng.uniform(6, 30))) % b) / b) > rng.uniform(-0.1, 0.1) + 0.01
    return case(v, O, hard=True, quarter=len(v) > 24 * b, period=float(b))


@family(HISTORY)
def integer_approach(rng: Rng) -> Case:
    """A geometric approach, cut to integers."""
    rate, top = rng.uniform(0.9, 0.995), int(rng.integers(500, 100_000))
    k = np.arange(int(rng.uniform(1.0, 1.3) * math.log(top) / -math.log(rate)))
    return case(np.floor(top * (1 - rate**k)).astype(rng.choice(INTEGERS)), C, hard=True, quarter=False)
