"""``Outlook``: everything known about a watched loop at one moment, within a bounded amount of work.

Forecasts are made by the black box of :mod:`workbench.analysis.forecast` from the operands of ``until``: PREDICTED or
UNKNOWN, as the code of the loop is not known.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.analysis import Follower
from workbench.analysis.laws.chance.rest import rest
from workbench.analysis.laws.record import FallingRecord
from workbench.analysis.live.histories import TAIL, HistoryColumn
from workbench.analysis.live.label import evolution_of, label_of
from workbench.analysis.series.result import Evolution, Pattern
from workbench.analysis.standing import LoopEnd, Standing
from workbench.analysis.termination.query import observe
from workbench.analysis.text import bounds, listed
from workbench.analysis.verdict import Termination, unknown
from workbench.errors import WorkbenchError
from workbench.ir.node import Ref
from workbench.recorder.graph import usable
from workbench.text import estimate, harmless

if TYPE_CHECKING:
    from workbench.recorder.watch import Watch

#: maximum number of variables that are classified at one look, and of values of a strip
VARIABLES, POINTS = 12, 240
#: newest iterations that are searched for the moment when ``until`` was met
UNTIL_WINDOW = 100_000
#: equal values in a row after which a variable is said to rest
REST_VALUES = 6
#: bytes of an array's values that are compared at one look
VERIFIED = 2**22
#: iterations without a change after which a loop without ``until`` stagnates, if they are at least a quarter of all
STILL = 20
#: minimum confidence for which a callback is called
SURE = 0.9
#: reasons of a loop that will not end because a variable rests, or moves away
RESTS = {
    *("floor", "noise-floor", "limit-beyond", "cycle", "absorbed", "no-effect", "not-updated", "clause-invariant"),
    *("recurrence", "stagnates", "turned"),
}
LEAVES = {"moves-away", "overflow", "step-too-large", "wraps"}
#: errors with which a forecast may fail while the loop continues to write
TROUBLE = (WorkbenchError, LookupError, ValueError, TypeError, ArithmeticError, StopIteration)


@dataclass(frozen=True)
class VariableOutlook:
    """One variable: its newest value, how it evolves, and a thinned history for a strip.

    For an array ``value`` and the history are the 2-norm, for a complex number the modulus; ``measure`` says so, and is
    empty for a real number. The evolution is that of the values which the history shows.
    """

    name: str
    value: float | None
    evolution: Evolution
    x: tuple[int, ...] = ()
    y: tuple[float, ...] = ()
    bound: float | None = None  #: the number with which ``until`` compares it
    measure: str = ""
    rests: int | None = None  #: the iteration of its last change, if that is long enough ago
    at: int | None = None  #: the iteration of ``value``
    #: iterations where it is not finite: the first and the last, True if no value between them is drawn, and the kind
    #: ("nan", "inf") of the first
    bad: tuple[int, int, bool, str] | None = None


@dataclass(frozen=True)
class Outlook:
    """A watched loop at one moment.

    ``state`` is that of the watch, or "quiet": its calls have no block, and the last was at ``heard``, a time of day.
    ``rate`` is in iterations per second, ``seconds`` since the watch began. ``gap`` is the distance of the first clause
    of ``until`` that is not met: (text, |left - right|).
    """

    name: str
    state: str
    iteration: int
    seconds: float
    rate: float
    end: Termination
    variables: tuple[VariableOutlook, ...] = ()
    gap: tuple[str, float] | None = None
    found: dict[str, str] = field(default_factory=dict)
    heard: str = ""
    stands: LoopEnd | None = None
    reached: str | None = None  #: the end that ``until`` waits for if it is met, and since when
    lost: str | None = None  #: the same if it was met before and no longer is

    @property
    def over(self) -> bool:
        """True if the loop has ended."""
        return self.state not in ("ready", "running", "quiet")

    @property
    @harmless
    def sentence(self) -> str:
        """The outlook in one sentence."""
        if self.state == "quiet":
            return f"No call since {self.heard}. If the loop is over, call watch.finish()."
        if self.over and self.stands is not None:
            said = [f"{self.stands.headline}, {time_text(self.seconds)}.", self.why]
            return " ".join(part for part in said if part)
        if self.reached is not None:
            return f"{self.reached}; the loop goes on"
        return self._ahead() if self.lost is None else f"{self.lost}; {self._ahead()}"

    @property
    def why(self) -> str:
        """The rest of the sentence about a finished loop, after the headline."""
        sentence, stands = self.reached or self.lost, self.stands
        stopped = self.lost is not None and stands is not None and stands.standing is Standing.STOPPED
        why = "" if stands is None else stands.why if not stopped else f"{stands.how}." if stands.how else ""
        return " ".join(part for part in (why, f"{sentence}." if sentence else "") if part)

    def _ahead(self) -> str:
        """The forecast in words."""
        end = self.end
        if end.outcome == "terminates" and end.remaining is not None:
            low, high = end.interval or (end.remaining, end.remaining)
            between = f" ({bounds(low, high)})" if (low, high) != (end.remaining,) * 2 else ""
            left = f", {time_text(end.remaining / self.rate)}" if self.rate > 0 else ""
            return f"about {end.remaining:,} more iterations{between}{left}"
        if end.outcome == "never":
            return f"will not get there: {self._rest()}{end.reason.sentence}"
        return str(end.reason.sentence)

    def _rest(self) -> str:
        """The value at which a variable of ``until`` rests, and since when."""
        for v in self.variables:
            if v.bound is not None and v.rests is not None and v.value is not None:
                return f"{v.name} has been {v.value:.4g} since iteration {v.rests:,}. "
        return ""

    @property
    @harmless
    def line(self) -> str:
        """The outlook as one line of a terminal."""
        first = next((v for v in self.variables if v.value is not None), None)
        value = f", {first.name} {' '.join([first.measure, f'{first.value:.4g}']).strip()}" if first is not None else ""
        return f"{self.name}: {self.iteration:,} it, {self.rate:,.3g} it/s{value}: {self.sentence}"


def time_text(seconds: float) -> str:
    """Seconds in words.

    Examples
    --------
    >>> from workbench.recorder.outlook import time_text
    >>> time_text(0.25), time_text(4.2), time_text(200), time_text(90000)
    ('0.2 s', '4 s', '3 min 20 s', '25 h 0 min')
    """
    if seconds < 60:
        return f"{seconds:.0f} s" if seconds >= 1 else f"{seconds:.1f} s"
    whole = int(seconds)
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


class Outlooks:
    """Looks at one watch repeatedly: a look reads only the new rows since the previous one."""

    def __init__(self) -> None:
        self._follower: Follower | None = None

    def look(self, watch: Watch, rate: float = 0.0) -> Outlook:
        """The outlook now."""
        seconds, state, iteration = watch.seconds, watch.state, watch.iteration
        heard = ""
        if watch.quiet:
            state, heard = "quiet", time.strftime("%H:%M:%S", time.localtime(time.time() - watch.silent))
        if not watch.variables or not watch.root.variables:
            nothing = unknown("no-data", "No numbers are recorded." if watch.states else "Nothing is recorded yet.")
            found = _found(watch, (), nothing)
            return Outlook(
                watch.name, state, iteration, seconds, rate, nothing, found=found, heard=heard, stands=watch.end
            )
        trace = watch.trace
        if self._follower is None or self._follower.trace is not trace:
            self._follower = Follower(trace)
        # all variables up to one row, while the loop writes on
        start, row = int(watch.activations()[0][-1]) + 2, watch.row
        iteration = max(0, row - start + 1)
        variables = tuple(self._variable(watch, name, start, row + 1) for name in _first(watch))
        end = _end(watch)
        found = _found(watch, variables, end)
        return Outlook(
            watch.name,
            state,
            iteration,
            seconds,
            rate,
            end,
            variables,
            _gap(watch),
            found,
            heard,
            watch.end,
            *_reached(watch),
        )

    def _variable(self, watch: Watch, name: str, start: int, stop: int) -> VariableOutlook:
        assert self._follower is not None
        ref = Ref(f"{'/'.join(watch.path)}/{name}/Merge")
        try:
            evolution = label_of(watch.trace, ref)
        except TROUBLE as error:
            evolution = Evolution(Pattern.UNKNOWN, why=[str(getattr(error, "message", error))])
        column = next(v for v in watch.variables if v.name == name)
        source, norm = (column.statistics, True) if column.statistics is not None else (column, False)
        rows: np.ndarray = np.empty(0, np.int64)
        if stop > (first := max(start, source.first)):
            rows = np.unique(np.linspace(first, stop - 1, POINTS).astype(np.int64))
        values = source.take(rows) if source.dtype is not None else np.empty(0)
        measure = "2-norm" if norm or values.ndim > 1 else "modulus" if values.dtype.kind == "c" else ""
        y = _sizes(values, norm)
        if measure == "2-norm" and len(rows):
            newest = np.arange(max(first, stop - TAIL), stop)
            if column.missing is not None:
                newest = newest[~column.missing.take(newest).astype(bool)]
            evolution = _of_norms(_sizes(source.take(newest), norm), newest - start + 1, evolution)
        silent = np.zeros(len(rows), bool)  # iterations without a value of it
        if column.missing is not None and len(rows):
            silent = column.missing.take(rows).astype(bool)
        newest_row = int(np.flatnonzero(~silent)[-1]) if not silent.all() else None
        value = None if newest_row is None else float(y[newest_row])
        bad = _bad(y, rows - start + 1, silent, evolution)
        y = np.where(silent, np.nan, y)
        bound = next((c.bound for c in watch.until if c.variable == name and not isinstance(c.bound, str)), None)
        x = tuple((rows - start + 1).tolist())
        rests = _array_rests(column, start, stop) if column.shape else self._rests(ref, watch.iteration)
        at = None if newest_row is None else x[newest_row]
        bound = None if measure else bound
        return VariableOutlook(name, value, evolution, x, tuple(y.tolist()), bound, measure, rests, at, bad)

    def _rests(self, ref: Ref, iteration: int) -> int | None:
        """The iteration since which a number has not changed, if that lasts for REST_VALUES iterations."""
        assert self._follower is not None
        try:
            run = getattr(self._follower.state(ref, newest=True), "constant_run", 0)
        except TROUBLE:
            return None
        return iteration - run + 1 if run >= REST_VALUES else None


def _array_rests(column: Any, start: int, stop: int) -> int | None:
    """The iteration since which an array has not changed, if that lasts for REST_VALUES iterations.

    It is found from statistics, and then from at most VERIFIED bytes of values: those of the newest two iterations,
    which differ in a cyclic array whatever its period, and of iterations before them.
    """
    most = max(3, VERIFIED // max(1, int(np.prod(column.shape)) * column.dtype.itemsize))
    source, window = (column, min(most, TAIL)) if column.statistics is None else (column.statistics, TAIL)
    rows = np.arange(max(start, source.first, column.first, stop - window), stop)
    if column.missing is not None:
        rows = rows[~column.missing.take(rows).astype(bool)]
    if len(rows) < REST_VALUES:
        return None
    numbers = source.take(rows).reshape(len(rows), -1)
    other = np.flatnonzero(~_same(numbers, numbers[-1]))
    rows = rows[other[-1] + 1 if len(other) else 0 :]
    if len(rows) < REST_VALUES:
        return None
    spread = np.linspace(0, len(rows) - 1, min(most, len(rows)) - 1).astype(np.int64)
    some = column.take(rows[np.unique([*spread, len(rows) - 2])])
    whole = some.reshape(len(some), -1)
    return int(rows[0]) - start + 1 if _same(whole, whole[-1]).all() else None


def _same(values: np.ndarray, newest: np.ndarray) -> np.ndarray:
    return np.asarray(((values == newest) | ((values != values) & (newest != newest))).all(axis=1))


def _sizes(values: np.ndarray, norm: bool) -> np.ndarray:
    """The numbers that are drawn for values: real numbers, moduli, or 2-norms; with ``norm``, norms from statistics."""
    y = np.sqrt(values[:, 6]) if norm else np.abs(values) if values.dtype.kind == "c" else values.astype(np.float64)
    return y if y.ndim < 2 else np.asarray(np.linalg.norm(y.reshape(len(y), -1), axis=1))


def _bad(
    y: np.ndarray, iterations: np.ndarray, silent: np.ndarray, evolution: Evolution
) -> tuple[int, int, bool, str] | None:
    """The iterations in which a variable is not finite: the first in the whole record, the last in the thinned one."""
    issues = {at: kind for kind in ("nan", "inf") if (at := evolution.issues.get(kind)) is not None}
    wrong = ~np.isfinite(y) & ~silent
    if not issues:
        return None
    first = min(issues)
    last = max([first, *iterations[wrong].tolist()])
    between = (iterations >= first) & ~silent
    return first, last, bool(wrong[between & (iterations <= last)].all()), issues[first]


def _of_norms(y: np.ndarray, iterations: np.ndarray, elements: Evolution) -> Evolution:
    """The evolution of norms; the first NaN and infinity are those of the elements."""
    found = evolution_of(HistoryColumn(y, iterations, shape=(2,)))
    found.issues = {**found.issues, **{k: at for k, at in elements.issues.items() if k in ("nan", "inf")}}
    return found


def _first(watch: Watch) -> list[str]:
    """The variables of ``until`` first, then the others, up to the maximum of a look."""
    conditions = [c.variable for c in watch.until if c.variable in watch.names]
    return list(dict.fromkeys([*conditions, *watch.names]))[:VARIABLES]


def _end(watch: Watch) -> Termination:
    from_names = {v.name: t for v, t in zip(watch.variables, (t for _, t in watch.shape().variables), strict=True)}
    if not watch.until:
        return unknown("no-clauses", "No end is given: say until={...}.")
    if not usable(watch.until, from_names):
        names = [n for c in watch.until for n in (c.variable, c.bound) if isinstance(n, str)]
        absent = listed([f'"{n}"' for n in dict.fromkeys(names) if n not in from_names])
        if absent:
            recorded = listed(list(from_names)) or "nothing"
            return unknown("not-scalar", f"Not recorded here: {absent}. Recorded: {recorded}.")
        return unknown("not-scalar", f"until ({listed([str(c) for c in watch.until])}) needs single real numbers.")
    trace = watch.trace
    try:
        return observe(trace, trace.graph, watch.path).prediction()
    except TROUBLE as error:
        return unknown("failed", f"It could not be worked out: {getattr(error, 'message', error)}")


def _reached(watch: Watch) -> tuple[str | None, str | None]:
    """The end that ``until`` waits for, and since when it has been met continuously; else since when it is not."""
    from_names = {v.name: t for v, t in zip(watch.variables, (t for _, t in watch.shape().variables), strict=True)}
    if not watch.until or not usable(watch.until, from_names):
        return None, None
    start, stop = int(watch.activations()[0][-1]) + 2, watch.row + 1
    columns = {v.name: v for v in watch.variables}
    rows = np.arange(max(start, stop - UNTIL_WINDOW, *(v.first for v in watch.variables)), stop)
    for column in (columns[n] for c in watch.until for n in (c.variable, c.bound) if isinstance(n, str)):
        if column.missing is not None:  # iterations without a value of it
            rows = rows[~column.missing.take(rows).astype(bool)]
    if not len(rows):
        return None, None
    met = np.ones(len(rows), bool)
    for clause in watch.until:
        left = np.asarray(columns[clause.variable].take(rows), np.float64)
        right = columns[clause.bound].take(rows) if isinstance(clause.bound, str) else clause.bound
        met &= ~np.isnan(left) & ~clause.going[1](left, right)
    end, other = " and ".join(map(str, watch.until)), np.flatnonzero(met != met[-1])
    if not met[-1] and not len(other):
        return None, None
    since = int(rows[other[-1] + 1] if len(other) else rows[0]) - start + 1
    if met[-1]:
        begun = len(other) or rows[0] == start
        return f"{end} {f'since iteration {since:,}' if begun else f'for {len(rows):,} iterations or more'}", None
    clause = watch.until[0]
    alone = len(watch.until) == 1 and left[-1] == left[-1]
    way = {"<": "rose", ">": "fell"}.get(clause.op[0], "changed") if alone else ""
    again = f"{clause.variable} {way} again since iteration {since:,}" if way else f"not met since iteration {since:,}"
    return None, f"{again}: {end} held before"


def _gap(watch: Watch) -> tuple[str, float] | None:
    for clause in watch.until:
        left, right = watch.newest(clause.variable), clause.bound
        right = watch.newest(right) if isinstance(right, str) else right
        if left is not None and right is not None and bool(clause.going[1](left, right)):
            return str(clause), abs(left - right)
    return None


def _found(watch: Watch, variables: tuple[VariableOutlook, ...], end: Termination) -> dict[str, str]:
    """The findings for callbacks: "nan", "divergence", "stagnation" -> a sentence."""
    found: dict[str, str] = {}
    variables_of_until = {c.variable for c in watch.until}
    for v in variables:
        bad = {k: at for k, at in v.evolution.issues.items() if k in ("nan", "inf")}
        if bad:
            kind = min(bad, key=lambda k: bad[k])
            word = "NaN" if kind == "nan" else "infinite"
            found.setdefault("nan", f"{v.name} became {word} in iteration {bad[kind]:,}.")
        leaves = v.name in variables_of_until and v.evolution.label is Pattern.DIVERGING and not _counts_to_bound(v)
        if leaves and v.evolution.confidence >= SURE:
            found.setdefault("divergence", f"{v.name} diverges: {next(iter(v.evolution.why), '')}")
        if not variables_of_until and "exploding" in v.evolution.issues and v.evolution.confidence >= SURE:
            found.setdefault("divergence", f"{v.name} explodes: {next(iter(v.evolution.why), '')}")
        if not variables_of_until and "stagnation" in v.evolution.issues:
            found.setdefault("stagnation", f"{v.name} stagnates since iteration {v.evolution.issues['stagnation']:,}.")
    if not variables_of_until and (rested := _all_rest(variables, watch.iteration)) is not None:
        since, names, still = rested
        how = "changed" if still else "become better"
        found.setdefault("stagnation", f"Nothing has {how} since iteration {since:,}: {', '.join(names)}.")
    states = [record for record in list(watch.states.values()) if not record.setting]
    stuck = [words for record in states if (words := record.stuck)]
    if stuck:
        found["repetition"] = " ".join(stuck)
    if (
        stuck
        and len(stuck) == len(states)
        and all(v.rests is not None or _step(v.evolution) is not None for v in variables)
    ):
        found.setdefault("stagnation", found["repetition"])
    if end.outcome == "never" and end.confidence >= SURE:
        kind = "divergence" if end.reason.slug in LEAVES else "stagnation" if end.reason.slug in RESTS else ""
        if kind:
            found.setdefault(kind, str(end.reason.sentence))
    return found


def _all_rest(variables: tuple[VariableOutlook, ...], iteration: int) -> tuple[int, list[str], bool] | None:
    """The iteration since which no variable has changed or improved, after one of them had, their names, and True if
    none has changed; None if one may still move, or if too few iterations have passed. Counters, which always change,
    are left out.
    """
    others = [v for v in variables if _step(v.evolution) is None]
    still = all(v.rests is not None for v in others)
    since = [v.rests if v.rests is not None else _best_since(v) for v in others]
    rests = [at for at in since if at is not None]
    if not others or len(rests) < len(others) or max(rests) <= 1:  # those that never changed are settings
        return None
    long = iteration - max(rests) + 1 >= max(STILL, iteration // 4)
    return (max(rests), [v.name for v in others], still) if long else None


def _best_since(v: VariableOutlook) -> int | None:
    """The iteration since which a variable that reached a level, and scatters about it, has hardly improved."""
    y = np.array(v.y)
    if v.evolution.label is not Pattern.CONVERGING or len(y) < REST_VALUES or not np.isfinite(y).all():
        return None
    sign = 1.0 if y[0] > np.median(y[-len(y) // 4 :]) else -1.0
    falls = sign > 0 and bool((y > 0).all())
    found = rest(FallingRecord(np.log(y) if falls else sign * y, -math.inf, falls))
    return v.x[found.since] if found.chance >= SURE else None


def _step(found: Evolution) -> float | None:
    """The step of a counter; None for anything else."""
    if found.method != "counter" or found.model is None:
        return None
    return float(np.subtract(*found.model.predict([1, 0])))


def _counts_to_bound(v: VariableOutlook) -> bool:
    """True for a counter that approaches the number with which ``until`` compares it."""
    step = _step(v.evolution)
    return step is not None and v.bound is not None and v.value is not None and (v.bound - v.value) * step >= 0


def _label(found: Evolution) -> str:
    """The pattern in a few words; a counter is named so."""
    step = _step(found)
    if step is not None:
        return f"counting {'up' if step > 0 else 'down'} by {abs(step):.6g}"
    if found.method == "norm":
        return "a norm, no verdict"
    return "no verdict yet" if found.label is Pattern.UNKNOWN else found.label.name.lower()


def _limit_text(found: Evolution) -> str | None:
    return None if found.limit is None else estimate(found.limit, found.limit_error, found.distance)


def plain(outlook: Outlook) -> dict[str, Any]:
    """An outlook as data for JSON; numbers that are not finite become None."""

    def number(x: float | None) -> float | None:
        return x if x is not None and np.isfinite(x) else None

    rows = [
        {
            "name": v.name,
            "value": None if v.value is None else f"{v.value:.6g}",
            "measure": v.measure,
            "label": _label(v.evolution),
            "confidence": v.evolution.confidence,
            "rate": number(None if _step(v.evolution) is not None else v.evolution.rate),
            "limit": _limit_text(v.evolution),
            "why": next(iter(v.evolution.why), ""),
            "x": list(v.x),
            "y": [number(y) for y in v.y],
            "bound": number(v.bound),
            "at": v.at,
            "bad": None if v.bad is None else [*v.bad],
        }
        for v in outlook.variables
    ]
    return {
        "name": outlook.name,
        "state": outlook.state,
        "standing": "" if outlook.stands is None else outlook.stands.standing.slug,
        "headline": outlook.stands.headline if outlook.over and outlook.stands is not None else "",
        "why": outlook.why if outlook.over else "",
        "reached": "" if outlook.over else outlook.reached or "",
        "iteration": outlook.iteration,
        "seconds": time_text(outlook.seconds),
        "rate": f"{outlook.rate:,.0f}" if outlook.rate >= 100 else f"{outlook.rate:.3g}",
        "status": outlook.end.status.name,
        "outcome": outlook.end.outcome or "",
        "sentence": outlook.sentence,
        "remaining": None if outlook.over else outlook.end.remaining,
        "interval": None if outlook.over or outlook.end.interval is None else list(outlook.end.interval),
        "bad": outlook.found.get("nan", ""),
        "gap": None if outlook.gap is None else [outlook.gap[0], f"{outlook.gap[1]:.3g}"],
        "found": [words for kind, words in outlook.found.items() if kind != "nan"],
        "variables": rows,
    }
