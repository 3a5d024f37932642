"""The clauses that keep a loop running, each with its cause and root variables, ranked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from workbench.analysis.forecast.laws.exact_continuation import MIRROR, OPS
from workbench.analysis.root_cause.attribution import BlockingComparison, responsible
from workbench.analysis.root_cause.classify_cause import cause_of
from workbench.analysis.root_cause.clause_features import Cause, ClauseFeatures
from workbench.analysis.root_cause.expressions import unchanged_names
from workbench.analysis.root_cause.loop_dependencies import LoopDependencies, blocking_order
from workbench.analysis.root_cause.loop_samples import LoopSamples
from workbench.analysis.slicing.dependencies import constant_step
from workbench.ir.node import Node, Ref

#: flags that the reading of Python functions makes; the user has not written them
SYNTHETIC = frozenset(("break", "continue", "returned", "asserted"))
#: guilt by cause: what was on its way and got stuck comes first, what could never move last
GUILT = {
    "floor": 0,
    "absorbed": 0,
    "limit-beyond": 0,
    "steps-over": 0,
    "step-too-large": 0,
    "nan": 0,
    "overflow": 1,
    "cycle": 1,
    "wraps": 1,
    "sign-flips": 0,
    "no-effect": 2,
    "not-updated": 3,
    "flag-never-set": 3,
    "moves-away": 4,
    "recurrence": 5,
    "clause-invariant": 5,
    "always-true": 6,
}


@dataclass
class Suspect:
    """One clause: ``name op other`` seen from the side that moves, with what is known of it.

    ``item`` is the index of the item that is looked at, where arrays are compared.
    """

    leaf: BlockingComparison
    moving: Ref
    still: Any
    op: str
    mirrored: bool
    root: list[str]
    facts: ClauseFeatures
    cause: Cause
    iterations: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    factor: Node | None = None
    swinger: str | None = None
    item: tuple[int, ...] | None = None

    @property
    def rank(self) -> tuple[int, bool, bool]:
        """Smaller is guiltier. What went away from its threshold was never meant to end the loop, nor a bare flag."""
        rank, f = GUILT.get(self.cause.slug, 5), self.facts
        if rank == 0 and self.cause.slug in ("limit-beyond", "absorbed"):
            with np.errstate(all="ignore"):
                began, ends = (
                    abs(float(x[k]) - float(t[k])) for x, t, k in ((f.early_x, f.early_t, 0), (f.late_x, f.late_t, -1))
                )
            rank = 4 if ends > began else rank
        return rank, f.late_x.dtype.kind == "b", not self.root


def suspects(found: LoopSamples, want: bool, slug: str = "") -> list[Suspect]:
    """Clauses responsible for the condition's value ``want`` at the end of what is known, most guilty first."""
    columns, last = found.deepest
    period = found.settled[1] if found.settled else 1
    leaves = responsible(found.loop, columns, found.cond, want, last)
    for back in range(1, min(period, 16)):
        # an "or" that goes round a cycle may be held by one clause after the other: those of all iterations count
        more = responsible(found.loop, columns, found.cond, want, last - back)
        both = [leaf for leaf in leaves if leaf in more]
        leaves = both or [*leaves, *(leaf for leaf in more if leaf not in leaves)]
    if not want:  # of several that are false in the end those decide that were true before
        held = {leaf.node for leaf in responsible(found.loop, columns, found.cond, True, last - 1)}
        leaves = [leaf for leaf in leaves if leaf.node in held] or leaves
    made = [s for leaf in leaves if (s := _suspect(found, leaf, slug)) is not None]
    return sorted(made, key=lambda s: s.rank)


def _suspect(found: LoopSamples, leaf: BlockingComparison, slug: str) -> Suspect | None:
    loop = found.loop
    left, right, item = _pair(found, leaf)
    if left is None or right is None:
        return None
    (its, ex, et), (_, lx, lt) = left, right
    moves_left, moves_right = _moves(ex, lx), _moves(et, lt)
    mirrored = isinstance(leaf.right, Ref) and _other_side(loop, leaf, moves_left, moves_right)
    moving: Any = leaf.right if mirrored else leaf.left
    still: Any = leaf.left if mirrored else leaf.right
    op = MIRROR[leaf.op] if mirrored else leaf.op
    if mirrored:
        ex, et, lx, lt = et, ex, lt, lx
    root = _root(loop, moving, still)
    values, late = _root_values(found, root, ex, lx)
    first = root[0] if root else None
    known = first is not None and first in loop.variables
    increment, free, step = _increment(found, first) if first is not None and known else (None, False, None)
    swinger = next((n for n in root[:4] if n in loop.variables and loop.factor(n) is not None), None)
    factor = None if swinger is None else loop.factor(swinger)
    swinging = _root_values(found, [] if swinger is None else [swinger], ex, lx)
    scale = _scale(found, root, ex, lx)
    # a flag of its own, not one of Python's break: its numbers are those of the comparison that would set it
    is_flag = loop.direct(leaf.left) is not None and lx.dtype.kind == "b"
    if loop.direct(moving) != first:
        step, free = None, False
    facts = ClauseFeatures(
        op,
        ex,
        et,
        lx,
        lt,
        values,
        late,
        found.settled is not None,
        loop.updated(first) if first is not None and known else False,
        step,
        increment,
        free,
        _number(factor),
        *swinging,
        scale,
        is_flag,
        slug,
    )
    cause = cause_of(facts) if len(ex) and len(lx) else Cause("recurrence")
    if not root:
        root = unchanged_names(loop, leaf.node)
        cause = Cause("not-updated" if root else "always-true")
    if leaf.flag is not None and _visible(leaf.flag) is not None:
        root = [leaf.flag, *(r for r in root if r != leaf.flag)]
    return Suspect(leaf, moving, still, op, mirrored, root, facts, cause, its, factor, swinger, item)


def _visible(flag: str) -> str | None:
    """A flag's name if the user gave it."""
    return None if flag.split("/")[-1].rstrip("'0123456789_") in SYNTHETIC else flag


def _pair(found: LoopSamples, leaf: BlockingComparison) -> tuple[Any, Any, tuple[int, ...] | None]:
    """(iterations, left, right) of all that is known, and of the end, as scalars; of arrays the index of the item."""

    def both(read: Any) -> Any:
        its, a = read(leaf.left)
        if not isinstance(leaf.right, Ref):
            return its, a, np.full(len(its), leaf.right)
        at, b = read(leaf.right)
        common, i, j = np.intersect1d(its, at, assume_unique=True, return_indices=True)
        return common, a[i], b[j]

    early, late = both(found.series), both(found.at_the_end)
    if len(late[0]) == 0:
        late = early
    if len(early[0]) == 0:
        early = late
    if len(late[0]) == 0:
        return None, None, None
    if late[1].ndim > 1 or late[2].ndim > 1:
        return _picked(leaf, early, late)
    if any(part.dtype.kind not in "fiub" for part in (early[1], early[2], late[1], late[2])):
        return None, None, None
    return early, late, None


def _picked(leaf: BlockingComparison, early: Any, late: Any) -> tuple[Any, Any, tuple[int, ...] | None]:
    """Of arrays the first item at which the comparison holds at the end."""
    try:
        a, b = np.broadcast_arrays(late[1][-1], late[2][-1])
        with np.errstate(all="ignore"):
            where = np.argwhere(OPS[leaf.op](a, b))
        item = tuple(where[0]) if len(where) else (0,) * a.ndim

        def scalars(part: Any) -> Any:
            its, x, t = part
            shape = (len(its), *a.shape)
            x, t = (v.reshape(len(its), *([1] * (len(shape) - v.ndim)), *v.shape[1:]) for v in (x, t))
            return its, np.broadcast_to(x, shape)[(slice(None), *item)], np.broadcast_to(t, shape)[(slice(None), *item)]

        return scalars(early), scalars(late), tuple(int(i) for i in item)
    except (ValueError, IndexError):
        return None, None, None


def _moves(*parts: np.ndarray) -> bool:
    values = np.concatenate([p for p in parts if len(p)])
    first = values[0]
    return bool(np.any((values != first) & ~((values != values) & (first != first))))


def _other_side(loop: LoopDependencies, leaf: BlockingComparison, moves_left: bool, moves_right: bool) -> bool:
    """True if the right side is the one to look at."""
    sides = [_rank(loop, leaf.left), _rank(loop, leaf.right)]
    if moves_left != moves_right:
        return moves_right
    return sides[1] < sides[0]


def _rank(loop: LoopDependencies, ref: Any) -> int:
    """0 for a side with an updated variable, 1 with one that is not updated, 2 without variables."""
    names = loop.reads(ref, True) if isinstance(ref, Ref) else []
    return 2 if not names else 0 if any(loop.updated(n) for n in names) else 1


def _root(loop: LoopDependencies, moving: Any, still: Any) -> list[str]:
    """Variables behind the side that moves, then those that they are made of, then those of the other side."""
    names: dict[str, None] = {}

    def add(ref: Any) -> None:
        if not isinstance(ref, Ref):
            return
        direct = loop.direct(ref)
        near = [direct] if direct is not None else blocking_order(loop, loop.reads(ref))
        names.update(dict.fromkeys(near))
        if not near:
            names.update(dict.fromkeys(blocking_order(loop, loop.reads(ref, True))))

    add(moving)
    for name in list(names):
        behind = loop.reads(loop.update(name), True)
        names.update(dict.fromkeys(n for n in blocking_order(loop, behind) if loop.updated(n)))
    if isinstance(still, Ref):
        more = loop.reads(still)
        names.update(dict.fromkeys(n for n in more if loop.updated(n) or not names))
    return [n for n in list(names) if _visible(n) is not None][:8] or list(names)[:8]


def _root_values(found: LoopSamples, root: list[str], ex: np.ndarray, lx: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The values of the first root variable, if it is a number; of the operand else."""
    if root and root[0] in found.loop.variables:
        ref = Ref(found.loop.variables[root[0]].merge)
        _, early = found.series(ref)
        _, late = found.at_the_end(ref)
        if early.ndim > 1 and late.ndim > 1 and late.dtype.kind == "f":  # the item that moved most
            early, late = early.reshape(len(early), -1), late.reshape(len(late), -1)
            way = np.abs(np.nan_to_num(late - late[:1])).max(axis=0)
            item = int(way.argmax()) if len(way) else 0
            early, late = early[:, item : item + 1].ravel(), late[:, item : item + 1].ravel()
        if early.ndim == 1 and early.dtype.kind in "fiub" and len(early) and len(late):
            return early, late
    return ex, lx


def _increment(found: LoopSamples, name: str) -> tuple[float | None, bool, float | None]:
    """(what the last iteration added to a variable, whether that is independent of it, the step if it is constant)."""
    loop = found.loop
    step = constant_step(loop.graph, loop.variables[name]) or None
    made = loop.increment(name)
    if made is None:
        return None, False, step
    node, other = made
    free = not _leads_to(loop, other, name)
    _, values = found.at_the_end(other)
    if not len(values) or values.ndim > 1 or values.dtype.kind not in "fiu":
        return None, free, step
    value = float(values[-1])
    return (value if node.op == "add" else -value), free, step


def _leads_to(loop: LoopDependencies, ref: Ref, name: str) -> bool:
    """True if a value depends on a variable, in this iteration or over several."""
    waiting, seen = loop.reads(ref, True), set()
    while waiting:
        at = waiting.pop()
        if at == name:
            return True
        if at not in seen:
            seen.add(at)
            waiting.extend(loop.reads(loop.update(at), True))
    return False


def _scale(found: LoopSamples, root: list[str], *operands: np.ndarray) -> float:
    """The largest finite number among the operands and the variables behind them."""
    parts = [o for o in operands if o.dtype.kind in "fiu"]
    for name in root[:4]:
        if name in found.loop.variables:
            _, values = found.at_the_end(Ref(found.loop.variables[name].merge))
            if values.dtype.kind in "f":
                parts.append(values)
    sizes = [np.abs(p.astype(np.float64)) for p in parts[-5:] if p.size]
    finite = [float(s[np.isfinite(s)][-LAST:].max()) for s in sizes if np.isfinite(s).any()]
    return max(finite, default=1.0)


LAST = 16


def _number(factor: Node | None) -> float | None:
    """The factor of the step if it is written in the graph; 1.0 stands for an input."""
    if factor is None:
        return None
    if factor.op == "Const" and factor.attrs["value"].size == 1:
        return float(np.asarray(factor.attrs["value"]).reshape(-1)[0])
    return 1.0


__all__ = ["Suspect", "suspects"]
