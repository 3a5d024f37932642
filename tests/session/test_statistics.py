"""trace="stats": numbers and statistics of every array stay, of the arrays themselves the newest."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.errors import TraceError

SIZE, TRIPS = 4000, 300


def heat() -> wb.Graph:
    b = wb.GraphBuilder("heat")
    start, n = b.placeholder("u", "float64", (SIZE,)), b.placeholder("n", "int64")

    def body(u, i):
        inner = b.alias("inner", 0.5 * u[1:-1] + 0.25 * (u[:-2] + u[2:]))
        return b.op("pad", inner, pad_width=((1, 1),)), i + 1

    u, i = b.while_loop(lambda u, i: i < n, body, [start, 0])
    return b.build({"u": u, "i": i})


@pytest.fixture(scope="module")
def feeds():
    start = np.random.default_rng(3).normal(size=SIZE)
    start[0] = start[-1] = 0
    return {"u": start, "n": np.int64(TRIPS)}


@pytest.fixture(scope="module")
def runs(feeds):
    with wb.Session(heat(), feeds) as whole, wb.Session(heat(), feeds, trace="stats") as kept:
        whole.run()
        kept.run()
        yield whole, kept


def of(array: np.ndarray) -> tuple[float, ...]:
    number = array[~np.isnan(array)]
    finite = array[np.isfinite(array)]
    return (
        array.size,
        np.isnan(array).sum(),
        np.isinf(array).sum(),
        number.min(initial=np.inf),
        number.max(initial=-np.inf),
        finite.sum(),
        np.square(finite).sum(),
    )


@pytest.mark.parametrize("name", ["u", "inner", "while/pad"])
def test_statistics_of_every_firing(runs, name):
    whole, kept = runs
    name = name if name in whole.trace else next(n for n in whole.trace.names() if n.endswith(name.split("/")[-1]))
    records, values = kept.trace[name].statistics, whole.trace[name].values
    assert len(records) == len(values) >= TRIPS
    for record, value in zip(records, values, strict=True):
        assert np.allclose(record.tolist(), of(value), rtol=1e-12, atol=1e-12)
        assert (record["min"], record["max"]) == (value.min(), value.max())


def test_older_arrays_are_dropped_and_recomputed_exactly(runs):
    whole, kept = runs
    assert kept.trace.dropped and 0 < len(kept.trace["u"]) < TRIPS < len(kept.trace["u"].statistics)
    assert len(kept.trace["i"]) == TRIPS + 1  # numbers all stay
    for k in (0, 1, 17, TRIPS // 2, TRIPS - 1, TRIPS):
        assert np.array_equal(kept.value("u", k), whole.value("u", k))
        assert np.array_equal(kept.value("u", k), whole.trace["u"].values[k])
    assert np.array_equal(kept.outputs["u"], whole.outputs["u"])


def test_the_newest_values_are_those_of_a_full_trace(runs):
    whole, kept = runs
    newest = kept.trace["u"].values
    assert np.array_equal(newest, whole.trace["u"].values[-len(newest) :])


def test_nan_and_infinity_are_counted():
    b = wb.GraphBuilder()
    x = b.placeholder("x", "float32", (5,))
    y = b.alias("y", x / x)
    given = np.array([0, 1, np.inf, 2, np.nan], np.float32)
    with wb.Session(b.build({"y": y}), {"x": given}, trace="stats") as session:
        session.run()
        with np.errstate(all="ignore"):
            assert session.trace["y"].statistics[0].tolist() == of((given / given).astype(np.float64))


def test_they_are_saved(runs, tmp_path):
    _, kept = runs
    kept.trace.save(tmp_path / "heat.wbtrace")
    loaded = wb.Trace.load(tmp_path / "heat.wbtrace")
    assert loaded.dropped and len(loaded["u"]) == len(kept.trace["u"])
    assert np.array_equal(loaded["u"].statistics, kept.trace["u"].statistics)
    assert np.array_equal(loaded["u"].values, kept.trace["u"].values)


def test_where_there_are_none(runs):
    whole, kept = runs
    for series in (whole.trace["u"], kept.trace["i"]):
        with pytest.raises(TraceError) as caught:
            _ = series.statistics
        assert caught.value.slug == "no-statistics" and "stats" in str(caught.value)
