"""Rules for points in which libraries differ, run with NumPy and with array-api-strict, against NumPy's own results."""

from __future__ import annotations

import numpy as np
import pytest

from tests.plan.checks import same
from workbench.device import DIFFERENCES, semantics

strict = pytest.importorskip("array_api_strict")
NAMESPACES = [np, strict]
INTEGERS = sorted(semantics.BITS)
EDGES = [0.0, -0.0, 0.5, -0.5, 1.9, -1.9, 127.0, 128.0, 255.0, 256.0, -129.0, 32768.0, 65536.5, 2.0**31, 2.0**31 - 1]
EDGES += [-(2.0**31), -(2.0**31) - 1, 2.0**32, 3e9, 2.0**53, 2.0**62, 2.0**63, -(2.0**63), 2.0**63 - 1024, 2.0**64]
EDGES += [1e19, 1e30, -1e30, np.inf, -np.inf, np.nan, -1.0, -300.0]


def both(xp, *arrays):
    return [xp.asarray(a) for a in arrays]


@pytest.mark.parametrize("xp", NAMESPACES, ids=lambda m: m.__name__)
@pytest.mark.parametrize("source", ["float32", "float64"])
@pytest.mark.parametrize("target", INTEGERS)
def test_casts_out_of_range(xp, source, target):
    with np.errstate(all="ignore"):
        values = np.array(EDGES).astype(source)
        expected = np.array([v.astype(target) for v in values])  # one by one: the processor's conversion
        found = semantics.cast_to_integer(xp, xp.asarray(values), target)
    assert same(np.asarray(found), expected), list(zip(values, np.asarray(found), expected, strict=True))


@pytest.mark.parametrize("xp", NAMESPACES, ids=lambda m: m.__name__)
@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("name", ["floor_divide", "remainder", "left_shift", "right_shift"])
def test_integers(xp, dtype, name):
    info = np.iinfo(dtype)
    values = np.array([info.min, info.min // 3, 0, 1, 2, 7, 63, info.max // 2, info.max], dtype)
    other = np.unique(np.array([0, 1, 2, 3, 7, info.bits - 1, info.bits, info.max, info.max * (info.min < 0)], dtype))
    if info.min < 0:
        other = np.concatenate([other, np.array([-1, -2, info.min], dtype)])
    a, b = (g.ravel() for g in np.meshgrid(values, other))
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(a, b)
        found = semantics.RULES[name](xp, *both(xp, a, b))
    assert same(np.asarray(found), expected)


@pytest.mark.parametrize("xp", NAMESPACES, ids=lambda m: m.__name__)
def test_sign_sort_and_take(xp):
    x = np.array([[3.0, np.nan, -1.0], [np.inf, 0.5, np.nan]])
    with np.errstate(all="ignore"):
        assert same(np.asarray(semantics.sign(xp, xp.asarray(x))), np.sign(x))
        for axis in (0, 1):
            assert same(np.asarray(semantics.sort(xp, xp.asarray(x), axis)), np.sort(x, axis))
        whole = np.array([3, -1, 2])
        assert same(np.asarray(semantics.sort(xp, xp.asarray(whole), 0)), np.sort(whole))
    indices = np.array([[0, -1], [1, 2]])
    for axis in (0, 1):
        y = np.arange(12.0).reshape(3, 4)
        assert same(np.asarray(semantics.take(xp, *both(xp, y, indices), axis)), np.take(y, indices, axis))
    with pytest.raises(IndexError) as theirs:
        np.take(x, np.array([0, 5]), axis=0)
    with pytest.raises(IndexError) as ours:
        semantics.take(xp, *both(xp, x, np.array([0, 5])), 0)
    assert str(ours.value) == str(theirs.value)


def test_the_table_says_for_each_point_what_is_done():
    assert len({d.topic for d in DIFFERENCES}) == len(DIFFERENCES) >= 12
    for difference in DIFFERENCES:
        assert difference.numpy and difference.cupy and difference.here
        for rule in [w.strip(",:") for w in difference.here.split() if difference.here.startswith("rule")]:
            known = callable(getattr(semantics, rule, None))
            assert known or not rule.islower() or "_" not in rule, rule
