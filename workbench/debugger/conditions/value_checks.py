"""Value checks (``health=``): common faults that a breakpoint can find without a condition.

=============  =====================================================================================================
``nan``        an item is NaN
``inf``        an item is infinite
``overflow``   an item is infinite, or beyond a sixteenth of the largest number of its dtype
``underflow``  an item is not zero and smaller than the smallest normal number
``zero``       every item is zero
``wrap``       an item is an integer that left the range of its dtype and wrapped around when its node computed it
``unchanged``  it equals the value of the previous iteration; NaN equals NaN
``stagnation`` it changed only by rounding in ``STAGNANT`` consecutive iterations
``exploding``  its largest magnitude grew more than tenfold in one iteration
``vanishing``  its largest magnitude fell to less than a tenth in one iteration
``pattern``    its pattern in the panel (converging, diverging, oscillating ...) differs from that ``STRIDE`` iterations
               earlier, or in a long record from that 1/``PART`` of its length earlier
=============  =====================================================================================================
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from workbench.debugger.conditions.batch import Batch
from workbench.debugger.iteration_path import short_repr
from workbench.errors import SessionError
from workbench.ops.exact_integers import wrapped_items

#: minimum number of iterations without a change beyond rounding
STAGNANT = 8
#: changes of at most this many units of rounding do not count
UNITS = 4.0
#: factor from one iteration to the next that counts as exploding or vanishing
GROWTH = 10.0
#: a pattern is computed every STRIDE iterations; in long records every 1/PART of their length, at most WIDEST
STRIDE, PART, WIDEST = 16, 32, 128

#: maximum characters of a name, and maximum names in a list
LONGEST = 1000

ALIASES = {"pattern change": "pattern", "stagnant": "stagnation", "zeros": "zero"}


def _per(found: Any) -> np.ndarray:
    return np.asarray(found).reshape(len(found), -1)


def _floats(batch: Batch) -> bool:
    return batch.values.dtype.kind in "fc" or batch.values.dtype.kind == "V"


def _none(batch: Batch) -> np.ndarray:
    return np.zeros(len(batch), bool)


def _nan(batch: Batch) -> np.ndarray:
    return np.asarray(_per(np.isnan(batch.values)).any(1)) if _floats(batch) else _none(batch)


def _inf(batch: Batch) -> np.ndarray:
    return np.asarray(_per(np.isinf(batch.values)).any(1)) if _floats(batch) else _none(batch)


def _overflow(batch: Batch) -> np.ndarray:
    if batch.values.dtype.kind in "iu":
        limit = np.iinfo(batch.values.dtype).max // 16
        low = -limit if batch.values.dtype.kind == "i" else 0
        return np.asarray(_per((batch.values > limit) | (batch.values < low)).any(1))
    if not _floats(batch):
        return _none(batch)
    return np.asarray(_per(np.abs(batch.values) > _limits(batch.values.dtype)[1] / 16).any(1))


def _underflow(batch: Batch) -> np.ndarray:
    if not _floats(batch):
        return _none(batch)
    size = np.abs(batch.values)
    return np.asarray(_per((size > 0) & (size < _limits(batch.values.dtype)[0])).any(1))


def _zero(batch: Batch) -> np.ndarray:
    found = _per(batch.values == 0)
    return np.asarray(found.all(1)) if found.shape[1] else _none(batch)


def _wrap(batch: Batch) -> np.ndarray:
    made = batch.made()
    if made is None:
        return _none(batch)
    op, operands = made
    wrapped = wrapped_items(op, [values for values, _ in operands], batch.values)
    if wrapped is None:
        return _none(batch)
    return np.asarray(_per(wrapped).any(1) & np.logical_and.reduce([there for _, there in operands]))


def _unchanged(batch: Batch) -> np.ndarray:
    before, there = batch.previous
    same = batch.values == before
    if _floats(batch):
        same = same | (np.isnan(batch.values) & np.isnan(before))
    return np.asarray(there & _per(same).all(1))


def _still(batch: Batch) -> np.ndarray:
    """(n,) True if the change since the previous iteration is only rounding."""
    before, there = batch.previous
    if batch.values.dtype.kind == "b":
        return there & _per(batch.values == before).all(1)
    unit = UNITS * float(_epsilon(batch.values.dtype))
    now, then = _per(batch.values), _per(before)
    with np.errstate(all="ignore"):
        change = np.abs(now - then) if batch.values.dtype.kind != "u" else np.maximum(now, then) - np.minimum(now, then)
        still: np.ndarray = there & (change <= unit * np.maximum(np.abs(now), np.abs(then))).all(1)
    return still


def _stagnation(batch: Batch) -> np.ndarray:
    still = _still(batch)
    run = still.copy()
    for back in range(1, STAGNANT):
        run[back:] &= still[:-back]
        run[:back] = False
    return run


def _size(values: np.ndarray) -> np.ndarray:
    flat = _per(np.abs(values if values.dtype.kind == "c" else values.astype(np.float64)))
    return flat.max(1) if flat.shape[1] else np.zeros(len(flat))


def _exploding(batch: Batch) -> np.ndarray:
    before, there = batch.previous
    return there & (_size(batch.values) > GROWTH * _size(before)) & (_size(before) > 0)


def _vanishing(batch: Batch) -> np.ndarray:
    before, there = batch.previous
    return there & (GROWTH * _size(batch.values) < _size(before))


def _pattern(batch: Batch) -> np.ndarray:
    found = _none(batch)
    if batch.label is None or batch.values.dtype.kind not in "biuf":
        return found
    for k in np.flatnonzero((batch.iteration % STRIDE == 0) & (batch.iteration >= 2 * STRIDE)).tolist():
        path = tuple(batch.iterations[k].tolist())
        apart = max(STRIDE, min(WIDEST, (1 << path[-1].bit_length() - 1) // PART))
        if path[-1] % apart == 0:
            now, before = batch.label(path), batch.label((*path[:-1], path[-1] - apart))
            found[k] = None not in (now, before) and now != before
    return found


CHECKS: dict[str, Callable[[Batch], np.ndarray]] = {
    "nan": _nan,
    "inf": _inf,
    "overflow": _overflow,
    "underflow": _underflow,
    "zero": _zero,
    "wrap": _wrap,
    "unchanged": _unchanged,
    "stagnation": _stagnation,
    "exploding": _exploding,
    "vanishing": _vanishing,
    "pattern": _pattern,
}
#: number of previous iterations that a check reads
LOOKS_BACK = {"unchanged": 1, "exploding": 1, "vanishing": 1, "stagnation": STAGNANT}


def check_names(given: str | Sequence[str]) -> tuple[str, ...]:
    """The names of checks in order; SessionError (``bad-health``) with a similar name for an unknown one."""
    parts = given[:LONGEST].split(",") if isinstance(given, str) else given
    if not isinstance(parts, list | tuple):
        parts = [given]
    names = []
    for part in parts[:LONGEST]:
        name = part[:LONGEST].strip().lower() if isinstance(part, str) else short_repr(part)
        name = ALIASES.get(name, name)
        if name not in CHECKS:
            near = difflib.get_close_matches(name[:40], CHECKS, 1)
            raise SessionError(
                f"Unknown check {name[:40]!r}.",
                slug="bad-health",
                fix=(f"did you mean {near[0]!r}? " if near else "") + f"the checks are {', '.join(CHECKS)}.",
            )
        names.append(name)
    if not names:
        raise SessionError("health: no check was named.", slug="bad-health", fix=f"the checks are {', '.join(CHECKS)}.")
    return tuple(dict.fromkeys(names))


def dtype_kinds(names: Sequence[str]) -> str:
    """The kinds of dtypes to which the checks apply; empty if to all."""
    if not names:
        return ""
    if set(names) == {"wrap"}:
        return "iu"
    return "fcV" if set(names) <= {"nan", "inf", "underflow"} else "biufcV"


def failing_checks(names: Sequence[str], batch: Batch) -> np.ndarray:
    """(n,) mask of firings that fail at least one of the checks."""
    found = _none(batch)
    if batch.values.dtype.kind not in "biufcV":
        return found
    with np.errstate(all="ignore"):
        for name in names:
            try:
                found = found | CHECKS[name](batch)
            except TypeError:  # the check does not apply to this dtype
                continue
    return found


def first_failing_check(names: Sequence[str], batch: Batch) -> str:
    """Name of the first check that fails for the last firing."""
    return next((n for n in names if failing_checks((n,), batch)[-1]), "")


def _limits(dtype: np.dtype) -> tuple[float, float]:
    """(smallest normal number, largest number) of a float dtype."""
    info = np.finfo(dtype) if dtype.kind in "fc" else _other_info(dtype)
    return float(info.smallest_normal), float(info.max)


def _epsilon(dtype: np.dtype) -> float:
    if dtype.kind in "iu":
        return 0.0
    return float((np.finfo(dtype) if dtype.kind in "fc" else _other_info(dtype)).eps)


def _other_info(dtype: np.dtype) -> np.finfo:
    import ml_dtypes

    return ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]  # its constructor has no annotations
