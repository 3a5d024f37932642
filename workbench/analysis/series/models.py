"""Models that continue a history: each predicts the value j iterations after the last one.

All models work on the scaled values of :class:`History`; :class:`Scaled` scales their answers back.  ``exact`` says
that the forecast is arithmetic rather than a fit, ``spread`` the relative error per value in the hold-out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np


class Model(Protocol):
    limit: float | None
    spread: float

    def predict(self, j: np.ndarray) -> np.ndarray: ...


@dataclass
class Settled:
    """The value is at its limit."""

    limit: float
    spread: float = 0.0

    def predict(self, j: np.ndarray) -> np.ndarray:
        return np.full(np.shape(j), self.limit)


@dataclass
class Cycle:
    """The next values repeat ``following``."""

    following: np.ndarray
    spread: float = 0.0
    limit: float | None = None

    def predict(self, j: np.ndarray) -> np.ndarray:
        return self.following[(np.asarray(j, dtype=np.int64) - 1) % len(self.following)]


@dataclass
class Counter:
    """Steps of constant size."""

    last: float
    step: float
    spread: float = 0.0
    limit: float | None = None

    def predict(self, j: np.ndarray) -> np.ndarray:
        return self.last + self.step * np.asarray(j, dtype=float)


@dataclass
class PowerLaw:
    """Differences a * K**-s with K = k + k0 (signs alternate if ``alternating``); K is that of the last difference.

    The remaining sum is computed by the midpoint rule with one Euler-Maclaurin correction; its error is O(K**-(s+3)).
    """

    last: float
    a: float
    s: float
    K: float
    alternating: bool = False
    spread: float = 0.0

    def _integral(self, top: np.ndarray | float) -> np.ndarray:
        s, low = self.s, self.K + 0.5
        if abs(s - 1.0) < 1e-9:
            body = np.log(top / low)
        else:
            body = (np.asarray(top, dtype=float) ** (1.0 - s) - low ** (1.0 - s)) / (1.0 - s)
        return body + s / 24.0 * (np.asarray(top, dtype=float) ** (-s - 1.0) - low ** (-s - 1.0))

    def predict(self, j: np.ndarray) -> np.ndarray:
        j = np.asarray(j, dtype=float)
        with np.errstate(all="ignore"):
            if self.alternating:  # Euler's transform of the remainder: half the next difference, corrected once

                def rest(K: np.ndarray | float) -> np.ndarray:
                    return self.a * (K + 0.5) ** -self.s / 2.0

                sign = np.where(j % 2 == 0, 1.0, -1.0)
                return self.limit_value() + rest(self.K + j) * sign
            return self.last + self.a * self._integral(self.K + j + 0.5)

    def limit_value(self) -> float:
        if self.alternating:
            return self.last - self.a * (self.K + 0.5) ** -self.s / 2.0
        low = self.K + 0.5
        return self.last + self.a * (low ** (1.0 - self.s) / (self.s - 1.0) - self.s / 24.0 * low ** (-self.s - 1.0))

    @property
    def limit(self) -> float | None:
        if self.alternating:
            return self.limit_value() if self.s > 0 else None
        return self.limit_value() if self.s > 1.02 else None


@dataclass
class LinearRecurrence:
    """x(n + j) = x(n) + sum over modes of c * z * (1 - z**j) / (1 - z): an AR model of the differences in closed form.

    ``c`` are the modes' shares of the last difference, ``z`` the roots of the characteristic polynomial.
    """

    last: float
    z: np.ndarray
    c: np.ndarray
    dominant: complex
    spread: float = 0.0
    order: int = 1

    def predict(self, j: np.ndarray) -> np.ndarray:
        j = np.atleast_1d(np.asarray(j, dtype=float))
        total = np.zeros(j.shape, dtype=complex)
        with np.errstate(all="ignore"):
            for c, z in zip(self.c, self.z, strict=True):
                if abs(z - 1.0) < 1e-12:
                    total += c * j
                elif z != 0:
                    total += c * z * (np.exp(j * np.log(complex(z))) - 1.0) / (z - 1.0)
            return self.last + total.real

    @property
    def limit(self) -> float | None:
        if abs(self.dominant) >= 1.0:
            return None
        inside = np.abs(self.z) < 1.0
        return float(self.last + np.sum(self.c[inside] * self.z[inside] / (1.0 - self.z[inside])).real)


@dataclass
class Superlinear:
    """Values that converge to ``limit`` with errors e(j+1) = C e(j)**p, p > 1."""

    limit: float
    error: float
    order: float
    log_c: float
    spread: float = 0.0

    def predict(self, j: np.ndarray) -> np.ndarray:
        j = np.atleast_1d(np.asarray(j, dtype=float))
        sign, log_e = (1.0 if self.error >= 0 else -1.0), math.log(max(abs(self.error), 1e-320))
        fixed = self.log_c / (1.0 - self.order)  # log e = fixed is the unstable fixed point of the map
        with np.errstate(all="ignore"):
            return self.limit + sign * np.exp(np.minimum(fixed + (log_e - fixed) * self.order**j, 0.0))


@dataclass
class Stairs:
    """Values that rest for ``every`` iterations between the steps of an inner model.

    ``last`` is the present value, which lasts for ``left`` more iterations.
    """

    inner: Model
    every: int
    left: int
    last: float

    def predict(self, j: np.ndarray) -> np.ndarray:
        steps = -(-(np.atleast_1d(np.asarray(j, dtype=np.int64)) - self.left) // self.every)
        return np.where(steps < 1, self.last, self.inner.predict(np.maximum(steps, 1)))

    @property
    def spread(self) -> float:
        return self.inner.spread

    @property
    def limit(self) -> float | None:
        return self.inner.limit


@dataclass
class Scaled:
    """A model in the variable's own scale."""

    inner: Model
    exponent: int

    def predict(self, j: np.ndarray | int) -> np.ndarray:
        """Values j iterations after the last one; inf where they leave float64."""
        with np.errstate(all="ignore"):
            half = self.exponent // 2
            return np.ldexp(np.ldexp(np.atleast_1d(self.inner.predict(np.asarray(j))), half), self.exponent - half)

    @property
    def spread(self) -> float:
        return self.inner.spread

    @property
    def limit(self) -> float | None:
        value = self.inner.limit
        return None if value is None else float(np.ldexp(value, self.exponent))
