"""The mechanism that keeps a comparison from turning, found in the firings: its claims, each checked, and its slug.

The first of these questions that is answered with a claim that holds gives the cause:

1. is a side NaN, or infinite, and which node made it so?
2. does ``!=`` step over its value, or can it never be met?
3. do both sides rest? then the update of what is behind them is walked to the node at which the change is lost
4. do they repeat with a period? then the steps overshoot, wrap round, flip their sign, or go round
5. do they move away, or towards a number at which their steps are lost?
6. otherwise only what was observed is said
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from workbench.analysis.claims import clause as clauses
from workbench.analysis.claims import numbers
from workbench.analysis.claims.claim import Claim, checked
from workbench.analysis.claims.clause import BlockingClause
from workbench.analysis.claims.lost import FlagWaits, NotRead, NotUpdated
from workbench.analysis.claims.recompute import holds, item_of, line_of, same
from workbench.analysis.diff.trace_side import HANDS_ON
from workbench.analysis.precision.nan_origin import origin_of
from workbench.analysis.precision.result import NanOrigin
from workbench.analysis.root_cause.expressions import turned
from workbench.analysis.root_cause.firings import Firings
from workbench.analysis.root_cause.lost_value import LostValue, nan_compared, node_text, predicate_text
from workbench.analysis.root_cause.suspect import Suspect, is_written, sides
from workbench.analysis.root_cause.wrapped import first_wrap
from workbench.ir.node import Node, Ref
from workbench.trace.aligned_columns import origin

#: kind of the claim that tells most -> slug of the cause
SLUGS = {
    "not-updated": "not-updated",
    "not-read": "always-true",
    "absorbed": "absorbed",
    "neutral": "no-effect",
    "zero": "no-effect",
    "saturated": "saturated",
    "truncated": "truncated",
    "guard": "guard",
    "flag-guard": "guard",
    "nan": "nan",
    "fixed-point": "limit-beyond",
    "last-digits": "floor",
}
#: spacings by which the operands of a difference may be apart that is made of their last digits
SPACINGS = 1024
#: iterations at the end of the look-ahead over which movement is judged
SEEN = 64


@dataclass
class Cause:
    """Slug and claims; ``names`` are the variables that are all at rest, or repeat, where the cause begins."""

    slug: str
    claims: list[Claim] = field(default_factory=list)
    names: list[str] = field(default_factory=list)


class Mechanism:
    """The cause of one suspect."""

    def __init__(self, firings: Firings, suspect: Suspect, forecast: str = "") -> None:
        self.firings, self.s, self.forecast = firings, suspect, forecast
        self.loop, self.found = firings.loop, firings.found
        self.x, self.t = suspect.values.late_x, suspect.values.late_t
        self.refs = (suspect.moving, suspect.still)
        x, t = sides(self.loop, suspect)
        self.clause = BlockingClause(
            suspect.leaf.node,
            x,
            suspect.op,
            t,
            self.t[-1],
            str(self.x.dtype),
            self.loop.path,
            suspect.mirrored,
            suspect.leaf.negated,
            suspect.item,
            not isinstance(suspect.still, Ref) or not any(map(self.loop.updated, self.loop.reads(suspect.still))),
        )
        self.its = [int(k) for k in suspect.at_the_end(self.found)]

    def cause(self) -> Cause:
        with np.errstate(all="ignore"):
            found = self._cause()
        flag = self.s.leaf.flag
        if flag is not None and found.claims:
            found.claims[:0] = self._flag(flag)
        return found

    def _cause(self) -> Cause:
        variables = [n for n in self.s.root if n in self.loop.variables]
        if not any(map(self.loop.updated, variables)):
            return self._untouched()
        for question in (
            self._nan,
            self._missed,
            self._infinite,
            self._every_number,
            self._at_rest,
            self._repeats,
            self._moves,
        ):
            found = question()
            if found is not None:
                return found
        return self._observed()

    def _claims(self, kind: type[Claim], **data: Any) -> list[Claim]:
        """The claim of this kind about the clause and the firings, if it holds."""
        if issubclass(kind, clauses.OfSides):
            data["refs"] = self.refs
        return checked([kind(**{"clause": self.clause, "evidence": self.firings, **data})])

    @cached_property
    def _nodes(self) -> Mapping[str, Node]:
        return self.firings.graph.nodes

    def _flag(self, flag: str) -> list[Claim]:
        first, last = self.firings.window[0], self.firings.window[-1]
        value = bool(np.asarray(self.firings.value(self.firings.merge(flag), last)).reshape(-1)[0])
        told: dict[str, Any] = {"flag": flag.split("/")[-1], "variable": flag, "written": is_written(flag)}
        line = line_of(self._nodes[self.s.leaf.node].source)
        return self._claims(FlagWaits, **told, value=value, first=first, last=last, line=line)

    # -- 0. nothing moves by the graph
    def _untouched(self) -> Cause:
        variables = [n for n in self.s.root if n in self.loop.variables]
        if variables:
            return Cause(
                "not-updated", [*self._rests(True), *self._claims(NotUpdated, variable=variables[0])], variables
            )
        text = predicate_text(self.firings, self._nodes[self.s.leaf.node], self.s.leaf.op)
        names = tuple(n for n in self.s.root if n not in self.loop.variables)
        claim = NotRead(ref=self.s.moving, text=text, names=names, evidence=self.firings)
        return Cause("not-updated" if names else "always-true", checked([claim]))

    # -- 1. numbers that went bad
    def _nan(self) -> Cause | None:
        if not (_is_nan(self.x[-1]) or _is_nan(self.t[-1])):
            return None
        node = self._nodes[self.s.leaf.node]
        if len(node.inputs) != 2 or not self.its:
            return None
        op = turned(self.s.leaf.op, False, self.s.leaf.negated)
        text = predicate_text(self.firings, node, op)
        truth = not self.s.leaf.negated
        try:
            claim = nan_compared(self.firings, node.name, op, truth, self.its[-1], self.s.item, text, self.clause)
        except KeyError:
            return None
        claims = checked([c for c in (self._swing(), claim, *self._origin(self.refs)) if c is not None])
        return Cause("step-too-large" if claims and claims[0].kind == "overshoots" else "nan", claims)

    def _infinite(self) -> Cause | None:
        swing = self._swing()
        if swing is not None and swing.grows:
            return Cause("step-too-large", [swing, *checked(self._origin(self.refs))])
        if not _is_infinite(self.x[-1]) or _is_infinite(self.s.values.early_x[0]):
            return None
        known = dict(zip((int(k) for k in self.s.iterations), self.s.values.early_x, strict=False))
        k = next((k for k in sorted(known) if _is_infinite(known[k])), None)
        since = k if k is not None and k - 1 in known else None
        infinite = self._claims(numbers.Infinite, ref=self.refs[0], last=self.its[-1], since=since)
        return Cause("overflow", [*infinite, *checked(self._origin(self.refs))])

    def _origin(self, refs: Iterable[Any]) -> list[Claim]:
        """The chain behind the first of these values that is not finite, as every screen shows it."""
        found = self.found
        for columns in (found.record, found.early, found.late):
            if columns is None:
                continue
            base = found.base_of(columns)
            made = (origin_of(columns.trace, ref) for ref in refs if isinstance(ref, Ref))
            chain = next((link for link in made if link is not None and link.op not in HANDS_ON), None)
            claims: list[Claim] = []
            while chain is not None:
                claims += self._made(chain, base)
                chain = chain.because
            if claims:
                return claims
        return []

    def _made(self, made: NanOrigin, base: int) -> list[Claim]:
        """The claim about one link of the chain, if it is in this loop."""
        what = "NaN" if made.kind == "nan" else "infinity"
        if made.edited:
            name = made.name.removesuffix(":0")
            return [numbers.WrittenBad(node=made.node, name=name, what=what, evidence=made.value)]
        node = self._nodes[made.node]
        if made.frame != self.loop.path or not node.inputs:
            return []
        k = made.iteration[-1] + base
        try:
            operands, result = self.firings.operands(node.name, k), self.firings.output(node.name, k)
            largest = tuple(numbers.largest(v) for v in operands)
        except (KeyError, ValueError, TypeError):
            return []
        told: dict[str, Any] = {"node": node.name, "op": node.op, "line": line_of(node.source), "what": what}
        evidence = node.op, operands, result
        text = node_text(self.firings, node)
        return [numbers.MadeBad(**told, text=text, iteration=k, operands=largest, evidence=evidence)]

    # -- 2. !=
    def _missed(self) -> Cause | None:
        f = self.s.values
        if self.s.op != "!=" or f.late_x.dtype.kind not in "iuf":
            return None
        counts = f.early_x.dtype.kind in "iu" and f.early_t.dtype.kind in "iu" and not _varies(f.early_t, f.late_t)
        if counts and not self._resting():
            found = self._counter_misses()
            if found is not None:
                return found
        xs, ts = f.early_x.astype(np.float64), f.early_t.astype(np.float64)
        steps = np.diff(xs - ts)
        one_way = len(steps) >= 2 and bool(np.all(steps > 0) or np.all(steps < 0))
        even = one_way and bool(np.all(np.abs(steps - steps[0]) <= 1e-6 * abs(steps[0])))
        passed = np.flatnonzero((xs[1:] - ts[1:]) * (xs[:-1] - ts[:-1]) < 0)
        if one_way and len(passed):
            k = int(passed[0]) + 1
            return Cause("steps-over", self._steps_over(k, float(steps[k - 1]) if even else None))
        return None

    def _steps_over(self, k: int, step: float | None) -> list[Claim]:
        x, at = self.s.values.early_x, int(self.s.iterations[k])
        return self._claims(clauses.StepsOver, before=x[k - 1], after=x[k], iteration=at, step=step)

    def _counter_misses(self) -> Cause | None:
        f, its = self.s.values, self.s.iterations
        bits = 8 * f.early_x.dtype.itemsize
        xs = [int(v) for v in f.early_x]
        steps = {(b - a) % (1 << bits) for a, b in zip(xs, xs[1:], strict=False)}
        if len(xs) < 3 or len(steps) != 1 or steps == {0}:
            return None
        up = steps.pop()
        step = up - (1 << bits) if up >= 1 << (bits - 1) else up
        way = int(f.early_t[0]) - xs[0]
        if way % math.gcd(step, 1 << bits) == 0:  # it would come round
            return self._away() if way * step < 0 else None
        k = -(-way // step) if way * step > 0 else 0
        claims = self._steps_over(k, float(step)) if 0 < k < len(xs) else []
        claims += self._claims(clauses.Residue, step=step, bits=bits, first=int(its[0]), last=int(its[-1]))
        return Cause("steps-over", claims) if claims else None

    # -- 3. at rest
    def _every_number(self) -> Cause | None:
        x = self.s.values.early_x
        if (
            self.s.op not in ("<", "<=", ">", ">=")
            or x.dtype.kind not in "iu"
            or _varies(self.s.values.early_t, self.t)
        ):
            return None
        limits, goal = np.iinfo(x.dtype), self.t[-1].item()
        if not (holds(int(limits.min), self.s.op, goal) and holds(int(limits.max), self.s.op, goal)):
            return None
        span = int(limits.min), int(limits.max)
        claims = self._claims(clauses.EveryNumber, variable=self._first_behind(), evidence=span)
        return Cause("wraps", [*claims, *checked(first_wrap(self.firings, self.s, self.clause))], self._behind())

    def _resting(self) -> bool:
        return not _varies(self.x) and not _varies(self.t)

    def _behind(self) -> list[str]:
        """Variables that both sides read, those that are updated."""
        names: dict[str, None] = {}
        for decisions in (False, True):
            for ref in self.refs:
                if isinstance(ref, Ref):
                    names.update(dict.fromkeys(self.loop.reads(ref, decisions)))
            if names:
                break
        return [n for n in names if self.loop.updated(n)]

    def _first_behind(self) -> str:
        return next(iter(self._behind()), "")

    def _at_rest(self) -> Cause | None:
        if not self._resting() or not self.its:
            return None
        names = self._behind()
        closed = self._closed(names)
        claims = self._rests(closed)
        if not claims:
            return None
        walk = LostValue(self.firings, closed, self.s.item)
        at_rest = [n for n in names if self._variable_rests(n)]
        behind = walk.of_variables(at_rest) if len(at_rest) == len(names) else walk.of_value(self.refs, names)
        digits = self._last_digits()
        kind = behind[0].kind if behind else ""
        if digits and kind in ("fixed-point", "guard", ""):
            behind = [*digits, *(c for c in behind if c.kind == "fixed-point")]
        if kind == "absorbed" and (away := self._away(early=True)) is not None:
            return Cause("moves-away", [*away.claims, *claims, *(of_clause(c, None) for c in behind)], at_rest)
        if kind in ("", "fixed-point") and not any(getattr(c, "recursive", False) for c in behind):
            if (flips := self._flips()) is not None:
                return Cause("sign-flips", [*claims, flips], names)
            if (swing := self._swing()) is not None:
                return Cause("step-too-large", [swing, *claims], names)
        if not behind and self._period() is not None:
            return Cause("cycle", claims, names)
        if not behind and not closed:
            return Cause(self.forecast if self.forecast in KEPT else "recurrence", claims, names)
        wrapped = first_wrap(self.firings, self.s, self.clause) if self.x.dtype.kind in "iu" else []
        slug = SLUGS.get(behind[0].kind, "recurrence") if behind else "recurrence"
        if slug in ("no-effect", "limit-beyond") and isinstance(claims[0], clauses.Rests):
            # it moved to where nothing is added any more, or has been there from the beginning
            slug = "limit-beyond" if claims[0].moved else "no-effect"
        compared = [c.data["node"] for c in behind if c.kind == "nan"]
        behind += checked(self._origin([r for node in compared for r in self._nodes[node].inputs]))
        behind = [of_clause(c, self.clause) for c in behind]
        return Cause(slug, [*claims, *behind, *checked(wrapped)], at_rest)

    def _rests(self, closed: bool) -> list[Claim]:
        if not self._resting() or not self.its:
            return []
        span = {"first": self.its[0], "last": self.its[-1]}
        value, start, variable = self.x[-1], self.s.values.early_x[0], self._first_behind()
        return self._claims(clauses.Rests, **span, value=value, start=start, closed=closed, variable=variable)

    def _closed(self, names: list[str]) -> bool:
        """True if all that is behind the clause recurs: then what holds in the window holds for ever."""
        return self.found.settled is not None or self.firings.period(self.loop.closure(names)) is not None

    def _variable_rests(self, name: str) -> bool:
        merge, its = self.firings.merge(name), self.firings.window
        try:
            begin = self.firings.value(merge, its[0])
            return len(its) > 1 and all(same(self.firings.value(merge, k), begin) for k in its)
        except KeyError:
            return False

    def _last_digits(self) -> list[Claim]:
        """Differences behind the moving side whose operands agree up to their last digits."""
        if self.s.op not in (">", ">=", "!=") or not isinstance(self.refs[0], Ref) or self.x.dtype.kind != "f":
            return []
        behind = [(node, self.its[-1]) for node in self.loop.nodes_behind(self.refs[0])]
        for name in self.loop.reads(self.refs[0]):  # a change that is carried was computed one iteration before
            if self.loop.updated(name) and not self.loop.recursive(name):
                behind += [(node, self.its[-1] - 1) for node in self.loop.nodes_behind(self.loop.update(name))]
        for node, k in behind:
            if node.op != "subtract" or self.firings.graph.frame_of(node.name) != self.loop.path:
                continue
            try:
                left, right = self.firings.operands(node.name, k)
                item = _widest(left, right)
                left, right = item_of(left, item), item_of(right, item)
            except (KeyError, IndexError, ValueError):
                continue
            apart = numbers.spacings(left, right)
            if 0 < apart <= SPACINGS:
                told: dict[str, Any] = {"node": node.name, "line": line_of(node.source), "item": item, "iteration": k}
                told |= {"text": node_text(self.firings, node), "variable": next(iter(self.s.root), "")}
                sides = {"left": left, "right": right, "ulps": math.ceil(apart), "dtype": str(left.dtype)}
                return self._claims(numbers.LastDigits, **told, **sides, value=self.x[-1])
        return []

    # -- 4. periods
    def _repeats(self) -> Cause | None:
        n = self._period()
        if n is None:
            return None
        names = self._behind()
        wrapped = checked(first_wrap(self.firings, self.s, self.clause)) if self._whole() else []
        flips = self._flips()
        swing = self._swing()
        circles = self._circles(n)
        digits = self._last_digits() if self._small() else []
        if flips is not None:
            return Cause("sign-flips", [flips, *circles], names)
        if digits:
            return Cause("floor", [*circles, *digits], names)
        if swing is not None:
            return Cause("step-too-large", [swing, *circles], names)
        if wrapped:
            return Cause("wraps", [*wrapped, *circles], names)
        return Cause("cycle", circles, names) if circles else None

    def _whole(self) -> bool:
        names = [n for n in self.s.root if n in self.loop.variables]
        return any(self._dtype(n).lstrip("u").startswith("int") for n in names)

    def _dtype(self, name: str) -> str:
        return str(self.firings.graph.type_of(self.firings.merge(name)).dtype)

    def _small(self) -> bool:
        """The whole cycle lies within the last digits of the numbers that it is made of."""
        sizes = [abs(float(v)) for v in self.x if np.isfinite(v)]
        swings = []
        for name in [n for n in self._behind() if self._dtype(n).startswith("float")]:
            merge = self.firings.merge(name)
            values = [np.asarray(self.firings.value(merge, k), np.float64) for k in self.firings.window]
            size = max((float(np.abs(v).max(initial=0.0)) for v in values), default=0.0)
            eps = float(np.finfo(self._dtype(name)).eps)
            swings.append(np.ptp(np.array(values), axis=0).max(initial=0.0) <= SPACINGS * eps * size)
        return bool(sizes) and bool(swings) and all(swings)

    def _period(self) -> int | None:
        """The period of both sides, seen in two full turns, where all that is behind them recurs; None if it is 1."""
        whole = self.found.settled[1] if self.found.settled is not None else None
        n = whole or self.firings.period(self.loop.closure(self._behind()))
        if n is None or n == 1 or len(self.its) < 2 * n:
            return None
        pairs = [(a.tobytes(), b.tobytes()) for a, b in zip(self.x[-2 * n :], self.t[-2 * n :], strict=True)]
        for d in sorted(_divisors(n)):
            if all(pairs[i] == pairs[i + d] for i in range(len(pairs) - d)):
                return d
        return None

    def _circles(self, n: int) -> list[Claim]:
        if self.x.dtype.kind not in "iufb":
            return []
        xs = self.x[-2 * n :]
        always = all(holds(x, self.s.op, t) for x, t in zip(self.x[-n:], self.t[-n:], strict=True))
        told: dict[str, Any] = {"n": n, "first": self.its[-2 * n :][0], "always": always}
        return self._claims(clauses.Circles, **told, lowest=xs.min(), highest=xs.max(), variable=self._first_behind())

    def _swing(self) -> numbers.Overshoots | None:
        name = self.s.swinger
        if name is None:
            return None
        merge = self.firings.merge(name)
        early, _ = self.found.series(merge)
        for its in ([int(k) for k in early[:SEEN]], self.firings.window[-SEEN:]):
            values: list[Any] = []
            for k in its:
                try:
                    v = self.firings.value(merge, k)
                except KeyError:
                    break
                if np.ndim(v) or not np.isfinite(v):
                    break
                values.append(v)
            way = numbers.overshoots(values[-12:])
            if way and np.asarray(values[0]).dtype.kind == "f":
                last = its[len(values) - 1]
                two = way == "keeps" and self.found.settled is not None and self.found.settled[1] == 2
                told: dict[str, Any] = {"variable": name, "first": last - len(values[-12:]) + 1, "last": last}
                told |= {"grows": way == "grows", "period": 2 if two else None}
                for claim in self._claims(numbers.Overshoots, **told, factor=self.s.factor_value(self.found)):
                    return claim  # type: ignore[return-value]
        return None

    def _flips(self) -> Claim | None:
        if self.s.op not in (">", ">=") or self.x.dtype.kind != "f":
            return None
        names = []
        for name in self.s.root[1:]:
            if name in self.loop.variables and not self.loop.copies(name):
                if origin(self.firings.graph, self.loop.update(name)).op != "divide":
                    return None  # not a normalised iterate: a step that overshoots flips the sign, too
                names.append(name)
        found = self._claims(numbers.FlipsSign, names=tuple(names), iteration=self.firings.window[-1])
        return found[0] if found else None

    # -- 5. movement
    def _moves(self) -> Cause | None:
        away = self._away()
        if away is not None:
            return away
        if stalls := self._stalls():
            return Cause("absorbed", stalls)
        swing = self._swing()
        if swing is not None:
            return Cause("step-too-large", [swing])
        wrapped = checked(first_wrap(self.firings, self.s, self.clause)) if self._whole() else []
        return Cause("wraps", wrapped) if wrapped else None

    def _away(self, early: bool = False) -> Cause | None:
        f = self.s.values
        if self.x.dtype.kind not in "iuf" or self.t.dtype.kind not in "iuf":
            return None
        first = ([int(k) for k in self.s.iterations], f.early_x)
        for its, xs in (first,) if early else ((self.its, self.x), first):
            last = len(its) if its is self.its else min(len(its), SEEN)
            n = min(last, SEEN)
            if n < 3:
                continue
            part = xs[last - n : last]
            whole = part.dtype.kind in "iu"
            steps = {int(b) - int(a) if whole else float(b) - float(a) for a, b in zip(part, part[1:], strict=False)}
            told: dict[str, Any] = {"step": steps.pop() if len(steps) == 1 else None, "value": part[-1]}
            span = {"first": its[last - n], "last": its[last - 1]}
            if claims := self._claims(clauses.MovesAway, **told, **span, variable=self._first_behind()):
                return Cause("moves-away", claims)
        return None

    def _stalls(self) -> list[Claim]:
        """A float counter on its way to a threshold that is beyond the number at which it stalls."""
        if not isinstance(self.refs[0], Ref) or self.x.dtype.kind != "f":
            return []
        name = self.loop.direct(self.refs[0])
        made = self.loop.increment(name) if name is not None else None
        if made is None or name is None:
            return []
        node, other = made
        span = self.firings.window[-SEEN:]
        try:
            steps = [self.firings.value(other, k) for k in span]
            present = self.firings.value(self.firings.merge(name), span[-1])
        except KeyError:
            return []
        if np.ndim(steps[0]) or not all(same(v, steps[0]) for v in steps) or not steps[0]:
            return []
        kind = np.asarray(present).dtype.type
        step = kind(-steps[0] if node.op == "subtract" else steps[0])
        value = numbers.stall(present, step)
        if value is None or not holds(value, self.s.op, self.t[-1]):
            return []
        told: dict[str, Any] = {"node": node.name, "line": line_of(node.source), "variable": name, "value": value}
        told |= {"step": steps[0], "whole": bool(float(step).is_integer()), "dtype": str(np.asarray(present).dtype)}
        return self._claims(numbers.StallsAt, **told, first=span[0], last=span[-1])

    # -- 6. what was seen
    def _observed(self) -> Cause:
        slug = self.forecast if self.forecast in KEPT else "recurrence"
        if not self.its or self.x.dtype.kind not in "iuf":
            return Cause(slug)
        nearest = min(abs(float(a) - float(b)) for a, b in zip(self.x, self.t, strict=True))
        return Cause(slug, self._claims(clauses.Observed, nearest=nearest, first=self.its[0], last=self.its[-1]))


#: slugs of a forecast that stay where the firings say no more
KEPT = frozenset("absorbed steps-over moves-away limit-beyond floor cycle overflow nan wraps".split())


def of_clause(claim: Any, clause: BlockingClause | None) -> Claim:
    """The claim as one about what keeps a clause from turning: its fixes then know the clause."""
    found: Claim = replace(claim, clause=clause)
    return found


def _divisors(n: int) -> set[int]:
    return {d for k in range(1, math.isqrt(n) + 1) if n % k == 0 for d in (k, n // k)}


def _widest(left: Any, right: Any) -> tuple[int, ...] | None:
    """Of arrays the item at which they are farthest apart."""
    gap = np.abs(np.subtract(left, right))
    return None if gap.ndim == 0 else tuple(int(i) for i in np.unravel_index(int(np.nanargmax(gap)), gap.shape))


def _is_nan(v: Any) -> bool:
    return isinstance(v, (float, np.floating)) and math.isnan(v)


def _is_infinite(v: Any) -> bool:
    return isinstance(v, (float, np.floating)) and math.isinf(v)


def _varies(*parts: np.ndarray) -> bool:
    first = next((p[0] for p in parts if len(p)), None)
    return any(not same(v, first) for p in parts for v in p)


__all__ = ["Cause", "Mechanism"]
