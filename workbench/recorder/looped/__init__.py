"""Looped models: the hidden state of a shared block, loop by loop, within one forward pass.

::

    forward hooks ─► CallLog ─► blocks: modules called again and again ─► links: the state that goes from call to call
                                   │
        TokenPaths (norms, steps, distances) ─► courses (fixed point, cycle, drift ...) ─┐
        Update (one loop, computed again) ─► spectral norm, LoopGraph for sweeps ────────┼─► StatesReport
        readout (head, gate, loss) ──────────────────────────────────────────────────────┘
"""

from workbench.recorder.looped.courses import Course, TokenCourse
from workbench.recorder.looped.states_report import StatesReport
from workbench.recorder.looped.states_watch import StatesWatch

__all__ = ["Course", "StatesReport", "StatesWatch", "TokenCourse"]
