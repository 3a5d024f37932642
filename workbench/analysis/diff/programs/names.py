"""Values of two programs that have the same name because a tool created one program from the other.

A model exported by PyTorch names nodes by call and module, like the graph of a ``.pt2`` file; a converter of TensorFlow
keeps ``scope/op:0``; tools that rewrite ONNX models keep the names of values. A name does not prove a pair: if the
values of a pair by name differ, its readers decide (see :mod:`~.settled`).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping

from workbench.ir.frames.frame_tree import output_frame
from workbench.ir.graph import Graph
from workbench.ir.node import FRAME_OPS, Ref
from workbench.ir.types import TensorType

_NUMBERED = re.compile(r"^(?P<base>.+)_\d+$")
#: ops whose name says nothing about their value
_UNNAMED = (*FRAME_OPS, "Identity")


def named_pairs(a: Graph, b: Graph, used_a: Collection[str], used_b: Collection[str]) -> Iterator[tuple[Ref, Ref]]:
    """Pairs by name, most certain first; a value may occur several times."""
    yield from _decisions(a, b, used_a, used_b)
    decides = _decisive(a), _decisive(b)
    groups = _grouped(a, used_a, decides[0]), _grouped(b, used_b, decides[1])
    for key, theirs in groups[1].items():
        left = list(groups[0].get(key, ()))
        for name in [n for n in theirs if n in left]:
            candidates = [n for n in _last_first(name, left, theirs) if _fits(a, b, n, name)]
            if candidates:
                left.remove(candidates[0])
                yield Ref(candidates[0]), Ref(name)
        others = [n for n in theirs if n not in groups[0].get(key, ())]
        left = [n for n in left if n not in theirs]
        if len(others) == len(left):
            yield from ((Ref(x), Ref(y)) for x, y in zip(left, others, strict=True) if _fits(a, b, x, y))
    for name, ref in b.names.items():
        found = a.names.get(name) or _ref(name, a)
        if found is not None and found.node in used_a and _may_be(a, b, found, ref):
            yield found, ref
    tails = defaultdict[str, list[str]](list)
    for name in used_a:
        tails[name.rpartition("/")[2]].append(name)
    for name, ref in b.names.items():
        alone = tails.get(name, [])
        if len(alone) == 1 and _may_be(a, b, Ref(alone[0]), ref) and _same_line(a, b, alone[0], ref.node):
            yield Ref(alone[0]), ref


def _decisions(a: Graph, b: Graph, used_a: Collection[str], used_b: Collection[str]) -> Iterator[tuple[Ref, Ref]]:
    """The decisions of loops of the same name, computed by any op."""
    mine, theirs = ({g.frame_of(n.name): n.inputs[0] for n in g.nodes.values() if n.op == "LoopCond"} for g in (a, b))
    for path, ref in mine.items():
        other = theirs.get(path)
        if other is not None and ref.node in used_a and other.node in used_b and _may_be(a, b, ref, other):
            yield ref, other


def shifts(a: Graph, b: Graph, pairs: Mapping[Ref, Ref]) -> dict[Ref, int]:
    """Values of b whose iteration has another index in a -> the index in a minus the index in b.

    ONNX loops decide in the body about the *next* iteration, other loops at the beginning about the current one.
    """
    ahead = _decisive(a, ahead=True), _decisive(b, ahead=True)
    both = ((theirs, (theirs.node in ahead[1]) - (mine.node in ahead[0])) for mine, theirs in pairs.items())
    return {theirs: shift for theirs, shift in both if shift}


def _decisive(graph: Graph, ahead: bool = False) -> set[str]:
    """Nodes that serve only the decision of a loop; with ``ahead``, in the body about the next iteration."""
    found = set[str]()
    for node in graph.nodes.values():
        if node.op != "LoopCond":
            continue
        condition = graph.nodes[node.inputs[0].node]
        both = [graph.nodes[r.node] for r in condition.inputs] if condition.op == "logical_and" else [condition]
        backs = [graph.nodes[r.node] for m in both if m.op == "Merge" for r in m.inputs]
        starts = [n for n in backs if n.op == "NextIteration"] + ([] if ahead else [node])
        found.update(n.name for n in starts)
        waiting = [r for n in starts for r in n.inputs]
        while waiting:
            name = waiting.pop().node
            inside = graph.nodes[name].op not in FRAME_OPS and name not in found
            if inside and found.issuperset(graph.consumers(name)):
                found.add(name)
                waiting.extend(graph.nodes[name].inputs)
    return found


def _grouped(graph: Graph, used: Collection[str], decides: Collection[str]) -> dict[tuple[str, bool], list[str]]:
    """Nodes by their name without its number, with separate groups for nodes that only a loop's decision needs: ``mul``
    may name a call in the condition of a loop, and another call in its body.
    """
    found = defaultdict[tuple[str, bool], list[str]](list)
    for name in graph.nodes:
        if name in used:
            match = _NUMBERED.match(name)
            found[match["base"] if match is not None else name, name in decides].append(name)
    return found


def _last_first(name: str, mine: Collection[str], theirs: Collection[str]) -> list[str]:
    """The nodes that a call's name may mean: its result is computed by the last of ``name``, ``name_1``, ..., up to a
    name that is also a call of the other graph.
    """
    found, number = [name], 1
    while (numbered := f"{name}_{number}") in mine and numbered not in theirs:
        found.append(numbered)
        number += 1
    return found[::-1]


def _fits(a: Graph, b: Graph, x: str, y: str) -> bool:
    return _may_be(a, b, Ref(x), Ref(y)) and _same_line(a, b, x, y)


def _ref(name: str, graph: Graph) -> Ref | None:
    """The value ``scope/op:0``, as named by TensorFlow; None if there is none."""
    ref = Ref.parse(name) if name else None
    known = ref is not None and ":" in name and ref.node in graph.nodes
    return ref if known and ref is not None and ref.index < len(graph.nodes[ref.node].types) else None


def _same_line(a: Graph, b: Graph, x: str, y: str) -> bool:
    lines = [g.nodes[n].source for g, n in ((a, x), (b, y))]
    return None in lines or lines[0].place == lines[1].place  # type: ignore[union-attr]


def _may_be(a: Graph, b: Graph, x: Ref, y: Ref) -> bool:
    """True if two values are in loops of the same depth, and their types do not exclude that they are the same."""
    one, other = a.nodes[x.node], b.nodes[y.node]
    if (one.op in _UNNAMED) != (other.op in _UNNAMED) and "Merge" not in (one.op, other.op):
        return False
    depths = [len(output_frame(n, g.frame_of(n.name))) for n, g in ((one, a), (other, b))]
    return depths[0] == depths[1] and _alike(one.types[x.index], other.types[y.index])


def _alike(one: TensorType, other: TensorType) -> bool:
    """True if two types have the same kind of numbers and the same number of axes, as far as they are known."""
    if "any" not in (one.dtype, other.dtype) and _kind(one.dtype) != _kind(other.dtype):
        return False
    return one.shape is None or other.shape is None or len(one.shape) == len(other.shape)


def _kind(dtype: str) -> str:
    return dtype.rstrip("0123456789").removeprefix("u").replace("bfloat", "float")


__all__ = ["named_pairs", "shifts"]
