"""The plain NumPy twin of ``streaming``: the same facts from the whole history, slow and obvious. For tests only."""

from __future__ import annotations

from typing import Any

import numpy as np

RING = 512
BLOCKS = 48
HEAD = 32
SAMPLE = 64
APPROACH = 16
LONG = 200


class ScalarStateTwin:
    """Keeps the whole history and derives each property of ``ScalarState`` from it when asked."""

    def __init__(self) -> None:
        self.history: np.ndarray = np.empty(0)
        self.count = 0

    def update(self, buffer: Any) -> None:
        a = np.atleast_1d(np.asarray(buffer))
        self.history = np.concatenate([self.history, a]) if self.count else a.copy()
        self.count = len(self.history)

    def _wide(self, values: np.ndarray) -> np.ndarray:
        kinds: Any = {"f": np.float64, "i": np.int64, "u": np.uint64, "b": np.bool_, "V": np.float64}
        return values.astype(kinds[values.dtype.kind])

    def values(self) -> np.ndarray:
        return self._wide(self.history[-RING:])

    def head(self) -> np.ndarray:
        return self._wide(self.history[:HEAD])

    @property
    def sample_stride(self) -> int:
        stride = 1
        while -(-self.count // stride) > SAMPLE:
            stride *= 2
        return stride

    def sample(self) -> np.ndarray:
        return self._wide(self.history[:: self.sample_stride])

    def approach(self) -> np.ndarray:
        run = self.constant_run
        there = LONG <= run and self.count - run >= APPROACH
        return self._wide(self.history[self.count - run - APPROACH : self.count - run] if there else self.history[:0])

    @property
    def range(self) -> tuple[float, float] | None:
        x = self.history.astype(np.float64)
        x = x[np.isfinite(x)]
        return (float(x.min()), float(x.max())) if x.size else None

    def _words(self) -> list[bytes]:
        return [v.tobytes() for v in self._wide(self.history)]

    def _signs(self) -> list[int]:
        h = [v.item() for v in self.history]
        return [(b > a) - (b < a) for a, b in zip(h, h[1:], strict=False)]

    def _runs(self) -> list[int]:
        runs: list[int] = []
        words = self._words()
        for i, w in enumerate(words):
            if i and w == words[i - 1]:
                runs[-1] += 1
            else:
                runs.append(1)
        return runs

    @property
    def constant_run(self) -> int:
        return self._runs()[-1]

    @property
    def longest_constant_run(self) -> int:
        return max(self._runs()[:-1], default=0)

    @property
    def monotone_run(self) -> int:
        signs = self._signs()
        n = 0
        for s in reversed(signs):
            if s == 0 or s != signs[-1]:
                break
            n += 1
        return n * (signs[-1] if signs else 0)

    @property
    def alternating_run(self) -> int:
        signs = self._signs()
        n, want = 0, signs[-1] if signs else 0
        for s in reversed(signs):
            if s == 0 or s != want:
                break
            n, want = n + 1, -want
        return n

    @property
    def first_nan(self) -> int | None:
        where = np.flatnonzero(np.isnan(self.history.astype(np.float64)))
        return int(where[0]) if where.size else None

    @property
    def first_inf(self) -> int | None:
        where = np.flatnonzero(np.isinf(self.history.astype(np.float64)))
        return int(where[0]) if where.size else None

    @property
    def nonfinite_count(self) -> int:
        return int(np.count_nonzero(~np.isfinite(self.history.astype(np.float64))))

    @property
    def block_length(self) -> int:
        length = 1
        while self.count // length > BLOCKS:
            length *= 2
        return length

    def blocks_array(self) -> np.ndarray:
        x = self.history.astype(np.float64)
        exact = [v.item() for v in self.history]
        with np.errstate(all="ignore"):
            d = np.array([0.0] + [abs(float(b - a)) for a, b in zip(exact, exact[1:], strict=False)])
        finite = np.flatnonzero(np.isfinite(x))
        origin = x[finite[0]] if finite.size else 0.0
        length, rows = self.block_length, []
        for start in range(0, self.count - length + 1, length):
            v, dd = x[start : start + length], d[start : start + length]
            v = v[np.isfinite(v)]
            dd = dd[np.isfinite(x[start : start + length]) & np.isfinite(dd) & (np.arange(start, start + length) > 0)]
            shifted = v - origin
            rows.append(
                [shifted.sum(), (shifted**2).sum(), v.min(initial=np.inf), v.max(initial=-np.inf)]
                + [dd.sum(), dd.max(initial=0.0), dd.min(initial=np.inf)]
            )
        return np.array(rows).reshape(-1, 7)


def fused_pass(x: np.ndarray, before: np.ndarray) -> tuple[float, float, float, int]:
    """(norm, norm of the step, largest |d|, number of non-finite values): the twin of the pass of ``VectorState``."""
    x, before = x.astype(np.float64).ravel(), before.astype(np.float64).ravel()
    d = x - before
    top = float(np.abs(d).max(initial=0.0))
    return float(np.linalg.norm(x)), float(np.linalg.norm(d)), top, int(np.count_nonzero(~np.isfinite(x)))
