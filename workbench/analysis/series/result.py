"""Result of ``classify``: the pattern of a variable over the iterations of its loop, and the numbers behind it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np

from workbench.errors import TraceError
from workbench.libraries import needed
from workbench.text import estimate, harmless, words_html


class Pattern(Enum):
    """The pattern of a variable over the iterations of its loop; the values are full sentences.

    ===========  ==========================================================================
    name         the values
    ===========  ==========================================================================
    CONVERGING   approach a limit, or reached one during the record
    DIVERGING    grow without bound, drift steadily or leave the finite numbers
    OSCILLATING  repeat a pattern that does not decay
    STABLE       stay at one level
    CHAOTIC      are bounded and follow a rule, but nearby histories separate
    UNKNOWN      are too few or too mixed for an answer
    ===========  ==========================================================================

    Examples
    --------
    >>> wb.Pattern.OSCILLATING
    <Pattern.OSCILLATING: 'The values repeat a pattern that does not decay.'>
    """

    CONVERGING = "The values approach a limit, or reached one during the record."
    DIVERGING = "The values grow without bound, drift steadily or leave the finite numbers."
    OSCILLATING = "The values repeat a pattern that does not decay."
    STABLE = "The values stay at one level."
    CHAOTIC = "The values are bounded and follow a rule, but nearby histories separate: no pattern repeats."
    UNKNOWN = "The data are too few or too mixed for an answer."

    @harmless
    def __str__(self) -> str:
        return self.name


def percent(share: float) -> str:
    """A share or a probability in percent, never rounded to 0 % or 100 %."""
    if 0 < share < 0.005:
        return "< 1 %"
    return "> 99 %" if 0.995 <= share < 1 else f"{100 * share:.0f} %"


@dataclass
class Evolution:
    """The pattern of a variable and the numbers behind it, returned by :func:`workbench.classify`.

    Numbers that do not apply to the pattern are None. Iterations count as in the record, from 0.

    Attributes
    ----------
    label : Pattern
        The pattern.
    confidence : float
        Probability that the label is right, from 0 to 1, calibrated on records whose pattern is known.
    limit : float or None
        Estimated limit, in the unit of the values.
    limit_error : float or None
        Estimate of ``|limit - true limit|``.
    rate : float or None
        Factor per iteration of the distance to the limit, or of the growth.
    order : float or None
        Order of superlinear convergence: 2 for Newton's iteration.
    sublinear_exponent : float or None
        The exponent e of an error that falls like k**-e.
    period : float or None
        Period of an oscillation in iterations.
    issues : dict of str to int
        Numerical problems ("nan", "inf", "overflow_eta", "exploding", "vanishing", "stagnation", "cancellation") and
        the iteration at which they begin, or will begin.
    why : list of str
        Sentences: the reason of the label first.
    method : str
        Name of the step that decided.
    count : int
        Number of values in the record.
    component : int or None
        For a tensor, the component that decided; None for its norm.
    doubt : float
        Share of the evidence that the deciding step missed, from 0 to 1; the confidence accounts for it.
    model : object or None
        A model that continues the values; see :meth:`fitted`.
    distance : float
        The distance from the newest value to the limit, at least a hundredth of the distance covered; 0 without a
        limit. The limit is printed only if its error is small compared with this.
    least : float or None
        A lower bound of the values, such as 0 for norms. Limits and forecasts are not below it either.
    why_not : list of RefusedLaw
        The laws that were rejected for the label: ``law``, ``reason`` and ``numbers``. ``print`` them.

    Examples
    --------
    >>> evolution = wb.classify([1 + 0.5**k for k in range(20)])
    >>> print(evolution)
    CONVERGING (confidence ... %, 20 values). Limit 1... (within ...). Rate 0.5. ...
    >>> evolution.fitted(2)["value"]
    [1.00000..., 1.00000...]
    """

    label: Pattern
    confidence: float = 0.0
    limit: float | None = None
    limit_error: float | None = None
    rate: float | None = None
    order: float | None = None
    sublinear_exponent: float | None = None
    period: float | None = None
    issues: dict[str, int] = field(default_factory=dict)
    why: list[str] = field(default_factory=list)
    method: str = ""
    count: int = 0
    component: int | None = None
    doubt: float = 0.0
    model: Any = field(default=None, repr=False)
    distance: float = field(default=0.0, repr=False)
    least: float | None = field(default=None, repr=False)
    why_not: list[Any] = field(default_factory=list, repr=False, compare=False)

    def above(self, least: float = 0.0) -> Evolution:
        """The answer for values that are never below ``least``, such as norms: then no limit or forecast is either.

        A limit below ``least`` by no more than its error becomes ``least``; any other lower limit is dropped.
        """
        self.least = least
        if self.limit is not None and self.limit < least:
            near = self.limit_error is not None and least - self.limit <= self.limit_error
            self.limit, self.limit_error = (least, self.limit_error) if near else (None, None)
        return self

    def of_norm(self) -> Evolution:
        """The part of an answer about a norm or a modulus that also holds for its array: that it vanishes or grows.

        The norm reveals nothing else about the elements: on a circle they move for ever with a constant norm, and the
        norm of a converging iterate may oscillate.
        """
        self.above(0.0)
        vanishes = self.label is Pattern.CONVERGING and self.limit is not None and self.limit <= (self.limit_error or 0)
        grows = self.label is Pattern.DIVERGING and (self.rate or 0.0) > 1.0
        if not vanishes and not grows and not {"nan", "inf"} & self.issues.keys():
            self.label, self.confidence, self.method, self.model = Pattern.UNKNOWN, 0.0, "norm", None
            self.limit = self.limit_error = self.rate = self.order = self.sublinear_exponent = self.period = None
            self.why = ["The norm of an array shows only whether it vanishes or grows; this norm does neither."]
        return self

    def table(self) -> dict[str, Any]:
        """Return the answer as plain data for JSON; numbers that are not finite become None."""
        out: dict[str, Any] = {"label": self.label.name, "method": self.method, "count": self.count}
        for name in (
            *("confidence", "limit", "limit_error", "rate", "order", "sublinear_exponent", "period", "component"),
        ):
            value = getattr(self, name)
            known = value is not None and math.isfinite(value)
            out[name] = None if not known else value if isinstance(value, int) else float(value)
        refused = [law.table() for law in self.why_not]
        return {**out, "issues": dict(self.issues), "why": list(self.why), "why_not": refused}

    def to_pandas(self) -> Any:
        """Return :meth:`table` as a pandas Series; ``pandas.DataFrame`` makes one row for each of several answers.

        Raises
        ------
        TraceError
            If pandas is not installed (``missing-library``).

        Examples
        --------
        >>> evolution = wb.classify([1 + 0.5**k for k in range(20)])
        >>> evolution.to_pandas()["rate"]  # doctest: +SKIP
        0.5
        """
        return needed("pandas", error=TraceError).Series(self.table(), dtype=object)

    def fitted(self, k: int, back: int = 0) -> dict[str, list[float]] | None:
        """Return the values of the model with a 90 % band, ready to be plotted.

        Parameters
        ----------
        k : int
            Number of iterations after the record.
        back : int, default 0
            Number of last iterations of the record.

        Returns
        -------
        dict of str to list, or None
            ``iteration``, ``value``, ``low`` and ``high``, of equal length; iterations at which the model leaves the
            finite numbers are left out. None if the answer has no model.

        Raises
        ------
        ValueError
            For a negative length or more than a million iterations.
        """
        if k < 0 or back < 0 or k + back > 1_000_000:
            raise ValueError(f"between 0 and a million iterations can be fitted, but k is {k} and back {back}")
        if self.model is None:
            return None
        j = np.arange(-min(back, self.count) + 1, k + 1)
        values, now = self.model.predict(j), float(self.model.predict(0)[0])
        error = self.limit_error if self.label is Pattern.CONVERGING and self.limit_error is not None else 0.0
        with np.errstate(all="ignore"):
            # the hold-out error is relative to the distance covered; the error of the limit counts as it is approached
            width = 1.645 * self.model.spread * np.abs(values - now) + np.where(j > 0, error, 0.0)
        good = np.isfinite(values) & np.isfinite(width)
        least = -np.inf if self.least is None else self.least
        columns = (self.count - 1 + j, *(np.maximum(y, least) for y in (values, values - width, values + width)))
        names = ("iteration", "value", "low", "high")
        return {name: column[good].tolist() for name, column in zip(names, columns, strict=True)}

    @harmless
    def __repr__(self) -> str:
        return f"<Evolution {self.label.name}: {self.count} values>"

    @harmless
    def _repr_html_(self) -> str:
        return words_html("\n".join([str(self), *self.why]))

    @harmless
    def __str__(self) -> str:
        parts = [f"{self.label.name} (confidence {percent(self.confidence)}, {self.count} values)."]
        limit = None if self.limit is None else estimate(self.limit, self.limit_error, self.distance)
        if limit is not None:
            parts.append(f"Limit {limit}.")
        for name, value in (
            ("Rate", self.rate),
            ("Order", self.order),
            ("Exponent", self.sublinear_exponent),
            ("Period", self.period),
        ):
            if value is not None:
                parts.append(f"{name} {value:.6g}.")
        if self.issues:
            parts.append("Issues: " + ", ".join(f"{k} at {v}" for k, v in self.issues.items()) + ".")
        return " ".join(parts + self.why)


@dataclass
class Finding:
    """The result of one step of the decision list; a step that does not apply returns None."""

    label: Pattern
    method: str
    why: str
    model: Any = None
    rate: float | None = None
    order: float | None = None
    sublinear_exponent: float | None = None
    period: float | None = None
    limit: float | None = None
    limit_error: float | None = None
    issues: dict[str, int] = field(default_factory=dict)
    doubt: float = 0.0  # from 0 to 1; lowers the calibrated confidence
