"""Pairs of ops whose names differ in the two runs: those that produced the same values for a token of the prompt.

A value is identified by its number of elements, their sum, the sum of their squares and the largest: the order of the
axes does not matter. Ops without such a pair, as after a fault that exists from the first token on, are paired as the
last ops of a module, and finally as the logits.
"""

from __future__ import annotations

import numpy as np

from workbench.recorder.decoding.pairing import put_by
from workbench.recorder.decoding.record import ModelCall
from workbench.recorder.decoding.rows import HUGE, PositionRows

#: maximum distance between two sums, relative to the size of the values
CLOSE = 1e-5


def sites_by_value(a: PositionRows, b: PositionRows, position: int) -> list[tuple[int, int]]:
    """Pairs of indices of ops, in the order of the second run."""
    one, other = a.run.call_of(0, position), b.run.call_of(0, position)
    if one is None or other is None:
        return []
    mine, theirs = _signatures(a, one, position), _signatures(b, other, position)
    found: dict[int, int] = {}
    used: set[int] = set()
    last = -1
    for j, sign in theirs.items():
        near = [i for i, known in mine.items() if _near(sign, known)]
        i = min(near, key=lambda i: (i in used, i <= last, abs(i - last)), default=None)
        if i is not None:
            found[j] = i
            used.add(i)
            last = i
    pairs = [(one.values[i].op, other.values[j].op) for j, i in found.items()]
    back = {i: j for j, i in found.items()}
    for j in range(len(other.values)):
        if j not in found and (source := put_by(b.run, other, j)) in found:
            pairs.append((one.values[found[source]].op, other.values[j].op))
    for i in range(len(one.values)):
        if i not in back and (source := put_by(a.run, one, i)) in back:
            pairs.append((one.values[i].op, other.values[back[source]].op))
    ends_a, ends_b = _ends(a, one), _ends(b, other)
    known = {j for _, j in pairs}
    for module, j in ends_b.items():
        i_op = next((i for name, i in ends_a.items() if _same_module(name, module)), None)
        if i_op is not None and j not in known:
            pairs.append((i_op, j))
    last_pair = one.values[-1].op, other.values[-1].op
    if last_pair[1] not in {j for _, j in pairs}:
        pairs.append(last_pair)
    order = {value.op: k for k, value in enumerate(other.values)}
    return sorted(pairs, key=lambda pair: order[pair[1]])


def _signatures(rows: PositionRows, call: ModelCall, position: int) -> dict[int, tuple[int, np.ndarray, float]]:
    found = {}
    for place in range(len(call.values)):
        x = rows.at(call, place, 0, position)
        if x is None or x.size < 2:
            continue
        plain = x[np.abs(x) < HUGE].astype(np.float64)
        size = float(np.sqrt(np.mean(plain * plain))) if plain.size else 0.0
        if size > 0:
            sums = np.array([plain.sum() / size, (plain**2).sum() / size**2, plain.max() / size, np.log(size)])
            found[place] = (int(x.size), sums, size)
    return found


def _near(x: tuple[int, np.ndarray, float], y: tuple[int, np.ndarray, float]) -> bool:
    return x[0] == y[0] and bool(np.all(np.abs(x[1] - y[1]) < CLOSE * max(x[0], 1)))


def _ends(rows: PositionRows, call: ModelCall) -> dict[str, int]:
    """Module -> its last op."""
    found: dict[str, int] = {}
    for value in call.values:
        op = rows.run.ops[value.op]
        if op.module and rows.run.axes(value.op) is not None:
            found[op.module] = value.op
    return found


def _same_module(one: str, other: str) -> bool:
    x, y = sorted((one, other), key=len)
    return y == x or y.endswith("." + x)
