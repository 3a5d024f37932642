"""Loop analysis: how variables evolve, whether loops end, and why not.

::

    values -> History -> classify: health, recurrence, tails, linear_prediction, chaos, noise -> Evolution, model
    observations -> TerminationMonitor: clauses, each exact_steps or classify ----------------.
    predicate's slice -> analyze_loop: look-ahead, Brent's recurrence --> PROVED, else -------'-> Termination

The methods and their order are those of the project's analysis notes; each module's header cites its sources.
"""

from workbench.analysis.classify import classify
from workbench.analysis.evolution import Evolution, Pattern
from workbench.analysis.forecast import Forecast, iterations_to_tolerance
from workbench.analysis.history import HistoryError
from workbench.analysis.monitor import TerminationMonitor
from workbench.analysis.slice_runner import SliceRunner
from workbench.analysis.termination import Proof, Reason, Status, Termination
from workbench.analysis.whitebox import analyze_loop

__all__ = [
    "Evolution",
    "Forecast",
    "HistoryError",
    "Pattern",
    "Proof",
    "Reason",
    "SliceRunner",
    "Status",
    "Termination",
    "TerminationMonitor",
    "analyze_loop",
    "classify",
    "iterations_to_tolerance",
]
