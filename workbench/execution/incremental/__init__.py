"""Incremental runs: after a change of inputs, only the values that depend on it are recomputed.

::

    changed feeds -> steps of the outermost level, in program order, as far as the old run had executed them
                       node   an input differs: execute it again; equal bits end the propagation (cut-off)
                       loop   a start value differs:  run it from its beginning
                              an invariant differs:   run it from the first iteration in which a node that reads it
                                                      computes a value that differs from its row; not at all if no
                                                      value differs
                  -> the executor is at its old position again, and continues to the end

Why the result equals that of a full run bit for bit. A program of nested frames computes each value of the outermost
row once, and a row of a loop is a function of the previous row and of the outermost row. A step whose inputs have the
same bits as before therefore produces the same bits, and is kept. For a loop whose start values are unchanged, let r be
the first row in which an instruction that reads a changed slot produces other bits (frontier: only these instructions
are run, each on the operands of the row). In the rows before r every slot contains the value of a full run: by
induction over rows, everything that a row reads is unchanged. Aliases and views of an invariant are stored in the
outermost row and change at once. The executor is set to the start of row r, as if a snapshot had been restored, and
replays.

The executor recomputes values, and counts their firings. Random draws depend on seed and tag: they are repeated only if
an input or an earlier decision differs. Effects (prints, assertions) happen again exactly where their nodes are
executed again.

Cost. If a counter with a constant step is compared with a limit, the first iteration that differs is computed by
arithmetic (``counters``); other readers of a change are compared in batches of rows, up to the first difference. Once
several large arrays in succession have differed, few of the following ones are kept and compared, and nodes are
executed in one piece as in a full run (``Revision._stretch``): this may miss cut-offs, but never changes.

If an incremental run is impossible, a full run is made, and the update states the reason (``full_rerun``): another
plan, because a feed has another dtype or shape; unstructured frames and frames in parts; edited values; released values
(``trace="stats"`` and "off"), and rows in a ``wb.Retention`` backend. Loops with dropped rows start from the beginning
if one of their inputs differs. During an update, its trace shows new values where they are computed, and old values
elsewhere.
"""

from workbench.execution.incremental.full_rerun import full_rerun_reason, restart_run
from workbench.execution.incremental.revision import Revision
from workbench.execution.incremental.steps import RevisionSteps
from workbench.execution.incremental.update import LoopUpdate, Update

__all__ = ["LoopUpdate", "Revision", "RevisionSteps", "Update", "restart_run", "full_rerun_reason"]
