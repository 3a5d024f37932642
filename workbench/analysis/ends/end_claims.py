"""Claims about the end or the state of a loop; each is recomputed from the recorded values of its last iterations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from workbench.analysis.claims.claim import Claim
from workbench.analysis.claims.sentences import SENTENCES
from workbench.analysis.comparisons import OPS
from workbench.analysis.ends.condition_tree import ConditionLeaf
from workbench.analysis.ends.how_it_ended import Ending
from workbench.analysis.ends.tree_values import TreeValues
from workbench.analysis.standing import LoopEnd, Standing
from workbench.ir.node import Ref


class EndEvidence(NamedTuple):
    """Evidence of an end: the condition's last values with its operands, and the comparison that decided."""

    values: TreeValues
    leaf: ConditionLeaf | None
    end: LoopEnd

    def going(self, iteration: int) -> bool | None:
        """The condition's value in an iteration; None if it is not recorded."""
        tree = self.values.tree
        cond = tree.graph.frames[tree.path].loop_cond
        value = None if cond is None else self.values.value(Ref(cond), iteration)
        return None if value is None else bool(np.asarray(value).reshape(-1)[0])

    def items(self, leaf: ConditionLeaf, iteration: int) -> np.ndarray | None:
        """The truth of a comparison, item by item, recomputed from its operands for an iteration of the condition."""
        k = iteration - leaf.lag
        a, b = self.values.value(leaf.left, k), self.values.value(leaf.right, k)
        return None if a is None or b is None else np.asarray(OPS[leaf.op](a, b)) ^ leaf.negated

    def has_ended(self, iterations: int) -> bool:
        """True if the condition was false after ``iterations`` iterations, and not false one iteration before."""
        before = self.going(iterations - 1) if iterations else True
        return self.going(iterations) is False and before is not False


@dataclass(frozen=True, kw_only=True)
class LoopEndClaim(Claim):
    """The loop ``loop`` ran ``iterations`` iterations, and then its condition was false.

    Asserts: the condition was false at its last evaluation, ``iterations`` iterations after the loop began, and true
    one iteration before. ``clause`` is the comparison that decided, ``operands`` its values then.
    Evidence: the recorded values of the last iterations.
    """

    kind: ClassVar[str] = "ended"
    standing: ClassVar[Standing] = Standing.ENDED
    loop: str
    iterations: int
    clause: str = ""
    operands: str = ""

    def _holds(self, run: Any) -> bool:
        if run.end.standing is not self.standing or not run.has_ended(self.iterations):
            return False
        return run.leaf is None or self._decided(run)

    def _decided(self, run: EndEvidence) -> bool:
        """True if the comparison is false at the end."""
        return self._is(run, False)

    def _is(self, run: EndEvidence, wanted: bool) -> bool:
        assert run.leaf is not None
        items = run.items(run.leaf, self.iterations)
        if items is None:
            return False
        return bool(items.any() if run.leaf.over == "or" else items.all()) is wanted


@dataclass(frozen=True, kw_only=True)
class Ended(LoopEndClaim):
    """The loop ended because ``clause`` became false, and NaN did not decide it."""

    kind: ClassVar[str] = "ended"

    def _decided(self, run: EndEvidence) -> bool:
        assert run.leaf is not None
        return super()._decided(run) and not run.values.truth(run.leaf, self.iterations).by_nan


@dataclass(frozen=True, kw_only=True)
class LeftByBreak(LoopEndClaim):
    """A break or return was taken, because ``clause`` was true in the last iteration."""

    kind: ClassVar[str] = "left-by-break"
    standing: ClassVar[Standing] = Standing.LEFT

    def _decided(self, run: EndEvidence) -> bool:
        return self._is(run, True)


@dataclass(frozen=True, kw_only=True)
class CutOff(LoopEndClaim):
    """The limit ``clause`` became false while ``still`` held, or while a break was not taken.

    Asserts also: every other part of the condition was true at its last evaluation.
    """

    kind: ClassVar[str] = "cut-off"
    standing: ClassVar[Standing] = Standing.CUT_OFF
    still: str = ""

    def _decided(self, run: EndEvidence) -> bool:
        tree, n = run.values.tree, self.iterations
        others = [part for part in (*tree.goals, *tree.flags)]
        looked = [[run.values.truth(part, k).holds for k in (n, n - 1)] for part in others]
        held = all(now if now is not None else before is not False for now, before in looked)
        return super()._decided(run) and bool(others) and held


@dataclass(frozen=True, kw_only=True)
class EndedByNaN(LoopEndClaim):
    """The comparison ``clause`` decided the end: one of its sides is NaN, or it tests a value that is not finite."""

    kind: ClassVar[str] = "ended-by-nan"
    standing: ClassVar[Standing] = Standing.NOT_FINITE
    side: str = ""

    def _decided(self, run: EndEvidence) -> bool:
        assert run.leaf is not None
        return run.values.truth(run.leaf, self.iterations).by_nan


@dataclass(frozen=True, kw_only=True)
class StoppedByCaller(LoopEndClaim):
    """The caller stopped a recorded loop although ``still`` held in its last iteration."""

    kind: ClassVar[str] = "stopped-by-caller"
    standing: ClassVar[Standing] = Standing.STOPPED
    still: str = ""

    def _decided(self, run: EndEvidence) -> bool:
        return self._is(run, True)


@dataclass(frozen=True, kw_only=True)
class AboutToBegin(Claim):
    """The loop ``loop`` was entered, but its condition was not yet evaluated in the present activation.

    Evidence: a function that returns the condition at the run's position, None before its first evaluation.
    """

    kind: ClassVar[str] = "about-to-begin"
    loop: str

    def _holds(self, run: Any) -> bool:
        return run() is None


KINDS: dict[Standing, type[LoopEndClaim]] = {
    kind.standing: kind for kind in (Ended, LeftByBreak, CutOff, EndedByNaN, StoppedByCaller)
}


def end_claims(path: tuple[str, ...], ending: Ending) -> list[Claim]:
    """The claim about the end of a loop; an empty list if it has not ended, or if no values of its end are recorded."""
    end, values, leaf = ending
    kind = KINDS.get(end.standing)
    if values is None or kind is None:
        return []
    by = end.by if end.by is not None else end.still
    more: dict[str, Any] = {"clause": "" if by is None else by.text, "operands": "" if by is None else by.values}
    if kind in (CutOff, StoppedByCaller):
        more["still"] = "" if end.still is None else str(end.still)
    if kind is EndedByNaN:
        more["side"] = "" if end.by is None else end.by.nan
    evidence = EndEvidence(values, leaf, end)
    return [kind(loop="/".join(path), iterations=end.iterations, evidence=evidence, **more)]


def _sentence(claim: LoopEndClaim) -> str:
    end: LoopEnd | None = None if claim.evidence is None else claim.evidence.end
    if end is not None:
        return end.sentence(claim.loop)
    decided = f": {claim.clause} ({claim.operands})" if claim.operands else f": {claim.clause}" if claim.clause else ""
    word = claim.standing.word
    return f"{word[0].upper()}{word[1:]} after {claim.iterations:,} iterations{decided}."


SENTENCES.update({kind.kind: _sentence for kind in KINDS.values()})
SENTENCES[AboutToBegin.kind] = lambda claim: LoopEnd(Standing.ABOUT_TO_BEGIN, 0).sentence(claim.loop)
