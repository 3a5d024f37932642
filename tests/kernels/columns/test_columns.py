"""Columns gathered out of rows, and statistics of blocks of rows, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.kernels import typed
from workbench.kernels.columns import Blocks, gather, memory
from workbench.trace.retention.envelope import BLOCK, NUMBERS, blocks_of, merged

ROW = np.dtype([("x", np.float64), ("i", np.int64), ("k", np.int32), ("f", np.float32), ("b", np.bool_), ("pad", "V3")])


def drawn(n: int, seed: int) -> np.ndarray:
    draw = np.random.default_rng(seed)
    rows = np.zeros(n, ROW)
    rows["x"], rows["i"], rows["k"] = draw.normal(size=n), draw.integers(-99, 99, n), draw.integers(-9, 9, n)
    rows["f"], rows["b"] = draw.normal(size=n), draw.random(n) < 0.7
    rows["x"][draw.random(n) < 0.05] = np.nan
    return rows


def raw(rows: np.ndarray) -> np.ndarray:
    return rows.view(np.uint8).reshape(len(rows), ROW.itemsize)


@pytest.mark.parametrize("n", [1, 2, 511, 512, 513, 3000])
@pytest.mark.parametrize("step", [1, 2, 7, 1000])
def test_columns_are_those_of_numpy(n: int, step: int) -> None:
    rows = drawn(n, n)
    moves, wanted = [], []
    for k, name in enumerate(("x", "i", "k", "f", "b", "pad")):
        dtype, offset = ROW.fields[name][:2]
        start = min(k, n - 1)
        wanted.append(rows[name][start::step])
        moves.append((offset, dtype.itemsize, start, step, np.empty(len(wanted[-1]), f"V{dtype.itemsize}")))
    gather(raw(rows), moves)
    assert [m[-1].tobytes() for m in moves] == [w.tobytes() for w in wanted]


@pytest.mark.parametrize(
    "move", [(29, 8, 0, 1, 1), (-1, 8, 0, 1, 1), (0, 8, 0, 1, 5), (0, 8, 4, 1, 1), (0, 8, 0, 0, 1), (0, 0, 0, 1, 1)]
)
def test_nothing_outside_the_rows_is_read(move: tuple[int, int, int, int, int]) -> None:
    with pytest.raises(ValueError, match="gather"):
        gather(raw(drawn(4, 0)), [(*move[:4], np.empty(move[4], "V8"))])


def test_memory_comes_back() -> None:
    first = memory(123_457)
    address, view = first.ctypes.data, first[5:]
    del first
    other = memory(123_457)
    assert other.ctypes.data != address  # a view keeps it
    del view
    assert memory(123_457).ctypes.data == address and other.flags.writeable
    with pytest.raises(ValueError, match="positive"):
        memory(0)


@pytest.mark.parametrize("length", [1, 5, 64, 100_000])
@pytest.mark.parametrize("cuts", [[], [1], [2, 3, 200, 201, 640]])
@pytest.mark.parametrize("first", [0, 37])
def test_blocks_are_those_of_the_plain_way(length: int, cuts: list[int], first: int) -> None:
    rows = drawn(1000, 5)
    begun = np.array([0, 1, 4, 200, 201, 639, 999]) + first
    numbers = np.arange(first, first + 1000)
    inside = ~np.isin(numbers, begun)
    series, wanted = [], []
    for name, shift, expect, only in [
        ("x", 0, None, False),
        ("x", -1, None, False),
        ("x", -1, 1, False),
        ("i", 0, 0, False),
        ("f", 0, 2, True),
        ("i", -1, 3, False),
        ("f", -1, 1, True),
        ("x", 0, 1, False),
    ]:
        dtype, offset = ROW.fields[name][:2]
        fired = inside & np.isin(numbers - 1, begun) if only else inside.copy()
        guard = []
        if expect is not None:
            flag = "k" if expect >= 2 else "b"
            guard = [(ROW.fields[flag][1], 0, expect)]
            fired &= (rows[flag] >= 0) == (expect == 2) if expect >= 2 else rows[flag] == bool(expect)
        series.append((offset, dtype.itemsize, shift, typed.statistics(dtype.name), guard, only))
        if shift:
            fired[0] = False  # there is no row before
        wanted.append((np.roll(rows[name], -shift)[fired], numbers[fired]))
    plan, found = Blocks(series), [np.empty(0, BLOCK) for _ in series]
    edges = [0, *cuts, 1000]
    for start, stop in zip(edges, edges[1:], strict=False):
        lasts = np.zeros(len(series), BLOCK)
        for k, blocks in enumerate(found):
            lasts[k] = blocks[-1] if len(blocks) else lasts[k]
        part, before = raw(rows[start:stop]), raw(rows)[start - 1 : start] if start else None
        new = plan.describe(part, before, first + start, begun, length, lasts)
        found = [np.concatenate([old[:-1], more]) for old, more in zip(found, new, strict=True)]
    for (values, fired_in), mine in zip(wanted, found, strict=True):
        plain = merged(blocks_of(fired_in, values, length), length)
        assert all(np.array_equal(mine[n], plain[n]) for n in ("first", "last", "count", *NUMBERS[:5]))
        assert np.allclose(mine["sum"], plain["sum"], rtol=1e-12, atol=1e-12)
        assert np.allclose(mine["sumsq"], plain["sumsq"], rtol=1e-12)
