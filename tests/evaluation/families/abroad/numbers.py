"""Numbers, hashes, rounding, flags and short records: integer sequences with known ends, periods and growth."""

from __future__ import annotations

import numpy as np

from tests.evaluation.families.base import HISTORY, D, O, Rng, case, family, scale, size
from tests.evaluation.scoring.cases import Case


@family(HISTORY, new=9)
def grundy_numbers_of_a_game(rng: Rng) -> Case:
    """Values of heaps from which a few numbers of stones may be taken: periodic, by the pigeonhole principle."""
    while True:
        takes = sorted(set(rng.integers(1, 12, 3).tolist()))
        most = takes[-1]
        g: list[int] = []
        seen: dict[tuple[int, ...], int] = {}
        while True:
            window = tuple(g[-most:])
            if len(window) == most:
                if window in seen:
                    break
                seen[window] = len(g)
            beside = {g[len(g) - t] for t in takes if t <= len(g)}
            g.append(next(v for v in range(9) if v not in beside))
        period = len(g) - seen[window]
        if len(takes) < 2 or not 2 <= period <= 60:
            continue
        for _ in range(period * int(rng.integers(6, 20)) + len(g)):
            beside = {g[len(g) - t] for t in takes}
            g.append(next(v for v in range(9) if v not in beside))
        return case(g, O, hard=True, quarter=False, period=float(period))


@family(HISTORY, new=9)
def digit_sums_of_powers(rng: Rng) -> Case:
    """Digits of 2^k or 3^k, added: 4.5 for each digit, give or take what digits do; unbounded, by Stewart."""
    base = int(rng.choice([2, 3, 7]))
    return case([sum(map(int, str(base**k))) for k in range(int(rng.integers(150, 900)))], D, hard=True)


@family(HISTORY, new=9)
def golombs_sequence(rng: Rng) -> Case:
    """1, 2, 2, 3, 3, 4, 4, 4 ...: k comes as often as the k-th number says; it grows like n^0.618."""
    g = [0, 1]
    for n in range(2, size(rng, 100, 3000)):
        g.append(1 + g[n - g[g[n - 1]]])
    return case(g[1:], D, hard=True)


@family(HISTORY, new=9)
def bit_of_the_gray_code(rng: Rng) -> Case:
    """One bit of k xor k // 2: half of its period false, half true."""
    bit = int(rng.integers(1, 5))
    period, turns = 2 ** (bit + 2), int(rng.integers(6, 30))
    k = np.arange(period * turns)
    return case((k ^ k >> 1) >> bit & 1 == 1, O, quarter=turns > 17, period=float(period))


@family(HISTORY, new=9)
def payoffs_after_a_slip(rng: Rng) -> Case:
    """Two who pay like with like, after one slip: they take turns in being exploited, for ever."""
    before, turns = int(rng.integers(3, 20)), int(rng.integers(15, 60))
    return case([3] * before + [5, 0] * turns, O, hard=True, quarter=False, period=2.0)


@family(HISTORY, new=9)
def short_cycle_of_three(rng: Rng) -> Case:
    """Seven values: a, b, c, and the same twice again, exactly, as far as they go."""
    return case(np.resize(rng.normal(size=3), 7) * scale(rng), O, hard=True, quarter=False, period=3.0)
