"""Result of ``nan_origin``: node, iteration and operand of the first NaN, with a sentence."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.analysis.diff.side import Path
from workbench.ir.node import Ref, Source, Tag
from workbench.text import harmless, number
from workbench.trace.describe import describe, short


@dataclass(frozen=True)
class Operand:
    """One input of the bad node at that firing. ``item`` is the element of it that produced the bad element of the
    result, None if several did; ``bad`` says whether it holds NaN or infinities itself.
    """

    name: str
    ref: Ref
    iteration: Path
    value: Any
    item: Any
    bad: bool

    @harmless
    def __str__(self) -> str:
        many = isinstance(self.value, np.ndarray) and self.value.size > 1
        at = f" (the element used: {self.item})" if many and self.item is not None else ""
        return f"{self.name} = {short(self.value)}{at}"


@dataclass(frozen=True)
class NanOrigin:
    """The origin of the first NaN or infinity of a run, returned by :func:`workbench.nan_origin`. ``print`` it.

    Attributes
    ----------
    kind : {"nan", "inf"}
        The kind of value.
    node : str
        The node that first computed it.
    name : str
        Public name of its value, or ``node:index``.
    op : str
        The op of the node.
    source : Source or None
        The source line of the node.
    frame : tuple of str
        Path of its frame.
    iteration : tuple of int
        Iteration of each frame of the path.
    index : tuple of int
        Position of the first bad item in the value.
    count : int
        Number of bad items.
    value : array
        The value of that firing.
    operands : tuple of Operand
        The inputs of the node at that firing. Empty for an input, a constant or an edit, which is itself the origin.
    responsible : Operand or None
        The operand that explains it, such as the negative argument of a square root.
    why : str
        The explanation.
    inputs_bad : bool
        Whether an operand was already NaN or infinite.
    because : NanOrigin or None
        The origin of an infinity among the operands.
    note : str
        A sentence on what is unknown.
    edited : bool
        Whether it was written by a user's edit.
    headline : str
        Which loop variable is not finite, and since when, as shown on screens; "" if it was not requested.

    Examples
    --------
    >>> b = wb.GraphBuilder("quotient")
    >>> with wb.Session(b.build({"y": b.placeholder("x") / b.placeholder("z")}), {"x": 0.0, "z": 0.0}) as quotient:
    ...     quotient.run()
    ...     print(wb.nan_origin(quotient))
    <Stop FINISHED: ...>
    The first NaN is computed by y (divide), ...
    Cause: ...
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
    responsible: Operand | None
    why: str
    inputs_bad: bool
    because: NanOrigin | None = None
    note: str = ""
    edited: bool = False
    headline: str = ""

    @property
    def short(self) -> str:
        """One line: ``First NaN: sqrt in iteration 9, sqrt(x = -0.35)``, or that it was written by an edit."""
        kind = "NaN" if self.kind == "nan" else "infinity"
        where = f" in iteration {self.iteration[-1]}" if self.iteration else ""
        at = f" at {list(self.index)}" if self.index else ""
        return f"First {kind}: {_plain(self.name)}{where}{at}, {self.formula}"

    @property
    def formula(self) -> str:
        """The op and its operands, or for arrays the elements used: ``multiply(y = 0, log = -inf)``."""
        if self.edited:
            return "set by hand"
        shown = (o.value if o.item is None else o.item for o in self.operands[:3])
        given = zip(self.operands, shown, strict=False)
        return f"{self.op}({', '.join(f'{_plain(o.name)} = {_operand_text(v)}' for o, v in given)})"

    @property
    def tag(self) -> Tag:
        """The tag of the firing that computed it."""
        return Tag(self.node, 0, self.frame, self.iteration)

    @harmless
    def text(self) -> str:
        """Return the finding as sentences."""
        kind = "NaN" if self.kind == "nan" else "an infinity"
        where = "".join(
            f" in iteration {i} of {f}" for f, i in zip(self.frame[::-1], self.iteration[::-1], strict=True)
        )
        verb = "was set by hand in" if self.edited else "is computed by" if self.operands else "is held by"
        line = f"The first {'NaN' if self.kind == 'nan' else 'infinity'} {verb} {self.name} ({self.op})"
        line += where + (f", {self.source.where}" if self.source is not None else "")
        items = getattr(self.value, "size", 1)
        lines = [f"{self.headline}."] if self.headline else []
        lines += [line + (f", in {self.count} of {items} items, first at {list(self.index)}." if items > 1 else ".")]
        if self.edited:
            lines.append("It is an edit: no op made it.")
        elif not self.operands:
            lines.append(f"It is {'an input' if self.op == 'Placeholder' else 'a constant'} that holds {kind} itself.")
        elif self.responsible is not None:
            lines.append(f"Cause: {self.why}.")
            lines.append("It was computed from " + "; ".join(map(str, self.operands)) + ".")
        if self.because is not None:
            lines += ["That infinity in turn:", *(f"  {part}" for part in self.because.text().splitlines())]
        return "\n".join([*lines, *([self.note] if self.note else [])])

    __str__ = text

    @harmless
    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text())}</pre>"

    def to_data(self) -> dict[str, Any]:
        """Return plain data for JSON, with values as text."""
        return {
            "kind": self.kind,
            "node": self.node,
            "name": self.name,
            "op": self.op,
            "frame": list(self.frame),
            "iteration": list(self.iteration),
            "index": list(self.index),
            "count": self.count,
            "edited": self.edited,
            "value": describe(self.value),
            "why": self.why,
            "inputs_bad": self.inputs_bad,
            "note": self.note,
            "headline": self.headline,
            "source": None if self.source is None else str(self.source),
            "responsible": None if self.responsible is None else self.responsible.name,
            "operands": [{"name": o.name, "value": short(o.value), "bad": o.bad} for o in self.operands],
            "because": None if self.because is None else self.because.to_data(),
        }


def _plain(name: str) -> str:
    return name.rpartition("/")[2].removesuffix(":0")


def _operand_text(value: Any) -> str:
    return number(value.item()) if isinstance(value, np.ndarray | np.generic) and value.size == 1 else short(value)
