"""Blocks of modules that are called again and again in one forward pass, and the order of their calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from workbench.recorder.looped.calls import GATE, ForwardPass, ModuleCall

#: maximum number of modules of one block
LONGEST = 64


@dataclass(eq=False)
class RepeatedBlock:
    """Modules that are called in the same order ``len(rounds)`` times; ``rounds`` has the calls of each round, ``tail``
    those of a last, incomplete round.
    """

    rounds: list[list[ModuleCall]]
    tail: list[ModuleCall] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        """The names of the modules, in the order of their calls."""
        return [call.name for call in self.rounds[0]]

    @property
    def name(self) -> str:
        """The common name, such as ``layers``, or all names; gates are left out."""
        names = [name for name in self.names if not GATE.search(name.rpartition(".")[2])] or self.names
        return joined_names(names)

    @property
    def parameters(self) -> int:
        """Number of elements in the parameters of the modules, each counted once."""
        held = {id(p): p.numel() for call in self.rounds[0] for p in call.module.parameters()}
        return sum(held.values())


def joined_names(names: list[str]) -> str:
    """One name for several modules: that of their list, or all of them, each once with the number of its calls."""
    times = Counter(names)
    parents = {name.rpartition(".")[0] for name in times}
    if len(times) > 1 and len(parents) == 1 and all(n.rpartition(".")[2].isdigit() for n in times):
        return parents.pop() or ", ".join(times)
    items = [name if n == 1 else f"{name} x {n}" for name, n in times.items()]
    return ", ".join(items[:4]) + (", ..." if len(items) > 4 else "")


def find_blocks(run: ForwardPass, only: set[int] | None = None) -> list[RepeatedBlock]:
    """The blocks of a pass, those with the most parameters first.

    Calls inside a module that is itself repeated do not count; the calls of a module with a shorter period inside a
    longer one, as an inner loop, are also a block. ``only`` has the ids of the modules to consider.
    """
    calls = [c for c in run.calls if (c.ended >= 0 and not c.failed) and (only is None or id(c.module) in only)]
    again = {key for key, n in Counter(id(c.module) for c in calls).items() if n > 1}
    top = [c for c in calls if id(c.module) in again and not any(id(p.module) in again for p in c.above())]
    found: list[RepeatedBlock] = []
    rest: list[ModuleCall] = []
    for parent in dict.fromkeys(id(c.parent) for c in top):
        own = [c for c in top if id(c.parent) == parent]
        repeated = {key for key, n in Counter(id(c.module) for c in own).items() if n > 1}
        rest += [c for c in own if id(c.module) not in repeated]
        found += _tandems([c for c in own if id(c.module) in repeated])
    rest.sort(key=lambda c: c.order)
    elsewhere = {key for key, n in Counter(id(c.module) for c in rest).items() if n > 1}
    found += _tandems([c for c in rest if id(c.module) in elsewhere])
    for block in list(found):
        inner = [key for key, n in Counter(id(c.module) for c in block.rounds[0]).items() if n > 1]
        for key in inner:
            found.append(RepeatedBlock([[c] for calls in block.rounds for c in calls if id(c.module) == key]))
    found = [block for block in found if block.parameters or only is not None]
    return sorted(found, key=lambda b: (-b.parameters, b.rounds[0][0].order, len(b.rounds)))


def _tandems(calls: list[ModuleCall]) -> list[RepeatedBlock]:
    """Stretches of calls that consist of a pattern and its repetitions, from left to right, the longest ones."""
    symbols = [id(c.module) for c in calls]
    found, at = [], 0
    while at < len(calls):
        best = (0, 0, 0)
        for period in range(1, min(LONGEST, (len(calls) - at) // 2) + 1):
            times = _times(symbols, at, period)
            if times > 1:
                best = max(best, (period * times, -period, times))
        covered, minus, times = best
        if not covered:
            at += 1
            continue
        period = -minus
        end = at + covered
        more = next((k for k in range(period) if end + k >= len(symbols) or symbols[end + k] != symbols[at + k]), 0)
        rounds = [calls[at + k * period : at + (k + 1) * period] for k in range(times)]
        found.append(RepeatedBlock(rounds, calls[end : end + more]))
        at = end + more
    return found


def _times(symbols: Sequence[Any], at: int, period: int) -> int:
    times = 1
    while symbols[at : at + period] == symbols[at + times * period : at + (times + 1) * period]:
        times += 1
    return times
