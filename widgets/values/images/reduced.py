"""A 2-D view of a value with a bounded number of pixels, each the mean of a square of items."""

from __future__ import annotations

import numpy as np

from workbench.text import ordinal

#: maximum items for means; of larger arrays every k-th row and column is used
MAX_ITEMS = 16_000_000
#: an array is drawn as lines if its shorter side is at most FLAT and its longer side at least LONG times as long
FLAT, LONG = 8, 16


def is_image(shape: tuple[int, ...]) -> bool:
    """True for shapes with two axes that are longer than 1 and not too different."""
    if len(shape) < 2 or min(shape[-2:]) < 2:
        return False
    short, long = sorted(shape[-2:])
    return not (short <= FLAT and long >= LONG * short)


def real(part: np.ndarray) -> np.ndarray:
    """The magnitudes of complex numbers; other values unchanged."""
    return np.abs(part) if part.dtype.kind == "c" else part


def matrix(part: np.ndarray) -> np.ndarray | None:
    """The last two axes at index 0 of all others; a vector as one row; None without items."""
    if not part.size:
        return None
    while part.ndim > 2:
        part = part[0]
    return real(np.atleast_2d(part))


def reduced(view: np.ndarray, side: int) -> tuple[np.ndarray, str]:
    """A matrix with at most ``side`` rows and columns, and a description of a pixel ("" if it is an item).

    A square with NaN or infinity has no finite mean, so that these stay visible.
    """
    step = -(-max(view.shape) // side)
    if step == 1:
        return view, ""
    every = 1
    while view.size // (every * every) > MAX_ITEMS:
        every += 1
    if every > 1:
        view = view[::every, ::every]
        step = max(1, -(-max(view.shape) // side))
    sums = np.asarray(view, dtype=np.float32 if view.dtype == np.float32 else np.float64)
    counts = []
    with np.errstate(all="ignore"):
        for axis in (0, 1):
            starts = np.arange(0, view.shape[axis], step)
            counts.append(np.diff([*starts, view.shape[axis]]))
            sums = np.add.reduceat(sums / step, starts, axis=axis)
        whole = sums * (step * step / (counts[0][:, None] * counts[1][None, :])).astype(sums.dtype)
    note = f"1 pixel is the mean of {step} \u00d7 {step} items"
    return whole, note if every == 1 else f"{note}, every {ordinal(every)} row and column"
