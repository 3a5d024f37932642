"""Loop analysis: how variables evolve, whether loops end, and why not.

::

    values -> classify: health, exact repeats, smooth tails, linear prediction, noise, chaos -> Evolution with a model
    trace rows -> Follower: a streaming state per value -> classify -> Evolution
    operands of the loop condition -> TerminationMonitor: forecasts ----------.
    the part of the graph that the condition needs -> analyze_loop:           |
        look-ahead, recurrence, closed forms, invariants --> PROVED, else ----'-> Termination
    session.termination -> a cache of proofs, valid until a value or an input is changed

:func:`classify` and :class:`Evolution` are about one variable, :func:`analyze_loop`, :class:`TerminationMonitor` and
:class:`Termination` about one loop, :func:`workbench.analyze` about a whole run. The header of each module names the
sources of its method.
"""

from workbench.analysis.fixes.fix import Fix
from workbench.analysis.forecast.monitor import TerminationMonitor
from workbench.analysis.forecast.to_tolerance import Forecast, iterations_to_tolerance
from workbench.analysis.live.follower import Follower, FollowError
from workbench.analysis.precision.cancellation import Cancellation, cancellations
from workbench.analysis.proof.prover import analyze_loop
from workbench.analysis.series.classify import classify
from workbench.analysis.series.result import Evolution, Pattern
from workbench.analysis.series.value_series import HistoryError
from workbench.analysis.slicing.protocol import SliceRunner
from workbench.analysis.verdict import ChainLink, Gap, Proof, Reason, Status, Termination

__all__ = [
    "Cancellation",
    "ChainLink",
    "Evolution",
    "Fix",
    "FollowError",
    "Follower",
    "Forecast",
    "Gap",
    "HistoryError",
    "Pattern",
    "Proof",
    "Reason",
    "SliceRunner",
    "Status",
    "Termination",
    "TerminationMonitor",
    "analyze_loop",
    "cancellations",
    "classify",
    "iterations_to_tolerance",
]
