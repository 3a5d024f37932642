"""Every numeric dtype and bool: collapse of steps, big integers, float16, flags."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tests.evaluation.scoring.cases import C, Case, D, O, S


def collapse() -> Iterator[Case]:
    """A step is lost once the value is large: the record ends constant (stagnation)."""
    for dtype, start, step in (
        (np.float16, 1024.0, 0.5),
        (np.float16, -4000.0, -2.0),
        (np.float32, 2.0**23 - 60, 0.5),
        (np.float32, 1.6e9, 60.0),
        (np.float64, 2.0**52 - 90, 0.5),
    ):
        x, out = dtype(start), []
        for _ in range(400):
            out.append(x)
            x = dtype(x + dtype(step))
        if out[-1] == out[-2]:
            yield Case("absorbed_step", np.array(out), S, True, quarter=False)
    for dtype in (np.float16, np.float32):
        out = np.cumsum(np.full(6000, dtype(1e-3)), dtype=dtype)
        label = S if out[-1] == out[-2] else D
        yield Case("sum_collapses", out, label, True, quarter=False)


def integers() -> Iterator[Case]:
    """Counters, squares, powers and cycles near the ends of each integer type."""
    for dtype in (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64):
        info = np.iinfo(dtype)
        n = min(90, int(info.max) // 2)
        k = np.arange(n)
        yield Case("from_min", (k.astype(object) + int(info.min)).astype(dtype), D)
        yield Case("to_max", (int(info.max) - k[::-1].astype(object)).astype(dtype), D)
        top, low = int(info.max), int(info.min)
        yield Case("ends_alternate", np.array([top, low] * 25, dtype=dtype), O, facts={"period": 2})
        yield Case("ends_in_threes", np.array([top, top, low] * 20, dtype=dtype), O, facts={"period": 3})
        yield Case("at_max", np.full(40, top, dtype=dtype), S)
        half = np.array([top >> i for i in range(info.bits + 12)], dtype=dtype)
        yield Case("shifted_right", half, C, facts={"limit": 0.0})
    big = 2**62
    yield Case("big_difference", np.array([big + 3**i for i in range(38)]), D)
    yield Case("big_settles", np.array([big + 2**50 // 3**i for i in range(60)]), C, True, {"limit": float(big)})


def halves() -> Iterator[Case]:
    """float16: waves, decays, growth."""
    k = np.arange(240)
    for w in (0.25, 1.3):
        wave = (1 + 0.5 * np.sin(w * k)).astype(np.float16)
        yield Case("wave_half", wave, O, True, {"period": 2 * np.pi / w})
    for rate in (0.6, 0.85, -0.7):
        yield Case("decay_half", (4 * rate ** k[:60]).astype(np.float16), C, facts={"limit": 0.0})
        yield Case("decay_half", (10 + 4 * rate ** k[:60]).astype(np.float16), C, True)
    for rate in (1.05, 1.3):
        n = int(np.log(5e4) / np.log(rate))
        yield Case("growth_half", (rate ** k[:n]).astype(np.float16), D, True)


def flags() -> Iterator[Case]:
    """bool: constant, set once, flickering before it is set, periodic."""
    for n in (8, 64, 900):
        yield Case("flag_off", np.zeros(n, bool), S)
        yield Case("flag_on", np.ones(n, bool), S)
    rng = np.random.default_rng(77)
    flicker = np.r_[rng.integers(0, 2, 14).astype(bool), np.ones(90, bool)]
    yield Case("flag_settles", flicker, C, True, quarter=False)
    for pattern in ("10", "1100", "11010", "1000000"):
        bits = np.array([c == "1" for c in pattern * 15])
        yield Case("flag_cycle", bits, O, facts={"period": len(pattern)})


GENERATORS = (collapse, integers, halves, flags)
