"""Incremental runs: a run goes from one set of inputs to another, and only what depends on the difference is computed.

::

    changed feeds -> steps of the outermost level, in the program's order, as far as the run had come
                       node   an input differs: its instructions again; equal bits end it there (cut-off)
                       loop   a start value differs:  from its beginning
                              an invariant differs:   from the first iteration in which a node that reads it gives
                                                      another value than its row holds; if there is none, not at all
                  -> the machine stands where it stood, and runs on to the end

Why that is a full run bit for bit. A program of nesting frames computes each value of the outermost row once, and a row
of a loop is a function of the row before it and of the outermost row. So a step whose inputs have the bits that they
had gives the bits that it gave, and stays. Of a loop whose start values are unchanged, let r be the first row in which
an instruction that reads a changed slot gives other bits (frontier: these instructions alone, each on the row's own
operands). In the rows before r every slot holds what a full run would write: by induction over rows, all that a row
reads is as it was. What is only another name or a view of an invariant stands in the outermost row itself and is new
at once. At r the machine is put in front of the row as a snapshot would put it, and replays.

What is computed again is executed by the machine, and counted there. Random draws go by seed and tag: they are made
again only where an input or an earlier decision differs. Effects (prints, assertions) happen again where they are
computed again, and nowhere else.

What that costs. Where a counter with a constant step is compared with a limit, the first iteration that differs
follows by arithmetic (``counters``); other readers of a change are looked at stretch by stretch, up to the first that
differs. Once several large arrays in a row differed, few are still kept and compared, and what follows goes in one
piece as in a full run (``Revision._stretch``): cut-offs may be missed there, never changes.

A full run takes its place where this does not hold, and the update says why (``fallback``): another plan, because a
feed has another dtype or shape; raw frames and frames in parts; edited values; values that have gone (``trace="stats"``
and "off"), and rows that a ``wb.Retention`` keeps apart. Loops of which rows were dropped start from the beginning if
one of their inputs differs.
While an update runs its trace shows new values where they are computed, and old ones elsewhere.
"""

from workbench.execution.incremental.fallback import begin_again, why_full
from workbench.execution.incremental.revision import Revision
from workbench.execution.incremental.steps import Steps
from workbench.execution.incremental.update import LoopUpdate, Update

__all__ = ["LoopUpdate", "Revision", "Steps", "Update", "begin_again", "why_full"]
