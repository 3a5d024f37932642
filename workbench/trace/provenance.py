"""Dependent values: the chain of values that one value was computed from, with tags, back to inputs and constants.

The chain follows the *firings*, not only the nodes: the value of a loop variable in iteration 7 comes from the result
of the body in iteration 6, the value of a Merge comes from the input that was alive, that of an Exit from the iteration
in which its loop ended, and that of an Enter from the iteration of the enclosing frame that started the loop.
"""

from __future__ import annotations

import html
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.errors import DeadValueError, TraceError, WorkbenchError
from workbench.ir.node import Ref, Source, Tag
from workbench.text import harmless, printable
from workbench.trace.checks import path_of
from workbench.trace.describe import short
from workbench.trace.edited_firings import Edits, edit_text

if TYPE_CHECKING:
    from workbench.trace.trace import Trace

#: default number of links in an explanation, and number of links that are printed
MAX_LINKS, SHOWN = 200, 12
#: maximum characters of a printed line, and of a name in a line that would be longer
WIDTH, NAME = 100, 32
Path = tuple[int, ...]
#: reads the value of a firing; a session recomputes values that its trace no longer holds
Read = Callable[[Ref, Path], Any]


@dataclass(frozen=True, slots=True)
class ProvenanceLink:
    """One value of the chain.

    ``number`` identifies it in the explanation; ``sources`` are the numbers of the links that it was computed from, in
    the order of the op's inputs. ``value`` is None where it is not recorded; then ``note`` says why. ``complete`` is
    False if the chain is cut off here. ``edited`` describes a user's edit that replaced the result of the op.
    """

    number: int
    tag: Tag
    name: str
    op: str
    value: Any
    sources: tuple[int, ...]
    source: Source | None = None
    note: str = ""
    complete: bool = True
    edited: str = ""

    @harmless
    def __str__(self) -> str:
        return self.line(None)

    def line(self, width: int | None) -> str:
        """The link as one line of at most ``width`` characters: long names lose their middle, then the line is cut."""
        text = self._value_text(None)
        if width is not None and len(text) > width:
            text = self._value_text(NAME)
        return text if width is None or len(text) <= width else f"{text[: max(1, width - 1)]}\u2026"

    def _value_text(self, limit: int | None) -> str:
        frames = zip(self.tag.frame, self.tag.iteration, strict=True)
        where = ", ".join(f"{printable(f, limit)} {i}" for f, i in frames)
        shown = "?" if self.value is None else short(self.value)
        notes = "; ".join(part for part in (self.edited, self.note) if part)
        note = f"  ({notes})" if notes else ""
        return f"{printable(self.name, limit)}{f'[{where}]' if where else ''} = {shown}  <- {self.op}{note}"


class Explanation:
    """The values that one value was computed from; ``links[0]`` is that value.

    ``print`` shows it as a tree; ``links`` is the same as data.
    """

    def __init__(self, links: list[ProvenanceLink]) -> None:
        self.links = tuple(links)

    @property
    def complete(self) -> bool:
        """True if every chain goes back to an input or a constant."""
        return all(link.complete for link in self.links)

    def __iter__(self) -> Iterator[ProvenanceLink]:
        return iter(self.links)

    def __len__(self) -> int:
        return len(self.links)

    def find(self, name: str) -> list[ProvenanceLink]:
        """The links of one value name or node, nearest first."""
        return [link for link in self.links if name in (link.name, link.tag.node)]

    def roots(self) -> list[ProvenanceLink]:
        """Inputs and constants in which the chain ends."""
        return [link for link in self.links if not link.sources and link.complete]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON: values as text."""
        return {
            "complete": self.complete,
            "links": [
                {
                    "number": link.number,
                    "node": link.tag.node,
                    "output": link.tag.output,
                    "frame": list(link.tag.frame),
                    "iteration": list(link.tag.iteration),
                    "name": link.name,
                    "op": link.op,
                    "value": None if link.value is None else short(link.value),
                    "sources": list(link.sources),
                    "note": link.note,
                    "complete": link.complete,
                    "edited": link.edited,
                    "source": None if link.source is None else str(link.source),
                }
                for link in self.links
            ],
        }

    @harmless
    def text(
        self, advice: str = "ask for more with max_links.", *, most: int | None = SHOWN, width: int | None = WIDTH
    ) -> str:
        """An indented tree; a value that appeared before is only named.

        Parameters
        ----------
        advice : str, default "ask for more with max_links."
            Last line of a chain that was cut off, which says how to get more.
        most : int or None, default 12
            Maximum number of values to print, nearest first; None for all.
        width : int or None, default 100
            Maximum characters of a line; None for whole lines.

        Returns
        -------
        str
        """
        lines: list[str] = []
        seen: set[int] = set()
        stack = [(0, 0)]
        while stack:
            number, depth = stack.pop()
            link = self.links[number]
            again = number in seen and bool(link.sources)
            indent, end = "  " * min(depth, 40), "  (see above)" if again else ""
            room = None if width is None else max(width - len(indent) - len(end), NAME)
            lines.append(f"{indent}{link.line(room)}{end}")
            if not again:
                seen.add(number)
                near = [source for source in link.sources if most is None or source < most]
                stack.extend((source, depth + 1) for source in reversed(near))
        if most is not None and len(self) > most:
            known = f"{len(self) - most:,} more values follow these {most}"
            beyond = "" if self.complete else ", and the chain continues"
            lines.append(f"{known}{beyond}: print(....text(most=None)) shows them.")
        elif not self.complete:
            lines.append(f"The chain continues beyond these {len(self)} values; {advice}")
        return "\n".join(lines)

    @harmless
    def __str__(self) -> str:
        return self.text()

    @harmless
    def __repr__(self) -> str:
        return f"<Explanation of {self.links[0].tag}: {len(self)} values>"

    @harmless
    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text())}</pre>"


def explain(
    trace: Trace,
    name: str | Ref,
    iteration: int | Path | None = None,
    *,
    max_links: int = MAX_LINKS,
    read: Read | None = None,
) -> Explanation:
    """The values that ``name`` in ``iteration`` (by default its last firing) was computed from, nearest first.

    Raises TraceError if the value is not computed in this run or has not fired there, DeadValueError if it was dead.
    """
    ref = trace.ref(name)
    series = trace[ref]
    if iteration is None:
        if len(series) == 0:
            raise DeadValueError(
                f"{str(name)!r} has not fired.", slug="not-fired", fix="step on, or look at its branch."
            )
        path = series.tag(-1).iteration
    else:
        path = path_of(str(name), series.frame, iteration)
    reading: Read = read or (lambda r, p: trace[r].at(p) if p else trace[r][-1])
    reading(ref, path)  # a missing value is an error, not an empty chain
    return Explanation(_collect(trace, ref, path, max(1, max_links), reading))


def _collect(trace: Trace, ref: Ref, path: Path, limit: int, read: Read) -> list[ProvenanceLink]:
    numbers: dict[tuple[Ref, Path], int] = {(ref, path): 0}
    waiting = deque([(ref, path)])
    links: list[ProvenanceLink] = []
    graph = trace.graph
    edits = Edits(graph, trace.edits())
    while waiting:
        at, where = waiting.popleft()
        node = graph.nodes[at.node]
        found, note = _sources(trace, at, where, read)
        complete = True
        sources = []
        for key in found:
            if key not in numbers:
                if len(numbers) >= limit:
                    complete = False
                    continue
                numbers[key] = len(numbers)
                waiting.append(key)
            sources.append(numbers[key])
        value: Any = None
        try:
            value = read(at, where)
        except WorkbenchError as error:
            note = note or error.message
        frame = trace.layout.frames[trace.layout.values[at].frame].path
        links.append(
            ProvenanceLink(
                len(links),
                Tag(at.node, at.index, frame, where),
                graph.name_of(at),
                node.op,
                value,
                tuple(sources),
                node.source,
                note,
                complete,
                edit_text(edits.of(at, where)),
            )
        )
    return links


def sources_of(trace: Trace, ref: Ref, path: Path, read: Read | None = None) -> list[tuple[Ref, Path]]:
    """The values that the firing of ``ref`` at ``path`` was computed from, if they are recorded or can be ``read``."""
    return _sources(trace, ref, path, read or (lambda r, p: trace[r].at(p) if p else trace[r][-1]))[0]


def _sources(trace: Trace, ref: Ref, path: Path, read: Read) -> tuple[list[tuple[Ref, Path]], str]:
    """(the values that the firing of ``ref`` at ``path`` was computed from, a note about it)."""
    graph = trace.graph
    node = graph.nodes[ref.node]
    if node.op == "Enter":
        note = "loop invariant" if node.attrs.get("is_constant") else "start of the loop"
        return [(node.inputs[0], path[:-1])], note
    if node.op == "Exit":
        last = last_iteration(trace, node.inputs[0], path)
        return (
            ([(node.inputs[0], (*path, last))], f"the loop ended in iteration {last}")
            if last is not None
            else ([], "the loop's last iteration is not recorded")
        )
    if node.op == "Merge":
        return _merged(trace, ref, path, read)
    if node.op == "Switch":
        side = "true" if ref.index else "false"
        return [(r, path) for r in node.inputs], f"alive where {graph.name_of(node.inputs[1])} is {side}"
    return [(r, path) for r in node.inputs], ""


def _merged(trace: Trace, ref: Ref, path: Path, read: Read) -> tuple[list[tuple[Ref, Path]], str]:
    graph = trace.graph
    node = graph.nodes[ref.node]
    back = [graph.nodes[r.node].op == "NextIteration" for r in node.inputs]
    if any(back):
        if path[-1] == 0:
            return [(r, path) for r, b in zip(node.inputs, back, strict=True) if not b][:1], ""
        before = (*path[:-1], path[-1] - 1)
        nexts = [r for r, b in zip(node.inputs, back, strict=True) if b]
        alive = [r for r in nexts if len(nexts) == 1 or _is_alive(r, before, read)]
        return [(graph.nodes[r.node].inputs[0], before) for r in alive[:1]], f"given by iteration {path[-1] - 1}"
    try:
        index = int(read(Ref(node.name, 1), path))
    except WorkbenchError:
        alive = [r for r in node.inputs if _is_alive(r, path, read)]
        index = node.inputs.index(alive[0]) if alive else -1
    else:
        if not 0 <= index < len(node.inputs):  # a damaged record
            return [], f"input {index} was recorded as alive, but there are {len(node.inputs)}"
    return ([(node.inputs[index], path)], f"input {index} was alive") if index >= 0 else ([], "no input is recorded")


def _is_alive(ref: Ref, path: Path, read: Read) -> bool:
    try:
        read(ref, path)
    except (DeadValueError, TraceError):
        return False
    return True


def last_iteration(trace: Trace, inner: Ref, path: Path) -> int | None:
    """The last iteration of an activation of ``inner``'s loop, the one started at ``path`` of the enclosing frame."""
    layout = trace.layout
    frame = layout.values[inner].frame
    row = trace.reader.find_row(layout.frames[frame].parent, path)
    if row is None:
        return None
    starts, parents = trace.source.activations(frame)
    at = int(np.searchsorted(parents, row, "right")) - 1
    if at < 0 or int(parents[at]) != row:
        return None
    extent = trace.source.extent(frame)
    end = int(starts[at + 1]) if at + 1 < len(starts) else extent.end
    return end - int(starts[at]) - 2
