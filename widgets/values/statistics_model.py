"""Statistics of one array as short strings, from a bounded number of its elements."""

from __future__ import annotations

import numpy as np

from workbench.widgets.text.labels import number
from workbench.widgets.text.numerals import numeral

#: statistics of larger arrays are computed from an even sample, and say so
MAX_STATISTICS = 4_000_000


def sampled(array: np.ndarray, limit: int) -> np.ndarray:
    """The elements as one row; of a larger array about ``limit`` of them, evenly spaced, without a copy of all."""
    if array.size > limit:
        if array.flags.c_contiguous:
            return array.reshape(-1)[:: -(-array.size // limit)]
        while array.size > limit:
            axis = int(np.argmax(array.shape))
            step = min(array.shape[axis], -(-array.size // limit))
            array = array[(slice(None),) * axis + (slice(None, None, step),)]
    return array.reshape(-1)


def statistics(array: np.ndarray) -> dict[str, str]:
    """Count, NaN and Inf counts, smallest, largest, mean, standard deviation, 2-norm; of finite values only."""
    out = {"elements": numeral(array.size)}
    if array.dtype.kind not in "biufc" or not array.size:
        return out
    flat = sampled(array, MAX_STATISTICS)
    if flat.size < array.size:
        out["sample"] = f"{numeral(flat.size)} elements"
    if array.dtype.kind == "b":
        return {**out, "true": numeral(int(flat.sum())), "false": numeral(int(flat.size - flat.sum()))}
    real = np.abs(flat) if array.dtype.kind == "c" else flat
    real = real.astype(np.float64)
    finite = real[np.isfinite(real)]
    nan, inf = int(np.isnan(real).sum()), int(np.isinf(real).sum())
    if nan:
        out["NaN"] = numeral(nan)
    if inf:
        out["Inf"] = numeral(inf)
    if finite.size:
        zeros = int((finite == 0).sum())
        if zeros:
            out["zeros"] = numeral(zeros)
        with np.errstate(over="ignore", invalid="ignore"):
            numbers = {
                "min": finite.min(),
                "max": finite.max(),
                "mean": finite.mean(),
                "std": finite.std(),
                "2-norm": np.sqrt((finite * finite).sum()),
            }
        out |= {label: number(v) for label, v in numbers.items()}
    return out


def largest(array: np.ndarray) -> dict[str, str]:
    """The largest magnitude of a difference and where it is; NaN is left out."""
    if array.dtype.kind not in "biufc" or not array.size or array.size > MAX_STATISTICS:
        return {}
    size = np.abs(array.astype(np.complex128 if array.dtype.kind == "c" else np.float64))
    size = np.where(np.isnan(size), -1.0, size)
    place = np.unravel_index(int(size.argmax()), array.shape)
    if size[place] < 0:
        return {}
    at = f" at [{', '.join(str(int(i)) for i in place)}]" if place else ""
    return {"largest difference": f"{number(size[place])}{at}"}


def one_number(array: np.ndarray) -> dict[str, str]:
    """For one float: the distance to the next one, or that it is not finite."""
    if array.dtype.kind != "f":
        return {}
    value = array[()]
    if not np.isfinite(value):
        return {"health": "NaN" if np.isnan(value) else "infinite"}
    return {"spacing": number(np.spacing(np.abs(value)))}
