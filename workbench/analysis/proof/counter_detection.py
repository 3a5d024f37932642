"""Detects counters in a slice's formulas, and comparisons of counters whose truth over time follows by arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from workbench.analysis.intervals.interval import FLOATS, Interval, bounds, int_range
from workbench.analysis.intervals.transfer import COMPARED, RULES
from workbench.analysis.proof.counters import FloatCounter, IntCounter, Times, float_counter
from workbench.analysis.slicing.formulas import MIRROR, SliceProgram
from workbench.ir.node import Node, Ref

Counter = IntCounter | FloatCounter
#: maximum nesting of ops in an update
DEPTH = 40


def counters_of(program: SliceProgram, present: Mapping[str, np.ndarray]) -> dict[str, Counter]:
    """The variables whose update is x + c, or a x + b for integers, with their values at any later iteration."""
    out: dict[str, Counter] = {}
    for name, ref in program.updates.items():
        value = np.asarray(present[name])
        dtype = value.dtype.name
        if value.ndim or dtype == "bool":
            continue
        if dtype in FLOATS:
            step = _float_step(program, ref, name, dtype)
            found = None if step is None else float_counter(value[()], step, dtype)
            if found is not None:
                out[name] = found
        elif value.dtype.kind in "iu":
            form = _affine(program, ref, name, dtype, DEPTH)
            if form is not None and (form[0] == 1 or form[0] & 1 and not form[2]):
                low, high = int_range(dtype)
                m = high - low + 1
                a, b = form[0] % m, form[1]
                out[name] = IntCounter(dtype, int(value), a, b if form[2] else _signed(b % m, m), form[2])
    return out


def _signed(b: int, m: int) -> int:
    """The step as b or b - m, whichever is smaller in magnitude: up or down."""
    return b - m if b > m // 2 else b


def _point(x: Interval | None) -> int | None:
    return int(x.lo[0]) if x is not None and x.integral and x.lo[0] == x.hi[0] else None


def _affine(
    program: SliceProgram,
    ref: Ref,
    name: str,
    dtype: str,
    depth: int,
    known: dict[Ref, tuple[int, int, bool] | None] | None = None,
) -> tuple[int, int, bool] | None:
    """(a, b, checked) of an integer formula a x + b of one variable, computed in that variable's dtype.

    ``known`` caches results, because a value may be read in many places.
    """
    known = {} if known is None else known
    if ref not in known:
        known[ref] = _affine_of(program, ref, name, dtype, depth, known)
    return known[ref]


def _affine_of(
    program: SliceProgram, ref: Ref, name: str, dtype: str, depth: int, memo: dict[Ref, tuple[int, int, bool] | None]
) -> tuple[int, int, bool] | None:
    if depth == 0 or _in_branch(program, ref):
        return None
    if program.variable(ref) == name:
        return (1, 0, False)
    node = program.graph.nodes[program.origin(ref).node]
    fixed = _point(program.invariant(ref))
    if fixed is not None:
        return (0, fixed, False) if program.graph.type_of(ref).dtype == dtype else None
    if node.op not in ("add", "subtract", "multiply", "negative", "Identity") or node.types[0].dtype != dtype:
        return None
    sides = [_affine(program, r, name, dtype, depth - 1, memo) for r in node.inputs]
    if any(s is None for s in sides):
        return None
    known = [s for s in sides if s is not None]
    checked = bool(node.attrs.get("checked")) or any(s[2] for s in known)
    if checked and (node.op not in ("add", "subtract") or not all(s[0] in (0, 1) for s in known) or depth < DEPTH):
        return None  # an intermediate sum may overflow although the result fits
    if node.op == "negative":
        return -known[0][0], -known[0][1], checked
    (a, b, _), (c, d, _) = known
    if node.op == "add":
        return a + c, b + d, checked
    if node.op == "subtract":
        return a - c, b - d, checked
    return (a * d, b * d, checked) if c == 0 else (b * c, b * d, checked) if a == 0 else None


def _float_step(program: SliceProgram, ref: Ref, name: str, dtype: str) -> float | None:
    """The c of an update x + c or x - c with one rounding; 0 if x is not updated."""
    if _in_branch(program, ref):
        return None
    if program.variable(ref) == name:
        return 0.0
    node = program.graph.nodes[program.origin(ref).node]
    if node.op not in ("add", "subtract") or node.types[0].dtype != dtype:
        return None
    for own, other in ((0, 1), (1, 0)):
        if _in_branch(program, node.inputs[own]) or program.variable(node.inputs[own]) != name:
            continue
        if node.op == "subtract" and own:
            return None
        step = program.invariant(node.inputs[other])
        if step is not None and step.dtype == dtype and not step.nan[0] and step.lo[0] == step.hi[0]:
            return float(step.lo[0]) * (1 if node.op == "add" else -1)
    return None


def _in_branch(program: SliceProgram, ref: Ref) -> bool:
    """True if a value comes from a branch's Switch: then it may be dead, and another value is used instead."""
    node = program.graph.nodes[ref.node]
    while program.passes_on(node) or node.op == "Switch":
        if node.op == "Switch" and not program.by_loop(node):
            return True
        ref = node.inputs[0]
        node = program.graph.nodes[ref.node]
    return False


class Clause:
    """A comparison of an integer counter with an invariant: its truth over ranges of times, by modular arithmetic."""

    def __init__(self, counter: IntCounter, op: str, held: tuple[int, int]) -> None:
        #: ``held`` is the range of numbers for which the clause is true (for !=: false); its ends are swapped if the
        #: range is empty
        self.counter, self.op, self.held = counter, op, held
        self.low, self.high = int_range(counter.dtype)

    @property
    def usable(self) -> bool:
        return self.counter.additive or self.held[0] == self.held[1]

    def box(self, times: Times) -> Interval:
        """The clause as a bool over each range."""
        sure, possible = np.empty(len(times), object), np.empty(len(times), object)
        for k, (t, end) in enumerate(times):
            sure[k], possible[k] = int(not self._meets(t, end, False)), int(self._meets(t, end, True))
        out = bounds("bool", 0, 1)
        return Interval("bool", sure, possible, out.nan, out.dead)

    def _meets(self, t: int, end: int | None, truth: bool) -> bool:
        """True if the clause is ``truth`` somewhere in the range."""
        low, high = self.held
        wanted = truth if self.op != "not_equal" else not truth
        if low > high:  # it is true for no number
            return not wanted
        if not wanted:
            if low == self.low and high == self.high:
                return False
            if not self.counter.additive:  # all numbers except one: any change of the counter leads to one of them
                return t != end and self.counter.at(t) != self.counter.at(t + 1) or self.counter.at(t) != low
            low, high = high + 1, low - 1 + (self.high - self.low + 1)
        found = self.counter.first(low, high, t)
        return found is not None and (end is None or found <= end)


def _turn(holds: Callable[[int], bool], low: int, high: int) -> tuple[int, int]:
    """The range of numbers of a dtype for which an order comparison is true; it changes at most once, so bisection
    finds the range.
    """
    first, last = holds(low), holds(high)
    if first == last:
        return (low, high) if first else (high, low)
    a, b = low, high
    while b - a > 1:
        middle = (a + b) // 2
        a, b = (middle, b) if holds(middle) == first else (a, middle)
    return (low, a) if first else (b, high)


def clauses_of(program: SliceProgram, counters: Mapping[str, Counter]) -> dict[Ref, Clause]:
    """The slice's comparisons of (possibly wrapping) integer counters with invariants, by their references."""
    out: dict[Ref, Clause] = {}
    for node in (program.graph.nodes[n] for n in program.graph.frames[program.frame].nodes):
        if node.op not in COMPARED or node.types[0].shape != ():
            continue
        for own, op in ((0, node.op), (1, MIRROR[node.op])):
            name = program.variable(node.inputs[own])
            counter = counters.get(name) if name is not None else None
            limit = program.invariant(node.inputs[1 - own])
            if isinstance(counter, IntCounter) and not counter.checked and limit is not None:
                found = _clause(node, counter, limit, op)
                if found is not None and found.usable:
                    out[Ref(node.name)] = found
                break
    return out


def _clause(node: Node, counter: IntCounter, limit: Interval, op: str) -> Clause | None:
    if limit.nan[0] or limit.lo[0] != limit.hi[0]:
        return None

    def holds(op: str, v: int) -> bool:
        with np.errstate(all="ignore"):
            out = RULES[op]([bounds(counter.dtype, v, v), limit], {**node.attrs, "_op": op}, "bool")
        if out is None:
            raise _Unknown
        return bool(out.lo[0])

    low, high = int_range(counter.dtype)
    try:
        if op not in ("equal", "not_equal"):
            return Clause(counter, op, _turn(lambda v: holds(op, v), low, high))
        # neither below nor above means equal, even after an integer was rounded to a float
        below, above = _turn(lambda v: holds("less", v), low, high), _turn(lambda v: holds("greater", v), low, high)
    except _Unknown:
        return None
    first = below[1] + 1 if below[0] <= below[1] else low
    last = above[0] - 1 if above[0] <= above[1] else high
    return Clause(counter, op, (first, last))


class _Unknown(Exception):
    """Raised if the value of a comparison is not known."""
