"""The verdict about a loop beside its curves: badge, sentences, clause by clause, and buttons to try what may help."""

from __future__ import annotations

from workbench.widgets.esm import joined, script
from workbench.widgets.part import ActPart


class VerdictPart(ActPart):
    """Shows :func:`workbench.widgets.models.verdict_model.verdict_model`; ``act`` gets ("select", number of a clause or
    name), ("moment", iteration) and ("try", number of the fix)."""

    _script = script("verdict.js")
    _css = joined("verdict.css")
