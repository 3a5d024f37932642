"""The truth of a condition's parts in one iteration, recomputed from recorded operands, and whether NaN decided it."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np

from workbench.analysis.comparisons import NEGATED, OPS
from workbench.analysis.ends.condition_tree import CHECKS, ConditionLeaf, ConditionTree, Flag, Tree
from workbench.analysis.root_cause.expressions import expression, written
from workbench.analysis.root_cause.loop_dependencies import LoopDependencies
from workbench.analysis.standing import ClauseAtEnd
from workbench.analysis.text import shown
from workbench.ir.node import Ref
from workbench.trace import Trace
from workbench.trace.aligned_columns import AlignedColumns

#: number of newest firings of a value that are read: those of the last two iterations, and a few more
FIRINGS = 8
#: the output index ``:0`` at the end of a value's name, which is left out
FIRST_OUTPUT = re.compile(r"(?<=\w):0(?![\w.])")


class Truth(NamedTuple):
    """``holds`` is True, False, or None for a part that was not computed; ``by_nan``: NaN decided it."""

    holds: bool | None
    by_nan: bool = False


UNSEEN = Truth(None)


class TreeValues:
    """Evaluates the parts of a condition in one activation of its loop.

    ``around`` are the iterations of the outer loops.
    """

    def __init__(self, trace: Trace, tree: ConditionTree, around: tuple[int, ...]) -> None:
        self.tree, self.around = tree, around
        self.loop = LoopDependencies(tree.graph, tree.path)
        self._columns: AlignedColumns | None = AlignedColumns(trace, around or None, FIRINGS)
        self._known: dict[tuple[Ref, int], Any] = {}

    def value(self, ref: Any, iteration: int) -> Any:
        """The value of an operand in an iteration; None if it was not computed or is not kept."""
        if not isinstance(ref, Ref):
            return ref
        if (ref, iteration) not in self._known:
            if iteration < 0 or self._columns is None:
                return None
            there, values = self._columns.at(ref, np.array([[*self.around, iteration]], np.int64))
            self._known[ref, iteration] = values[0] if len(there) and there[0] and len(values) else None
        return self._known[ref, iteration]

    def release(self) -> None:
        """Release the record; the values that were read stay available."""
        self._columns = None

    def truth(self, tree: Tree, k: int) -> Truth:
        """The truth of a part when the condition was evaluated in iteration ``k``."""
        if isinstance(tree, ConditionLeaf):
            return self._leaf(tree, k - tree.lag)
        if isinstance(tree, Flag):
            is_set = self.value(tree.ref, k)
            return UNSEEN if is_set is None else Truth(not bool(np.asarray(is_set).reshape(-1)[0]))
        found = [self.truth(part, k) for part in tree.parts]
        if tree.kind == "and":
            if any(t.holds is False for t in found):
                return Truth(False, all(t.by_nan for t in found if t.holds is False))
            return UNSEEN if any(t.holds is None for t in found) else Truth(True)
        if any(t.holds for t in found):
            return Truth(True, all(t.by_nan for t in found if t.holds))
        if any(t.holds is None for t in found):
            return UNSEEN
        return Truth(False, any(t.by_nan for t in found))

    def _leaf(self, leaf: ConditionLeaf, k: int) -> Truth:
        a, b = self.value(leaf.left, k), self.value(leaf.right, k)
        if a is None or b is None:
            return UNSEEN
        try:
            with np.errstate(all="ignore"):
                items = np.asarray(OPS[leaf.op](a, b))
                items = ~items if leaf.negated else items
                bad = self._not_finite(leaf, k) | _isnan(a) | _isnan(b)
        except (TypeError, ValueError, OverflowError):
            return UNSEEN
        items, bad = np.broadcast_arrays(items, bad)
        if leaf.over == "or":
            return Truth(bool(items.any()), bool(bad.any()) if not items.any() else bool(bad[items].all()))
        if items.all():
            return Truth(True, bool(bad.any()))
        return Truth(False, bool(bad[~items].all()))

    def _not_finite(self, leaf: ConditionLeaf, k: int) -> Any:
        """For a test like ``isfinite(x)``: a mask of the items of x that are not finite."""
        node = self.tree.graph.nodes[leaf.left.node]
        if node.op not in CHECKS:
            return np.False_
        x = self.value(node.inputs[0], k)
        return np.False_ if x is None else ~np.isfinite(x)

    def failing(self, tree: Tree, k: int) -> ConditionLeaf | None:
        """The first comparison that makes a part false; a comparison with NaN takes precedence."""
        return self._blamed(tree, k, False)

    def holding(self, tree: Tree, k: int) -> ConditionLeaf | None:
        """The first comparison that makes a part true."""
        return self._blamed(tree, k, True)

    def _blamed(self, tree: Tree, k: int, want: bool) -> ConditionLeaf | None:
        if isinstance(tree, ConditionLeaf):
            return tree if self.truth(tree, k).holds is want else None
        if isinstance(tree, Flag):
            return None if tree.taken is None else self._blamed(tree.taken, k, not want)
        found = [leaf for part in tree.parts if (leaf := self._blamed(part, k, want)) is not None]
        return next((leaf for leaf in found if self.truth(leaf, k).by_nan), found[0] if found else None)

    def gaps(self, leaf: ConditionLeaf, k: int) -> tuple[tuple[int, ...], tuple[float, ...]]:
        """(iterations, |left - right|) of a comparison of two numbers in the last iterations up to ``k``."""
        found: dict[int, float] = {}
        for at in range(max(0, k - leaf.lag - FIRINGS + 1), k - leaf.lag + 1):
            a, b = self.value(leaf.left, at), self.value(leaf.right, at)
            if a is None or b is None or np.size(a) != 1 or np.size(b) != 1:
                continue
            try:
                found[at] = abs(float(_item(a)) - float(_item(b)))
            except (TypeError, ValueError, OverflowError):
                return (), ()
        return tuple(found), tuple(found.values())

    def threshold(self, leaf: ConditionLeaf, k: int) -> float | None:
        """The side of a comparison that the loop does not change, if it is a known number."""
        sides = [r for r in (leaf.right, leaf.left) if not isinstance(r, Ref) or not self.loop.reads(r, True)]
        value = self.value(sides[0], k - leaf.lag) if sides else None
        known = value is not None and np.size(value) == 1 and np.asarray(value).dtype.kind in "fiu"
        return float(_item(value)) if known else None

    def reads(self, leaf: ConditionLeaf) -> list[str]:
        """The variables that a comparison depends on, those that the loop updates first."""
        refs = [r for r in (leaf.left, leaf.right) if isinstance(r, Ref)]
        names: dict[str, None] = {}
        for ref in refs:
            direct = self.loop.direct(ref)
            names.update(dict.fromkeys([direct] if direct is not None else self.loop.reads(ref)))
        return sorted(names, key=lambda name: not self.loop.updated(name))

    def side(self, leaf: ConditionLeaf, k: int, *, denied: bool = False) -> ClauseAtEnd:
        """A comparison, or with ``denied`` its opposite, in words, with its operands in iteration ``k``."""
        k -= leaf.lag
        negated = leaf.negated is not denied
        a, b = self.value(leaf.left, k), self.value(leaf.right, k)
        source = self.tree.graph.nodes[leaf.node].source
        line = source.place if source is not None else ""
        left, op, right = written(self.loop, leaf.node) or (self.text(leaf.left), leaf.op, self.text(leaf.right))
        node = self.tree.graph.nodes[leaf.left.node]
        if isinstance(leaf.right, (bool, np.bool_)):
            text = left if bool(leaf.right) is not negated else f"not {left}"
            checked = self.value(node.inputs[0], k) if node.op in CHECKS else None
            values = f"{self.text(node.inputs[0])} = {shown(_item(checked))}" if checked is not None else ""
            return ClauseAtEnd(
                text,
                values if checked is not None and np.size(checked) == 1 else "",
                k,
                leaf.node,
                line,
                self._nan(leaf, k, left),
            )
        over = {"or": "any", "and": "all"}.get(leaf.over, "")
        # with NaN, a negated comparison keeps its operator: the opposite operator would mean something else
        sign = NEGATED[op] if negated and not (_isnan(a).any() or _isnan(b).any()) else op
        text = f"{left} {sign} {right}"
        if negated and sign == op:
            text = f"not ({text})"
        text = f"{over}({text})" if over else text
        values = ""
        if a is not None and b is not None and np.size(a) == 1 and np.size(b) == 1:
            values = " ".join((*_apart(_item(a), _item(b), op), ""))[:-1].replace(f" {op} ", f" {sign} ", 1)
        return ClauseAtEnd(text, values, k, leaf.node, line, self._nan(leaf, k, left, right))

    def text(self, ref: Any) -> str:
        """The expression of an operand, or its name."""
        return FIRST_OUTPUT.sub("", expression(self.loop, ref))

    def _nan(self, leaf: ConditionLeaf, k: int, *names: str) -> str:
        """The words for an operand that is not finite, as in ``x is NaN``."""
        node = self.tree.graph.nodes[leaf.left.node]
        if node.op in CHECKS and self._not_finite(leaf, k).any():
            x = self.value(node.inputs[0], k)
            return f"{self.text(node.inputs[0])} is {'NaN' if _isnan(x).any() else 'infinite'}"
        for name, ref in zip(names, (leaf.left, leaf.right), strict=False):
            if _isnan(self.value(ref, k)).any():
                return f"{name} is NaN"
        return ""


def _isnan(value: Any) -> np.ndarray:
    array = np.asarray(value)
    return np.isnan(array) if array.dtype.kind in "fc" else np.zeros(array.shape, bool)


def _item(value: Any) -> Any:
    return np.asarray(value).reshape(-1)[0]


def _apart(a: Any, b: Any, op: str) -> tuple[str, str, str]:
    """Two numbers with enough digits to differ, and the operator between them."""
    left, right = shown(a), shown(b)
    if _number(left) == _number(right) and not bool(a == b):
        left, right = str(a), str(b)
    return left, op, right


def _number(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text
