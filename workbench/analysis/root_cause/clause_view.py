"""One clause that keeps a loop running, with all known facts, for the tests that look for its cause."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from workbench.analysis.claims import clause as clauses
from workbench.analysis.claims.claim import Claim, checked
from workbench.analysis.claims.clause import BlockingClause
from workbench.analysis.claims.recompute import same
from workbench.analysis.root_cause.clause_diagnosis import ClauseDiagnosis, sides
from workbench.analysis.root_cause.firings import Firings
from workbench.ir.node import Node, Ref


@dataclass
class Cause:
    """A cause: slug and claims; it begins when the variables ``names`` are all at rest, or repeat."""

    slug: str
    claims: list[Claim] = field(default_factory=list)
    names: list[str] = field(default_factory=list)


#: slugs of a forecast that are kept if the firings show nothing more
KEPT = frozenset("absorbed steps-over moves-away limit-beyond floor cycle overflow nan wraps".split())


class ClauseView:
    """A diagnosis with its firings: ``x`` and ``t`` are the late values of both sides, ``its`` their iterations."""

    def __init__(self, firings: Firings, diagnosis: ClauseDiagnosis, forecast: str = "") -> None:
        self.firings, self.s, self.forecast = firings, diagnosis, forecast
        self.loop, self.found = firings.loop, firings.found
        self.x, self.t = diagnosis.values.late_x, diagnosis.values.late_t
        self.refs = (diagnosis.moving, diagnosis.still)
        x, t = sides(self.loop, diagnosis)
        self.clause = BlockingClause(
            diagnosis.leaf.node,
            x,
            diagnosis.op,
            t,
            self.t[-1],
            str(self.x.dtype),
            self.loop.path,
            diagnosis.mirrored,
            diagnosis.leaf.negated,
            diagnosis.item,
            not isinstance(diagnosis.still, Ref) or not any(map(self.loop.updated, self.loop.reads(diagnosis.still))),
        )
        self.its = [int(k) for k in diagnosis.at_the_end(self.found)]

    def claims(self, kind: type[Claim], **data: Any) -> list[Claim]:
        """The claim of this kind about the clause and the firings, in a list that is empty if it does not hold."""
        if issubclass(kind, clauses.OfSides):
            data["refs"] = self.refs
        return checked([kind(**{"clause": self.clause, "evidence": self.firings, **data})])

    @cached_property
    def nodes(self) -> Mapping[str, Node]:
        return self.firings.graph.nodes

    def resting(self) -> bool:
        return not varies(self.x) and not varies(self.t)

    def behind(self) -> list[str]:
        """The updated variables that the sides read."""
        names: dict[str, None] = {}
        for decisions in (False, True):
            for ref in self.refs:
                if isinstance(ref, Ref):
                    names.update(dict.fromkeys(self.loop.reads(ref, decisions)))
            if names:
                break
        return [n for n in names if self.loop.updated(n)]

    def first_behind(self) -> str:
        return next(iter(self.behind()), "")

    def closed(self, names: list[str]) -> bool:
        """True if all variables behind the clause recur: what holds in the window then holds for ever."""
        return self.found.settled is not None or self.firings.period(self.loop.closure(names)) is not None

    def variable_rests(self, name: str) -> bool:
        merge, its = self.firings.merge(name), self.firings.window
        try:
            values = self.firings.values(merge, its)
            return len(its) > 1 and all(same(v, values[0]) for v in values)
        except KeyError:
            return False

    def period(self) -> int | None:
        """The period of both sides, seen in two full turns, if all variables behind them recur; None if it is 1."""
        whole = self.found.settled[1] if self.found.settled is not None else None
        n = whole or self.firings.period(self.loop.closure(self.behind()))
        if n is None or n == 1 or len(self.its) < 2 * n:
            return None
        pairs = [(a.tobytes(), b.tobytes()) for a, b in zip(self.x[-2 * n :], self.t[-2 * n :], strict=True)]
        for d in sorted(_divisors(n)):
            if all(pairs[i] == pairs[i + d] for i in range(len(pairs) - d)):
                return d
        return None

    def whole(self) -> bool:
        names = [n for n in self.s.root if n in self.loop.variables]
        return any(self.dtype(n).lstrip("u").startswith("int") for n in names)

    def dtype(self, name: str) -> str:
        return str(self.firings.graph.type_of(self.firings.merge(name)).dtype)


def _divisors(n: int) -> set[int]:
    return {d for k in range(1, math.isqrt(n) + 1) if n % k == 0 for d in (k, n // k)}


def is_nan(v: Any) -> bool:
    return isinstance(v, (float, np.floating)) and math.isnan(v)


def is_infinite(v: Any) -> bool:
    return isinstance(v, (float, np.floating)) and math.isinf(v)


def varies(*parts: np.ndarray) -> bool:
    first = next((p[0] for p in parts if len(p)), None)
    if first is None or any(p.dtype == object for p in parts):
        return any(not same(v, first) for p in parts for v in p)
    bits = np.asarray(first).tobytes()
    return any(p.dtype != first.dtype or p.tobytes() != bits * len(p) for p in parts if len(p))
