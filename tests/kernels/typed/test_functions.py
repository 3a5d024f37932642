"""Ops that are not NumPy's bits stay inside the bound that the op table states for them."""

from __future__ import annotations

import numpy as np
import pytest

from tests.kernels.reference.typed import REDUCTIONS, convert, dtype_of, edges, ulps
from tests.kernels.typed import addresses
from workbench.kernels import typed
from workbench.kernels.types.ops import KINDS, OPS, compute_type, is_exact

INEXACT = [
    row
    for row in typed.table()
    if OPS[row[0]].family not in (*REDUCTIONS, "accumulation") and "string" not in row[1] and not is_exact(*row)
]
COMPLEX = [row for row in INEXACT if any(KINDS[t] == "c" for t in (*row[1], row[2]))]
#: powers of integers, for which NumPy raises an error where an exponent is negative
WHOLE = [row for row in INEXACT if KINDS[row[2]] in "iu"]
REAL = [row for row in INEXACT if row not in COMPLEX and row not in WHOLE]
wide = pytest.mark.skipif(np.finfo(np.longdouble).nmant < 63, reason="needs a long double wider than double")


def arguments(name: str, count: int, random: np.random.Generator) -> np.ndarray:
    """All magnitudes of the type, and many values near one."""
    kind = KINDS[name]
    if kind in "iu":
        info = np.iinfo(dtype_of(name))
        return np.concatenate([edges(name), random.integers(info.min, info.max, count, dtype_of(name))])
    low, high = {"float16": (-14, 15), "float64": (-300, 300)}.get(name, (-120, 120))
    scaled = np.ldexp(random.normal(size=count), random.integers(low, high, count))
    near = random.normal(size=count)
    return np.concatenate([edges(name), scaled.astype(dtype_of(name)), near.astype(dtype_of(name))])


@wide
@pytest.mark.parametrize("op", sorted({row[0] for row in REAL}))
def test_functions_stay_inside_their_bound(op):
    """Against the long double function; NaN and infinities stand where NumPy's stand."""
    for row in (r for r in REAL if r[0] == op):
        random = np.random.default_rng(8)
        arrays = [arguments(t, 1500, random) for t in row[1]]
        arrays = [a if k == 0 else random.permutation(a) for k, a in enumerate(arrays)]
        got = addresses.by_line(*row, arrays)
        with np.errstate(all="ignore"):
            computed = [convert(a, compute_type(OPS[op], row[1], row[2])) for a in arrays]
            exact = getattr(np, op)(*(a.astype(np.longdouble) for a in computed))
            rounded = exact.astype(got.dtype)
        finite = np.isfinite(rounded)
        assert (np.isnan(got) == np.isnan(rounded)).all(), row
        infinite = np.isinf(got.astype(np.float64)) & finite  # the largest number may round either way
        assert ulps(got[finite & ~infinite], exact[finite & ~infinite]).max() <= OPS[op].ulp, row
        assert infinite.sum() == 0, row


@pytest.mark.parametrize("row", WHOLE, ids=str)
def test_integer_powers_wrap_as_those_of_numpy(row):
    random = np.random.default_rng(8)
    x, y = (arguments(t, 1500, random) for t in row[1])
    y = random.permutation(y) & np.iinfo(y.dtype).max
    got = addresses.by_line(*row, [x, y])
    assert np.array_equal(got, np.power(x, y))


@wide
@pytest.mark.parametrize("op", sorted({row[0] for row in COMPLEX}) or ["none"])
def test_complex_arithmetic_stays_inside_its_bound(op):
    """The error relative to the absolute value of the result, where nothing overflows on the way."""
    if op == "none":
        pytest.skip("the type profile of this build has no complex types")
    for row in (r for r in COMPLEX if r[0] == op):
        random = np.random.default_rng(9)
        arrays = []
        for t in row[1]:
            values = random.integers(1, 100, 3000) if KINDS[t] in "iub" else random.normal(size=3000)
            arrays.append((values + 1j * random.normal(size=3000) if KINDS[t] == "c" else values).astype(dtype_of(t)))
        got = addresses.by_line(*row, arrays).astype(np.clongdouble)
        common = compute_type(OPS[op], row[1], row[2])
        exact = getattr(np, op)(*(convert(a, common).astype(np.clongdouble) for a in arrays))
        unit = 2.0 ** -(23 if row[2] in ("complex64", "float32") else 52)
        assert (np.abs(got - exact) <= OPS[op].ulp * unit * np.abs(exact)).all(), row


def test_every_inexact_op_states_a_bound():
    assert all(OPS[op].ulp for op, _, _ in INEXACT)
