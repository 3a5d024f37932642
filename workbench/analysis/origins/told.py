"""The finding of ``nan_origin``: which op made the first NaN, in which iteration, out of which operand; in words."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.analysis.diff.columns import Path
from workbench.graph.node import Ref, Source, Tag
from workbench.trace.describe import describe, short


@dataclass(frozen=True)
class Operand:
    """One input of the guilty node at that firing. ``item`` is the item of it that met the bad item of the result, None
    where many did; ``bad`` whether it holds NaN or infinities itself."""

    name: str
    ref: Ref
    iteration: Path
    value: Any
    item: Any
    bad: bool

    def __str__(self) -> str:
        many = isinstance(self.value, np.ndarray) and self.value.size > 1
        at = f", of which the item {self.item}" if many and self.item is not None else ""
        return f"{self.name} = {short(self.value)}{at}"


@dataclass(frozen=True)
class NanOrigin:
    """``kind`` ("nan" or "inf") first came out of ``node`` at ``iteration``; ``index`` is the first bad item of it.

    ``operands`` are what it was made from, ``guilty`` the one to blame and ``why`` the reason. ``inputs_bad``: an
    operand was not finite already; ``because`` then says where that infinity came from. An input or constant that holds
    NaN is its own origin and has no operands. ``note`` says what is not known.
    """

    kind: str
    node: str
    name: str
    op: str
    source: Source | None
    frame: tuple[str, ...]
    iteration: Path
    index: tuple[int, ...]
    count: int
    value: Any
    operands: tuple[Operand, ...]
    guilty: Operand | None
    why: str
    inputs_bad: bool
    because: NanOrigin | None = None
    note: str = ""

    @property
    def tag(self) -> Tag:
        """The firing that made it."""
        return Tag(self.node, 0, self.frame, self.iteration)

    def text(self) -> str:
        """The finding as sentences."""
        kind = "NaN" if self.kind == "nan" else "an infinity"
        where = ", ".join(f"{f} {i}" for f, i in zip(self.frame, self.iteration, strict=True))
        line = f"The first {'NaN' if self.kind == 'nan' else 'infinity'} comes from {self.name} ({self.op})"
        line += f" in {where}" if where else ""
        line += f", written at {self.source.where}" if self.source is not None else ""
        items = getattr(self.value, "size", 1)
        lines = [line + (f", in {self.count} of {items} items, first at {list(self.index)}." if items > 1 else ".")]
        if not self.operands:
            lines.append(f"It is {'an input' if self.op == 'Placeholder' else 'a constant'} that holds {kind} itself.")
        elif self.guilty is not None:
            lines.append(f"To blame: {self.why}.")
            lines.append("It was made from " + "; ".join(map(str, self.operands)) + ".")
        if self.because is not None:
            lines += ["That infinity in turn:", *(f"  {part}" for part in self.because.text().splitlines())]
        return "\n".join([*lines, *([self.note] if self.note else [])])

    __str__ = text

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text())}</pre>"

    def to_data(self) -> dict[str, Any]:
        """Plain data, for JSON: values as text."""
        return {
            "kind": self.kind, "node": self.node, "name": self.name, "op": self.op, "frame": list(self.frame),
            "iteration": list(self.iteration), "index": list(self.index), "count": self.count,
            "value": describe(self.value), "why": self.why, "inputs_bad": self.inputs_bad, "note": self.note,
            "source": None if self.source is None else str(self.source),
            "guilty": None if self.guilty is None else self.guilty.name,
            "operands": [{"name": o.name, "value": short(o.value), "bad": o.bad} for o in self.operands],
            "because": None if self.because is None else self.because.to_data(),
        }  # fmt: skip
