"""Reports the memory of a run, and the lower bound implied by its plan."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.device import open_device
from workbench.plan.memory.memory_bound import Lifetime, PlanMemory
from workbench.text import harmless

if TYPE_CHECKING:
    from workbench.execution.run import Run

#: maximum values in a report
MOST_LISTED = 50


@dataclass(frozen=True, slots=True)
class MemoryReport:
    """The memory of a run, returned by ``session.memory()``. ``print`` it for the full text.

    Attributes
    ----------
    rows : int
        Bytes of numbers, stored row by row (one row per iteration of each frame).
    arrays : int
        Bytes of arrays of known shape, including feeds.
    objects : int
        Bytes of other arrays; views count in full.
    checkpoints : int
        Bytes of the states from which a replay can start.
    peak : int
        Largest sum of rows, arrays and objects so far, in bytes.
    budget : int
        Limit in bytes.
    bound : int
        Lower bound of the peak implied by the lifetimes of the values, in bytes; 0 if unknown.
    lifetimes : tuple of Lifetime
        The largest values, at most 50, with the nodes that compute them and their last readers.
    feeds : int
        Bytes of feeds within ``arrays``, which are not part of the bound.
    device, device_peak : int
        Bytes of all arrays on the device of the run, including those of other sessions: present, and peak.
    device_name : str
        The name of that device; empty for the host.

    Examples
    --------
    >>> report = session.memory()
    >>> print(report)
    memory: ... now, ... at most, of a budget of 512.0 MiB
    ...
    >>> report.peak >= report.rows
    True
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
    device: int = 0
    device_peak: int = 0
    device_name: str = ""

    @property
    def ratio(self) -> float | None:
        """Ratio of the peak without feeds to the bound; None without a bound."""
        return (self.peak - self.feeds) / self.bound if self.bound else None

    @harmless
    def text(self) -> str:
        """The figures as text, with the largest values."""
        total = self.rows + self.arrays + self.objects
        lines = [
            f"memory: {size(total)} now, {size(self.peak)} at most, of a budget of {size(self.budget)}",
            f"  numbers {size(self.rows)}, arrays {size(self.arrays)} (feeds {size(self.feeds)}), "
            f"objects {size(self.objects)}; checkpoints {size(self.checkpoints)}",
        ]
        if self.device_name:
            lines.append(f"  device {self.device_name}: {size(self.device)} now, {size(self.device_peak)} at most")
        if self.ratio is not None:
            lines.append(f"  lifetime lower bound {size(self.bound)}: the peak is {self.ratio:.2f} times that")
        if self.lifetimes:
            width = max(len(t.name) for t in self.lifetimes[:10])
            lines.append("largest values, from the node that computes them to their last reader:")
            for t in self.lifetimes[:10]:
                lines.append(f"  {t.name:<{width}}  {size(t.bytes):>9}  {t.first} .. {t.last or 'the end'}")
        return "\n".join(lines)

    __str__ = text

    @harmless
    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text())}</pre>"


def size(count: int) -> str:
    """A number of bytes as text."""
    if count < 1024:
        return f"{count} B"
    return f"{count / 1024:.1f} KiB" if count < 1 << 20 else f"{count / (1 << 20):.1f} MiB"


def memory_report(run: Run, planned: PlanMemory) -> MemoryReport:
    """The report of a run, also during the run; ``planned`` belongs to the plan that releases dead values."""
    frames, layout = len(run.plan.layout.frames), run.plan.layout
    feeds = 0
    for name, array in run.feeds.items():
        value = layout.values.get((run.plan.graph.inputs[name].node, 0))
        place = None if value is None else value.place
        if place is not None and (place.dtype is None or place.shape):
            feeds += array.nbytes
    on_device = run.plan.device and open_device(run.plan.device).memory
    return MemoryReport(
        rows=sum(map(run.view.store_bytes, range(frames))),
        arrays=sum(map(run.view.store_bytes, range(frames, len(layout.stores)))),
        objects=run.view.objects,
        checkpoints=sum(c.bytes for c in list(run.checkpoints)),
        peak=run.view.peak,
        budget=run.budget,
        bound=planned.bound,
        lifetimes=planned.lifetimes[:MOST_LISTED],
        feeds=feeds,
        device=on_device.held if on_device else 0,
        device_peak=on_device.peak if on_device else 0,
        device_name=on_device.name if on_device else "",
    )
