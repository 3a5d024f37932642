"""Sites: the ops of a loop, by where they are called."""

from __future__ import annotations

import linecache
from typing import Any, NamedTuple

from workbench.ir.node import Source
from workbench.text import harmless

FORWARD, BACKWARD, OPTIMIZER, OUTSIDE = "forward", "backward", "optimizer", "outside"


class Site(NamedTuple):
    """One op of a loop.

    Attributes
    ----------
    op : str
        Name of the ATen op without its overload, such as "mul_"; "input" for a tensor that no recorded op produced.
    overload : str
        The whole name, such as "aten.mul_.Tensor".
    module : str
        Path of the innermost module whose ``forward`` runs, such as "encoder.layers.0"; "" outside of all.
    file, line : str, int
        The line of the user's code; for a backward op, that of its forward op. 0 if unknown.
    phase : str
        "forward", "backward", "optimizer" or "outside".
    nth : int
        The index of the call among those of this op at this line and module in the iteration.
    output : int
        The index of the tensor among the results of the call.
    """

    op: str
    overload: str
    module: str
    file: str
    line: int
    phase: str
    nth: int
    output: int

    @property
    def source(self) -> Source | None:
        """The line as a :class:`Source`, with its text if that can be read; None if unknown."""
        if not self.line:
            return None
        return Source(self.file, self.line, linecache.getline(self.file, self.line).strip())

    @harmless
    def __str__(self) -> str:
        where = f" at {self.source.place}" if self.source is not None else ""
        module = f" in {self.module}" if self.module else ""
        call = f" (call {self.nth})" if self.nth else ""
        return f"{'' if self.phase == FORWARD else self.phase + ' '}{self.op}{call}{module}{where}"


class SiteTable:
    """The sites of a loop, numbered in the order in which they appeared."""

    def __init__(self, sites: list[Site] | None = None) -> None:
        self.sites: list[Site] = []
        self._numbers: dict[Any, int] = {}
        for site in sites or ():
            self.number(site, site)

    def __len__(self) -> int:
        return len(self.sites)

    def __getitem__(self, number: int) -> Site:
        return self.sites[number]

    def number(self, key: Any, site: Site) -> int:
        """The index of a site, which is added if its key is new."""
        found = self._numbers.get(key)
        if found is None:
            found = self._numbers[key] = len(self.sites)
            self.sites.append(site)
        return found

    def known(self, key: Any) -> int | None:
        """The index of a key, or None."""
        return self._numbers.get(key)
