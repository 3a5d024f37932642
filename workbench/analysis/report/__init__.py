"""``wb.analyze``: a report on the loops and variables of a run.

::

    session or trace -> making: columns -> variable ---.
                                wiring, trips -> loop -+-> interplay -> Analysis -> text, page (pictures, svg), plain

This package does not use plotly: the views register what ``Analysis.figure`` and ``Analysis.to_html`` need.
"""

from workbench.analysis.report.analysis import Analysis
from workbench.analysis.report.build import analyze
from workbench.analysis.report.loop import Loop, Loops
from workbench.analysis.report.loop_interactions import InteractionFinding
from workbench.analysis.report.trip_counts import TripCounts
from workbench.analysis.report.variable import NotInAnalysis, Variable, Variables

__all__ = [
    "Analysis",
    "InteractionFinding",
    "Loop",
    "Loops",
    "NotInAnalysis",
    "TripCounts",
    "Variable",
    "Variables",
    "analyze",
]
