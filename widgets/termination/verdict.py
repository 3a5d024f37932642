"""The verdict on a loop beside its curves: badge, sentences, clauses, and buttons that try fixes."""

from __future__ import annotations

from typing import Any

from workbench.widgets.base.esm import joined, script
from workbench.widgets.base.json_widget import Act, ActPart


class VerdictPart(ActPart):
    """Shows the ``verdict_model`` beside it; ``act`` receives ("select", index of a clause or name), ("moment",
    iteration) and ("try", index of the fix). ``part``: "clauses" shows only the table of the clauses, "why" all except
    the table.
    """

    _script = script("termination/verdict.js")
    _css = joined("termination/verdict.css")

    def __init__(self, act: Act, part: str = "all") -> None:
        super().__init__(act, part=part)
        self._part = part

    def offer(self, status: dict[str, Any]) -> None:
        super().offer({**status, "part": self._part})
