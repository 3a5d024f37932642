"""The clauses that keep a loop running, each with its cause and root variables, ranked."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.analysis.comparisons import MIRROR, OPS
from workbench.analysis.root_cause.attribution import BlockingComparison, responsible
from workbench.analysis.root_cause.clause_diagnosis import ClauseDiagnosis, ClauseValues, is_written
from workbench.analysis.root_cause.expressions import unchanged_names
from workbench.analysis.root_cause.firings import Firings
from workbench.analysis.root_cause.loop_dependencies import LoopDependencies, blocking_order
from workbench.analysis.root_cause.loop_samples import LoopSamples
from workbench.analysis.root_cause.mechanism import find_cause
from workbench.ir.node import Ref

#: rank by cause: clauses that got stuck on their way come first, those that could never become false last
RANK = {
    **dict.fromkeys(("floor", "absorbed", "limit-beyond", "steps-over", "step-too-large", "nan", "sign-flips"), 0),
    **dict.fromkeys(("guard", "saturated", "truncated"), 0),
    **dict.fromkeys(("overflow", "cycle", "wraps"), 1),
    "no-effect": 2,
    "not-updated": 3,
    "moves-away": 4,
    "recurrence": 5,
    "always-true": 6,
}
#: maximum number of clauses for which the mechanism is searched
MOST = 6


def rank(s: ClauseDiagnosis) -> tuple[int, bool, bool]:
    """Sort key: the most responsible clause first. A clause that moved away from its threshold was not meant to end the
    loop, nor was a bare flag.
    """
    slug, v = s.cause.slug, s.values
    place = RANK.get(slug, 5)
    if place == 0 and slug in ("limit-beyond", "absorbed", "guard", "saturated", "truncated"):
        with np.errstate(all="ignore"):
            began, ends = (
                abs(float(x[k]) - float(t[k])) for x, t, k in ((v.early_x, v.early_t, 0), (v.late_x, v.late_t, -1))
            )
        place = 4 if ends > began else place
    return place, v.late_x.dtype.kind == "b", not s.root


def diagnoses(firings: Firings, want: bool, slug: str = "") -> list[ClauseDiagnosis]:
    """Clauses that give the condition its value ``want`` in the last known iteration, most responsible first."""
    found = firings.found
    columns, last = found.deepest
    period = found.settled[1] if found.settled else 1
    leaves = responsible(found.loop, columns, found.cond, want, last)
    for back in range(1, min(period, 16)):
        # in a cycle, an "or" may be held by different clauses in turn: those of all iterations count
        more = responsible(found.loop, columns, found.cond, want, last - back)
        both = [leaf for leaf in leaves if leaf in more]
        leaves = both or [*leaves, *(leaf for leaf in more if leaf not in leaves)]
    if not want:  # if several are false at the end, those that were true before decide
        held = {leaf.node for leaf in responsible(found.loop, columns, found.cond, True, last - 1)}
        leaves = [leaf for leaf in leaves if leaf.node in held] or leaves
    made = [s for leaf in leaves if (s := _suspect(found, leaf)) is not None][:MOST]
    for s in made:
        s.look = lambda s: find_cause(firings, s, slug)
    if len(made) < 2:
        return made
    return sorted(made, key=rank if want else lambda s: (not s.ends_in_nan, s.values.late_x.dtype.kind == "b"))


def _suspect(found: LoopSamples, leaf: BlockingComparison) -> ClauseDiagnosis | None:
    loop = found.loop
    left, right, item = _pair(found, leaf)
    if left is None or right is None:
        return None
    (its, ex, et), (_, lx, lt) = left, right
    if not len(ex) or not len(lx):
        return None
    moves_left, moves_right = _moves(ex, lx), _moves(et, lt)
    mirrored = isinstance(leaf.right, Ref) and _other_side(loop, leaf, moves_left, moves_right)
    moving: Any = leaf.right if mirrored else leaf.left
    still: Any = leaf.left if mirrored else leaf.right
    op = MIRROR[leaf.op] if mirrored else leaf.op
    if mirrored:
        ex, et, lx, lt = et, ex, lt, lx
    root = _root(loop, moving, still)
    swinger = next((n for n in root[:4] if n in loop.variables and loop.factor(n) is not None), None)
    factor = None if swinger is None else loop.factor(swinger)
    if not root:
        root = unchanged_names(loop, leaf.node)
    elif leaf.flag is not None and is_written(leaf.flag):
        root = [leaf.flag, *(r for r in root if r != leaf.flag)]
    return ClauseDiagnosis(
        leaf, moving, still, op, mirrored, root, ClauseValues(ex, et, lx, lt), its, factor, swinger, item
    )


def _pair(found: LoopSamples, leaf: BlockingComparison) -> tuple[Any, Any, tuple[int, ...] | None]:
    """(iterations, left, right) of all known values and of the last ones, as scalars; for arrays also the item."""

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
    """The values of arrays as scalars: those of the first item at which the comparison holds at the end."""
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
    """True if the right side is the one that moves."""
    sides = [_rank(loop, leaf.left), _rank(loop, leaf.right)]
    if moves_left != moves_right:
        return moves_right
    return sides[1] < sides[0]


def _rank(loop: LoopDependencies, ref: Any) -> int:
    """0 for a side with an updated variable, 1 with only variables that are not updated, 2 without variables."""
    names = loop.reads(ref, True) if isinstance(ref, Ref) else []
    return 2 if not names else 0 if any(loop.updated(n) for n in names) else 1


def _root(loop: LoopDependencies, moving: Any, still: Any) -> list[str]:
    """Variables behind the side that moves, then those from which they are computed, then those of the other side."""
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
    return [n for n in list(names) if is_written(n)][:8] or list(names)[:8]


__all__ = ["ClauseDiagnosis", "diagnoses"]
