"""One comparison of a loop's predicate, watched over the iterations: when will it turn?

The operands are predicted, never the boolean.  Exact counters and multipliers are continued in their own dtype;
everything else goes through ``classify`` and its model.  "Never, limit L" is said only if L is farther from the
threshold than four times the error of L.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from workbench.analysis import exact_steps
from workbench.analysis.classify import classify_history
from workbench.analysis.evolution import Evolution, Pattern
from workbench.analysis.exact_steps import MIRROR, NAMES, NEGATED, OPS
from workbench.analysis.fixes import fixes
from workbench.analysis.history import WINDOW, History
from workbench.analysis.turning import first_turn, goes_away


@dataclass
class Forecasted:
    """When the clause turns: ``k`` further evaluations, math.inf for never, None for unknown."""

    k: float | None
    low: float
    high: float
    slug: str
    sentence: str
    confidence: float
    fix: list[str] = field(default_factory=list)


def scalar(value: Any) -> Any:
    """A Python or NumPy scalar of a one-element value; anything else stays None."""
    if isinstance(value, (bool, int, float, np.generic)):
        return value
    a = np.asarray(value)
    return a.reshape(-1)[0] if a.size == 1 and a.dtype.kind in "fiub" else None


class Clause:
    """Bounded history of ``lhs op rhs``; ``ends_on`` is the truth value at which this clause lets the loop end."""

    def __init__(
        self, op: str, lhs_name: str = "lhs", rhs_name: str = "rhs", ends_on: bool = False, start: int = 0
    ) -> None:
        self.op = NAMES.get(op, op)
        self.lhs_name, self.rhs_name, self.ends_on = lhs_name, rhs_name, ends_on
        self.lhs: deque[Any] = deque(maxlen=WINDOW)
        self.rhs: deque[Any] = deque(maxlen=WINDOW)
        self.count = start  # evaluations, with those before the first that was seen
        self.same = 0  # evaluations in a row with both operands unchanged

    def observe(self, lhs: Any, rhs: Any) -> None:
        lhs, rhs = scalar(lhs), scalar(rhs)
        if self.lhs and _same(lhs, self.lhs[-1]) and _same(rhs, self.rhs[-1]):
            self.same += 1
        else:
            self.same = 0
        self.lhs.append(lhs)
        self.rhs.append(rhs)
        self.count += 1

    def truth(self) -> bool | None:
        """Value of the comparison at the last observation."""
        if self.op not in OPS or self.lhs[-1] is None or self.rhs[-1] is None:
            return None
        return bool(OPS[self.op](self.lhs[-1], self.rhs[-1]))

    def __str__(self) -> str:
        text = f"{self.lhs_name} {self.op} {self.rhs_name}"
        return text if not self.lhs else f"{text} ({_short(self.lhs[-1])} {self.op} {_short(self.rhs[-1])})"

    # --- forecasting

    def forecast(self) -> Forecasted:
        """When the truth value becomes ``ends_on``."""
        if self.op not in OPS or self.lhs[-1] is None or self.rhs[-1] is None:
            return Forecasted(None, 0, math.inf, "not-scalar", f"Clause {self} does not compare two numbers.", 0.0)
        if self.truth() == self.ends_on:
            return Forecasted(0, 0, 0, "satisfied", f"Clause {self} already lets the loop end.", 1.0)
        # from here on: continue while  moving keep threshold
        keep = NEGATED[self.op] if self.ends_on else self.op
        lhs, rhs = list(self.lhs), list(self.rhs)
        if _is_nan(lhs[-1]) or _is_nan(rhs[-1]):
            # a NaN compare has one value for ever once the operand stays NaN; != is true, all others false
            who = self.lhs_name if _is_nan(lhs[-1]) else self.rhs_name
            certain = sum(_is_nan(v) for v in (lhs if _is_nan(lhs[-1]) else rhs)[-4:])
            return Forecasted(
                math.inf,
                math.inf,
                math.inf,
                "nan",
                f"{who} is NaN, and clause {self} then never changes.",
                0.8 + 0.04 * certain,
                self._fix("nan", who, keep),
            )
        if all(_same(v, rhs[-1]) for v in rhs):
            return self._one_side(lhs, keep, rhs[-1], self.lhs_name, self.rhs_name)
        if all(_same(v, lhs[-1]) for v in lhs):
            return self._one_side(rhs, MIRROR[keep], lhs[-1], self.rhs_name, self.lhs_name)
        gap = [_difference(a, b) for a, b in zip(lhs, rhs, strict=True)]
        return self._one_side(gap, keep, 0, f"{self.lhs_name} - {self.rhs_name}", "0", exact_float=False)

    def _fix(self, slug: str, name: str, op: str, threshold: float = math.nan, **more: Any) -> list[str]:
        other = self.rhs_name if name == self.lhs_name else self.lhs_name if name == self.rhs_name else "0"
        return fixes(slug, name=name, op=op, threshold=threshold, other=other, **more)

    def _one_side(
        self, xs: list[Any], keep: str, t: Any, name: str, other: str, exact_float: bool = True
    ) -> Forecasted:
        if len(xs) < 3:
            return Forecasted(
                None, 1, math.inf, "few", f"Only {len(xs)} evaluations of clause {self}: at least 3 are needed.", 0.0
            )
        dtype = np.asarray(xs[-1]).dtype
        if self.same >= len(xs) - 1:
            if len(xs) < 6 or dtype.kind == "b":
                return Forecasted(
                    None, 1, math.inf, "few", f"Clause {self} has not changed in {len(xs)} evaluations.", 0.0
                )
            p = (len(xs) + 1) / (len(xs) + 2)
            return Forecasted(
                math.inf,
                math.inf,
                math.inf,
                "clause-invariant",
                f"Clause {self} did not change in {len(xs)} evaluations.",
                p,
                self._fix("clause-invariant", name, keep),
            )
        steps = self._steps(xs, dtype, keep, t, exact_float)
        if steps is not None:
            found = self._from_steps(steps, keep, t, name, dtype)
            if found is not None:
                return found
        if dtype.kind == "b":
            return Forecasted(
                None, 1, math.inf, "flag", f"{name} is a flag: its next change cannot be read from its past.", 0.0
            )
        return self._from_evolution(xs, keep, float(t), name, dtype)

    def _steps(self, xs: list[Any], dtype: np.dtype, keep: str, t: Any, exact_float: bool) -> exact_steps.Steps | None:
        if dtype.kind in "iu":
            narrow = dtype.itemsize < 8 and isinstance(xs[-1], np.generic)
            tail = [int(v) for v in xs[-32:]]
            bits = 8 * dtype.itemsize if narrow else None
            return exact_steps.integer_steps(tail, keep, float(t), bits, dtype.kind == "i")
        if dtype.kind == "f" and exact_float:
            return exact_steps.float_steps(np.array(xs, dtype=dtype), keep, float(t))
        return None

    def _from_steps(self, s: exact_steps.Steps, keep: str, t: Any, name: str, dtype: np.dtype) -> Forecasted | None:
        confidence = min(0.99, 0.9 + 0.01 * len(self.lhs))
        data = {"value": float(self.lhs[-1]), "step": s.step, "dtype": str(dtype), "limit": s.at}
        if s.k is not None:
            text = {
                "wraps": f"{name} moves away from {_short(t)} and ends the loop only after its {dtype} wraps",
                "geometric": f"{name} changes by the factor {s.step:.6g}",
            }.get(s.why, f"{name} changes by {s.step:.6g} each iteration")
            near = 0 if s.why != "counter-long" else math.ceil(1e-3 * s.k)
            return Forecasted(
                s.k,
                s.k - near,
                s.k + near,
                s.why,
                f"{text}; clause {self} turns in {s.k:,} iterations.",
                confidence,
                self._fix(s.why, name, keep, float(t), **data) if s.why == "wraps" else [],
            )
        text = {
            "absorbed": f"{name} stalls at {_short(s.at)}: its {dtype} absorbs the step {s.step:.6g}",
            "moves-away": f"{name} moves away from {_short(t)} by {s.step:.6g} each iteration",
            "steps-over": f"{name} goes in steps of {s.step:.6g} and never equals {_short(t)}",
            "out-of-range": f"every {dtype} number satisfies the clause, whether {name} wraps or not",
            "overflow": f"{name} overflows its {dtype} without reaching {_short(t)}",
            "limit": f"{name} shrinks to {_short(s.at)} and never reaches {_short(t)}",
        }.get(s.why)
        if text is None:
            return None
        return Forecasted(
            math.inf,
            math.inf,
            math.inf,
            s.why,
            f"{text}; clause {self} never turns.",
            confidence,
            self._fix(s.why, name, keep, float(t), **data),
        )

    def _from_evolution(self, xs: list[Any], keep: str, t: float, name: str, dtype: np.dtype) -> Forecasted:
        if len(xs) < 5:
            return Forecasted(
                None, 1, math.inf, "few", f"Only {len(xs)} evaluations of clause {self}: more are needed.", 0.0
            )
        e = classify_history(
            History(np.array(xs, dtype=dtype if dtype.kind == "f" else np.float64), self.count - len(xs))
        )
        holds = OPS[keep]
        k = first_turn(e, keep, t)
        if k is not None:
            spread = max(e.model.spread, 1e-12)
            half = 0.0 if k * spread < 0.02 else max(1.0, 4.0 * spread * k)
            if e.method == "power":
                half = max(half, 1.0, (0.12 if len(xs) < 24 else 0.01) * k)
            elif e.method == "counter" or e.order is not None:
                half = max(half, 1.0 if k > 3 and spread > 1e-9 else 0.0)
            text = f"{name} is {e.label.name} ({e.why[0]}) and makes clause {self} turn in about {k:,} iterations."
            return Forecasted(
                k, max(1, math.floor(k - half)), math.ceil(k + half), "forecast", text, 0.9 * e.confidence
            )
        if e.doubt > 0.25 or len(xs) < 8 and e.doubt > 0:
            sentence = f"{name} looks {e.label.name}, but the evidence is too thin for a never."
            return Forecasted(None, 1, math.inf, "doubtful", sentence, 0.0)
        never = Forecasted(math.inf, math.inf, math.inf, "", "", e.confidence)
        data = {"value": float(xs[-1]), "dtype": str(dtype), "limit": e.limit}
        if e.label in (Pattern.CONVERGING, Pattern.STABLE) and e.limit is not None:
            left = abs(e.limit - float(xs[-1]))
            error = e.limit_error if e.limit_error is not None else left
            # what the model missed in its hold-out it may miss again on the way to the limit
            error += 10.0 * left * (e.model.spread if e.model is not None else 0.1)
            if holds(e.limit, t) and (abs(e.limit - t) > 4 * error or keep == "!=" and e.limit == t):
                # the scatter around the limit must not reach the threshold either
                scatter = float(np.ptp(np.array(xs[-max(5, len(xs) // 4) :], dtype=float)))
                if e.method in ("noise_ball", "moving_mean", "envelope") and abs(e.limit - t) < 1.5 * scatter:
                    return Forecasted(
                        None, 1, math.inf, "noisy", f"Noise around {e.limit:.6g} may reach {t:.6g} at any time.", 0.0
                    )
                never.slug = (
                    "floor"
                    if e.method in ("floor", "settled", "constant_tail", "noise_ball", "periodic")
                    else "limit-beyond"
                )
                never.sentence = f"{name} tends to {e.limit:.9g}, and there clause {self} still holds."
                never.fix = self._fix(never.slug, name, keep, t, **data)
                return never
            return Forecasted(
                None, 1, math.inf, "limit-close", f"{name} tends to {e.limit:.9g}, too close to {t:.6g} to tell.", 0.0
            )
        if e.label is Pattern.OSCILLATING and e.period is not None and self._reaches_in_period(e, keep, t) is False:
            never.slug, never.sentence = (
                "cycle",
                f"{name} repeats with period {e.period:.6g}, and clause {self} holds all through.",
            )
            never.fix = self._fix("cycle", name, keep, t, period=e.period, **data)
            return never
        if (
            e.label is Pattern.DIVERGING
            and e.model is not None
            and e.rate != 0
            and goes_away(e, keep, float(xs[-1]), t)
        ):
            never.slug, never.sentence = (
                "moves-away",
                f"{name} is DIVERGING away from {t:.6g}; clause {self} never turns.",
            )
            never.fix = self._fix("moves-away", name, keep, t, **data)
            return never
        return Forecasted(
            None, 1, math.inf, "no-model", f"{name} is {e.label.name}; no forecast for clause {self}. {e.why[0]}", 0.0
        )

    def _reaches_in_period(self, e: Evolution, keep: str, t: float) -> bool | None:
        if e.model is None:
            return None
        n = int(min(max(8 * (e.period or 1.0), 64), 8192))
        values = e.model.predict(np.arange(1, n + 1))
        if not np.all(np.isfinite(values)):
            return None
        margin = 4 * max(e.model.spread, 0.0) * float(np.ptp(values))
        near = np.abs(values - t) <= margin if e.method != "periodic" else np.zeros(n, dtype=bool)
        return None if np.any(near) else bool(np.any(~OPS[keep](values, t)))


def _same(a: Any, b: Any) -> bool:
    return bool(a == b) or (_is_nan(a) and _is_nan(b))


def _is_nan(v: Any) -> bool:
    return isinstance(v, (float, np.floating)) and math.isnan(v)


def _difference(a: Any, b: Any) -> Any:
    if isinstance(a, (int, np.integer)) and isinstance(b, (int, np.integer)):
        return int(a) - int(b)
    return float(a) - float(b)


def _short(value: Any) -> str:
    if value is None:
        return "array"
    return f"{value:.9g}" if isinstance(value, (float, np.floating)) else str(value)
