"""Pairs of ops of two calls that should give the same numbers."""

from __future__ import annotations

from collections import Counter
from difflib import SequenceMatcher
from itertools import pairwise
from typing import NamedTuple

from workbench.recorder.decoding.record import CACHE_OPS, DecodingRecord, ModelCall

#: ops that select some of the keys
CUT_OPS = ("slice", "Slice", "narrow", "index_select")


class Pairs(NamedTuple):
    """Places of the ops in both calls, in the order of execution; ``alone_a`` and ``alone_b`` have no partner.

    Without ``named`` they were paired by their values, so that an op without a partner may be another way to compute.
    """

    both: list[tuple[int, int]]
    alone_a: frozenset[int]
    alone_b: frozenset[int]
    named: bool = True


def pairs_of(a: DecodingRecord, call_a: ModelCall, b: DecodingRecord, call_b: ModelCall) -> Pairs:
    """The pairs by the names of ops and modules, in order; ops of the same lines are paired first.

    A cache returns all keys so far, which a run without a cache computes in full; an op that appends new keys to older
    ones is therefore paired with the op that computes them.
    """
    one, other = _names(a, call_a), _names(b, call_b)
    counts, turns = (Counter(one), Counter(other)), (_turns(one, call_a.positions), _turns(other, call_b.positions))
    both = [
        (i, j)
        for i, j in _in_order(one, other)
        if not (one[i] in turns[0] or other[j] in turns[1])
        or (one[i] == other[j] and counts[0][one[i]] == counts[1][other[j]])
    ]
    both = _by_what_is_put(both, a, call_a, one, b, call_b, other)
    mine, theirs = dict(both), {j: i for i, j in both}
    for i, j in _begun_anew(one, other, mine, theirs):
        both.append((i, j))
        mine[i], theirs[j] = j, i
    for j in range(len(other)):
        if j not in theirs and (source := put_by(b, call_b, j)) in theirs:
            both.append((theirs[source], j))
            theirs[j] = theirs[source]
    for i in range(len(one)):
        if i not in mine and (source := put_by(a, call_a, i)) in mine:
            both.append((i, mine[source]))
            mine[i] = mine[source]
    both.sort(key=lambda pair: (max(pair[0] / max(len(one), 1), pair[1] / max(len(other), 1)), pair))
    return Pairs(both, frozenset(range(len(one))) - set(mine), frozenset(range(len(other))) - set(theirs))


class OpName(NamedTuple):
    """The key by which an op is paired; ``line``, where it is called, differs in another implementation."""

    op: str
    module: str
    output: int
    caches: bool
    line: str


def _in_order(one: list[OpName], other: list[OpName]) -> list[tuple[int, int]]:
    """Places of the pairs in order: ops of the same lines, and between them ops of the same names."""
    found: list[tuple[int, int]] = []
    ends = [(-1, -1), *_blocks(one, other), (len(one), len(other))]
    for (i, j), (m, n) in pairwise(ends):
        found += [(i + 1 + k, j + 1 + h) for k, h in _blocks(_lineless(one[i + 1 : m]), _lineless(other[j + 1 : n]))]
        found.append((m, n))
    return found[:-1]


def _blocks(one: list[OpName], other: list[OpName]) -> list[tuple[int, int]]:
    blocks = SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks()
    return [(i + k, j + k) for i, j, n in blocks for k in range(n)]


def _lineless(names: list[OpName]) -> list[OpName]:
    return [name._replace(line="") for name in names]


def _turns(names: list[OpName], positions: int) -> set[OpName]:
    """Ops of a loop over the positions within a call, as in a recurrence: the first is not that of the token."""
    return {name for name, n in Counter(names).items() if positions > 1 and n % positions == 0}


def _by_what_is_put(
    both: list[tuple[int, int]],
    a: DecodingRecord, call_a: ModelCall, one: list[OpName],
    b: DecodingRecord, call_b: ModelCall, other: list[OpName],
) -> list[tuple[int, int]]:  # fmt: skip
    """The pairs with caches paired anew: first caches into which paired ops put their keys."""
    known = {(i, j) for i, j in both if not (one[i].caches and other[j].caches)}
    mine = {i: put_by(a, call_a, i) for i, name in enumerate(one) if name.caches}
    theirs = {j: put_by(b, call_b, j) for j, name in enumerate(other) if name.caches}
    found: dict[int, int] = {}
    for i, source in mine.items():
        j = next((j for j, put in theirs.items() if (source, put) in known and j not in found.values()), None)
        if j is not None:
            found[i] = j
    for i, j in both:
        if (i, j) not in known and i not in found and j not in found.values():
            found[i] = j
    return sorted(known | set(found.items()))


def _begun_anew(
    one: list[OpName], other: list[OpName], mine: dict[int, int], theirs: dict[int, int]
) -> list[tuple[int, int]]:
    """Pairs of a cache and an op that appends new keys to an empty cache."""
    found = []
    for (first, second), swapped in (((one, other), False), ((other, one), True)):
        taken, free = (mine, theirs) if not swapped else (theirs, mine)
        left = [j for j, name in enumerate(second) if name.op in CACHE_OPS and not name.caches and j not in free]
        for i, name in enumerate(first):
            if not name.caches or i in taken:
                continue
            like = name._replace(caches=False)
            j = next((j for j in left if second[j] == like), None)
            if j is not None:
                left.remove(j)
                found.append((j, i) if swapped else (i, j))
    return found


def _names(run: DecodingRecord, call: ModelCall) -> list[OpName]:
    """The names of the ops; an op outside all modules has its line instead of the module.

    A cache is distinguished from an op of the same name that concatenates something else, such as the two halves of a
    head.
    """
    found = []
    for value in call.values:
        op, axes = run.ops[value.op], run.axes(value.op)
        caches = op.op in CACHE_OPS and axes is not None and axes.positions is None and axes.keys is not None
        line = f"{op.file}:{op.line}"
        found.append(OpName(op.op.removesuffix("_"), op.module or line, op.output, caches, line))
    return found


def put_by(run: DecodingRecord, call: ModelCall, place: int) -> int:
    """The place of the op that gives the keys which this op puts into a cache or cuts; -1 for any other op."""
    value = call.values[place]
    axes, op = run.axes(value.op), run.ops[value.op].op
    if axes is None or axes.positions is not None or not value.inputs:
        return -1
    if op in CACHE_OPS:
        return value.inputs[-1]
    if op not in CUT_OPS or axes.keys is None or value.inputs[0] < 0:
        return -1
    if any(place in v.inputs and run.ops[v.op].op in CACHE_OPS for v in call.values[place:]):
        return -1  # a cache op replaces the keys that this op cuts off
    whole = call.values[value.inputs[0]].array.shape
    return value.inputs[0] if [k for k, n in enumerate(whole) if n != value.array.shape[k]] == [axes.keys] else -1
