"""The minimum memory of a plan: the lifetime lower bound.

Time is counted in nodes, in the order of the program. **Counted** are the arrays of known shape that nodes compute, in
bytes; memory that values share (a view, a part of a joined array, another name) counts once. **Not counted** are feeds
and constants, which exist anyway, single numbers, and objects whose size the plan does not know.

An array is live from the node that computes it to the last node that reads it; an output to the end; an outer value
that a loop reads to the loop's end; the next value of a loop variable to the end of the iteration, where it becomes the
variable of the next one. At each node the bytes of all live arrays are added, including those that it reads for the
last time and those that it computes. As with an ideal allocator, in place are: the result of an elementwise op over an
operand of the same size that is read there for the last time; the value that a branch passes to its Merge; the value
that leaves a loop by an Exit. Only one side of a decision is ever computed, and the larger counts. The maximum over all
nodes is the bound: a run in this order needs at least this memory, unless it computes values twice.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from workbench.ir.graph import Graph
from workbench.ir.node import Ref
from workbench.plan.schedule.guards import OPEN, Guard


@dataclass(frozen=True, slots=True)
class Storage:
    """Slots of values before memory is shared: ``slots`` maps values that nodes compute to (index of their slot and
    row, first byte in it); ``flat`` maps elementwise nodes to the inputs that their result may overwrite.
    """

    graph: Graph
    slots: Mapping[Ref, tuple[int, int]] = field(default_factory=dict)
    flat: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Lifetime:
    """A value of a run: its bytes, the node that computes it and the last that reads it ("" for the end of the run);
    ``begin`` and ``end`` are their indices in the order of the program.
    """

    name: str
    bytes: int
    first: str
    last: str
    begin: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class LiveBytes:
    """Bytes of one slot with the same lifetime, from node ``first`` to node ``last``, where ``guard`` holds."""

    bytes: int
    first: int
    last: int
    guard: Guard = OPEN


@dataclass(frozen=True, slots=True)
class PlanMemory:
    """``bound`` is reached at ``node``; ``lifetimes`` has the largest values first; ``live`` the bytes at each node."""

    bound: int
    node: str
    lifetimes: tuple[Lifetime, ...]
    live: tuple[int, ...]


def lower_bound(pieces: Sequence[LiveBytes], guards: Sequence[Guard], saved: Mapping[int, int]) -> list[int]:
    """Live bytes at each node; ``guards`` are those of the nodes, ``saved`` the bytes saved by working in place."""
    begin: dict[int, list[LiveBytes]] = defaultdict(list)
    end: dict[int, list[LiveBytes]] = defaultdict(list)
    for piece in pieces:
        begin[piece.first].append(piece)
        end[piece.last].append(piece)
    held: dict[Guard, int] = defaultdict(int)
    found = []
    for at, guard in enumerate(guards):
        for piece in begin[at]:
            held[piece.guard] += piece.bytes
        some = [(g, n) for g, n in held.items() if g and n]
        found.append(held[OPEN] + (_possible(guard, some) if some else 0) - saved.get(at, 0))
        for piece in end[at]:
            held[piece.guard] -= piece.bytes
    return found


def _possible(guard: Guard, held: list[tuple[Guard, int]]) -> int:
    """The maximum bytes that can be live at once where ``guard`` holds; of each decision, the larger side counts."""
    known = dict(guard)
    agreeing = [(g, n) for g, n in held if all(known.get(ref, wanted) == wanted for ref, wanted in g)]
    while True:
        sides: dict[Ref, dict[bool | str, int]] = defaultdict(lambda: defaultdict(int))
        for g, n in agreeing:
            for ref, wanted in g:
                if ref not in known:
                    sides[ref][wanted] += n
        undecided = {ref: by for ref, by in sides.items() if len(by) > 1}
        if not undecided:
            return sum(n for _, n in agreeing)
        ref = max(undecided, key=lambda r: sum(undecided[r].values()))
        known[ref] = max(undecided[ref], key=lambda w: undecided[ref][w])
        agreeing = [(g, n) for g, n in agreeing if all(known.get(r, wanted) == wanted for r, wanted in g)]
