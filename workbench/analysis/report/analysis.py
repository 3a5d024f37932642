"""The result of ``wb.analyze``: variables, loops, how they act on each other; as text, page and data."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar

from workbench.analysis.report.interplay import Finding
from workbench.analysis.report.loop import Loop, Loops
from workbench.analysis.report.variable import Variable, Variables
from workbench.errors import WorkbenchError


@dataclass(repr=False, eq=False)
class Analysis:
    """What is known about a run at one moment. Make one with :func:`workbench.analyze`.

    ``variables[name]`` is a :class:`Variable` (an Evolution and the facts about it), ``loops[frame]`` a :class:`Loop`
    (a Termination and the facts about it); ``verdict`` says what matters most, ``findings`` how loops act on each
    other, ``health`` where numbers went bad and digits were lost.
    ``print(analysis.report())``; a notebook shows it as a page; ``to_html`` writes one with its plots.
    """

    #: what rooms above this one add (figure, page); they register here, so that imports only go down
    services: ClassVar[dict[str, Callable[..., Any]]] = {}

    graph: str
    state: str
    variables: Variables
    loops: Loops
    verdict: list[Finding] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    health: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    failure: str = ""

    def of(self, loop: Loop) -> list[Variable]:
        """The classified variables of a loop, in its order."""
        return [self.variables[n] for n in loop.variables if n in self.variables._done]

    def report(self, width: int = 96, *, ascii: bool = False, most: int = 40) -> str:
        """The whole story as text for a terminal: at most ``width`` columns (80 at least), no escapes, no colours.

        ``ascii`` leaves out characters that a plain terminal may lack; ``most`` loops and variables are told in full.
        """
        from workbench.analysis.report.text import write_report

        return write_report(self, max(80, min(int(width), 200)), ascii, most)

    def data(self) -> dict[str, Any]:
        """All of it as plain dicts, lists, numbers and texts (NaN and infinities as texts), as JSON takes them."""
        from workbench.analysis.report.plain import plain

        return plain(self)

    def to_json(self, path: str | PathLike[str]) -> Path:
        """Write :meth:`data` to a file; returns its path."""
        target = Path(path)
        target.write_text(json.dumps(self.data(), indent=1, allow_nan=False), encoding="utf-8")
        return target

    def figure(self, name: str, tolerance: float | None = None, theme: str = "light") -> Any:
        """The convergence plot of a variable as a plotly figure: |x - limit|, its forecast with the 90 % band, and the
        ``tolerance`` line with the expected crossing. What does not converge is drawn as it is, with its forecast."""
        return self._service("figure")(self.variables[name], tolerance, theme)

    def to_html(self, path: str | PathLike[str] | None = None, theme: str = "auto") -> Any:
        """One self-contained page that works offline, its plots included (about 5 MB, most of it plotly.js).

        Written to ``path``, whose Path is returned, or returned as text without one. ``theme`` is "light", "dark" or
        "auto", which follows the browser.
        """
        page = self._service("page")(self, theme)
        if path is None:
            return page
        target = Path(path)
        target.write_text(page, encoding="utf-8")
        return target

    def _repr_html_(self) -> str:
        from workbench.analysis.report.page import fragment

        return fragment(self)

    def _service(self, name: str) -> Callable[..., Any]:
        if name not in self.services:
            raise WorkbenchError("Plots need the whole workbench.", slug="not-installed", fix="import workbench first.")
        return self.services[name]

    def __str__(self) -> str:
        return self.report()

    def __repr__(self) -> str:
        first = self.verdict[0].sentence if self.verdict else ""
        return f"<Analysis of {self.graph!r}, {self.state}: {len(self.loops)} loops. {first}>"
