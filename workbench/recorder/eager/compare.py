"""Comparison of two runs of a loop: the first tensor that differs.

Iterations are paired by number, tensors by the order and the names of ops: where the two runs have the same ops in the
same order they are paired one to one, elsewhere by a longest common subsequence, so that an additional op in one run
shifts nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

import numpy as np

from workbench.recorder.eager.record import OpRecord
from workbench.recorder.eager.sites import Site
from workbench.text import harmless


@dataclass(frozen=True)
class FirstDifference:
    """The first pair of tensors that differ: iteration, the site in each run, statistics of both."""

    iteration: int
    site: Site
    other: Site
    mine: Any
    theirs: Any

    op = property(lambda self: self.site.op)
    line = property(lambda self: self.site.line)
    module = property(lambda self: self.site.module)


@dataclass(frozen=True)
class OpDifference:
    """Result of comparing two runs: ``first`` is None if all pairs are equal."""

    first: FirstDifference | None
    compared: int
    unpaired: int

    def __bool__(self) -> bool:
        return self.first is not None

    def swapped(self) -> OpDifference:
        """The same result with the two runs exchanged."""
        f = self.first
        turned = None if f is None else FirstDifference(f.iteration, f.other, f.site, f.theirs, f.mine)
        return OpDifference(turned, self.compared, self.unpaired)

    @harmless
    def __str__(self) -> str:
        if self.first is None:
            return f"No difference in {self.compared:,} tensors; {self.unpaired:,} have no partner."
        f = self.first
        since = f"The same up to iteration {f.iteration - 1}, then" if f.iteration else "From the first iteration on:"
        pairs = (
            f"{k} {f.mine[k]:.17g} and {f.theirs[k]:.17g}" for k in ("mean", "largest") if f.mine[k] != f.theirs[k]
        )
        return f"{since} {f.site}: {', '.join(pairs) or 'other numbers with the same statistics'}."


def compare(mine: OpRecord, theirs: OpRecord, rtol: float | None = None) -> OpDifference:
    """The first difference of two records.

    With ``rtol`` None the values themselves are compared by a hash, whatever their dtype. A number compares statistics,
    within ``rtol`` times the root mean square.
    """
    compared = unpaired = 0
    pairs_of: dict[tuple[Any, Any], Any] = {}
    for iteration in sorted(set(mine.rows) & set(theirs.rows)):
        a, b = mine.rows[iteration], theirs.rows[iteration]
        key = (a["site"].tobytes(), b["site"].tobytes())
        if key not in pairs_of:
            if len(pairs_of) > 64:
                pairs_of.clear()
            pairs_of[key] = _pairs(mine, a["site"], theirs, b["site"])
        left, right = pairs_of[key]
        compared += len(left)
        unpaired += len(a) + len(b) - 2 * len(left)
        differs = _differs(a[left], b[right], rtol)
        if differs.any():
            k = int(np.argmax(differs))
            x, y = a[left[k]], b[right[k]]
            first = FirstDifference(iteration, mine.table[int(x["site"])], theirs.table[int(y["site"])], x, y)
            return OpDifference(first, compared, unpaired)
    return OpDifference(None, compared, unpaired)


def _pairs(mine: OpRecord, a: Any, theirs: OpRecord, b: Any) -> tuple[Any, Any]:
    """Indices of the paired rows of an iteration."""
    left = [_name(mine.table[int(s)]) for s in a]
    right = [_name(theirs.table[int(s)]) for s in b]
    if left == right:
        return np.arange(len(a)), np.arange(len(b))
    blocks = SequenceMatcher(None, left, right, autojunk=False).get_matching_blocks()
    one = [k for block in blocks for k in range(block.a, block.a + block.size)]
    two = [k for block in blocks for k in range(block.b, block.b + block.size)]
    return np.array(one, np.intp), np.array(two, np.intp)


def _name(site: Site) -> tuple[str, int, str]:
    return site.op, site.output, site.module if site.op == "input" else ""


def _differs(a: Any, b: Any, rtol: float | None) -> Any:
    same = (a["hash"] == b["hash"]) & (a["count"] == b["count"])
    if rtol is None:
        return ~same
    size = np.maximum(np.maximum(a["rms"], b["rms"]).astype(np.float64), 1e-300)
    close = (a["count"] == b["count"]) & (a["nan"] == b["nan"]) & (a["inf"] == b["inf"])
    with np.errstate(all="ignore"):
        for field in ("mean", "least", "largest", "rms"):
            x, y = a[field].astype(np.float64), b[field].astype(np.float64)
            close &= (np.abs(x - y) <= rtol * size) | (x == y) | (np.isnan(x) & np.isnan(y))
    return ~(same | close)
