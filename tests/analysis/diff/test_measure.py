"""Distances between firings: against plain loops over items, on every dtype, with NaN, infinities and odd shapes."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import workbench as wb
from workbench.analysis.diff.distances import ulps
from workbench.analysis.diff.measure import measure
from workbench.analysis.diff.tolerance import Kind, Tolerance, kind_of

EXACT = Tolerance()
FLOATS = ("float16", "float32", "float64", "bfloat16")


def dtype(name):
    return np.dtype(getattr(ml_dtypes, name) if name == "bfloat16" else name)


def one(a, b, tolerance=EXACT):
    found = measure(np.asarray(a)[None], np.asarray(b)[None], tolerance)
    kind = kind_of(int(found.kind[0])) if found.differs[0] else None
    return bool(found.differs[0]), kind, found.absolute[0], found.relative[0], found.ulp[0], int(found.worst[0])


@pytest.mark.parametrize("name", FLOATS)
def test_neighbours_are_one_ulp_apart(name):
    numbers = np.array([0.0, 1.0, -1.0, 1e-3, 3.5, -200.0], dtype(name))
    bits = numbers.view(f"i{numbers.itemsize}")
    away = (bits + 1).view(numbers.dtype)
    found = ulps(numbers, away)
    assert found.tolist() == [1.0] * len(numbers)


def test_ulps_across_zero_and_at_the_ends():
    tiny = np.float64(5e-324)
    assert ulps(np.array([-tiny]), np.array([tiny])).tolist() == [2.0]
    assert ulps(np.array([-0.0]), np.array([0.0])).tolist() == [0.0]
    big = np.finfo(np.float32).max
    assert ulps(np.array([-big]), np.array([big])).tolist() == [2.0 * (np.float32(big).view("i4"))]


def test_ulps_of_two_dtypes_are_those_of_the_coarser():
    third = np.float64(1) / 3
    assert one(third, np.float32(third))[4] == 0
    differs, kind, absolute, *_ = one(third, np.float32(third))
    assert differs and kind is Kind.VALUE and 0 < absolute < 1e-8
    assert not one(third, np.float32(third), Tolerance(ulp=0))[0], "correctly rounded is within 0 ulp"
    assert one(third, np.nextafter(np.float32(third), np.float32(1)))[4] == 1
    assert ulps(np.array([1.0]), np.array([1])) is None


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(st.floats(width=32), st.floats(width=32)), min_size=1, max_size=8),
    st.sampled_from([0.0, 1e-6, 0.1]),
    st.sampled_from([0.0, 1e-3]),
)
def test_against_a_plain_loop(pairs, rtol, atol):
    a, b = (np.array([p[k] for p in pairs], np.float32) for k in (0, 1))
    differs, kind, absolute, relative, _, worst = one(a, b, Tolerance(rtol, atol))
    odd, apart = [], [0.0]
    for k, (x, y) in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
        if math.isnan(x) and math.isnan(y) or x == y:
            continue
        if not (math.isfinite(x) and math.isfinite(y)):
            odd.append(k)
            continue
        apart.append(abs(x - y))
        if abs(x - y) > atol + rtol * max(abs(x), abs(y)):
            odd.append(k)
    assert differs == bool(odd)
    assert absolute == max(apart)
    if odd:
        assert worst in odd
        patterns = [k for k in odd if math.isnan(a[k]) != math.isnan(b[k])]
        assert (kind is Kind.NAN) == bool(patterns) and (not patterns or worst in patterns)


@settings(max_examples=80, deadline=None)
@given(st.integers(-(2**63), 2**63 - 1), st.integers(-(2**63), 2**63 - 1))
def test_integers_are_subtracted_without_overflow(x, y):
    differs, _, absolute, *_ = one(np.int64(x), np.int64(y))
    assert differs == (x != y) and absolute == float(abs(x - y))


@pytest.mark.parametrize(
    ("a", "b", "differs"),
    [
        (np.uint64(2**63), np.int64(-1), True),
        (np.uint64(2**53 + 1), np.float64(2**53), True),
        (np.int8(3), np.int64(3), False),
        (True, np.int32(1), False),
        (np.float64(1), np.int64(1), False),
        (np.complex64(1 + 2j), np.complex64(1 + 2j), False),
        (np.complex64(1 + 2j), np.complex64(1 + 3j), True),
        (complex(np.nan, 1), complex(np.nan, 1), False),
        (np.inf, np.inf, False),
        (np.inf, -np.inf, True),
        (np.float64(1.7e308), np.float64(-1.7e308), True),
        (ml_dtypes.bfloat16(1.5), np.float32(1.5), False),
    ],
)
def test_pairs_of_dtypes(a, b, differs):
    assert one(a, b)[0] is differs and one(b, a)[0] is differs, "the same from both sides"


def test_kinds():
    nan, inf = np.nan, np.inf
    assert one([1.0, nan], [1.0, 2.0])[1] is Kind.NAN and one([1.0, nan], [1.0, 2.0])[5] == 1
    assert one([1e9, inf], [0.0, 5.0])[1] is Kind.INF and one([1e9, inf], [0.0, 5.0])[5] == 1
    assert one([1e9, inf, nan], [0.0, 5.0, 1.0])[5] == 2, "NaN before infinite before large"
    assert measure([np.zeros(2)], [np.zeros(3)], EXACT).kind.tolist() == [list(Kind).index(Kind.SHAPE)]
    texts = np.array(["a", "b"], object)
    assert one(texts, np.array(["a", "c"], object))[1] is Kind.OTHER
    assert not one(texts, np.array([b"a", "b"], object))[0] and one(texts, np.array([b"a", b"c"], object))[0]
    assert one(np.float64(1), np.float32(1), Tolerance(dtypes=True))[1] is Kind.DTYPE
    assert measure([None], [None], EXACT).differs.tolist() == [False]
    assert measure([None], [np.ones(1)], EXACT).differs.tolist() == [True]
    sequence = [np.ones(2), np.zeros(1)]
    assert not measure([sequence], [[np.ones(2), np.zeros(1)]], EXACT).differs[0]
    assert measure([sequence], [[np.ones(2), np.ones(1)]], EXACT).differs[0]


def test_firings_of_several_shapes_are_measured_in_runs():
    a = [np.ones(2), np.ones(2), np.ones(3), np.ones((1, 2)), np.ones(0)]
    b = [np.ones(2), np.full(2, 3.0), np.ones(3), np.ones(2), np.ones(0)]
    found = measure(a, b, EXACT)
    assert found.differs.tolist() == [False, True, False, True, False]
    assert found.absolute[:3].tolist() == [0.0, 2.0, 0.0] and found.worst[1] == 0


@pytest.mark.parametrize("bad", [{"rtol": -1}, {"atol": float("nan")}, {"ulp": -1}, {"rtol": "much"}, {"atol": None}])
def test_bad_tolerances(bad):
    with pytest.raises(wb.WorkbenchError, match="bad-tolerance"):
        wb.diff({}, {}, **bad)
