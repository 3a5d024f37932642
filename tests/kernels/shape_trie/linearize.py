"""Is a concurrent history of a shape trie explained by some order of its operations? (J. M. Wing, C. Gong, 1993.)

An operation is (thread, op, key, result, begin, end): ``i`` intern gives an id, ``r`` release gives 1, ``l`` lookup
gives an id or 0. The search takes operations one by one, each among those that began before any other open one ended,
and follows a plain model: key -> [id, references]. States that were tried are remembered (G. Lowe, 2017).
"""

from __future__ import annotations

from typing import NamedTuple


class Op(NamedTuple):
    thread: int
    op: str
    key: int
    result: int
    begin: int
    end: int


State = tuple[tuple[int, int, int], ...]  # (key, id, references), sorted


def apply(state: State, op: Op) -> State | None:
    """The state after an operation, None if its result is impossible in this state."""
    model = {key: (id, count) for key, id, count in state}
    id, count = model.get(op.key, (0, 0))
    if op.op == "l":
        return state if op.result == id else None
    if op.op == "i":
        if op.result == 0 or (id and op.result != id) or (not id and any(op.result == i for i, _ in model.values())):
            return None
        model[op.key] = (op.result, count + 1)
    else:
        if not id or op.result != 1:
            return None
        model[op.key] = (id, count - 1)
        if count == 1:
            del model[op.key]
    return tuple(sorted((k, i, c) for k, (i, c) in model.items()))


def linearizable(history: list[Op]) -> bool:
    """Return whether some order of the operations, none before one that ended earlier, gives all results."""
    ops = sorted(history, key=lambda o: o.begin)
    everything = (1 << len(ops)) - 1
    seen: set[tuple[int, State]] = set()
    stack: list[tuple[int, State]] = [(0, ())]
    while stack:
        done, state = stack.pop()
        if done == everything:
            return True
        if (done, state) in seen:
            continue
        seen.add((done, state))
        left = [(n, op) for n, op in enumerate(ops) if not done >> n & 1]
        first_end = min(op.end for _, op in left)
        for n, op in left:
            if op.begin > first_end:
                break
            after = apply(state, op)
            if after is not None:
                stack.append((done | 1 << n, after))
    return False


def read(text: str) -> list[list[Op]]:
    """The histories that ``shape_trie_stress history`` prints."""
    histories: list[list[Op]] = []
    for line in text.splitlines():
        if line.startswith("history"):
            histories.append([])
        else:
            thread, op, *numbers = line.split()
            histories[-1].append(Op(int(thread), op, *map(int, numbers)))
    return histories
