"""``wb.analyze``: everything that is known about the loops and variables of a run, in one report.

::

    session or trace -> making: columns -> variable ---.
                                wiring, trips -> loop -+-> interplay -> Analysis -> text, page (pictures, svg), plain

Nothing of it draws with plotly: the views register what ``Analysis.figure`` and ``Analysis.to_html`` need.
"""

from workbench.analysis.report.analysis import Analysis
from workbench.analysis.report.interplay import Finding
from workbench.analysis.report.loop import Loop, Loops
from workbench.analysis.report.making import analyze
from workbench.analysis.report.trips import TripCounts
from workbench.analysis.report.variable import NotInAnalysis, Variable, Variables

__all__ = [
    "Analysis", "Finding", "Loop", "Loops", "NotInAnalysis", "TripCounts", "Variable", "Variables", "analyze",
]  # fmt: skip
