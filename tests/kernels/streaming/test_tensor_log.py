"""The statistics of a tensor, against NumPy, for every type and for lengths around the lanes."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from workbench.kernels.streaming import TENSOR_ROW, TENSOR_TYPES, TensorLog

LENGTHS = (0, 1, 7, 8, 9, 63, 64, 65, 1000)


def _row(x: np.ndarray, name: str) -> np.void:
    log = TensorLog()
    status = log.append(5, x.ctypes.data, x.size, TENSOR_TYPES[name], 3)
    row = log.take()[0]
    assert status == (2 if row["nan"] else 1 if row["inf"] else 0)
    assert (row["site"], row["kind"], row["count"], len(log)) == (5, 3, x.size, 0)
    return row


@pytest.mark.parametrize("name", sorted(TENSOR_TYPES))
def test_statistics_are_those_of_numpy(name: str) -> None:
    assert TENSOR_ROW.itemsize == 64
    dtype = np.dtype(ml_dtypes.bfloat16) if name == "bfloat16" else np.dtype(name)
    for n in LENGTHS:
        rng = np.random.default_rng(n)
        x = np.abs(rng.standard_normal(n) * 10).astype(dtype)
        if n > 5:
            x[2] = 0
            if dtype.kind in "fV":
                x[3], x[5] = np.inf, np.nan
        row, wide = _row(x, name), x.astype(np.float64)
        finite = wide[np.isfinite(wide)]
        bad = np.flatnonzero(~np.isfinite(wide))
        assert (row["nan"], row["inf"]) == (np.isnan(wide).sum(), np.isinf(wide).sum())
        assert row["zeros"] == (wide == 0).sum()
        assert row["first_bad"] == (bad[0] if len(bad) else 2**32 - 1)
        if n:
            assert (row["least"], row["largest"]) == (np.nanmin(wide), np.nanmax(wide))
            assert row["mean"] == pytest.approx(finite.mean(), rel=1e-12)
            assert row["rms"] == pytest.approx(np.sqrt((finite**2).mean()), rel=1e-6)


def test_any_single_other_number_is_another_hash() -> None:
    for n in LENGTHS[1:]:
        x = np.random.default_rng(n).standard_normal(n)
        hashes = {int(_row(x, "float64")["hash"])}
        for k in range(n):
            y = x.copy()
            y[k] = np.nextafter(y[k], 9.0)
            hashes.add(int(_row(y, "float64")["hash"]))
        assert len(hashes) == n + 1


def test_equal_numbers_of_two_types_have_one_hash() -> None:
    x = np.arange(100, dtype=np.float32)
    assert _row(x, "float32")["hash"] == _row(x.astype(np.float64), "float64")["hash"]


def test_rows_are_appended_and_taken() -> None:
    log, x = TensorLog(), np.ones(3)
    for k in range(1000):
        log.append(k, x.ctypes.data, 3, TENSOR_TYPES["float64"], 0)
    assert len(log) == 1000 and log.nbytes >= 64000
    assert log.rows(10, 13)["site"].tolist() == [10, 11, 12] and len(log.rows(990, 2000)) == 10
    assert log.take()["site"].tolist() == list(range(1000)) and len(log) == 0


def test_numbers_whose_squares_are_too_large_are_finite() -> None:
    x = np.random.default_rng(0).standard_normal(300) * 1e200
    row = _row(x, "float64")
    assert (row["nan"], row["inf"], row["first_bad"]) == (0, 0, 2**32 - 1)
    assert (row["least"], row["largest"]) == (x.min(), x.max())
    assert row["mean"] == pytest.approx(x.mean(), rel=1e-12)


def test_a_number_in_any_place_that_is_not_finite_is_found() -> None:
    for name in ("float32", "float64", "float16"):
        for at in range(0, 200, 3):
            x = np.ones(200, name)
            x[at] = np.nan if at % 2 else -np.inf
            row = _row(x, name)
            assert (row["first_bad"], row["nan"], row["inf"]) == (at, at % 2, 1 - at % 2)
            assert (row["least"], row["largest"], row["mean"]) == (1 if at % 2 else -np.inf, 1, 1)
