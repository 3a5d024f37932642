"""Two graphs with decoding loops: the token, layer and op at which they part, and the first different choice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.analysis.diff.alignment import align
from workbench.analysis.diff.compare_values import Outcome, Row, blocks
from workbench.analysis.diff.side import Key, Path
from workbench.analysis.diff.trace_side import HANDS_ON, TraceSide
from workbench.ir.graph import Graph
from workbench.ir.node import Ref
from workbench.ir.token_loops import TokenLoop, layer_of, token_loops
from workbench.text import harmless, printable


@dataclass(frozen=True)
class TokenParting:
    """The point at which two runs of a decoding loop part; :attr:`Diff.tokens` has one for each such loop.

    Attributes
    ----------
    loop : str
        The name of the loop in a.
    compared : int
        Number of tokens that both runs have, including the first.
    iteration : tuple of int
        The iteration in which a value first differs, outer loops first; empty if none differs, or if one differs before
        the loop.
    token : int, tuple of int or None
        The token that this iteration of a reads; several for a batch.
    layer, op, name : str
        The first difference: the layer according to the name of the node, the op and the value, in a. For a variable of
        the loop, the op is the one that computed it in the previous iteration.
    row : Row or None
        The row of that value.
    choice : tuple or None
        The first iteration that reads a different token in b, its token in a, and in b.
    """

    loop: str
    compared: int
    iteration: Path = ()
    token: Any = None
    layer: str = ""
    op: str = ""
    name: str = ""
    row: Row | None = None
    choice: tuple[Path, Any, Any] | None = None

    @harmless
    def __str__(self) -> str:
        return " ".join(self._sentences())

    def _sentences(self) -> list[str]:
        sentences = []
        loop = printable(self.loop)
        if self.row is not None:
            where = (
                f"{printable(self.name)} ({printable(self.op)}{f' in {printable(self.layer)}' if self.layer else ''})"
            )
            if self.row.source is not None:
                where += f", {printable(self.row.source.place)}"
            if self.iteration:
                at = f"its token {_number(self.iteration)} ({self.token})"
                sentences.append(f"The loop {loop} decodes: it parts at {at}, in {where}.")
            else:
                sentences.append(f"The loop {loop} decodes: it parts before its first token, in {where}.")
        if self.choice is None:
            alike = f"all {self.compared:,} tokens are alike."
            return [*sentences, alike.capitalize() if sentences else f"The loop {loop} decodes: {alike}"]
        path, one, other = self.choice
        why = "" if self.row is not None else ", by rounding alone"
        first = f"the first token that differs is {_number(path)}, {one} in a and {other} in b{why}."
        return [*sentences, first.capitalize() if sentences else f"The loop {loop} decodes: {first}"]

    def to_data(self) -> dict[str, Any]:
        """Plain data for JSON."""
        choice = (
            None
            if self.choice is None
            else {"iteration": list(self.choice[0]), "a": self.choice[1], "b": self.choice[2]}
        )
        return {
            "loop": self.loop,
            "compared": self.compared,
            "iteration": list(self.iteration),
            "token": self.token,
            "layer": self.layer,
            "op": self.op,
            "name": self.name,
            "choice": choice,
        }


def partings(
    a: TraceSide, b: TraceSide, pairs: Mapping[Key, Key], outcomes: Sequence[Outcome], shifts: Mapping[Ref, int]
) -> tuple[TokenParting, ...]:
    """One parting for each decoding loop of a with a partner in b; ``outcomes`` are those that differ."""
    found = []
    for loop in token_loops(a.graph):
        other = pairs.get(loop.variable)
        if isinstance(other, Ref) and other not in shifts:
            found.append(_of_loop(a, b, loop, other, outcomes))
    return tuple(found)


def _of_loop(a: TraceSide, b: TraceSide, loop: TokenLoop, other: Ref, outcomes: Sequence[Outcome]) -> TokenParting:
    one, two = a.column(loop.variable), b.column(other)
    compared, choice, tokens = 0, None, dict[Path, Any]()
    if one is not None and two is not None:
        its, aligned = one.iterations(), align(one, two)
        for start, mine, theirs in blocks(one, two, aligned):
            for k, (x, y) in enumerate(zip(mine, theirs, strict=True)):
                path = _path(its, aligned.a, start + k)
                token, second = _token(x), _token(y)
                tokens[path] = token
                compared += 1
                if choice is None and token != second:
                    choice = path, token, second
    name = loop.frame[-1]
    row = _first(outcomes)
    if row is None:
        return TokenParting(name, compared, choice=choice)
    inside = row.frame[: len(loop.frame)] == loop.frame
    path = row.iteration[: len(loop.frame)] if inside else ()
    node = _maker(a.graph, row)
    layer = layer_of(node, "/".join(loop.frame) if inside else "")
    return TokenParting(name, compared, path, tokens.get(path), layer, a.graph.nodes[node].op, row.name, row, choice)


def _first(outcomes: Sequence[Outcome]) -> Row | None:
    """The first op, in the order of execution, whose result differs; inputs and constants do not count."""
    rows = [o for o in outcomes if o.row is not None and o.row.op not in ("Const", "Placeholder", "Enter")]
    return min(rows, key=lambda o: o.order).row if rows else None


def _maker(graph: Graph, row: Row) -> str:
    """The node that computed a value; for a loop variable, the node in the body."""
    at = row.node
    while graph.nodes[at].op in HANDS_ON and graph.nodes[at].inputs:
        node = graph.nodes[at]
        back = [r for r in node.inputs if graph.nodes[r.node].op == "NextIteration"]
        if node.op == "Merge" and not back:
            break
        at = (back or node.inputs)[0].node
    return at


def _path(its: np.ndarray | None, at: Any, k: int) -> Path:
    k = at.start + k * (at.step or 1) if isinstance(at, slice) else int(at[k])
    return (k,) if its is None else tuple(int(i) for i in its[k])


def _token(value: Any) -> Any:
    """The token of a variable: its only number, the last number of a row, or those of a batch."""
    array = np.asarray(value)
    if array.dtype.kind not in "iu":
        return None
    if array.ndim > 1 and array.shape[0] > 1:
        array = array.reshape(array.shape[0], -1)[:, -1:]
        return tuple(int(n) for n in array[:, 0]) if array.size else None
    return int(array.reshape(-1)[-1]) if array.size else None


def _number(path: Path) -> str:
    return ".".join(map(str, path))


__all__ = ["TokenParting", "partings"]
