"""Loop analysis: how variables evolve, whether loops end, and why not.

::

    values -> History -> classify: health, decision (recurrence, tails, steps, linear_prediction, chaos, noise, guesses)
           -> limits, confidence -> Evolution, model
    trace rows -> Follower: ScalarState, VectorState -> states: the ring's record held against the whole -> Evolution
    observations -> TerminationMonitor: clauses, each exact_steps or classify ----------------.
    predicate's slice -> analyze_loop: look-ahead, Brent's recurrence, ------> PROVED, else --'-> Termination
        '-> slice_program (formulas) -> arguments: counters, timeline, domains, phases, invariants
    session -> Desk: proofs are kept while nothing is changed, look-aheads take 2 % of the run's time

The methods and their order are those of the project's analysis notes; each module's header cites its sources.
"""

from workbench.analysis.cancellation import Cancellation, cancellations
from workbench.analysis.classify import classify
from workbench.analysis.evolution import Evolution, Pattern
from workbench.analysis.fixes import Fix
from workbench.analysis.following import Follower, FollowError
from workbench.analysis.forecast import Forecast, iterations_to_tolerance
from workbench.analysis.history import HistoryError
from workbench.analysis.monitor import TerminationMonitor
from workbench.analysis.origins.newest import NonfiniteOrigin, nonfinite_origin
from workbench.analysis.slice_runner import SliceRunner
from workbench.analysis.termination import ChainLink, Gap, Proof, Reason, Status, Termination
from workbench.analysis.whitebox import analyze_loop

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
    "NonfiniteOrigin",
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
    "nonfinite_origin",
]
