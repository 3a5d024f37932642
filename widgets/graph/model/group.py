"""One box of a graph that can be opened, and its name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from workbench.widgets.text.labels import shorten
from workbench.widgets.text.numerals import numeral

Path = tuple[str, ...]
#: maximum characters for the ops of a stretch
SUMMARY = 22
#: id of the box around everything
ROOT = ""


@dataclass(slots=True)
class Group:
    """A box that can be opened. ``kind``: "root", "loop", "call", "branch", "lane" (a side of a branch), "scope",
    "repeat", "block" or "part".

    ``items`` are node names and ids of the groups inside, in graph order; ``size`` counts nodes at any depth; ``frame``
    is the path of the frame in which the items fire; ``blocks`` is the number of repetitions of a block; ``note`` names
    the most frequent ops of a part.
    """

    id: str
    kind: str
    title: str
    parent: str | None
    frame: Path
    items: list[str] = field(default_factory=list)
    size: int = 0
    blocks: int = 0
    note: str = ""

    @property
    def words(self) -> str:
        """A description of the content."""
        nodes = f"{numeral(self.size)} node{'' if self.size == 1 else 's'}"
        if self.kind == "loop":
            return f"loop, {nodes}"
        if self.kind == "repeat":
            return f"{self.blocks} blocks, {nodes}"
        return f"{self.kind}, {nodes}" if self.kind in ("call", "branch") else nodes


def frame_id(path: Path) -> str:
    """Id of a frame's box; it contains a line break, so that no node has it as its name."""
    return "frame\n" + "\n".join(path) if path else ROOT


def summary(ops: Iterable[str]) -> str:
    """The ops of a stretch, the most frequent first: ``MatMul, Add, Relu``."""
    counted = Counter(ops)
    names: list[str] = []
    for op, _ in counted.most_common(3):
        if names and sum(map(len, names)) + len(op) > SUMMARY:
            break
        names.append(shorten(op, SUMMARY))
    return ", ".join(names) + (" \u2026" if len(counted) > len(names) else "")
