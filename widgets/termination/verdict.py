"""The verdict about a loop beside its curves: badge, sentences, clause by clause, and buttons to try what may help."""

from __future__ import annotations

from workbench.widgets.base.esm import joined, script
from workbench.widgets.base.json_widget import ActPart


class VerdictPart(ActPart):
    """Shows the ``verdict_model`` beside it; ``act`` gets ("select", number of a clause or name), ("moment", iteration)
    and ("try", number of the fix)."""

    _script = script("termination/verdict.js")
    _css = joined("termination/verdict.css")
