"""What a run holds in memory, and what it could not do without."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.plan.memory import Lifetime, PlanMemory

if TYPE_CHECKING:
    from workbench.execution.run import Run

#: values that a report lists
MOST_LISTED = 50


@dataclass(frozen=True, slots=True)
class MemoryReport:
    """Bytes of a run. ``print`` it for the whole story.

    ``rows`` is the memory of numbers, row by row, of all frames; ``arrays`` that of arrays of known shape, feeds
    included; ``objects`` the arrays that rows refer to (a view counts in full); ``checkpoints`` what going back needs.
    ``peak`` is the most that the first three came to, ``budget`` what rows may take. ``bound`` is the lifetime lower
    bound of the plan (see ``workbench.plan.memory``), ``feeds`` the bytes of feeds that stand in ``arrays`` and are not
    part of the bound. ``lifetimes`` has the largest values first.
    """

    rows: int
    arrays: int
    objects: int
    checkpoints: int
    peak: int
    budget: int
    bound: int
    lifetimes: tuple[Lifetime, ...]
    feeds: int = 0

    @property
    def ratio(self) -> float | None:
        """The peak without feeds to the bound; None where there is no bound."""
        return (self.peak - self.feeds) / self.bound if self.bound else None

    def text(self) -> str:
        """The figures in words, and the largest values."""
        total = self.rows + self.arrays + self.objects
        lines = [
            f"memory: {size(total)} now, {size(self.peak)} at most, of a budget of {size(self.budget)}",
            f"  numbers {size(self.rows)}, arrays {size(self.arrays)} (feeds {size(self.feeds)}), "
            f"objects {size(self.objects)}; checkpoints {size(self.checkpoints)}",
        ]
        if self.ratio is not None:
            lines.append(f"  lifetime lower bound {size(self.bound)}: the peak is {self.ratio:.2f} times that")
        if self.lifetimes:
            width = max(len(t.name) for t in self.lifetimes[:10])
            lines.append("largest values, from the node that computes them to their last reader:")
            for t in self.lifetimes[:10]:
                lines.append(f"  {t.name:<{width}}  {size(t.bytes):>9}  {t.first} .. {t.last or 'the end'}")
        return "\n".join(lines)

    __str__ = text

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text())}</pre>"


def size(count: int) -> str:
    """Bytes for people."""
    if count < 1024:
        return f"{count} B"
    return f"{count / 1024:.1f} KiB" if count < 1 << 20 else f"{count / (1 << 20):.1f} MiB"


def memory_report(run: Run, planned: PlanMemory) -> MemoryReport:
    """The report of a run that may be going on; ``planned`` belongs to the lean plan of the same computation."""
    frames, layout = len(run.plan.layout.frames), run.plan.layout
    feeds = 0
    for name, array in run.feeds.items():
        value = layout.values.get((run.plan.graph.inputs[name].node, 0))
        place = None if value is None else value.place
        if place is not None and (place.dtype is None or place.shape):
            feeds += array.nbytes
    return MemoryReport(
        rows=sum(map(run.view.store_bytes, range(frames))),
        arrays=sum(map(run.view.store_bytes, range(frames, len(layout.stores)))),
        objects=run.view.objects, checkpoints=sum(c.bytes for c in list(run.checkpoints)), peak=run.view.peak,
        budget=run.budget, bound=planned.bound, lifetimes=planned.lifetimes[:MOST_LISTED], feeds=feeds,
    )  # fmt: skip
