"""Claims: the statements of an answer about a loop, as small typed facts, each of which can be recomputed.

::

    an analysis --> Claim(numbers, evidence) --check()--> said, or dropped
                      |- .data       plain numbers and strings, for programs
                      |- .sentence   for people, from the table in ``sentences``
                      |- .fixes()    proposals, from the table that the package ``fixes`` fills

All printed statements, in the terminal, panels, reports and JSON, are those of ``Termination.claims``.  A new kind is a
subclass of :class:`Claim` with a docstring that says exactly what it asserts, and an entry in ``sentences.SENTENCES``.
"""

from workbench.analysis.claims.claim import Claim, checked, fixes_for, released
from workbench.analysis.claims.repeats import FirstBad, Period, period

__all__ = ["Claim", "FirstBad", "Period", "checked", "fixes_for", "period", "released"]
