"""The debugger: commands, breakpoints and stop reasons over one run. Pure state: no threads, no widgets, no clock.

::

    command --> Debugger.begin(command) --> advance() ... advance() --> Stop
                                            one slice each; between two slices the caller may interrupt
"""

from workbench.debugger.breakpoints import Breakpoint, Breakpoints
from workbench.debugger.debugger import Debugger
from workbench.debugger.history import History
from workbench.debugger.predicate import Predicate
from workbench.debugger.stop import Stop, StopReason

__all__ = ["Breakpoint", "Breakpoints", "Debugger", "History", "Predicate", "Stop", "StopReason"]
