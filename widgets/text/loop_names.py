"""Conditions and loops as people read them: a loop is called by the name that it was given, else by its source."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.ir.graph import Graph
from workbench.ir.node import Ref
from workbench.widgets.text.formulas import DEEPEST, formula
from workbench.widgets.text.labels import number, short_name, shorten
from workbench.widgets.text.numerals import numeral

Path = tuple[str, ...]
#: names that loops get without one of their own
UNNAMED = re.compile(r"(?i)(node_)?(while|while_loop|loop|for|scan)?(_*\d+)*")
#: characters of a condition
ROOM = 32
#: the separator between the loops of a place
WITHIN = " \u203a "


def operand_text(graph: Graph, ref: Ref) -> str:
    """Readable name of an operand: a constant's value, a variable's or node's short name."""
    node = graph.nodes[ref.node]
    if node.op == "Const" and np.size(node.attrs["value"]) == 1:
        return number(np.asarray(node.attrs["value"]).reshape(-1)[0])
    if node.op in ("Enter", "Identity", "Switch", "cast") and node.inputs and graph.name_of(ref) == str(ref):
        return operand_text(graph, node.inputs[0])
    return short_name(graph.name_of(ref).removesuffix(":0"))


def written(graph: Graph, ref: Ref, room: int) -> str:
    """The formula of a value if there is room, else its name."""
    return written_out(graph, ref, room) or operand_text(graph, ref)


def written_out(graph: Graph, ref: Ref, room: int) -> str:
    """The formula of a value, nothing where there is no room for it."""
    texts, stage = {ref: operand_text(graph, ref)}, [ref]
    for _ in range(DEEPEST):
        stage = [r for one in stage for r in graph.nodes[one.node].inputs if r not in texts]
        texts |= {r: operand_text(graph, r) for r in stage}
    return formula(graph, texts, ref, room)


def is_named(path: Sequence[str]) -> bool:
    """True for a loop that the user named."""
    return not UNNAMED.fullmatch(short_name(path[-1]))


def loop_condition(graph: Graph, path: Path, room: int = ROOM) -> str:
    """``while |x × x − a| > 1e−9``; nothing for a frame without a condition."""
    frame = graph.frames.get(path)
    if frame is None or frame.loop_cond is None:
        return ""
    return f"while {shorten(written(graph, graph.nodes[frame.loop_cond].inputs[0], room), room)}"


def loop_name(graph: Graph, path: Path, room: int = ROOM) -> str:
    """A loop by its name, or without one of its own by its condition."""
    own = shorten(short_name(path[-1]), room)
    return own if is_named(path) else loop_condition(graph, path, room) or own


def loop_names(graph: Graph, paths: Sequence[Path], room: int = 60) -> list[str]:
    """Loops for a list, by name or condition: two that are called the same have a number."""
    found: list[str] = []
    for path in paths:
        name = loop_name(graph, path).removeprefix("while ")
        same = sum(other == name or other.startswith(f"{name} (") for other in found)
        found.append(f"{name} ({same + 1})" if same else name)
    return [shorten(name, room) for name in found]


def loops_spoken(graph: Graph, text: str) -> str:
    """Sentences of the analysis, which names a loop as programs do (``loop while_4``), with the names of the screens.

    The only loop of a graph is "the loop" if it has no name of its own; ``while_4.x`` is the result x
    of a loop, ``while_4/add`` a node in it.
    """
    paths = {"/".join(path): path for path in graph.frames if path}
    if not paths:
        return text

    def spoken(match: re.Match[str]) -> str:
        path = paths[match[1]]
        return "loop" if len(paths) == 1 and not is_named(path) else f"loop {loop_name(graph, path)}"

    names = "|".join(re.escape(name) for name in sorted(paths, key=len, reverse=True))
    text = re.sub(rf"\bloop ({names})(?![\w/]|\.\w)", spoken, text)
    unnamed = {name: path for name, path in paths.items() if not is_named(path)}
    if not unnamed:
        return text
    within = "|".join(re.escape(name) for name in sorted(unnamed, key=len, reverse=True))
    text = re.sub(rf"(?<![\w/])(?<!loop )(?:{within})/(?=[^\W\d])", "", text)  # a node of it
    return re.sub(rf"(?<![\w/])(?:{'|'.join(re.escape(p[-1]) for p in unnamed.values())})\.(?=[^\W\d])", "", text)


def iteration_of(graph: Graph, path: Path, iteration: int) -> str:
    """``iteration 3`` in the one loop of a graph, else the innermost loop of a path with its iteration, ``inner 1``."""
    if len(graph.frames) <= 2:
        return f"iteration {numeral(iteration)}"
    return f"{loop_name(graph, path)}{'' if is_named(path) else ':'} {numeral(iteration)}"


def place_words(graph: Graph, frame: Path, iteration: Sequence[int]) -> str:
    """The same with the loops around: ``outer 3 › inner 1``."""
    return WITHIN.join(iteration_of(graph, frame[: k + 1], int(i)) for k, i in enumerate(iteration[: len(frame)]))


def tag_text(graph: Graph, tag: Any) -> str:
    """``x:0 [iteration 3]`` for a tag of the graph; empty for None."""
    if tag is None:
        return ""
    where = place_words(graph, tag.frame, tag.iteration)
    return f"{tag.node}:{tag.output}" + (f" [{where}]" if where else "")
