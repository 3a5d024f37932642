"""The compiled inner loops against plain NumPy, and what they refuse."""

from __future__ import annotations

import math

import numpy as np
import pytest

fits = pytest.importorskip("workbench.kernels.fits", reason="the compiled kernels are not built")
from tests.kernels.reference import fits as twin  # noqa: E402


def records(seed: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 400))
    k = np.arange(n)
    return [
        rng.normal(size=n),
        np.round(rng.normal(size=n)),
        0.9**k,
        1 + (-0.7) ** k,
        np.sin(0.7 * k),
        np.cumsum(rng.integers(-1, 2, n)).astype(float),
        np.tile(rng.normal(size=5), n // 5 + 1)[:n],
        np.full(n, 0.25),
        rng.normal(size=n) * 10.0 ** rng.integers(-300, 300, n),
    ]


@pytest.mark.parametrize("seed", range(12))
def test_record_equals_its_twin(seed):
    rng = np.random.default_rng(seed)
    for raw in records(seed):
        odd = raw.copy()
        odd[rng.integers(0, len(raw), 3)] = rng.choice([np.nan, np.inf, -np.inf, 0.0], 3)
        assert fits.scan(odd) == twin.scan(odd) and fits.scan(raw) == twin.scan(raw)
        exponent = fits.scan(raw)[0]
        x, d, low, high = fits.scaled(raw, exponent)
        assert np.array_equal(x, np.ldexp(np.ldexp(raw, -(exponent // 2)), exponent // 2 - exponent))
        assert np.array_equal(d, np.diff(x)) and (low, high) == (x.min(), x.max())
        for digits in (53, 24, 11):
            assert fits.usable(x, d, digits, -1074) == twin.usable(x, d, digits, -1074)
        for end in {len(d), len(d) // 2}:
            assert fits.smooth_tail(d, end) == twin.smooth_tail(d, end)
        assert fits.repeats(x) == twin.repeats(x)
        assert fits.repeats((100 * x).astype(np.int64)) == twin.repeats((100 * x).astype(np.int64))
        assert fits.extremes(d) == ((np.abs(d).min(), np.abs(d).max()) if len(d) else (math.inf, 0.0))


def test_differences_of_integers_are_exact():
    values = np.array([2**62, 2**62 + 1, -(2**62), 2**63 - 1, -(2**63)], dtype=np.int64)
    exact = [b - a for a, b in zip(values.tolist(), values.tolist()[1:], strict=False)]
    assert fits.exact_differences(values, False, 0).tolist() == [float(v) for v in exact]
    unsigned = np.array([2**64 - 1, 0, 2**63, 2**63 + 1], dtype=np.uint64)
    exact = [b - a for a, b in zip(unsigned.tolist(), unsigned.tolist()[1:], strict=False)]
    assert fits.exact_differences(unsigned.view(np.int64), True, 0).tolist() == [float(v) for v in exact]


@pytest.mark.parametrize("p", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("n", [30, 64, 200, 500])
def test_free_run_equals_least_squares_of_numpy(n, p):
    rng = np.random.default_rng(n + p)
    roots = rng.uniform(0.7, 0.99, p) * rng.choice([-1, 1], p)
    d = np.sum(rng.uniform(1, 2, p)[:, None] * roots[:, None] ** np.arange(n), axis=0)
    if n < 100:
        d *= 1 + 1e-4 * rng.normal(size=n)
    order, error, _ = fits.linear_orders(d, 0, n, 0.02)
    # orders of a long record share the weights of its rows: the fit differs, not its quality
    assert order == 0 or error <= 20 * twin.hold_out(d, order) + 1e-7
    if n < 64 and order:
        assert error == pytest.approx(twin.hold_out(d, order), rel=0.01, abs=1e-9)
    if n >= 100:
        assert 1 <= order <= p


def test_modes_of_a_known_recurrence():
    z = np.array([0.9, -0.5, 0.3 + 0.6j, 0.3 - 0.6j])
    c = np.array([2.0, -1.0, 0.5 - 1j, 0.5 + 1j])
    k = np.arange(40)
    d = np.sum(c[:, None] * z[:, None] ** k, axis=0).real.copy()
    roots, shares = fits.linear_modes(d, 0, 40, 4)
    order = np.lexsort((np.imag(roots), np.real(roots)))
    want = np.lexsort((z.imag, z.real))
    assert np.allclose(np.array(roots)[order], z[want], atol=1e-9)
    assert np.allclose((np.array(shares) / np.array(roots) ** 39)[order], c[want], atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("s", [0.5, 1.0, 1.5, 3.0])
def test_power_law_equals_a_fine_grid(s):
    rng = np.random.default_rng(int(10 * s))
    d = (np.arange(20) + 3.7) ** -s * np.exp(0.01 * rng.normal(size=20))
    counter, geometric, power = fits.tail_laws(d, 0, 20, 0)
    exponent, a, k0 = twin.power_law(d)
    assert power[1] == pytest.approx(exponent, rel=1e-3) and power[3] == pytest.approx(k0, rel=5e-3)
    assert power[2] == pytest.approx(a, rel=1e-2) and power[0] < 0.05 < geometric[0] + counter[0]


def test_long_tails_are_thinned_and_keep_their_law():
    k = np.arange(1.0, 100_001)
    _, _, power = fits.tail_laws(k**-1.75, 0, len(k), 0)
    assert power[1] == pytest.approx(1.75, abs=1e-5)
    (error, _), _, power = fits.tail_laws(np.full(1000, 3.0), 0, 1000, 0)
    assert error < 1e-12 and power is None  # a simpler law is exact


def test_acceleration_reaches_known_limits():
    k = np.arange(1.0, 41)
    for values, limit, digits in (
        (np.cumsum(-((-1) ** k) / k), math.log(2), 12),
        (np.cumsum(-((-1) ** k) / (2 * k - 1)), math.pi / 4, 12),
        (np.cumsum(0.9**k), 9.0, 12),
        (np.cumsum(1 / k**2), math.pi**2 / 6, 7),
        (np.cumsum((-1) ** k * (-1.0) / np.sqrt(k)), 0.6048986434216304, 9),  # (1 - sqrt 2) zeta(1/2)
    ):
        found, error = fits.accelerated(values, len(k) - 1, 0)
        assert abs(found - limit) < 10.0**-digits and abs(found - limit) <= 4 * error + 1e-14
    values = np.cumsum(-((-1) ** k) / k)[:9]
    found, error = fits.accelerated(values, 8, 0)
    assert abs(found - math.log(2)) <= 1.01 * abs(twin.wynn_epsilon(values) - math.log(2)) + 4 * error


def test_polynomial_maps():
    x, out = 0.3, []
    for _ in range(200):
        out.append(x)
        x = 3.9 * x * (1 - x)
    lags, degree, error, exponent, *_ = fits.polynomial_map(np.array(out), 0.01)
    truth = np.mean(np.log(np.abs(3.9 * (1 - 2 * np.array(out[:-1])))))
    assert (lags, degree) == (1, 2) and error < 1e-10 and exponent == pytest.approx(truth, rel=1e-6)
    x, out = 0.3, []
    for _ in range(60):
        out.append(x)
        x = 3.2 * x * (1 - x)
    *_, period, stayed, following, multiplier = fits.polynomial_map(np.array(out[:30]), 0.01)
    assert period == 2 and stayed and len(following) == 2
    root = [(4.2 - math.sqrt(4.2 * 0.2)) / 6.4, (4.2 + math.sqrt(4.2 * 0.2)) / 6.4]  # the known 2-cycle
    assert sorted(following) == pytest.approx(root, abs=1e-6) and following[0] == pytest.approx(out[30], abs=1e-2)
    assert fits.polynomial_map(np.random.default_rng(0).normal(size=300), 0.01) is None


@pytest.mark.parametrize("m", [1, 2, 3])
def test_neighbours_equal_their_twin(m):
    x = np.random.default_rng(m).normal(size=120)
    pairs, one, wide, start, _ = fits.neighbours(x, m, 8, 3, 160)
    all_of = np.array(twin.neighbours(x, m, 8, 3))
    assert pairs == len(all_of)
    assert start == np.sort(all_of[:, 0])[pairs // 2] and one == np.sort(all_of[:, 1])[pairs // 2]
    assert wide == np.sort(all_of[:, 1])[3 * pairs // 4]


def test_return_map_tells_maps_from_noise():
    x, out = 0.213, []
    for _ in range(200):
        out.append(x)
        x = 1.9 * min(x, 1 - x)
    pairs, middle, wide, rest, exponent = fits.return_map(np.array(out))
    assert pairs == 199 and middle < 0.1 and wide < 0.1 and rest < 0.01
    assert exponent == pytest.approx(math.log(1.9), abs=0.1)
    _, middle, _, rest, _ = fits.return_map(np.random.default_rng(0).normal(size=200))
    assert middle > 0.6 and rest > 0.3


def test_statistics():
    rng = np.random.default_rng(4)
    x = rng.normal(size=1000) + 3
    late = x[500:]
    level, spread, error, far = fits.ball(x)
    assert level == pytest.approx(late.mean()) and spread == pytest.approx(late.std(ddof=1))
    assert error == pytest.approx(spread / math.sqrt(500), rel=0.3) and far < 6
    assert fits.block_means(x, 8) == pytest.approx(x.reshape(8, 125).mean(axis=1))
    assert fits.block_spreads(x, 8) == pytest.approx(np.sqrt((x.reshape(8, 125) ** 2).mean(axis=1)))
    k = np.arange(500)
    y = 2 + np.sin(2 * np.pi * k / 17.3) + 0.3 * rng.normal(size=500)
    share, period = fits.sine(y, 17.0)
    assert period == pytest.approx(17.3, rel=2e-3) and share == pytest.approx(twin.sine_share(y, 1 / period), rel=1e-6)
    walk = np.cumsum(rng.normal(size=2000))
    steps, _, lag, wandered, lean, symmetric = fits.walk(walk)
    assert steps == 999 and abs(lag) < 0.1 and wandered > 20 and lean > -3.5 and symmetric > -3.5
    assert max(fits.walk(rng.normal(size=2000))[4:]) < -20
    assert symmetric == pytest.approx(weighted_symmetric(walk), rel=1e-9)


def weighted_symmetric(x: np.ndarray) -> float:
    """Pantula, Gonzalez-Farias and Fuller's t, as the weighted least squares that it is: each value on the one before
    and on the one after, with weights that sum to one."""
    y, n = x - x.mean(), len(x)
    w = np.arange(1, n) / n
    rho = (w @ (y[1:] * y[:-1]) + (1 - w) @ (y[:-1] * y[1:])) / (w @ y[:-1] ** 2 + (1 - w) @ y[1:] ** 2)
    rest = w @ (y[1:] - rho * y[:-1]) ** 2 + (1 - w) @ (y[:-1] - rho * y[1:]) ** 2
    return (rho - 1) * math.sqrt((w @ y[:-1] ** 2 + (1 - w) @ y[1:] ** 2) * (n - 2) / rest)


def test_lattice_of_differences():
    x = (1e3 + 0.7 ** np.arange(40)) - 1e3
    lowest, values, close = fits.lattice(x, 0, 40)
    assert lowest == int(np.log2(np.spacing(1e3))) and values >= 35 and close > 0.8 * values
    lowest, values, close = fits.lattice(0.5 ** np.arange(40), 0, 40)
    assert lowest == -39 and values == 40 and close == 3


def test_activity_of_rows():
    rng = np.random.default_rng(1)
    for dtype in (np.float64, np.float32):
        a = rng.normal(size=(30, 17)).astype(dtype)
        moved, norms = np.zeros(17), np.zeros(30)
        fits.activity(a[:12], moved, norms, 0, False)
        fits.activity(a[11:], moved, norms, 11, True)
        assert np.allclose(moved, np.abs(np.diff(a.astype(float), axis=0)).sum(axis=0))
        assert np.allclose(norms, np.linalg.norm(a.astype(float), axis=1))
    big, norms = np.full((2, 4), 1e200), np.zeros(2)
    fits.activity(big, np.zeros(4), norms, 0, False)
    assert norms == pytest.approx([2e200, 2e200])
    with pytest.raises(ValueError):
        fits.activity(big, np.zeros(3), norms, 0, False)


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("scan", ()),
        ("scaled", (0,)),
        ("last_moved", ()),
        ("irregular", ()),
        ("extremes", ()),
        ("equal_runs", ()),
        ("repeats", ()),
        ("walk", ()),
        ("ball", ()),
        ("return_map", ()),
        ("smooth_tail", (3,)),
        ("tail_laws", (0, 3, 0)),
        ("linear_orders", (0, 3, 0.02)),
        ("linear_modes", (0, 3, 1)),
        ("polynomial_map", (0.01,)),
    ],
)
def test_other_arrays_are_refused(name, more):
    f = getattr(fits, name)
    for wrong in (None, [1.0, 2.0], np.ones(8, np.float32), np.ones((4, 4)), np.ones(16)[::2], "x"):
        with pytest.raises((TypeError, ValueError)):
            f(wrong, *more)


def test_short_and_empty_arrays_are_answered():
    for n in range(4):
        x = np.arange(float(n))
        assert fits.scan(x)[1] == 0 and fits.smooth_tail(x, n) in (None, (0, False))
        assert fits.linear_orders(x, 0, n, 0.02)[0] == 0 and fits.polynomial_map(x, 0.01) is None
        assert fits.return_map(x)[0] == 0 and fits.neighbours(x, 1, 2, 1, 9)[0] == 0
        assert fits.tail_laws(x, 0, n, 0) is None and fits.walk(x)[0] == 0
