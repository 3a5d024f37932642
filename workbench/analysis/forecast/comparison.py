"""Monitors one comparison of a loop's condition over the iterations, and forecasts when it becomes false.

The operands are predicted, never the boolean.  Exact counters and multipliers are continued in their own dtype;
everything else goes through ``classify`` and its model.  "Never, limit L" is said only if L is farther from the
threshold than four times the error of L.
"""

from __future__ import annotations

import functools
import math
from collections import deque
from typing import Any

import numpy as np

from workbench.analysis.claims.claim import Claim
from workbench.analysis.comparisons import MIRROR, NAMES, NEGATED, OPS
from workbench.analysis.forecast.laws import exact_continuation
from workbench.analysis.forecast.laws.counter_pair import two_counters
from workbench.analysis.forecast.laws.exact_continuation import holds
from workbench.analysis.forecast.laws.exact_integer_laws import integer_law
from workbench.analysis.forecast.laws.first_look import MOVES, SEASONAL_STEPS, exact_law, first_look
from workbench.analysis.forecast.laws.sawtooth import sawtooth
from workbench.analysis.forecast.laws.seasonal_steps import seasonal_steps
from workbench.analysis.forecast.operand import (
    OperandForecast,
    OperandRecord,
    PassageForecast,
    by_laws,
    never_turns,
    undecided,
)
from workbench.analysis.forecast.plateaus import REST_VALUES, Plateaus, certainty, due, moves_too_often, plateaus
from workbench.analysis.forecast.recorded_claims import recorded_claims
from workbench.analysis.series.calibration import confidence
from workbench.analysis.series.value_series import WINDOW
from workbench.text import harmless, number


def scalar(value: Any) -> Any:
    """The Python or NumPy scalar of a one-element value; None for anything else."""
    kind = type(value)
    if kind is float or kind is int or isinstance(value, (bool, int, float, np.generic)):
        return value
    a = np.asarray(value)
    return a.reshape(-1)[0] if a.size == 1 and a.dtype.kind in "fiub" else None


class ComparisonMonitor:
    """Bounded history of ``lhs op rhs``; ``ends_on`` is the truth value at which this clause lets the loop end."""

    def __init__(
        self, op: str, lhs_name: str = "lhs", rhs_name: str = "rhs", ends_on: bool = False, start: int = 0
    ) -> None:
        self.op = NAMES.get(op, op)
        self.lhs_name, self.rhs_name, self.ends_on = lhs_name, rhs_name, ends_on
        self.lhs: deque[Any] = deque(maxlen=WINDOW)
        self.rhs: deque[Any] = deque(maxlen=WINDOW)
        self.count = start  # including evaluations before the first observed one
        self.same = 0  # evaluations in a row with both operands unchanged
        self._values = OperandForecast()
        self._text = (-1, "")  # the clause as text, and the evaluation it is for

    def observe(self, lhs: Any, rhs: Any) -> None:
        """The operands at one evaluation."""
        kind, other = type(lhs), type(rhs)
        if kind is not float and kind is not int:
            lhs = scalar(lhs)
        if other is not float and other is not int:
            rhs = scalar(rhs)
        if self.lhs:
            # a moving operand, the usual case, is detected by one comparison
            before = self.lhs[-1]
            still = _same(lhs, before) if type(before) is not kind else lhs == before or lhs != lhs and before != before
            self.same = self.same + 1 if still and _same(rhs, self.rhs[-1]) else 0
        self.lhs.append(lhs)
        self.rhs.append(rhs)
        self.count += 1

    def truth(self) -> bool | None:
        """Value of the comparison at the last observation."""
        if self.op not in OPS or self.lhs[-1] is None or self.rhs[-1] is None:
            return None
        return holds(self.op, self.lhs[-1], self.rhs[-1])

    @harmless
    def __str__(self) -> str:
        if self._text[0] != self.count or not self.lhs:
            text = f"{self.lhs_name} {self.op} {self.rhs_name}"
            more = f" ({_short(self.lhs[-1])} {self.op} {_short(self.rhs[-1])})" if self.lhs else ""
            self._text = (self.count, text + more)
        return self._text[1]

    # --- forecasting

    def forecast(self) -> PassageForecast:
        """Forecast when the truth value becomes ``ends_on``."""
        if self.op not in OPS or self.lhs[-1] is None or self.rhs[-1] is None:
            return PassageForecast(None, 0, math.inf, "not-scalar", f"Clause {self} does not compare two numbers.", 0.0)
        if self.truth() == self.ends_on:
            return PassageForecast(0, 0, 0, "satisfied", f"Clause {self} already lets the loop end.", 1.0)
        # from here on, the loop continues while ``moving keep threshold``
        keep = NEGATED[self.op] if self.ends_on else self.op
        lhs, rhs = list(self.lhs), list(self.rhs)
        if _is_nan(lhs[-1]) or _is_nan(rhs[-1]):
            # a comparison with an operand that stays NaN never changes: != is true, all others are false
            who = self.lhs_name if _is_nan(lhs[-1]) else self.rhs_name
            certain = sum(_is_nan(v) for v in (lhs if _is_nan(lhs[-1]) else rhs)[-4:])
            return never_turns("nan", f"{who} is NaN, and clause {self} then never changes.", 0.8 + 0.04 * certain)
        if _constant(rhs):
            return self._one_side(lhs, keep, rhs[-1], self.lhs_name, self.rhs_name)
        if _constant(lhs):
            return self._one_side(rhs, MIRROR[keep], lhs[-1], self.rhs_name, self.lhs_name)
        exact = two_counters(lhs, rhs, keep)
        if exact is not None:
            found = self._from_steps(exact, keep, 0, f"{self.lhs_name} - {self.rhs_name}", np.dtype(np.float64))
            if found is not None:
                return found
        gap = [_difference(a, b) for a, b in zip(lhs, rhs, strict=True)]
        found = self._one_side(gap, keep, 0, f"{self.lhs_name} - {self.rhs_name}", "0", exact_float=False)
        if found.k is None and all(a > 0 and b > 0 for a, b in zip(lhs, rhs, strict=True)):
            # a residual against a moving scale: their ratio follows simpler laws than their difference
            ratio = [_float(a) / _float(b) for a, b in zip(lhs, rhs, strict=True)]
            other = self._one_side(ratio, keep, 1.0, f"{self.lhs_name} / {self.rhs_name}", "1", exact_float=False)
            return other if other.k is not None else found
        return found

    def claims(self, slug: str) -> list[Claim]:
        """Facts, from the clause's record, that explain why it never changes its truth value."""
        keep = NEGATED[self.op] if self.ends_on else self.op
        sides = (self.lhs_name, self.rhs_name, keep, self.lhs, self.rhs)
        return recorded_claims(slug, *sides, self.count, self.ends_on)

    def _one_side(
        self, xs: list[Any], keep: str, t: Any, name: str, other: str, exact_float: bool = True
    ) -> PassageForecast:
        if len(xs) < 3:
            return undecided("few", f"Only {len(xs)} evaluations of clause {self}: at least 3 are needed.")
        last = xs[-1]
        dtype = np.dtype(np.int64) if type(last) is int else getattr(last, "dtype", None) or np.asarray(last).dtype
        if self.same >= len(xs) - 1:
            if len(xs) < REST_VALUES or dtype.kind == "b":
                return undecided("few", f"Clause {self} has not changed in {len(xs)} evaluations.")
            sentence = f"Clause {self} did not change in {len(xs)} evaluations."
            return never_turns("clause-invariant", sentence, certainty(len(xs), 0, False))
        values = np.array(xs, dtype=dtype) if dtype.kind == "f" and exact_float else None
        seen = first_look(values, keep, _float(t)) if values is not None else None
        steps = self._steps(xs, values, dtype, keep, t, seen)
        if steps is not None:
            found = self._from_steps(steps, keep, t, name, dtype)
            if found is not None:
                return found
        if dtype.kind == "b":
            return undecided("flag", f"{name} is a flag: its next change cannot be read from its past.")
        if not (moves_too_often(xs) if seen is None else seen & MOVES):
            runs = plateaus(xs)
            if runs.stepped and not runs.final:
                return self._staircase(runs, xs, dtype, keep, t, name, exact_float)
        if exact_float and (dtype.itemsize == 8 if seen is None else seen & SEASONAL_STEPS):
            steps = seasonal_steps(xs, keep, t)
            found = self._from_steps(steps, keep, t, name, dtype) if steps is not None else None
            if found is not None:
                return found
        return self._by_law(self._values, xs, values, self.count, dtype, keep, t, name, exact_float)

    def _by_laws(self, xs: list[Any], dtype: np.dtype, keep: str, t: Any, name: str) -> PassageForecast | None:
        """The joint answer of all declared laws about a record of floats that rests between its moves."""
        if dtype.kind != "f":
            return None
        x = np.array(xs, dtype=np.float64)
        return by_laws(x, OperandRecord(x, dtype, self.count, keep, float(t), name, str(self)))

    def _by_law(
        self,
        forecast: OperandForecast,
        xs: list[Any],
        values: np.ndarray | None,
        total: int,
        dtype: np.dtype,
        keep: str,
        t: Any,
        name: str,
        exact_float: bool,
    ) -> PassageForecast:
        try:
            if values is None:
                values = np.array(xs, dtype=dtype if dtype.kind == "f" else np.float64)
            scale = 0.0 if exact_float else abs(float(self.lhs[-1]))
            shown = OperandRecord(values, dtype, total, keep, float(t), name, str(self), scale)
        except OverflowError:
            return undecided("huge", f"{name} has left the range of float64.")
        return forecast.forecast(shown)

    def _staircase(
        self, runs: Plateaus, whole: list[Any], dtype: np.dtype, keep: str, t: Any, name: str, exact_float: bool
    ) -> PassageForecast:
        """The forecast by a law of the values at the steps, assuming that the steps continue at the same rate."""
        even = len(set(runs.lengths[1:-1])) == 1 and max(runs.lengths[0], runs.rest) <= runs.longest
        found = None
        if len(runs.values) >= 3:
            values = np.array(runs.values, dtype=dtype) if dtype.kind == "f" and exact_float else None
            seen = first_look(values, keep, _float(t)) if values is not None else None
            steps = self._steps(runs.values, values, dtype, keep, t, seen)
            found = self._from_steps(steps, keep, t, name, dtype) if steps is not None else None
            if found is None and len(runs.values) >= 5:
                knots = OperandForecast()
                found = self._by_law(knots, runs.values, values, len(runs.values), dtype, keep, t, name, exact_float)
        if found is not None and found.k is not None and found.k < math.inf:
            k, low, high = (due(runs, v) for v in (found.k, found.low, found.high))
            if k is not None and low is not None:
                rests = f"rests {runs.longest}" if even else f"rests up to {runs.longest}"
                text = (
                    f"{name} {rests} iterations between its steps and crosses with step {found.k:,.0f} from here; "
                    f"clause {self} turns in {k:,} iterations."
                )
                kind = "staircase" if even else "uneven-staircase"
                high = math.inf if high is None else high
                return PassageForecast(k, low, high, found.slug, text, confidence(kind, len(runs.values)), kind=kind)
        if found is not None and found.k == math.inf and (found.slug == "moves-away" or even):
            return found
        # recurring values are not a staircase
        if len(set(runs.values)) <= len(runs.values) // 2:
            again = self._by_law(self._values, whole, None, self.count, dtype, keep, t, name, exact_float)
            if again.k == math.inf and again.slug == "cycle":
                return again
        sentence = (
            f"{name} moves in steps with rests up to {runs.longest} evaluations long: its next steps are not known."
        )
        return self._by_laws(whole, dtype, keep, t, name) or undecided("plateau", sentence)

    def _steps(
        self, xs: list[Any], values: np.ndarray | None, dtype: np.dtype, keep: str, t: Any, seen: int | None
    ) -> exact_continuation.Steps | None:
        """The forecast by an exact rule of the record; ``values`` is the record as an array, for floats only.

        ``seen``: the rules for floats that ``first_look`` did not exclude, as bits.
        """
        if dtype.kind in "iu":
            narrow = dtype.itemsize < 8 and isinstance(xs[-1], np.generic)
            if not all(isinstance(v, (int, np.integer)) for v in xs[-32:]):
                return None
            tail = [int(v) for v in xs[-32:]]
            bits = 8 * dtype.itemsize if narrow else None
            mark = int(t) if isinstance(t, (int, np.integer)) else float(t)
            again = sawtooth(xs, keep, mark) if bits is None else None
            if again is not None:
                return again
            found = exact_continuation.integer_steps(tail, keep, mark, bits, dtype.kind == "i")
            return found if found is not None else integer_law(tail, keep, mark, bits, dtype.kind == "i")
        return exact_law(values, keep, _float(t), seen) if values is not None and seen is not None else None

    def _from_steps(
        self, s: exact_continuation.Steps, keep: str, t: Any, name: str, dtype: np.dtype
    ) -> PassageForecast | None:
        kind = f"rule-{s.why}" if s.k is not None else f"never-{s.why}"
        if kind == "rule-counter" and dtype.kind in "iu" and s.step != -1:
            kind = "rule-counter-whole"  # a remaining stock may fall by one too, until it is refilled
        sure = confidence(kind, len(self.lhs))
        step = _float(s.step)
        if s.k is not None:
            text = {
                "wraps": f"{name} moves away from {_short(t)} and ends the loop only after its {_name(dtype)} wraps",
                "geometric": f"{name} changes by the factor {step:.6g}",
                "sawtooth": f"{name} counts, and starts again after runs that grow by a rule",
                "seasonal": f"{name} moves by steps that repeat",
                "seasonal-begun": f"{name} moves by factors that begin to repeat",
                "parabola": f"{name} moves on a parabola",
                "line": f"{name} moves on a straight line",
                "logarithm": f"{name} follows a logarithm of the iteration",
                "power": f"{name} follows a power of the iteration",
                "term-ratio": f"{name} changes by factors that follow the iteration",
                "rounded-share": f"{name} changes by a share of it, in whole numbers, and a constant",
            }.get(s.why, f"{name} changes by {step:.6g} each iteration")
            low, high = s.span if s.span is not None else (s.k, s.k)
            sentence = f"{text}; clause {self} turns in {s.k:,} iterations."
            return PassageForecast(s.k, low, high, s.why, sentence, sure, kind)
        if s.why == "resets":
            sentence = f"{name} counts up and starts again at moments that its record does not explain."
            return undecided("resets", sentence)
        if s.why == "ambiguous":
            sentence = f"{name} moves by less than its {_name(dtype)} can tell: its step, and its end, are not known."
            return undecided("ambiguous", sentence)
        text = {
            "absorbed": f"{name} stalls at {_short(s.at)}: adding {step:.6g} is lost in its {_name(dtype)} rounding",
            "moves-away": f"{name} moves away from {_short(t)} by {step:.6g} each iteration",
            "steps-over": f"{name} moves in steps of {step:.6g} and is never equal to {_short(t)}",
            "out-of-range": f"every {_name(dtype)} number satisfies the clause, whether {name} wraps or not",
            "overflow": f"{name} overflows its {_name(dtype)} without reaching {_short(t)}",
            "limit": f"{name} shrinks to {_short(s.at)} and never reaches {_short(t)}",
        }.get(s.why)
        if text is None:
            return None
        return never_turns(s.why, f"{text}; clause {self} never turns.", sure, kind)


@functools.cache
def _name(dtype: np.dtype) -> str:
    return str(dtype)


def _same(a: Any, b: Any) -> bool:
    if type(a) is not type(b):
        with np.errstate(over="ignore"):  # beyond the range of the other operand's dtype
            return holds("==", a, b) or bool(a != a) and bool(b != b)
    return bool(a == b) or bool(a != a) and bool(b != b)


def _constant(xs: list[Any]) -> bool:
    """True if all values are the same."""
    last = xs[-1]
    if not _same(xs[0], last):
        return False  # the usual case
    if last == last and len(set(map(type, xs))) == 1:
        return xs.count(last) == len(xs)
    return all(_same(v, last) for v in xs)


def _float(v: Any) -> float:
    """Nearest float; inf beyond its range."""
    try:
        return float(v)
    except OverflowError:
        return math.inf if v > 0 else -math.inf


def _is_nan(v: Any) -> bool:
    return isinstance(v, (float, np.floating)) and math.isnan(v)


def _difference(a: Any, b: Any) -> Any:
    if isinstance(a, (int, np.integer)) and isinstance(b, (int, np.integer)):
        return int(a) - int(b)
    return _float(a) - _float(b)


def _short(value: Any) -> str:
    if isinstance(value, np.generic):
        value = value.item()  # Python numbers are formatted without looking up their type
    return "array" if value is None else number(value, 9)
