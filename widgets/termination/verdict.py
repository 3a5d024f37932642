"""The verdict about a loop beside its curves: badge, sentences, clause by clause, and buttons to try what may help."""

from __future__ import annotations

from typing import Any

from workbench.widgets.base.esm import joined, script
from workbench.widgets.base.json_widget import Act, ActPart


class VerdictPart(ActPart):
    """Shows the ``verdict_model`` beside it; ``act`` gets ("select", number of a clause or name), ("moment", iteration)
    and ("try", number of the fix). ``part``: "clauses" shows the table of the clauses alone, "why" all
    but the table."""

    _script = script("termination/verdict.js")
    _css = joined("termination/verdict.css")

    def __init__(self, act: Act, part: str = "all") -> None:
        super().__init__(act, part=part)
        self._part = part

    def offer(self, status: dict[str, Any]) -> None:
        super().offer({**status, "part": self._part})
