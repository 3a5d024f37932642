"""The debugger: commands, breakpoints and stop reasons over one run. A pure state machine: no threads, widgets or
clock.

::

    command --> DebugControl.begin(command) --> advance() ... advance() --> Stop
                                            one slice each; between two slices the caller may interrupt

    conditions/   the language of conditions and log strings; never evaluated as Python
    breakpoints/  the table of breakpoints, their nodes, hit counts, conditions compiled for the executor
    replay/       earlier states and dropped values, by replay from a checkpoint
    control/      the state machine: run control, breakpoint checks, one function per command (see control.debugger)
"""

from workbench.debugger.breakpoints.breakpoint import Breakpoint
from workbench.debugger.breakpoints.ignore_rules import IgnoreRule
from workbench.debugger.breakpoints.manager import Breakpoints
from workbench.debugger.breakpoints.suggestions import Recommendation
from workbench.debugger.conditions.evaluate import Predicate
from workbench.debugger.conditions.logpoint_template import LogLine
from workbench.debugger.control.debugger import DebugControl
from workbench.debugger.replay.history import History
from workbench.debugger.stop import Stop, StopReason

__all__ = [
    "Breakpoint",
    "Breakpoints",
    "DebugControl",
    "History",
    "IgnoreRule",
    "LogLine",
    "Predicate",
    "Recommendation",
    "Stop",
    "StopReason",
]
