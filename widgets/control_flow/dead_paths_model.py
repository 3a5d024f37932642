"""Which nodes are dead at a moment, which decision made them so, and how often each side was taken."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from workbench.widgets.graph.model.branch_sides import BranchSides
from workbench.widgets.text.labels import short_name
from workbench.widgets.text.loop_names import loop_name
from workbench.widgets.text.numerals import numeral

if TYPE_CHECKING:
    from workbench.ir.graph import Graph

MAX_NODES = 40
#: (predicate, side) -> the nodes that are dead where it went the other way, in the order of the graph
Sides = Mapping[tuple[str, bool], tuple[str, ...]]


def sides_of(graph: Graph, rows: Sequence[Mapping[str, Any]]) -> Sides:
    """The nodes on each side of each predicate of ``rows``; a look at the whole graph for each of them."""
    found: dict[tuple[str, bool], tuple[str, ...]] = {}
    sides = BranchSides(graph)
    for row in rows:
        for side in (True, False):
            dead = sides.dead(dict.fromkeys(row["switches"], not side))
            found[row["pred"], side] = tuple(n for n in graph.nodes if n in dead)
    return found


def dead_model(
    graph: Graph,
    sides: Sides,
    rows: Sequence[Mapping[str, Any]],
    decided: Mapping[str, bool | None],
    moment: str,
    selected: str | None,
) -> dict[str, Any]:
    """``paths``: for each side of each predicate ``name``, ``side``, ``taken`` and ``missed`` (counts), ``nodes`` (the
    first ones that die with it), ``more``, ``switch``, ``dead`` (at the moment; None: not decided) and ``why``;
    ``answer``: whether the selected node is dead, and why. ``decided`` maps predicates to their value at the moment.
    """
    paths = []
    for row in rows:
        outcome = decided.get(row["pred"])
        for side in (True, False):
            nodes = sides.get((row["pred"], side), ())
            dead = None if outcome is None else outcome is not side
            taken, missed = (row["n_true"], row["n_false"]) if side else (row["n_false"], row["n_true"])
            paths.append(
                {
                    "name": row["name"],
                    "side": "true" if side else "false",
                    "taken": taken,
                    "missed": missed,
                    "exact": row["exact"],
                    "nodes": list(nodes[:MAX_NODES]),
                    "more": max(0, len(nodes) - MAX_NODES),
                    "switch": row["switches"][0],
                    "pred": row["pred"],
                    "dead": dead,
                    "why": _why(graph, row, side, outcome, len(nodes), moment),
                }
            )
    return {"paths": paths, "moment": moment, "answer": _answer(graph, sides, rows, decided, selected, moment)}


def _why(graph: Graph, row: Mapping[str, Any], side: bool, outcome: bool | None, count: int, moment: str) -> str:
    word, pred = ("true" if side else "false"), _called(graph, row)
    nodes, are = f"{count} node{'' if count == 1 else 's'}", "is" if count == 1 else "are"
    if outcome is None:
        if not row["n_true"] and not row["n_false"]:
            return f"{pred} was never decided: its Switch received no token."
        return f"{pred} has not been decided {moment}."
    if outcome is side:
        return f"{pred} is {word} {moment}: the {nodes} on this side {are} alive."
    taken = "true" if outcome else "false"
    switches = row["switches"]
    many = f"The {len(switches)} Switches" if len(switches) > 1 else f"Switch {short_name(switches[0])}"
    gave = f"gave {'their tokens' if len(switches) > 1 else 'its token'} to the {taken} side only"
    return f"{pred} is {taken} {moment}. {many} {gave}, so the {nodes} on the {word} side {are} dead."


def _called(graph: Graph, row: Mapping[str, Any]) -> str:
    if row["loop"]:
        return f"The condition of {loop_name(graph, row['frame'])}"
    node = row["pred"].rsplit(":", 1)[0]
    return short_name(node) if node in graph.nodes else row["pred"]


def _answer(
    graph: Graph,
    sides: Sides,
    rows: Sequence[Mapping[str, Any]],
    decided: Mapping[str, bool | None],
    selected: str | None,
    moment: str,
) -> str:
    """The outermost decision that makes the selected node dead."""
    if selected is None or selected not in graph.nodes:
        return ""
    for row in sorted(rows, key=lambda r: len(r["frame"])):
        outcome = decided.get(row["pred"])
        if outcome is None:
            continue
        if selected in sides.get((row["pred"], not outcome), ()):
            taken, other = ("true", "false") if outcome else ("false", "true")
            switch = row["switches"][0]
            return (
                f"{selected} is dead {moment}: {_called(graph, row)} is {taken}, so Switch {switch} sent no token to "
                f"the {other} side."
            )
    about = [r for r in rows if any(selected in sides.get((r["pred"], side), ()) for side in (True, False))]
    if not about:
        return f"{selected} does not depend on any decision, so it cannot be dead."
    if any(decided.get(r["pred"]) is None for r in about):
        return f"{selected} waits for a decision that has not been made {moment}."
    return f"{selected} is alive {moment}: every decision that it depends on chose its side."


def counted(path: Mapping[str, Any]) -> str:
    """``taken 3 times of 10``."""
    total = path["taken"] + path["missed"]
    about = "" if path["exact"] else "about "
    return f"taken {about}{numeral(path['taken'])} of {numeral(total)} times"
