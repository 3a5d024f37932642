"""Incremental runs: after a change of inputs, only the values that depend on it are computed again.

::

    changed feeds -> steps of the outermost level, in program order, as far as the old run had executed them
                       node   an input differs: execute it again; equal bits end the propagation (cut-off)
                       loop   a start value differs:  run it from its beginning
                              an invariant differs:   run it from the first iteration in which a node that reads it
                                                      gives another value than its row holds; if there is none, not
                                                      at all
                  -> the executor is at its old position again, and runs on to the end

Why the result equals that of a full run bit for bit. A program of nesting frames computes each value of the outermost
row once, and a row of a loop is a function of the row before it and of the outermost row. So a step whose inputs have
the same bits as before gives the same bits, and is kept. For a loop whose start values are unchanged, let r be the
first row in which an instruction that reads a changed slot gives other bits (frontier: these instructions alone, each
on the row's own operands). In the rows before r every slot holds the value of a full run: by induction over rows, all
that a row reads is unchanged. Aliases and views of an invariant are stored in the outermost row itself and are new at
once. The executor is set to the start of row r, as if a snapshot had been restored, and replays.

Values are computed again by the executor, which counts the firings. Random draws depend on seed and tag: they are made
again only where an input or an earlier decision differs. Effects (prints, assertions) happen again exactly where their
nodes are executed again.

Cost. Where a counter with a constant step is compared with a limit, the first iteration that differs
follows by arithmetic (``counters``); other readers of a change are compared in batches of rows, up to the first that
differs. Once several large arrays in a row differed, few are still kept and compared, and the nodes after them are
executed in one piece as in a full run (``Revision._stretch``): cut-offs may be missed there, never changes.

A full run is made where this is impossible, and the update gives the reason (``full_rerun``): another plan, because a
feed has another dtype or shape; unstructured frames and frames in parts; edited values; released values
(``trace="stats"`` and "off"), and rows in a ``wb.Retention`` backend. Loops of which rows were dropped start from the
beginning if one of their inputs differs. While an update runs its trace shows new values where they are computed, and
old ones elsewhere.
"""

from workbench.execution.incremental.full_rerun import full_rerun_reason, restart_run
from workbench.execution.incremental.revision import Revision
from workbench.execution.incremental.steps import RevisionSteps
from workbench.execution.incremental.update import LoopUpdate, Update

__all__ = ["LoopUpdate", "Revision", "RevisionSteps", "Update", "restart_run", "full_rerun_reason"]
