"""The outcome of a fix: the fixed copy, and whether its loop ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from workbench.analysis.fixes.fix import Fix
from workbench.analysis.text import count
from workbench.analysis.verdict import Termination
from workbench.text import harmless


@dataclass(frozen=True)
class FixOutcome:
    """An applied fix: the new session, and the answers about its loop before and after.

    ``changes`` are sentences about the edits.
    """

    fork: Any
    fix: Fix
    before: Termination
    after: Termination
    changes: tuple[str, ...] = ()

    @property
    def works(self) -> bool:
        """True if the loop ends now, proved or predicted."""
        return self.after.outcome == "terminates"

    @harmless
    def __str__(self) -> str:
        verdict = (
            "The loop ends now"
            if self.works
            else "The loop still does not end"
            if (self.after.outcome == "never")
            else "Whether the loop ends now is not known"
        )
        known = self.works and self.after.remaining is not None
        left = f", after {count(self.after.remaining or 0, 'iteration')}" if known else ""
        return f"Applied: {self.fix} {' '.join(self.changes)} {verdict}{left}."
