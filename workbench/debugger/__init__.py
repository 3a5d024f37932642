"""The debugger: commands, breakpoints and stop reasons over one run. Pure state: no threads, no widgets, no clock.

::

    command --> Debugger.begin(command) --> advance() ... advance() --> Stop
                                            one slice each; between two slices the caller may interrupt

    language, words -> parser -> predicate, template   conditions and texts of logpoints; never evaluated as Python
    batch     -> health                               what is asked of one firing, or of a whole series
    targets   -> meaning, ignoring                    what is meant, and what is left alone
    hits      -> breakpoint -> point_table -> breakpoints       what is asked, what is counted
    postfix   -> asks                                 what the machine asks by itself
    firing    -> looking -> counting -> pursuing -> forward -> backward -> branches -> debugger   the commands
"""

from workbench.debugger.breakpoint import Breakpoint
from workbench.debugger.breakpoints import Breakpoints
from workbench.debugger.debugger import Debugger
from workbench.debugger.history import History
from workbench.debugger.ignoring import IgnoreRule
from workbench.debugger.predicate import Predicate
from workbench.debugger.recommend import Recommendation
from workbench.debugger.stop import Stop, StopReason
from workbench.debugger.template import LogLine

__all__ = [
    "Breakpoint", "Breakpoints", "Debugger", "History", "IgnoreRule", "LogLine", "Predicate", "Recommendation", "Stop",
    "StopReason",
]  # fmt: skip
