"""The result of ``wb.analyze``: variables, loops and their interactions, as text, page and data."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.analysis.report.formatting import count
from workbench.analysis.report.html import fragment
from workbench.analysis.report.loop import Loop, Loops
from workbench.analysis.report.loop_interactions import InteractionFinding
from workbench.analysis.report.text import write_report
from workbench.analysis.report.to_dict import plain
from workbench.analysis.report.variable import Variable, Variables
from workbench.files import write_text
from workbench.text import harmless


@dataclass(repr=False, eq=False)
class Analysis:
    """All results about a run at one moment, returned by :func:`workbench.analyze`.

    ``print(analysis.report())`` shows it as text, a notebook as a page, and :meth:`to_html` writes a page with plots.

    Attributes
    ----------
    graph : str
        Name of the graph.
    state : str
        State of the session ("running", "paused", "finished" ...), or "trace".
    variables : mapping of str to Variable
        By name: an Evolution and further facts. Variables that were not classified yet are classified on first access.
    loops : mapping of tuple to Loop
        By frame path, name or ``"outer/inner"``: a Termination and further facts.
    verdict : list of Finding
        Sentences about the loops, most important first.
    findings : list of Finding
        Sentences on how loops affect each other, and on their cost.
    health : list of str
        Sentences on the origin of NaN and infinities, and on lost digits.
    notes : list of str
        Sentences on missing parts, for which time was too short or which the trace does not keep.
    failure : str
        The error of a run that failed, else empty.

    Examples
    --------
    >>> analysis = wb.analyze(session)
    >>> analysis
    <Analysis of 'newton', finished: 1 loop. The loop while has ended after 4 iterations: ...>
    >>> analysis.variables["x"].label.name, analysis.loops["while"].iterations
    ('CONVERGING', 4)
    """

    graph: str
    state: str
    variables: Variables
    loops: Loops
    verdict: list[InteractionFinding] = field(default_factory=list)
    findings: list[InteractionFinding] = field(default_factory=list)
    health: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    failure: str = ""

    def of(self, loop: Loop) -> list[Variable]:
        """Return the classified variables of a loop, in its order."""
        return [self.variables[n] for n in loop.variables if n in self.variables._done]

    @harmless
    def report(self, width: int = 96, *, ascii: bool = False, most: int = 40) -> str:
        """Write the analysis as text for a terminal, without escape sequences and colours.

        Parameters
        ----------
        width : int, default 96
            Columns, from 40 to 200.
        ascii : bool, default False
            Whether to avoid characters that a plain terminal may lack.
        most : int, default 40
            Maximum number of loops and variables that are described in full.

        Returns
        -------
        str

        Examples
        --------
        >>> print(wb.analyze(session).report())
        Analysis of newton (finished): 1 loop, 1 loop variable.
        ...
        """
        return write_report(self, max(40, min(int(width), 200)), ascii, most)

    def data(self) -> dict[str, Any]:
        """Return everything as plain dicts, lists, numbers and strings for JSON; NaN and infinities become strings."""
        return plain(self)

    def to_json(self, path: str | PathLike[str]) -> Path:
        """Write :meth:`data` to a file, and return its path."""
        return write_text(path, json.dumps(self.data(), indent=1, allow_nan=False), "The analysis")

    if TYPE_CHECKING:  # plots are drawn by the widgets, a higher layer, so workbench/public.py defines these methods

        def figure(self, name: str, tolerance: float | None = None, theme: str = "light") -> Any:
            """The convergence plot of a variable as a plotly figure."""

        def to_html(self, path: str | PathLike[str] | None = None, theme: str = "auto") -> Any:
            """One self-contained page with plots, which works offline."""

    @harmless
    def _repr_html_(self) -> str:
        return fragment(self)

    @harmless
    def __str__(self) -> str:
        return self.report()

    @harmless
    def __repr__(self) -> str:
        first = self.verdict[0].sentence if self.verdict else ""
        return f"<Analysis of {self.graph!r}, {self.state}: {count(len(self.loops), 'loop')}. {first}>"
