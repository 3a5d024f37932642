"""Pairs of ops of two calls that should give the same numbers."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import NamedTuple

from workbench.recorder.decoding.record import CACHE_OPS, DecodingRecord, ModelCall

#: ops that take some of the keys
CUT_OPS = ("slice", "Slice", "narrow", "index_select")


class Pairs(NamedTuple):
    """Places of the ops in both calls, in the order of execution; ``alone`` are those without a partner.

    Without ``named`` they were paired by their numbers, so that one without a partner may be another way to compute.
    """

    both: list[tuple[int, int]]
    alone_a: frozenset[int]
    alone_b: frozenset[int]
    named: bool = True


def pairs_of(a: DecodingRecord, call_a: ModelCall, b: DecodingRecord, call_b: ModelCall) -> Pairs:
    """The pairs by the names of ops and modules, in order.

    What a cache returns are all keys so far: in a run without one they are what is put into it, so that an op that puts
    new keys behind older ones is paired with the op that gives them.
    """
    one, other = _names(a, call_a), _names(b, call_b)
    both: list[tuple[int, int]] = []
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    for i, j, n in matcher.get_matching_blocks():
        both += [(i + k, j + k) for k in range(n)]
    mine, theirs = dict(both), {j: i for i, j in both}
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


def _names(run: DecodingRecord, call: ModelCall) -> list[tuple[str, str, int]]:
    """Name, module and number of the tensor; of an op outside of all modules the line in place of the module.

    A cache is told from an op of its name that puts together something else, as the two halves of a head.
    """
    found = []
    for value in call.values:
        op, axes = run.ops[value.op], run.axes(value.op)
        caches = op.op in CACHE_OPS and axes is not None and axes.positions is None and axes.keys is not None
        name = f"{op.op.removesuffix('_')}{' of a cache' if caches else ''}"
        found.append((name, op.module or f"{op.file}:{op.line}", op.output))
    return found


def put_by(run: DecodingRecord, call: ModelCall, place: int) -> int:
    """The place of the op whose keys another one should give: what is put into a cache, or cut; -1 for another op."""
    value = call.values[place]
    axes, op = run.axes(value.op), run.ops[value.op].op
    if axes is None or axes.positions is not None or not value.inputs:
        return -1
    if op in CACHE_OPS:
        return value.inputs[-1]
    if op not in CUT_OPS or axes.keys is None or value.inputs[0] < 0:
        return -1
    if any(place in v.inputs and run.ops[v.op].op in CACHE_OPS for v in call.values[place:]):
        return -1  # others are put in the place of what it cuts off
    whole = call.values[value.inputs[0]].array.shape
    return value.inputs[0] if [k for k, n in enumerate(whole) if n != value.array.shape[k]] == [axes.keys] else -1
